//! Legilimens: background traffic that uses what a cell has to spare, by the rhythm in which
//! packets arrive (Chaudhry et al., 2021).
//!
//! ```text
//!           ┌──(busy: wait T·U[1..2^b])──┐
//!           ▼                            │
//!         GAP I ──▶ GAP II ──▶ GAP III ──▶ NORMAL
//!           ▲          │          │          │
//!           └──────────┴──(busy)──┴──────────┘
//! ```
//!
//! A GAP phase sends a burst and waits T. `legilimens-published` is literally the paper's law, and
//! blind where the paper's is. `legilimens` can ask for several busy slots instead of one;
//! `background` is this project's own law. Where the paper is silent,
//! `docs/interpretations/legilimens.md` has what was chosen.

mod estimator;

use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sounding_cc::parameter::{Kind, Parameter, Values};
use sounding_cc::part::{Aimd, RttEstimator};
use sounding_cc::{Ack, Controller, Departure, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use estimator::Estimator;

const LAMBDA: Parameter = Parameter {
    name: "lambda",
    kind: Kind::number(0.5, 0.0, 1.0),
    unit: "",
    about: "a gap is busy if less than this part of the capacity arrived in it",
    source: "Table I, λ",
};
const BURST: Parameter = Parameter {
    name: "burst",
    kind: Kind::count(50, 2, 10_000),
    unit: "kB",
    about: "what GAP I sends; GAP II sends two of it, GAP III three",
    source: "Table I, M",
};
const INTERVAL: Parameter = Parameter {
    name: "interval",
    kind: Kind::millis(250, 1, 10_000),
    unit: "",
    about: "the time between GAP phases, and the unit of the back-off",
    source: "Table I, T",
};
const BUSY: Parameter = Parameter {
    name: "busy",
    kind: Kind::count(1, 1, 8),
    unit: "slots",
    about: "of the last eight slots, so many busy ones make the cell busy; 1 is the paper's",
    source: "interpretation 5",
};
/// GAP phases before NORMAL.
const GAPS: u32 = 3;
/// The back-off draws from at most 2 to this many intervals (interpretation 6): 16 s with the
/// paper's T.
const MAX_BACK_OFF: u32 = 6;
/// NORMAL begins with so many segments (interpretation 7).
const FIRST_CWND: u64 = 10;

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// A gap is busy if less than this part of the capacity arrived in it (the paper's λ).
    pub lambda: f64,
    /// The burst of GAP I (the paper's M).
    pub burst: Bytes,
    /// The time between GAP phases (the paper's T).
    pub interval: Duration,
    /// Of the last eight slots, so many busy ones make the cell busy (interpretation 5).
    pub busy: u32,
}

impl Config {
    pub(crate) const PARAMETERS: &[Parameter] = &[LAMBDA, BURST, INTERVAL, BUSY];
    /// Those of the paper.
    pub(crate) const PUBLISHED: &[Parameter] = &[LAMBDA, BURST, INTERVAL];

    pub(crate) fn of(values: &Values) -> Self {
        Self {
            lambda: values.number(&LAMBDA),
            burst: Bytes::new(u64::from(values.count(&BURST)) * 1000),
            interval: values.time(&INTERVAL),
            busy: values.count(&BUSY),
        }
    }

