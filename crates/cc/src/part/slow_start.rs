use core::time::Duration;

use sounding_units::Bytes;

use super::Round;
use crate::Ack;

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
#[derive(Clone, Copy, Debug)]
pub struct SlowStart {
    phase: Phase,
    round: Round,
    last: Option<Duration>,
    current: Option<Duration>,
    samples: u32,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Slow,
    Conservative { baseline: Duration, rounds: u32 },
    Over,
}

impl Default for SlowStart {
    fn default() -> Self {
        Self { phase: Phase::Slow, round: Round::default(), last: None, current: None, samples: 0 }
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
            (Phase::Slow, Some(last), Some(current)) if self.samples >= SAMPLES => {
                let rise = (last / RISE_DIVISOR).clamp(MIN_RISE, MAX_RISE);
                if current >= last + rise {
                    self.phase = Phase::Conservative { baseline: current, rounds: 0 };
                }
            }
            (Phase::Conservative { baseline, .. }, _, Some(current))
                if self.samples >= SAMPLES && current < baseline =>
            {
                self.phase = Phase::Slow;
            }
            _ => {}
        }
        match self.phase {
            Phase::Slow => Some(ack.acked),
            Phase::Conservative { .. } => Some(Bytes::new(ack.acked.count() / GROWTH_DIVISOR)),
            Phase::Over => None,
        }
    }
}
