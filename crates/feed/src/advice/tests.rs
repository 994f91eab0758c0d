use super::*;

const fn kbit(kbit: u64) -> Rate {
    Rate::from_bits_per_sec(kbit * 1_000)
}

fn shows(rate: Rate, bound: Bound) -> LinkEstimate {
    LinkEstimate::new(Direction::Uplink, rate, bound).with_backlog(Some(Bytes::ZERO))
}

/// An adviser and its time; an estimate comes every 10 ms.
struct Link {
    adviser: Adviser,
    now: HostInstant,
}

impl Link {
    fn new() -> Self {
        Self { adviser: Adviser::new(Direction::Uplink), now: HostInstant::default() }
    }

    fn pass(&mut self, estimate: &LinkEstimate) -> Advice {
        self.now = self.now + Duration::from_millis(10);
        self.adviser.handle_estimate(self.now, estimate);
        self.adviser.advice().expect("an advice")
    }

    /// A sender that takes all that it is advised, over a link of this rate.
    fn follow(&mut self, count: usize, capacity: Rate) -> Advice {
        (0..count).fold(Advice { rate: FIRST, cause: Cause::Idle }, |advice, _| {
            let takes = self.adviser.advice().unwrap_or(advice).rate;
            if takes < capacity {
                self.pass(&shows(takes, Bound::Floor))
            } else {
                self.pass(&shows(capacity, Bound::Capacity))
            }
        })
    }
}

#[test]
fn a_sender_that_follows_climbs_to_the_capacity_and_stays_near_it() {
    let mut link = Link::new();
    let rates: Vec<Rate> = (0..300).map(|_| link.follow(1, kbit(12_000)).rate).collect();
    let risen = rates.iter().position(|rate| *rate >= kbit(10_800)).expect("it rises");
    assert!(risen < 100, "{risen}0 ms");
    let least = rates[risen..].iter().min();
    assert!(least >= Some(&kbit(10_800)), "{least:?}");
    // At most what it takes until an estimate shows the capacity.
    assert!(rates.iter().max() <= Some(&kbit(13_200)), "{:?}", rates.iter().max());
}

#[test]
fn a_sender_that_takes_little_is_advised_twice_of_it_at_most() {
    let mut link = Link::new();
    for _ in 0..500 {
        let advice = link.pass(&shows(kbit(3_000), Bound::Floor));
        assert!(advice.rate <= kbit(6_000), "{advice:?}");
    }
    assert_eq!(link.adviser.advice().map(|advice| advice.cause), Some(Cause::Unused));
}

#[test]
fn a_slow_sender_climbs_through_the_gaps_between_its_packets() {
    let mut link = Link::new();
    // Grants of 1 Mbit/s in the mean, seen in half of the spans.
    for at in 0..40 {
        link.pass(&shows(if at % 10 < 5 { kbit(2_000) } else { Rate::ZERO }, Bound::Floor));
    }
    let advice = link.adviser.advice().expect("an advice");
    assert!(advice.rate > kbit(1_500), "{advice:?}");
}

#[test]
fn what_waits_lowers_the_advice_until_it_left() {
    let mut link = Link::new();
    link.follow(200, kbit(10_000));
    let full = shows(kbit(5_000), Bound::Capacity).with_backlog(Some(Bytes::new(100_000)));
    let advice = link.pass(&full);
    assert_eq!(advice.cause, Cause::Draining);
    assert!(advice.rate < kbit(2_000), "{advice:?}");
    let advice = link.pass(&shows(kbit(5_000), Bound::Capacity));
    assert_eq!((advice.rate, advice.cause), (kbit(5_000), Cause::Capacity));
}

#[test]
fn silence_gives_the_least_a_handover_holds_and_a_lost_modem_takes_it_away() {
    let mut link = Link::new();
    let before = link.follow(200, kbit(10_000)).rate;
    let moves = shows(kbit(10_000), Bound::Floor).with_state(State::Handover);
    assert_eq!(link.pass(&moves), Advice { rate: before, cause: Cause::Handover });
    let silent = shows(Rate::ZERO, Bound::Floor).with_state(State::Silent);
    assert_eq!(link.pass(&silent), Advice { rate: LEAST, cause: Cause::Silence });
    let back = link.follow(200, kbit(10_000));
    assert!(back.rate >= kbit(9_000), "{back:?}");
    link.adviser.handle_estimate(link.now, &silent.with_state(State::Stale));
    assert_eq!(link.adviser.advice(), None);
    link.adviser.handle_disconnect();
    assert_eq!(link.adviser.advice(), None);
}

#[test]
fn an_idle_link_keeps_its_advice_for_ten_seconds() {
    let mut link = Link::new();
    let before = link.follow(200, kbit(10_000)).rate;
    let idle = shows(Rate::ZERO, Bound::Floor).with_state(State::Idle);
    for _ in 0..999 {
        assert_eq!(link.pass(&idle).rate, before);
    }
    for _ in 0..3 {
        link.pass(&idle);
    }
    assert_eq!(link.pass(&idle), Advice { rate: FIRST, cause: Cause::Idle });
}
