use core::time::Duration;

use sounding_cc::sharing::Part;
use sounding_estimate::Bound;
use sounding_units::{Bytes, HostInstant, Rate};

use super::delivery_cap::DeliveryCap;
use super::path::{self, PathRtt, Seen};
use super::queue_growth::QueueGrowth;
use super::queue_target::QueueTarget;
use super::window::{self, Share, Window};
use super::{MAX_RATE, micros};
use crate::phase::Phase;
use crate::radio_law::{Ack, FeedUpdate};

/// A capacity that is at most this old gives a probe's first rate; an older one counts as unknown.
/// Chosen: with 300 ms a link that fades is probed too hard each time it comes back.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// Rounds of a queue without a backlog at the radio until the queue test, unless the queue grows.
/// Chosen: with three, results on modelled cells are not better.
const SUSPECT_ROUNDS: u32 = 2;
/// Rounds of a lowered window until the path counts as longer: one to drain the queue, one to
/// measure that the RTT stays.
const ASK_ROUNDS: u32 = 2;
/// The radio is the bottleneck again once it has had a backlog for this many RTTs: a burst of the
/// stock algorithm's probing is over after one.
const BACK_AFTER_RTTS: u64 = 2;
/// If a wire carries more than this many eighths of its old rate, it has become wider: half of what
/// BBR's probing would find.
const WIDER_EIGHTHS: u64 = 9;
/// A radio repeats lost blocks. If one byte in this many of a round is lost, more was sent than the
/// path carries.
const LOSSY: u64 = 10;

/// Where the bottleneck is believed to be, and what the law does.
///
/// ```text
/// from                  event                                              to
/// any                   no estimate, or the publisher is silent            NoEstimate
/// any                   the device is on the way to another cell           Handover
/// NoEstimate, Handover  an estimate: a floor                               Probing
/// the first six         an estimate: all that the radio has (a backlog)    RadioLimited
/// RadioLimited          every request is granted                           Probing
/// RadioLimited          a tenth of a round is lost, and much less arrives  EstimateTooHigh
/// Probing               a queue, a loss or a mark                          Hold
/// Hold                  a round without                                    Probing
/// Hold                  two rounds of a queue                              QueueTest
/// Probing, Hold         a queue grows, and much less arrives than it had   QueueTest
/// QueueTest             the RTT shrinks with the window                    BottleneckElsewhere
/// QueueTest             it does not: the path is longer                    Probing
/// BottleneckElsewhere   a backlog at the radio for two RTTs                RadioLimited
/// BottleneckElsewhere   an eighth more arrives, and no queue               Probing
/// EstimateTooHigh       three quarters of the estimate arrive              as from NoEstimate
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no usable estimate: the stock algorithm controls the flow.
    NoEstimate,
    /// More waits at the radio than it grants: it grants all it has.
    RadioLimited,
    /// The radio grants every request: the window grows.
    Probing {
        /// Growth in a round, in 64ths of the acknowledged bytes.
        step: u64,
    },
    /// A queue, a loss or a mark ended the growth.
    Hold {
        /// Whole rounds of a queue since.
        rounds: u32,
    },
    /// The device is on the way to another cell: the window does not change.
    Handover,
    /// The window is smaller than before, to see whether the RTT shrinks with it.
    QueueTest {
        /// Whole rounds of that.
        rounds: u32,
        /// The smallest RTT before, in microseconds.
        rtt: u64,
    },
    /// The queue is not at the radio: the stock algorithm controls the flow.
    BottleneckElsewhere {
        /// Since when the radio has a backlog.
        backlog_since: Option<HostInstant>,
    },
    /// Much less arrives than the estimate allows, and the rest is lost: the stock algorithm
    /// controls the flow.
    EstimateTooHigh,
}

impl State {
    /// Its name everywhere outside the law.
    pub const fn phase(&self) -> Phase {
        match self {
            Self::NoEstimate => Phase::NoEstimate,
            Self::RadioLimited => Phase::RadioLimited,
            Self::Probing { .. } => Phase::Probing,
            Self::Hold { .. } => Phase::Hold,
            Self::QueueTest { .. } => Phase::QueueTest,
            Self::Handover => Phase::Handover,
            Self::BottleneckElsewhere { .. } => Phase::BottleneckElsewhere,
            Self::EstimateTooHigh => Phase::EstimateTooHigh,
        }
    }
}

/// The last capacity of the radio for the whole device, IP, bytes/s.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    rate: u64,
    /// This flow's part of it.
    share: u64,
    at: HostInstant,
}

