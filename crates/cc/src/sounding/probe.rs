use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::part::Round;
use crate::{Ack, Recovery};

/// Growth in a round trip, in eighths of what is acknowledged: at most all of it, as slow start grows.
const MOST_EIGHTHS: u64 = 8;
/// The first step of a probe on a link that was full a moment ago: more of it has come free, or less was asked for
/// than thought. It doubles round by round. Chosen; with BBR's quarter a link that fades queues a third longer.
const FIRST_EIGHTHS: u64 = 1;
/// A link that was not full for so long is probed as one that nobody knows. Chosen: with 300 ms a link that fades is
/// probed too hard each time it comes back.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// A queue of this is one, whatever the modem has told by then: HyStart++ takes an eighth of the RTT, 16 ms at most (RFC
/// 9406 §4.3), for one, and on an uplink the wait for a grant changes by as much as a report's interval and a repeated
/// block.
const QUEUE: Duration = Duration::from_millis(16);
/// So many RTTs that all tell of a queue are believed before their round is over (RFC 9406 §4.3).
const SAMPLES: u32 = 8;
/// The window is to be used up within an RTT, whatever the pacing's steps.
const PACING_PERMILLE: u64 = 1250;

/// A window above what the radio is known to carry.
///
/// ```text
///        an estimate that is only a floor           the path shows a queue, or loss
///   Off ──────────────────────────────────▶ Climbing ─────────────────────────────▶ Held
///    ▲                                      │      ▲    a round without any          │
///    │                                      │      └────────────────────────────────┤
///    └── the radio is full, or says nothing ┴────────────────────────────────────────┘
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    state: State,
    round: Round,
    /// The smallest RTT of the round, and of how many.
    rtt: Option<Duration>,
    samples: u32,
    /// When the radio was last known to be full.
    full: Option<HostInstant>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Off,
    Climbing {
        cwnd: Bytes,
        eighths: u64,
    },
    Held {
        cwnd: Bytes,
    },
}

impl Probe {
    /// Nobody knows, or nobody may.
    pub(super) const fn handle_stop(&mut self) {
        self.state = State::Off;
    }

    /// More waits than is granted.
    pub(super) const fn handle_full(&mut self, now: HostInstant) {
        self.state = State::Off;
        self.full = Some(now);
    }

    /// What is granted is only what was asked for, with a window of `cwnd`.
    pub(super) fn handle_floor(&mut self, now: HostInstant, cwnd: Bytes) {
        if matches!(self.state, State::Off) {
            let known = self.full.is_some_and(|full| now - full <= KNOWN_FOR);
            let eighths = if known { FIRST_EIGHTHS } else { MOST_EIGHTHS };
            self.state = State::Climbing { cwnd, eighths };
            (self.rtt, self.samples) = (None, 0);
        }
    }

    pub(super) fn handle_ack(&mut self, ack: &Ack, rtt_min: Duration) {
        let over = self.round.handle_ack(ack);
        self.rtt = match (self.rtt, ack.rtt) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (least, rtt) => least.or(rtt),
        };
        self.samples += u32::from(ack.rtt.is_some());
        let enough = over || self.samples >= SAMPLES;
        let queues = enough && self.rtt.is_some_and(|rtt| rtt.saturating_sub(rtt_min) >= QUEUE);
        let lost = ack.recovery != Recovery::None;
        self.state = match self.state {
            State::Climbing { cwnd, .. } if lost || queues => {
                // What queues is what the last step was too much.
                State::Held { cwnd: self.without_queue(cwnd, rtt_min) }
            }
            State::Climbing { cwnd, eighths } => {
                // What the window did not hold back need not grow.
                let used = ack.prior_in_flight.count() >= cwnd.count() / 2;
                let more = if used { ack.acked.count().saturating_mul(eighths) / 8 } else { 0 };
                let faster = if over && used { (eighths * 2).min(MOST_EIGHTHS) } else { eighths };
                State::Climbing {
                    cwnd: Bytes::new(cwnd.count().saturating_add(more).min(MOST_CWND)),
                    eighths: faster,
                }
            }
            State::Held { cwnd } if over && !queues && !lost => {
                State::Climbing { cwnd, eighths: FIRST_EIGHTHS }
            }
            State::Held { cwnd } if over => State::Held { cwnd: self.without_queue(cwnd, rtt_min) },
            state => state,
        };
        if over {
            (self.rtt, self.samples) = (None, 0);
        }
    }

    /// A window that leaves no more than a small queue, of one that makes for the round's RTT.
    fn without_queue(&self, cwnd: Bytes, rtt_min: Duration) -> Bytes {
        let wanted = rtt_min.saturating_add(QUEUE).as_micros() as u64;
        let found = self.rtt.map_or(wanted, |rtt| rtt.as_micros() as u64).max(1);
        Bytes::new(cwnd.count().saturating_mul(wanted.min(found)) / found)
    }

    pub(super) const fn cwnd(&self) -> Bytes {
        match self.state {
            State::Off => Bytes::ZERO,
            State::Climbing { cwnd, .. } | State::Held { cwnd } => cwnd,
        }
    }

    /// How fast the window may leave on a path of this RTT without queue.
    pub(super) fn pacing(&self, rtt_min: Duration) -> Rate {
        let gained = self.cwnd().count().saturating_mul(PACING_PERMILLE) / 1000;
        Bytes::new(gained).per(rtt_min.max(Duration::from_millis(1)))
    }

    pub(super) const fn state(&self) -> Option<&'static str> {
        match self.state {
            State::Off => None,
            State::Climbing { .. } => Some("probing"),
            State::Held { .. } => Some("probing, held"),
        }
    }
}

/// 1 GB: more than any path of this kind holds.
const MOST_CWND: u64 = 1 << 30;
