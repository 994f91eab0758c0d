//! News for the servers of this process: from any thread, without waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;
use sounding_host::monotonic_now;
use sounding_serve::{Event, Feeder, News};

/// The ways to servers by their numbers, and how many there are.
static WAYS: Mutex<Vec<(usize, Feeder)>> = Mutex::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A way to a server, until it is dropped.
pub(super) struct Way(usize);

/// It is held for as long as news is given to a queue.
fn ways() -> MutexGuard<'static, Vec<(usize, Feeder)>> {
    WAYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives a server the news from now on.
pub(super) fn lead_to(server: Feeder) -> Way {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut all = ways();
    all.push((number, server));
    COUNT.store(all.len(), Ordering::Relaxed);
    Way(number)
}

impl Drop for Way {
    fn drop(&mut self) {
        let mut all = ways();
        all.retain(|(number, _)| *number != self.0);
        COUNT.store(all.len(), Ordering::Relaxed);
    }
}

/// Whether there is a server that takes news.
pub(super) fn are_wanted() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

/// Gives news to the servers, if there are any. This never waits.
pub(super) fn tell(news: impl FnOnce() -> News) {
    if !are_wanted() {
        return;
    }
    let news = news();
    ways().iter().for_each(|(_, server)| server.give(news.clone()));
}

/// Events that are shown. Others are too many, or name flows and peers.
const SHOWN: &[&str] = &[
    "absent",
    "base_not_kept",
    "bypass",
    "closed",
    "interfaces",
    "late",
    "modem_failed",
    "mute",
    "no_priority",
    "not_awake",
    "not_reloaded",
    "output_failed",
    "output_started",
    "rates_not_kept",
    "ready",
    "reloaded",
    "reopened",
    "shaper",
    "shaping",
    "slept",
];

/// Gives an event to the servers, if it is one to show.
pub(super) fn tell_event(modem: Option<&str>, event: &Json) {
    let kind = event["event"].as_str().unwrap_or_default();
    if !are_wanted() || !SHOWN.contains(&kind) {
        return;
    }
    let modem = modem.map(str::to_owned);
    let (kind, text) = (kind.to_owned(), event.to_string());
    tell(|| News::Event(Event { kind, at: monotonic_now(), modem, text }));
}
