use core::time::Duration;

use sounding_cc::Start;
use sounding_cc::part::Windowed;
use sounding_estimate::MAX_RATE;
use sounding_units::{Bytes, HostInstant, Rate};

use super::Config;
use crate::limits::micros;
use crate::phase::Phase;
use crate::radio_law::{FeedUpdate, Report};

/// How long a minimum of the RTT counts (interpretation 8).
const RTT_LASTS: Duration = Duration::from_secs(10);
/// RTTmin before anything was measured, and the least that a rate is made with.
const SOME_RTT_US: u64 = 100_000;
const LEAST_RTT_US: u64 = 1_000;
/// What is left of the rate after a timeout, in hundredths (interpretation 10).
const AFTER_TIMEOUT: u64 = 50;

/// What the law goes by.
///
/// ```text
/// from            event                                        to
/// any             a report of a rate                           RadioLimited
/// any in control  a timeout                                    Hold, which only a report of a
/// later sample ends any in control  the device is on the way to another cell     Handover
/// any in control  the last report is older than `max_age`      NoEstimate
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no report, or none that counts: the stock algorithm controls the flow.
    NoEstimate,
    /// The rate is what the device reported last.
    RadioLimited,
    /// A timeout halved the rate.
    Hold {
        /// When.
        since: HostInstant,
    },
    /// The device is on the way to another cell: rate and window stay as they are.
    Handover,
}

impl State {
    /// Its name everywhere outside the law.
    pub const fn phase(&self) -> Phase {
        match self {
            Self::NoEstimate => Phase::NoEstimate,
            Self::RadioLimited => Phase::RadioLimited,
            Self::Hold { .. } => Phase::Hold,
            Self::Handover => Phase::Handover,
        }
    }
}

/// One flow under CQIC. Whole numbers only; the kernel runs the same.
#[derive(Clone, Debug)]
pub struct Law {
    config: Config,
    mss: u64,
    headers: u64,
    state: State,
    /// B, payload, bytes a second.
    rate: u64,
    sampled_at: HostInstant,
    /// RTTmin in microseconds.
    rtt_min: Option<Windowed<u64>>,
    /// The way is another: the next RTT counts alone.
    is_new_way: bool,
}

impl Law {
    /// A flow without any report.
    pub fn new(config: Config, start: &Start) -> Self {
        let mut law = Self {
            config,
            mss: start.mss.count().max(1),
            headers: start.headers.count(),
            state: State::NoEstimate,
            rate: 0,
            sampled_at: start.now,
            rtt_min: None,
            is_new_way: false,
        };
        law.handle_rtt(start.now, start.rtt);
        law
    }

    /// What it goes by.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the window and the pace are the law's, and not the stock algorithm's.
    pub fn law_controls(&self) -> bool {
        self.state.phase().law_controls()
    }

    /// The window while the law controls the flow: CW = 2 · B · RTTmin (§4.1).
    #[inline]
    pub fn cwnd(&self) -> Bytes {
        let path = self.rate * self.rtt_min_us() / 1_000_000;
        let window = path * u64::from(self.config.gain_percent) / 100;
        Bytes::new(window.max(self.least()))
    }

    /// The pace while the law controls the flow.
    #[inline]
    pub fn pacing(&self) -> Rate {
        // At less a flow would not learn that the path is back.
        let slowest = self.least() * 1_000_000 / self.rtt_min_us().max(LEAST_RTT_US);
        Rate::from_bytes_per_sec(self.rate.max(slowest))
    }

    fn least(&self) -> u64 {
        self.mss * u64::from(self.config.min_cwnd)
    }

    #[inline]
    fn rtt_min_us(&self) -> u64 {
        self.rtt_min.map_or(SOME_RTT_US, |filter| filter.best())
    }

    #[inline]
    fn handle_rtt(&mut self, now: HostInstant, rtt: Option<Duration>) {
        let Some(rtt) = rtt.map(micros).filter(|rtt| *rtt > 0) else { return };
        match &mut self.rtt_min {
            Some(filter) if !self.is_new_way => filter.update(now.as_nanos(), rtt),
            _ => {
                let window = RTT_LASTS.as_nanos() as u64;
                self.rtt_min = Some(Windowed::min(window, now.as_nanos(), rtt));
                self.is_new_way = false;
            }
        }
    }

    /// The device reported, or its last report is looked at again.
    pub fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate) {
        match update {
            FeedUpdate::Carries(report) => self.handle_report(&report),
            FeedUpdate::Handover if self.law_controls() => {
                self.is_new_way |= self.state != State::Handover;
                self.state = State::Handover;
            }
            FeedUpdate::Handover | FeedUpdate::Idle(_) | FeedUpdate::Nothing => {}
        }
        self.handle_time(now);
    }

    fn handle_report(&mut self, report: &Report) {
        let sampled_at = report.sampled_at;
        if matches!(self.state, State::Hold { since } if sampled_at <= since) {
            return;
        }
        let rate = report.rate.min(MAX_RATE).bytes_per_sec();
        self.rate = rate * self.mss / (self.mss + self.headers);
        self.sampled_at = sampled_at;
        self.state = State::RadioLimited;
    }

    /// Folds an acknowledgement in, with the RTT that it measured.
    #[inline]
    pub fn handle_ack(&mut self, now: HostInstant, rtt: Option<Duration>) {
        self.handle_rtt(now, rtt);
        self.handle_time(now);
    }

    /// A timeout fired: what is in flight is lost.
    pub fn handle_timeout(&mut self, now: HostInstant) {
        if self.law_controls() {
            self.rate = self.rate * AFTER_TIMEOUT / 100;
            self.state = State::Hold { since: now };
        }
    }

    /// Time has passed.
    #[inline]
    pub fn handle_time(&mut self, now: HostInstant) {
        if self.law_controls() && now - self.sampled_at > self.config.max_age {
            self.state = State::NoEstimate;
        }
    }

    /// When the last report no longer counts.
    pub fn wakeup(&self) -> Option<HostInstant> {
        let after = self.config.max_age + Duration::from_nanos(1);
        self.law_controls().then(|| self.sampled_at + after)
    }
}
