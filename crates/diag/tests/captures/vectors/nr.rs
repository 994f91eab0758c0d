//! Cells of NR.

use sounding_diag::record::NrSearcher;

use super::{Vector, all, decode, number};
use crate::tree::Item;

/// A level that was not measured is printed as zero.
fn level(item: &Item, name: &str) -> String {
    format!("{:.2}", item.real(name).unwrap_or_default())
}

fn beam_id(item: &Item, name: &str) -> String {
    match number(item, name) {
        0xFFFF => "NA".into(),
        id => id.to_string(),
    }
}

/// One line for each layer, cell and beam, as the second decoder prints them; `cells` and `index`
/// are the two bytes that it takes for the number of cells and the index of the serving one, `ssb`
/// that of the serving beam.
fn print(tree: &Item, minor: i64) -> Vec<String> {
    let (layers, period) = (number(tree, "layer_count"), number(tree, "ssb_period_ms"));
    let mut lines = vec![format!("NR ML1 Meas Packet: Layers: {layers}, ssb_periocity: {period}")];
    let major = number(tree, "version_major");
    for (i, layer) in tree.list("layers").iter().enumerate() {
        // Of 2.9 and 2.10 it has the layer begin as that of 2.7 does: the carrier for the number of
        // cells, that for the serving index, and that for the serving beam.
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
                let quality = match (major, minor) {
                    (2, ..10) => String::new(),
                    _ => format!(", RSRQ: {}", pair("rsrq_rx0_db", "rsrq_rx1_db")),
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

/// A record of version 2.7 with the header of 2.9: its layers have the cells where 2.9 has the
/// carrier, and no cells where 2.9 has them. The second decoder reads both.
fn has_another_version(body: &[u8]) -> bool {
    body[0] == 9 && body[24..26] == [1, 0]
}

/// The bytes of a record of another version are those of a second one, word for word, under another
/// header: it is read as that one.
pub(super) fn measured(vector: &Vector) {
    let (tree, minor) = if has_another_version(&vector.body) {
        let own: Vec<u8> = [&[7, 0, 2, 0], &vector.body[8..]].concat();
        assert!(all().iter().any(|other| other.body == own), "they are there twice");
        (decode(vector.code, &own), 7)
    } else {
        let tree = vector.decode();
        let minor = number(&tree, "version_minor");
        (tree, minor)
    };
    assert_eq!(print(&tree, minor), vector.printed().lines().collect::<Vec<_>>(), "2.{minor}");
    serving_cells_are_listed(vector);
}

fn serving_cells_are_listed(vector: &Vector) {
    let tree = vector.decode();
    let serving: Vec<i64> = tree
        .list("layers")
        .iter()
        .filter(|layer| number(layer, "cell_count") > number(layer, "serving_index"))
        .map(|layer| number(layer, "serving_pci"))
        .collect();
    let cells = NrSearcher::parse(&vector.body).expect("it is a measurement");
    for pci in cells.cells().filter(|cell| cell.serving).map(|cell| i64::from(cell.pci)) {
        assert!(serving.contains(&pci), "{pci} of {serving:?}");
    }
}

pub(super) fn master_information(vector: &Vector) {
    let tree = vector.decode();
    let scs = 15 << number(&tree, "scs_common");
    let found = format!(
        "NR MIB: NR-ARFCN: {}, PCI: {:4}, SFN: {}, SCS: {scs} kHz",
        number(&tree, "arfcn"),
        number(&tree, "pci"),
        number(&tree, "frame"),
    );
    assert_eq!(found, vector.printed());
}

pub(super) fn serving_cell(vector: &Vector) {
    let tree = vector.decode();
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
    assert_eq!(found, vector.printed());
}
