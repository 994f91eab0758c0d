//! What a live sender should take: a law from estimates alone.

use std::fmt;
use std::time::Duration;

use sounding_estimate::{Bound, Direction, LinkEstimate, State};
use sounding_units::{Bytes, HostInstant, Rate};

/// A rate for a live sender, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The rate, in bytes of IP.
    pub rate: Rate,
    /// Why.
    pub cause: Cause,
}

/// Why an advice has its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// All that was sent was granted, and the sender takes what it is given: more is tried.
    Climbing,
    /// The same near a capacity that was seen: more is tried slowly.
    Trying,
    /// The sender takes less than it is given, so that no more is known.
    Unused,
    /// The radio's capacity is known.
    Capacity,
    /// Data waits in the modem: less until it left.
    Draining,
    /// Data waits and nothing is granted: the least.
    Silence,
    /// The device changes its cell: held.
    Handover,
    /// Nothing is sent: held for a while, then the first rate.
    Idle,
}

impl Cause {
    /// Every cause, in the order of its definition.
    pub const ALL: [Self; 8] = [
        Self::Climbing,
        Self::Trying,
        Self::Unused,
        Self::Capacity,
        Self::Draining,
        Self::Silence,
        Self::Handover,
        Self::Idle,
    ];

    /// Its word in a line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Climbing => "climbing",
            Self::Trying => "trying",
            Self::Unused => "unused",
            Self::Capacity => "capacity",
            Self::Draining => "draining",
            Self::Silence => "silence",
            Self::Handover => "handover",
            Self::Idle => "idle",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The law's constants; chosen on other seeds than those that judge them: `sounding lab run
/// advice`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The span of time that estimates look back.
    pub span: Duration,
    /// Part of the capacity that is advised, in thousandths.
    pub share: u32,
    /// What may wait in the modem, as time at the capacity.
    pub aim: Duration,
    /// Time in which more than that has to leave.
    pub drain: Duration,
    /// Time in which the advice doubles while it climbs.
    pub double: Duration,
    /// The same near a capacity that was seen.
    pub try_double: Duration,
    /// A capacity that was seen counts for so long.
    pub seen: Duration,
}

impl Tuning {
    /// For a direction.
    pub const fn of(direction: Direction) -> Self {
        match direction {
            Direction::Uplink => Self {
                span: Duration::from_millis(50),
                share: 1_000,
                aim: Duration::from_millis(50),
                drain: Duration::from_millis(150),
                double: Duration::from_millis(200),
                try_double: Duration::from_millis(500),
                seen: Duration::from_secs(1),
            },
            Direction::Downlink => Self {
                span: Duration::from_millis(50),
                share: 900,
                aim: Duration::from_millis(30),
                drain: Duration::from_millis(100),
                double: Duration::from_millis(150),
                try_double: Duration::from_secs(2),
                seen: Duration::from_secs(1),
            },
        }
    }
}

/// The advice of one direction of one modem.
///
/// ```text
///                    grants                     capacity
///   no advice ───────────────▶ Climbing ─────────────────────▶ Capacity ◀──▶ Draining
///       ▲                       ▲   │ ▲                            │
///       │ stale, or no grant    │   │ └── 1 s after the capacity ──┤ floor
///       └─ from any ────────────│   ▼                              ▼
///                               │ Unused ◀── takes too little ── Trying
///                               │
///                               └── grants ── Silence, Handover, Idle
/// ```
#[derive(Clone, Debug)]
pub struct Adviser {
    tuning: Tuning,
    now: Option<Advice>,
    /// When the newest estimate came.
    at: Option<HostInstant>,
    /// The newest capacity, and when it was seen.
    seen: Option<(Rate, HostInstant)>,
    idle_since: Option<HostInstant>,
    /// What the sender takes: what is granted, which falls slowly between a sender's packets.
    taken: Rate,
}

/// What a sender takes is forgotten in this time. A sender of 1 Mbit/s has twelve milliseconds
/// between its packets, and several times that between its pictures. Chosen.
const FORGOTTEN: Duration = Duration::from_millis(250);

/// The first advice, and the one after a long idleness: the network grants it to every device.
/// Chosen.
const FIRST: Rate = Rate::from_bits_per_sec(1_000_000);

/// The least advice: a stream of one picture a second. Chosen.
const LEAST: Rate = Rate::from_bits_per_sec(100_000);

/// An idle link's advice goes back to the first after this. Chosen, as the shaper's.
const IDLE: Duration = Duration::from_secs(10);

/// A sender that takes less than this part of the advice does not use it, in thousandths.
const USED: u32 = 700;

/// The most that is advised above what is granted, in thousandths.
const MOST: u32 = 2_000;

/// What always waits: a packet or two between two grants.
const PACKETS: Bytes = Bytes::new(6_000);

