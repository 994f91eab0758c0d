//! Events of retransmissions in real captures, against a count from the decoded records.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeMap;

use sounding_diag::capture::{Capture, PROBE, recognise};
use sounding_diag::packet::Packet;
use sounding_diag::record::PuschTxReport;
use sounding_estimate::{DelayKind, Direction, RanDelay};
use sounding_link::{Arrival, Config, Sounder};

/// Subframes of LTE's uplink between transmissions of a block in FDD (TS 36.213 §8).
const ROUND: i64 = 8;
/// Subframes until frame numbers begin anew.
const TURN: i64 = 10_240;

/// The repeat's place among the transmissions of its block, by subframe; a block's first transmission is 0.
fn transmissions(bytes: &[u8]) -> Option<BTreeMap<i64, u8>> {
    let mut capture = Capture::new(bytes).ok()?;
    let mut found = BTreeMap::new();
    let mut offset = None;
    while let Some(packet) = capture.poll_packet() {
        let Ok(located) = packet else { continue };
        let Packet::Log(log) = located.packet else { continue };
        if log.code != PuschTxReport::CODE {
            continue;
        }
        let Ok(report) = PuschTxReport::parse(log.body) else { continue };
        let stamp = i64::try_from(log.at.as_nanos() / 1_000_000).unwrap();
        for sent in report.transmissions().filter(|sent| sent.dropped != Some(true)) {
            let Some(tti) = sent.tti else { continue };
            let tti = i64::from(tti.count());
            let offset = *offset.get_or_insert(stamp - tti);
            let turns = (stamp - offset - tti + TURN / 2).div_euclid(TURN);
            found.insert(tti + turns * TURN, sent.retx);
        }
    }
    Some(found)
}

/// Repeats whose block is there from its first transmission on, each one round after the one before: how often it was sent until then.
fn whole(sent: &BTreeMap<i64, u8>) -> Vec<u8> {
    let repeats = sent.iter().filter(|(_, number)| **number > 0);
    let is_whole = |(at, number): &(&i64, &u8)| {
        (1..=**number)
            .all(|back| sent.get(&(**at - ROUND * i64::from(back))) == Some(&(**number - back)))
    };
    repeats.filter(is_whole).map(|(_, number)| *number).collect()
}

fn events(bytes: &[u8]) -> Vec<RanDelay> {
    let kind = recognise(&bytes[..bytes.len().min(PROBE)]).unwrap();
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).reading(kind).with_delays();
    let mut found = Vec::new();
    // In pieces, because only so many events wait.
    for piece in bytes.chunks(4_096) {
        sounder.handle_bytes(Arrival::AsStamped, piece, |_, _| {});
        found.extend(std::iter::from_fn(|| sounder.poll_delay()));
    }
    sounder.handle_end(Arrival::AsStamped, |_, _| {});
    found.extend(std::iter::from_fn(|| sounder.poll_delay()));
    found.retain(|event| event.kind == DelayKind::Harq && event.direction == Direction::Uplink);
    found
}

/// Of these lengths in milliseconds, how many are of so many rounds; fewer than a millisecond off, as records date each block.
fn by_rounds(lengths: impl Iterator<Item = f64>) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    for length in lengths {
        *found.entry((length / ROUND as f64).round() as u32).or_default() += 1;
    }
    found
}

#[test]
fn events_of_repeats_are_those_that_a_count_from_the_decoded_records_finds() {
    let (mut captures, mut found) = (0, 0);
    for path in sounding_testdata::shared_files("captures") {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Some(sent) = transmissions(&bytes) else { continue };
        let repeats = sent.values().filter(|number| **number > 0).count();
        if repeats == 0 {
            continue;
        }
        let name = path.file_name().unwrap().display();
        let events = events(&bytes);
        let lengths = events.iter().map(|event| event.amount.as_secs_f64() * 1e3);
        let (events, whole) = (by_rounds(lengths), whole(&sent));
        let told: usize = events.values().sum();
        // A repeat whose first transmission no record has may be an event or none.
        assert!((whole.len()..=repeats).contains(&told), "{name}: {told} of {repeats}");
        for (rounds, count) in by_rounds(whole.iter().map(|number| f64::from(*number) * 8.0)) {
            let same = events.get(&rounds).copied().unwrap_or_default();
            assert!(same >= count, "{name}: {same} of {count} of {rounds} rounds");
        }
        (captures, found) = (captures + 1, found + told);
    }
    assert!(captures == 0 || (captures >= 10 && found > 4_000), "{found} in {captures}");
}
