//! The trait of the laws of the radio, and their input. [`OverStock`](crate::OverStock) makes a
//! controller of a law.

use core::fmt::Debug;
use core::time::Duration;

use sounding_cc::sharing::Part;
use sounding_cc::{Controller as _, Departure, Recovery};
use sounding_estimate::{Bound, FairShare, LinkEstimate, MAX_RATE, State as Link};
use sounding_units::{Bytes, HostInstant, Rate};

use crate::phase::Phase;
use crate::stock::Stock;

/// A rate of the radio, IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The rate of the whole device; after [`part`](Self::part) that of a flow.
    pub rate: Rate,
    /// Whether that is all that the radio has.
    pub bound: Bound,
    /// The fair share, where the users of the cells are known.
    pub fair: Option<FairShare>,
    /// When the newest record behind it came, on the sender's clock.
    pub sampled_at: HostInstant,
}

impl Report {
    /// A flow's part of it.
    pub fn part(self, part: Part) -> Self {
        let fair = self.fair.map(|fair| fair.with_rate(part.of(fair.rate)));
        Self { rate: part.of(self.rate), fair, ..self }
    }
}

/// The publisher's news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedUpdate {
    /// The radio carries this rate.
    Carries(Report),
    /// No grants, and no known backlog. Only a fair share says more.
    Idle(Report),
    /// The device is on the way to another cell.
    Handover,
    /// No usable estimate, or no publisher.
    Nothing,
}

impl FeedUpdate {
    /// The news in an estimate. A rate that no radio has is refused here, for every law.
    pub fn of(now: HostInstant, estimate: &LinkEstimate) -> Self {
        let &LinkEstimate { rate, bound, fair, .. } = estimate;
        let report = Report { rate, bound, fair, sampled_at: now.saturating_before(estimate.age) };
        match estimate.state {
            Link::Handover => Self::Handover,
            _ if rate > MAX_RATE => Self::Nothing,
            _ if estimate.is_usable() => Self::Carries(report),
            Link::Idle => Self::Idle(report),
            _ => Self::Nothing,
        }
    }
}

/// The fields of an acknowledgement that laws use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub now: HostInstant,
    /// The RTT it measured, if any.
    pub rtt: Option<Duration>,
    /// The delay of the path but for a constant: by time stamps in whole milliseconds, or else the
    /// RTT. `None` for laws that do not [read](RadioLaw::READS_DELAY) it.
    pub delay: Option<Duration>,
    /// The path's delivery rate over about the last round, payload, if known.
    pub rate: Option<Rate>,
    /// Delivered by it, payload.
    pub acked: Bytes,
    /// Found lost by it, payload.
    pub lost: Bytes,
    /// In flight before it, payload.
    pub in_flight: Bytes,
    /// Delivered since the flow began.
    pub delivered: Bytes,
    /// The same count when the acknowledged data left.
    pub prior_delivered: Bytes,
    /// Later packets showed losses, which are still being repaired.
    pub is_recovering: bool,
    /// It carries a congestion mark.
    pub is_marked: bool,
    /// The application limited the measured rate.
    pub is_limited: bool,
}

impl Ack {
    /// The acknowledgement as the law `L` receives it.
    #[inline]
    pub(crate) fn to<L: RadioLaw>(ack: &sounding_cc::Ack) -> Self {
        Self {
            now: ack.now,
            rtt: ack.rtt,
            delay: if L::READS_DELAY { delay_of(ack) } else { None },
            rate: ack.rate,
            acked: ack.acked,
            lost: ack.newly_lost,
            in_flight: ack.prior_in_flight,
            delivered: ack.delivered,
            prior_delivered: ack.sent.delivered,
            is_recovering: ack.recovery == Recovery::Fast,
            is_marked: ack.ce > Bytes::ZERO,
            is_limited: ack.sent.app_limited,
        }
    }
}

/// While something is missing a kernel's receiver echoes the stamp of an earlier packet, which
/// shows no delay (docs/interpretations/pbe-cc.md, 18).
fn delay_of(ack: &sounding_cc::Ack) -> Option<Duration> {
    let Some(way) = ack.one_way else { return ack.rtt };
    let is_whole = ack.recovery == Recovery::None;
    is_whole.then(|| Duration::from_millis(u64::try_from(way.as_millis()).unwrap_or(u64::MAX)))
}

