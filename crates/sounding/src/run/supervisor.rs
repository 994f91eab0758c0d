//! A daemon's reports to the service manager that started it (systemd's `Type=notify`): ready,
//! alive, stopping.

use std::env::var_os;
use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use sd_notify::NotifyState;
use sounding_host::{Capabilities, spawn_with_only};
use sounding_units::HostInstant;

/// Time limit for the last report.
const PATIENCE: Duration = Duration::from_secs(1);

/// The connection to the service manager; without one, every report is dropped.
///
/// If the manager does not read, its socket becomes full, and a write blocks. Only a separate
/// thread writes, so only that one blocks. Meanwhile reports are dropped, and a missed watchdog
/// ends the daemon.
#[derive(Debug, Default)]
pub(super) struct Supervisor {
    way: Option<Way>,
    /// Interval of the watchdog reports, if the manager expects them.
    every: Option<Duration>,
    beaten: Option<HostInstant>,
}

#[derive(Debug)]
struct Way {
    words: SyncSender<NotifyState<'static>>,
    done: Receiver<()>,
}

impl Supervisor {
    /// Reads from the environment whether there is a service manager, and its watchdog interval.
    pub(super) fn find() -> io::Result<Self> {
        if var_os("NOTIFY_SOCKET").is_none() {
            return Ok(Self::default());
        }
        let (words, to_send) = mpsc::sync_channel(8);
        let (end, done) = mpsc::sync_channel(1);
        spawn_with_only(Capabilities::empty(), "supervisor", move || {
            for word in to_send {
                if let Err(error) = sd_notify::notify(&[word]) {
                    tracing::warn!("the service manager receives no reports: {error}");
                }
            }
            let _ = end.send(());
        })?;
        // Half of the manager's interval, as sd_watchdog_enabled(3) recommends.
        let every = sd_notify::watchdog_enabled().map(|longest| longest / 2);
        Ok(Self { way: Some(Way { words, done }), every, beaten: None })
    }

    /// The daemon is ready.
    pub(super) fn ready(&self) {
        self.say(NotifyState::Ready);
    }

    /// The thread that the flows depend on calls this in its loop.
    pub(super) fn beat(&mut self, now: HostInstant) {
        let Some(every) = self.every else { return };
        if self.beaten.is_none_or(|beaten| now - beaten >= every) {
            self.beaten = Some(now);
            self.say(NotifyState::Watchdog);
        }
    }

    /// The daemon ends, and restores its changes.
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
