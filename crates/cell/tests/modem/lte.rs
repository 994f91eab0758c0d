//! LTE's records agree with the events, code by code.

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_cell::config::CarrierConfig;
use sounding_cell::event::{Dci, ReportCause, Transmission};
use sounding_cell::modem::ModemConfig;
use sounding_cell::{Direction, Event};

use crate::network::{Flows, Run, items, lte, lte_tdd, numbers, run, same};
use crate::tree::Item;

const SPAN: Duration = Duration::from_secs(12);

fn runs() -> Vec<Run> {
    let secondary = CarrierConfig { pci: 2, prb: 50, uplink: false, ..lte() };
    let go = |carriers: &[CarrierConfig], flows, seed| {
        run(carriers, flows, SPAN, ModemConfig::default(), seed)
    };
    vec![
        go(&[lte()], Flows::LIGHT, 1),
        go(&[lte()], Flows::saturated(true, true), 2),
        go(&[lte(), secondary], Flows::saturated(true, false), 3),
        go(&[lte_tdd()], Flows::saturated(true, true), 4),
    ]
}

fn time(sent: &Transmission) -> [i64; 2] {
    let slot = sent.slot.slot as i64 % 10_240;
    [slot / 10, slot % 10]
}

#[test]
fn every_uplink_transmission_is_in_a_report() {
    for run in runs() {
        let found: Vec<_> = items(&run.read(0xB139), &["transmissions"])
            .iter()
            .map(|item| {
                let [tti, retx, rv, rb, rbs, size, power] = numbers(
                    item,
                    ["tti", "retx", "rv", "start_rb_slot_0", "rbs", "tb_bytes", "power_dbm"],
                );
                [tti, retx, rv, rb, rbs, size, power]
            })
            .collect();
        let wanted: Vec<_> = run
            .sent(Direction::Uplink)
            .iter()
            .map(|sent| {
                let [frame, subframe] = time(sent);
                [
                    frame * 10 + subframe,
                    sent.number.into(),
                    sent.rv.into(),
                    sent.first_prb.into(),
                    sent.prb.into(),
                    sent.size.into(),
                    sent.power_dbm.round() as i64,
                ]
            })
            .collect();
        assert!(wanted.len() > 100);
        same(&found, &wanted);
    }
}

#[test]
fn every_downlink_block_is_in_the_statistics() {
    for run in runs() {
        let names =
            ["frame", "subframe", "cell", "harq", "rv", "ndi", "crc", "tb_bytes", "mcs", "rbs"];
        let found: Vec<_> = items(&run.read(0xB173), &["subframes", "blocks"])
            .iter()
            .map(|item| numbers(item, names))
            .collect();
        let mut wanted = Vec::new();
        for sent in run.sent(Direction::Downlink) {
            let blocks = u32::from(sent.layers.min(2));
            let [frame, subframe] = time(sent);
            for _ in 0..blocks {
                wanted.push([
                    frame,
                    subframe,
                    sent.slot.carrier.0.into(),
                    sent.harq.into(),
                    sent.rv.into(),
                    sent.ndi.into(),
                    sent.arrived.into(),
                    // The record counts the CRC.
                    i64::from(sent.size / blocks) + 3,
                    sent.mcs.into(),
                    sent.prb.into(),
                ]);
            }
        }
        assert!(wanted.len() > 100);
        same(&found, &wanted);
    }
}

