use core::time::Duration;

use sounding_units::{Bytes, HostInstant};

use super::{Config, VIRTUAL_RTT};

/// The least window, in segments: 3000 bytes of 1000 each (draft §4.2.2, MIN_REF_WND;
/// interpretation 5).
const LEAST: f64 = 3.0;
/// The window after a congestion mark, as a part of it (draft §4.2.2, BETA_ECN).
const BETA_ECN: f64 = 0.8;
/// The window may be this much larger than what is in flight, and a segment more (draft §4.2.2,
/// BYTES_IN_FLIGHT_HEAD_ROOM).
const HEADROOM: f64 = 1.5;
/// Rounds after congestion in which the growth by a factor comes back (draft §4.2.2,
/// POST_CONGESTION_DELAY_RTT).
const CAUTIOUS_ROUNDS: f64 = 100.0;
/// The window comes close to the last maximum at an eighth of it (draft §4.2.2.1); the least
/// factors there (draft §4.2.2.1, §4.2.2.2).
const CLOSE: f64 = 8.0;
const LEAST_CLOSE: f64 = 0.1;
const LEAST_GROWTH: f64 = 0.25;
/// The least part of the growth that is left where delays vary (draft §4.2.2.2).
const LEAST_STEADY: f64 = 0.1;
/// Where less is sent than this part of what arrives, a cut for delay is this part of itself (draft
/// §4.5.3).
const LOW_TARGET: f64 = 0.8;
const LESS_BACKOFF: f64 = 0.25;

/// What feedback shows of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback {
    pub(super) now: HostInstant,
    /// Bytes that left the network, delivered or lost, without those with a congestion mark.
    pub(super) gone: Bytes,
    /// The smoothed RTT.
    pub(super) round: Duration,
    /// How far the queue is on the way from half of the target to the target: 0 to 1.
    pub(super) excess: f64,
    /// See `QueueDelay`.
    pub(super) steadiness: f64,
    /// The target over what is delivered, both in bits per second, if that is known.
    pub(super) sent_of_delivered: Option<f64>,
}

/// The reference window (draft §4.2.2). Values are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    mss: f64,
    beta: f64,
    increase: f64,
    bytes: f64,
    /// The window at which congestion was last found after growth; `ref_wnd_i`.
    peak: f64,
    has_grown: bool,
    /// What is not yet reacted to.
    lost: bool,
    marked: bool,
    congested_at: Option<HostInstant>,
    /// Reactions: any, and those by a fixed part.
    reacted_at: Option<HostInstant>,
    cut_at: Option<HostInstant>,
    /// The most in flight in this round and in the one before.
    flight: [f64; 2],
    round_began: HostInstant,
}

impl Window {
    pub(super) fn new(now: HostInstant, mss: Bytes, config: &Config) -> Self {
        let mss = mss.count() as f64;
        Self {
            mss,
            beta: config.beta_loss,
            increase: config.increase,
            bytes: LEAST * mss,
            peak: 1.0,
            has_grown: true,
            lost: false,
            marked: false,
            congested_at: None,
            reacted_at: None,
            cut_at: None,
            flight: [0.0; 2],
            round_began: now,
        }
    }

    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// A segment as a part of the window (draft §4.1.1, `ref_wnd_ratio`).
    pub(super) fn ratio(&self) -> f64 {
        (self.mss / self.bytes).min(1.0)
    }

    pub(super) fn reacted_within(&self, span: Duration, now: HostInstant) -> bool {
        self.reacted_at.is_some_and(|at| now - at < span)
    }

    pub(super) fn handle_sent(&mut self, in_flight: Bytes) {
        self.flight[0] = self.flight[0].max(in_flight.count() as f64);
    }

    /// A packet was lost. A loss within a round of the last cut belongs to that cut (interpretation
    /// 1).
    pub(super) fn handle_loss(&mut self, now: HostInstant, round: Duration) {
        self.lost |= self.is_new(now, round);
        self.congested_at = Some(now);
    }

    /// A packet came with a congestion mark.
    pub(super) fn handle_mark(&mut self, now: HostInstant, round: Duration) {
        self.marked |= self.is_new(now, round);
        self.congested_at = Some(now);
    }

    fn is_new(&self, now: HostInstant, round: Duration) -> bool {
        self.cut_at.is_none_or(|at| now - at >= round)
    }

