use core::time::Duration;

use sounding_cc::part::Line;
use sounding_cc::{Ack, Loss};
use sounding_units::{Bytes, HostInstant, Rate};

/// Maximum number of intervals that wait for their last acknowledgement. Each is at least a round
/// trip long, so more only wait if the path is stalled.
const WAITING: usize = 16;

/// The outcome of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The intended rate.
    pub rate: Rate,
    /// The lost share of the sent bytes.
    pub loss: f64,
    /// The slope of the RTT, in seconds per second.
    pub rtt_slope: f64,
    /// Standard deviation of the RTT, in seconds.
    pub rtt_deviation: f64,
}

/// PCC's monitor interval: a span in which packets leave at one rate, with the results of these
/// packets.
#[derive(Clone, Copy, Debug)]
struct Interval<T> {
    purpose: T,
    rate: Rate,
    began_at: HostInstant,
    /// The first packet from this time on ends the interval.
    until: HostInstant,
    closed: bool,
    sent: Bytes,
    delivered: Bytes,
    lost: Bytes,
    rtts: Line,
    /// The application sent less than the rate: the interval does not describe it.
    limited: bool,
}

/// A slope within this many standard errors counts as zero. Chosen, because the papers only say
/// that noise is ignored. If two packets leave at once, their RTTs differ by the time of one
/// packet.
pub(super) const SURE: f64 = 2.0;

impl<T> Interval<T> {
    fn rtt_slope(&self, errors: f64) -> f64 {
        let slope = self.rtts.slope().unwrap_or(0.0);
        let sure = self.rtts.slope_error().is_some_and(|error| slope.abs() > errors * error);
        if sure { slope } else { 0.0 }
    }

    fn is_complete(&self) -> bool {
        self.closed && self.delivered + self.lost >= self.sent
    }
}

/// The interval in which packets leave now, and those before it that are not accounted for yet.
#[derive(Clone, Debug)]
pub(super) struct Intervals<T> {
    ring: [Option<Interval<T>>; WAITING],
    first: usize,
    count: usize,
    /// Standard errors from which on a slope counts.
    sure: f64,
}

impl<T: Copy> Intervals<T> {
    /// A slope counts from so many standard errors on.
    pub(super) fn new(sure: f64) -> Self {
        Self { ring: [None; WAITING], first: 0, count: 0, sure }
    }

