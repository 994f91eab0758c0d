use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_estimate::delay::USUAL_INTERVAL;
use sounding_units::HostInstant;

/// How long values count: as long as Copa remembers its smallest RTT.
const LASTS: Duration = Duration::from_secs(10);
/// The floor is no further above the smallest value, and a usual wait no further above the shortest
/// one, than an interval of reports and this: more than an interval and a slot is no error of what
/// is taken off. Without this a queue that never drains would become the path.
const SLOT: Duration = Duration::from_millis(1);
/// One value in each of these times is kept: those of ten seconds.
const EVERY: Duration = Duration::from_millis(5);
const KEPT: usize = 2_048;

/// The RTT of the path without a queue: that which so many hundredths of the last ten seconds'
/// exact RTTs are below.
///
/// With none it is the smallest. But what is taken off an RTT is sometimes too much, and the
/// smallest one is then that with the largest error. A controller that drains its queue again and
/// again is at the path's RTT for longer than that.
///
/// Waits that values still contain are known beside them. Then the floor is higher by as much as a
/// usual wait is longer than the shortest one: the smallest value is one with a short wait. No
/// queue of the flow itself can raise that.
#[derive(Clone, Debug)]
pub(super) struct Floor {
    percent: u32,
    /// How many hundredths of waits are below a usual one; `None` if values contain no waits.
    usual: Option<u32>,
    /// Uncertainty of a wait.
    unsure: Duration,
    /// Between reports.
    interval: Duration,
    values: VecDeque<Value>,
    sorted: Vec<Duration>,
    best: Duration,
}

/// A value, and the wait that it contains.
#[derive(Clone, Copy, Debug)]
struct Value {
    at: HostInstant,
    rtt: Duration,
    wait: Duration,
}

/// A value that so many hundredths are below, and how far it is above the smallest.
fn quantile(sorted: &mut [Duration], percent: u32) -> (Duration, Duration) {
    let place = sorted.len() * percent as usize / 100;
    let place = place.min(sorted.len().saturating_sub(1));
    let (less, best, _) = sorted.select_nth_unstable(place);
    let least = less.iter().min().copied().unwrap_or(*best);
    (*best, *best - least)
}

impl Floor {
    pub(super) fn new(percent: u32) -> Self {
        Self {
            percent,
            usual: None,
            unsure: Duration::ZERO,
            interval: USUAL_INTERVAL,
            values: VecDeque::with_capacity(KEPT),
            sorted: Vec::with_capacity(KEPT),
            best: Duration::MAX,
        }
    }

    /// Takes in a value that contains a wait of this length.
    pub(super) fn push(&mut self, at: HostInstant, rtt: Duration, wait: Duration) {
        let is_due = self.values.back().is_none_or(|last| at - last.at >= EVERY);
        if !is_due && (self.percent > 0 || rtt >= self.best) {
            return;
        }
        if self.values.len() == KEPT {
            self.values.pop_front();
        }
        self.values.push_back(Value { at, rtt, wait });
        while self.values.front().is_some_and(|of| at - of.at > LASTS) {
            self.values.pop_front();
        }
        let longer = self.usual.map_or(Duration::ZERO, |usual| {
            self.sorted.clear();
            self.sorted.extend(self.values.iter().map(|of| of.wait));
            quantile(&mut self.sorted, usual).1
        });
        self.sorted.clear();
        self.sorted.extend(self.values.iter().map(|of| of.rtt));
        let (best, over) = quantile(&mut self.sorted, self.percent);
        let least = best - over;
        let most = self.interval + SLOT;
        self.best = least + over.min(most) + longer.min(most);
    }

    /// The path's RTT; `None` without values.
    pub(super) fn best(&self) -> Option<Duration> {
        (!self.values.is_empty()).then(|| self.best + self.unsure)
    }

    /// Counts with so many hundredths from the next value on.
    pub(super) fn set_percent(&mut self, percent: u32) {
        self.percent = percent;
    }

    /// Counts so many hundredths of waits as below a usual one from the next value on; `None` if
    /// values contain no waits.
    pub(super) fn set_usual(&mut self, percent: Option<u32>) {
        self.usual = percent;
    }

    /// The path counts as longer by this.
    pub(super) fn set_unsure(&mut self, unsure: Duration) {
        self.unsure = unsure;
    }

    /// Reports are so far apart, from the next value on.
    pub(super) fn set_interval(&mut self, interval: Duration) {
        self.interval = interval;
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.best = Duration::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::default() + Duration::from_millis(ms)
    }

    #[test]
    fn a_few_errors_do_not_lower_the_floor_and_without_hundredths_the_least_counts() {
        let (mut least, mut tenth) = (Floor::new(0), Floor::new(10));
        for step in 0..1_000 {
            let rtt = if step % 50 == 7 { 36 } else { 40 + step % 5 };
            for floor in [&mut least, &mut tenth] {
                floor.push(at(step * 5), Duration::from_millis(rtt), Duration::ZERO);
            }
        }
        assert_eq!(least.best(), Some(Duration::from_millis(36)));
        assert_eq!(tenth.best(), Some(Duration::from_millis(40)));
    }

    #[test]
    fn a_queue_that_seldom_drains_does_not_become_the_path() {
        let mut floor = Floor::new(20);
        for step in 0..1_000 {
            let rtt = if step % 20 == 0 { 40 } else { 90 };
            floor.push(at(step * 5), Duration::from_millis(rtt), Duration::ZERO);
        }
        assert_eq!(floor.best(), Some(Duration::from_millis(46)));
        floor.set_interval(Duration::from_millis(16));
        floor.push(at(5_000), Duration::from_millis(90), Duration::ZERO);
        assert_eq!(floor.best(), Some(Duration::from_millis(57)));
    }

    #[test]
    fn what_is_older_than_ten_seconds_is_forgotten_and_memory_is_bounded() {
        let mut floor = Floor::new(5);
        for step in 0..20_000 {
            let rtt = if step < 10_000 { 40 } else { 55 };
            floor.push(at(step), Duration::from_millis(rtt), Duration::ZERO);
        }
        // The last of the shorter path still limits the floor.
        assert_eq!(floor.best(), Some(Duration::from_millis(46)));
        (20_000..20_100)
            .for_each(|step| floor.push(at(step), Duration::from_millis(55), Duration::ZERO));
        (20_100..20_800)
            .for_each(|step| floor.push(at(step), Duration::from_millis(55), Duration::ZERO));
        assert_eq!(floor.best(), Some(Duration::from_millis(55)));
        assert!(floor.values.len() <= KEPT);
        floor.clear();
        assert_eq!(floor.best(), None);
    }

    #[test]
    fn a_usual_wait_raises_the_floor_and_a_queue_does_not() {
        let mut floor = Floor::new(0);
        floor.set_usual(Some(50));
        for step in 0..1_000 {
            // Waits of 1 to 5 ms, and for most of the time a queue of 30 ms.
            let wait = 1 + step % 5;
            let queue = if step % 100 < 10 { 0 } else { 30 };
            let [rtt, wait] = [40 + wait + queue, wait].map(Duration::from_millis);
            floor.push(at(step * 5), rtt, wait);
        }
        assert_eq!(floor.best(), Some(Duration::from_millis(43)));
        floor.set_unsure(Duration::from_micros(2_500));
        assert_eq!(floor.best(), Some(Duration::from_micros(45_500)));
    }
}