    /// The paper's law: one busy slot is enough.
    #[must_use]
    pub const fn published(self) -> Self {
        Self { busy: 1, ..self }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// One flow under Legilimens.
#[derive(Clone, Debug)]
pub struct Legilimens {
    config: Config,
    estimator: Estimator,
    window: Aimd,
    rtt: RttEstimator,
    start: Start,
    phase: Phase,
    back_off: u32,
    rng: ChaCha8Rng,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waits until then to send the burst of this GAP.
    Waiting {
        gap: u32,
        until: HostInstant,
    },
    /// Sends it.
    Bursting {
        gap: u32,
        since: HostInstant,
        sent: Bytes,
    },
    /// Has sent it, and decides then. Nothing leaves.
    Judging {
        gap: u32,
        at: HostInstant,
    },
    Normal,
}

impl Legilimens {
    /// A flow with the paper's parameters, in GAP I.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same with others.
    pub fn with(start: &Start, config: Config) -> Self {
        Self {
            config,
            estimator: Estimator::new(config.lambda, config.busy),
            window: Aimd::new(start),
            rtt: RttEstimator::default(),
            start: *start,
            phase: Phase::Waiting { gap: 1, until: start.now },
            back_off: 0,
            rng: ChaCha8Rng::seed_from_u64(start.seed),
        }
    }

    fn burst(&self, gap: u32) -> Bytes {
        Bytes::new(self.config.burst.count() * u64::from(gap))
    }

    fn handle_busy(&mut self, now: HostInstant) {
        let wait = match self.phase {
            // It is yielding already.
            Phase::Waiting { .. } => return,
            Phase::Bursting { gap: 1, .. } | Phase::Judging { gap: 1, .. } => {
                self.back_off = (self.back_off + 1).min(MAX_BACK_OFF);
                let drawn = 1 + self.rng.next_u32() % (1 << self.back_off);
                self.config.interval * drawn
            }
            _ => self.config.interval,
        };
        self.estimator.forget();
        self.phase = Phase::Waiting { gap: 1, until: now + wait };
    }

    fn handle_free(&mut self, now: HostInstant) {
        let Phase::Judging { gap, at } = self.phase else { return };
        if now < at {
            return;
        }
        if gap < GAPS {
            self.phase = Phase::Waiting { gap: gap + 1, until: now };
            return;
        }
        // As after a timeout: a small window, and slow start to what the cell carries in a round.
        self.back_off = 0;
        self.window = Aimd::new(&self.start);
        let round = self.rtt.least().and_then(|rtt| self.estimator.carries(rtt));
        let round = round.map_or(self.start.segments(FIRST_CWND), |bytes| Bytes::new(bytes as u64));
        self.window.slow_start_to(self.start.segments(FIRST_CWND), round);
        self.phase = Phase::Normal;
    }
}

impl Controller for Legilimens {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        let (gap, since, before) = match self.phase {
            Phase::Waiting { gap, .. } => (gap, sent.at, Bytes::ZERO),
            Phase::Bursting { gap, since, sent } => (gap, since, sent),
            Phase::Judging { .. } | Phase::Normal => return,
        };
        let all = before + size;
        self.phase = if all < self.burst(gap) {
            Phase::Bursting { gap, since, sent: all }
        } else {
            Phase::Judging { gap, at: since + self.config.interval }
        };
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.rtt.handle_ack(ack);
        let busy = self.estimator.handle_ack(ack);
        if self.phase == Phase::Normal {
            self.window.handle_ack(ack);
            self.window.grow(ack);
        }
        if busy == Some(true) {
            self.handle_busy(ack.now);
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        if self.phase == Phase::Normal {
            self.window.handle_loss(loss);
        }
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        // A cell that serves nothing is busy.
        self.handle_busy(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        match self.phase {
            // The application had less than a burst.
            Phase::Bursting { gap, since, .. } if since + self.config.interval <= now => {
                self.phase = Phase::Judging { gap, at: now };
                self.handle_free(now);
            }
            Phase::Waiting { gap, until } if until <= now => {
                self.phase = Phase::Bursting { gap, since: now, sent: Bytes::ZERO };
            }
            _ => self.handle_free(now),
        }
    }

    fn wakeup(&self) -> Option<HostInstant> {
        match self.phase {
            Phase::Waiting { until, .. } => Some(until),
            Phase::Bursting { since, .. } => Some(since + self.config.interval),
            Phase::Judging { at, .. } => Some(at),
            Phase::Normal => None,
        }
    }

    fn not_before(&self) -> Option<HostInstant> {
        match self.phase {
            Phase::Waiting { until, .. } => Some(until),
            Phase::Judging { at, .. } => Some(at),
            Phase::Bursting { .. } | Phase::Normal => None,
        }
    }

    fn cwnd(&self) -> Bytes {
        match self.phase {
            Phase::Normal => self.window.cwnd(),
            Phase::Waiting { gap, .. }
            | Phase::Bursting { gap, .. }
            | Phase::Judging { gap, .. } => self.burst(gap).max(self.start.segments(2)),
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        match self.phase {
            Phase::Normal => "normal",
            Phase::Waiting { gap, .. }
            | Phase::Bursting { gap, .. }
            | Phase::Judging { gap, .. } => {
                ["gap I", "gap II", "gap III"][(gap as usize - 1).min(2)]
            }
        }
    }
}
