use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use sounding_units::HostInstant;

/// One timer for each flow. If several are due at the same time, the lower flow is first.
///
/// A postponed timer leaves its old entry in place, which is dropped when it becomes due. So
/// postponing a timer, as each acknowledgement does, is cheap.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(HostInstant, usize)>>,
    /// For each flow its wakeup, and the earliest of its entries.
    wanted: Vec<Option<HostInstant>>,
    entered: Vec<Option<HostInstant>>,
}

impl Timers {
    pub(super) fn add(&mut self) {
        self.wanted.push(None);
        self.entered.push(None);
    }

    pub(super) fn set(&mut self, flow: usize, at: Option<HostInstant>) {
        self.wanted[flow] = at;
        if let Some(at) = at
            && self.entered[flow].is_none_or(|entered| at < entered)
        {
            self.entered[flow] = Some(at);
            self.heap.push(Reverse((at, flow)));
        }
    }

    /// A lower bound of the next due time.
    pub(super) fn next(&self) -> Option<HostInstant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// The next flow whose timer is due by `now`.
    pub(super) fn pop_due(&mut self, now: HostInstant) -> Option<usize> {
        while let Some(&Reverse((at, flow))) = self.heap.peek()
            && at <= now
        {
            self.heap.pop();
            if self.entered[flow] != Some(at) {
                continue;
            }
            self.entered[flow] = None;
            match self.wanted[flow] {
                Some(wanted) if wanted <= now => {
                    self.wanted[flow] = None;
                    return Some(flow);
                }
                wanted => self.set(flow, wanted),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_come_in_order_of_flows() {
        let mut timers = Timers::default();
        (0..3).for_each(|_| timers.add());
        for flow in [2, 0, 1] {
            timers.set(flow, Some(HostInstant::from_nanos(5)));
        }
        let order = [(); 4].map(|()| timers.pop_due(HostInstant::from_nanos(5)));
        assert_eq!(order, [Some(0), Some(1), Some(2), None]);
    }

    proptest! {
        #[test]
        fn a_timer_fires_exactly_when_it_was_last_set_for(
            changes in proptest::collection::vec((0..3_usize, proptest::option::of(0..50_u64), 0..5_u64), 1..100),
        ) {
            let mut timers = Timers::default();
            (0..3).for_each(|_| timers.add());
            let mut model = [None; 3];
            let mut now = 0;
            for (flow, at, pause) in changes {
                let at = at.map(|ahead| now + 1 + ahead);
                model[flow] = at;
                timers.set(flow, at.map(HostInstant::from_nanos));
                for _ in 0..pause {
                    now += 1;
                    while let Some(flow) = timers.pop_due(HostInstant::from_nanos(now)) {
                        prop_assert_eq!(model[flow].take(), Some(now));
                    }
                    prop_assert!(model.iter().flatten().all(|&at| at > now));
                    let least = model.iter().flatten().min().copied().map(HostInstant::from_nanos);
                    let is_early_enough = least.is_none_or(|least| timers.next() <= Some(least));
                    prop_assert!(is_early_enough && (least.is_none() || timers.next().is_some()));
                }
            }
        }
    }
}