    /// Forgets all intervals.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.sure);
    }

    /// Whether the next packet begins a new interval.
    pub(super) fn is_over(&self, now: HostInstant) -> bool {
        self.newest().is_none_or(|newest| now >= newest.until)
    }

    /// The next packet begins an interval. If too many wait, the oldest is dropped.
    pub(super) fn begin(&mut self, now: HostInstant, length: Duration, rate: Rate, purpose: T) {
        if let Some(newest) = self.newest_mut() {
            newest.closed = true;
        }
        if self.count == WAITING {
            self.pop();
        }
        let at = (self.first + self.count) % WAITING;
        self.count += 1;
        self.ring[at] = Some(Interval {
            purpose,
            rate,
            began_at: now,
            until: now + length,
            closed: false,
            sent: Bytes::ZERO,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            rtts: Line::default(),
            limited: false,
        });
    }

    /// Ends the current interval: the next packet has another rate.
    pub(super) fn cut(&mut self, now: HostInstant) {
        if let Some(newest) = self.newest_mut() {
            newest.until = newest.until.min(now);
        }
    }

    pub(super) fn handle_sent(&mut self, size: Bytes, limited: bool) {
        if let Some(newest) = self.newest_mut() {
            newest.sent += size;
            newest.limited |= limited;
        }
    }

    pub(super) fn handle_delivered(&mut self, sent_at: HostInstant, size: Bytes) {
        if let Some(interval) = self.of(sent_at) {
            interval.delivered += size;
        }
    }

    pub(super) fn handle_loss(&mut self, loss: &Loss) {
        if let Some(interval) = self.of(loss.sent.at) {
            interval.lost += loss.size;
        }
    }

    pub(super) fn handle_rtt(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && let Some(interval) = self.of(ack.sent.at)
        {
            let at = (ack.sent.at - interval.began_at).as_secs_f64();
            interval.rtts.add(at, rtt.as_secs_f64());
        }
    }

    /// The oldest interval, if all its packets are accounted for; the outcome is unknown if the
    /// application sent less than it might have.
    pub(super) fn poll(&mut self) -> Option<(T, Option<Outcome>)> {
        let oldest = self.ring[self.first].filter(Interval::is_complete)?;
        self.pop();
        let sent = oldest.sent.count();
        let outcome = (sent > 0 && !oldest.limited).then(|| Outcome {
            rate: oldest.rate,
            loss: (oldest.lost.count() as f64 / sent as f64).min(1.0),
            rtt_slope: oldest.rtt_slope(self.sure),
            rtt_deviation: oldest.rtts.deviation(),
        });
        Some((oldest.purpose, outcome))
    }

    fn pop(&mut self) {
        self.ring[self.first] = None;
        self.first = (self.first + 1) % WAITING;
        self.count -= 1;
    }

    fn newest(&self) -> Option<&Interval<T>> {
        let at = (self.first + self.count).checked_sub(1)?;
        self.ring[at % WAITING].as_ref()
    }

    fn newest_mut(&mut self) -> Option<&mut Interval<T>> {
        let at = (self.first + self.count).checked_sub(1)?;
        self.ring[at % WAITING].as_mut()
    }

    /// The interval in which a packet left.
    fn of(&mut self, sent_at: HostInstant) -> Option<&mut Interval<T>> {
        let intervals = self.ring.iter_mut().flatten();
        intervals
            .filter(|interval| interval.began_at <= sent_at)
            .max_by_key(|interval| interval.began_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_cc::Departure;

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    const SIZE: Bytes = Bytes::new(1000);
    const RATE: Rate = Rate::from_bits_per_sec(8_000_000);

    fn lose(intervals: &mut Intervals<u32>, at: u64) {
        let sent = Departure { at: millis(at), ..Departure::default() };
        let (now, in_flight) = (millis(60), Bytes::ZERO);
        intervals.handle_loss(&Loss { now, size: SIZE, in_flight, sent, begins_recovery: false });
    }

    #[test]
    fn an_interval_is_judged_when_each_of_its_packets_is_delivered_or_lost() {
        let mut intervals = Intervals::new(SURE);
        for at in 0..20 {
            if intervals.is_over(millis(at)) {
                intervals.begin(millis(at), Duration::from_millis(10), RATE, at as u32);
            }
            intervals.handle_sent(SIZE, false);
        }
        (0..9).for_each(|at| intervals.handle_delivered(millis(at), SIZE));
        assert_eq!(intervals.poll(), None);
        // Packets of the next interval do not complete this one.
        (10..20).for_each(|at| intervals.handle_delivered(millis(at), SIZE));
        assert_eq!(intervals.poll(), None);
        lose(&mut intervals, 9);
        let (purpose, outcome) = intervals.poll().unwrap();
        assert_eq!((purpose, outcome.unwrap().loss), (0, 0.1));
        // The second is still open: no packet has left after it.
        assert_eq!(intervals.poll(), None);
    }

    #[test]
    fn an_application_limited_interval_has_no_outcome() {
        let mut intervals = Intervals::new(SURE);
        intervals.begin(millis(0), Duration::from_millis(10), RATE, 0);
        intervals.handle_sent(SIZE, true);
        intervals.handle_delivered(millis(0), SIZE);
        intervals.begin(millis(10), Duration::from_millis(10), RATE, 1);
        assert_eq!(intervals.poll(), Some((0, None)));
    }

    #[test]
    fn more_intervals_than_can_wait_give_up_the_oldest() {
        let mut intervals = Intervals::new(SURE);
        for at in 0..40 {
            intervals.begin(millis(at), Duration::from_millis(1), RATE, at as u32);
            intervals.handle_sent(SIZE, false);
        }
        (0..40).for_each(|at| intervals.handle_delivered(millis(at), SIZE));
        assert_eq!(intervals.poll().map(|(purpose, _)| purpose), Some(24));
    }
}
