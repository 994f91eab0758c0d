//! PBE-CC: the sender goes by the capacity and the fair share that the receiving device reads off
//! its cells (Xie et al., SIGCOMM 2020).
//!
//! A flow ramps up to its fair share within three round trips (§4.1), then sends what the device
//! reports (§4.2.1). Packets that are late although the cells are not full show a bottleneck in the
//! Internet; there a BBR that probes no further than the fair share controls the flow (§4.2.3).
//! Where the paper is silent, `docs/interpretations/pbe-cc.md` says what was chosen.
//!
//! [`Law`] decides, in whole numbers, step by step as the kernel does; [`PbeCc`] has it over BBR.

use sounding_cc::Start;
use sounding_cc::parameter::Values;

mod config;
mod delay;
mod delivery;
mod law;
mod state;
#[cfg(test)]
mod tests;

use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::radio_law::{Ack, Beside, FeedUpdate, RadioLaw};
use crate::{over_stock::OverStock, phase::Phase, stock::Fallback};
pub use config::Config;
pub use law::Law;
pub use state::State;

/// See the module.
pub type PbeCc = OverStock<Law>;

impl PbeCc {
    /// A flow without any estimate, that takes silence for one `every` later than usual.
    pub fn new(config: Config, fallback: Fallback, start: &Start, every: Duration) -> Self {
        let config = Config {
            max_age: config.max_age + every,
            max_silence: config.max_silence + every,
            ..config
        };
        Self::over(Law::new(config, start, 0), fallback, start, Some(config.max_silence))
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

impl RadioLaw for Law {
    // The paper has BBR enter ProbeBW directly (§4.2.3, interpretation 19).
    const CUT_DOUBTS_RTT: bool = false;
    const READS_DELAY: bool = true;

    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate, beside: &Beside<'_>) -> bool {
        self.handle_feed(now, self.known(now, update, beside.part));
        true
    }

    #[inline]
    fn handle_ack(&mut self, ack: &Ack, beside: &Beside<'_>) -> Option<Rate> {
        self.handle_ack(ack, beside.bandwidth());
        self.take_cut()
    }

    fn handle_timeout(&mut self, now: HostInstant, _: &Beside<'_>) {
        self.handle_timeout(now);
    }

    #[inline]
    fn handle_time(&mut self, now: HostInstant) {
        self.handle_time(now);
    }

    #[inline]
    fn wakeup(&self) -> Option<HostInstant> {
        self.wakeup()
    }

    #[inline]
    fn phase(&self) -> Phase {
        self.state().phase()
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.cwnd()
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        Some(self.pacing())
    }

    #[inline]
    fn limit(&self) -> Option<Rate> {
        self.limit()
    }
}
