use alloc::vec::Vec;
use core::fmt;

use sounding_link::{Bound, LinkEstimate};
use sounding_shape::{Decision, Queue, Reason, ShaperLaw};
use sounding_units::{HostInstant, Rate};

/// What sets a shaper's rate, every 10 ms.
pub trait Governor: fmt::Debug + Send {
    /// The rate from now on, by the estimate of its direction and what the shaper holds.
    fn decide(&mut self, now: HostInstant, estimate: &LinkEstimate, queue: Queue) -> Decision;
}

impl Governor for ShaperLaw {
    fn decide(&mut self, now: HostInstant, estimate: &LinkEstimate, queue: Queue) -> Decision {
        self.handle_queue(now, queue);
        self.handle_estimate(now, estimate);
        self.decision()
    }
}

/// The rule that collapses: a part of each estimate, floors too.
#[derive(Clone, Copy, Debug)]
pub struct Naive {
    /// The rate while there is no estimate, and the least.
    pub base: Rate,
    /// The least.
    pub min: Rate,
}

impl Naive {
    /// 95 hundredths of an estimate.
    pub fn part(estimate: Rate) -> Rate {
        estimate.scaled(95, 100)
    }
}

impl Governor for Naive {
    fn decide(&mut self, _now: HostInstant, estimate: &LinkEstimate, _queue: Queue) -> Decision {
        let known = estimate.known_rate().filter(|rate| *rate > Rate::ZERO);
        let rate = known.map_or(self.base, Self::part);
        let is_capacity = estimate.known_bound() == Some(Bound::Capacity);
        let reason = if is_capacity { Reason::Capacity } else { Reason::Demand };
        Decision { rate: rate.max(self.min), reason }
    }
}

/// Rates that are given beforehand: each from its time on.
#[derive(Clone, Debug)]
pub struct Scheduled(Vec<(HostInstant, Rate)>);

impl Scheduled {
    /// These rates, in order of time.
    pub fn new(steps: Vec<(HostInstant, Rate)>) -> Self {
        Self(steps)
    }

    /// One rate for ever.
    pub fn fixed(rate: Rate) -> Self {
        Self(alloc::vec![(HostInstant::default(), rate)])
    }
}

impl Governor for Scheduled {
    fn decide(&mut self, now: HostInstant, _estimate: &LinkEstimate, _queue: Queue) -> Decision {
        let next = self.0.partition_point(|(at, _)| *at <= now);
        let rate = self.0.get(next.saturating_sub(1)).map_or(Rate::ZERO, |(_, rate)| *rate);
        Decision { rate, reason: Reason::Capacity }
    }
}
