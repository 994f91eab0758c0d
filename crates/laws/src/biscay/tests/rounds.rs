//! Whole rounds, one acknowledgement each: the law on a path that looks narrow.

use super::super::*;
use super::{Ack, bytes};

const RTT: u64 = 50;
/// Share of the radio, Mbit/s.
const SHARE: u64 = 40;
/// The window for it: 40 Mbit/s × 60 ms and three bursts of three segments.
const WINDOW: u32 = 209;

/// A round of this many milliseconds.
#[derive(Clone, Copy)]
struct Trip {
    rtt: u64,
    inflight: u32,
    lost: u32,
    e2e: u64,
    limited: bool,
}

/// A round over a wire of 10 Mbit/s: the window is full, and its RTT is four times the expected
/// one.
const NARROW: Trip = Trip { rtt: 250, inflight: WINDOW, lost: 0, e2e: SHARE, limited: false };

struct Rounds {
    flow: Biscay,
    now: HostInstant,
    delivered: u32,
}

impl Rounds {
    fn new() -> Self {
        let now = HostInstant::from_nanos(1_000_000_000);
        let mut rounds = Self { flow: Biscay::new(super::plain(), now, 0), now, delivered: 0 };
        let easy = Trip { rtt: RTT, inflight: 160, lost: 0, e2e: SHARE, limited: false };
        let command = rounds.go(easy);
        assert_eq!(command.cwnd, WINDOW);
        rounds.go(easy);
        rounds
    }

    fn go(&mut self, trip: Trip) -> Command {
        self.now = self.now + Duration::from_millis(trip.rtt);
        let prior_delivered = self.delivered;
        self.delivered += trip.inflight;
        let feed = Snapshot {
            estimate: Some(FeedEstimate {
                rate: Rate::from_bits_per_sec(SHARE * 1_000_000),
                sampled_at: self.now,
                bound: Bound::Capacity,
                other_flows: 0,
            }),
            agreeing: 2,
            heartbeat_at: self.now,
        };
        let path = PathSample {
            rtt_min: Some(Duration::from_millis(RTT)),
            mss: 1448,
            e2e: Rate::from_bits_per_sec(trip.e2e * 1_000_000),
            flows: 1,
            link: None,
            shadow_cwnd: 77,
            shadow_pacing: Rate::from_bits_per_sec(8_000_000),
        };
        let ack = Ack {
            rtt: Some(Duration::from_millis(trip.rtt)),
            delivered: bytes(self.delivered),
            prior_delivered: bytes(prior_delivered),
            acked: bytes(trip.inflight),
            lost: bytes(trip.lost),
            in_flight: bytes(trip.inflight),
            is_limited: trip.limited,
            ..Ack::default()
        };
        self.flow.handle_ack(self.now, &feed, &path, Timeout::None, &ack)
    }

    fn suspicion(&self) -> Option<Narrow> {
        match self.flow.state() {
            State::RadioLimited { narrow, .. } => narrow,
            other => panic!("{other:?}"),
        }
    }

    /// Runs rounds until the law lowers the window.
    fn asked() -> Self {
        let mut rounds = Self::new();
        for _ in 0..3 {
            rounds.go(NARROW);
        }
        assert!(rounds.suspicion().unwrap().asked.is_some());
        rounds
    }

    /// Runs rounds until the law finds the wire narrow.
    fn narrow() -> Self {
        let mut rounds = Self::asked();
        rounds.go(NARROW);
        rounds.go(Trip { rtt: 190, inflight: WINDOW * 3 / 4, ..NARROW });
        assert_eq!(rounds.flow.state(), State::BottleneckElsewhere { wide_rounds: 0 });
        rounds
    }
}

#[test]
fn three_full_rounds_that_come_back_late_lower_the_window_to_three_quarters() {
    let mut rounds = Rounds::new();
    let windows = [NARROW; 3].map(|trip| rounds.go(trip).cwnd);
    assert_eq!(windows, [WINDOW, WINDOW, WINDOW * 3 / 4]);
}

#[test]
fn three_rounds_within_400_ms_are_too_few() {
    let mut rounds = Rounds::new();
    let short = Trip { rtt: 100, e2e: SHARE / 2, ..NARROW };
    let windows = [short; 6].map(|trip| rounds.go(trip).cwnd);
    let lowered = WINDOW * 3 / 4;
    assert_eq!(windows, [WINDOW, WINDOW, WINDOW, WINDOW, lowered, lowered]);
}

#[test]
fn two_rounds_are_too_few_however_long() {
    let mut rounds = Rounds::new();
    let long = Trip { rtt: 1_000, ..NARROW };
    let windows = [long; 3].map(|trip| rounds.go(trip).cwnd);
    assert_eq!(windows, [WINDOW, WINDOW, WINDOW * 3 / 4]);
}

