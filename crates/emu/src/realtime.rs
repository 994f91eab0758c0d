use std::io;
use std::time::Duration;

use nix::sys::prctl;
use nix::time::{ClockId, clock_gettime};

use crate::{Realtime, Scheduling};

/// Prepares the calling thread for punctual work and says how far that went.
pub(crate) fn prepare_this_thread(realtime: Realtime) -> Scheduling {
    // The default slack lets the kernel wake the thread 50 us late to save power.
    if let Err(error) = prctl::set_timerslack(1) {
        tracing::warn!(%error, "the timer slack stays at its default");
    }
    let Some(priority) = realtime.priority else {
        return Scheduling::Normal { why: "not asked for".into() };
    };
    // SAFETY: an all-zero sched_param is a valid one.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = priority.into();
    // SAFETY: 0 is the calling thread, and the parameter outlives the call.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
    if result == 0 {
        return Scheduling::Fifo { priority };
    }
    let error = io::Error::last_os_error();
    let why = match error.raw_os_error() {
        Some(libc::EPERM) => format!(
            "{error}: SCHED_FIFO needs CAP_SYS_NICE (run as root) and, under CONFIG_RT_GROUP_SCHED, a share in cpu.rt_runtime_us"
        ),
        _ => error.to_string(),
    };
    Scheduling::Normal { why }
}

/// CPU time of the calling thread so far.
pub(crate) fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
