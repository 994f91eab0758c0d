//! NR records: single ones with a second decoder's reading of them, and those of a real capture.

use std::collections::BTreeMap;

use sounding_diag::LogCode;
use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, NrSearcher};
use sounding_testdata::shared;

use crate::tree::{Builder, Item};
use crate::vectors::{Vector, decode, number, vectors};

/// A level as the second decoder prints it; it has 0 where nothing was measured.
fn level(item: &Item, name: &str) -> String {
    format!("{:.2}", item.real(name).unwrap_or_else(|| panic!("there is no {name}")))
}

fn beam_id(item: &Item, name: &str) -> String {
    match number(item, name) {
        0xFFFF => "NA".into(),
        id => id.to_string(),
    }
}

/// One line for each layer, cell and beam, as the second decoder prints them; `cells` and `index` are the two bytes
/// that it takes for the number of cells and the index of the serving one, `ssb` that of the serving beam.
fn print(tree: &Item, minor: i64) -> Vec<String> {
    let (layers, period) = (number(tree, "layer_count"), number(tree, "ssb_period_ms"));
    let mut lines = vec![format!("NR ML1 Meas Packet: Layers: {layers}, ssb_periocity: {period}")];
    let major = number(tree, "version_major");
    for (i, layer) in tree.list("layers").iter().enumerate() {
        // Of 2.9 and 2.10 it has the layer begin as that of 2.7 does: the carrier for the number of cells, that for
        // the serving index, and that for the serving beam.
        let names = match (major, minor) {
            (2, 7) => ["cell_count", "serving_index", "serving_ssb"],
            (2, _) => ["carrier", "cell_count", "serving_index"],
            _ => ["cell_count", "serving_index", "serving_ssb"],
        };
        let [cells, index, ssb] = names.map(|name| number(layer, name));
        let mut levels = vec!["serving_rsrp_rx0_dbm", "serving_rsrp_rx1_dbm"];
        if major == 3 {
            levels.extend(["serving_rsrp_rx2_dbm", "serving_rsrp_rx3_dbm"]);
        }
        let levels: Vec<String> = levels.into_iter().map(|name| level(layer, name)).collect();
        lines.push(format!(
            "Layer {i}: NR-ARFCN: {}, SCell PCI: {:4}/SSB: {}, RSRP: {}, RX beam: {}/{}, Num Cells: {cells} (S: {index})",
            number(layer, "arfcn"),
            number(layer, "serving_pci"),
            ssb & 15,
            levels.join("/"),
            beam_id(layer, "serving_rx_beam_0"),
            beam_id(layer, "serving_rx_beam_1"),
        ));
        for (i, cell) in layer.list("cells").iter().enumerate() {
            lines.push(format!(
                "└── Cell {i}: PCI: {:4}, PBCH SFN: {}, RSRP: {}, RSRQ: {}, Num Beams: {}",
                number(cell, "pci"),
                number(cell, "frame"),
                level(cell, "rsrp_dbm"),
                level(cell, "rsrq_db"),
                number(cell, "beam_count"),
            ));
            for (i, beam) in cell.list("beams").iter().enumerate() {
                let pair = |a, b| format!("{}/{}", level(beam, a), level(beam, b));
                let quality = match beam.real("rsrq_rx0_db") {
                    Some(_) => format!(", RSRQ: {}", pair("rsrq_rx0_db", "rsrq_rx1_db")),
                    None => String::new(),
                };
                lines.push(format!(
                    "    └── Beam {i}: SSB[{}] Beam ID: {}/{}, RSRP: {}{quality}, Filtered RSRP/RSRQ (Nr2Nr): {}, \
                     Filtered RSRP/RSRQ (L2Nr): {}",
                    number(beam, "ssb"),
                    number(beam, "rx_beam_0"),
                    number(beam, "rx_beam_1"),
                    pair("rsrp_rx0_dbm", "rsrp_rx1_dbm"),
                    pair("filtered_rsrp_dbm", "filtered_rsrq_db"),
                    pair("l2nr_rsrp_dbm", "l2nr_rsrq_db"),
                ));
            }
        }
    }
    lines
}

/// A record of version 2.7 with the header of 2.9: its layers have the cells where 2.9 has the carrier, and no cells
/// where 2.9 has them. The second decoder reads both.
fn is_of_another_version(body: &[u8]) -> bool {
    body[0] == 9 && body[24..26] == [1, 0]
}

#[test]
fn measured_cells_are_those_of_a_second_decoder() {
    let mut compared = Vec::new();
    for Vector { body, result } in vectors("parse_nr_ml1_meas_db_update") {
        if is_of_another_version(&body) {
            continue;
        }
        let tree = decode(0xB97F, &body);
        let minor = number(&tree, "version_minor");
        let wanted: Vec<&str> = result["stdout"].as_str().unwrap().lines().collect();
        assert_eq!(print(&tree, minor), wanted, "2.{minor}");
        compared.push((number(&tree, "version_major"), minor));
    }
    compared.sort_unstable();
    compared.dedup();
    assert!(compared.is_empty() || compared == [(2, 7), (2, 9), (2, 10), (3, 0)], "{compared:?}");
}

