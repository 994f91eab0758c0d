//! A daemon's reports to the service manager that started it (systemd's `Type=notify`): ready, alive, stopping.

use std::env::var_os;
use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use sd_notify::NotifyState;
use sounding_host::{Capabilities, keep_only};
use sounding_units::HostInstant;

/// How long the last word may take on its way out.
const PATIENCE: Duration = Duration::from_secs(1);

/// The way to the service manager; without one, every word is dropped.
///
/// A manager that reads nothing fills its socket, and a write to a full socket blocks. Here that blocks a separate
/// thread: meanwhile reports are dropped, and a missed watchdog ends the daemon.
#[derive(Debug, Default)]
pub(super) struct Supervisor {
    way: Option<Way>,
    /// The time between two signs of life, if they are waited for.
    every: Option<Duration>,
    beaten: Option<HostInstant>,
}

#[derive(Debug)]
struct Way {
    words: SyncSender<NotifyState<'static>>,
    done: Receiver<()>,
}

impl Supervisor {
    /// Finds out by the environment whether there is one, and what it waits for.
    pub(super) fn find() -> io::Result<Self> {
        if var_os("NOTIFY_SOCKET").is_none() {
            return Ok(Self::default());
        }
        let (words, to_send) = mpsc::sync_channel(8);
        let (end, done) = mpsc::sync_channel(1);
        thread::Builder::new().name("supervisor".into()).spawn(move || {
            // Begun before the daemon drops its rights. Without them or not, it only writes.
            let _ = keep_only(Capabilities::empty());
            for word in to_send {
                if let Err(error) = sd_notify::notify(&[word]) {
                    tracing::warn!("the service manager does not hear: {error}");
                }
            }
            let _ = end.send(());
        })?;
        // Half of what it waits for, as sd_watchdog_enabled(3) has it.
        let every = sd_notify::watchdog_enabled().map(|longest| longest / 2);
        Ok(Self { way: Some(Way { words, done }), every, beaten: None })
    }

    /// The daemon does what it is there for.
    pub(super) fn ready(&self) {
        self.say(NotifyState::Ready);
    }

    /// To be called all the time by the thread that the flows depend on.
    pub(super) fn beat(&mut self, now: HostInstant) {
        let Some(every) = self.every else { return };
        if self.beaten.is_none_or(|beaten| now - beaten >= every) {
            self.beaten = Some(now);
            self.say(NotifyState::Watchdog);
        }
    }

    /// The daemon has been asked to end, and puts back what it changed.
    pub(super) fn stopping(&self) {
        self.say(NotifyState::Stopping);
    }

    fn say(&self, word: NotifyState<'static>) {
        if let Some(way) = &self.way {
            let _ = way.words.try_send(word);
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Some(Way { words, done }) = self.way.take() {
            drop(words);
            let _ = done.recv_timeout(PATIENCE);
        }
    }
}
