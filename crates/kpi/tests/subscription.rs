//! A subscription reads the same values as decoding the whole record and looking them up by name.

mod decoded;
#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
#[path = "../../diag/tests/tree/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use sounding_diag::LogCode;
use sounding_diag::capture::Capture;
use sounding_diag::layout::{Kind, Layout, Part};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, RecordCounts, RecordError};
use sounding_kpi::registry::{self, NamedKpi, Source};
use sounding_kpi::{Subscription, Unread};

use decoded::{decoded, subscribed};
use tree::Builder;

/// The KPIs that are fields; those from messages have their own tests.
fn fields() -> impl Iterator<Item = &'static NamedKpi> {
    registry::all().filter(|kpi| matches!(kpi.source, Source::Field { .. }))
}

#[test]
fn every_kpi_of_every_version_is_what_decoding_the_record_gives() {
    let mut met: BTreeMap<&str, usize> = fields().map(|kpi| (kpi.name, 0)).collect();
    for seed in 0..40 {
        for (code, body) in synthetic::bodies(seed) {
            let log = synthetic::record(code, &body);
            for kpi in fields().filter(|kpi| kpi.code == code) {
                let expected = decoded(kpi, &log).expect("synthetic bodies are whole");
                let found = subscribed(kpi, &log).expect("synthetic bodies are whole");
                assert_eq!(found, expected, "{} v{} seed {seed}", kpi.name, body[0]);
                *met.entry(kpi.name).or_default() += found.len();
            }
        }
    }
    let silent: Vec<_> = met.iter().filter(|(_, values)| **values == 0).collect();
    assert!(silent.is_empty(), "never met: {silent:?}");
}

#[test]
fn a_record_cut_short_gives_what_its_path_still_has_or_an_error_and_nothing() {
    for (code, body) in synthetic::bodies(1) {
        for kpi in fields().filter(|kpi| kpi.code == code) {
            let whole = subscribed(kpi, &synthetic::record(code, &body)).expect("whole");
            for cut in (0..body.len()).step_by(1 + body.len() / 50) {
                let log = synthetic::record(code, &body[..cut]);
                let mut values = Vec::new();
                let mut subscription = Subscription::of([kpi]);
                let read = subscription.handle(&log, |reading| {
                    values.push((reading.item.levels().to_vec(), reading.value));
                });
                match read {
                    Ok(_) => assert_eq!(values, whole, "{} cut at {cut}", kpi.name),
                    Err(Unread::Record(RecordError::Corrupt { .. })) => {
                        assert!(values.is_empty(), "{} cut at {cut}", kpi.name);
                        assert_eq!(subscription.counts().by_coverage.corrupt, 1);
                        let decoded = record::decode(&log, &mut Builder::new());
                        assert!(decoded.is_err(), "{} cut at {cut}", kpi.name);
                    }
                    Err(error) => panic!("{}: {error}", kpi.name),
                }
            }
        }
    }
}

#[test]
fn an_undescribed_version_is_counted() {
    let kpi = registry::find("lte.pusch.tbs").expect("it is registered");
    let mut subscription = Subscription::of([kpi]);
    let log = synthetic::record(kpi.code, &[255, 0, 0, 0, 0, 0, 0, 0]);
    let refused = subscription.handle(&log, |reading| panic!("{reading:?}"));
    assert!(matches!(refused, Err(Unread::Record(RecordError::Unsupported { .. }))));
    assert_eq!(subscription.counts().by_coverage.unsupported, 1);
}

#[test]
fn a_version_without_the_kpi_is_counted_apart() {
    let kpi = registry::find("lte.pusch.carrier").expect("it is registered");
    let mut subscription = Subscription::of([kpi]);
    let mut body = vec![0; 8 + 48];
    (body[0], body[2]) = (23, 1 << 1);
    let read = subscription.handle(&synthetic::record(kpi.code, &body), |r| panic!("{r:?}"));
    assert_eq!(read, Ok(true));
    assert_eq!(subscription.counts().lacking, 1);
}

/// The periodic feedback that the other bytes are added to.
fn feedback(beyond: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 12];
    (body[0], body[3]) = (101, 4 << 1);
    body[4..8].copy_from_slice(&(9_u32 << 10).to_le_bytes());
    body.extend(beyond);
    body
}

