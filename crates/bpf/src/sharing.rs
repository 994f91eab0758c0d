//! How the flows of this machine share what the link carries.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::{MapCore, MapFlags, libbpf_sys};
use sounding_cc::sharing::Policy;

use crate::skel::types;

/// By what weight flows share, and which of them are seen. Fixed at load. Every user of the machine
/// has its part first, and its flows share that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Default: all flows of a user alike.
    pub policy: Policy,
    /// Whose a flow is under [`Policy::Applications`].
    pub application: Application,
    /// Under [`Policy::Weights`], the owners that weigh more or less than an ordinary flow, in
    /// 1/256 of it. A flow that several entries are about goes by its port, else by its
    /// cgroup, else by its user.
    pub weights: Vec<(Owner, u32)>,
    /// Whether [`Instance::count_on`](crate::Instance::count_on) will be called: it takes another
    /// program in the kernel.
    pub others: bool,
}

/// What makes flows those of one application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Application {
    /// The user that opened the socket: on Android, each application is one.
    #[default]
    User,
    /// The cgroup (version 2) in which the socket was opened: under systemd, each service or
    /// application has one.
    Cgroup,
}

/// The owner of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// All flows of a user, by number.
    User(u32),
    /// All flows of a cgroup (version 2), by the number of its folder's inode.
    Cgroup(u64),
    /// All flows to or from a port.
    Port(u16),
}

/// As `pool.h` numbers them.
const OF_USER: u32 = 0;
const OF_CGROUP: u32 = 1;
const OF_PORT: u32 = 2;

/// Most entries of [`Sharing::weights`], as the map has room for.
pub const MAX_WEIGHTS: usize = 1024;

impl Sharing {
    pub(crate) fn wire(&self) -> types::sounding_sharing {
        types::sounding_sharing {
            policy: match (self.policy, self.application) {
                // Users share alike anyway.
                (Policy::Flows, _) | (Policy::Applications, Application::User) => 0,
                (Policy::Weights, _) => 1,
                (Policy::Applications, Application::Cgroup) => 2,
            },
            has_weights: u32::from(self.policy == Policy::Weights && !self.weights.is_empty()),
        }
    }

    /// Puts the weights where the programs look for them.
    pub(crate) fn fill(&self, map: &impl MapCore) -> libbpf_rs::Result<()> {
        for (owner, weight) in &self.weights {
            map.update(&owner.key(), &weight.to_ne_bytes(), MapFlags::ANY)?;
        }
        Ok(())
    }
}

impl Owner {
    /// `struct weight_key`.
    fn key(self) -> [u8; 16] {
        let (kind, id) = match self {
            Self::User(number) => (OF_USER, u64::from(number)),
            Self::Cgroup(number) => (OF_CGROUP, number),
            Self::Port(number) => (OF_PORT, u64::from(number)),
        };
        let mut key = [0; 16];
        key[..4].copy_from_slice(&kind.to_ne_bytes());
        key[8..].copy_from_slice(&id.to_ne_bytes());
        key
    }
}

/// While this lives, it counts the bytes that leave by one device. It ends with the process that
/// holds it, however that ends.
#[derive(Debug)]
pub struct Counting(#[expect(dead_code, reason = "held open")] OwnedFd);

impl Counting {
    pub(crate) fn attach(program: impl AsFd, device: u32) -> io::Result<Self> {
        let target = i32::try_from(device).map_err(io::Error::other)?;
        let program = program.as_fd().as_raw_fd();
        // SAFETY: a system call on two integers; without options there is nothing it would read.
        let fd = unsafe {
            libbpf_sys::bpf_link_create(
                program,
                target,
                libbpf_sys::BPF_TCX_EGRESS,
                std::ptr::null(),
            )
        };
        if fd < 0 {
            return Err(io::Error::from_raw_os_error(-fd));
        }
        // SAFETY: a descriptor that the kernel has just made for us.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_kind_and_a_number() {
        assert_eq!(size_of::<types::weight_key>(), 16);
        let key = Owner::Port(443).key();
        assert_eq!(key[..4], 2_u32.to_ne_bytes());
        assert_eq!(key[8..], 443_u64.to_ne_bytes());
    }

    #[test]
    fn weights_count_only_where_flows_share_by_them() {
        let weights = vec![(Owner::User(0), 512)];
        let by = |policy| Sharing { policy, weights: weights.clone(), ..Sharing::default() };
        assert_eq!(by(Policy::Weights).wire().has_weights, 1);
        assert_eq!(by(Policy::Flows).wire().has_weights, 0);
    }
}
