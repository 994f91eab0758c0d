//! When packets arrived, for a sender whose controller reads its receiver's clock.
//!
//! A stack does not show its application the numbers of packets that arrive. But it decrypts each
//! with a key of its configuration, and names the number. So the receiver's configuration is
//! wrapped ([`Noted`]) and writes [`Arrivals`]. They leave in datagrams (RFC 9221), which the
//! sender's [`Intake`](crate::Intake) hands to its [`PeerTimes`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sounding_host::monotonic_now;
use sounding_units::HostInstant;

mod peer;
mod wire;

pub use peer::PeerTimes;
pub(crate) use wire::is_times;
use wire::{MOST_RUNS, Run, Times};

/// Neighbouring numbers within this time are one run. Chosen: a tenth of the tick of TCP's time
/// stamps, which the laws are made for.
const SAME: Duration = Duration::from_micros(100);

/// Packets of a connection and when they arrived, as its receiver notes them. Clones are the same
/// list.
///
/// Give it to one connection alone. It keeps what two datagrams carry.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(Arc<Mutex<Log>>);

#[derive(Debug, Default)]
struct Log {
    /// Those of the last datagram, which are sent once more, and the new ones.
    runs: VecDeque<Run>,
    /// So many are new.
    new: usize,
}

impl Arrivals {
    /// Without packets.
    pub fn new() -> Self {
        Self::default()
    }

    /// A cryptographic configuration of a stack that notes each packet here: `config.crypto` of a
    /// `ServerConfig`, or what `ClientConfig::new` takes, of quinn or noq. Only one connection
    /// may be made with it.
    pub fn noting<C: Noted>(&self, crypto: C) -> C {
        crypto.noted(self)
    }

    /// The packet of this number arrived. Numbers are those of the space of application data, and
    /// of one path.
    pub fn handle_packet(&self, now: HostInstant, number: u64) {
        let mut log = self.lock();
        let at = now.as_nanos() / 1000;
        if log.new > 0
            && let Some(run) = log.runs.back_mut()
            && run.takes(number, at, SAME)
        {
            return;
        }
        if log.runs.len() == MOST_RUNS {
            log.runs.pop_front();
        }
        log.runs.push_back(Run { first: number, count: 1, at });
        log.new = (log.new + 1).min(MOST_RUNS);
    }

    /// The next datagram, if a packet arrived since the last: at most 988 bytes. Each packet is in
    /// two of them, so that the loss of one costs nothing. Chosen: to be sent every 5 ms.
    pub fn poll_datagram(&self, now: HostInstant) -> Option<Vec<u8>> {
        let mut log = self.lock();
        if log.new == 0 {
            return None;
        }
        let times = Times { sent: now.as_nanos() / 1000, runs: log.runs.iter().copied().collect() };
        let old = log.runs.len() - log.new;
        log.runs.drain(..old);
        log.new = 0;
        Some(times.emit())
    }

    #[cfg_attr(
        not(any(feature = "quinn", feature = "noq")),
        allow(dead_code, reason = "for adapters")
    )]
    pub(crate) fn handle_decrypted(&self, number: u64) {
        self.handle_packet(monotonic_now(), number);
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stack's cryptographic configuration that can note the packets which it decrypts.
pub trait Noted {
    /// The same, which notes them there.
    #[must_use]
    fn noted(self, arrivals: &Arrivals) -> Self;
}

#[cfg(test)]
mod tests;