#[test]
fn mac_has_the_blocks_that_were_built_and_those_that_arrived() {
    for run in runs() {
        let up = items(&run.read(0xB064), &["sub_packets", "samples"]);
        let names = ["frame", "subframe", "grant_bytes", "padding_bytes", "rlc_pdus", "bsr_event"];
        let found: Vec<_> = up.iter().map(|item| numbers(item, names)).collect();
        let built = run.sent(Direction::Uplink).into_iter().filter(|sent| sent.number == 0);
        let built: Vec<_> = built.collect();
        let wanted: Vec<_> = built
            .iter()
            .map(|sent| {
                let [frame, subframe] = time(sent);
                let event = match sent.report.map(|report| report.cause) {
                    Some(ReportCause::Periodic) => 1,
                    Some(ReportCause::Regular) => 2,
                    Some(ReportCause::Padding) | None => 0,
                };
                let pdus = sent.pdus.len() as i64;
                [frame, subframe, sent.size.into(), sent.padding.into(), pdus, event]
            })
            .collect();
        same(&found, &wanted);
        let indexes: Vec<_> = up
            .iter()
            .flat_map(|item| item.list("mac").iter().filter_map(|sub| sub.number("bsr_index")))
            .collect();
        let told: Vec<_> =
            built.iter().filter_map(|sent| Some(i64::from(sent.report?.index))).collect();
        assert!(told.len() > 50);
        same(&indexes, &told);

        let down = items(&run.read(0xB063), &["sub_packets", "samples"]);
        let bytes: i64 = down.iter().map(|item| numbers(item, ["tb_bytes"])[0]).sum();
        let padding: i64 = down.iter().map(|item| numbers(item, ["padding_bytes"])[0]).sum();
        let arrived = || run.sent(Direction::Downlink).into_iter().filter(|sent| sent.arrived);
        let size = |sent: &&Transmission| i64::from(sent.size);
        assert_eq!(bytes, arrived().map(|sent| size(&sent)).sum::<i64>());
        assert_eq!(padding, arrived().map(|sent| i64::from(sent.padding)).sum::<i64>());
    }
}

#[test]
fn rlc_has_every_pdu_and_every_number_that_is_asked_for_again() {
    let (mut asked, mut pdus_seen) = (0, 0);
    for run in runs() {
        for (code, direction) in [(0xB082, Direction::Downlink), (0xB092, Direction::Uplink)] {
            let pdus = items(&run.read(code), &["sub_packets", "pdus"]);
            let data = pdus.iter().filter(|pdu| numbers(pdu, ["control"])[0] == 0);
            let found: Vec<_> = data.map(|pdu| numbers(pdu, ["sn", "poll", "pdu_bytes"])).collect();
            let wanted: Vec<_> = run
                .sent(direction)
                .iter()
                .filter(|sent| match direction {
                    Direction::Downlink => sent.arrived,
                    Direction::Uplink => sent.number == 0,
                })
                .flat_map(|sent| &sent.pdus)
                .map(|pdu| {
                    let framing = &pdu.framing;
                    let lengths = (framing.lengths().len() as i64 * 12 + 7) / 8;
                    let header = if framing.part.is_some() { 4 } else { 2 } + lengths;
                    [i64::from(pdu.sn % 1024), pdu.poll.into(), pdu.span.len() as i64 + header]
                })
                .collect();
            pdus_seen += wanted.len();
            same(&found, &wanted);

            // A status comes the other way.
            let nacks: Vec<_> = pdus
                .iter()
                .filter(|pdu| numbers(pdu, ["control"])[0] == 1)
                .map(|pdu| pdu.list("nacks").iter().map(|nack| numbers(nack, ["sn"])[0]).collect())
                .collect::<Vec<Vec<i64>>>();
            let told: Vec<Vec<i64>> = run
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::Status { direction: about, status, .. } if *about != direction => {
                        Some(status.nack_sns.iter().map(|sn| i64::from(sn % 1024)).collect())
                    }
                    _ => None,
                })
                .collect();
            asked += told.iter().flatten().count();
            same(&nacks, &told);
        }
        let statuses = items(&run.read(0xB083), &["pdus"]);
        let about_uplink = run
            .events
            .iter()
            .filter(|event| matches!(event, Event::Status { direction: Direction::Uplink, .. }));
        assert_eq!(statuses.len(), about_uplink.count());
    }
    assert!(pdus_seen > 10_000, "{pdus_seen}");
    assert!(asked > 0, "some block was lost for good");
}

