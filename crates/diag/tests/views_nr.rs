//! The typed views of NR records agree with the generic reading, in every version of every record.

mod synthetic;
mod tree;

use sounding_diag::LogCode;
use sounding_diag::mac::nr::Element;
use sounding_diag::radio::{Decibels, Slot};
use sounding_diag::record::{self, Record};

use tree::{Builder, Item};

/// Calls `check` with the tree and the view of many records of one code.
fn each(code: u16, mut check: impl FnMut(&Item, Record<'_>)) {
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

/// The items of a list of lists, each after its own fields with those of the item that holds it.
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

fn slot(item: &Item) -> Option<Slot> {
    let number = |name| item.number(name).and_then(|number| u16::try_from(number).ok());
    let numerology = number("numerology").map(|number| number as u8);
    number("frame")
        .zip(number("slot"))
        .and_then(|(frame, slot)| Slot::new(frame, slot as u8, numerology))
}

fn zip<T>(views: impl Iterator<Item = T>, items: &[Item]) -> Vec<(T, &Item)> {
    let views: Vec<T> = views.collect();
    assert_eq!(views.len(), items.len());
    views.into_iter().zip(items).collect()
}

fn optional(value: Option<impl Into<i64>>) -> Option<i64> {
    value.map(Into::into)
}

#[test]
fn downlink_blocks() {
    each(0xB887, |tree, record| {
        let Record::NrPdschStatus(status) = record else { panic!("{record:?}") };
        let slots = tree.list("slots");
        let blocks = nested(slots, "blocks");
        let items = if blocks.is_empty() { slots } else { &blocks };
        for (view, item) in zip(status.blocks(), items) {
            let number = |name| item.number(name);
            assert_eq!(view.slot, slot(item));
            assert_eq!(Some(i64::from(view.pci)), number("pci"));
            assert_eq!(optional(view.arfcn), number("arfcn"));
            assert_eq!(Some(view.size.count().cast_signed()), number("tb_bytes"));
            assert_eq!(Some(i64::from(view.mcs)), number("mcs"));
            assert_eq!(Some(i64::from(view.rbs.count())), number("rbs"));
            assert_eq!(Some(i64::from(view.layers) - 1), number("layers_less_one"));
            assert_eq!(optional(view.rv), number("rv"));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(optional(view.rnti), number("rnti"));
            assert_eq!(optional(view.k1), number("k1"));
            assert_eq!(optional(view.ndi), number("ndi"));
            assert_eq!(optional(view.new), number("new"));
            assert_eq!(optional(view.retx), number("retx"));
            assert_eq!(Some(i64::from(view.received)), number("crc"));
            let order =
                view.modulation.map(|modulation| [1, 5, 9, 12][usize::from(modulation.order())]);
            assert_eq!(order, number("modulation").filter(|number| [1, 5, 9, 12].contains(number)));
        }
    });
}

#[test]
fn uplink_transmissions() {
    each(0xB883, |tree, record| {
        let Record::NrUplinkSchedule(schedule) = record else { panic!("{record:?}") };
        let items = nested(&nested(tree.list("slots"), "carriers"), "pusch");
        for (view, item) in zip(schedule.transmissions(), &items) {
            let number = |name| item.number(name);
            assert_eq!(view.slot, slot(item));
            assert_eq!(optional(view.carrier), number("carrier"));
            assert_eq!(Some(view.size.count().cast_signed()), number("tb_bytes"));
            assert_eq!(Some(i64::from(view.mcs)), number("mcs"));
            assert_eq!(Some(i64::from(view.start_rb)), number("start_rb"));
            assert_eq!(Some(i64::from(view.rbs.count())), number("rbs"));
            assert_eq!(Some(i64::from(view.rv)), number("rv"));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(Some(i64::from(view.k2)), number("k2"));
            assert_eq!(
                Some(view.transform_precoding),
                number("transform_precoding").map(|n| n != 0)
            );
            assert_eq!(view.new, number("tx_type").map(|kind| kind == 0));
            let order = view.modulation.map(|modulation| i64::from(modulation.order()) + 1);
            assert_eq!(order, number("modulation").filter(|order| (1..5).contains(order)));
        }
    });
}

/// What the control elements of an item of the tree are, as the view has them.
fn elements(item: &Item) -> Vec<(i64, Option<i64>)> {
    let index = |item: &Item| item.number("bsr_index").or(item.number("power_headroom_index"));
    item.list("mac")
        .iter()
        .map(|item| (item.number("channel").expect("an element has one"), index(item)))
        .collect()
}

fn element(element: Element) -> Option<i64> {
    match element {
        Element::ShortBsr { index, .. } => Some(index.into()),
        Element::PowerHeadroom { headroom, .. } => Some(headroom.into()),
        Element::LongBsr(_) | Element::Other { .. } => None,
    }
}

#[test]
fn uplink_blocks() {
    each(0xB872, |tree, record| {
        let Record::NrUplink(uplink) = record else { panic!("{record:?}") };
        for (view, item) in zip(uplink.blocks(), &nested(tree.list("ttis"), "blocks")) {
            let number = |name| item.number(name);
            assert_eq!(view.slot, slot(item));
            assert_eq!(optional(view.carrier), number("carrier"));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(Some(view.grant.count().cast_signed()), number("grant_bytes"));
            assert_eq!(Some(view.built.count().cast_signed()), number("built_bytes"));
            assert_eq!(optional(view.bsr_reason), number("bsr_reason"));
            let found = view.controls.map(|(id, found)| (i64::from(id), element(found)));
            assert_eq!(found.collect::<Vec<_>>(), elements(item));
        }
    });
}

#[test]
fn buffer_status_reports() {
    each(0xB873, |tree, record| {
        let Record::NrUplinkBsr(reports) = record else { panic!("{record:?}") };
        for (view, item) in zip(reports.reports(), tree.list("ttis")) {
            let number = |name| item.number(name);
            assert_eq!(view.slot, slot(item));
            assert_eq!(Some(i64::from(view.carrier)), number("carrier"));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(Some(i64::from(view.reason)), number("bsr_reason"));
            assert_eq!(Some(i64::from(view.kind)), number("bsr_type"));
            assert_eq!(Some(i64::from(view.groups)), number("groups"));
            let groups = view.groups.count_ones().max(1) as usize;
            assert_eq!(item.list("group_words").len(), groups);
            let found: Vec<_> = view.element.map(element).into_iter().collect();
            assert_eq!(
                found,
                elements(item).into_iter().map(|(_, index)| index).collect::<Vec<_>>()
            );
        }
    });
}

#[test]
fn uplink_sums() {
    each(0xB881, |tree, record| {
        let Record::NrUplinkStats(stats) = record else { panic!("{record:?}") };
        for (view, item) in zip(stats.carriers(), tree.list("carriers")) {
            let number = |name| item.number(name).map(i64::cast_unsigned);
            assert_eq!(Some(view.new.count()), number("new_bytes"));
            assert_eq!(Some(view.retx.count()), number("retx_bytes"));
            assert_eq!(Some(view.rbs), number("rbs"));
            assert_eq!(Some(view.new_blocks.into()), number("new_blocks"));
            assert_eq!(Some(view.retx_blocks.into()), number("retx_blocks"));
            assert_eq!(Some(view.scheduled_slots.into()), number("scheduled_slots"));
            assert_eq!(Some(view.unscheduled_slots.into()), number("unscheduled_slots"));
        }
    });
}

#[test]
fn downlink_counters() {
    each(0xB888, |tree, record| {
        let Record::NrPdschStats(stats) = record else { panic!("{record:?}") };
        for (view, item) in zip(stats.carriers(), tree.list("carriers")) {
            let number = |name| item.number(name).map(i64::cast_unsigned);
            assert_eq!(Some(view.carrier.into()), number("carrier"));
            assert_eq!(Some(view.slots.into()), number("slots"));
            assert_eq!(Some(view.blocks.into()), number("blocks"));
            assert_eq!(Some(view.passed.into()), number("blocks_passed"));
            assert_eq!(Some(view.failed.into()), number("blocks_failed"));
            assert_eq!(Some(view.retx.into()), number("retx"));
            assert_eq!(Some(view.passed_bytes.count()), number("passed_bytes"));
            assert_eq!(Some(view.failed_bytes.count()), number("failed_bytes"));
            assert_eq!(Some(view.padding.count()), number("padding_bytes"));
            assert_eq!(Some(view.retx_bytes.count()), number("retx_bytes"));
        }
    });
}

#[test]
fn control_messages() {
    let mut seen = [0; 2];
    each(0xB885, |tree, record| {
        let Record::NrDci(dci) = record else { panic!("{record:?}") };
        let own = [tree.clone()];
        let mut items: Vec<(bool, Item)> = Vec::new();
        let both = |items: &mut Vec<(bool, Item)>, outer: &Item| {
            for (uplink, list) in [(true, "uplink"), (false, "downlink")] {
                let inner = nested(std::slice::from_ref(outer), list);
                items.extend(inner.into_iter().map(|item| (uplink, item)));
            }
        };
        both(&mut items, &own[0]);
        nested(tree.list("slots"), "messages").iter().for_each(|message| both(&mut items, message));
        let found: Vec<_> = dci.messages().collect();
        assert_eq!(found.len(), items.len());
        for (view, (uplink, item)) in found.into_iter().zip(&items) {
            let number = |name| item.number(name);
            assert_eq!((view.slot, view.uplink), (slot(item), *uplink));
            assert_eq!(Some(i64::from(view.mcs)), number("mcs"));
            assert_eq!(Some(i64::from(view.harq)), number("harq"));
            assert_eq!(optional(view.rv), number("rv"));
            assert_eq!(optional(view.ndi), number("ndi"));
            assert_eq!(optional(view.time_allocation), number("time_allocation"));
            seen[usize::from(view.uplink)] += 1;
        }
    });
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn channel_state() {
    let mut seen = 0;
    each(0xB8A7, |tree, record| {
        let Record::NrCsf(csf) = record else { panic!("{record:?}") };
        let items = nested(&nested(tree.list("slots"), "reports"), "csi");
        for (view, item) in zip(csf.reports(), &items) {
            let number = |name| item.number(name);
            assert_eq!(view.slot, slot(item));
            assert_eq!(Some(i64::from(view.report)), number("report"));
            assert_eq!(Some(i64::from(view.cqi)), number("cqi"));
            assert_eq!(Some(i64::from(view.rank) - 1), number("ri"));
            assert_eq!(Some(i64::from(view.cri)), number("cri"));
            seen += 1;
        }
    });
    assert!(seen > 0);
}

#[test]
fn measured_cells() {
    each(0xB97F, |tree, record| {
        let Record::NrSearcher(searcher) = record else { panic!("{record:?}") };
        for (view, item) in zip(searcher.cells(), &nested(tree.list("layers"), "cells")) {
            let number = |name| item.number(name);
            let level =
                |name| item.real(name).filter(|level| *level != 0.0).map(Decibels::from_f64);
            assert_eq!(Some(i64::from(view.arfcn)), number("arfcn"));
            assert_eq!(optional(view.carrier), number("carrier"));
            assert_eq!(Some(i64::from(view.pci)), number("pci"));
            assert_eq!(view.serving, number("pci") == number("serving_pci"));
            assert_eq!((view.rsrp, view.rsrq), (level("rsrp_dbm"), level("rsrq_db")));
        }
    });
}
