use sounding_units::Bytes;

use super::*;
use crate::fixtures;

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

fn estimate(mbit: u64) -> LinkEstimate {
    fixtures::estimate(Rate::from_bits_per_sec(mbit * 1_000_000))
        .with_age(Duration::from_millis(20))
        .with_backlog(Some(Bytes::new(1)))
}

/// Keeps its inputs.
#[derive(Debug, Default)]
struct Told {
    estimates: Vec<(LinkEstimate, u32)>,
    part: Part,
}

impl Controller for Told {
    fn handle_ack(&mut self, _: &sounding_cc::Ack) {}
    fn handle_loss(&mut self, _: &sounding_cc::Loss) {}
    fn handle_timeout(&mut self, _: HostInstant) {}
    fn handle_estimate(&mut self, _: HostInstant, estimate: &LinkEstimate, flows: u32) {
        self.estimates.push((*estimate, flows));
    }
    fn handle_part(&mut self, _: HostInstant, part: Part) {
        self.part = part;
    }
    fn cwnd(&self) -> Bytes {
        Bytes::ZERO
    }
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn state(&self) -> &'static str {
        "told"
    }
}

#[test]
fn an_estimate_gets_older_and_is_stale_past_its_validity() {
    let handle = EstimateHandle::new();
    assert_eq!(handle.estimate(at(0)), None);
    handle.set(estimate(10), at(100));
    let fresh = handle.estimate(at(280)).unwrap();
    assert_eq!((fresh.age, fresh.is_usable()), (Duration::from_millis(200), true));
    let old = handle.estimate(at(281)).unwrap();
    assert_eq!((old.state, old.is_usable()), (State::Stale, false));
    handle.set(estimate(10), at(281));
    assert!(handle.estimate(at(281)).unwrap().is_usable());
}

#[test]
fn what_is_withdrawn_or_was_stamped_by_another_clock_is_stale_at_once() {
    let handle = EstimateHandle::new();
    handle.withdraw();
    handle.set(estimate(10), at(0));
    handle.withdraw();
    assert!(!handle.estimate(at(0)).unwrap().is_usable());
    handle.set(estimate(10), at(5000));
    assert!(!handle.estimate(at(10)).unwrap().is_usable());
}

#[test]
fn a_listener_hears_what_is_new_at_once_and_what_is_old_every_few_milliseconds() {
    let handle = EstimateHandle::new();
    let mut reader = HandleReader::new(&handle, at(0));
    let mut told = Told::default();
    reader.read(at(1), Claim::Hungry, None, &mut told);
    assert!(told.estimates.is_empty());
    handle.set(estimate(10), at(2));
    reader.read(at(2), Claim::Hungry, None, &mut told);
    reader.read(at(3), Claim::Hungry, None, &mut told);
    assert_eq!(told.estimates.len(), 1);
    reader.read(at(7), Claim::Hungry, None, &mut told);
    handle.set(estimate(20), at(8));
    reader.read(at(8), Claim::Hungry, None, &mut told);
    let rates: Vec<_> = told.estimates.iter().map(|(said, _)| said.rate).collect();
    assert_eq!(rates, [10, 10, 20].map(|mbit| Rate::from_bits_per_sec(mbit * 1_000_000)));
}

#[test]
fn connections_share_the_link_while_they_send_and_not_when_they_are_silent_or_gone() {
    let handle = EstimateHandle::new();
    handle.set(estimate(10), at(0));
    let link = estimate(10).rate;
    let mut first = HandleReader::new(&handle, at(0));
    let mut second = HandleReader::new(&handle, at(0));
    let (mut one, mut other) = (Told::default(), Told::default());
    first.read(at(10), Claim::Hungry, None, &mut one);
    assert_eq!((one.estimates.last().unwrap().1, one.part.of(link)), (1, link));
    second.read(at(20), Claim::Hungry, None, &mut other);
    first.read(at(30), Claim::Hungry, None, &mut one);
    for told in [&one, &other] {
        assert_eq!(told.estimates.last().unwrap().1, 2);
        assert_eq!(told.part.of(link), Rate::from_bits_per_sec(5_000_000));
    }
    assert_eq!(handle.flows().len(), 2);
    // The second is silent from now on, and counts as gone before it is.
    first.read(at(1100), Claim::Hungry, None, &mut one);
    assert_eq!(one.part.of(link), link);
    second.read(at(1110), Claim::Hungry, None, &mut other);
    drop(second);
    first.read(at(1120), Claim::Hungry, None, &mut one);
    assert_eq!((one.part.of(link), handle.flows().len()), (link, 1));
}

