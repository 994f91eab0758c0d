use std::io;

use nix::sys::prctl;

/// Asks for a real-time priority for the calling thread, below every other real-time thread's: what reads a modem waits
/// most of the time, and behind a build it would wait for the rest too. Threads it makes later inherit it.
///
/// Where that is refused the thread at least is woken when it asked to be, and not up to 50 us later to save power, which
/// is the kernel's default for threads that are not of real time.
pub fn prefer_this_thread() -> io::Result<()> {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: sched_setscheduler reads the parameter and changes this thread only.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const lowest) } == 0 {
        return Ok(());
    }
    let refused = io::Error::last_os_error();
    prctl::set_timerslack(1)?;
    Err(refused)
}
