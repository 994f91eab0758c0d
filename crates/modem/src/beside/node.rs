//! Who may open a port: its device node says so.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;

use super::peer::Peer;
use crate::Source;

/// The node of an open port. It stays the same node whatever its path leads to later.
#[derive(Debug)]
pub(super) struct Node(File);

impl Node {
    /// That of a source; `None` if it has none, or if that is no device.
    pub(super) fn of(source: &Source) -> Option<Self> {
        let Source::Path(path) = source.place() else { return None };
        Self::at(path).ok()
    }

    fn at(path: &Path) -> io::Result<Self> {
        // This opens the name and not the device. The standard library would open the device in
        // builds for musl, where it leaves O_PATH out.
        let file = File::from(open(path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?);
        match file.metadata()?.file_type().is_char_device() {
            true => Ok(Self(file)),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Whether this process may open the port for reading and writing.
    fn admits(&self, peer: &Peer) -> bool {
        let Ok(about) = self.0.metadata() else { return false };
        may_open(&about, self.has_list(), peer)
    }

    /// Whether an access control list says more than the mode does.
    fn has_list(&self) -> bool {
        let path = format!("/proc/self/fd/{}\0", self.0.as_raw_fd());
        let name = c"system.posix_acl_access";
        // SAFETY: both names end with a zero, and with a size of zero nothing is written.
        let found =
            unsafe { libc::getxattr(path.as_ptr().cast(), name.as_ptr(), std::ptr::null_mut(), 0) };
        let error = io::Error::last_os_error().raw_os_error();
        // Where the list cannot be looked for, it may be there.
        found >= 0 || !matches!(error, Some(libc::ENODATA | libc::EOPNOTSUPP))
    }
}

/// Whether this process may read a port beside its holder. Root and the holder's own user may in
/// any case.
pub(super) fn may_look(node: Option<&Node>, peer: &Peer) -> bool {
    peer.user == 0 || peer.user == geteuid().as_raw() || node.is_some_and(|node| node.admits(peer))
}

/// As the kernel decides by owner, group and mode. With a list, the mode's bits for the group are
/// the list's mask: then the owner alone is admitted.
fn may_open(about: &Metadata, has_list: bool, peer: &Peer) -> bool {
    const READ_WRITE: u32 = 0o6;
    let shift = if about.uid() == peer.user {
        6
    } else if has_list {
        return false;
    } else if peer.groups.contains(&about.gid()) {
        3
    } else {
        0
    };
    (about.mode() >> shift) & READ_WRITE == READ_WRITE
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn peer(user: u32, groups: &[u32]) -> Peer {
        Peer { process: 1, user, groups: groups.to_vec() }
    }

    #[test]
    fn owner_group_and_others_differ() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let about = |mode| {
            set_permissions(file.path(), Permissions::from_mode(mode)).expect("it is ours");
            file.path().metadata().expect("it is there")
        };
        let own = about(0o660);
        let (owner, group) = (own.uid(), own.gid());
        let [mine, member, other] =
            [peer(owner, &[]), peer(owner + 1, &[group]), peer(owner + 1, &[group + 1])];
        for (mode, admitted) in [
            (0o660, [true, true, false]),
            (0o600, [true, false, false]),
            (0o640, [true, false, false]),
            (0o606, [true, false, true]),
            // The class that fits first decides.
            (0o066, [false, true, true]),
        ] {
            let about = about(mode);
            let found = [&mine, &member, &other].map(|peer| may_open(&about, false, peer));
            assert_eq!(found, admitted, "{mode:o}");
        }
        let about = about(0o666);
        let found = [&mine, &member, &other].map(|peer| may_open(&about, true, peer));
        assert_eq!(found, [true, false, false], "with a list");
    }

    #[test]
    fn a_source_without_a_node_admits_root_and_the_holders_user() {
        let own = geteuid().as_raw();
        for (user, admitted) in [(0, true), (own, true), (own + 1, false)] {
            assert_eq!(may_look(None, &peer(user, &[0, own])), admitted, "{user}");
        }
        assert!(Node::of(&"tcp:127.0.0.1:1".parse().expect("a source")).is_none());
        assert!(Node::of(&"/tmp".parse().expect("a source")).is_none());
        let node = Node::of(&"/dev/null".parse().expect("a source")).expect("a node");
        assert!(may_look(Some(&node), &peer(own + 1, &[])), "everybody may open it");
    }
}
