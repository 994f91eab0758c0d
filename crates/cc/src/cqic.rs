//! CQIC: the sender goes by the rate that the receiving device reads off its channel reports and its served share (Lu et al.,
//! HotMobile 2015).
//!
//! A report sets the pace, `T_p = P / B`, and a window of twice `B · RTTmin` that limits the damage of a wrong one (§4.1). There is no
//! slow start, no probing and no answer to a loss. Where the paper is silent, `docs/interpretations/cqic.md` says what was chosen.
//!
//! [`Law`] decides, in whole numbers, step by step as the kernel does; [`Cqic`] has the stock algorithm beside it, and the bucket.

mod bucket;
mod config;
mod law;
#[cfg(test)]
mod tests;

use core::time::Duration;

use sounding_estimate::{LinkEstimate, MAX_RATE, State as Link};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::parameter::Values;
use crate::sharing::Part;
use crate::stock::{Fallback, Stock};
use crate::{Ack, Controller, Departure, Loss, Start};
use bucket::Bucket;
pub use config::Config;
pub use law::{FeedUpdate, Law, State};

/// How far back the estimates of the law look (§3.3, Fig. 4: 200 ms).
pub const SPAN: Duration = Duration::from_millis(200);

/// How often a device reports (interpretation 5; the paper's prototype every 500 ms, §4.2).
pub const REPORTS_EVERY: Duration = Duration::from_millis(50);

/// See the module.
#[derive(Clone, Debug)]
pub struct Cqic {
    shadow: Stock,
    law: Law,
    bucket: Bucket,
    mss: Bytes,
    part: Part,
}

impl Cqic {
    /// A flow without any report. One counts for one `every` longer than usual, where reports come only so often.
    pub fn new(config: Config, fallback: Fallback, start: &Start, every: Duration) -> Self {
        let config = Config { max_age: config.max_age + every, ..config };
        Self {
            shadow: Stock::new(start, fallback),
            law: Law::new(config, start),
            bucket: Bucket::full(start.now, start.mss),
            mss: start.mss,
            part: Part::default(),
        }
    }

    pub(crate) fn tuned(
        fallback: Fallback,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Self {
        Self::new(Config::of(values), fallback, start, every)
    }

    /// Lets the stock algorithm know whether the law controls the flow.
    fn share_verdict(&mut self, now: HostInstant) {
        self.shadow.handle_verdict(now, self.law.law_controls(), self.law.cwnd(), None);
    }

    fn advance(&mut self, now: HostInstant) {
        self.law.handle_time(now);
        self.share_verdict(now);
    }
}

impl Controller for Cqic {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.shadow.handle_sent(sent, size);
        self.advance(sent.at);
        if self.law.law_controls() {
            self.bucket.take(sent.at, size, self.law.pacing());
        }
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.shadow.handle_ack(ack);
        self.law.handle_ack(ack.now, ack.rtt);
        self.share_verdict(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.shadow.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_timeout(now);
        self.law.handle_timeout(now);
        self.share_verdict(now);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_spurious_timeout(now);
    }

    fn handle_part(&mut self, _now: HostInstant, part: Part) {
        self.part = part;
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, _flows: u32) {
        let update = match estimate.state {
            Link::Handover => FeedUpdate::Handover,
            _ if estimate.is_usable() && estimate.rate <= MAX_RATE => FeedUpdate::Carries {
                rate: self.part.of(estimate.rate),
                sampled_at: now.saturating_before(estimate.age),
            },
            _ => FeedUpdate::Nothing,
        };
        self.law.handle_feed(now, update);
        self.share_verdict(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.shadow.handle_time(now);
        self.advance(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        [self.shadow.wakeup(), self.law.wakeup()].into_iter().flatten().min()
    }

    fn not_before(&self) -> Option<HostInstant> {
        let controls = self.law.law_controls();
        controls.then(|| self.bucket.not_before(self.mss, self.law.pacing()))
    }

    fn cwnd(&self) -> Bytes {
        if self.law.law_controls() {
            self.law.cwnd()
        } else {
            self.shadow.cwnd().max(self.law.floor())
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        if self.law.law_controls() { Some(self.law.pacing()) } else { self.shadow.pacing_rate() }
    }

    fn state(&self) -> &'static str {
        self.law.state().phase().name()
    }
}
