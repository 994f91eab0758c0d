use core::time::Duration;

use sounding_estimate::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

use super::law::FLOOR_CWND;
use super::{Agreement, Biscay, Command, Config, FeedEstimate, PathSample, Snapshot, Timeout};
use crate::parameter::Values;
use crate::part::Windowed;
use crate::stock::{Fallback, Stock};
use crate::{Ack, Controller, Departure, Loss, Start};

/// The kernel's own minimum RTT, which the law goes by, is one of five minutes (Linux `tcp_min_rtt_wlen`).
const RTT_MIN_LASTS: u64 = 300_000_000_000;

/// The law behind the trait, with a stock algorithm as its shadow: the same composition as `cc.bpf.c`. One difference: flows divide a
/// link by their number (BISCAY §A.5.2). In the kernel, flows leave unused parts to the others.
#[derive(Clone, Debug)]
pub struct BiscayController {
    law: Biscay,
    shadow: Stock,
    mss: Bytes,
    agreement: Agreement,
    feed: Snapshot,
    flows: u32,
    rtt_min: Option<Windowed<Duration>>,
    timeout: Timeout,
    command: Command,
}

impl BiscayController {
    /// A flow in Startup, without any estimate.
    pub fn new(config: Config, start: &Start) -> Self {
        Self::falling_back_to(Fallback::Bbr, config, start)
    }

    /// The same with another fallback.
    pub fn falling_back_to(fallback: Fallback, config: Config, start: &Start) -> Self {
        let shadow = Stock::new(start, fallback);
        let mut controller = Self {
            law: Biscay::new(config, start.now, 0),
            command: Command { cwnd: 0, pacing: Rate::ZERO, cut: None, longer: None },
            shadow,
            mss: start.mss,
            agreement: Agreement::default(),
            feed: Snapshot { estimate: None, agreeing: 0, heartbeat_at: start.now },
            flows: 1,
            rtt_min: start.rtt.map(|rtt| Windowed::min(RTT_MIN_LASTS, start.now.as_nanos(), rtt)),
            timeout: Timeout::None,
        };
        controller.restart(start.now);
        controller
    }

    /// The same for a flow that receives an estimate only after every `every`. It accepts estimates that are older by this time, and
    /// waits this time longer until silence counts.
    pub fn informed_every(fallback: Fallback, start: &Start, every: Duration) -> Self {
        Self::tuned(fallback, start, every, &Values::default())
    }

    pub(crate) fn tuned(
        fallback: Fallback,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Self {
        let usual = Config::of(values);
        let (max_age, max_silence) = (usual.max_age + every, usual.max_silence + every);
        Self::falling_back_to(fallback, Config { max_age, max_silence, ..usual }, start)
    }

    /// The law and its current state.
    pub fn law(&self) -> &Biscay {
        &self.law
    }

    fn segments(&self, bytes: Bytes) -> u32 {
        // The law counts segments in 32 bits that wrap, as the kernel does.
        (bytes.count() / self.mss.count().max(1)) as u32
    }

    fn path(&self) -> PathSample {
        PathSample {
            rtt_min: self.rtt_min.map(|filter| filter.best()),
            mss: u32::try_from(self.mss.count()).unwrap_or(u32::MAX),
            e2e: self.shadow.bandwidth(),
            flows: self.flows,
            link: None,
            shadow_cwnd: self.segments(self.shadow.cwnd()),
            shadow_pacing: self.shadow.pacing_rate().unwrap_or_default(),
        }
    }

    fn restart(&mut self, now: HostInstant) {
        let timeout = core::mem::take(&mut self.timeout);
        let command = self.law.handle_restart(now, &self.feed, &self.path(), timeout);
        self.apply(now, command);
    }

    fn apply(&mut self, now: HostInstant, command: Command) {
        let law_controls = self.law.state().phase().law_controls();
        self.shadow.handle_verdict(now, law_controls, self.cwnd(), command.cut);
        if let Some(longer) = command.longer {
            self.shadow.raise_rtt_min(longer);
        }
        self.command = command;
        if !law_controls {
            // The law's input had the stock algorithm's state from before the hand-over.
            self.command.cwnd = self.segments(self.shadow.cwnd()).max(FLOOR_CWND);
            self.command.pacing = self.shadow.pacing_rate().unwrap_or(command.pacing);
        }
    }
}

impl Controller for BiscayController {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.shadow.handle_sent(sent, size);
        if sent.in_flight <= size {
            // After a pause the result of the last acknowledgement may be old.
            self.restart(sent.at);
        }
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.shadow.handle_ack(ack);
        if let Some(rtt) = ack.rtt {
            let now = ack.now.as_nanos();
            match &mut self.rtt_min {
                Some(filter) => filter.update(now, rtt),
                None => self.rtt_min = Some(Windowed::min(RTT_MIN_LASTS, now, rtt)),
            }
        }
        let acked = super::Ack {
            rtt: ack.rtt,
            delivered: self.segments(ack.delivered),
            prior_delivered: self.segments(ack.sent.delivered),
            acked: self.segments(ack.acked),
            lost: self.segments(ack.newly_lost),
            inflight: self.segments(ack.prior_in_flight),
            app_limited: ack.sent.app_limited,
        };
        let timeout = core::mem::take(&mut self.timeout);
        let command = self.law.handle_ack(ack.now, &self.feed, &self.path(), timeout, &acked);
        self.apply(ack.now, command);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.shadow.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_timeout(now);
        self.timeout = Timeout::Fired;
        self.restart(now);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_spurious_timeout(now);
        self.timeout = Timeout::Undone;
        self.restart(now);
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        self.flows = flows;
        self.feed.heartbeat_at = now;
        if !estimate.is_usable() {
            self.agreement.reset();
            (self.feed.estimate, self.feed.agreeing) = (None, 0);
            return;
        }
        let estimate = FeedEstimate {
            rate: estimate.rate,
            sampled_at: now.saturating_before(estimate.age),
            bound: estimate.bound,
            // The publisher counted them all.
            other_flows: 0,
        };
        self.feed.agreeing = self.agreement.handle_estimate(&estimate);
        self.feed.estimate = Some(estimate);
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(u64::from(self.command.cwnd) * self.mss.count())
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.command.pacing)
    }

    fn state(&self) -> &'static str {
        self.law.state().phase().name()
    }
}
