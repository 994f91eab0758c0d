use std::io;

use nix::sys::prctl;
use sounding_host::Priority;

/// Asks for a real-time priority for the calling thread, below every other real-time thread's: what reads a modem waits
/// most of the time, and behind a build it would wait for the rest too. Threads it makes later inherit it.
///
/// Where that is refused the thread at least is woken when it asked to be, and not up to 50 us later to save power, which
/// is the kernel's default for threads that are not of real time.
pub fn prefer_this_thread() -> io::Result<()> {
    let Err(refused) = Priority::RoundRobin(1).take() else { return Ok(()) };
    prctl::set_timerslack(1)?;
    Err(refused)
}
