//! The project's own controller. It uses the modem's estimates and the acknowledgements.
//!
//! A base station grants what is requested. While more waits at the radio than it grants, the grants are the radio's
//! capacity. The window is then rate × (RTT without queue + queue target), so that some data always waits. While
//! everything requested is granted, the grants are only a floor. The window then grows above it until the modem reports
//! a backlog or every packet of a round is late. A standing queue without a backlog at the radio is elsewhere.
//! In that case, and without a usable estimate, a stock algorithm controls the flow.
//!
//! [`Law`] decides this, and runs in the kernel too; [`Sounding`] combines it with the stock algorithm.

mod delivery_cap;
mod input;
mod law;
mod path;
mod queue_growth;
mod queue_target;
#[cfg(test)]
mod tests;
mod window;

use core::time::Duration;

use sounding_estimate::{LinkEstimate, State as Link};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::limits;
use crate::parameter::{Kind, Parameter, Values};
use crate::sharing::Part;
use crate::stock::{Fallback, Stock};
use crate::{Controller, Departure, Loss, Recovery, Start};
pub use input::{Ack, FeedUpdate};
pub use law::{Law, State};
pub use sounding_estimate::Bound;

/// The longest silence of a publisher that lives: twelve of its heartbeats, as BISCAY's law has it
/// ([`Config::max_silence`](crate::biscay::Config)).
const SILENCE: Parameter = Parameter {
    name: "max_silence",
    kind: Kind::millis(60, 1, 10_000),
    unit: "",
    about: "time without estimates after which the fallback controls the flow",
    source: "chosen: twelve heartbeats of the daemon",
};

/// How far back an estimate's rate should look. The 100 ms of BISCAY's paper show the beginning and the end of a fade
/// too late (papers/biscay/README.md); records of the physical layer come often enough for this. Chosen.
pub const SPAN: Duration = Duration::from_millis(30);

/// In bytes/s.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();

/// Whole microseconds; none if it was less than one.
fn micros(span: Duration) -> Option<u64> {
    Some(limits::micros(span)).filter(|micros| *micros > 0)
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Sounding {
    shadow: Stock,
    law: Law,
    part: Part,
    updated_at: HostInstant,
    silence: Duration,
}

impl Sounding {
    pub(crate) const PARAMETERS: &[Parameter] = &[SILENCE];

    /// A flow without any estimate.
    pub fn new(start: &Start) -> Self {
        Self::falling_back_to(Fallback::Bbr, start, Duration::ZERO)
    }

    /// The same with another fallback, and with an estimate only after every `every`: silence begins later by this time.
    pub fn falling_back_to(fallback: Fallback, start: &Start, every: Duration) -> Self {
        Self::tuned(fallback, start, every, &Values::default())
    }

    pub(crate) fn tuned(
        fallback: Fallback,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Self {
        Self {
            shadow: Stock::new(start, fallback),
            law: Law::new(start.now, start.mss, start.headers, start.rtt, 0),
            part: Part::default(),
            updated_at: start.now,
            silence: values.time(&SILENCE) + every,
        }
    }

    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate) {
        self.law.handle_feed(now, update, self.part, self.shadow.cwnd());
        self.share_verdict(now, None);
    }

    /// Lets the stock algorithm know whether the law controls the flow.
    fn share_verdict(&mut self, now: HostInstant, cut: Option<Rate>) {
        self.shadow.handle_verdict(now, self.law.law_controls(), self.law.cwnd(), cut);
        // Under the law's window BBR never sees an empty path, so it would keep the RTT of the shorter path.
        if let Some(least) = self.law.rtt_min().filter(|_| self.law.law_controls()) {
            self.shadow.raise_rtt_min(least);
        }
    }

    /// An estimate of a publisher that is silent is not used any longer.
    fn check_silence(&mut self, now: HostInstant) {
        if now - self.updated_at > self.silence {
            self.handle_feed(now, FeedUpdate::Nothing);
        }
    }
}

impl Controller for Sounding {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.shadow.handle_sent(sent, size);
        self.check_silence(sent.at);
    }

    fn handle_ack(&mut self, ack: &crate::Ack) {
        self.shadow.handle_ack(ack);
        self.check_silence(ack.now);
        let cut = self.law.handle_ack(&Ack {
            now: ack.now,
            rtt: ack.rtt,
            rate: ack.rate,
            acked: ack.acked,
            lost: ack.newly_lost,
            in_flight: ack.prior_in_flight,
            delivered: ack.delivered.count() as u32,
            prior_delivered: ack.sent.delivered.count() as u32,
            is_recovering: ack.recovery == Recovery::Fast,
            is_marked: ack.ce > Bytes::ZERO,
            is_limited: ack.sent.app_limited,
        });
        self.share_verdict(ack.now, cut);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.shadow.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_timeout(now);
        self.law.handle_timeout();
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_spurious_timeout(now);
        self.law.handle_undone();
    }

    fn handle_part(&mut self, _now: HostInstant, part: Part) {
        self.part = part;
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, _flows: u32) {
        self.updated_at = now;
        let update = match estimate.state {
            Link::Handover => FeedUpdate::Handover,
            _ if estimate.is_usable() => {
                FeedUpdate::Carries { rate: estimate.rate, bound: estimate.bound }
            }
            Link::Idle => FeedUpdate::Idle,
            _ => FeedUpdate::Nothing,
        };
        self.handle_feed(now, update);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.shadow.handle_time(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.shadow.wakeup()
    }

    fn cwnd(&self) -> Bytes {
        if self.law.law_controls() {
            self.law.cwnd()
        } else {
            self.shadow.cwnd().max(self.law.floor())
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let pacing = self.law.pacing().filter(|_| self.law.law_controls());
        pacing.or_else(|| self.shadow.pacing_rate())
    }

    fn state(&self) -> &'static str {
        self.law.state().phase().name()
    }
}
