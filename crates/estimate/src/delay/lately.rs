use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::HostInstant;

use super::{
    DelayKind, DelayUpdate, Events, PATIENCE, RECENT, RanDelay, followed, whole_intervals,
};
use crate::Direction;
use crate::wire::RadioDelay;

/// A wait is a mean over this and over whole intervals of reports, taken so often.
const MEAN: Duration = Duration::from_millis(30);
const EVERY: Duration = Duration::from_millis(5);
/// Waits count for as long as Copa remembers its smallest RTT, and fewer of them say nothing.
const LASTS: Duration = Duration::from_secs(10);
const FEWEST: usize = 20;
/// Means that are kept: those of ten seconds.
const MEANS: usize = 2_048;

/// What a radio lately added to a round trip, as two averages: what a device says to those that
/// send to it (Gandalf §4.3; docs/interpretations/gandalf.md, interpretation 23).
///
/// * Retransmissions of HARQ and of RLC, of both directions, over the last 200 ms that are known.
///   Data counts as sent evenly over that time, and what comes later does not pass what came before
///   it.
/// * By how much a usual wait for a grant was longer than the shortest one. A wait is the mean of
///   30 ms or a little more, in whole intervals of reports. The usual one is the median of ten
///   seconds.
#[derive(Clone, Debug, Default)]
pub struct Lately {
    down: Events,
    up: Events,
    waits: Events,
    means: VecDeque<(HostInstant, Duration)>,
    sorted: Vec<Duration>,
    report_interval: Option<Duration>,
}

impl Lately {
    /// Another event, in any order; one of the same direction, kind and begin replaces the earlier
    /// one.
    pub fn handle_event(&mut self, event: RanDelay) {
        match (event.kind, event.direction) {
            (DelayKind::Scheduling, _) => self.handle_wait(event),
            (DelayKind::Harq | DelayKind::Rlc, Direction::Downlink) => self.down.insert(event, ()),
            (DelayKind::Harq | DelayKind::Rlc, Direction::Uplink) => self.up.insert(event, ()),
        }
    }

    fn handle_wait(&mut self, event: RanDelay) {
        self.waits.insert(event, ());
        let now = event.from;
        if self.means.back().is_some_and(|(at, _)| now - *at < EVERY) {
            return;
        }
        let mean_over = whole_intervals(MEAN, followed(self.report_interval));
        self.waits.forget_before(now.saturating_before(mean_over));
        let (mut sum, mut span) = (0, 0);
        for (wait, ()) in self.waits.iter() {
            let lasts = wait.to - wait.from;
            sum += held(lasts, wait.amount);
            span += lasts.as_nanos();
        }
        let Some(mean) = sum.checked_div(span) else { return };
        if self.means.len() == MEANS {
            self.means.pop_front();
        }
        self.means.push_back((now, Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))));
        while self.means.front().is_some_and(|(at, _)| now - *at > LASTS) {
            self.means.pop_front();
        }
    }

    /// The averages after this news. Of the uplink nothing may be known; then its retransmissions
    /// are not in the first.
    pub fn handle_update(&mut self, update: &DelayUpdate) -> RadioDelay {
        self.report_interval = update.report_interval;
        update.events.iter().for_each(|event| self.handle_event(*event));
        let lately = |until: &HostInstant| update.heard_at - *until <= PATIENCE;
        let [up, down] = [update.up_until, update.down_until].map(|until| until.filter(lately));
        let up_added = up.map_or(Duration::ZERO, |until| added(&self.up, until));
        let retransmitted = down.map(|until| added(&self.down, until) + up_added);
        RadioDelay { retransmitted, wait_longer: up.and_then(|until| self.wait_longer(until)) }
    }

    fn wait_longer(&mut self, until: HostInstant) -> Option<Duration> {
        self.sorted.clear();
        let counts = |(at, _): &&(HostInstant, Duration)| until - *at <= LASTS;
        self.sorted.extend(self.means.iter().filter(counts).map(|(_, mean)| *mean));
        if self.sorted.len() < FEWEST {
            return None;
        }
        let half = self.sorted.len() / 2;
        let (less, usual, _) = self.sorted.select_nth_unstable(half);
        let shortest = less.iter().min()?;
        Some(*usual - *shortest)
    }

    /// The port closed, or the modem's clock was set: all known delays are outdated.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Nanoseconds times nanoseconds that data waits in an event of this length: less the later it
/// came.
fn held(lasts: Duration, amount: Duration) -> u128 {
    // No event is so long; the product has to fit.
    let [lasts, amount] = [lasts, amount].map(|span| span.min(LASTS).as_nanos());
    let left = amount.saturating_sub(lasts);
    (amount * amount - left * left) / 2
}

/// What these events added on average to what came in the time before `until`.
fn added(events: &Events, until: HostInstant) -> Duration {
    let begin = until.saturating_before(RECENT);
    let mut sum = 0;
    // Up to when what comes is held.
    let mut held_until = HostInstant::default();
    let nexts = events.iter().skip(1).map(|(next, ())| next.from.min(until));
    for ((event, ()), next) in events.iter().zip(nexts.chain([until])) {
        held_until = held_until.max(event.from + event.amount);
        let (from, to) = (event.from.max(begin), next.min(held_until));
        if from < to {
            sum += held(to - from, held_until - from);
        }
    }
    let mean = sum / RECENT.as_nanos();
    Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