#[test]
fn a_record_beyond_its_layout_keeps_its_values_and_is_counted_apart() {
    let kpi = registry::find("lte.csf.cqi").expect("it is registered");
    for (beyond, counts) in [
        (&[][..], RecordCounts { whole: 1, ..RecordCounts::default() }),
        (&[0, 0][..], RecordCounts { longer: 1, ..RecordCounts::default() }),
    ] {
        let mut subscription = Subscription::of([kpi]);
        let mut values = Vec::new();
        let body = feedback(beyond);
        let log = synthetic::record(kpi.code, &body);
        assert_eq!(subscription.handle(&log, |reading| values.push(reading.value)), Ok(true));
        assert_eq!(values, [9.0]);
        assert_eq!(subscription.counts().by_coverage, counts);
    }
}

#[test]
fn wideband_quality_without_a_precoder_has_a_kpi_in_every_version() {
    let layouts = record::layouts(LogCode::new(0xB14D)).expect("it is described");
    let mut typed = 0;
    for layout in layouts {
        for choice in choices(layout, "report_type") {
            typed += usize::from(choice == "wideband_cqi");
        }
    }
    assert_eq!(typed, layouts.len());
}

/// The names of a choice of a record's first block.
fn choices(layout: &Layout, name: &str) -> Vec<&'static str> {
    let Some(Part::Block(block)) = layout.parts.first() else { panic!("a block comes first") };
    let mut fields = block.fields.iter().copied().flatten();
    match fields.find(|field| field.name == name).map(|field| field.kind) {
        Some(Kind::Names(names)) => names.iter().map(|(_, name)| *name).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn an_undescribed_sub_packet_is_counted() {
    let kpi = registry::find("lte.cell.rsrp").expect("it is registered");
    let mut subscription = Subscription::of([kpi]);
    let log = synthetic::record(kpi.code, &[1, 1, 0, 0, 25, 255, 8, 0, 1, 2, 3, 4]);
    assert_eq!(subscription.handle(&log, |reading| panic!("{reading:?}")), Ok(true));
    assert_eq!(subscription.counts().by_coverage.unsupported, 1);
}

#[test]
fn an_unknown_name_is_reported() {
    let refused = Subscription::new(["lte.pusch.tbs", "lte.pusch.colour"]).map(|_| ());
    let said = refused.expect_err("there is no such KPI").to_string();
    assert!(said.contains("lte.pusch.colour"), "{said}");
}

#[test]
fn the_log_mask_is_the_records_of_the_kpis_and_no_more() {
    let names = ["lte.pusch.tbs", "lte.cell.rsrp", "lte.pusch.prb", "lte.pusch.tbs"];
    let subscription = Subscription::new(names).expect("all are registered");
    let codes: Vec<_> = subscription.codes().map(LogCode::number).collect();
    assert_eq!(codes, [0xB139, 0xB193]);
    let kpis: Vec<_> = subscription.kpis().iter().map(|kpi| kpi.name).collect();
    assert_eq!(kpis, ["lte.pusch.tbs", "lte.cell.rsrp", "lte.pusch.prb"]);
}

#[test]
fn readings_of_real_captures_agree_with_decoding_and_lie_in_their_ranges() {
    let mut outside: BTreeMap<&str, (f64, f64, u64)> = BTreeMap::new();
    let mut met = BTreeSet::new();
    for path in sounding_testdata::shared_files("captures") {
        let bytes = std::fs::read(&path).expect("a shared file is readable");
        let Ok(mut capture) = Capture::new(&bytes) else { continue };
        let mut left: BTreeMap<_, u32> = BTreeMap::new();
        while let Some(found) = capture.poll_packet() {
            let Ok(located) = found else { continue };
            let Packet::Log(log) = located.packet else { continue };
            // The first records of each kind in each file: decoding all by name would take minutes.
            let taken = left.entry(log.code).or_default();
            *taken += 1;
            if *taken > 60 {
                continue;
            }
            for kpi in fields().filter(|kpi| kpi.code == log.code) {
                let Ok(expected) = decoded(kpi, &log) else { continue };
                assert_eq!(subscribed(kpi, &log), Ok(expected.clone()), "{}", kpi.name);
                for (_, value) in expected {
                    met.insert(kpi.name);
                    if !(kpi.least..=kpi.most).contains(&value) {
                        let (least, most, times) =
                            outside.entry(kpi.name).or_insert((value, value, 0));
                        (*least, *most) = (least.min(value), most.max(value));
                        *times += 1;
                    }
                }
            }
        }
    }
    assert!(outside.is_empty(), "outside their ranges (least, most, how often): {outside:#?}");
    println!("{} KPIs met in real captures", met.len());
}
