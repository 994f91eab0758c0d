//! The difference between the clock of a packets' receiver and a device's (Gandalf §4.3.1,
//! "Handling uplink retransmissions").
//!
//! A repeat of the uplink leaves a mark in the packets alone: nothing arrives for as long as it
//! takes, and then several packets at once. The shift between both clocks is the one at which most
//! of the modem's events end with such a burst. It contains the way from the radio to the receiver.

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_estimate::{DelayKind, RanDelay};
use sounding_kpi::Direction;
use sounding_units::HostInstant;

/// The shortest idle period before a burst: a repeat of NR takes no less in the tables of Gandalf
/// (§B.3.3).
const SHORTEST: Duration = Duration::from_millis(4);
/// Packets of a burst come so close to its first.
const TOGETHER: Duration = Duration::from_millis(1);
/// A burst may be this far from an event's end at the right shift. Chosen: half of what separates
/// two LTE subframes, and jitter.
const NEAR: i64 = 1_000_000;
/// The idle period may be shorter than the event by this: the packet before it came late.
const SHORTER: Duration = Duration::from_millis(2);
/// Shifts are counted in steps of this, ns.
const STEP: i64 = 500_000;
/// The counts whose neighbourhood is looked at closely.
const CANDIDATES: usize = 16;
/// Events and bursts that are compared; later ones are ignored, because clocks drift.
pub(super) const MOST_EVENTS: usize = 512;
const MOST_BURSTS: usize = 65_536;
/// The largest difference that can be searched.
pub(super) const FARTHEST: Duration = Duration::from_secs(120);
/// Fewer events say nothing.
const FEWEST: usize = 8;
/// The share of events with a burst from which on a shift is believed (Gandalf §4.3.1).
pub(super) const ACCEPTED: f64 = 0.6;

/// Packets that arrived at once after an idle period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When the first of them arrived, on the receiver's clock.
    pub at: HostInstant,
    /// How long nothing had arrived.
    pub idle: Duration,
}

/// The best shift between two clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The receiver's time of an event's packets, less the device's time of its end, in
    /// nanoseconds.
    pub nanos: i64,
    /// Events with a burst at this shift.
    pub matched: usize,
    /// Events that end while the receiver listened, at this shift.
    pub events: usize,
}

impl Shift {
    /// The share of events that have a burst, 0..=1.
    pub fn ratio(&self) -> f64 {
        self.matched as f64 / self.events.max(1) as f64
    }

    /// Whether it is believed: at least 0.6 of at least 8 events.
    pub fn is_accepted(&self) -> bool {
        self.events >= FEWEST && self.ratio() >= ACCEPTED
    }

    /// A time of the device on the receiver's clock.
    pub fn receivers(&self, device: HostInstant) -> HostInstant {
        HostInstant::from_nanos(device.as_nanos().saturating_add_signed(self.nanos))
    }
}

/// Bursts after idle periods, from the arrivals of all packets of a flow in order of time.
pub fn bursts(arrivals: impl IntoIterator<Item = HostInstant>) -> Vec<Burst> {
    let mut found: Vec<Burst> = Vec::new();
    let mut before: Option<HostInstant> = None;
    // A first packet, until another comes right after it.
    let mut alone: Option<Burst> = None;
    for at in arrivals {
        let idle = before.map_or(Duration::ZERO, |before| at - before);
        before = Some(at);
        if idle >= SHORTEST {
            alone = Some(Burst { at, idle });
        } else if let Some(burst) = alone.take()
            && at - burst.at <= TOGETHER
        {
            found.push(burst);
        }
    }
    found
}

/// The shift at which most repeats of the uplink end with a burst, no farther from `guess` than
/// `most` (both in the sense of [`Shift::nanos`]; at most two minutes). `None` without an event or
/// a burst in reach.
///
/// Events of other kinds and directions are ignored. Of events with the same begin the last counts.
pub fn search(bursts: &[Burst], events: &[RanDelay], guess: i64, most: Duration) -> Option<Shift> {
    let mut ends = ends(events);
    ends.truncate(MOST_EVENTS);
    let mut bursts = bursts.get(..MOST_BURSTS).unwrap_or(bursts).to_vec();
    bursts.sort_unstable_by_key(|burst| burst.at);
    let reach = i64::try_from(most.min(FARTHEST).as_nanos()).ok()?;
    let mut votes = vec![0_u32; (2 * reach / STEP + 1) as usize];
    for (end, amount) in &ends {
        for burst in near(&bursts, *end, guess, reach, *amount) {
            let place = (difference(burst.at, *end) - guess + reach) / STEP;
            if let Some(count) = votes.get_mut(place as usize) {
                *count += 1;
            }
        }
    }
    // A shift between two steps is in both.
    let around = |place: usize| {
        let beside = |at: Option<usize>| at.and_then(|at| votes.get(at)).copied().unwrap_or(0);
        beside(Some(place)) + beside(place.checked_add(1))
    };
    let mut places: Vec<usize> = (0..votes.len()).filter(|place| around(*place) > 0).collect();
    places.sort_by_key(|place| (core::cmp::Reverse(around(*place)), *place));
    let candidates = places.into_iter().take(CANDIDATES);
    let shifts = candidates.filter_map(|place| {
        let rough = guess - reach + (place as i64 + 1) * STEP;
        // The middle of what is near says it better.
        let fine = middle(&bursts, &ends, rough)?;
        Some(judged(&bursts, &ends, fine))
    });
    shifts.filter(|shift| shift.events > 0).max_by(|a, b| {
        // Of equal shares that of more events, and then the nearest to the guess.
        let far = |shift: &Shift| core::cmp::Reverse(shift.nanos.abs_diff(guess));
        let share = a.ratio().total_cmp(&b.ratio());
        share.then(a.events.cmp(&b.events)).then(far(a).cmp(&far(b)))
    })
}

