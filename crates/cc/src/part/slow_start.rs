use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use super::Round;
use crate::controller::{Ack, Revision};

/// RFC 9406 §4.3, all of them.
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);
const RISE_DIVISOR: u32 = 8;
const SAMPLES: u32 = 8;
const GROWTH_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u32 = 5;

/// Slow start that leaves before the queue is full: HyStart++ (RFC 9406).
///
/// ```text
/// Slow ──(RTT of a round rose by an eighth)──▶ Conservative ──(5 rounds)──▶ Over
///   ▲                                              │
///   └────────(RTT is below what it rose to)────────┘
/// ```
///
/// Where a modem explains RTTs later, it also goes back to `Slow` from `Over`: as soon as eight
/// RTTs since it left are known without what the radio added, and the smallest of them did not rise
/// (docs/interpretations/gandalf.md, 25).
#[derive(Clone, Copy, Debug)]
pub struct SlowStart {
    phase: Phase,
    round: Round,
    last: Option<Duration>,
    current: Option<Duration>,
    samples: u32,
    /// When it left `Slow`.
    left_at: Option<HostInstant>,
    explained: Option<Explained>,
}

/// RTTs without what the radio added.
#[derive(Clone, Copy, Debug)]
struct Explained {
    /// The smallest.
    path: Duration,
    /// The smallest since slow start was left, of so many.
    least: Option<Duration>,
    samples: u32,
}

/// How far RTTs of a round may be above another's.
fn rise(above: Duration) -> Duration {
    (above / RISE_DIVISOR).clamp(MIN_RISE, MAX_RISE)
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Slow,
    Conservative { baseline: Duration, rounds: u32 },
    Over,
}

impl Default for SlowStart {
    fn default() -> Self {
        Self {
            phase: Phase::Slow,
            round: Round::default(),
            last: None,
            current: None,
            samples: 0,
            left_at: None,
            explained: None,
        }
    }
}

impl SlowStart {
    /// The window's growth from an acknowledgement; `None` once slow start is over.
    pub fn handle_ack(&mut self, ack: &Ack) -> Option<Bytes> {
        if self.round.handle_ack(ack) {
            self.last = self.current.take();
            self.samples = 0;
            if let Phase::Conservative { rounds, .. } = &mut self.phase {
                *rounds += 1;
                if *rounds >= CONSERVATIVE_ROUNDS {
                    self.phase = Phase::Over;
                }
            }
        }
        if let Some(rtt) = ack.rtt {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        match (self.phase, self.last, self.current) {
            (Phase::Slow, Some(last), Some(current))
                if self.samples >= SAMPLES && current >= last + rise(last) =>
            {
                self.phase = Phase::Conservative { baseline: current, rounds: 0 };
                self.left_at = Some(ack.now);
            }
            (Phase::Conservative { baseline, .. }, _, Some(current))
                if self.samples >= SAMPLES && current < baseline =>
            {
                self.phase = Phase::Slow;
                self.left_at = None;
            }
            _ => {}
        }
        match self.phase {
            Phase::Slow => Some(ack.acked),
            Phase::Conservative { .. } => Some(Bytes::new(ack.acked.count() / GROWTH_DIVISOR)),
            Phase::Over => None,
        }
    }

    /// Whether RTTs are explained later, so that it may go on after it was over.
    #[inline]
    pub fn is_explained(&self) -> bool {
        self.explained.is_some()
    }

    /// What the radio added to RTTs became known; whether slow start goes on that had been left
    /// because of it.
    pub fn handle_revision(&mut self, revision: &Revision) -> bool {
        let (seen_at, after) = match *revision {
            Revision::Rebase { least, .. } => {
                self.explained = Some(Explained { path: least, least: None, samples: 0 });
                return false;
            }
            Revision::Sample { seen_at, after, .. } => (seen_at, after),
        };
        let of = self.explained.get_or_insert(Explained { path: after, least: None, samples: 0 });
        of.path = of.path.min(after);
        if self.left_at.is_none_or(|left| seen_at < left) {
            return false;
        }
        of.least = Some(of.least.map_or(after, |least| least.min(after)));
        of.samples += 1;
        if of.samples < SAMPLES {
            return false;
        }
        of.samples = 0;
        if of.least.take().is_none_or(|least| least >= of.path + rise(of.path)) {
            // A queue.
            return false;
        }
        self.phase = Phase::Slow;
        (self.left_at, self.last, self.current, self.samples) = (None, None, None, 0);
        true
    }
}
