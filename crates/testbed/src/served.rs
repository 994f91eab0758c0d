//! A simulated modem in a thread of its own, for a process that reads it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_modem::{Behaviour, Made, Place, Script, Simulation, Tally, prefer_this_thread};

/// The modem, which leaves its port when this is dropped.
pub(crate) struct ServedModem {
    /// For its reader.
    pub(crate) source: String,
    /// Records, when they are made.
    pub(crate) made: Receiver<Made>,
    elapsed: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Tally>>>,
}

impl ServedModem {
    /// Opens its port.
    pub(crate) fn start(script: Script, behaviour: Behaviour, place: Place) -> io::Result<Self> {
        let mut modem = Simulation::new(script, behaviour, place)?;
        let (source, made) = (modem.source(), modem.diary());
        let (elapsed, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (shown, until) = (Arc::clone(&elapsed), Arc::clone(&stop));
        let thread = thread::Builder::new().name("modem".into()).spawn(move || {
            // A modem is a separate processor.
            let _ = prefer_this_thread();
            modem.run(&until, |span| shown.store(span.as_nanos() as u64, Ordering::Relaxed))
        })?;
        Ok(Self { source, made, elapsed, stop, thread: Some(thread) })
    }

    /// How far its script has come.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.elapsed.load(Ordering::Relaxed))
    }
}

impl Drop for ServedModem {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
