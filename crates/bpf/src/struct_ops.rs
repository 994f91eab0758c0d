//! A name in the kernel's list of congestion controls: how an object registers there, and how a
//! name is taken out that outlasts its maker.

use std::ffi::c_char;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use libbpf_rs::libbpf_sys::bpf_program;
use libbpf_rs::{ErrorKind, Link, MapCore, MapHandle, MapMut, MapType, OpenMapMut, libbpf_sys};

use crate::error::LoadError;
use crate::holder::{holder_of, is_named};
use crate::kernel::{CongControl, Kernel};
use crate::log::Complaints;

/// What an object has for the kernel to call, before it is loaded. [`operations`] finds it.
pub(crate) struct Operations<'a, 'obj> {
    /// Registers the name.
    pub(crate) map: &'a mut OpenMapMut<'obj>,
    pub(crate) name: &'a mut [c_char; 16],
    pub(crate) cong_control: &'a mut *mut bpf_program,
    /// Takes its place on kernels before 6.10.
    pub(crate) older_cong_control: *mut bpf_program,
    pub(crate) pkts_acked: &'a mut *mut bpf_program,
}

/// The operations of an opened skeleton: its map's name, and that of its `cong_control` for kernels
/// before 6.10.
macro_rules! operations {
    ($open:expr, $map:ident, $older:ident) => {{
        // SAFETY: the open object owns these operations and is borrowed for as long.
        let calls = unsafe { &mut *$open.struct_ops.$map };
        $crate::struct_ops::Operations {
            map: &mut $open.maps.$map,
            name: &mut calls.name,
            cong_control: &mut calls.cong_control,
            older_cong_control: ::libbpf_rs::AsRawLibbpf::as_libbpf_object(&$open.progs.$older)
                .as_ptr(),
            pkts_acked: &mut calls.pkts_acked,
        }
    }};
}
pub(crate) use operations;

/// A congestion control on its way into a kernel.
pub(crate) struct Registration<'a> {
    name: &'a str,
    pub(crate) kernel: Kernel,
    log: Complaints,
}

impl<'a> Registration<'a> {
    /// Listens to libbpf from here on.
    pub(crate) fn begin(name: &'a str, kernel: Kernel) -> Self {
        Self { name, kernel, log: Complaints::listen() }
    }

    /// libbpf or the verifier refused the object.
    pub(crate) fn rejected(&self, source: libbpf_rs::Error) -> LoadError {
        LoadError::Rejected { source, complaint: self.log.take() }
    }

    /// Gives the operations their name and the form that this kernel has.
    pub(crate) fn adapt(&self, operations: Operations<'_, '_>) -> Result<(), LoadError> {
        if self.kernel.cong_control()? == CongControl::Sample {
            *operations.cong_control = operations.older_cong_control;
        }
        set_name(operations.name, self.name);
        if !self.kernel.has_links() {
            // libbpf then registers by the map itself, and takes the name out as what it calls a
            // link is dropped.
            let flags = operations.map.map_flags() & !libbpf_sys::BPF_F_LINK;
            operations.map.set_map_flags(flags).map_err(|source| self.rejected(source))?;
        }
        Ok(())
    }

    /// Registers the loaded object by its map of operations.
    pub(crate) fn register(self, operations: &mut MapMut<'_>) -> Result<Registered, LoadError> {
        let name = self.name.to_owned();
        let link = match operations.attach_struct_ops() {
            Ok(link) => link,
            // By another process, since the preflight check.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(LoadError::NameTaken { holder: holder_of(&name), name });
            }
            Err(source) => {
                return Err(LoadError::Attach { name, source, complaint: self.log.take() });
            }
        };
        let map =
            operations.info().map_err(|source| LoadError::Map { map: "operations", source })?;
        let outlasting = (!self.kernel.has_links()).then_some(map.info.id);
        Ok(Registered { link, name, outlasting })
    }
}

/// A name that sockets can select until this is dropped. Flows under it then keep its programs.
pub(crate) struct Registered {
    link: Link,
    pub(crate) name: String,
    /// Before Linux 6.4 a killed process leaves the name behind: the number of the map that keeps
    /// it, for [`unregister`].
    pub(crate) outlasting: Option<u32>,
}

impl AsFd for Registered {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}

/// A name with its NUL, in what the kernel has for it.
pub(crate) fn set_name(place: &mut [c_char; 16], name: &str) {
    *place = [0; 16];
    for (to, byte) in place.iter_mut().zip(name.bytes().take(15)) {
        *to = byte as _;
    }
}

/// Takes the name of a congestion control out of the kernel's list that a map put there, by the
/// map's number; flows that run under it keep its programs. That it is out already, or the number
/// another map's by now, is no error.
///
/// # Errors
///
/// The kernel's error, if it refuses to name the map or to take it out: EPERM without
/// CAP_NET_ADMIN.
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
