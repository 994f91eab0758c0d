use std::io;

use nix::sys::prctl;

/// A priority of real time, 1 to 99: such a thread runs before every thread that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The thread runs until it waits, even if others of the same priority are ready.
    Fifo(u8),
    /// In turns with others of its priority.
    RoundRobin(u8),
}

impl Priority {
    /// Gives it to the calling thread, and to the threads that this one starts from now on.
    ///
    /// # Errors
    ///
    /// EPERM without the right to it: CAP_SYS_NICE, and under CONFIG_RT_GROUP_SCHED a share in
    /// cpu.rt_runtime_us.
    pub fn take(self) -> io::Result<()> {
        let (policy, priority) = match self {
            Self::Fifo(priority) => (libc::SCHED_FIFO, priority),
            Self::RoundRobin(priority) => (libc::SCHED_RR, priority),
        };
        // SAFETY: an all-zero sched_param is a valid one.
        let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
        parameter.sched_priority = priority.into();
        // musl's function of this name only says ENOSYS.
        let call = libc::SYS_sched_setscheduler;
        // SAFETY: 0 is the calling thread, and the call only reads the parameter.
        match unsafe { libc::syscall(call, 0, policy, &raw const parameter) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Asks for a real-time priority for the calling thread, below every other real-time thread. A
/// modem's reader mostly waits for data. Without this priority it would also wait for other
/// programs, such as a build. Its later threads inherit the priority.
///
/// If that is refused, the thread is at least woken at its requested time. By default the kernel
/// delays threads without real-time priority by up to 50 us to save power.
///
/// # Errors
///
/// The kernel's refusal of the priority. The thread's timers are then exact all the same.
pub fn prefer_this_thread() -> io::Result<()> {
    let refused = match Priority::RoundRobin(1).take() {
        Ok(()) => return Ok(()),
        Err(refused) => refused,
    };
    prctl::set_timerslack(1)?;
    Err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a separate thread, which takes the priority with it when it ends.
    fn taken(priority: Priority) -> (io::Result<()>, i32) {
        let thread = std::thread::spawn(move || {
            let outcome = priority.take();
            // SAFETY: 0 is the calling thread.
            (outcome, unsafe { libc::sched_getscheduler(0) })
        });
        thread.join().expect("it ends")
    }

    #[test]
    fn a_priority_is_taken_or_refused_and_reported() {
        for (priority, policy) in
            [(Priority::Fifo(1), libc::SCHED_FIFO), (Priority::RoundRobin(1), libc::SCHED_RR)]
        {
            match taken(priority) {
                (Ok(()), found) => assert_eq!(found, policy),
                (Err(error), found) => {
                    assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{error}");
                    assert_eq!(found, libc::SCHED_OTHER);
                }
            }
        }
    }

    #[test]
    fn there_is_no_priority_zero_of_real_time() {
        let (refused, policy) = taken(Priority::Fifo(0));
        assert_eq!(refused.map_err(|error| error.raw_os_error()), Err(Some(libc::EINVAL)));
        assert_eq!(policy, libc::SCHED_OTHER);
    }
}