/// They are the bytes of two others, word for word, under another header: the cells are those of the others.
#[test]
fn records_of_another_version_are_those_of_their_own() {
    let vectors = vectors("parse_nr_ml1_meas_db_update");
    for Vector { body, result } in vectors.iter().filter(|found| is_of_another_version(&found.body))
    {
        let own: Vec<u8> = [&[7, 0, 2, 0], &body[8..]].concat();
        assert!(vectors.iter().any(|other| other.body == own), "they are there twice");
        let tree = decode(0xB97F, &own);
        let wanted: Vec<&str> = result["stdout"].as_str().unwrap().lines().collect();
        assert_eq!(print(&tree, 7), wanted);
    }
}

#[test]
fn a_serving_cell_is_one_of_the_cells_the_record_lists() {
    for Vector { body, .. } in vectors("parse_nr_ml1_meas_db_update") {
        let tree = decode(0xB97F, &body);
        let serving: Vec<i64> = tree
            .list("layers")
            .iter()
            .filter(|layer| number(layer, "cell_count") > number(layer, "serving_index"))
            .map(|layer| number(layer, "serving_pci"))
            .collect();
        let cells = NrSearcher::parse(&body).unwrap();
        for pci in cells.cells().filter(|cell| cell.serving).map(|cell| i64::from(cell.pci)) {
            assert!(serving.contains(&pci), "{pci} of {serving:?}");
        }
    }
}

#[test]
fn master_information_is_that_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_nr_mib_info") {
        let tree = decode(0xB822, &body);
        let scs = 15 << number(&tree, "scs_common");
        let found = format!(
            "NR MIB: NR-ARFCN: {}, PCI: {:4}, SFN: {}, SCS: {scs} kHz",
            number(&tree, "arfcn"),
            number(&tree, "pci"),
            number(&tree, "frame"),
        );
        assert_eq!(Some(found.as_str()), result["stdout"].as_str());
    }
}

#[test]
fn serving_cell_information_is_that_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_nr_rrc_scell_info") {
        let tree = decode(0xB823, &body);
        let digits = number(&tree, "mnc_digits") as usize;
        let found = format!(
            "NR RRC SCell Info: NR-ARFCN: {}/{}, Bandwidth: {}/{} MHz, Band: {}, PCI: {:4}, MCC: {}, MNC: {:0digits$}, \
             xTAC/xCID: {:x}/{:x}",
            number(&tree, "dl_arfcn"),
            number(&tree, "ul_arfcn"),
            number(&tree, "dl_bandwidth_mhz"),
            number(&tree, "ul_bandwidth_mhz"),
            number(&tree, "band"),
            number(&tree, "pci"),
            number(&tree, "mcc"),
            number(&tree, "mnc"),
            number(&tree, "tac"),
            number(&tree, "cell_id"),
        );
        assert_eq!(Some(found.as_str()), result["stdout"].as_str());
    }
}

/// The capture has all combinations of one device over several records, those of different sources interleaved; each
/// says how many there are in all, with which it begins and how many it has.
#[test]
fn band_combinations_of_a_device_are_complete() {
    let Some(path) = shared("captures/HandyMenny__uecapabilityparser/scat.qmdl") else { return };
    let bytes = std::fs::read(path).expect("the capture can be read");
    let mut capture = Capture::new(&bytes).expect("it is a capture");
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    while let Some(found) = capture.poll_packet() {
        let Ok(located) = found else { continue };
        let Packet::Log(log) = located.packet else { continue };
        if log.code != LogCode::new(0xB826) {
            continue;
        }
        let mut tree = Builder::new();
        record::decode(&log, &mut tree).expect("the version is described");
        let tree = tree.finish();
        let combos = tree.list("combos");
        let seen = seen.entry(number(&tree, "total_combos")).or_default();
        assert_eq!(
            (*seen, combos.len() as i64),
            (number(&tree, "first_combo"), number(&tree, "combo_count"))
        );
        *seen += combos.len() as i64;
        for combo in combos {
            let bands = combo.list("bands");
            assert!((1..=6).contains(&bands.len()), "{} bands", bands.len());
            for band in bands {
                // NR has bands up to 512, LTE up to 88, and every band is received in some class.
                let most = if number(band, "nr") == 1 { 512 } else { 88 };
                assert!((1..=most).contains(&number(band, "band")), "{band:?}");
                assert!((1..=17).contains(&number(band, "dl_class")), "{band:?}");
                assert!((0..=17).contains(&number(band, "ul_class")), "{band:?}");
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(0, 0), (16, 16), (581, 581)]);
}
