//! Without rights: a socket may choose any algorithm that is loaded and open to all. This program
//! may choose for the sockets of its own children, which it reaches by duplicating their
//! descriptors (pidfd_getfd(2)).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use nix::sys::socket::{SockaddrStorage, getpeername, getsockopt, sockopt};
use sounding_bpf::borrow_descriptor;

/// How often sockets are looked for.
pub(super) const EVERY: Duration = Duration::from_millis(20);

/// The algorithms that every process may choose.
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Chooses for the sockets of this process's children.
pub(super) struct BySockets {
    name: String,
    /// Sockets that were looked at, by their inodes.
    seen: BTreeSet<u64>,
    chosen: u64,
    refused: u64,
}

impl BySockets {
    /// `None` if no algorithm of this name is open to all.
    pub(super) fn under(name: &str) -> Option<Self> {
        let allowed = fs::read_to_string(ALLOWED).unwrap_or_default();
        let is_allowed = allowed.split_whitespace().any(|known| known == name);
        is_allowed.then(|| Self { name: name.into(), seen: BTreeSet::new(), chosen: 0, refused: 0 })
    }

    /// Looks once.
    pub(super) fn choose(&mut self) {
        let mut alive = BTreeSet::new();
        for process in descendants(std::process::id()) {
            let Ok(entries) = fs::read_dir(format!("/proc/{process}/fd")) else { continue };
            for entry in entries.flatten() {
                let Some(inode) = socket(&entry.path()) else { continue };
                alive.insert(inode);
                let fd = entry.file_name().to_string_lossy().parse();
                let (Ok(fd), false) = (fd, self.seen.contains(&inode)) else { continue };
                match self.choose_for(process, fd) {
                    Ok(is_tcp) => self.chosen += u64::from(is_tcp),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(_) => self.refused += 1,
                }
                self.seen.insert(inode);
            }
        }
        // Numbers of sockets that are gone are used again.
        self.seen = self.seen.intersection(&alive).copied().collect();
    }

    /// Whether it is a TCP socket to another machine, which then has the algorithm.
    fn choose_for(&self, process: u32, fd: i32) -> io::Result<bool> {
        let socket = borrow_descriptor(process, fd)
            .map_err(|error| io::Error::new(io::ErrorKind::NotFound, error))?;
        if getsockopt(&socket, sockopt::SockType).ok() != Some(nix::sys::socket::SockType::Stream)
            || !is_internet(socket.as_raw_fd())
            || is_local(&socket)
        {
            return Ok(false);
        }
        nix::sys::socket::setsockopt(&socket, sockopt::TcpCongestion, &self.name.clone().into())?;
        Ok(true)
    }

    pub(super) fn as_json(&self, code: u8) -> serde_json::Value {
        serde_json::json!({
            "event": "ended", "form": "sockets", "name": self.name, "exit_code": code,
            "connections": self.chosen, "refused": self.refused,
        })
    }
}

/// The number of a socket, by the link of its descriptor.
fn socket(link: &std::path::Path) -> Option<u64> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Whether it is TCP over IPv4 or IPv6.
fn is_internet(fd: i32) -> bool {
    let option = |option| {
        let mut value = 0;
        let mut len = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: pointer and length describe `value`.
        let result = unsafe {
            libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut value).cast(), &mut len)
        };
        (result == 0).then_some(value)
    };
    let family: Option<libc::c_int> = option(libc::SO_DOMAIN);
    matches!(family, Some(libc::AF_INET | libc::AF_INET6))
        && option(libc::SO_PROTOCOL) == Some(libc::IPPROTO_TCP)
}

/// Whether its other end is this machine's loopback. A socket that is not connected yet has no
/// other end.
fn is_local(socket: &impl AsFd) -> bool {
    let Ok(peer) = getpeername::<SockaddrStorage>(socket.as_fd().as_raw_fd()) else { return false };
    let v4 = peer.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
    let v6 = peer.as_sockaddr_in6().map(|address| mapped(address.ip()));
    v4.or(v6).is_some_and(|address| address.is_loopback())
}

fn mapped(address: Ipv6Addr) -> IpAddr {
    address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
}

/// Children, their children and so on.
fn descendants(of: u32) -> Vec<u32> {
    let mut found = vec![of];
    let mut next = 0;
    while let Some(process) = found.get(next).copied() {
        next += 1;
        for child in children(process) {
            if !found.contains(&child) {
                found.push(child);
            }
        }
    }
    found.remove(0);
    found
}

/// A child belongs to the thread that made it.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
        })
        .collect()
}
