use nix::sys::prctl;
use sounding_host::Priority;

use crate::{Realtime, Scheduling};

/// Prepares the calling thread for punctual work. Returns how far that succeeded.
pub(crate) fn prepare_this_thread(realtime: Realtime) -> Scheduling {
    // The default slack lets the kernel wake the thread 50 us late to save power.
    if let Err(error) = prctl::set_timerslack(1) {
        tracing::warn!(%error, "the timer slack stays at its default");
    }
    let Some(priority) = realtime.priority else {
        return Scheduling::Normal { why: "not requested".into() };
    };
    let Err(error) = Priority::Fifo(priority).take() else { return Scheduling::Fifo { priority } };
    let why = match error.raw_os_error() {
        Some(libc::EPERM) => format!(
            "{error}: SCHED_FIFO needs CAP_SYS_NICE (run as root) and, under CONFIG_RT_GROUP_SCHED, a share in cpu.rt_runtime_us"
        ),
        _ => error.to_string(),
    };
    Scheduling::Normal { why }
}
