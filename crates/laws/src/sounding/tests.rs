use core::time::Duration;

use sounding_cc::sharing::{Claim, Part, Pool, WEIGHT};
use sounding_units::{Bytes, HostInstant, Rate};

use super::{Bound, Law, State};
use crate::radio_law::{Ack, FeedUpdate, Report};

const RTT: Duration = Duration::from_millis(40);
const MSS: Bytes = Bytes::new(1448);
const HEADERS: Bytes = Bytes::new(52);
const SHADOW: Bytes = Bytes::new(60_000);

/// A flow whose rounds are of four acknowledgements each.
struct Drive {
    law: Law,
    now: HostInstant,
    delivered: u64,
    part: Part,
    rtt: Duration,
}

impl Drive {
    fn new() -> Self {
        let now = HostInstant::from_nanos(1_000_000_000);
        let law = Law::new(now, MSS, HEADERS, Some(RTT), 0);
        Self { law, now, delivered: 0, part: Part::default(), rtt: RTT }
    }

    /// With one other flow that claims all it can get.
    fn shared() -> Self {
        let mut pool = Pool::default();
        (0..2).for_each(|_| pool.add(Claim::Hungry, WEIGHT));
        Self { part: pool.part(WEIGHT), ..Self::new() }
    }

    fn told(&mut self, mbit: u64, bound: Bound) {
        let rate = Rate::from_bits_per_sec(mbit * 1_000_000);
        let word = Report { rate, bound, fair: None, sampled_at: self.now };
        self.law.handle_feed(self.now, FeedUpdate::Carries(word), self.part, SHADOW);
    }

    /// A round in which this much arrives, and of ten segments this many are lost.
    fn round(&mut self, mbit: u64, lost: u64) {
        for _ in 0..4 {
            self.now = self.now + self.rtt / 4;
            let prior_delivered = self.delivered;
            self.delivered += 10;
            let ack = Ack {
                now: self.now,
                rtt: Some(self.rtt),
                rate: Some(Rate::from_bits_per_sec(mbit * 1_000_000)),
                acked: Bytes::new((10 - lost) * MSS.count()),
                lost: Bytes::new(lost * MSS.count()),
                in_flight: self.law.cwnd(),
                delivered: Bytes::new(self.delivered),
                // The last of four acknowledgements delivers data that left after the first.
                prior_delivered: Bytes::new(if prior_delivered % 40 == 30 {
                    prior_delivered
                } else {
                    0
                }),
                is_recovering: lost > 0,
                ..Ack::default()
            };
            self.law.handle_ack(&ack);
        }
    }
}

/// Two segments of the same round every 5 ms, 4.6 Mbit/s, each pair later by `later` than the
/// previous one, until the queue test. Returns the number of pairs.
fn until_asked(drive: &mut Drive, later: Duration, bound: Bound) -> Option<u32> {
    (0..40).find(|_| {
        drive.told(20, bound);
        drive.now = drive.now + Duration::from_millis(5);
        drive.rtt += later;
        drive.delivered += 2;
        drive.law.handle_ack(&Ack {
            now: drive.now,
            rtt: Some(drive.rtt),
            rate: Some(Rate::from_bits_per_sec(20_000_000)),
            acked: Bytes::new(2 * MSS.count()),
            in_flight: drive.law.cwnd(),
            delivered: Bytes::new(drive.delivered),
            ..Ack::default()
        });
        matches!(drive.law.state(), State::QueueTest { .. })
    })
}

#[test]
fn a_queue_that_grows_elsewhere_is_asked_about_before_its_round_is_over() {
    let begun = || {
        let mut drive = Drive::new();
        drive.told(20, Bound::Capacity);
        drive.round(20, 0);
        drive
    };
    let mut drive = begun();
    let asked = until_asked(&mut drive, Duration::from_millis(4), Bound::Floor).unwrap();
    assert!(asked < 16, "{asked}");
    // Three quarters of the flight at the present delivery rate, not at that of the last whole
    // round.
    let under_way = 2 * MSS.count() * 200 * drive.rtt.as_millis() as u64 / 1000;
    let cwnd = drive.law.cwnd().count();
    assert!((under_way * 6 / 10..under_way * 3 / 4).contains(&cwnd), "{cwnd} of {under_way}");

    assert_eq!(until_asked(&mut begun(), Duration::from_millis(4), Bound::Capacity), None);
    assert_eq!(until_asked(&mut begun(), Duration::from_millis(1), Bound::Floor), None);
}

#[test]
fn an_estimate_a_hundred_times_too_high_is_left_after_the_round_of_losses() {
    let mut drive = Drive::new();
    drive.told(1_200, Bound::Capacity);
    assert_eq!(drive.law.state(), State::RadioLimited);
    drive.round(12, 8);
    assert_eq!(drive.law.state(), State::EstimateTooHigh);
    assert!(!drive.law.law_controls());
    for _ in 0..50 {
        drive.told(1_200, Bound::Capacity);
        drive.round(12, 0);
        assert_eq!(drive.law.state(), State::EstimateTooHigh);
    }
    drive.told(12, Bound::Capacity);
    assert_eq!(drive.law.state(), State::RadioLimited);
    assert!(drive.law.cwnd() < Bytes::new(100_000), "{:?}", drive.law.cwnd());
}

