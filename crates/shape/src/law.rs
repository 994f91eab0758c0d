use core::fmt;

use sounding_estimate::{Bound, Direction, LinkEstimate, State};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::look::Looks;
use crate::{Limits, Queue, Tuning};

/// The rate of one direction's shaper.
///
/// ```text
///                 capacity, twice                    no grant
///   Probing ◀──────────────────────▶ Following ─────────────────▶ Holding ──10 s idle──▶ Base
///      ▲  the shaper's queue is busy     │  the radio took all,       ▲                     │
///      │  and the radio took all         ▼  and the shaper is empty   │                     │
///      └───────────────────────────── Demand ─────────────────────────┘◀────── grants ──────┘
/// ```
///
/// Give it the shaper's queue, then the estimate, at each of both. [`poll`](Self::poll) tells the
/// rate when it changed.
#[derive(Clone, Debug)]
pub struct ShaperLaw {
    limits: Limits,
    direction: Direction,
    tuning: Tuning,
    looks: Looks,
    rate: Rate,
    reason: Reason,
    /// Estimates in a row that showed the capacity.
    capacities: u8,
    /// The rates at the newest estimates that showed grants, in turn: a silence shows itself in
    /// falling estimates first.
    granted: [Rate; RECENT],
    turn: usize,
    idle_since: Option<HostInstant>,
    /// On the way to another cell.
    moves: bool,
    polled: Option<Decision>,
}

/// A rate for a shaper, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The rate, in bytes of IP.
    pub rate: Rate,
    /// Why.
    pub reason: Reason,
}

/// Why a shaper has its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No estimate came so far, or the last one is outdated: the base.
    Base,
    /// The radio's capacity is known, and this is it.
    Capacity,
    /// Data waits in the shaper, and the radio took all that it got: more is tried.
    Probing,
    /// Neither the shaper nor the radio holds data: the senders, or a link behind, are the limit.
    Demand,
    /// The modem holds enough data already, though the radio took all so far: no more is tried.
    Backlog,
    /// Data waits and nothing is granted: held.
    Silence,
    /// The device changes its cell: held.
    Handover,
    /// Nothing is sent: held for a while, then the base.
    Idle,
}

impl Reason {
    /// Every reason, in the order of its definition.
    pub const ALL: [Self; 8] = [
        Self::Base,
        Self::Capacity,
        Self::Probing,
        Self::Demand,
        Self::Backlog,
        Self::Silence,
        Self::Handover,
        Self::Idle,
    ];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Base => "base",
            Self::Capacity => "capacity",
            Self::Probing => "probing",
            Self::Demand => "demand",
            Self::Backlog => "backlog",
            Self::Silence => "silence",
            Self::Handover => "handover",
            Self::Idle => "idle",
        })
    }
}

/// Estimates that a silence takes to show itself: twice the span of the longest. Chosen.
const RECENT: usize = 20;

/// Thousandths.
const WHOLE: u32 = 1_000;

impl ShaperLaw {
    /// A shaper that begins with the base.
    pub fn new(direction: Direction, limits: Limits) -> Self {
        Self {
            limits,
            direction,
            tuning: Tuning::of(direction),
            looks: Looks::default(),
            rate: limits.base(),
            reason: Reason::Base,
            capacities: 0,
            granted: [limits.base(); RECENT],
            turn: 0,
            idle_since: None,
            moves: false,
            polled: None,
        }
    }

    /// What the shaper holds.
    pub fn handle_queue(&mut self, now: HostInstant, queue: Queue) {
        self.looks.handle(now, queue);
    }

