use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

use crate::controller::Departure;

/// How fast a path delivers, measured packet by packet
/// (draft-cheng-iccrg-delivery-rate-estimation-00).
///
/// Each packet carries the flow's state at its departure. At its delivery, the bytes delivered
/// since then are divided by the longer of two times: the one in which those packets were sent, and
/// the one in which they were acknowledged (§2.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryRate {
    delivered: Bytes,
    delivered_at: HostInstant,
    first_sent_at: HostInstant,
    lost: Bytes,
    /// Packets sent until this much is delivered show the application's rate, not the path's.
    limited_until: Option<Bytes>,
    /// The newest packet that the current acknowledgement delivers.
    newest: Option<Departure>,
}

impl DeliveryRate {
    /// A packet leaves; `in_flight` counts it in.
    #[inline]
    pub fn handle_sent(&mut self, now: HostInstant, size: Bytes, in_flight: Bytes) -> Departure {
        if in_flight <= size {
            // Nothing was in flight: the idle time counts neither for sending nor for acknowledging
            // (§3.2).
            self.delivered_at = now;
            self.first_sent_at = now;
        }
        Departure {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            in_flight,
            app_limited: self.limited_until.is_some(),
        }
    }

    /// A packet was delivered.
    #[inline]
    pub fn handle_delivered(&mut self, now: HostInstant, size: Bytes, sent: &Departure) {
        self.delivered += size;
        self.delivered_at = now;
        if self
            .newest
            .is_none_or(|newest| (sent.at, sent.delivered) >= (newest.at, newest.delivered))
        {
            self.newest = Some(*sent);
            self.first_sent_at = sent.at;
        }
    }

    /// A packet was lost.
    pub fn handle_lost(&mut self, size: Bytes) {
        self.lost += size;
    }

    /// The window allowed more, but the application had no data.
    pub fn handle_app_limited(&mut self, in_flight: Bytes) {
        self.limited_until = Some(self.delivered + in_flight);
    }

    /// Ends an acknowledgement: the newest packet it delivered and the rate that follows.
    ///
    /// An interval shorter than the minimum RTT is not used: the acknowledgements were held up and
    /// came at once (§3.3).
    #[inline]
    pub fn finish(
        &mut self,
        now: HostInstant,
        least_rtt: Option<Duration>,
    ) -> Option<(Departure, Option<Rate>)> {
        if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        let newest = self.newest.take()?;
        let sending = newest.at - newest.first_sent_at;
        let acknowledging = now - newest.delivered_at;
        let interval = sending.max(acknowledging);
        let long_enough =
            interval > Duration::ZERO && least_rtt.is_none_or(|least| interval >= least);
        let rate = long_enough.then(|| (self.delivered - newest.delivered).per(interval));
        Some((newest, rate))
    }

    /// Delivered since the flow began.
    #[inline]
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// Lost since the flow began.
    #[inline]
    pub fn lost(&self) -> Bytes {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const MSS: Bytes = Bytes::new(1000);

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn packets_a_millisecond_apart_are_a_thousand_a_second() {
        let mut rate = DeliveryRate::default();
        let sent: Vec<Departure> = (0..20)
            .map(|ms| rate.handle_sent(millis(ms), MSS, Bytes::new(1000 * (ms + 1))))
            .collect();
        let mut last = None;
        for (ms, sent) in (10..).zip(&sent[..10]) {
            rate.handle_delivered(millis(ms), MSS, sent);
            last = rate.finish(millis(ms), None);
        }
        let (_, rate) = last.unwrap();
        // The ten sent in 9 ms were acknowledged in 19 ms, counted from the first departure.
        assert_eq!(rate.unwrap(), Bytes::new(10_000).per(Duration::from_millis(19)));
    }

    #[test]
    fn acknowledgements_that_come_at_once_do_not_look_fast() {
        let mut rate = DeliveryRate::default();
        let sent: Vec<Departure> = (0..10)
            .map(|ms| rate.handle_sent(millis(ms), MSS, Bytes::new(1000 * (ms + 1))))
            .collect();
        rate.handle_delivered(millis(40), MSS, &sent[0]);
        rate.finish(millis(40), None);
        for sent in &sent[1..] {
            rate.handle_delivered(millis(41), MSS, sent);
        }
        let (newest, measured) = rate.finish(millis(41), Some(Duration::from_millis(40))).unwrap();
        assert_eq!(newest.at, millis(9));
        assert_eq!(measured, Some(Bytes::new(10_000).per(Duration::from_millis(41))));
    }

    #[test]
    fn what_an_idle_application_sent_is_marked_until_it_is_delivered() {
        let mut rate = DeliveryRate::default();
        let first = rate.handle_sent(millis(0), MSS, MSS);
        rate.handle_app_limited(MSS);
        let second = rate.handle_sent(millis(5), MSS, Bytes::new(2000));
        for (ms, sent) in [(40, first), (45, second)] {
            rate.handle_delivered(millis(ms), MSS, &sent);
            rate.finish(millis(ms), None);
        }
        let third = rate.handle_sent(millis(50), MSS, MSS);
        assert_eq!([first, second, third].map(|sent| sent.app_limited), [false, true, false]);
    }
}
