//! The project's own controller. It uses the modem's estimates and the acknowledgements.
//!
//! A base station grants what is requested. While more waits at the radio than it grants, the
//! grants are the radio's capacity. The window is then rate × (RTT without queue + queue target),
//! so that some data always waits. While everything requested is granted, the grants are only a
//! floor. The window then grows above it until the modem reports a backlog or every packet of a
//! round is late. A standing queue without a backlog at the radio is elsewhere. In that case, and
//! without a usable estimate, a stock algorithm controls the flow.
//!
//! [`Law`] decides this, and runs in the kernel too; [`Sounding`] has it over the stock algorithm.

use sounding_cc::Start;
use sounding_cc::parameter::{Kind, Parameter, Values};

mod delivery_cap;
mod law;
mod path;
mod queue_growth;
mod queue_target;
#[cfg(test)]
mod tests;
mod window;

use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::radio_law::{Ack, Beside, FeedUpdate, RadioLaw};
use crate::{limits, over_stock::OverStock, phase::Phase, stock::Fallback};
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

/// How far back an estimate's rate should look. The 100 ms of BISCAY's paper show the beginning and
/// the end of a fade too late (papers/biscay/README.md); records of the physical layer come often
/// enough for this. Chosen.
pub const SPAN: Duration = Duration::from_millis(30);

/// In bytes/s.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();

/// Whole microseconds; none if it was less than one.
fn micros(span: Duration) -> Option<u64> {
    Some(limits::micros(span)).filter(|micros| *micros > 0)
}

/// See the module.
pub type Sounding = OverStock<Law>;

impl Sounding {
    pub(crate) const PARAMETERS: &[Parameter] = &[SILENCE];

    /// A flow without any estimate, which then receives one every `every`: silence begins later by
    /// this time.
    pub(crate) fn tuned(
        fallback: Fallback,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Self {
        let law = Law::new(start.now, start.mss, start.headers, start.rtt, 0);
        Self::over(law, fallback, start, Some(values.time(&SILENCE) + every))
    }
}

impl RadioLaw for Law {
    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate, beside: &Beside<'_>) -> bool {
        self.handle_feed(now, update, beside.part, beside.cwnd());
        true
    }

    #[inline]
    fn handle_ack(&mut self, ack: &Ack, _: &Beside<'_>) -> Option<Rate> {
        self.handle_ack(ack)
    }

    fn handle_timeout(&mut self, _: HostInstant, _: &Beside<'_>) {
        self.handle_timeout();
    }

    fn handle_undone(&mut self, _: HostInstant, _: &Beside<'_>) {
        self.handle_undone();
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
        self.pacing()
    }

    #[inline]
    fn least_rtt(&self) -> Option<Duration> {
        if self.law_controls() { self.rtt_min() } else { None }
    }
}
