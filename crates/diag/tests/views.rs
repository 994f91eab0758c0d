//! The typed views agree with the generic reading, in every version of every record.

mod synthetic;
mod tree;

use sounding_diag::LogCode;
use sounding_diag::radio::{Decibels, Tti};
use sounding_diag::record::{self, Record};

use tree::{Builder, Item};

/// Calls `check` with the tree and the view of many records of one code.
fn each(code: u16, check: impl Fn(&Item, Record<'_>)) {
    let mut versions = Vec::new();
    for seed in 0..20 {
        for (found, body) in synthetic::bodies(seed) {
            if found != LogCode::new(code) {
                continue;
            }
            let log = synthetic::record(found, &body);
            let mut builder = Builder::new();
            record::decode(&log, &mut builder).expect("it is a record");
            check(&builder.finish(), Record::parse(&log).expect("it is a record"));
            versions.push(found.version_of(&body).expect("it has one"));
        }
    }
    let known = record::layouts(LogCode::new(code)).into_iter().flatten();
    let known: Vec<u32> = known.flat_map(|layout| layout.versions).copied().collect();
    assert!(known.iter().all(|version| versions.contains(version)), "every version is checked");
}

/// The items of a list of lists, each after the fields of the item that holds it.
fn nested(items: &[Item], list: &str) -> Vec<Item> {
    let inner = |outer: &Item| {
        let outer = outer.clone();
        let items = outer.list(list).to_vec();
        items.into_iter().map(move |mut item| {
            item.0.extend(outer.0.iter().filter(|(name, _)| *name != list).cloned());
            item
        })
    };
    items.iter().flat_map(inner).collect()
}

fn tti(item: &Item) -> Option<Tti> {
    let number = |name| item.number(name).and_then(|number| u16::try_from(number).ok());
    number("frame").zip(number("subframe")).and_then(|(sfn, sf)| Tti::new(sfn, sf as u8))
}

fn zip<T>(views: impl Iterator<Item = T>, items: &[Item]) -> Vec<(T, &Item)> {
    let views: Vec<T> = views.collect();
    assert_eq!(views.len(), items.len());
    views.into_iter().zip(items).collect()
}

#[test]
fn pusch_transmissions() {
    each(0xB139, |tree, record| {
        let Record::PuschTx(report) = record else { panic!("{record:?}") };
        assert_eq!(Some(i64::from(report.pci())), tree.number("pci"));
        for (view, item) in zip(report.transmissions(), tree.list("transmissions")) {
            let number = |name| item.number(name);
            let count = number("tti").and_then(|count| Tti::from_count(count as u64));
            assert_eq!(view.tti, count);
            assert_eq!(i64::from(view.carrier), number("carrier").unwrap_or(0));
            assert_eq!(Some(i64::from(view.retx)), number("retx"));
            assert_eq!(Some(i64::from(view.rv)), number("rv"));
            assert_eq!(Some(i64::from(view.start_rb)), number("start_rb_slot_0"));
            let clusters = number("rbs").map(|rbs| rbs + number("rbs_cluster_1").unwrap_or(0));
            assert_eq!(Some(i64::from(view.rbs.count())), clusters);
            assert_eq!(Some(view.size.count().cast_signed()), number("tb_bytes"));
            let order = view.modulation.map(|modulation| i64::from(modulation.order()) + 1);
            assert_eq!(order, number("modulation").filter(|order| (1..5).contains(order)));
            let power = number("power_dbm").map(|dbm| dbm as f64);
            assert_eq!(Some(view.power.as_f64()), power.or(item.real("power_dbm")));
            assert_eq!(view.dropped.map(i64::from), number("dropped"));
        }
    });
}

#[test]
fn uplink_blocks() {
    each(0xB064, |tree, record| {
        let Record::MacUplink(uplink) = record else { panic!("{record:?}") };
        let samples = nested(tree.list("sub_packets"), "samples");
        for (view, item) in zip(uplink.blocks(), &samples) {
            let number = |name| item.number(name);
            assert_eq!(view.tti, tti(item));
            assert_eq!(i64::from(view.cell), number("cell").unwrap_or(0));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(Some(i64::from(view.rnti.number())), number("rnti"));
            assert_eq!(Some(view.grant.count().cast_signed()), number("grant_bytes"));
            assert_eq!(Some(view.padding.count().cast_signed()), number("padding_bytes"));
            assert_eq!(Some(i64::from(view.rlc_pdus)), number("rlc_pdus"));
            assert_eq!(Some(view.pdu.bytes().len() as i64), number("header_len_bytes"));
            assert_eq!(view.pdu.subheaders().count(), item.list("mac").len());
        }
    });
}

#[test]
fn downlink_blocks() {
    each(0xB063, |tree, record| {
        let Record::MacDownlink(downlink) = record else { panic!("{record:?}") };
        let mut items = nested(tree.list("sub_packets"), "samples");
        items.extend_from_slice(tree.list("blocks"));
        for (view, item) in zip(downlink.blocks(), &items) {
            let number = |name| item.number(name);
            assert_eq!(view.tti, tti(item));
            assert_eq!(i64::from(view.cell), number("cell").unwrap_or(0));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(Some(i64::from(view.rnti.number())), number("rnti"));
            assert_eq!(Some(view.size.count().cast_signed()), number("tb_bytes"));
            assert_eq!(Some(view.padding.count().cast_signed()), number("padding_bytes"));
            assert_eq!(view.rlc_pdus.map(i64::from), number("rlc_pdus"));
        }
    });
}

#[test]
fn uplink_buffers() {
    each(0xB066, |tree, record| {
        let Record::UplinkBuffer(buffer) = record else { panic!("{record:?}") };
        let samples = nested(tree.list("sub_packets"), "samples");
        for (view, item) in zip(buffer.samples(), &samples) {
            assert_eq!(view.tti, tti(item));
            for (view, item) in zip(view.channels(), item.list("channels")) {
                let number = |name| item.number(name);
                assert_eq!(Some(i64::from(view.channel)), number("channel"));
                assert_eq!(Some(i64::from(view.priority)), number("priority"));
                let uncompressed = number("new_uncompressed_bytes").unwrap_or(0);
                let new = number("new_bytes").map(|new| new + uncompressed);
                assert_eq!(Some(view.new.count().cast_signed()), new);
                assert_eq!(Some(view.retx.count().cast_signed()), number("retx_bytes"));
                assert_eq!(Some(view.control.count().cast_signed()), number("control_bytes"));
            }
        }
    });
}

#[test]
fn uplink_statistics() {
    each(0xB067, |tree, record| {
        let Record::MacUplinkStats(stats) = record else { panic!("{record:?}") };
        for (view, item) in zip(stats.statistics(), tree.list("sub_packets")) {
            let number = |name| item.number(name);
            assert_eq!(Some(i64::from(view.samples)), number("sample_count"));
            assert_eq!(Some(i64::from(view.padding_bsrs)), number("padding_bsrs"));
            assert_eq!(Some(i64::from(view.regular_bsrs)), number("regular_bsrs"));
            assert_eq!(Some(i64::from(view.periodic_bsrs)), number("periodic_bsrs"));
            assert_eq!(Some(i64::from(view.cancelled_bsrs)), number("cancelled_bsrs"));
            assert_eq!(Some(view.granted.count().cast_signed()), number("granted_bytes"));
            assert_eq!(Some(view.used.count().cast_signed()), number("used_bytes"));
        }
    });
}

#[test]
fn downlink_assignments() {
    each(0xB126, |tree, record| {
        let Record::PdschDemapper(demapper) = record else { panic!("{record:?}") };
        let own = [tree.clone()];
        let listed = nested(&own, "assignments");
        let items = if listed.is_empty() { &own[..] } else { &listed[..] };
        for (view, item) in zip(demapper.assignments(), items) {
            let number = |name| item.number(name);
            assert_eq!(view.tti, tti(item));
            assert_eq!(Some(i64::from(view.pci)), number("pci"));
            assert_eq!(Some(i64::from(view.carrier)), number("carrier"));
            assert_eq!(Some(i64::from(view.rnti.number())), number("rnti"));
            assert_eq!(Some(i64::from(view.rnti_value)), number("rnti_value"));
            let word = |name| number(name).map(i64::cast_unsigned).map(u128::from);
            let map = word("rbs_slot_0_high").zip(word("rbs_slot_0_low"));
            assert_eq!(Some(view.rb_map), map.map(|(high, low)| high << 64 | low));
            assert_eq!(Some(i64::from(view.rank) - 1), number("rank"));
            let sizes = view.sizes.map(|size| Some(size.count().cast_signed()));
            let bytes = |name| number(name).map(|bits| bits / 8);
            assert_eq!(sizes, [bytes("tb_bits_0"), bytes("tb_bits_1")]);
            let orders = view.modulations.map(|order| order.map(|order| i64::from(order.order())));
            assert_eq!(orders, [number("modulation_0"), number("modulation_1")]);
        }
    });
}

#[test]
fn control_messages() {
    each(0xB130, |tree, record| {
        let Record::PdcchDecoding(pdcch) = record else { panic!("{record:?}") };
        let own = [tree.clone()];
        let mut items = nested(&own, "hypotheses");
        items.extend(nested(&nested(&own, "groups"), "hypotheses"));
        for (view, item) in zip(pdcch.messages(), &items) {
            let number = |name| item.number(name);
            let offset = number("subframe_offset").unwrap_or(0) as u16;
            assert_eq!(view.tti, tti(item).map(|tti| tti.after(offset)));
            assert_eq!(Some(i64::from(view.carrier)), number("carrier"));
            assert_eq!(Some(i64::from(view.rnti.number())), number("rnti"));
            assert_eq!(Some(i64::from(view.format)), number("format"));
            assert_eq!(Some(i64::from(view.start_cce)), number("start_cce"));
            assert_eq!(Some(i64::from(view.payload_bits)), number("payload_bits"));
            assert_eq!(Some(view.payload.as_slice()), item.bytes("payload"));
            assert_eq!(Some(i64::from(view.prune_status)), number("prune_status"));
        }
    });
}

#[test]
fn decoded_blocks() {
    each(0xB132, |tree, record| {
        let Record::PdschDecoding(pdsch) = record else { panic!("{record:?}") };
        let own = [tree.clone()];
        let items = nested(&nested(&own, "assignments"), "blocks");
        assert_eq!(Some(i64::from(pdsch.pci())), tree.number("pci"));
        for (view, item) in zip(pdsch.blocks(), &items) {
            let number = |name| item.number(name);
            let offset = number("subframe_offset").unwrap_or(0) as u16;
            assert_eq!(view.tti, tti(item).map(|tti| tti.after(offset)));
            assert_eq!(Some(i64::from(view.carrier)), number("carrier"));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(Some(i64::from(view.rnti.number())), number("rnti"));
            assert_eq!(Some(i64::from(view.codeword)), number("codeword"));
            assert_eq!(Some(i64::from(view.received)), number("crc"));
            assert_eq!(Some(i64::from(view.ndi)), number("ndi"));
            assert_eq!(Some(i64::from(view.retx)), number("retx"));
            assert_eq!(Some(i64::from(view.rv)), number("rv"));
            assert_eq!(view.resource_elements.map(i64::from), number("resource_elements"));
        }
    });
}

#[test]
fn indications() {
    each(0xB16B, |tree, record| {
        let Record::PdcchPhich(report) = record else { panic!("{record:?}") };
        for (view, item) in zip(report.subframes(), tree.list("subframes")) {
            assert_eq!(view.tti, tti(item));
            for (view, item) in zip(view.messages(), item.list("pdcch")) {
                let number = |name| item.number(name);
                assert_eq!(Some(i64::from(view.cell)), number("cell"));
                assert_eq!(Some(i64::from(view.rnti.number())), number("rnti"));
                assert_eq!(Some(i64::from(view.payload_bits)), number("payload_bits"));
                assert_eq!(Some(i64::from(view.aggregation.ilog2())), number("aggregation"));
                assert_eq!(Some(i64::from(view.new_downlink)), number("new_downlink"));
                assert_eq!(Some(i64::from(view.downlink_blocks)), number("downlink_blocks"));
            }
            let mut answers: Vec<_> = item
                .list("phich")
                .iter()
                .filter(|item| item.number("present") == Some(1))
                .map(|item| (item.number("cell"), item.number("answer")))
                .collect();
            if item.number("phich_present") == Some(1) {
                answers.push((Some(0), item.number("phich")));
            }
            let views = view
                .answers()
                .map(|answer| (Some(i64::from(answer.cell)), Some(i64::from(answer.acknowledged))));
            assert_eq!(views.collect::<Vec<_>>(), answers);
        }
    });
}

#[test]
fn downlink_statistics() {
    each(0xB173, |tree, record| {
        let Record::PdschStat(stat) = record else { panic!("{record:?}") };
        for (view, item) in zip(stat.subframes(), tree.list("subframes")) {
            assert_eq!(view.tti, tti(item));
            // Version 50 has them in its blocks alone.
            let blocks =
                || item.list("blocks").iter().filter_map(|block| block.number("rbs")).max();
            let rbs = item.number("rbs").or_else(|| Some(blocks().unwrap_or(0)));
            assert_eq!(Some(i64::from(view.rbs.count())), rbs);
            assert_eq!(Some(i64::from(view.layers)), item.number("layers"));
            assert_eq!(Some(i64::from(view.cell)), item.number("cell"));
            for (view, item) in zip(view.blocks(), item.list("blocks")) {
                let number = |name| item.number(name);
                assert_eq!(Some(i64::from(view.harq)), number("harq"));
                assert_eq!(Some(i64::from(view.rv)), number("rv"));
                assert_eq!(Some(i64::from(view.ndi)), number("ndi"));
                assert_eq!(Some(i64::from(view.received)), number("crc"));
                assert_eq!(Some(i64::from(view.rnti.number())), number("rnti"));
                assert_eq!(Some(i64::from(view.index)), number("index"));
                assert_eq!(Some(view.size.count().cast_signed()), number("tb_bytes"));
                assert_eq!(Some(i64::from(view.mcs)), number("mcs"));
                assert_eq!(Some(i64::from(view.rbs.count())), number("rbs"));
                let bits = view.modulation.map(|modulation| i64::from(modulation.bits()));
                let known = number("modulation").filter(|bits| [2, 4, 6, 8].contains(bits));
                assert_eq!(bits, known);
            }
        }
    });
}

#[test]
fn serving_cells() {
    each(0xB193, |tree, record| {
        let Record::ServingCells(cells) = record else { panic!("{record:?}") };
        let items: Vec<Item> = tree
            .list("sub_packets")
            .iter()
            .flat_map(|packet| match packet.number("cell_count") {
                Some(_) => nested(std::slice::from_ref(packet), "cells"),
                None => vec![packet.clone()],
            })
            .collect();
        for (view, item) in zip(cells.cells(), &items) {
            let number = |name| item.number(name);
            let level = |name| item.real(name).map(Decibels::from_f64);
            assert_eq!(Some(i64::from(view.earfcn)), number("earfcn"));
            assert_eq!(Some(i64::from(view.pci)), number("pci"));
            assert_eq!(Some(i64::from(view.cell)), number("cell"));
            assert_eq!(view.serving.map(i64::from), number("serving"));
            assert_eq!(view.tti, tti(item));
            assert_eq!(view.rsrp, level("rsrp_dbm"));
            assert_eq!(view.rsrq, level("rsrq_db"));
            assert_eq!(view.rssi, level("rssi_dbm"));
            assert_eq!(view.snr, [level("snr_rx0_db"), level("snr_rx1_db")]);
        }
    });
}
