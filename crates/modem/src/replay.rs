use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sounding_host::monotonic_now;
use sounding_units::HostInstant;

use crate::answer::Answerer;
use crate::{Pty, ReplaySchedule};

/// A capture served on a pty at its own pace, with the modem's short answers to a host's requests.
#[derive(Debug)]
pub struct Replay<'a> {
    capture: &'a [u8],
    pacing: ReplaySchedule,
    pty: Pty,
    /// Speed compared with the modem.
    speed: f64,
}

/// The result of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes that the reader took.
    pub written: u64,
    /// Bytes that were due while no reader was there, or that did not fit: lost, as with a real
    /// modem.
    pub lost: u64,
    /// Requests answered.
    pub answered: u64,
}

/// How long to wait for a full pty. A daemon that does not read for this time has lost its position
/// in any case.
const PATIENCE: Duration = Duration::from_millis(100);

/// Longest sleep, so that a stop and a request are met promptly.
const MAX_SLEEP: Duration = Duration::from_millis(5);

impl<'a> Replay<'a> {
    /// A replay that has not begun.
    pub fn new(capture: &'a [u8], pacing: ReplaySchedule, pty: Pty, speed: f64) -> Self {
        Self { capture, pacing, pty, speed }
    }

    /// The pty's modem side.
    pub fn pty(&self) -> &Pty {
        &self.pty
    }

    /// The pty, for use after a replay.
    pub fn into_pty(self) -> Pty {
        self.pty
    }

    /// Waits until a reader opens the tty, or until `stop`. Returns whether a reader did.
    pub fn wait_for_reader(&self, stop: &AtomicBool) -> bool {
        while !stop.load(Ordering::Relaxed) {
            if self.pty.has_reader() {
                return true;
            }
            std::thread::sleep(MAX_SLEEP);
        }
        false
    }

    /// Serves the capture from `begin` on, until its end or until `stop`. `progress` receives the
    /// replay time about every 5 ms.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the pty cannot be read or written.
    pub fn run(
        &mut self,
        begin: HostInstant,
        stop: &AtomicBool,
        mut progress: impl FnMut(Duration),
    ) -> io::Result<Summary> {
        let mut summary = Summary::default();
        let mut answerer = Answerer::default();
        for chunk in self.pacing.chunks() {
            let due = begin + chunk.due.div_f64(self.speed);
            loop {
                if stop.load(Ordering::Relaxed) {
                    return Ok(summary);
                }
                summary.answered += answerer.serve(&mut self.pty, PATIENCE)?;
                let wait = due - monotonic_now();
                progress(chunk.due.saturating_sub(wait.mul_f64(self.speed)));
                if wait.is_zero() {
                    break;
                }
                std::thread::sleep(wait.min(MAX_SLEEP));
            }
            let bytes = &self.capture[chunk.bytes.clone()];
            let taken = self.pty.write(bytes, PATIENCE)?;
            summary.written += taken as u64;
            summary.lost += (bytes.len() - taken) as u64;
        }
        Ok(summary)
    }
}
