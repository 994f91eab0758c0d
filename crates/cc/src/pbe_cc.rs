//! PBE-CC: the sender goes by the capacity and the fair share that the receiving device reads off its cells (Xie et al.,
//! SIGCOMM 2020).
//!
//! A flow ramps up to its fair share within three round trips (§4.1), then sends what the device reports (§4.2.1). Packets that
//! are late although the cells are not full show a bottleneck in the Internet; there a BBR that probes no further than the fair
//! share controls the flow (§4.2.3). Where the paper is silent, `docs/interpretations/pbe-cc.md` says what was chosen.
//!
//! [`Law`] decides, in whole numbers, step by step as the kernel does; [`PbeCc`] has BBR beside it.

mod config;
mod delay;
mod delivery;
mod law;
mod state;
#[cfg(test)]
mod tests;

use core::time::Duration;

use sounding_estimate::{FairShare, LinkEstimate, MAX_RATE, State as Link};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::parameter::Values;
use crate::sharing::Part;
use crate::stock::{Fallback, Stock};
use crate::{Controller, Departure, Loss, Recovery, Start};
pub use config::Config;
pub use law::Law;
pub use state::{Ack, Claim, FeedUpdate, State};

/// See the module.
#[derive(Clone, Debug)]
pub struct PbeCc {
    config: Config,
    shadow: Stock,
    law: Law,
    part: Part,
    updated_at: HostInstant,
}

impl PbeCc {
    /// A flow without any estimate, that takes silence for one `every` later than usual.
    pub fn new(config: Config, fallback: Fallback, start: &Start, every: Duration) -> Self {
        let config = Config {
            max_age: config.max_age + every,
            max_silence: config.max_silence + every,
            ..config
        };
        Self {
            config,
            shadow: Stock::new(start, fallback),
            law: Law::new(config, start, 0),
            part: Part::default(),
            updated_at: start.now,
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

    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate) {
        self.law.handle_feed(now, update);
        self.share_verdict(now);
    }

    /// Lets BBR know whether the law controls the flow, and what it must not remember.
    fn share_verdict(&mut self, now: HostInstant) {
        if let Some(most) = self.law.take_cut() {
            self.shadow.cap_bandwidth(most);
        }
        self.shadow.handle_verdict(now, self.law.law_controls(), self.law.cwnd(), None);
    }

    fn check_silence(&mut self, now: HostInstant) {
        if now - self.updated_at > self.config.max_silence {
            self.handle_feed(now, FeedUpdate::Nothing);
        }
    }
}

/// The way to the receiver as time stamps show it, in whole milliseconds, or the RTT where the transport has none. While
/// something is missing a kernel's receiver echoes the stamp of what came before it, which shows no delay (interpretation 18).
fn delay_of(ack: &crate::Ack) -> Option<Duration> {
    let Some(way) = ack.one_way else { return ack.rtt };
    let is_whole = ack.recovery == Recovery::None;
    is_whole.then(|| Duration::from_millis(u64::try_from(way.as_millis()).unwrap_or(u64::MAX)))
}

impl Controller for PbeCc {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.shadow.handle_sent(sent, size);
        self.check_silence(sent.at);
    }

    fn handle_ack(&mut self, ack: &crate::Ack) {
        self.shadow.handle_ack(ack);
        self.check_silence(ack.now);
        self.law.handle_ack(&Ack {
            now: ack.now,
            rtt: ack.rtt,
            delay: delay_of(ack),
            rate: ack.rate,
            acked: ack.acked,
            bandwidth: self.shadow.bandwidth(),
            delivered: ack.delivered.count() as u32,
            prior_delivered: ack.sent.delivered.count() as u32,
            is_limited: ack.sent.app_limited,
        });
        self.share_verdict(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.shadow.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_timeout(now);
        self.law.handle_timeout(now);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.shadow.handle_spurious_timeout(now);
    }

    fn handle_part(&mut self, _now: HostInstant, part: Part) {
        self.part = part;
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, _flows: u32) {
        self.updated_at = now;
        let part = |rate| self.part.of(rate);
        // A device that nothing is granted to is idle; a fair share says what it may have all the same.
        let knows =
            estimate.is_usable() || (estimate.state == Link::Idle && estimate.fair.is_some());
        let is_absurd = estimate.rate > MAX_RATE;
        let update = match estimate.state {
            _ if is_absurd => FeedUpdate::Nothing,
            Link::Handover => FeedUpdate::Handover,
            _ if knows && estimate.age <= self.config.max_age => FeedUpdate::Carries(Claim {
                rate: part(estimate.rate),
                bound: estimate.bound,
                fair: estimate.fair.map(|fair| FairShare { rate: part(fair.rate), ..fair }),
            }),
            _ => FeedUpdate::Nothing,
        };
        self.handle_feed(now, update);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.shadow.handle_time(now);
        self.law.handle_time(now);
        self.share_verdict(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        [self.shadow.wakeup(), self.law.wakeup()].into_iter().flatten().min()
    }

    fn cwnd(&self) -> Bytes {
        if self.law.law_controls() {
            self.law.cwnd()
        } else {
            self.shadow.cwnd().max(self.law.floor())
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        if self.law.law_controls() {
            return Some(self.law.pacing());
        }
        let shadow = self.shadow.pacing_rate()?;
        Some(self.law.limit().map_or(shadow, |limit| shadow.min(limit)))
    }

    fn state(&self) -> &'static str {
        self.law.state().phase().name()
    }
}