/// One flow under the law of this project. Integers only, and step by step the arithmetic of
/// `sounding.h` of `sounding-bpf`, which the kernel runs; a property test there holds the two
/// together.
#[derive(Clone, Debug)]
pub struct Law {
    state: State,
    path: PathRtt,
    queue_target: QueueTarget,
    window: Window,
    delivery_cap: DeliveryCap,
    capacity: Option<Capacity>,
    heard_at: HostInstant,
    /// The delivery rate of the last acknowledgement that measured one.
    delivery: Option<u64>,
    /// Rate through the suspected queue elsewhere, bytes/s; zero if unknown.
    carried: u64,
    /// Detects the growth of that queue, and counts acknowledgements during the queue test.
    queue_growth: QueueGrowth,
    round_acked: u64,
    round_lost: u64,
}

impl Law {
    /// A flow that has delivered `delivered` so far, wrapping, without any estimate.
    pub fn new(
        now: HostInstant,
        mss: Bytes,
        headers: Bytes,
        rtt: Option<Duration>,
        delivered: u32,
    ) -> Self {
        Self {
            state: State::NoEstimate,
            path: PathRtt::new(now, rtt.and_then(micros), delivered),
            queue_target: QueueTarget::new(),
            window: Window::new(mss, headers),
            delivery_cap: DeliveryCap::default(),
            capacity: None,
            heard_at: now,
            delivery: None,
            carried: 0,
            queue_growth: QueueGrowth::new(now),
            round_acked: 0,
            round_lost: 0,
        }
    }

    /// The state: where the bottleneck seems to be.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the window and the pace are the law's, and not the stock algorithm's.
    pub const fn law_controls(&self) -> bool {
        !matches!(
            self.state,
            State::NoEstimate | State::BottleneckElsewhere { .. } | State::EstimateTooHigh
        )
    }

    /// The window while the law controls the flow.
    pub fn cwnd(&self) -> Bytes {
        Bytes::new(self.window.cwnd())
    }

    /// The pace while the law controls the flow; `None` before the first RTT.
    pub fn pacing(&self) -> Option<Rate> {
        self.path.least().map(|least| Rate::from_bytes_per_sec(self.window.pacing(least)))
    }

    /// The path's RTT without queue.
    pub fn rtt_min(&self) -> Option<Duration> {
        self.path.least().map(Duration::from_micros)
    }

    /// A retransmission timeout fired.
    pub fn handle_timeout(&mut self) {
        self.window.restart();
    }

    /// The timeout was spurious.
    pub fn handle_undone(&mut self) {
        self.window.handle_undone();
    }

    /// The publisher wrote, or has become silent. `part` is this flow's part of the link, and
    /// `shadow` the stock algorithm's window.
    pub fn handle_feed(&mut self, now: HostInstant, word: FeedUpdate, part: Part, shadow: Bytes) {
        self.handle_part(part);
        if !matches!(word, FeedUpdate::Carries(_)) {
            self.window.forget_pipe();
        }
        match word {
            FeedUpdate::Carries(report) => {
                let rate = report.rate.bytes_per_sec().min(MAX_RATE);
                self.handle_rate(now, rate, report.bound, part, shadow.count());
            }
            // The old cell's state is not valid in the next, and the bytes in flight are enough to
            // start with.
            FeedUpdate::Handover if self.law_controls() => {
                (self.state, self.capacity) = (State::Handover, None);
                self.queue_target.forget();
            }
            FeedUpdate::Idle(_) if self.state == State::RadioLimited => self.enter_probing(now),
            FeedUpdate::Nothing => self.state = State::NoEstimate,
            FeedUpdate::Handover | FeedUpdate::Idle(_) => {}
        }
        self.heard_at = now;
    }

    fn handle_part(&mut self, part: Part) {
        self.window.handle_part(part);
        let Some(capacity) = &mut self.capacity else { return };
        let share = share_of(part, capacity.rate);
        if share != capacity.share {
            self.window.rescale(capacity.share, share);
            capacity.share = share;
        }
    }

    fn is_capacity_known(&self, now: HostInstant) -> bool {
        self.capacity.is_some_and(|capacity| now - capacity.at <= KNOWN_FOR)
    }

    fn enter_probing(&mut self, now: HostInstant) {
        let known = self.is_capacity_known(now);
        let step = if known { self.queue_target.first_step() } else { window::MAX_STEP };
        self.state = State::Probing { step };
    }

    fn is_starved(&self, share: u64) -> bool {
        self.delivery.is_some_and(|rate| window::is_starved(rate, share))
    }