/// Ends of the uplink's repeats, in order of time, and how long nothing arrived before. Repeats
/// overlap: what ends right after another one held nothing alone, and leaves no mark.
pub(super) fn ends(events: &[RanDelay]) -> Vec<(HostInstant, Duration)> {
    let again = |event: &&RanDelay| {
        event.direction == Direction::Uplink && event.kind != DelayKind::Scheduling
    };
    let mut events: Vec<&RanDelay> = events.iter().filter(again).collect();
    events.sort_by_key(|event| (event.kind, event.from, event.to));
    let mut ends: Vec<(HostInstant, Duration)> = events
        .chunk_by(|a, b| (a.kind, a.from) == (b.kind, b.from))
        .filter_map(|same| same.last())
        .map(|event| (event.to, event.amount))
        .collect();
    ends.sort_unstable();
    ends.dedup_by_key(|(end, _)| *end);
    let mut before: Option<HostInstant> = None;
    for (end, amount) in &mut ends {
        let since = before.map_or(*amount, |before| *end - before);
        *amount = since.min(*amount);
        before = Some(*end);
    }
    ends.retain(|(_, amount)| *amount >= SHORTEST);
    ends
}

fn difference(a: HostInstant, b: HostInstant) -> i64 {
    let nanos = i128::from(a.as_nanos()) - i128::from(b.as_nanos());
    i64::try_from(nanos).unwrap_or(if nanos > 0 { i64::MAX } else { i64::MIN })
}

/// Bursts so close to an event's end at this shift, after an idle period as long as the event.
fn near(
    bursts: &[Burst],
    end: HostInstant,
    shift: i64,
    reach: i64,
    amount: Duration,
) -> impl Iterator<Item = &Burst> {
    let at = |by: i64| {
        HostInstant::from_nanos(end.as_nanos().saturating_add_signed(shift.saturating_add(by)))
    };
    let (from, to) = (at(-reach), at(reach));
    let begin = bursts.partition_point(|burst| burst.at < from);
    let inside = bursts.iter().skip(begin).take_while(move |burst| burst.at <= to);
    inside.filter(move |burst| burst.idle + SHORTER >= amount)
}

/// The middle of the differences that are near this shift.
fn middle(bursts: &[Burst], ends: &[(HostInstant, Duration)], shift: i64) -> Option<i64> {
    let of = |(end, amount): &(HostInstant, Duration)| {
        let near = near(bursts, *end, shift, NEAR, *amount);
        near.map(|burst| difference(burst.at, *end)).min_by_key(|found| found.abs_diff(shift))
    };
    let mut found: Vec<i64> = ends.iter().filter_map(of).collect();
    found.sort_unstable();
    found.get(found.len() / 2).copied()
}

/// How many events have a burst of their own at this shift.
fn judged(bursts: &[Burst], ends: &[(HostInstant, Duration)], nanos: i64) -> Shift {
    let mut shift = Shift { nanos, matched: 0, events: 0 };
    let (Some(first), Some(last)) = (bursts.first(), bursts.last()) else { return shift };
    let mut used: Option<HostInstant> = None;
    for (end, amount) in ends {
        let at = shift.receivers(*end);
        let early =
            HostInstant::from_nanos(first.at.as_nanos().saturating_sub(NEAR.unsigned_abs()));
        if at < early || at > last.at + Duration::from_nanos(NEAR.unsigned_abs()) {
            continue;
        }
        shift.events += 1;
        let mut free = near(bursts, *end, nanos, NEAR, *amount)
            .filter(|burst| used.is_none_or(|used| burst.at > used));
        if let Some(burst) = free.next() {
            shift.matched += 1;
            used = Some(burst.at);
        }
    }
    shift
}

#[cfg(test)]
pub(super) mod tests;
