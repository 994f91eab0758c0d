//! HARQ answers that devices sent, against what they received four subframes before, by another
//! record.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_diag::LogRecord;
use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_kpi::Subscription;
use sounding_testdata::{shared, shared_files};
use sounding_units::ModemInstant;

const NAMES: [&str; 8] = [
    "lte.pucch.tti",
    "lte.pucch.harq_ack_bits",
    "lte.pucch.harq_ack",
    "lte.pdsch.frame",
    "lte.pdsch.subframe",
    "lte.pdsch.carrier",
    "lte.pdsch.crc",
    "lte.pdsch.rnti",
];

/// Subframes from an LTE block to its answer in FDD: K1 (TS 36.213 §10.2).
const K1: u32 = 4;
/// Subframes until frame numbers begin anew.
const TURN: u32 = 10_240;
/// Records of one subframe are stamped within less than this.
const NEAR: Duration = Duration::from_secs(1);

/// Subframes, each with the stamp of its record, and whether its block arrived.
type Subframes = Vec<(u32, ModemInstant, bool)>;

/// Adds answers of one bit, and blocks that are alone in a subframe of the primary cell.
fn take(
    subscription: &mut Subscription,
    log: &LogRecord<'_>,
    answered: &mut Subframes,
    received: &mut Subframes,
) {
    let mut items: BTreeMap<Vec<u16>, [Option<f64>; NAMES.len()]> = BTreeMap::new();
    let read = subscription.handle(log, |reading| {
        let item = items.entry(reading.item.levels().to_vec()).or_default();
        item[reading.slot] = Some(reading.value);
    });
    if read.is_err() {
        return;
    }
    for (levels, item) in &items {
        match *item {
            [Some(tti), Some(1.0), Some(answer), ..] => {
                answered.push((tti as u32, log.at, answer == 1.0));
            }
            [None, _, _, Some(frame), Some(subframe), Some(0.0), ..] => {
                let inner = items.iter().filter(|(at, _)| at.len() == 2 && at.starts_with(levels));
                let blocks: Vec<_> = inner.map(|(_, block)| (block[6], block[7])).collect();
                if let [(Some(crc), Some(0.0))] = blocks[..] {
                    let tti = (frame * 10.0 + subframe) as u32 % TURN;
                    received.push((tti, log.at, crc == 1.0));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn answers_of_real_captures_say_what_the_blocks_four_subframes_before_them_were() {
    let mut by_offset: BTreeMap<u32, u32> = BTreeMap::new();
    let (mut same, mut other) = (0, 0);
    for path in shared_files("captures") {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(mut capture) = Capture::new(&bytes) else { continue };
        let mut subscription = Subscription::new(NAMES).unwrap();
        let (mut answered, mut received) = (Subframes::new(), Subframes::new());
        while let Some(found) = capture.poll_packet() {
            let Ok(located) = found else { continue };
            let Packet::Log(log) = located.packet else { continue };
            take(&mut subscription, &log, &mut answered, &mut received);
        }
        for (tti, at, answer) in answered {
            let near = received.iter().filter(|(_, stamped, _)| {
                stamped.max(&at).saturating_before(NEAR) < *stamped.min(&at)
            });
            for (block, _, arrived) in near {
                let offset = (tti + TURN - block) % TURN;
                if offset <= 2 * K1 {
                    *by_offset.entry(offset).or_default() += 1;
                }
                if offset == K1 {
                    *(if *arrived == answer { &mut same } else { &mut other }) += 1;
                }
            }
        }
    }
    println!("blocks by subframes before an answer: {by_offset:?}; {same} like it, {other} not");
    if shared("captures").is_some() {
        assert_eq!((same, other), (29, 0));
        let elsewhere = by_offset.iter().filter(|(offset, _)| **offset != K1);
        assert!(elsewhere.map(|(_, count)| count).all(|count| *count < 29 / 2), "{by_offset:?}");
    }
}
