//! The process at the other end of a Unix socket, as the kernel knows it.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

use nix::sys::socket::{getsockopt, sockopt};

/// Who connected, or who listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) process: i32,
    pub(super) user: u32,
    /// Its group, and its other groups.
    pub(super) groups: Vec<u32>,
}

/// Linux's most groups of a process.
const MAX_GROUPS: usize = 65_536;

impl Peer {
    pub(super) fn of(socket: &impl AsFd) -> io::Result<Self> {
        let peer = getsockopt(socket, sockopt::PeerCredentials)?;
        let mut groups = other_groups(socket)?;
        groups.push(peer.gid());
        Ok(Self { process: peer.pid(), user: peer.uid(), groups })
    }
}

fn other_groups(socket: &impl AsFd) -> io::Result<Vec<u32>> {
    let mut groups = vec![0u32; 64];
    loop {
        let mut bytes = libc::socklen_t::try_from(size_of_val(&groups[..])).unwrap_or_default();
        // SAFETY: the kernel writes at most `bytes` bytes, which `groups` has, and the descriptor
        // stays open while it is borrowed.
        let outcome = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        };
        let error = io::Error::last_os_error();
        if outcome == 0 {
            groups.truncate(bytes as usize / size_of::<u32>());
            return Ok(groups);
        }
        if error.raw_os_error() != Some(libc::ERANGE) || groups.len() >= MAX_GROUPS {
            return Err(error);
        }
        groups.resize(MAX_GROUPS, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_process_at_the_other_end_has_this_ones_user_and_groups() {
        let (one, _other) = UnixStream::pair().expect("sockets");
        let peer = Peer::of(&one).expect("it has one");
        assert_eq!(peer.process, std::process::id().cast_signed());
        assert_eq!(peer.user, nix::unistd::geteuid().as_raw());
        let mut own: Vec<u32> = nix::unistd::getgroups()
            .expect("groups")
            .into_iter()
            .map(nix::unistd::Gid::as_raw)
            .collect();
        own.push(nix::unistd::getegid().as_raw());
        assert_eq!(peer.groups, own);
    }
}
