//! Small captures of single records, which were read independently of this project, value by value.

use std::path::PathBuf;

use serde_json::Value as Json;
use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record::{
    self, Coverage, PdcchPhich, PeriodicCsf, PeriodicReport, ServingCells,
};
use sounding_diag::{LogCode, LogRecord};
use sounding_testdata::{Need, shared_files, skip};

use crate::tree::{Builder, Item};

/// The file of this name, whatever its folder is called.
fn handed(name: &str) -> Option<PathBuf> {
    let found = shared_files("cases").into_iter().find(|path| path.ends_with(name));
    if found.is_none() {
        skip(Need::Data, format_args!("no {name} among the shared cases"));
    }
    found
}

/// The independent reading beside a file.
fn expected(path: &std::path::Path) -> Json {
    let text = std::fs::read_to_string(path.with_file_name("expected.json")).expect("it is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Calls `each` with every record of a file; each must be read whole.
pub(crate) fn each_of(name: &str, mut each: impl FnMut(&LogRecord<'_>, &Item)) -> Option<PathBuf> {
    let path = handed(name)?;
    let bytes = std::fs::read(&path).expect("the capture can be read");
    let mut capture = Capture::new(&bytes).expect("it is a capture");
    let mut records = 0;
    while let Some(found) = capture.poll_packet() {
        let Packet::Log(log) = found.expect("no frame is damaged").packet else { continue };
        let mut tree = Builder::new();
        record::decode(&log, &mut tree).expect("it is described");
        assert_eq!(record::check(&log), Ok(Coverage::Whole), "{name}");
        each(&log, &tree.finish());
        records += 1;
    }
    assert!(records > 0, "{name} has records");
    Some(path)
}

#[test]
fn every_subframe_of_an_indication_is_where_its_fixed_space_begins() {
    let mut read = Vec::new();
    let path = each_of("b16b_v25.qmdl", |log, tree| {
        assert_eq!(log.body.len(), 4 + 25 * 80);
        let view = PdcchPhich::parse(log.body).expect("it is described");
        let counts = view.subframes().map(|one| one.messages().count()).collect::<Vec<_>>();
        let listed = tree.list("subframes").iter().map(|one| one.list("pdcch").len());
        assert_eq!(counts, listed.collect::<Vec<_>>());
        let subframes = tree.list("subframes").iter().map(|one| {
            let number = |name| one.number(name).expect("there is one");
            serde_json::json!({
                "frame": number("frame"), "subframe": number("subframe"),
                "pdcch": one.list("pdcch").len(), "phich": one.list("phich").len(),
            })
        });
        read.push(Json::Array(subframes.collect()));
    });
    if let Some(path) = path {
        assert_eq!(Json::Array(read), expected(&path));
    }
}

#[test]
fn periodic_feedback_has_the_rank_and_the_quality_of_open_loop() {
    let mut read = Vec::new();
    let path = each_of("b14d.qmdl", |log, tree| {
        let number = |name| tree.number(name).expect("there is one");
        let report = PeriodicCsf::parse(log.body).expect("it is described").report();
        let (kind, frame) = (number("report_type"), number("frame"));
        read.push(match report.expect("it has a type") {
            PeriodicReport::Quality(csi) => {
                serde_json::json!({ "frame": frame, "type": kind, "cqi_0": csi.cqi })
            }
            PeriodicReport::Rank(rank) => {
                serde_json::json!({ "frame": frame, "type": kind, "rank": rank.rank })
            }
        });
    });
    if let Some(path) = path {
        assert_eq!(Json::Array(read), expected(&path));
    }
}

/// RSRP of two antennas, combined and filtered, RSRQ and RSSI of two antennas and combined.
type Levels = ([f64; 4], [f64; 3], [f64; 3]);

fn levels(cell: &Item) -> Levels {
    let real = |name: &str| cell.real(name).unwrap_or_else(|| panic!("there is no {name}"));
    (
        ["rsrp_rx0_dbm", "rsrp_rx1_dbm", "rsrp_dbm", "rsrp_filtered_dbm"].map(real),
        ["rsrq_rx0_db", "rsrq_rx1_db", "rsrq_db"].map(real),
        ["rssi_rx0_dbm", "rssi_rx1_dbm", "rssi_dbm"].map(real),
    )
}

/// File, sub-packet's version, carrier, cell, frame and subframe, and its levels.
#[test]
fn serving_cells_of_newer_modems_have_their_levels() {
    type Case = (&'static str, i64, u32, u16, (u16, u8), Levels);
    let cases: [Case; 3] = [
        (
            "b193_v41.qmdl",
            41,
            6300,
            107,
            (1001, 6),
            (
                [-82.9375, -94.3125, -82.9375, -82.9375],
                [-10.125, -8.9375, -8.9375],
                [-55.875, -68.375, -55.875],
            ),
        ),
        (
            "b193_v57.qmdl",
            57,
            1600,
            27,
            (960, 9),
            (
                [-102.0, -101.1875, -101.1875, -101.125],
                [-14.5, -15.5, -14.5],
                [-67.5625, -65.6875, -65.6875],
            ),
        ),
        (
            "b193_v59_one_cell.qmdl",
            59,
            2325,
            435,
            (752, 6),
            (
                [-93.75, -85.1875, -85.1875, -85.25],
                [-8.5625, -7.875, -7.875],
                [-66.4375, -58.5625, -58.5625],
            ),
        ),
    ];
    for (name, version, earfcn, pci, (frame, subframe), wanted) in cases {
        each_of(name, |log, tree| {
            let packet = &tree.list("sub_packets")[0];
            assert_eq!(packet.number("version"), Some(version));
            let [cell] = packet.list("cells") else { panic!("{name} has one cell") };
            assert_eq!(levels(cell), wanted, "{name}");
            let absent = ["rsrp_rx2_dbm", "rsrp_rx3_dbm"].map(|name| cell.real(name));
            assert_eq!(absent, [None; 2], "{name} has two antennas");
            let cells = ServingCells::parse(log.body).expect("it is described");
            let [cell] = cells.cells().collect::<Vec<_>>()[..] else { panic!("{name}") };
            let tti = cell.tti.expect("it has a time");
            let found = (cell.earfcn, cell.pci, tti.sfn(), tti.subframe(), cell.serving);
            assert_eq!(found, (earfcn, pci, frame, subframe, Some(true)), "{name}");
        });
    }
}

#[test]
fn a_cell_has_its_carrier_and_bandwidth_in_the_third_version() {
    each_of("b197_v3.qmdl", |_, tree| {
        let number = |name| tree.number(name).expect("there is one");
        let found = ["version", "earfcn", "pci", "dl_bandwidth_prb", "tx_antennas"].map(number);
        assert_eq!(found, [3, 6200, 278, 50, 1]);
    });
}

/// Of two versions these are the only captures.
#[test]
fn messages_of_rare_versions_are_pages_of_their_cell() {
    each_of("nr17.qmdl", |log, tree| {
        assert_eq!((log.code, log.code.version_of(log.body)), (LogCode::new(0xB821), Some(17)));
        let number = |name| tree.number(name).expect("there is one");
        assert_eq!((number("nr_arfcn"), number("pci")), (634_080, 502));
    });
    each_of("rrc16.qmdl", |log, tree| {
        assert_eq!((log.code, log.code.version_of(log.body)), (LogCode::new(0xB0C0), Some(16)));
        let number = |name| tree.number(name).expect("there is one");
        assert_eq!((number("earfcn"), number("pci")), (1850, 411));
        assert_eq!((number("frame"), number("subframe")), (65, 9));
    });
}