    pub(super) fn handle_feedback(&mut self, feedback: &Feedback) {
        let Feedback { now, round, .. } = *feedback;
        if now - self.round_began >= round {
            self.round_began = now;
            self.flight = [0.0, self.flight[0]];
        }
        let distance = self.distance();
        if !self.reacted_within(VIRTUAL_RTT.min(round), now) {
            self.react(feedback);
        }
        self.grow(feedback, distance);
    }

    /// 1 far from where congestion was last found, and 0.1 there (draft §4.2.2.1, `scl_t`).
    fn distance(&self) -> f64 {
        let part = CLOSE * (self.bytes - self.peak) / self.peak;
        (part * part).clamp(LEAST_CLOSE, 1.0)
    }

    /// Draft §4.2.2.1.
    fn react(&mut self, feedback: &Feedback) {
        let part = if self.lost {
            self.beta
        } else if self.marked {
            BETA_ECN
        } else if feedback.excess > 0.0 {
            1.0 - backoff(feedback)
        } else {
            return;
        };
        if self.has_grown {
            (self.peak, self.has_grown) = (self.bytes, false);
        }
        if self.lost || self.marked {
            self.cut_at = Some(feedback.now);
        }
        (self.lost, self.marked) = (false, false);
        (self.reacted_at, self.congested_at) = (Some(feedback.now), Some(feedback.now));
        self.bytes = (self.bytes * part).max(LEAST * self.mss);
    }

    /// Draft §4.2.2.2.
    fn grow(&mut self, feedback: &Feedback, distance: f64) {
        let &Feedback { now, gone, round, steadiness, .. } = feedback;
        let cautious = round.max(VIRTUAL_RTT).as_secs_f64() * CAUTIOUS_ROUNDS;
        let relaxed =
            self.congested_at.map_or(1.0, |at| ((now - at).as_secs_f64() / cautious).min(1.0));
        let by_factor = self.increase * self.bytes / self.mss * relaxed * distance;
        let short = (round.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).min(1.0);
        let more = gone.count() as f64
            * self.ratio()
            * short
            * distance.max(LEAST_GROWTH)
            * steadiness.max(LEAST_STEADY)
            * (1.0 + by_factor);
        let allowed = self.mss + self.flight[0].max(self.flight[1]) * HEADROOM;
        if more > 0.0 && self.bytes + more <= allowed {
            self.bytes += more;
            self.has_grown = true;
        }
    }

    /// Nothing arrives any longer: it begins anew, with what it knows of the maximum
    /// (interpretation 3).
    pub(super) fn handle_timeout(&mut self, now: HostInstant) {
        if self.has_grown {
            (self.peak, self.has_grown) = (self.bytes, false);
        }
        self.bytes = LEAST * self.mss;
        self.flight = [0.0; 2];
        (self.lost, self.marked) = (false, false);
        (self.congested_at, self.cut_at, self.reacted_at) = (Some(now), Some(now), Some(now));
    }

    /// The timeout was a mistake: as large as before it.
    pub(super) fn restore(&mut self, bytes: f64) {
        self.bytes = self.bytes.max(bytes);
        self.lost = false;
    }
}

