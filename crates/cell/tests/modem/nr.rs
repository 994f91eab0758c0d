//! NR's records agree with the events, code by code.

use std::time::Duration;

use arrayvec::ArrayVec;
use sounding_cell::config::{CarrierConfig, DeviceConfig};
use sounding_cell::event::{SlotId, Transmission};
use sounding_cell::modem::{Modem, ModemConfig};
use sounding_cell::{CarrierId, DeviceId, Direction, Event};

use crate::network::{Flows, ORIGIN, Run, items, nr, numbers, read, run, same};

fn runs() -> [Run; 2] {
    let go =
        |flows, seed| run(&[nr()], flows, Duration::from_secs(11), ModemConfig::default(), seed);
    [go(Flows::LIGHT, 1), go(Flows::saturated(true, true), 2)]
}

fn time(sent: &Transmission) -> [i64; 2] {
    let slot = sent.slot.slot as i64;
    [slot / 20 % 1024, slot % 20]
}

#[test]
fn every_downlink_block_is_in_a_status() {
    for run in runs() {
        let names = [
            "frame",
            "slot",
            "tb_bytes",
            "mcs",
            "rbs",
            "rv",
            "harq",
            "crc",
            "ndi",
            "retx",
            "layers_less_one",
        ];
        let blocks = items(&run.read(0xB887), &["slots", "blocks"]);
        let found: Vec<_> = blocks.iter().map(|item| numbers(item, names)).collect();
        let wanted: Vec<_> = run
            .sent(Direction::Downlink)
            .iter()
            .map(|sent| {
                let [frame, slot] = time(sent);
                [
                    frame,
                    slot,
                    sent.size.into(),
                    sent.mcs.into(),
                    sent.prb.into(),
                    sent.rv.into(),
                    sent.harq.into(),
                    sent.arrived.into(),
                    sent.ndi.into(),
                    sent.number.into(),
                    i64::from(sent.layers) - 1,
                ]
            })
            .collect();
        assert!(wanted.len() > 100);
        same(&found, &wanted);
        assert!(blocks.iter().all(|block| numbers(block, ["pci", "arfcn"]) == [700, 636_666]));
    }
}

#[test]
fn every_uplink_block_is_in_the_schedule_in_mac_and_in_the_sums() {
    for run in runs() {
        let names =
            ["frame", "slot", "tb_bytes", "mcs", "start_rb", "rbs", "rv", "harq", "tx_type", "k2"];
        let found: Vec<_> = items(&run.read(0xB883), &["slots", "carriers", "pusch"])
            .iter()
            .map(|item| numbers(item, names))
            .collect();
        let sent = run.sent(Direction::Uplink);
        let offset = |sent: &Transmission| {
            let grant = run.events.iter().find_map(|event| match event {
                Event::Dci(dci)
                    if dci.direction == Direction::Uplink && dci.data_slot == sent.slot.slot =>
                {
                    Some(dci.data_slot - dci.sent_in.slot)
                }
                _ => None,
            });
            grant.expect("it was granted") as i64
        };
        // Looking for the grant of each takes long.
        let k2 = offset(sent[0]);
        let wanted: Vec<_> = sent
            .iter()
            .map(|sent| {
                let [frame, slot] = time(sent);
                [
                    frame,
                    slot,
                    sent.size.into(),
                    sent.mcs.into(),
                    sent.first_prb.into(),
                    sent.prb.into(),
                    sent.rv.into(),
                    sent.harq.into(),
                    i64::from(sent.number > 0),
                    k2,
                ]
            })
            .collect();
        assert!(wanted.len() > 100);
        same(&found, &wanted);

        let blocks = items(&run.read(0xB872), &["ttis", "blocks"]);
        let names = ["frame", "slot", "grant_bytes", "built_bytes", "harq"];
        let found: Vec<_> = blocks.iter().map(|item| numbers(item, names)).collect();
        let built: Vec<_> = sent.iter().filter(|sent| sent.number == 0).collect();
        let wanted: Vec<_> = built
            .iter()
            .map(|sent| {
                let [frame, slot] = time(sent);
                let used = i64::from(sent.size - sent.padding);
                [frame, slot, sent.size.into(), used, sent.harq.into()]
            })
            .collect();
        same(&found, &wanted);

        let told: Vec<_> =
            built.iter().filter_map(|sent| Some(i64::from(sent.report?.index))).collect();
        assert!(told.len() > 50);
        for found in [blocks, items(&run.read(0xB873), &["ttis"])] {
            let indexes: Vec<_> = found
                .iter()
                .flat_map(|item| item.list("mac").iter().filter_map(|sub| sub.number("bsr_index")))
                .collect();
            same(&indexes, &told);
        }

        let sums = items(&run.read(0xB881), &["carriers"]);
        let sum = |name| sums.iter().map(|item| numbers(item, [name])[0]).sum::<i64>();
        let bytes = |again| -> i64 {
            let of = sent.iter().filter(|sent| (sent.number > 0) == again);
            of.map(|sent| i64::from(sent.size)).sum()
        };
        assert_eq!([sum("new_bytes"), sum("retx_bytes")], [bytes(false), bytes(true)]);
        assert_eq!(sum("new_blocks") + sum("retx_blocks"), sent.len() as i64);
        assert_eq!(sum("rbs"), sent.iter().map(|sent| i64::from(sent.prb)).sum::<i64>());
        // A slot in five is one of the uplink.
        let slots = sum("scheduled_slots") + sum("unscheduled_slots");
        assert_eq!(slots, 40 * sums.len() as i64);
    }
}