    fn handle_rate(&mut self, now: HostInstant, rate: u64, bound: Bound, part: Part, shadow: u64) {
        let Some(least) = self.path.least() else { return };
        let share = share_of(part, rate);
        let (sure, elapsed) = (self.delivery_cap.limit(share), now - self.heard_at);
        let counted = Share { sure, link: rate };
        self.window.follow(sure, elapsed, &self.path);
        if self.is_capacity_known(now) {
            self.queue_target.handle_bound(bound, elapsed);
        }
        if self.state == State::EstimateTooHigh {
            if self.is_starved(share) && !self.window.is_crowded(&self.path) {
                return;
            }
            self.state = State::NoEstimate;
        }
        match (bound, self.state) {
            (Bound::Capacity, State::BottleneckElsewhere { backlog_since }) => {
                let since = backlog_since.unwrap_or(now);
                if now - since < Duration::from_micros(least * BACK_AFTER_RTTS) {
                    self.state = State::BottleneckElsewhere { backlog_since: Some(since) };
                    return;
                }
                self.state = State::RadioLimited;
            }
            (Bound::Floor, State::BottleneckElsewhere { .. }) => {
                self.state = State::BottleneckElsewhere { backlog_since: None };
            }
            (Bound::Capacity, _) => self.state = State::RadioLimited,
            (Bound::Floor, State::NoEstimate) => {
                self.window.begin(counted, &self.path, &self.queue_target, shadow);
                self.enter_probing(now);
            }
            (Bound::Floor, State::RadioLimited | State::Handover) => self.enter_probing(now),
            (Bound::Floor, _) => {}
        }
        match self.state {
            State::RadioLimited => {
                self.capacity = Some(Capacity { rate, share, at: now });
                self.queue_target.handle_capacity(rate);
                self.window.fill(counted, &self.path, &self.queue_target);
            }
            State::Probing { .. } | State::Hold { .. } => {
                self.window.at_least(counted, &self.path, &self.queue_target);
            }
            _ => {}
        }
    }

    /// Applies an acknowledgement. Returns a rate once, when the flow leaves for another bottleneck
    /// than the radio: the stock algorithm's bandwidth filter must not exceed it from here on,
    /// and has to measure the RTT again.
    pub fn handle_ack(&mut self, ack: &Ack) -> Option<Rate> {
        let seen = self.path.handle_ack(ack);
        let acked = ack.acked.count().min(window::MAX_CWND);
        self.window.handle_ack(acked);
        let measured = ack.rate.map(|rate| rate.bytes_per_sec().min(MAX_RATE));
        self.delivery = measured.or(self.delivery);
        self.delivery_cap.handle_ack(seen.over, measured, ack.is_limited);
        self.round_acked += acked;
        self.round_lost += ack.lost.count().min(window::MAX_CWND);
        if seen.over
            && let Some(Capacity { share, .. }) = self.capacity
        {
            self.window.handle_rivals(ack.now, share, measured, &self.path);
            let is_ours =
                self.state == State::RadioLimited && self.window.makes(self.path.smallest(), share);
            if is_ours || self.window.has_rival() {
                self.path.keep_least(ack.now);
            }
            self.handle_losses(share);
        }
        if seen.over {
            (self.round_acked, self.round_lost) = (0, 0);
        }
        self.handle_round(ack, acked, seen)
    }

    /// An estimate of the radio does not help if the path carries much less and drops the rest.
    fn handle_losses(&mut self, share: u64) {
        let lossy = self.round_lost * LOSSY > self.round_lost + self.round_acked;
        let starved = self.is_starved(share) && !self.window.is_crowded(&self.path);
        if self.state == State::RadioLimited && lossy && starved {
            self.state = State::EstimateTooHigh;
        }
    }

