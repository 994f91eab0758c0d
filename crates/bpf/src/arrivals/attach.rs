//! Two ways to a device's ingress. A link (Linux 6.6) goes with its process. A filter of a clsact
//! queueing discipline outlives a killed process, and corrects nothing then.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;

use libbpf_rs::{
    AsRawLibbpf, Link, Program, ProgramMut, TC_INGRESS, TcHook, TcHookBuilder, libbpf_sys,
};

use crate::cost;

/// The filter's place. Any other filter may have another.
const HANDLE: u32 = 0x5344;
const PRIORITY: u32 = 0x5344;
/// Programs at a device that are looked at.
const LOOKED_AT: usize = 64;

/// Attached until it is dropped.
#[derive(Debug)]
pub(super) enum Attached {
    Link(#[allow(dead_code, reason = "held")] Link),
    Filter { filter: TcHook, _discipline: Option<Discipline> },
}

// SAFETY: a hook holds pointers to nothing that a thread owns: libbpf's struct has numbers, and a
// name that is null.
unsafe impl Send for Attached {}

/// Why it is not.
pub(super) enum Refused {
    Taken,
    Kernel(libbpf_rs::Error),
}

impl From<libbpf_rs::Error> for Refused {
    fn from(error: libbpf_rs::Error) -> Self {
        Self::Kernel(error)
    }
}

impl Attached {
    pub(super) fn link(program: &ProgramMut<'_>, device: i32) -> Result<Self, Refused> {
        if is_at(device, &program.name().to_string_lossy())? {
            return Err(Refused::Taken);
        }
        let raw = program.as_libbpf_object();
        // SAFETY: the program is loaded, and no options are given.
        let link =
            unsafe { libbpf_sys::bpf_program__attach_tcx(raw.as_ptr(), device, std::ptr::null()) };
        let link = NonNull::new(link).ok_or_else(io::Error::last_os_error);
        let link = link.map_err(libbpf_rs::Error::from)?;
        // SAFETY: libbpf has just made it, and no one else has it.
        Ok(Self::Link(unsafe { Link::from_ptr(link) }))
    }

    /// Must be dropped on a thread of the same network namespace.
    pub(super) fn filter(program: BorrowedFd<'_>, device: i32) -> Result<Self, Refused> {
        let mut builder = TcHookBuilder::new(program);
        builder.ifindex(device).handle(HANDLE).priority(PRIORITY);
        let mut filter = builder.hook(TC_INGRESS);
        if filter.query().is_ok() {
            return Err(Refused::Taken);
        }
        let discipline = Discipline::make(device)?;
        Ok(Self::Filter { filter: filter.attach()?, _discipline: discipline })
    }
}

/// A clsact queueing discipline that was not there before.
#[derive(Debug)]
pub(super) struct Discipline(libbpf_sys::bpf_tc_hook);

impl Discipline {
    /// Makes it, unless there is one.
    fn make(device: i32) -> Result<Option<Self>, libbpf_rs::Error> {
        let mut discipline = libbpf_sys::bpf_tc_hook {
            sz: size_of::<libbpf_sys::bpf_tc_hook>() as libbpf_sys::size_t,
            ifindex: device,
            // With one direction libbpf would later remove the filters of others, and not the
            // discipline.
            attach_point: libbpf_sys::BPF_TC_INGRESS | libbpf_sys::BPF_TC_EGRESS,
            ..Default::default()
        };
        // SAFETY: the structure is as long as it says.
        match -unsafe { libbpf_sys::bpf_tc_hook_create(&mut discipline) } {
            0 => Ok(Some(Self(discipline))),
            libc::EEXIST => Ok(None),
            error => Err(libbpf_rs::Error::from_raw_os_error(error)),
        }
    }
}

impl Drop for Discipline {
    fn drop(&mut self) {
        // SAFETY: as it was made.
        let _ = unsafe { libbpf_sys::bpf_tc_hook_destroy(&mut self.0) };
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Self::Filter { filter, .. } = self {
            let _ = filter.detach();
        }
    }
}

/// Whether a program of this name is at the device's ingress by a link.
fn is_at(device: i32, name: &str) -> Result<bool, libbpf_rs::Error> {
    let mut ids = [0u32; LOOKED_AT];
    let mut query = libbpf_sys::bpf_prog_query_opts {
        sz: size_of::<libbpf_sys::bpf_prog_query_opts>() as libbpf_sys::size_t,
        prog_ids: ids.as_mut_ptr(),
        ..Default::default()
    };
    query.__bindgen_anon_1.count = LOOKED_AT as u32;
    // SAFETY: the array is as long as the count says, and outlives the call.
    let error =
        unsafe { libbpf_sys::bpf_prog_query_opts(device, libbpf_sys::BPF_TCX_INGRESS, &mut query) };
    if error != 0 {
        return Err(libbpf_rs::Error::from_raw_os_error(-error));
    }
    // SAFETY: the kernel has set it.
    let count = unsafe { query.__bindgen_anon_1.count } as usize;
    Ok(ids.iter().take(count).any(|&id| is_named(id, name)))
}

/// Whether the kernel's program of this number has this name. The kernel keeps 15 bytes of a name.
/// A program that is gone has none.
fn is_named(id: u32, name: &str) -> bool {
    let Ok(program) = Program::fd_from_id(id) else { return false };
    let Ok(info) = cost::info(program.as_fd()) else { return false };
    let found = info.name.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0);
    found.eq(name.bytes().take(info.name.len() - 1))
}
