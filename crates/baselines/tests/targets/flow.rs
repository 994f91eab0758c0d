//! A transport around one controller. It calls the controller for sent, acknowledged and lost
//! packets, in the order that the trait documents.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_cc::{Ack, Controller, Delivered, Departure, Loss, Recovery, Stamp, Start};
use sounding_estimate::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

/// The longest time for which a controller may hold back all packets.
const LONGEST_GATE: Duration = Duration::from_secs(60);
/// How often a controller may request the same wakeup. Without a limit, a transport would loop.
const SAME_MOMENT: usize = 4;

/// Maximum number of wakeups in one span of time: more than one each tenth of a millisecond.
const WAKEUPS: usize = 50_000;

/// A flow and its controller.
pub(crate) struct Flow {
    name: String,
    controller: Box<dyn Controller>,
    start: Start,
    now: HostInstant,
    /// Smallest round-trip time.
    base_rtt: Duration,
    flight: VecDeque<Departure>,
    delivered: Bytes,
    delivered_at: HostInstant,
    first_sent_at: HostInstant,
    lost: Bytes,
    /// Count of delivered bytes at which the recovery ends.
    recovery: Option<(Bytes, Recovery)>,
    /// Minimum window in segments that the controller guarantees now.
    least: u64,
}

/// Controllers whose window may be one segment without a timeout: after TCP-LP's second inference
/// of other traffic, and in packet conservation.
const ONE_SEGMENT: [&str; 4] = ["lp", "bbr", "bbr-gandalf", "biscay"];

impl Flow {
    pub(crate) fn new(name: &str, start: Start, base_rtt: Duration) -> Self {
        let make = sounding_baselines::by_name(name).expect("a controller");
        let flow = Self {
            name: name.into(),
            controller: make(&start),
            start,
            now: start.now,
            base_rtt,
            flight: VecDeque::new(),
            delivered: Bytes::ZERO,
            delivered_at: start.now,
            first_sent_at: start.now,
            lost: Bytes::ZERO,
            recovery: None,
            least: if ONE_SEGMENT.contains(&name) { 1 } else { 2 },
        };
        flow.check("at the beginning");
        flow
    }

    fn in_flight(&self) -> Bytes {
        Bytes::new(self.start.mss.count() * self.flight.len() as u64)
    }

    /// Checks what every controller guarantees after any event.
    fn check(&self, after: &str) {
        let Self { name, controller, .. } = self;
        let segments = controller.cwnd().count() / self.start.mss.count();
        assert!(segments >= self.least, "{name} {after}: {segments} segments: {controller:?}");
        assert!(segments < 1 << 40, "{name} {after}: {segments} segments: {controller:?}");
        if let Some(rate) = controller.pacing_rate() {
            assert!(
                rate > Rate::ZERO && rate < Rate::MAX,
                "{name} {after}: {rate}: {controller:?}"
            );
        }
        if let Some(at) = controller.not_before().filter(|&at| at > self.now) {
            assert!(at <= self.now + LONGEST_GATE, "{name} {after}: closed until {at:?}");
            assert!(controller.wakeup().is_some(), "{name} {after}: nothing opens its gate");
        }
        assert!(!controller.state().is_empty(), "{name} {after}");
    }