/// 1 277 992 bits: 273 resource blocks, four layers, 256QAM.
#[test]
fn blocks_of_the_widest_carriers_have_room() {
    let carrier = CarrierConfig { prb: 273, layers: 4, qam256: true, ..nr() };
    let id = DeviceId(0);
    let (config, device) = (ModemConfig::default(), DeviceConfig::default());
    let mut modem = Modem::new(config, id, &device, &[carrier], ORIGIN).expect("a sound pattern");
    let sizes = [159_749, 120_000, 159_749];
    for (slot, size) in (0..).zip(sizes) {
        let at = ORIGIN + Duration::from_micros(500) * slot as u32;
        let sent = Transmission {
            slot: SlotId { carrier: CarrierId(0), slot, at },
            direction: Direction::Downlink,
            harq: 3,
            number: 0,
            rv: 0,
            ndi: true,
            mcs: 27,
            prb: 250,
            first_prb: 0,
            layers: 4,
            size,
            padding: 0,
            arrived: slot != 1,
            sinr_db: 30.0,
            power_dbm: 0.0,
            pdus: ArrayVec::default(),
            report: None,
        };
        modem.handle_event(&Event::Transmission(id, sent));
    }
    modem.handle_time(ORIGIN + Duration::from_secs(1));
    assert_eq!(modem.unwritten(), 0);
    let records: Vec<_> = std::iter::from_fn(|| modem.poll_record()).collect();
    let found: Vec<_> = items(&read(&records, 0xB887), &["slots"])
        .iter()
        .map(|item| numbers(item, ["tb_bytes", "layers_less_one", "mcs", "rbs", "crc"]))
        .collect();
    let wanted = [(sizes[0], 1), (sizes[1], 0), (sizes[2], 1)];
    same(&found, &wanted.map(|(size, crc)| [size.into(), 3, 27, 250, crc]));
}