#[test]
fn a_flight_that_leaves_room_in_the_window_is_no_evidence() {
    let mut rounds = Rounds::new();
    let roomy = Trip { inflight: WINDOW * 8 / 10, e2e: SHARE / 4, ..NARROW };
    rounds.go(roomy);
    assert_eq!(rounds.suspicion(), None);
}

#[test]
fn a_round_that_the_application_limited_is_no_evidence() {
    let mut rounds = Rounds::new();
    rounds.go(Trip { limited: true, ..NARROW });
    assert_eq!(rounds.suspicion(), None);
}

#[test]
fn a_round_in_between_that_is_no_evidence_begins_the_count_again() {
    let mut rounds = Rounds::new();
    rounds.go(NARROW);
    rounds.go(NARROW);
    rounds.go(Trip { rtt: RTT, ..NARROW });
    assert_eq!(rounds.suspicion(), None);
}

#[test]
fn a_tenth_lost_is_evidence_that_needs_no_lower_window() {
    let mut rounds = Rounds::new();
    let policed = Trip { rtt: 150, inflight: 150, lost: 40, e2e: SHARE / 2, limited: false };
    for _ in 0..3 {
        rounds.go(policed);
    }
    rounds.go(policed);
    assert_eq!(rounds.flow.state(), State::BottleneckElsewhere { wide_rounds: 0 });
}

#[test]
fn an_application_that_pauses_meanwhile_leaves_the_question_unanswered() {
    let mut rounds = Rounds::asked();
    rounds.go(NARROW);
    let command = rounds.go(Trip { rtt: 190, limited: true, ..NARROW });
    assert_eq!(rounds.suspicion(), None);
    assert_eq!(command.cwnd, WINDOW);
}

#[test]
fn an_rtt_that_falls_with_the_window_was_a_queue() {
    let mut rounds = Rounds::asked();
    rounds.go(NARROW);
    let command = rounds.go(Trip { rtt: 190, inflight: WINDOW * 3 / 4, ..NARROW });
    assert_eq!(rounds.flow.state(), State::BottleneckElsewhere { wide_rounds: 0 });
    assert_eq!(command.cwnd, 77);
    // 156 segments in 190 ms.
    assert_eq!(command.cut, Some(Rate::from_bytes_per_sec(156 * 1448 * 1_000_000 / 190_000)));
}

#[test]
fn an_rtt_that_stays_was_a_longer_path_and_is_believed_for_ten_seconds() {
    let mut rounds = Rounds::asked();
    rounds.go(NARROW);
    let command = rounds.go(Trip { rtt: 240, inflight: WINDOW * 3 / 4, ..NARROW });
    assert_eq!(command.longer, Some(Duration::from_millis(240)));
    // 40 Mbit/s × 250 ms and three bursts of three segments.
    assert_eq!(command.cwnd, 834 + 9);
    let full = Trip { rtt: 240, inflight: 800, ..NARROW };
    for _ in 0..41 {
        assert!(rounds.go(full).longer.is_some());
    }
    assert_eq!(rounds.go(full).longer, None);
}

#[test]
fn a_shorter_rtt_shortens_the_longer_path() {
    let mut rounds = Rounds::asked();
    rounds.go(NARROW);
    rounds.go(Trip { rtt: 240, inflight: WINDOW * 3 / 4, ..NARROW });
    let command = rounds.go(Trip { rtt: 90, inflight: 300, ..NARROW });
    assert_eq!(command.longer, Some(Duration::from_millis(90)));
}

#[test]
fn four_rounds_of_the_share_make_the_path_wide_again() {
    let mut rounds = Rounds::narrow();
    let wide = Trip { rtt: RTT, inflight: 180, ..NARROW };
    for wide_rounds in 1..4 {
        rounds.go(wide);
        assert_eq!(rounds.flow.state(), State::BottleneckElsewhere { wide_rounds });
    }
    rounds.go(wide);
    assert!(matches!(rounds.flow.state(), State::RadioLimited { after: Cleared::Wide, .. }));
}

#[test]
fn a_round_below_the_share_restarts_the_count_unless_the_application_limited_it() {
    let mut rounds = Rounds::narrow();
    let wide = Trip { rtt: RTT, inflight: 180, ..NARROW };
    let low = Trip { e2e: SHARE / 2, ..wide };
    rounds.go(wide);
    rounds.go(Trip { limited: true, ..low });
    assert_eq!(rounds.flow.state(), State::BottleneckElsewhere { wide_rounds: 1 });
    rounds.go(low);
    assert_eq!(rounds.flow.state(), State::BottleneckElsewhere { wide_rounds: 0 });
}
