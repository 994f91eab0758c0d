//! What the radio added to each packet of an upload, from when its receiver got it (Gandalf
//! §4.3.1).
//!
//! An event ends with a burst: nothing arrived for as long as it took, and then several packets at
//! once. The first of them is late by the whole event. Each later one is by less, as it was sent
//! later. Where nothing says when they were sent, they count as sent evenly over the event
//! (docs/interpretations/gandalf.md, 19 and 24).

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_estimate::delay::{AFTER, BEFORE};
use sounding_estimate::{DelayKind, RanDelay};
use sounding_kpi::Direction;
use sounding_units::HostInstant;

use super::align::Alignment;

/// The idle period may be shorter than the event by this: interpretation 8.
const SHORTER: Duration = Duration::from_millis(2);

/// A packet of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// When, on the receiver's clock.
    pub at: HostInstant,
    /// When it was sent, on any clock: only differences count. `None` if that is unknown.
    pub sent: Option<HostInstant>,
}

/// What the radio added to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// While a block was sent again.
    pub harq: Duration,
    /// While RLC sent data again.
    pub rlc: Duration,
    /// While it waited for a report and a grant.
    pub scheduling: Duration,
}

impl Added {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.held() + self.scheduling
    }

    /// While anything was sent again. One of both waits within the other.
    fn held(&self) -> Duration {
        self.harq.max(self.rlc)
    }
}

/// What the radio added to each of the packets, which are in the order in which they were received.
/// `events` are in any order; of the same kind and begin the last counts.
pub fn added(packets: &[Received], events: &[RanDelay], clocks: &Alignment) -> Vec<Added> {
    let mut all = vec![Added::default(); packets.len()];
    for kind in [DelayKind::Harq, DelayKind::Rlc] {
        let events = latest(events, kind);
        for (place, event) in events.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| events[before].to);
            let next = events.get(place + 1).map(|next| next.to);
            let Some((begin, after)) = burst(packets, event, [before, next], clocks) else {
                continue;
            };
            for (place, added) in all.iter_mut().enumerate().take(after).skip(begin) {
                let delay = share(packets, event.amount, begin..after, place);
                let of = if kind == DelayKind::Harq { &mut added.harq } else { &mut added.rlc };
                *of = delay.max(*of);
            }
        }
    }
    wait(packets, &latest(events, DelayKind::Scheduling), clocks, &mut all);
    all
}

/// The last of each begin, in order of their ends; of the same end the longest.
fn latest(events: &[RanDelay], kind: DelayKind) -> Vec<RanDelay> {
    let is_of = |event: &&RanDelay| event.kind == kind && event.direction == Direction::Uplink;
    let mut of: Vec<RanDelay> = events.iter().filter(is_of).copied().collect();
    of.sort_by_key(|event| (event.from, event.to));
    let last = of.chunk_by(|a, b| a.from == b.from).filter_map(|same| same.last().copied());
    let mut of: Vec<RanDelay> = last.collect();
    of.sort_by_key(|event| (event.to, core::cmp::Reverse(event.amount)));
    of.dedup_by_key(|event| event.to);
    of
}

/// The packets that came at an event's end, after a time without one: as long as the event, or
/// since the end of the one before it, which may be later than its begin. Repeats overlap: a packet
/// belongs to the one whose end is nearest.
fn burst(
    packets: &[Received],
    event: &RanDelay,
    [before, next]: [Option<HostInstant>; 2],
    clocks: &Alignment,
) -> Option<(usize, usize)> {
    let end = clocks.receivers(event.to);
    let since = before.map(|before| event.to - before);
    let until = next.map(|next| next - event.to);
    let half = |span: Option<Duration>, most: Duration| span.map_or(most, |of| most.min(of / 2));
    let begin = end.saturating_before(half(since, BEFORE));
    let from = packets.partition_point(|packet| packet.at < begin);
    let until = end + half(until, AFTER);
    let near = packets.get(from..)?.iter().take_while(|packet| packet.at < until).count();
    let held = since.map_or(event.amount, |since| since.min(event.amount));
    let is_first = |place: &usize| {
        let before = place.checked_sub(1).map(|before| packets[before].at);
        before.is_some_and(|before| packets[*place].at - before + SHORTER >= held)
    };
    let begin = (from..from + near).find(is_first)?;
    Some((begin, from + near))
}

/// What an event of this length adds to one of the packets that it held.
fn share(
    packets: &[Received],
    amount: Duration,
    held: core::ops::Range<usize>,
    place: usize,
) -> Duration {
    let first = packets[held.start];
    let after = match (first.sent, packets[place].sent) {
        (Some(first), Some(sent)) => sent - first,
        _ => amount.mul_f64((place - held.start) as f64 / held.len() as f64),
    };
    amount.saturating_sub(after)
}

/// Adds the waits for grants: of the block that took a packet.
fn wait(packets: &[Received], waits: &[RanDelay], clocks: &Alignment, all: &mut [Added]) {
    let ends: Vec<HostInstant> = waits.iter().map(|wait| clocks.receivers(wait.to)).collect();
    let block = |at: HostInstant| {
        let after = ends.partition_point(|end| *end <= at);
        let beside = [after.checked_sub(1), Some(after).filter(|&after| after < ends.len())];
        let far = |place: usize| (ends[place] - at).max(at - ends[place]);
        let nearest = beside.into_iter().flatten().min_by_key(|&place| far(place))?;
        // Two records of one block agree better, but this compares a packet with a record.
        (far(nearest) <= BEFORE).then_some(nearest)
    };
    let of: Vec<Option<usize>> = packets
        .iter()
        .zip(all.iter())
        .map(|(packet, added)| block(packet.at.saturating_before(added.held())))
        .collect();
    let mut begin = 0;
    for same in of.chunk_by(|a, b| a == b) {
        let held = begin..begin + same.len();
        begin = held.end;
        let Some(Some(place)) = same.first() else { continue };
        for (packet, added) in all.iter_mut().enumerate().take(held.end).skip(held.start) {
            added.scheduling = share(packets, waits[*place].amount, held.clone(), packet);
        }
    }
}

#[cfg(test)]
mod tests;
