//! The sharing of a link, as the kernel's programs take it, and the count of other flows.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::{MapCore, MapFlags, libbpf_sys};
use sounding_cc::sharing::Policy;

use crate::sharing::{Application, Owner, Sharing};
use crate::skel::types;

/// As `pool.h` numbers them.
const OF_USER: u32 = 0;
const OF_CGROUP: u32 = 1;
const OF_PORT: u32 = 2;

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
