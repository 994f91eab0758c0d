//! Controllers that a judge needs: one that knows the truth, one that subtracts the same from every
//! delay, and one that notes what it receives.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sounding_baselines::Compensated;
use sounding_baselines::copa::Copa;
use sounding_baselines::gcc::{Gcc, Gradient};
use sounding_cc::{Ack, Controller, Delivered, Start, forward};
use sounding_kpi::Direction;
use sounding_link::{DelayKind, DelayUpdate, RanDelay};
use sounding_units::HostInstant;

/// What the radio added to packets, as the network itself knows it.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// By when data packets were sent.
    pub(super) data: HashMap<HostInstant, Duration>,
    /// By when acknowledgements arrived.
    pub(super) acks: HashMap<HostInstant, Duration>,
    /// By the same, when they left the receiver; of several in order.
    pub(super) acked: HashMap<HostInstant, VecDeque<HostInstant>>,
}

/// The RTTs that a controller goes by, by when their acknowledgements arrived.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// When acknowledgements arrived, and when their packets were sent.
    pub(super) acks: Vec<(HostInstant, HostInstant)>,
    pub(super) seen: Vec<(HostInstant, Duration)>,
    /// By when their packets were sent: without all that the radio added, and not smoothed.
    pub(super) exact: Vec<(HostInstant, Duration)>,
    /// Of GCC: when it compared a trend, and whether the link counted as overused then.
    pub(super) gradients: Vec<(HostInstant, Gradient, bool)>,
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A controller that knows at once what the radio added.
#[derive(Debug)]
pub(super) struct Truthful<C> {
    inner: C,
    truth: Arc<Mutex<Truth>>,
}

impl<C> Truthful<C> {
    pub(super) fn new(inner: C, truth: &Arc<Mutex<Truth>>) -> Self {
        Self { inner, truth: Arc::clone(truth) }
    }
}

impl<C: Controller> Controller for Truthful<C> {
    forward!(inner; but handle_ack);

    fn handle_ack(&mut self, ack: &Ack) {
        let mut truth = lock(&self.truth);
        let data = truth.data.remove(&ack.sent.at).unwrap_or_default();
        let back = truth.acks.get(&ack.now).copied().unwrap_or_default();
        drop(truth);
        let rtt = ack.rtt.map(|rtt| rtt.saturating_sub(data + back));
        let one_way = ack.one_way.map(|way| way.saturating_sub(data));
        self.inner.handle_ack(&Ack { rtt, one_way, ..*ack });
    }
}

/// A controller that takes a constant from each delay, but leaves at least the smallest one.
#[derive(Debug)]
pub(super) struct Constant<C> {
    inner: C,
    constant: Duration,
    least: Option<Duration>,
}

impl<C> Constant<C> {
    pub(super) fn new(inner: C, constant: Duration) -> Self {
        Self { inner, constant, least: None }
    }
}

impl<C: Controller> Controller for Constant<C> {
    forward!(inner; but handle_ack);

    fn handle_ack(&mut self, ack: &Ack) {
        let rtt = ack.rtt.map(|rtt| {
            let least = self.least.map_or(rtt, |least| least.min(rtt));
            self.least = Some(least);
            rtt.saturating_sub(self.constant).max(least)
        });
        self.inner.handle_ack(&Ack { rtt, ..*ack });
    }
}

/// Keeps the RTTs that a controller goes by.
#[derive(Debug)]
pub(super) struct Recorded<C> {
    inner: C,
    record: Arc<Mutex<Record>>,
    /// The RTT that it goes by after one that was measured.
    believed: fn(&C, Duration) -> Duration,
}

impl<C> Recorded<C> {
    pub(super) fn new(
        inner: C,
        record: &Arc<Mutex<Record>>,
        believed: fn(&C, Duration) -> Duration,
    ) -> Self {
        Self { inner, record: Arc::clone(record), believed }
    }
}

impl<C: Controller> Controller for Recorded<C> {
    forward!(inner; but handle_ack);

    fn handle_ack(&mut self, ack: &Ack) {
        self.inner.handle_ack(ack);
        let Some(rtt) = ack.rtt else { return };
        let mut record = lock(&self.record);
        record.acks.push((ack.now, ack.sent.at));
        record.seen.push((ack.now, (self.believed)(&self.inner, rtt)));
    }
}

/// A controller, and beside it one that receives the same and sends nothing: what a library's user
/// could know of each packet.
#[derive(Debug)]
pub(super) struct Beside<C> {
    inner: C,
    exact: Compensated<Exact>,
}

impl<C> Beside<C> {
    pub(super) fn new(inner: C, start: &Start, record: &Arc<Mutex<Record>>) -> Self {
        let exact = Exact { inner: Copa::new(start), record: Arc::clone(record) };
        Self { inner, exact: Compensated::exact(exact) }
    }
}

impl<C: Controller> Controller for Beside<C> {
    forward!(inner; but handle_delivered, handle_ack, handle_delays);

    fn handle_delivered(&mut self, delivered: &Delivered) {
        self.exact.handle_delivered(delivered);
        self.inner.handle_delivered(delivered);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.exact.handle_ack(ack);
        self.inner.handle_ack(ack);
    }