#[test]
fn a_misled_flow_probes_anew_from_a_true_floor() {
    let mut drive = Drive::new();
    drive.told(1_200, Bound::Capacity);
    drive.round(12, 8);
    drive.told(12, Bound::Floor);
    assert!(matches!(drive.law.state(), State::Probing { .. }), "{:?}", drive.law.state());
    assert!(drive.law.cwnd() < Bytes::new(200_000), "{:?}", drive.law.cwnd());
}

#[test]
fn what_a_rival_makes_the_queue_lose_says_nothing_of_the_estimate() {
    let mut drive = Drive::shared();
    drive.told(12, Bound::Capacity);
    drive.rtt = RTT * 5;
    for round in 0..100 {
        // The queue fills for two seconds, and overflows from then on: longer than an unconfirmed
        // minimum RTT is kept.
        drive.round(2, if round < 10 { 0 } else { 4 });
        drive.told(12, Bound::Capacity);
        assert_eq!(drive.law.state(), State::RadioLimited, "round {round}");
    }
}

#[test]
fn a_misled_flow_beside_another_stays_so_unless_the_queue_keeps_standing() {
    for (queue, expected) in [(RTT, State::EstimateTooHigh), (RTT * 4, State::RadioLimited)] {
        let mut drive = Drive::shared();
        drive.told(120, Bound::Capacity);
        drive.round(6, 8);
        assert_eq!(drive.law.state(), State::EstimateTooHigh);
        drive.rtt = RTT + queue;
        for _ in 0..20 {
            drive.told(120, Bound::Capacity);
            drive.round(6, 0);
        }
        assert_eq!(drive.law.state(), expected, "{queue:?}");
    }
}

#[test]
fn loss_is_ignored_while_the_estimated_rate_arrives() {
    let mut drive = Drive::new();
    for _ in 0..20 {
        drive.told(12, Bound::Capacity);
        drive.round(11, 5);
        assert_eq!(drive.law.state(), State::RadioLimited);
    }
}

#[test]
fn little_is_lost_of_a_round_that_goes_on_being_believed() {
    let mut drive = Drive::new();
    for _ in 0..20 {
        drive.told(30, Bound::Capacity);
        drive.round(12, 1);
        assert_eq!(drive.law.state(), State::RadioLimited);
    }
}

#[test]
fn a_handover_keeps_the_window_and_a_silence_gives_it_up() {
    let mut drive = Drive::new();
    drive.told(12, Bound::Capacity);
    let before = drive.law.cwnd();
    drive.law.handle_feed(drive.now, FeedUpdate::Handover, Part::default(), SHADOW);
    assert_eq!((drive.law.state(), drive.law.cwnd()), (State::Handover, before));
    drive.law.handle_feed(drive.now, FeedUpdate::Nothing, Part::default(), SHADOW);
    assert_eq!(drive.law.state(), State::NoEstimate);
}

#[test]
fn a_link_that_changes_is_followed_at_its_rate_and_not_by_a_burst_or_a_pause() {
    let mut drive = Drive::new();
    let settled = |drive: &mut Drive, mbit| {
        for _ in 0..100 {
            drive.told(mbit, Bound::Capacity);
            drive.round(mbit, 0);
        }
        drive.law.cwnd().count()
    };
    let next = |drive: &mut Drive, mbit| {
        drive.now = drive.now + RTT / 4;
        drive.told(mbit, Bound::Capacity);
        drive.law.cwnd().count()
    };
    for (before, after) in [(20, 40), (40, 20)] {
        let from = settled(&mut drive, before);
        drive.told(before, Bound::Capacity);
        let way = [(); 4].map(|()| next(&mut drive, after));
        let to = settled(&mut drive, after);
        let moved = way.map(|cwnd| cwnd.abs_diff(from) * 100 / to.abs_diff(from));
        assert!(moved.is_sorted(), "{from} {way:?} {to}");
        // A link that varies has more room than one that has settled, so the way down is not over
        // yet.
        assert!(moved[0] < 60 && moved[3] > 50, "{from} {way:?} {to}");
    }
}

/// A link of 12 Mbit/s that is full for this many seconds, on a path of this length. Returns the
/// RTT without queue that is assumed.
fn filled(drive: &mut Drive, path: Duration, seconds: u64) -> Duration {
    let until = drive.now + Duration::from_secs(seconds);
    while drive.now < until {
        drive.told(12, Bound::Capacity);
        let under_way = drive.law.cwnd().count() * (MSS + HEADERS).count() / MSS.count();
        drive.rtt = path.max(Duration::from_micros(under_way * 8 / 12));
        drive.round(12, 0);
    }
    drive.law.rtt_min().unwrap()
}

#[test]
fn a_queue_of_ones_own_is_not_taken_for_the_path_however_long_it_stands() {
    let mut drive = Drive::new();
    drive.told(12, Bound::Capacity);
    drive.round(12, 0);
    assert_eq!(filled(&mut drive, RTT, 300), RTT);
    // The window does not explain the RTT of a path that became longer.
    let longer = RTT + Duration::from_millis(30);
    assert_eq!(filled(&mut drive, longer, 11), longer);
}