#[test]
fn what_a_limited_connection_leaves_is_the_others() {
    let handle = EstimateHandle::new();
    handle.set(estimate(16), at(0));
    let mut limited = HandleReader::new(&handle, at(0));
    let mut hungry = HandleReader::new(&handle, at(0));
    let mut told = Told::default();
    let used = Rate::from_bits_per_sec(1_600_000);
    limited.read(at(1), Claim::Limited(used), None, &mut Told::default());
    hungry.read(at(2), Claim::Hungry, None, &mut told);
    // An eighth more than it used stays for the limited one.
    assert_eq!(told.part.of(estimate(16).rate), Rate::from_bits_per_sec(14_200_000));
}

#[test]
fn a_flow_without_data_yet_counts_only_for_itself() {
    let handle = EstimateHandle::new();
    handle.set(estimate(10), at(0));
    let mut beginning = HandleReader::new(&handle, at(0));
    let mut hungry = HandleReader::new(&handle, at(0));
    let (mut one, mut other) = (Told::default(), Told::default());
    beginning.read(at(1), Claim::Limited(Rate::ZERO), None, &mut one);
    hungry.read(at(2), Claim::Hungry, None, &mut other);
    beginning.read(at(10), Claim::Limited(Rate::ZERO), None, &mut one);
    let flows = |told: &Told| told.estimates.last().unwrap().1;
    assert_eq!((flows(&one), flows(&other)), (2, 1));
    // It may still have its half.
    assert_eq!(one.part.of(estimate(10).rate), Rate::from_bits_per_sec(5_000_000));
    beginning.read(at(20), Claim::Limited(Rate::from_bits_per_sec(8)), None, &mut one);
    hungry.read(at(21), Claim::Hungry, None, &mut other);
    assert_eq!(flows(&other), 2);
}

#[test]
fn a_flow_without_more_data_gives_its_part_back_at_once() {
    let handle = EstimateHandle::new();
    handle.set(estimate(10), at(0));
    let mut ends = HandleReader::new(&handle, at(0));
    let mut goes_on = HandleReader::new(&handle, at(0));
    let mut told = Told::default();
    ends.read(at(10), Claim::Hungry, None, &mut Told::default());
    ends.read(at(11), Claim::Idle, None, &mut Told::default());
    goes_on.read(at(12), Claim::Hungry, None, &mut told);
    assert_eq!(told.part.of(estimate(10).rate), estimate(10).rate);
}

#[test]
fn a_path_that_was_left_counts_again_with_the_next_that_is_heard_of_it() {
    let handle = EstimateHandle::new();
    handle.set(estimate(10), at(0));
    let mut left = HandleReader::new(&handle, at(0));
    let mut stays = HandleReader::new(&handle, at(0));
    let mut told = Told::default();
    left.read(at(10), Claim::Hungry, None, &mut Told::default());
    left.leave();
    assert_eq!(handle.flows().len(), 1);
    stays.read(at(11), Claim::Hungry, None, &mut told);
    assert_eq!(told.estimates.last().unwrap().1, 1);
    left.read(at(12), Claim::Hungry, None, &mut Told::default());
    assert_eq!(handle.flows().len(), 2);
    stays.read(at(20), Claim::Hungry, None, &mut told);
    assert_eq!(told.estimates.last().unwrap().1, 2);
}

#[test]
fn the_newer_of_two_estimates_counts() {
    let handle = EstimateHandle::new();
    let rate = |now| handle.estimate(now).unwrap().rate;
    // Known at 180 and valid until 380 ms.
    handle.set(estimate(10), at(200));
    let old = estimate(20).with_age(Duration::from_millis(50));
    handle.set(old, at(210));
    assert_eq!(rate(at(210)), estimate(10).rate);
    handle.set(old, at(231));
    assert_eq!(rate(at(231)), estimate(20).rate);
    // An estimate that is no longer valid gives way to any other.
    handle.set(estimate(10), at(240));
    handle.withdraw();
    handle.set(old, at(241));
    assert_eq!(rate(at(241)), estimate(20).rate);
    handle.set(estimate(10), at(300));
    handle.set(estimate(30).with_age(Duration::from_millis(250)), at(481));
    assert_eq!(rate(at(481)), estimate(30).rate);
}

#[test]
fn it_can_be_set_from_any_thread() {
    let handle = EstimateHandle::new();
    let threads: Vec<_> = (1..=4)
        .map(|mbit| {
            let handle = handle.clone();
            std::thread::spawn(move || handle.set(estimate(mbit), at(0)))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(handle.estimate(at(0)).unwrap().is_usable());
}