/// The bytes of IP of a packet, and what the model adds for headers.
const OVERHEAD: i64 = 6;

#[test]
fn rlc_headers_say_where_packets_begin_and_end() {
    let run = run(&[lte()], Flows::LIGHT, SPAN, ModemConfig::default(), 5);
    let (mut cut, mut parts) = (0, 0);
    for (code, size) in [(0xB082, 1_200), (0xB092, 300)] {
        let mut pdus: BTreeMap<i64, Item> = BTreeMap::new();
        let mut newest = 0;
        for pdu in items(&run.read(code), &["sub_packets", "pdus"]) {
            if numbers(&pdu, ["control"]) == [1] {
                continue;
            }
            if numbers(&pdu, ["segment"]) == [1] {
                parts += 1;
                continue;
            }
            let [sn] = numbers(&pdu, ["sn"]);
            newest += (sn - newest + 512).rem_euclid(1_024) - 512;
            pdus.insert(newest, pdu);
        }
        assert!(pdus.len() > 300, "{}", pdus.len());
        // The packet that goes on in the next PDU, and its bytes so far.
        let mut open: Option<(i64, i64)> = None;
        let mut whole = 0;
        for (sn, pdu) in &pdus {
            let [framing, bytes] = numbers(pdu, ["framing", "pdu_bytes"]);
            let lengths: Vec<i64> = pdu
                .list("lengths")
                .iter()
                .map(|length| numbers(length, ["len_bytes"])[0])
                .collect();
            let header = 2 + (lengths.len() as i64 * 12 + 7) / 8;
            let last = bytes - header - lengths.iter().sum::<i64>();
            let pieces: Vec<i64> = lengths.into_iter().chain([last]).collect();
            for (at, piece) in pieces.iter().enumerate() {
                let continues = at == 0 && framing & 2 != 0;
                let goes_on = at + 1 == pieces.len() && framing & 1 != 0;
                let before = match open.take() {
                    Some((next, bytes)) if continues && next == *sn => Some(bytes),
                    // The PDU before was sent in parts.
                    _ if continues => None,
                    _ => Some(0),
                };
                let Some(bytes) = before.map(|before| before + piece) else { continue };
                if goes_on {
                    open = Some((sn + 1, bytes));
                    cut += 1;
                } else {
                    assert_eq!(bytes, size + OVERHEAD, "{code:#x}, PDU {sn}");
                    whole += 1;
                }
            }
        }
        assert!(whole > 300, "{code:#x}: {whole}");
    }
    assert!(cut > 10, "{cut} packets in two PDUs, {parts} parts");
}

#[test]
fn channel_and_levels_are_as_they_were_measured() {
    for run in runs() {
        let found: Vec<_> = run
            .read(0xB14D)
            .iter()
            .map(|(_, item)| numbers(item, ["cqi_0", "rank", "carrier"]))
            .collect();
        let wanted: Vec<_> = run
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Channel(_, report) => Some([
                    i64::from(report.cqi),
                    i64::from(report.rank) - 1,
                    report.slot.carrier.0.into(),
                ]),
                _ => None,
            })
            .collect();
        assert!(wanted.len() > 100);
        same(&found, &wanted);

        let cells = items(&run.read(0xB193), &["sub_packets", "cells"]);
        let signals = run.events.iter().filter_map(|event| match event {
            Event::Signal(_, signal) => Some(signal),
            _ => None,
        });
        let signals: Vec<_> = signals.collect();
        assert_eq!(cells.len(), signals.len());
        for (cell, signal) in cells.iter().zip(signals) {
            let level = |name| cell.real(name).expect("it has one") as f32;
            assert!((level("rsrp_dbm") - signal.rsrp_dbm).abs() <= 1.0 / 32.0, "{cell:?}");
            assert!((level("rsrq_db") - signal.rsrq_db).abs() <= 1.0 / 32.0, "{cell:?}");
            assert!((level("snr_rx0_db") - signal.sinr_db).abs() <= 0.051, "{cell:?}");
            assert_eq!(numbers(cell, ["pci", "serving"]), [1, 1]);
        }
    }
}

