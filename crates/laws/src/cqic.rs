//! CQIC: the sender goes by the rate that the receiving device reads off its channel reports and
//! its served share (Lu et al., HotMobile 2015).
//!
//! A report sets the pace, `T_p = P / B`, and a window of twice `B · RTTmin` that limits the damage
//! of a wrong one (§4.1). There is no slow start, no probing and no answer to a loss. Where the
//! paper is silent, `docs/interpretations/cqic.md` says what was chosen.
//!
//! [`Law`] decides, in whole numbers, step by step as the kernel does; [`Cqic`] has it and the
//! bucket over the stock algorithm.

use sounding_cc::parameter::Values;
use sounding_cc::{Departure, Start};

mod bucket;
mod config;
mod law;
#[cfg(test)]
mod tests;

use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::radio_law::{Ack, Beside, FeedUpdate, RadioLaw};
use crate::{over_stock::OverStock, phase::Phase, stock::Fallback};
use bucket::Bucket;
pub use config::Config;
pub use law::{Law, State};

/// How far back the estimates of the law look (§3.3, Fig. 4: 200 ms).
pub const SPAN: Duration = Duration::from_millis(200);

/// How often a device reports (interpretation 5; the paper's prototype every 500 ms, §4.2).
pub const REPORTS_EVERY: Duration = Duration::from_millis(50);

/// See the module.
pub type Cqic = OverStock<Paced>;

/// The law and its token bucket.
#[derive(Clone, Debug)]
pub struct Paced {
    law: Law,
    bucket: Bucket,
    mss: Bytes,
}

impl Cqic {
    /// A flow without any report. One counts for one `every` longer than usual, where reports come
    /// only so often.
    pub fn new(config: Config, fallback: Fallback, start: &Start, every: Duration) -> Self {
        let config = Config { max_age: config.max_age + every, ..config };
        let (law, bucket) = (Law::new(config, start), Bucket::full(start.now, start.mss));
        Self::over(Paced { law, bucket, mss: start.mss }, fallback, start, None)
    }

    pub(crate) fn tuned(
        fallback: Fallback,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Self {
        Self::new(Config::of(values), fallback, start, every)
    }
}

impl RadioLaw for Paced {
    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate, beside: &Beside<'_>) -> bool {
        let update = match update {
            FeedUpdate::Carries(report) => FeedUpdate::Carries(report.part(beside.part)),
            other => other,
        };
        self.law.handle_feed(now, update);
        true
    }

    #[inline]
    fn handle_ack(&mut self, ack: &Ack, _: &Beside<'_>) -> Option<Rate> {
        self.law.handle_ack(ack.now, ack.rtt);
        None
    }

    #[inline]
    fn handle_sent(&mut self, sent: &Departure, size: Bytes, _: &Beside<'_>) -> bool {
        self.law.handle_time(sent.at);
        if self.law.law_controls() {
            self.bucket.take(sent.at, size, self.law.pacing());
        }
        true
    }

    fn handle_timeout(&mut self, now: HostInstant, _: &Beside<'_>) {
        self.law.handle_timeout(now);
    }

    #[inline]
    fn handle_time(&mut self, now: HostInstant) {
        self.law.handle_time(now);
    }

    #[inline]
    fn wakeup(&self) -> Option<HostInstant> {
        self.law.wakeup()
    }

    #[inline]
    fn not_before(&self) -> Option<HostInstant> {
        Some(self.bucket.not_before(self.mss, self.law.pacing()))
    }

    #[inline]
    fn phase(&self) -> Phase {
        self.law.state().phase()
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.law.cwnd()
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        Some(self.law.pacing())
    }
}
