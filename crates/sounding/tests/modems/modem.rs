//! A simulated modem on a pty, which a test has fail.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_host::monotonic_now;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_testbed::radio::RadioLink;
use sounding_trace::Trace;

/// What a modem does for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Reports its link.
    Well,
    /// Writes as many bytes, and no frame among them.
    Garbage,
    /// Writes nothing.
    Silence,
    /// Has no port.
    Gone,
}

/// A modem of a link that never changes, of so many packets of 1500 bytes each millisecond.
pub(crate) struct Modem {
    path: PathBuf,
    pty: Option<Pty>,
    link: RadioLink,
    replayed: Duration,
}

impl Modem {
    pub(crate) fn new(path: PathBuf, packets_per_ms: u32) -> Self {
        let each = (1..=1000).flat_map(|ms| (0..packets_per_ms).map(move |_| ms));
        let trace = Trace::from_millis(each.collect()).unwrap();
        let link = RadioLink::of_trace("steady", trace, Duration::from_secs(40));
        let pty = Some(Pty::create(Some(&path)).unwrap());
        Self { path, pty, link, replayed: Duration::ZERO }
    }

    /// A modem that is not plugged in yet.
    pub(crate) fn absent(path: PathBuf, packets_per_ms: u32) -> Self {
        let mut modem = Self::new(path, packets_per_ms);
        modem.pty = None;
        modem
    }

    /// Does this, and after it the next, on a thread.
    pub(crate) fn play(mut self, does: &'static [(Does, u64)]) -> JoinHandle<Self> {
        thread::spawn(move || {
            for (does, seconds) in does {
                self.be(*does, Duration::from_secs(*seconds));
            }
            self
        })
    }

    fn be(&mut self, does: Does, span: Duration) {
        let begin = self.link.begin + self.replayed;
        match does {
            Does::Silence => thread::sleep(span),
            Does::Gone => {
                self.pty = None;
                thread::sleep(span);
            }
            Does::Well | Does::Garbage => {
                let records = self.link.capture.clone();
                let schedule = ReplaySchedule::since(&records, begin).until(span);
                let mut bytes = records.clone();
                if does == Does::Garbage {
                    bytes.iter_mut().for_each(|byte| *byte = (*byte ^ 0x55) | 1);
                }
                let create = || Pty::create(Some(&self.path)).unwrap();
                let pty = self.pty.take().unwrap_or_else(create);
                let mut replay = Replay::new(&bytes, schedule, pty, 1.0);
                replay.run(monotonic_now(), &AtomicBool::new(false), |_| {}).unwrap();
                self.pty = Some(replay.into_pty());
            }
        }
        self.replayed += span;
    }
}
