use super::super::shift::{bursts, tests::flow};
use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// Arrivals on a clock that is this much faster.
fn faster(arrivals: &[HostInstant], ppm: u64) -> Vec<HostInstant> {
    let origin = arrivals[0];
    let late = |at: &HostInstant| *at + (*at - origin).mul_f64(ppm as f64 / 1e6);
    arrivals.iter().map(late).collect()
}

#[test]
fn clocks_that_drift_are_followed_through_a_long_capture() {
    for seed in 0..4 {
        let shift = 41_000_000_000 - 20_000_000_000 * seed as i64;
        let (events, arrivals) = flow(seed, shift, 4, 3_000);
        let drifting = faster(&arrivals, 50);
        let found = align(&bursts(drifting.iter().copied()), &events, 0, MINUTE).unwrap();
        assert!(found.is_accepted(), "seed {seed}: {found:?}");
        assert!(found.events > 2_300, "seed {seed}: {found:?}");
        let drift = found.drift_ppm().unwrap();
        assert!((drift - 50.0).abs() < 5.0, "seed {seed}: {drift}");
        // At the begin, in the middle and at the end.
        for place in [0, arrivals.len() / 2, arrivals.len() - 1] {
            let device = arrivals[place].as_nanos().saturating_add_signed(-shift);
            let wanted = drifting[place].as_nanos() as i64 - device as i64;
            let far = found.nanos_at(HostInstant::from_nanos(device)).abs_diff(wanted);
            assert!(far < 1_500_000, "seed {seed}: {far} ns at packet {place}");
        }
    }
}

#[test]
fn packets_of_another_time_are_refused() {
    for seed in 0..20 {
        let (events, _) = flow(seed, 0, 4, 150);
        let (_, others) = flow(seed + 500, 0, 4, 150);
        let found = align(&bursts(others.iter().copied()), &events, 0, MINUTE).unwrap();
        assert!(!found.is_accepted(), "seed {seed}: {found:?}");
        // The last ten fit somewhere in two minutes by chance.
        let few = align(&bursts(others), &events[events.len() - 10..], 0, MINUTE);
        assert!(few.is_none_or(|few| !few.is_accepted()), "seed {seed}");
    }
}

#[test]
fn packets_that_begin_long_after_the_modem_are_found() {
    let (events, arrivals) = flow(3, 2_500_000_000, 4, 3_000);
    let late = &arrivals[arrivals.len() * 3 / 4..];
    let found = align(&bursts(late.iter().copied()), &events, 0, MINUTE).unwrap();
    assert!(found.is_accepted() && found.events > 500, "{found:?}");
    assert!(
        found.nanos_at(events[events.len() - 100].to).abs_diff(2_500_000_000) < 1_000_000,
        "{found:?}"
    );
}

#[test]
fn without_overlap_or_with_absurd_guesses_there_is_nothing_and_no_panic() {
    let (events, arrivals) = flow(5, 0, 4, 100);
    let bursts = bursts(arrivals);
    assert_eq!(align(&[], &events, 0, MINUTE), None);
    assert_eq!(align(&bursts, &[], 0, MINUTE), None);
    // An hour apart.
    assert_eq!(align(&bursts, &events, 3_600_000_000_000, MINUTE), None);
    assert_eq!(align(&bursts, &events, i64::MAX, Duration::MAX), None);
    assert_eq!(align(&bursts, &events, i64::MIN, Duration::MAX), None);
}
