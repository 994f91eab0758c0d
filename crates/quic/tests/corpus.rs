//! The seeds of the fuzz target, run through it; and how the seeds are made.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod targets;

use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use sounding_estimate::{DelayKind, DelayUpdate, RanDelay};
use sounding_kpi::Direction;
use sounding_link::{Bound, FairShare, LinkEstimate, Source, State};
use sounding_quic::{Arrivals, EstimateHandle, Report, Reporter};
use sounding_units::{HostInstant, Rate};

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/quic"))
}

#[test]
fn seeds_are_read_as_far_as_they_can_be() {
    let mut found = Vec::new();
    for (name, _, taken) in seeds() {
        let seed = std::fs::read(corpus().join(name)).unwrap();
        assert_eq!(targets::quic(&seed), taken, "{name}");
        found.push(name.to_owned());
    }
    for file in std::fs::read_dir(corpus()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(found.contains(&name), "{name} is not made by this file");
    }
}

proptest! {
    #[test]
    fn whatever_a_peer_sends_is_obeyed_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 0..8),
    ) {
        targets::quic(&bytes);
        for (_, mut seed, _) in seeds() {
            for (at, value) in &changes {
                let at = at.index(seed.len());
                seed[at] = *value;
            }
            targets::quic(&seed);
        }
    }
}

fn estimate(mbit: u64) -> LinkEstimate {
    LinkEstimate::new(
        Direction::Downlink,
        Rate::from_bits_per_sec(mbit * 1_000_000),
        Bound::Capacity,
    )
    .with_age(Duration::from_millis(3))
}

fn datagram(seed: &mut Vec<u8>, bytes: &[u8]) {
    seed.push(bytes.len() as u8);
    seed.extend(bytes);
}

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

/// When packets arrived that leave every 10 ms, on a clock of the receiver's.
fn times() -> Vec<Vec<u8>> {
    let arrivals = Arrivals::new();
    let datagram = |turn: u64| {
        arrivals.handle_packet(at(5000 + 10 * turn), turn);
        arrivals.handle_packet(at(5001 + 10 * turn), 2 * turn);
        arrivals.poll_datagram(at(5005 + 10 * turn)).unwrap()
    };
    (0..12).map(datagram).collect()
}

/// Reports with the radio's delays.
fn delays() -> Vec<Vec<u8>> {
    let handle = EstimateHandle::new();
    handle.set(estimate(9), at(5000));
    let mut reporter = Reporter::new(handle.clone());
    let datagram = |turn: u64| {
        let from = at(4900 + 10 * turn);
        let both =
            [(Direction::Uplink, DelayKind::Scheduling), (Direction::Downlink, DelayKind::Harq)];
        let event = |(direction, kind)| {
            RanDelay::new(direction, kind, from, from + Duration::from_millis(8))
                .with_amount(Duration::from_millis(7))
                .with_age(Duration::from_millis(60))
        };
        let until = Some(from);
        let heard_at = at(5000 + 10 * turn);
        handle.set_delays(
            &DelayUpdate::new(heard_at, both.map(event).to_vec())
                .with_up_until(until)
                .with_down_until(until),
        );
        reporter.poll_datagram(heard_at).unwrap()
    };
    (0..12).map(datagram).collect()
}

/// Each datagram with a byte of it changed, at a place that moves on.
fn spoilt(datagrams: &[Vec<u8>], from: usize) -> Vec<u8> {
    let mut seed = Vec::new();
    for offset in from..from + 48 {
        let mut bytes = datagrams[offset % datagrams.len()].clone();
        let offset = offset.min(bytes.len() - 1);
        bytes[offset] ^= 0xFF;
        datagram(&mut seed, &bytes);
        datagram(&mut seed, &datagrams[offset % datagrams.len()][..offset]);
    }
    seed
}

/// Names, bytes, and how many datagrams in them are used.
fn seeds() -> Vec<(&'static str, Vec<u8>, u64)> {
    let report = |sequence, estimate| Report::new(sequence, estimate).emit();
    let (mut in_order, mut overtaken, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for sequence in 0..20 {
        datagram(&mut in_order, &report(sequence, estimate(u64::from(sequence))));
    }
    for sequence in [u32::MAX, 0, u32::MAX - 1, 0, 1] {
        datagram(&mut overtaken, &report(sequence, estimate(10)));
    }
    let whole = report(1, estimate(10));
    for offset in 0..Report::LEAST {
        let mut bytes = whole;
        bytes[offset] = 0xEE;
        // A sequence half a turn away is older; one that is a little ahead is not.
        if !(12..16).contains(&offset) {
            datagram(&mut broken, &bytes[..Report::LEAST - offset % 2]);
        }
    }
    let for_ever = estimate(1).with_valid_for(Duration::MAX).with_age(Duration::MAX);
    let mut extreme = Vec::new();
    datagram(&mut extreme, &report(7, for_ever));
    let mut states = Vec::new();
    for (sequence, (state, source)) in (0..).zip([
        (State::Idle, Source::Grants),
        (State::Handover, Source::Formula),
        (State::Silent, Source::Cqi),
        (State::Stale, Source::None),
    ]) {
        let estimate = estimate(9).with_state(state).with_source(source).with_bound(Bound::Floor);
        datagram(&mut states, &report(sequence, estimate));
    }
    let (mut shares, mut older) = (Vec::new(), Vec::new());
    for (sequence, users) in (0..).zip([1, 3, 70_000]) {
        let rate = Rate::from_bits_per_sec(9_000_000 / u64::from(users));
        let fair = Some(FairShare::new(rate, users, 2));
        let state = if users == 3 { State::Idle } else { State::Active };
        datagram(&mut shares, &report(sequence, estimate(9).with_fair(fair).with_state(state)));
    }
    // As the first reports were, and as none is: cut off within the fair share.
    for (sequence, length) in (0..).zip([Report::LEAST, Report::LEAST, 40, Report::LENGTH - 1]) {
        datagram(&mut older, &report(sequence, estimate(9))[..length]);
    }
    let (mut both, spoilt_times) = (Vec::new(), spoilt(&times(), 0));
    for (times, delays) in times().iter().zip(delays()) {
        datagram(&mut both, times);
        datagram(&mut both, &delays);
    }
    let spoilt_delays = spoilt(&delays(), Report::LENGTH - 8);
    vec![
        ("times-and-delays", both, 24),
        ("times-broken", spoilt_times, 42),
        ("delays-broken", spoilt_delays, 12),
        ("fair-share", shares, 3),
        ("older", older, 4),
        ("in-order", in_order, 20),
        ("overtaken", overtaken, 3),
        ("broken", broken, 1),
        ("extreme", extreme, 1),
        ("states", states, 4),
    ]
}

/// `cargo test -p sounding-quic --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    for (name, seed, _) in seeds() {
        std::fs::write(corpus().join(name), seed).unwrap();
    }
}
