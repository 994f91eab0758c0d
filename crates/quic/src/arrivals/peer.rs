use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sounding_units::HostInstant;

use super::wire::Times;
use crate::error::ReportError;

/// Arrivals that wait for the connection to read them; of more, the oldest are dropped. Chosen: 100
/// ms at a Gbit/s.
pub(super) const WAITING: usize = 8192;

/// When the peer of a connection received its packets, as the peer's datagrams say. Clones are the
/// same.
///
/// Give it to one connection alone: to its [`Factory`](crate::Factory::timed) and its
/// [`Intake`](crate::Intake::timing).
#[derive(Clone, Debug, Default)]
pub struct PeerTimes(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Counts datagrams, so that a connection sees without a lock that there is nothing new.
    version: AtomicU64,
    inbox: Mutex<Inbox>,
}

/// What waits for a connection.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) arrived: VecDeque<Arrived>,
    /// When the last datagram came.
    pub(crate) heard_at: Option<HostInstant>,
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) number: u64,
    /// On the receiver's clock, us.
    pub(crate) at: u64,
}

impl PeerTimes {
    /// Without a datagram so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a datagram of [`Arrivals`](super::Arrivals) that came at `now`.
    ///
    /// # Errors
    ///
    /// [`ReportError`] if the datagram is no such message, has another version, or is cut short.
    pub fn handle_datagram(&self, now: HostInstant, datagram: &[u8]) -> Result<(), ReportError> {
        let times = Times::parse(datagram)?;
        let mut inbox = self.lock();
        let packets = times.runs.iter().flat_map(|run| {
            let numbers = run.first..run.first.saturating_add(run.count.into());
            numbers.map(|number| Arrived { number, at: run.at })
        });
        // A datagram that claims more packets than are kept is cut off.
        for packet in packets.take(WAITING) {
            if inbox.arrived.len() == WAITING {
                inbox.arrived.pop_front();
            }
            inbox.arrived.push_back(packet);
        }
        inbox.heard_at = Some(now);
        drop(inbox);
        self.0.version.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// What came since `version`, which is moved on; `None` if nothing did.
    pub(crate) fn take(&self, version: &mut u64) -> Option<Inbox> {
        let newest = self.0.version.load(Ordering::Acquire);
        if newest == *version {
            return None;
        }
        *version = newest;
        let mut inbox = self.lock();
        let heard_at = inbox.heard_at;
        Some(Inbox { arrived: std::mem::take(&mut inbox.arrived), heard_at })
    }

    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.0.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
