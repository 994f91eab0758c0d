//! A name in the kernel's list in the form before Linux 6.4: a map put it there, and it outlasts the map's maker.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{ErrorKind, MapCore, MapHandle, MapType, libbpf_sys};

use crate::holder::is_named;

/// Takes the name of a congestion control out of the kernel's list that a map put there, by the map's number; flows that
/// run under it keep its programs. That it is out already, or the number another map's by now, is no error.
pub fn unregister(name: &str, map: u32) -> io::Result<()> {
    let map = match MapHandle::from_map_id(map) {
        Ok(map) => map,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    if map.map_type() != MapType::StructOps || !is_named(&map, name) {
        return Ok(());
    }
    let only = 0u32;
    // SAFETY: the key of such a map is a number of 32 bits.
    let ret = unsafe {
        libbpf_sys::bpf_map_delete_elem(map.as_fd().as_raw_fd(), (&raw const only).cast())
    };
    match -ret {
        // It is out, the second while flows still run under it.
        0 | libc::ENOENT | libc::EINPROGRESS => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