#[test]
fn control_channels_have_every_message_and_every_answer() {
    // TS 36.213 §9.1.2 and, of configuration 2, its Table 9.1.2-1.
    let answered_after = [4, 4, 4, 6];
    for (run, answered_after) in runs().iter().zip(answered_after) {
        let subframes = run.read(0xB16C);
        let mut found = [0_i64; 2];
        let mut harqs: Vec<[i64; 6]> = Vec::new();
        for item in items(&subframes, &["subframes"]) {
            found[0] += item.list("assignments").len() as i64;
            found[1] += item.list("grants").len() as i64;
            let grants = item.list("grants").iter();
            harqs.extend(
                grants.map(|one| numbers(one, ["harq", "mcs", "rv", "ndi", "start_rb", "rbs"])),
            );
        }
        let dcis = run.events.iter().filter_map(|event| match event {
            Event::Dci(dci) => Some(dci),
            _ => None,
        });
        let (down, up): (Vec<&Dci>, Vec<&Dci>) =
            dcis.partition(|dci| dci.direction == Direction::Downlink);
        assert_eq!(found, [down.len() as i64, up.len() as i64]);
        let wanted: Vec<[i64; 6]> = up
            .iter()
            .map(|dci| {
                [
                    dci.harq.into(),
                    dci.mcs.into(),
                    dci.rv.into(),
                    dci.ndi.into(),
                    dci.first_prb.into(),
                    dci.prb.into(),
                ]
            })
            .collect();
        same(&harqs, &wanted);

        let heard = items(&run.read(0xB16B), &["subframes"]);
        assert!(heard.len() as u128 >= SPAN.as_millis());
        let messages: usize = heard.iter().map(|item| item.list("pdcch").len()).sum();
        assert_eq!(messages, down.len() + up.len());
        let mut answers = BTreeMap::new();
        for (at, item) in heard.iter().enumerate() {
            for answer in item.list("phich") {
                answers.insert(at as u64, numbers(answer, ["answer"])[0] == 1);
            }
        }
        let sent = run.sent(Direction::Uplink);
        let wanted = sent.iter().map(|sent| (sent.slot.slot + answered_after, sent.arrived));
        assert_eq!(answers, wanted.collect());
    }
}

#[test]
fn records_come_as_often_as_those_of_real_modems() {
    let run = &runs()[1];
    let gaps = |code| {
        let read = run.read(code);
        let gaps: Vec<u128> =
            read.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect();
        let mut sorted = gaps;
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    };
    for (code, ms) in [
        (0xB139, 10),
        (0xB064, 25),
        (0xB063, 50),
        (0xB066, 40),
        (0xB082, 40),
        (0xB092, 45),
        (0xB16B, 25),
        (0xB173, 25),
        (0xB193, 40),
    ] {
        assert!(gaps(code).abs_diff(ms) <= 1, "{code:x}: {} ms", gaps(code));
    }
}

#[test]
fn what_waits_is_what_the_device_reported() {
    for run in runs() {
        let samples = items(&run.read(0xB066), &["sub_packets", "samples"]);
        assert!(samples.len() as u128 >= SPAN.as_millis());
        let waiting: Vec<i64> = samples
            .iter()
            .map(|sample| {
                sample.list("channels").iter().map(|c| numbers(c, ["new_bytes"])[0]).sum()
            })
            .collect();
        let mut checked = 0;
        for sent in run.sent(Direction::Uplink).iter().filter(|sent| sent.number == 0) {
            // It holds from the end of the report's own subframe on.
            let Some(report) = sent.report else { continue };
            assert_eq!(waiting[sent.slot.slot as usize + 1], report.waiting as i64);
            checked += 1;
        }
        assert!(checked > 50);
    }
}