    /// A new estimate of the direction, every 10 ms.
    pub fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate) {
        if let Some(radio) = estimate.radio {
            self.tuning = Tuning::over(self.direction, radio);
        }
        let shows = estimate.known_bound() == Some(Bound::Capacity);
        self.capacities = if shows { self.capacities.saturating_add(1) } else { 0 };
        if estimate.state != State::Idle {
            self.idle_since = None;
        }
        match estimate.known_state() {
            None | Some(State::Stale) => self.go_to_base(),
            Some(State::Handover) => {
                self.moves = true;
                self.reason = Reason::Handover;
            }
            Some(State::Silent) => self.hold(),
            Some(State::Idle) => self.handle_idle(now),
            Some(State::Active) => self.handle_active(estimate),
        }
    }

    /// The modem is not heard any more.
    pub fn handle_disconnect(&mut self) {
        self.capacities = 0;
        self.idle_since = None;
        self.go_to_base();
    }

    /// The shaper is another one, and the contents of the last one say nothing.
    pub fn handle_replaced(&mut self) {
        self.looks.forget();
        self.polled = None;
    }

    /// The decision, if it differs from the last one polled.
    pub fn poll(&mut self) -> Option<Decision> {
        let now = self.decision();
        (self.polled.replace(now) != Some(now)).then_some(now)
    }

    /// The rate now, and why.
    pub const fn decision(&self) -> Decision {
        Decision { rate: self.rate, reason: self.reason }
    }

    fn go_to_base(&mut self) {
        self.rate = self.limits.base();
        self.granted = [self.rate; RECENT];
        self.reason = Reason::Base;
        self.moves = false;
    }

    fn handle_idle(&mut self, now: HostInstant) {
        self.reason = Reason::Idle;
        let since = *self.idle_since.get_or_insert(now);
        if now - since >= self.tuning.idle {
            self.rate = self.limits.base();
        }
    }

    fn handle_active(&mut self, estimate: &LinkEstimate) {
        if core::mem::take(&mut self.moves) {
            // Grants of the old cell do not predict those of the new one.
            self.rate = self.rate.min(self.limits.base());
            self.granted = [self.rate; RECENT];
        }
        if estimate.rate < Limits::LEAST {
            // As good as no grant within the span: the rate is not followed to nothing.
            self.hold();
            return;
        }
        self.granted[self.turn % RECENT] = self.rate;
        self.turn = self.turn.wrapping_add(1);
        if estimate.bound == Bound::Capacity {
            if self.capacities >= self.tuning.sure {
                self.follow(estimate);
            }
        } else if self.looks.is_empty() {
            self.reason = Reason::Demand;
        } else if self.looks.is_busy() {
            self.climb(estimate);
        }
    }

    /// Nothing is granted: the rate is what it was before that began.
    fn hold(&mut self) {
        let before = self.granted.iter().copied().fold(self.rate, Rate::max);
        self.set(before, Reason::Silence);
    }

    /// The radio's capacity is known: the rate is its share of it, and what makes up for more or
    /// less than the aim in the modem.
    fn follow(&mut self, estimate: &LinkEstimate) {
        let Tuning { share, aim, drain, fall, .. } = self.tuning;
        let capacity = estimate.rate;
        let mut wish = capacity.scaled(share, WHOLE);
        if let Some(backlog) = estimate.backlog {
            let aim = capacity * aim;
            let (over, under) = (backlog.saturating_sub(aim), aim.saturating_sub(backlog));
            let less = over.per(drain);
            let bits = wish.bits_per_sec().saturating_sub(less.bits_per_sec());
            wish = Rate::from_bits_per_sec(bits) + under.per(drain);
        }
        let least = self.rate.scaled(WHOLE - fall, WHOLE);
        self.set(wish.max(least), Reason::Capacity);
    }

    fn climb(&mut self, estimate: &LinkEstimate) {
        let enough = self.rate * self.tuning.aim;
        let holds = |backlog: Bytes| enough > Bytes::ZERO && backlog > enough;
        if estimate.backlog.is_some_and(holds) {
            self.reason = Reason::Backlog;
            return;
        }
        self.set(self.rate.scaled(WHOLE + self.tuning.climb, WHOLE), Reason::Probing);
    }

    fn set(&mut self, rate: Rate, reason: Reason) {
        self.rate = self.limits.clamp(rate);
        self.reason = reason;
    }
}

#[cfg(test)]
mod tests;
