//! The programs' cost: to the verifier once, and to the kernel at every call.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use libbpf_rs::libbpf_sys::{self, bpf_prog_info};
use sounding_laws::{Fallback, Law};

use crate::laws;
use crate::skel::CcSkel;

/// One program of a loaded instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Which operation of the congestion control it is.
    pub name: &'static str,
    /// Instructions the verifier walked through at load; the kernel's limit is a million.
    pub verified_insns: u32,
    /// Bytes of machine code.
    pub jited_bytes: u32,
    /// Calls while a [`RunStats`] was held.
    pub calls: u64,
    /// Time those calls took, statistics included (some 20 ns a call).
    pub run_time: Duration,
}

/// While this lives, the kernel counts calls and times of all BPF programs; it costs every call
/// some 20 ns.
#[derive(Debug)]
pub struct RunStats(#[expect(dead_code, reason = "held open")] OwnedFd);

impl RunStats {
    /// Begins to count. The kernel stops when the last holder is dropped, or dies.
    ///
    /// # Errors
    ///
    /// The kernel's error: EPERM without CAP_SYS_ADMIN.
    pub fn enable() -> io::Result<Self> {
        // SAFETY: a plain system call.
        let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor that the kernel has just made for us.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}

/// The kernel's data on each program of an instance, in the order of the source.
pub(crate) fn programs(
    skel: &CcSkel<'_>,
    law: Law,
    fallback: Fallback,
) -> io::Result<Vec<Program>> {
    let progs = &skel.progs;
    let own = laws::programs(progs, law);
    // The one of the two that has the kernel's signature.
    let cong_control =
        if own.cong_control.autoload() { own.cong_control } else { own.older_cong_control };
    let acked =
        (fallback == Fallback::Cubic).then(|| ("pkts_acked", progs.flow_pkts_acked.as_fd()));
    [
        ("init", own.init.as_fd()),
        ("cong_control", cong_control.as_fd()),
        ("cwnd_event", own.cwnd_event.as_fd()),
        ("release", progs.flow_release.as_fd()),
        ("ssthresh", progs.flow_ssthresh.as_fd()),
        ("undo_cwnd", progs.flow_undo_cwnd.as_fd()),
        ("set_state", progs.flow_set_state.as_fd()),
        ("min_tso_segs", progs.flow_min_tso_segs.as_fd()),
        ("sndbuf_expand", progs.flow_sndbuf_expand.as_fd()),
    ]
    .into_iter()
    .chain(acked)
    .map(|(name, fd)| program(name, fd))
    .collect()
}

/// The kernel's data on one program, without arrays.
pub(crate) fn info(program: BorrowedFd<'_>) -> io::Result<bpf_prog_info> {
    let mut info = bpf_prog_info::default();
    let mut len = size_of_val(&info) as u32;
    // SAFETY: `info` is as long as `len` says, and asks for no arrays.
    let ret =
        unsafe { libbpf_sys::bpf_prog_get_info_by_fd(program.as_raw_fd(), &mut info, &mut len) };
    if ret < 0 { Err(io::Error::from_raw_os_error(-ret)) } else { Ok(info) }
}

/// What one program cost.
pub(crate) fn program(name: &'static str, fd: BorrowedFd<'_>) -> io::Result<Program> {
    let info = info(fd)?;
    Ok(Program {
        name,
        verified_insns: info.verified_insns,
        jited_bytes: info.jited_prog_len,
        calls: info.run_cnt,
        run_time: Duration::from_nanos(info.run_time_ns),
    })
}