#[test]
fn every_rlc_pdu_is_in_the_block_it_was_in() {
    for run in runs() {
        let blocks = items(&run.read(0xB857), &["blocks", "subheaders"]);
        let found: Vec<_> = blocks
            .iter()
            .map(|item| {
                let [frame, slot] = numbers(item, ["frame", "slot"]);
                let [flags, sn] = numbers(&item.list("long")[0], ["rlc_flags", "rlc_sn"]);
                [frame, slot, flags >> 4 & 1, sn]
            })
            .collect();
        let wanted: Vec<_> = run
            .sent(Direction::Downlink)
            .into_iter()
            .filter(|sent| sent.arrived)
            .flat_map(|sent| sent.pdus.iter().map(|pdu| (time(sent), *pdu)))
            .map(|([frame, slot], pdu)| [frame, slot, pdu.poll.into(), pdu.sn.into()])
            .collect();
        assert!(wanted.len() > 100);
        same(&found, &wanted);

        let names = ["frame", "slot", "first_rlc_sn", "last_rlc_sn"];
        let found: Vec<_> = items(&run.read(0xB870), &["ttis", "blocks", "channels"])
            .iter()
            .map(|item| numbers(item, names))
            .collect();
        let wanted: Vec<_> = run
            .sent(Direction::Uplink)
            .into_iter()
            .filter(|sent| sent.number == 0)
            .filter_map(|sent| {
                let [frame, slot] = time(sent);
                Some([frame, slot, sent.pdus.first()?.sn.into(), sent.pdus.last()?.sn.into()])
            })
            .collect();
        assert!(wanted.len() > 100);
        same(&found, &wanted);
    }
}

#[test]
fn control_messages_channel_levels_and_status_are_as_they_were() {
    let mut asked = 0;
    for run in runs() {
        let messages = run.read(0xB885);
        for (list, direction) in [("uplink", Direction::Uplink), ("downlink", Direction::Downlink)]
        {
            let found: Vec<_> = items(&messages, &[list])
                .iter()
                .map(|item| numbers(item, ["slot", "mcs", "rv", "harq"]))
                .collect();
            let wanted: Vec<_> = run
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::Dci(dci) if dci.direction == direction => Some([
                        dci.sent_in.slot as i64 % 20,
                        dci.mcs.into(),
                        dci.rv.into(),
                        dci.harq.into(),
                    ]),
                    _ => None,
                })
                .collect();
            assert!(wanted.len() > 100);
            same(&found, &wanted);
        }

        let found: Vec<_> = items(&run.read(0xB8A7), &["slots", "reports", "csi"])
            .iter()
            .map(|item| numbers(item, ["cqi", "ri"]))
            .collect();
        let wanted: Vec<_> = run
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Channel(_, report) => {
                    Some([i64::from(report.cqi), i64::from(report.rank) - 1])
                }
                _ => None,
            })
            .collect();
        assert!(wanted.len() > 100);
        same(&found, &wanted);

        let cells = items(&run.read(0xB97F), &["layers", "cells"]);
        let signals = run.events.iter().filter_map(|event| match event {
            Event::Signal(_, signal) => Some(signal),
            _ => None,
        });
        let signals: Vec<_> = signals.collect();
        assert_eq!(cells.len(), signals.len());
        // Half a step of the record, and half a step of the decibels that were rounded to it.
        const HALF_STEP: f32 = 1.0 / 256.0 + 0.5e-4;
        for (cell, signal) in cells.iter().zip(signals) {
            let level = |name| cell.real(name).expect("it has one") as f32;
            assert!(
                (level("rsrp_dbm") - signal.rsrp_dbm).abs() <= HALF_STEP,
                "{signal:?} {cell:?}"
            );
            assert!((level("rsrq_db") - signal.rsrq_db).abs() <= HALF_STEP, "{signal:?} {cell:?}");
        }

        for (code, about) in [(0xB84E, Direction::Uplink), (0xB869, Direction::Downlink)] {
            let found: Vec<Vec<i64>> = items(&run.read(code), &["pdus"])
                .iter()
                .map(|pdu| pdu.list("nacks").iter().map(|one| numbers(one, ["sn"])[0]).collect())
                .collect();
            let told: Vec<Vec<i64>> = run
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::Status { direction, status, .. } if *direction == about => {
                        Some(status.nack_sns.iter().map(|&sn| i64::from(sn)).collect())
                    }
                    _ => None,
                })
                .collect();
            asked += told.iter().flatten().count();
            assert!(!told.is_empty(), "{code:x}");
            same(&found, &told);
        }
    }
    assert!(asked > 0, "some block was lost for good");
}