    fn handle_delays(&mut self, now: HostInstant, data: Direction, delays: &DelayUpdate) {
        self.exact.handle_delays(now, data, delays);
        self.inner.handle_delays(now, data, delays);
    }
}

/// Keeps what it receives, by its packets.
#[derive(Debug)]
pub(super) struct Exact<C = Copa> {
    inner: C,
    record: Arc<Mutex<Record>>,
}

impl<C: Controller> Controller for Exact<C> {
    forward!(inner; but handle_ack);

    fn handle_ack(&mut self, ack: &Ack) {
        lock(&self.record).exact.extend(ack.rtt.map(|rtt| (ack.sent.at, rtt)));
    }
}

/// GCC whose compared values are kept.
#[derive(Debug)]
pub(super) struct Graded {
    inner: Gcc,
    record: Arc<Mutex<Record>>,
}

impl Graded {
    pub(super) fn new(inner: Gcc, record: &Arc<Mutex<Record>>) -> Self {
        Self { inner, record: Arc::clone(record) }
    }
}

impl Controller for Graded {
    forward!(inner; but handle_ack);

    fn handle_ack(&mut self, ack: &Ack) {
        let before = self.inner.gradient();
        self.inner.handle_ack(ack);
        let new = self.inner.gradient().filter(|new| before != Some(*new));
        let is_over = self.inner.state() == "overuse";
        lock(&self.record).gradients.extend(new.map(|new| (ack.now, new, is_over)));
    }
}

/// A controller that learns of some of the radio's delays alone.
#[derive(Debug)]
pub(super) struct Only<C> {
    inner: C,
    part: fn(&RanDelay) -> Option<RanDelay>,
}

impl<C> Only<C> {
    pub(super) fn new(inner: C, part: fn(&RanDelay) -> Option<RanDelay>) -> Self {
        Self { inner, part }
    }
}

impl<C: Controller> Controller for Only<C> {
    forward!(inner; but handle_delays);

    fn handle_delays(&mut self, now: HostInstant, data: Direction, delays: &DelayUpdate) {
        let events = delays.events.iter().filter_map(self.part).collect();
        self.inner.handle_delays(now, data, &delays.with_events(events));
    }
}

/// A part of Gandalf.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// In the name of its controllers.
    pub(super) word: &'static str,
    /// As the paper has it.
    pub(super) name: &'static str,
    /// What it learns of an event.
    pub(super) keep: fn(&RanDelay) -> Option<RanDelay>,
}

/// The three of Figs. 19 and 22, and none of them: a filter with the same means and the same floor
/// that knows nothing of the radio. Which block took a packet is known in all of them.
pub(super) const PARTS: [Part; 4] = [
    Part { word: "down", name: "DL-reTx alone", keep: down },
    Part { word: "up", name: "UL-reTx alone", keep: up },
    Part { word: "filter", name: "filter alone", keep: wait },
    Part { word: "means", name: "means and floor alone", keep: nothing },
];

fn down(event: &RanDelay) -> Option<RanDelay> {
    match (event.kind, event.direction) {
        (DelayKind::Harq | DelayKind::Rlc, Direction::Downlink) => Some(*event),
        (DelayKind::Scheduling, _) => Some(event.with_amount(Duration::ZERO)),
        _ => None,
    }
}

fn up(event: &RanDelay) -> Option<RanDelay> {
    match (event.kind, event.direction) {
        (DelayKind::Harq | DelayKind::Rlc, Direction::Uplink) => Some(*event),
        (DelayKind::Scheduling, _) => Some(event.with_amount(Duration::ZERO)),
        _ => None,
    }
}

fn nothing(event: &RanDelay) -> Option<RanDelay> {
    wait(event).map(|event| event.with_amount(Duration::ZERO))
}

fn wait(event: &RanDelay) -> Option<RanDelay> {
    (event.kind == DelayKind::Scheduling).then_some(*event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;

    #[test]
    fn judges_hear_every_method_but_what_they_keep() {
        let start = Start::tcp(HostInstant::default(), None, 1);
        let (truth, record) = (Arc::default(), Arc::default());
        let all = Probe::default();
        let mut truthful = Truthful::new(all.clone(), &truth);
        assert_eq!(all.not_heard(&mut truthful), [""; 0]);
        let mut constant = Constant::new(all.clone(), Duration::ZERO);
        assert_eq!(all.not_heard(&mut constant), [""; 0]);
        let mut recorded = Recorded::new(all.clone(), &record, |_, rtt| rtt);
        assert_eq!(all.not_heard(&mut recorded), [""; 0]);
        let mut beside = Beside::new(all.clone(), &start, &record);
        assert_eq!(all.not_heard(&mut beside), [""; 0]);
        let mut exact = Exact { inner: all.clone(), record: Arc::clone(&record) };
        assert_eq!(all.not_heard(&mut exact), ["handle_ack"]);
        let mut only = Only::new(all.clone(), |event| Some(*event));
        assert_eq!(all.not_heard(&mut only), [""; 0]);
    }
}
