use alloc::sync::Arc;
use core::time::Duration;

use sounding_trace::{Step, Steps};
use sounding_units::{Bytes, HostInstant};

/// Bits × 10^9: in this unit the capacity of a rate in bit/s per nanosecond is a whole number.
const NANOBITS_PER_BYTE: u128 = 8_000_000_000;

/// A link that carries bytes as a rate flows, to the nanosecond.
#[derive(Debug)]
pub(crate) struct RateServer {
    steps: Arc<Steps>,
    origin: HostInstant,
    /// The step in force when the last service began or ended.
    index: usize,
    /// Capacity left after the last packet, because that packet's departure was rounded up to a
    /// nanosecond.
    credit: u128,
    /// When the last service ended: the credit counts only for a service that begins at this very
    /// moment.
    idle_since: HostInstant,
}

impl RateServer {
    pub(crate) fn new(steps: Arc<Steps>, origin: HostInstant) -> Self {
        Self { steps, origin, index: 0, credit: 0, idle_since: origin }
    }

    /// A moment before which a service of `cost` bytes that begins at `start` cannot end.
    pub(crate) fn no_end_before(&self, start: HostInstant, cost: Bytes) -> HostInstant {
        let now = start.saturating_since(self.origin);
        let rate = self.steps.rate_at(now);
        let end = cost.time_at(rate).filter(|&span| {
            // Past a change of rate it may end earlier than at this one.
            let after = self.steps.steps().partition_point(|step| step.at <= now);
            self.steps.steps().get(after).is_none_or(|step| now + span <= step.at)
        });
        // One nanosecond less, because the credit of the last service may count.
        end.map_or(start, |span| start + span.saturating_sub(Duration::from_nanos(1)))
    }

    /// When the link has carried `cost` bytes if it begins at `start`; `None` if an outage without
    /// end is in the way.
    ///
    /// Services must be requested in order of time, each beginning at or after the end of the one
    /// before it.
    pub(crate) fn serve(&mut self, start: HostInstant, cost: Bytes) -> Option<HostInstant> {
        let steps = self.steps.steps();
        let credit = if start == self.idle_since { self.credit } else { 0 };
        let mut need = (u128::from(cost.count()) * NANOBITS_PER_BYTE).saturating_sub(credit);
        // The fast path for nearly every packet: a rate without further changes, and numbers of
        // half the width.
        if let [Step { rate, .. }] = &steps[self.index..]
            && let (rate @ 1.., Ok(need)) = (rate.bits_per_sec(), u64::try_from(need))
        {
            let (whole, rest) = (need / rate, need % rate);
            self.credit = if rest == 0 { 0 } else { (rate - rest).into() };
            let span = whole + u64::from(rest > 0);
            let begun = start.max(self.origin).as_nanos();
            self.idle_since = HostInstant::from_nanos(begun.saturating_add(span));
            return Some(self.idle_since);
        }
        let mut at = start.saturating_since(self.origin);
        loop {
            while steps.get(self.index + 1).is_some_and(|step| step.at <= at) {
                self.index += 1;
            }
            let rate = u128::from(steps[self.index].rate.bits_per_sec());
            let change = steps.get(self.index + 1).map(|step| step.at);
            let until_change = change.map(|change| (change - at).as_nanos());
            let span = if rate == 0 { None } else { Some(div_ceil(need, rate)) };
            match (span, until_change, change) {
                (Some(span), until, _) if until.is_none_or(|until| span <= until) => {
                    self.credit = span * rate - need;
                    let span = Duration::from_nanos(u64::try_from(span).ok()?);
                    self.idle_since = self.origin + at + span;
                    return Some(self.idle_since);
                }
                (_, Some(until), Some(change)) => {
                    need = need.saturating_sub(until * rate);
                    at = change;
                }
                _ => return None,
            }
        }
    }
}

/// Packets and rates are nearly always small enough for a division of half the width, which takes a
/// fraction of the time.
fn div_ceil(need: u128, rate: u128) -> u128 {
    match (u64::try_from(need), u64::try_from(rate)) {
        (Ok(need), Ok(rate)) => need.div_ceil(rate).into(),
        _ => need.div_ceil(rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(steps: &str) -> RateServer {
        RateServer::new(Arc::new(steps.parse().unwrap()), HostInstant::from_nanos(1_000))
    }

    #[test]
    fn a_million_packets_in_a_row_take_exactly_their_time() {
        // 1500 bytes at 7 Mbit/s are 1714285.7 ns: rounding each up would lose 0.3 s of a million.
        let mut link = server("7Mbit");
        let mut at = HostInstant::from_nanos(1_000);
        for _ in 0..1_000_000 {
            at = link.serve(at, Bytes::new(1500)).unwrap();
        }
        assert_eq!(at.as_nanos() - 1_000, (12_000_u64 * 1_000_000_000_000_000).div_ceil(7_000_000));
    }

    #[test]
    fn a_packet_across_a_step_uses_both_rates() {
        let mut link = server("0s 12Mbit, 500us 6Mbit");
        let left = link.serve(HostInstant::from_nanos(1_000), Bytes::new(1500)).unwrap();
        assert_eq!(left.as_nanos() - 1_000, 1_500_000);
    }

    #[test]
    fn an_outage_holds_a_packet_until_it_ends() {
        let mut link = server("0s 0bit, 70s 12Mbit");
        let left = link.serve(HostInstant::from_nanos(1_000), Bytes::new(1500)).unwrap();
        assert_eq!(left.as_nanos() - 1_000, 70_001_000_000);
    }

    #[test]
    fn an_outage_without_end_never_delivers() {
        assert_eq!(server("0bit").serve(HostInstant::from_nanos(2_000), Bytes::new(40)), None);
    }
}