/// The flow beside a law: its part of the link, and the stock algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// This flow's part of its device's link.
    pub part: Part,
    /// Active flows that share the link, this one included.
    pub flows: u32,
    pub(crate) stock: &'a Stock,
}

impl Beside<'_> {
    /// The stock algorithm's window.
    #[inline]
    pub fn cwnd(&self) -> Bytes {
        self.stock.cwnd()
    }

    /// The stock algorithm's pace.
    #[inline]
    pub fn pacing(&self) -> Option<Rate> {
        self.stock.pacing_rate()
    }

    /// BBR's measured bandwidth of the path, payload.
    #[inline]
    pub fn bandwidth(&self) -> Rate {
        self.stock.bandwidth()
    }
}

/// One flow under a law, which sets the window and the pace while its [`phase`](Self::phase)
/// controls.
pub trait RadioLaw: Debug + Send {
    /// Whether BBR measures the RTT again after a cut of [`handle_ack`](Self::handle_ack).
    const CUT_DOUBTS_RTT: bool = true;
    /// Whether the law uses [`Ack::delay`].
    const READS_DELAY: bool = false;

    /// The publisher wrote, or has become silent. Returns whether the law took a step.
    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate, beside: &Beside<'_>) -> bool;

    /// An acknowledgement arrived. Returns the path's capacity once, when the flow leaves the law
    /// because of it: the stock algorithm must not remember more.
    fn handle_ack(&mut self, ack: &Ack, beside: &Beside<'_>) -> Option<Rate>;

    /// A packet of `size` left. Returns whether the law took a step.
    fn handle_sent(&mut self, _: &Departure, _: Bytes, _: &Beside<'_>) -> bool {
        false
    }

    /// A retransmission timeout fired.
    fn handle_timeout(&mut self, now: HostInstant, beside: &Beside<'_>);

    /// The timeout was a mistake.
    fn handle_undone(&mut self, _: HostInstant, _: &Beside<'_>) {}

    /// Time has reached the [`wakeup`](Self::wakeup).
    fn handle_time(&mut self, _: HostInstant) {}

    /// When the law takes a step by itself.
    fn wakeup(&self) -> Option<HostInstant> {
        None
    }

    /// No packet leaves before this time while the law controls the flow.
    fn not_before(&self) -> Option<HostInstant> {
        None
    }

    /// Where the bottleneck seems to be.
    fn phase(&self) -> Phase;

    /// The window while the law controls the flow, and after that the last one.
    fn cwnd(&self) -> Bytes;

    /// The pace while the law controls the flow; `None` for the stock algorithm's.
    fn pacing(&self) -> Option<Rate>;

    /// The stock algorithm's window in the law's unit, such as whole segments.
    fn stock_cwnd(&self, cwnd: Bytes) -> Bytes {
        cwnd
    }

    /// The highest pace of the stock algorithm while it controls the flow.
    fn limit(&self) -> Option<Rate> {
        None
    }

    /// The path without queue is at least this long, whatever BBR remembers.
    fn least_rtt(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use sounding_estimate::Direction;

    use super::*;

    #[test]
    fn a_rate_that_no_radio_has_is_unknown() {
        let now = HostInstant::from_nanos(5_000_000_000);
        let says = |rate| {
            LinkEstimate::new(Direction::Uplink, rate, Bound::Floor)
                .with_age(Duration::from_millis(10))
        };
        assert!(matches!(FeedUpdate::of(now, &says(MAX_RATE)), FeedUpdate::Carries(_)));
        let absurd = Rate::from_bits_per_sec(MAX_RATE.bits_per_sec() + 8);
        assert_eq!(FeedUpdate::of(now, &says(absurd)), FeedUpdate::Nothing);
        let moving = says(absurd).with_state(Link::Handover);
        assert_eq!(FeedUpdate::of(now, &moving), FeedUpdate::Handover);
    }
}
