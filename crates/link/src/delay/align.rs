//! The difference between two clocks over the time of a capture, in which they drift (Gandalf
//! §4.3.1).
//!
//! `shift::search` compares some hundred events at once. Here its answers for stretches of a
//! capture are put together: the best of some stretches says where the others are looked for, and
//! all of them decide whether it is believed.

use alloc::vec::Vec;
use core::time::Duration;

use sounding_estimate::RanDelay;
use sounding_units::HostInstant;

use super::shift::{ACCEPTED, Burst, FARTHEST, MOST_EVENTS, Shift, ends, search};

/// Clocks that drift by 20 ppm differ by 0.6 ms more after this: less than an event and its burst
/// may be apart.
const STRETCH: Duration = Duration::from_secs(30);
/// Stretches that are searched as far as the caller asks for.
const FAR: usize = 16;
/// A clock's drift from one stretch to the next, and what a better answer may differ by: chosen;
/// 100 ppm over 200 s.
const NEAR: Duration = Duration::from_millis(20);
/// Fewer events than this decide nothing about the clocks. With eight, as in one search, a shift of
/// other packets fits by chance if minutes are searched. Chosen; pinned by
/// `packets_of_another_time_are_refused`.
const FEWEST: usize = 20;

/// How a receiver's clock and a device's differ, from stretch to stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The device's time in the middle of a stretch, and the difference there; in order of time.
    stretches: Vec<(HostInstant, i64)>,
    /// Events with a burst.
    pub matched: usize,
    /// Events that ended while the receiver listened.
    pub events: usize,
}

impl Alignment {
    /// The share of events that have a burst, 0..=1.
    pub fn ratio(&self) -> f64 {
        self.matched as f64 / self.events.max(1) as f64
    }

    /// Whether it is believed: at least 0.6 of at least 20 events.
    pub fn is_accepted(&self) -> bool {
        self.events >= FEWEST && self.ratio() >= ACCEPTED
    }

    /// The receiver's time less the device's at this time of the device, in nanoseconds: between
    /// the middles of stretches on a line, outside of them as at the nearest one.
    pub fn nanos_at(&self, device: HostInstant) -> i64 {
        let after = self.stretches.partition_point(|(at, _)| *at <= device);
        let before = after.checked_sub(1).and_then(|at| self.stretches.get(at));
        match (before, self.stretches.get(after)) {
            (Some((from, a)), Some((to, b))) => {
                let part = (device - *from).as_secs_f64() / (*to - *from).as_secs_f64();
                a.saturating_add((b.saturating_sub(*a) as f64 * part) as i64)
            }
            (Some((_, only)), None) | (None, Some((_, only))) => *only,
            (None, None) => 0,
        }
    }

    /// A time of the device on the receiver's clock.
    pub fn receivers(&self, device: HostInstant) -> HostInstant {
        let nanos = self.nanos_at(device);
        HostInstant::from_nanos(device.as_nanos().saturating_add_signed(nanos))
    }

    /// How much faster the receiver's clock is, in millionths; `None` for less than two stretches.
    pub fn drift_ppm(&self) -> Option<f64> {
        let ((from, a), (to, b)) = (self.stretches.first()?, self.stretches.last()?);
        let span = (*to - *from).as_secs_f64();
        (span > 0.0).then(|| b.saturating_sub(*a) as f64 / span / 1e3)
    }
}

/// The events of a stretch, and their number and middle.
struct Stretch<'a> {
    events: &'a [RanDelay],
    middle: HostInstant,
}

/// The difference at which most repeats of the uplink end with a burst, no farther from `guess`
/// than `most`: the receiver's time less the device's in nanoseconds, two minutes at most, as in
/// [`search`]. `None` without an event or a burst in reach.
///
/// `events` are in any order; the latest of the same begin counts.
pub fn align(
    bursts: &[Burst],
    events: &[RanDelay],
    guess: i64,
    most: Duration,
) -> Option<Alignment> {
    let (first, last) = (bursts.first()?.at, bursts.last()?.at);
    let most = most.min(FARTHEST);
    let mut events: Vec<RanDelay> = events.to_vec();
    // Stable: of the same begin the latest stays last.
    events.sort_by_key(|event| event.to);
    let on = |event: &RanDelay| {
        HostInstant::from_nanos(event.to.as_nanos().saturating_add_signed(guess))
    };
    let is_near = |event: &RanDelay| {
        on(event) + most + STRETCH >= first && on(event) <= last + most + STRETCH
    };
    events.retain(|event| !ends(core::slice::from_ref(event)).is_empty() && is_near(event));
    let stretches = stretches(&events);
    let around = |of: &Stretch<'_>, guess: i64, most: Duration| -> Option<Shift> {
        let (from, to) = (of.events.first()?, of.events.last()?);
        let at = |event: &RanDelay| event.to.as_nanos().saturating_add_signed(guess);
        let reach = HostInstant::from_nanos(at(from)).saturating_before(most + NEAR);
        let until = HostInstant::from_nanos(at(to)) + most + NEAR;
        let begin = bursts.partition_point(|burst| burst.at < reach);
        let end = bursts.partition_point(|burst| burst.at <= until);
        search(bursts.get(begin..end)?, of.events, guess, most)
    };
    let step = stretches.len().div_ceil(FAR).max(1);
    let found = stretches
        .iter()
        .enumerate()
        .step_by(step)
        .filter_map(|(place, stretch)| Some((place, around(stretch, guess, most)?)));
    let (best, shift) = found.max_by(|(_, a), (_, b)| {
        let accepted = a.is_accepted().cmp(&b.is_accepted());
        accepted.then(a.matched.cmp(&b.matched)).then(a.ratio().total_cmp(&b.ratio()))
    })?;
    // From the best one to both sides, each is looked for near its neighbour.
    let mut kept = Vec::new();
    let (mut matched, mut all) = (0, 0);
    let mut follow = |places: &mut dyn Iterator<Item = usize>| {
        let mut now = shift.nanos;
        for place in places {
            let stretch = &stretches[place];
            let Some(shift) = around(stretch, now, NEAR) else { continue };
            (matched, all) = (matched + shift.matched, all + shift.events);
            if shift.is_accepted() {
                now = shift.nanos;
                kept.push((stretch.middle, now));
            }
        }
    };
    follow(&mut (best..stretches.len()));
    follow(&mut (0..best).rev());
    if kept.is_empty() {
        kept.push((stretches[best].middle, shift.nanos));
        (matched, all) = (shift.matched, shift.events);
    }
    kept.sort_unstable();
    Some(Alignment { stretches: kept, matched, events: all })
}

/// Cuts events in order of their ends into stretches that one search takes.
fn stretches(events: &[RanDelay]) -> Vec<Stretch<'_>> {
    let mut all = Vec::new();
    let mut rest = events;
    while let Some(first) = rest.first() {
        let until = first.to + STRETCH;
        let within = rest.partition_point(|event| event.to <= until).clamp(1, MOST_EVENTS);
        let (events, after) = rest.split_at(within);
        let last = events.last().map_or(first.to, |event| event.to);
        all.push(Stretch { events, middle: first.to + (last - first.to) / 2 });
        rest = after;
    }
    all
}

#[cfg(test)]
mod tests;