    fn handle_round(&mut self, ack: &Ack, acked: u64, seen: Seen) -> Option<Rate> {
        let queues = seen.queue.is_some_and(|queue| queue >= path::QUEUE_US);
        let stops = queues || ack.is_recovering || ack.is_marked;
        let used = self.window.is_used(ack);
        if seen.over && self.is_behind_queue(stops) {
            self.carried = self.carried.max(self.delivery.unwrap_or_default());
        }
        let rises = self.handle_rise(ack, acked);
        match self.state {
            State::Probing { .. } | State::Hold { .. }
                if rises && used && self.is_narrower(ack.now) =>
            {
                self.carried = self.queue_growth.rate(ack.now);
                self.path.begin_round(ack.delivered.count() as u32);
                self.begin_queue_test(self.queue_growth.rtt());
            }
            State::Probing { .. } if stops => {
                self.window.without_queue(&self.path, seen.queue);
                (self.state, self.carried) = (State::Hold { rounds: 0 }, 0);
            }
            State::Probing { step } if used => {
                self.window.grow(acked, step);
                let faster = if seen.over { step * 2 } else { step };
                self.state = State::Probing { step: faster.min(window::MAX_STEP) };
            }
            State::Hold { .. } if seen.over && !stops => {
                self.state = State::Probing { step: self.queue_target.first_step() };
            }
            State::Hold { rounds } if seen.over && used && rounds + 1 >= SUSPECT_ROUNDS => {
                self.queue_growth = QueueGrowth::new(ack.now);
                self.begin_queue_test(self.path.smallest());
            }
            State::Hold { rounds } if seen.over => {
                self.window.without_queue(&self.path, seen.queue);
                self.state = State::Hold { rounds: (rounds + 1).min(SUSPECT_ROUNDS) };
            }
            // A pause of the application's shortens a queue as well.
            State::QueueTest { .. } if seen.over && ack.is_limited => {
                self.state = State::Hold { rounds: 0 };
            }
            State::QueueTest { rounds, rtt } if seen.over => {
                return self.judge_queue_test(ack.now, rounds + 1, rtt);
            }
            State::BottleneckElsewhere { .. } if seen.over && !stops && !ack.is_limited => {
                self.look_for_more(ack.now);
            }
            _ => {}
        }
        None
    }

    /// Whether the delivery rate is that of a possible bottleneck other than the radio.
    const fn is_behind_queue(&self, stops: bool) -> bool {
        match self.state {
            State::Hold { .. } => true,
            State::BottleneckElsewhere { .. } => stops,
            _ => false,
        }
    }

    /// Whether a queue is seen to grow where the radio is not known to have one.
    fn handle_rise(&mut self, ack: &Ack, acked: u64) -> bool {
        match self.state {
            State::Probing { .. } | State::Hold { .. } => {
                self.queue_growth.handle_ack(ack.now, ack.rtt.and_then(micros), acked)
            }
            State::QueueTest { .. } => {
                self.queue_growth.count(acked);
                false
            }
            _ => {
                self.queue_growth = QueueGrowth::new(ack.now);
                false
            }
        }
    }

    fn begin_queue_test(&mut self, rtt: u64) {
        self.window.begin_queue_test(self.carried, rtt);
        self.state = State::QueueTest { rounds: 0, rtt };
    }

    /// If the stock algorithm's probing found free capacity, the wire may be wider than the radio
    /// again, and a climb is faster.
    fn look_for_more(&mut self, now: HostInstant) {
        let arrives = self.delivery.unwrap_or_default();
        if self.carried > 0 && arrives * 8 > self.carried * WIDER_EIGHTHS {
            self.window.hold(arrives, self.path.least().unwrap_or_default());
            self.enter_probing(now);
        }
    }

    /// Whether the delivery rate through the growing queue is much less than this flow's part of
    /// the radio's last capacity.
    fn is_narrower(&self, now: HostInstant) -> bool {
        let queue = self.queue_growth.rtt().saturating_sub(self.path.least().unwrap_or_default());
        let is_known = queue >= path::QUEUE_US && self.is_capacity_known(now);
        let usual = self.queue_target.usual().filter(|_| is_known);
        let arrives = self.queue_growth.rate(now);
        usual.is_some_and(|usual| window::is_starved(arrives, self.window.part_of(usual)))
    }

    /// A queue gets shorter by a smaller window, a path does not.
    fn judge_queue_test(&mut self, now: HostInstant, rounds: u32, asked: u64) -> Option<Rate> {
        let found = self.path.smallest();
        if rounds == 1 {
            // These packets left before the window was lowered, and passed through the whole queue.
            self.carried = self.queue_growth.rate(now);
        }
        if found * 10 <= asked * 9 {
            self.state = State::BottleneckElsewhere { backlog_since: None };
            if self.carried > 0 {
                self.window.hold(self.carried, found);
            }
            return Some(Rate::from_bytes_per_sec(self.window.over(found)));
        }
        if rounds < ASK_ROUNDS {
            self.state = State::QueueTest { rounds, rtt: asked };
            return None;
        }
        self.path.handle_longer(now, found);
        self.state = State::Probing { step: self.queue_target.first_step() };
        None
    }
}

fn share_of(part: Part, rate: u64) -> u64 {
    part.of(Rate::from_bytes_per_sec(rate)).bytes_per_sec()
}
