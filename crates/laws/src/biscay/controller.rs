use core::time::Duration;

use sounding_cc::parameter::Values;
use sounding_cc::part::Windowed;
use sounding_cc::{Departure, Start};
use sounding_units::{Bytes, HostInstant, Rate};

use super::law::FLOOR_CWND;
use super::{Agreement, Biscay, Command, Config, FeedEstimate, PathSample, Snapshot, Timeout};
use crate::radio_law::{Ack, Beside, FeedUpdate, RadioLaw};
use crate::{over_stock::OverStock, phase::Phase, stock::Fallback};

/// The kernel's own minimum RTT, which the law goes by, is one of five minutes (Linux
/// `tcp_min_rtt_wlen`).
const RTT_MIN_LASTS: u64 = 300_000_000_000;

/// The law over a stock algorithm. One difference to the kernel: flows divide a link by their
/// number (BISCAY §A.5.2). In the kernel, flows leave unused parts to the others.
pub type BiscayController = OverStock<Flow>;

/// The law and its input.
#[derive(Clone, Debug)]
pub struct Flow {
    law: Biscay,
    mss: Bytes,
    agreement: Agreement,
    feed: Snapshot,
    rtt_min: Option<Windowed<Duration>>,
    timeout: Timeout,
    /// The last window in segments, and the pace, while the law had control.
    cwnd: u32,
    pacing: Rate,
    longer: Option<Duration>,
}

impl BiscayController {
    /// A flow without any estimate. It accepts estimates that are older by `every`, and silence
    /// counts later by this time.
    pub(crate) fn tuned(
        fallback: Fallback,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Self {
        let usual = Config::of(values);
        let (max_age, max_silence) = (usual.max_age + every, usual.max_silence + every);
        let flow = Flow {
            law: Biscay::new(Config { max_age, max_silence, ..usual }, start.now, 0),
            mss: start.mss,
            agreement: Agreement::default(),
            feed: Snapshot { estimate: None, agreeing: 0, heartbeat_at: start.now },
            rtt_min: start.rtt.map(|rtt| Windowed::min(RTT_MIN_LASTS, start.now.as_nanos(), rtt)),
            timeout: Timeout::None,
            cwnd: FLOOR_CWND,
            pacing: Rate::ZERO,
            longer: None,
        };
        Self::over(flow, fallback, start, None)
    }
}

impl Flow {
    #[inline]
    fn segments(&self, bytes: Bytes) -> u32 {
        // The law counts segments in 32 bits that wrap, as the kernel does.
        (bytes.count() / self.mss.count().max(1)) as u32
    }

    #[inline]
    fn bytes(&self, segments: u32) -> Bytes {
        Bytes::new(u64::from(segments) * self.mss.count())
    }

    fn read(&mut self, now: HostInstant, update: FeedUpdate) {
        self.feed.heartbeat_at = now;
        let FeedUpdate::Carries(report) = update else {
            self.agreement.reset();
            (self.feed.estimate, self.feed.agreeing) = (None, 0);
            return;
        };
        // The publisher counted all flows.
        let estimate = FeedEstimate {
            rate: report.rate,
            sampled_at: report.sampled_at,
            bound: report.bound,
            other_flows: 0,
        };
        self.feed.agreeing = self.agreement.handle_estimate(&estimate);
        self.feed.estimate = Some(estimate);
    }

    /// Folds an acknowledgement in, or reads the feed again before a flow sends.
    #[inline]
    fn step(&mut self, now: HostInstant, beside: &Beside<'_>, ack: Option<&Ack>) -> Option<Rate> {
        let path = PathSample {
            rtt_min: self.rtt_min.map(|filter| filter.best()),
            mss: u32::try_from(self.mss.count()).unwrap_or(u32::MAX),
            e2e: beside.bandwidth(),
            flows: beside.flows,
            link: None,
            shadow_cwnd: self.segments(beside.cwnd()),
            shadow_pacing: beside.pacing().unwrap_or_default(),
        };
        let timeout = core::mem::take(&mut self.timeout);
        let Command { cwnd, pacing, cut, longer } = match ack {
            Some(ack) => self.law.handle_ack(now, &self.feed, &path, timeout, ack),
            None => self.law.handle_restart(now, &self.feed, &path, timeout),
        };
        self.longer = longer;
        if self.phase().law_controls() {
            (self.cwnd, self.pacing) = (cwnd, pacing);
        }
        cut
    }
}

impl RadioLaw for Flow {
    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate, _: &Beside<'_>) -> bool {
        self.read(now, update);
        false
    }

    #[inline]
    fn handle_ack(&mut self, ack: &Ack, beside: &Beside<'_>) -> Option<Rate> {
        if let Some(rtt) = ack.rtt {
            let now = ack.now.as_nanos();
            let first = Windowed::min(RTT_MIN_LASTS, now, rtt);
            self.rtt_min.get_or_insert(first).update(now, rtt);
        }
        self.step(ack.now, beside, Some(ack))
    }

    #[inline]
    fn handle_sent(&mut self, sent: &Departure, size: Bytes, beside: &Beside<'_>) -> bool {
        // After a pause the result of the last acknowledgement may be old.
        let restarts = sent.in_flight <= size;
        if restarts {
            self.step(sent.at, beside, None);
        }
        restarts
    }

    fn handle_timeout(&mut self, now: HostInstant, beside: &Beside<'_>) {
        self.timeout = Timeout::Fired;
        self.step(now, beside, None);
    }

    fn handle_undone(&mut self, now: HostInstant, beside: &Beside<'_>) {
        self.timeout = Timeout::Undone;
        self.step(now, beside, None);
    }

    #[inline]
    fn phase(&self) -> Phase {
        self.law.state().phase()
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.bytes(self.cwnd)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        Some(self.pacing)
    }

    #[inline]
    fn stock_cwnd(&self, cwnd: Bytes) -> Bytes {
        self.bytes(self.segments(cwnd))
    }

    #[inline]
    fn least_rtt(&self) -> Option<Duration> {
        self.longer
    }
}