/// The part of the window that a queue takes (draft §4.2.2.1: less where rounds are long, for it
/// may come every 25 ms; §4.5.3).
fn backoff(feedback: &Feedback) -> f64 {
    let rounds = feedback.round.as_secs_f64() / VIRTUAL_RTT.as_secs_f64();
    let is_low = feedback.sent_of_delivered.is_some_and(|part| part < LOW_TARGET);
    let less = if is_low { LESS_BACKOFF } else { 1.0 };
    feedback.excess / 2.0 / rounds.max(1.0) * less
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1000);
    const ROUND: Duration = Duration::from_millis(50);

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn feedback(ms: u64, gone: u64) -> Feedback {
        Feedback {
            now: at(ms),
            gone: Bytes::new(gone),
            round: ROUND,
            excess: 0.0,
            steadiness: 1.0,
            sent_of_delivered: None,
        }
    }

    /// A window of some segments, which are in flight.
    fn window(segments: f64) -> Window {
        let mut window = Window::new(at(0), MSS, &Config::default());
        window.bytes = segments * 1000.0;
        window.handle_sent(Bytes::new((segments * 1000.0) as u64));
        window
    }

    /// Rounds of a window that is used in full, each in ten acknowledgements.
    fn rounds(window: &mut Window, from: u64, count: u64) {
        for tenth in 0..10 * count {
            window.handle_sent(Bytes::new(window.bytes as u64));
            window.handle_feedback(&feedback(from + 5 * (tenth + 1), (window.bytes / 10.0) as u64));
        }
    }

    #[test]
    fn a_loss_leaves_seven_tenths_once_a_round() {
        let mut window = window(100.0);
        for ms in [0, 10, 20, 30, 40] {
            window.handle_loss(at(ms), ROUND);
            window.handle_feedback(&feedback(ms, 0));
        }
        assert!((window.bytes - 70_000.0).abs() < 1e-6);
        window.handle_loss(at(50), ROUND);
        window.handle_feedback(&feedback(50, 0));
        assert!((window.bytes - 49_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_mark_leaves_eight_tenths_and_a_loss_goes_before_it() {
        let mut marked = window(100.0);
        marked.handle_mark(at(0), ROUND);
        marked.handle_feedback(&feedback(0, 0));
        assert!((marked.bytes - 80_000.0).abs() < 1e-6);
        let mut both = window(100.0);
        both.handle_mark(at(0), ROUND);
        both.handle_loss(at(0), ROUND);
        both.handle_feedback(&feedback(0, 0));
        both.handle_feedback(&feedback(200, 0));
        assert!((both.bytes - 70_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_full_queue_takes_half_in_a_round_however_long_that_is() {
        // Two reactions in a round of 50 ms, a quarter each.
        let mut window = window(100.0);
        for ms in [0, 10, 25, 40] {
            window.handle_feedback(&Feedback { excess: 1.0, ..feedback(ms, 0) });
        }
        assert!((window.bytes - 56_250.0).abs() < 1e-6, "{}", window.bytes);
    }

    #[test]
    fn a_queue_takes_less_where_less_is_sent_than_arrives() {
        let after = |part| {
            let mut window = window(100.0);
            let sent_of_delivered = Some(part);
            let full = Feedback { excess: 1.0, sent_of_delivered, ..feedback(0, 0) };
            window.handle_feedback(&full);
            window.bytes
        };
        assert!((after(0.9) - 75_000.0).abs() < 1e-6);
        assert!((after(0.7) - 93_750.0).abs() < 1e-6);
    }

    #[test]
    fn growth_is_a_segment_a_round_after_congestion_and_two_per_cent_more_long_after() {
        let grown = |congested: bool| {
            let mut window = window(100.0);
            window.congested_at = congested.then_some(at(0));
            rounds(&mut window, 0, 1);
            window.bytes - 100_000.0
        };
        assert!((grown(true) - 1000.0).abs() < 50.0, "{}", grown(true));
        assert!((grown(false) - 3000.0).abs() < 100.0, "{}", grown(false));
    }

    #[test]
    fn growth_is_least_where_congestion_was_found_before() {
        let mut window = window(100.0);
        window.peak = 100_000.0;
        rounds(&mut window, 0, 1);
        // A quarter of a segment, and of two more a tenth of that.
        assert!((window.bytes - 100_000.0 - 300.0).abs() < 30.0, "{}", window.bytes);
    }

    #[test]
    fn growth_ends_where_the_window_is_not_used() {
        let mut window = window(10.0);
        for ms in (0..100_000).step_by(10) {
            window.handle_sent(Bytes::new(10_000));
            window.handle_feedback(&feedback(ms, 10_000));
        }
        assert!(window.bytes <= 16_000.0, "{}", window.bytes);
    }

    #[test]
    fn growth_in_rounds_below_the_virtual_rtt_is_less_by_as_much() {
        let grown = |round| {
            let mut window = window(100.0);
            window.handle_feedback(&Feedback { round, ..feedback(1, 1000) });
            window.bytes - 100_000.0
        };
        let (short, long) = (grown(Duration::from_millis(5)), grown(ROUND));
        assert!((short * 5.0 - long).abs() < 1e-6, "{short} {long}");
    }

    #[test]
    fn a_timeout_leaves_three_segments_from_which_it_comes_back() {
        let mut window = window(100.0);
        window.handle_timeout(at(0));
        assert!((window.bytes - 3000.0).abs() < 1e-6);
        rounds(&mut window, 0, 100);
        assert!(window.bytes > 90_000.0, "{}", window.bytes);
    }
}