    /// Time passes, and the controller is woken when it requested it.
    pub(crate) fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        for _ in 0..WAKEUPS {
            match self.controller.wakeup().filter(|&at| at <= end) {
                Some(at) => {
                    self.now = self.now.max(at);
                    self.wake();
                }
                None => {
                    self.now = end;
                    return;
                }
            }
        }
        panic!("{}: more than {WAKEUPS} wake-ups in {span:?}: {:?}", self.name, self.controller);
    }

    /// The machine slept: requested wakeups are late.
    pub(crate) fn sleep(&mut self, span: Duration) {
        self.now = self.now + span;
        if self.controller.wakeup().is_some_and(|at| at <= self.now) {
            self.wake();
        }
    }

    fn wake(&mut self) {
        for _ in 0..SAME_MOMENT {
            self.controller.handle_time(self.now);
            self.check("woken");
            if self.controller.wakeup().is_none_or(|at| at > self.now) {
                return;
            }
        }
        panic!("{}: requests a wakeup in the past: {:?}", self.name, self.controller);
    }

    /// Sends up to `most` segments, as far as the window allows. `app_limited` marks them as
    /// limited by the application.
    pub(crate) fn send(&mut self, most: usize, app_limited: bool) {
        for _ in 0..most {
            if self.controller.not_before().is_some_and(|at| at > self.now) {
                return;
            }
            let next = self.in_flight() + self.start.mss;
            if !self.flight.is_empty() && next > self.controller.cwnd() {
                return;
            }
            if self.flight.is_empty() {
                self.first_sent_at = self.now;
                self.delivered_at = self.now;
            }
            let departure = Departure {
                at: self.now,
                delivered: self.delivered,
                delivered_at: self.delivered_at,
                first_sent_at: self.first_sent_at,
                lost: self.lost,
                in_flight: next,
                app_limited,
            };
            self.flight.push_back(departure);
            self.controller.handle_sent(&departure, self.start.mss);
            self.check("sent");
        }
    }

    /// An acknowledgement of `acked` segments shows that the `lost` segments before them were lost.
    pub(crate) fn acknowledge(&mut self, lost: usize, acked: usize, marked: bool) {
        let lost = lost.min(self.flight.len());
        let acked = acked.min(self.flight.len() - lost);
        if acked == 0 {
            return;
        }
        let prior_in_flight = self.in_flight();
        let oldest = self.flight.get(lost).map_or(self.now, |sent| sent.at);
        if self.now < oldest + self.base_rtt {
            self.pass(oldest + self.base_rtt - self.now);
        }
        let cwnd_limited = prior_in_flight + self.start.mss > self.controller.cwnd();
        let gone: Vec<Departure> = self.flight.drain(..lost).collect();
        let came: Vec<Departure> = self.flight.drain(..acked).collect();
        let size = self.start.mss;
        for &sent in &came {
            self.delivered += size;
            self.delivered_at = self.now;
            self.controller.handle_delivered(&Delivered { now: self.now, size, sent });
        }
        let newest = came[acked - 1];
        self.first_sent_at = newest.at;
        for &sent in &gone {
            self.lose(sent, Recovery::Fast);
        }
        if self.recovery.is_some_and(|(until, _)| self.delivered >= until) {
            self.recovery = None;
        }
        let bytes = |count: usize| Bytes::new(size.count() * count as u64);
        let span = (self.delivered_at - newest.delivered_at).max(newest.at - newest.first_sent_at);
        let ack = Ack {
            now: self.now,
            acked: bytes(acked),
            newly_lost: bytes(lost),
            rtt: Some(self.now - newest.at),
            one_way: Some((self.now - newest.at) / 2),
            stamp: Some(Stamp {
                value: (self.now.as_nanos() / 1_000_000) as u32,
                tick: Duration::from_millis(1),
            }),
            rate: (span >= self.base_rtt && !span.is_zero())
                .then(|| (self.delivered - newest.delivered).per(span)),
            delivered: self.delivered,
            lost: self.lost,
            prior_in_flight,
            in_flight: self.in_flight(),
            ce: if marked { bytes(acked) } else { Bytes::ZERO },
            cwnd_limited,
            recovery: self.recovery.map_or(Recovery::None, |(_, how)| how),
            sent: newest,
        };
        self.controller.handle_ack(&ack);
        self.check("acknowledged");
    }

    fn lose(&mut self, sent: Departure, how: Recovery) {
        self.lost += self.start.mss;
        let begins_recovery = self.recovery.is_none();
        if begins_recovery {
            self.recovery = Some((self.delivered + self.in_flight(), how));
        }
        self.controller.handle_loss(&Loss {
            now: self.now,
            size: self.start.mss,
            in_flight: self.in_flight(),
            sent,
            begins_recovery,
        });
        self.check("lost");
    }

    /// The retransmission timer fires; it may have been wrong.
    pub(crate) fn time_out(&mut self, spurious: bool) {
        if self.flight.is_empty() {
            return;
        }
        self.least = 1;
        self.controller.handle_timeout(self.now);
        self.check("timed out");
        for sent in core::mem::take(&mut self.flight) {
            self.recovery = Some((self.delivered + self.start.mss, Recovery::Timeout));
            self.lose(sent, Recovery::Timeout);
        }
        if spurious {
            self.controller.handle_spurious_timeout(self.now);
            self.check("after a spurious timeout");
        }
    }

    /// The modem's host publishes an estimate.
    pub(crate) fn hear(&mut self, estimate: &LinkEstimate, flows: u32) {
        self.controller.handle_estimate(self.now, estimate, flows);
        self.check("after an estimate");
    }
}