const WHOLE: u32 = 1_000;

impl Adviser {
    /// Without advice until the first grant.
    pub const fn new(direction: Direction) -> Self {
        Self::tuned(Tuning::of(direction))
    }

    /// The same with other constants.
    pub const fn tuned(tuning: Tuning) -> Self {
        Self { tuning, now: None, at: None, seen: None, idle_since: None, taken: Rate::ZERO }
    }

    /// The advice, if the link is known.
    pub const fn advice(&self) -> Option<Advice> {
        self.now
    }

    /// The modem is not heard any more.
    pub fn handle_disconnect(&mut self) {
        *self = Self::tuned(self.tuning);
    }

    /// A new estimate of the direction.
    pub fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate) {
        let since = self.at.replace(now).map_or(Duration::ZERO, |before| now - before);
        if estimate.state != State::Idle {
            self.idle_since = None;
        }
        let forgotten = part(since, FORGOTTEN);
        let granted = estimate.known_rate().unwrap_or(Rate::ZERO);
        self.taken = self.taken.scaled(WHOLE - forgotten, WHOLE).max(granted);
        match estimate.known_state() {
            None | Some(State::Stale) => {
                self.now = None;
                self.seen = None;
            }
            Some(State::Handover) => self.hold(Cause::Handover),
            Some(State::Silent) => self.set(LEAST, Cause::Silence),
            Some(State::Idle) => self.handle_idle(now),
            Some(State::Active) => self.handle_active(now, since, estimate),
        }
    }

    fn hold(&mut self, cause: Cause) {
        // Grants of the old cell do not predict those of the new one.
        self.seen = None;
        let rate = self.now.map_or(FIRST, |advice| advice.rate);
        self.set(rate, cause);
    }

    fn handle_idle(&mut self, now: HostInstant) {
        let since = *self.idle_since.get_or_insert(now);
        let rate = self.now.map_or(FIRST, |advice| advice.rate);
        let rate = if now - since >= IDLE { FIRST } else { rate };
        self.set(rate, Cause::Idle);
    }

    fn handle_active(&mut self, now: HostInstant, since: Duration, estimate: &LinkEstimate) {
        let granted = estimate.rate;
        let rate = self.now.map_or(FIRST, |advice| advice.rate);
        if estimate.bound == Bound::Capacity {
            self.seen = Some((granted, now));
            let wish = granted.scaled(self.tuning.share, WHOLE);
            let less = self.excess(estimate, granted);
            let cause = if less > Rate::ZERO { Cause::Draining } else { Cause::Capacity };
            return self.set(minus(wish, less), cause);
        }
        let waits = self.excess(estimate, rate.max(granted));
        if waits > Rate::ZERO {
            // It waits for the network's next turn, or the capacity shows soon: no more is tried.
            return self.set(rate.min(minus(rate, waits).max(granted)), Cause::Draining);
        }
        let most = self.taken.scaled(MOST, WHOLE).max(FIRST);
        if self.taken < rate.scaled(USED, WHOLE) {
            return self.set(rate.min(most), Cause::Unused);
        }
        let seen = self.seen.filter(|(_, at)| now - *at < self.tuning.seen);
        let ceiling = seen.map(|(capacity, _)| capacity.scaled(self.tuning.share, WHOLE));
        let is_near = ceiling.is_some_and(|ceiling| rate >= ceiling);
        let (double, cause) = match is_near {
            true => (self.tuning.try_double, Cause::Trying),
            false => (self.tuning.double, Cause::Climbing),
        };
        let risen = rate.scaled(WHOLE + part(since, double), WHOLE);
        let risen = ceiling.filter(|_| !is_near).map_or(risen, |ceiling| risen.min(ceiling));
        self.set(risen.max(granted).min(most), cause);
    }

    /// The rate by which what waits in the modem is above the aim.
    fn excess(&self, estimate: &LinkEstimate, rate: Rate) -> Rate {
        let aim = (rate * self.tuning.aim).max(PACKETS);
        let over = estimate.backlog.map(|backlog| backlog.saturating_sub(aim));
        over.map_or(Rate::ZERO, |over| over.per(self.tuning.drain))
    }

    fn set(&mut self, rate: Rate, cause: Cause) {
        self.now = Some(Advice { rate: rate.max(LEAST), cause });
    }
}

/// A time as a part of another, in thousandths, at most the whole.
fn part(time: Duration, of: Duration) -> u32 {
    let part = u64::from(WHOLE) * time.as_micros() as u64 / of.as_micros().max(1) as u64;
    part.min(u64::from(WHOLE)) as u32
}

fn minus(rate: Rate, less: Rate) -> Rate {
    Rate::from_bits_per_sec(rate.bits_per_sec().saturating_sub(less.bits_per_sec()))
}

#[cfg(test)]
mod tests;
