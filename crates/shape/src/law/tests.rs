use core::time::Duration;

use sounding_estimate::{Bound, Direction, LinkEstimate, Radio, State};
use sounding_units::{Bytes, HostInstant, Rate};

use super::*;

const fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

/// A law, its time, and a shaper that has sent so many bytes.
struct Link {
    law: ShaperLaw,
    now: HostInstant,
    sent: u64,
}

impl Link {
    fn new() -> Self {
        let limits = Limits::new(mbit(1), mbit(10), mbit(60)).expect("in order");
        Self {
            law: ShaperLaw::new(Direction::Uplink, limits),
            now: HostInstant::default(),
            sent: 0,
        }
    }

    /// So many estimates like this one, with so many packets in the shaper.
    fn pass(&mut self, count: usize, packets: u64, estimate: LinkEstimate) -> Decision {
        for _ in 0..count {
            self.now = self.now + Duration::from_millis(10);
            self.sent += 10_000;
            let (waiting, sent) = (Bytes::new(packets * 1_500), Bytes::new(self.sent));
            self.law.handle_queue(self.now, Queue { packets, waiting, sent });
            self.law.handle_estimate(self.now, &estimate);
        }
        self.law.decision()
    }
}

fn shows(rate: Rate, bound: Bound) -> LinkEstimate {
    LinkEstimate::new(Direction::Uplink, rate, bound)
}

#[test]
fn a_floor_is_never_followed_down() {
    let mut link = Link::new();
    let decision = link.pass(500, 0, shows(mbit(2), Bound::Floor));
    assert_eq!((decision.rate, decision.reason), (mbit(10), Reason::Demand));
}

#[test]
fn data_that_waits_here_while_the_radio_takes_all_raises_the_rate_to_the_limit() {
    let mut link = Link::new();
    let decision = link.pass(20, 9, shows(mbit(8), Bound::Floor));
    assert_eq!((decision.rate, decision.reason), (mbit(60), Reason::Probing));
    let full = shows(mbit(8), Bound::Floor).with_backlog(Some(Bytes::new(500_000)));
    assert_eq!(link.pass(1, 9, full).reason, Reason::Backlog);
}

#[test]
fn a_single_capacity_in_a_lull_lowers_nothing_and_a_second_one_a_part() {
    let mut link = Link::new();
    let low = shows(mbit(2), Bound::Capacity);
    assert_eq!(link.pass(1, 0, low).rate, mbit(10));
    assert_eq!(link.pass(1, 0, low).rate, mbit(7));
    assert_eq!(link.pass(50, 9, low).rate, mbit(2));
}

#[test]
fn a_backlog_above_the_aim_is_drained_and_one_below_filled() {
    let rate = |backlog| {
        let shown = shows(mbit(20), Bound::Capacity).with_backlog(Some(Bytes::new(backlog)));
        Link::new().pass(40, 9, shown).rate
    };
    // The aim is 45 ms of 20 Mbit/s, which is 112.5 kB.
    assert_eq!(rate(112_500), mbit(20));
    assert!(rate(150_000) < mbit(20) && rate(75_000) > mbit(20));
}

#[test]
fn over_nr_less_is_to_wait_in_the_modem() {
    let rate = |radio| {
        let shown = shows(mbit(20), Bound::Capacity).with_backlog(Some(Bytes::new(75_000)));
        Link::new().pass(40, 9, shown.with_radio(radio)).rate
    };
    // 30 ms of 20 Mbit/s: more than NR's aim, and less than LTE's.
    assert!(rate(Some(Radio::Nr)) < mbit(20));
    assert!(rate(Some(Radio::Lte)) > mbit(20));
    assert_eq!(rate(None), rate(Some(Radio::Lte)));
}

#[test]
fn a_silence_gives_back_what_falling_estimates_took() {
    let mut link = Link::new();
    assert_eq!(link.pass(50, 9, shows(mbit(30), Bound::Capacity)).rate, mbit(30));
    for falls in [20, 12, 6, 2] {
        link.pass(1, 9, shows(mbit(falls), Bound::Capacity));
    }
    let silent = link.pass(1, 9, shows(Rate::ZERO, Bound::Capacity));
    assert_eq!((silent.rate, silent.reason), (mbit(30), Reason::Silence));
    let silent = shows(Rate::ZERO, Bound::Capacity).with_state(State::Silent);
    assert_eq!(link.pass(100, 9, silent).rate, mbit(30));
}

#[test]
fn a_handover_ends_at_the_base_at_most_and_idleness_after_ten_seconds() {
    let mut link = Link::new();
    link.pass(50, 9, shows(mbit(30), Bound::Capacity));
    let moves = shows(mbit(30), Bound::Floor).with_state(State::Handover);
    assert_eq!(link.pass(5, 9, moves).rate, mbit(30));
    assert_eq!(link.pass(1, 0, shows(mbit(5), Bound::Floor)).rate, mbit(10));
    let mut link = Link::new();
    link.pass(50, 9, shows(mbit(30), Bound::Capacity));
    let idle = shows(Rate::ZERO, Bound::Floor).with_state(State::Idle);
    assert_eq!(link.pass(1_000, 0, idle).rate, mbit(30));
    assert_eq!(link.pass(1, 0, idle).rate, mbit(10));
}

#[test]
fn without_the_modem_the_rate_is_the_base_and_never_the_least() {
    let mut link = Link::new();
    link.pass(50, 9, shows(mbit(3), Bound::Capacity));
    let stale = shows(mbit(3), Bound::Capacity).with_state(State::Stale);
    let decision = link.pass(1, 9, stale);
    assert_eq!((decision.rate, decision.reason), (mbit(10), Reason::Base));
    link.pass(50, 9, shows(mbit(3), Bound::Capacity));
    link.law.handle_disconnect();
    assert_eq!(link.law.poll().map(|decision| decision.rate), Some(mbit(10)));
    assert_eq!(link.law.poll(), None);
}
