//! Events of retransmissions in real captures, against a count from the decoded records.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::{BTreeMap, BTreeSet};

use sounding_diag::capture::{Capture, PROBE, recognise};
use sounding_diag::packet::Packet;
use sounding_diag::record::PuschTxReport;
use sounding_estimate::{DelayKind, Direction, RanDelay};
use sounding_kpi::Subscription;
use sounding_link::{Arrival, Config, Sounder};

/// Subframes of LTE's uplink between transmissions of a block in FDD (TS 36.213 §8).
const ROUND: i64 = 8;
/// Subframes until frame numbers begin anew.
const TURN: i64 = 10_240;

/// The repeat's place among the transmissions of its block, by subframe; a block's first
/// transmission is 0.
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

/// Repeats whose block is there from its first transmission on, each one round after the one
/// before: how often it was sent until then.
fn whole(sent: &BTreeMap<i64, u8>) -> Vec<u8> {
    let repeats = sent.iter().filter(|(_, number)| **number > 0);
    let is_whole = |(at, number): &(&i64, &u8)| {
        (1..=**number)
            .all(|back| sent.get(&(**at - ROUND * i64::from(back))) == Some(&(**number - back)))
    };
    repeats.filter(is_whole).map(|(_, number)| *number).collect()
}

/// All events of a capture.
fn all_events(bytes: &[u8]) -> Vec<RanDelay> {
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
    found
}

fn events(bytes: &[u8]) -> Vec<RanDelay> {
    let mut found = all_events(bytes);
    found.retain(|event| event.kind == DelayKind::Harq && event.direction == Direction::Uplink);
    found
}

/// Of these lengths in milliseconds, how many are of so many rounds; fewer than a millisecond off,
/// as records date each block.
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

/// The KPIs of RLC, downlink and uplink, in this order.
const RLC: [[&str; 5]; 2] = [
    [
        "lte.rlc.dl.bearer",
        "lte.rlc.dl.frame",
        "lte.rlc.dl.subframe",
        "lte.rlc.dl.sn",
        "lte.rlc.dl.nack_sn",
    ],
    [
        "lte.rlc.ul.bearer",
        "lte.rlc.ul.frame",
        "lte.rlc.ul.subframe",
        "lte.rlc.ul.sn",
        "lte.rlc.ul.nack_sn",
    ],
];
/// From this configuration on a bearer is one of signalling.
const SIGNALLING: i64 = 33;

/// A bearer's number, a sequence number, and the subframe of a PDU or of the status that asks for
/// it.
type Pdus = Vec<(i64, i64, i64)>;

/// What KPIs by name say of RLC: data down and up, and what statuses ask for, down and up.
fn rlc(bytes: &[u8]) -> Option<[Pdus; 4]> {
    let mut capture = Capture::new(bytes).ok()?;
    let mut subscription = Subscription::new(RLC.into_iter().flatten()).unwrap();
    let mut found = [const { Pdus::new() }; 4];
    let mut offset = None;
    while let Some(packet) = capture.poll_packet() {
        let Ok(located) = packet else { continue };
        let Packet::Log(log) = located.packet else { continue };
        let stamp = i64::try_from(log.at.as_nanos() / 1_000_000).unwrap();
        let mut values: BTreeMap<(usize, Vec<u16>), i64> = BTreeMap::new();
        let read = subscription.handle(&log, |reading| {
            values.insert((reading.slot, reading.item.levels().to_vec()), reading.value as i64);
        });
        if read.is_err() {
            continue;
        }
        for ((slot, levels), sn) in &values {
            let (way, what) = (slot / 5, slot % 5);
            let at = |field, depth| values.get(&(way * 5 + field, levels[..depth].to_vec()));
            let (3 | 4, Some(bearer)) = (what, at(0, 1)) else { continue };
            let (Some(frame), Some(subframe)) = (at(1, 2), at(2, 2)) else { continue };
            let tti = frame * 10 + subframe;
            let offset = *offset.get_or_insert(stamp - tti);
            let turns = (stamp - offset - tti + TURN / 2).div_euclid(TURN);
            // A status goes the other way than what it asks for.
            let list = if what == 3 { way } else { 3 - way };
            if *bearer < SIGNALLING {
                found[list].push((*bearer, *sn, tti + turns * TURN + offset));
            }
        }
    }
    Some(found)
}

/// The subframes in which repeats end: the last time that a number comes after a status that asks
/// for it, and before the next one. A repeat may be cut into parts.
fn repeats(data: &Pdus, asked: &Pdus) -> BTreeSet<i64> {
    const LATEST: i64 = 1_000;
    let answer = |(bearer, sn, since): &(i64, i64, i64)| {
        let same = |list: &Pdus| -> Vec<i64> {
            let same = list.iter().filter(|(of, number, _)| (of, number) == (bearer, sn));
            same.map(|(.., at)| *at).filter(|at| at > since).collect()
        };
        let until = same(asked).into_iter().min().unwrap_or(i64::MAX).min(since + LATEST);
        same(data).into_iter().filter(|at| *at <= until).max()
    };
    asked.iter().filter_map(answer).collect()
}

#[test]
fn events_of_rlc_end_where_a_number_comes_that_a_status_asked_for() {
    let mut counts = [0, 0];
    let mut captures = 0;
    for path in sounding_testdata::shared_files("captures") {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Some([down, up, down_asked, up_asked]) = rlc(&bytes) else { continue };
        captures += 1;
        let name = path.file_name().unwrap().display();
        let all = all_events(&bytes);
        let ways = [(Direction::Downlink, &down, &down_asked), (Direction::Uplink, &up, &up_asked)];
        for (way, (direction, data, asked)) in ways.into_iter().enumerate() {
            let wanted = repeats(data, asked);
            let events = all
                .iter()
                .filter(|event| event.kind == DelayKind::Rlc && event.direction == direction);
            let mut last: BTreeMap<_, i64> = BTreeMap::new();
            let mut ends = BTreeSet::new();
            for event in events {
                // Records are dated to some microseconds.
                let ms = |of: u64| i64::try_from((of + 500_000) / 1_000_000).unwrap();
                ends.insert(ms(event.to.as_nanos()));
                last.insert(event.from, ms(event.to.as_nanos()));
            }
            // The stamp of the first record is up to 60 ms later than its subframes, and the first
            // records date by some milliseconds worse.
            let ends: Vec<i64> = ends.into_iter().collect();
            let near = |at: i64, list: &BTreeSet<i64>| list.range(at - 3..=at + 3).next().is_some();
            let missing = |shift: i64| {
                let ends: BTreeSet<i64> = ends.iter().map(|end| end + shift).collect();
                let unseen = wanted.iter().filter(|end| !near(**end, &ends)).count();
                let untrue = last.values().filter(|end| !near(**end + shift, &wanted)).count();
                unseen + untrue
            };
            let fewest = (-10..=60).map(missing).min();
            assert_eq!(fewest, Some(0), "{name} {direction}: {} events, {wanted:?}", last.len());
            counts[way] += last.len();
        }
    }
    assert!(captures == 0 || counts == [21, 27], "{counts:?} in {captures}");
}
