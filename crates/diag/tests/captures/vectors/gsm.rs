//! Cells of GSM.

use super::{Vector, level, number, plmn};
use crate::tree::Item;

fn arfcn(item: &Item) -> String {
    format!("{}/Band: {}", number(item, "arfcn"), number(item, "band"))
}

pub(super) fn frequency_burst(vector: &Vector) {
    let found = format!("GSM FCCH acquistion: ARFCN: {}", arfcn(&vector.decode()));
    assert_eq!(found, vector.printed());
}

/// The second decoder has the data two bytes too early: its T2 is 29 of 26, its T3' is 6 of 5, and
/// bits are set that have to be zero.
pub(super) fn synchronisation_burst(vector: &Vector) {
    let tree = vector.decode();
    let found = |name| number(&tree, name);
    let [early, own] = [12, 14].map(|at| {
        let octets = vector.body[at..].first_chunk().expect("there are four octets");
        u32::from_be_bytes(*octets)
    });
    let wrong = format!("GSM SCH acquistion: ARFCN: {}, Data: {early:025b}", arfcn(&tree));
    assert_eq!(wrong, vector.printed());
    let is_in_range = |octets: u32| {
        let (t2, t3) = (octets >> 10 & 31, octets >> 7 & 6 | octets & 1);
        t2 <= 25 && t3 <= 4 && octets & 0xFE == 0
    };
    assert_eq!([early, own].map(is_in_range), [false, true]);
    // Put together again, the fields are the octets.
    let octets = [
        found("ncc") << 5 | found("bcc") << 2 | found("t1_high"),
        found("t1_middle"),
        found("t1_low") << 7 | found("t2") << 2 | found("t3_high"),
        found("t3_low"),
    ];
    assert_eq!(octets.map(|octet| octet as u8), own.to_be_bytes());
}

/// It leaves out bursts without power.
fn printed_bursts(tree: &Item, name: &str) -> String {
    let heard = tree.list("bursts").iter().filter(|burst| burst.real("rx_power_dbm") != Some(0.0));
    let lines: Vec<String> = heard
        .map(|burst| {
            let (carrier, band) = (number(burst, "arfcn"), number(burst, "band"));
            let (rssi, power) = (number(burst, "rssi_raw"), level(burst, "rx_power_dbm"));
            format!(
                "GSM Serving Cell {name}: ARFCN: {carrier}/BC: {band}, RSSI: {rssi}, RxPwr: {power}"
            )
        })
        .collect();
    lines.join("\n")
}

pub(super) fn new_bursts(vector: &Vector) {
    assert_eq!(printed_bursts(&vector.decode(), "New Burst Metric"), vector.printed());
}

pub(super) fn bursts(vector: &Vector) {
    assert_eq!(printed_bursts(&vector.decode(), "Burst Metric"), vector.printed());
}

/// Of cells without a known identity older releases of the second decoder print the identity's byte
/// for their power.
pub(super) fn surrounding(vector: &Vector) {
    let tree = vector.decode();
    let cells = tree.list("cells");
    let mut lines = vec![format!("GSM Surround Cell BA: {} cells", cells.len())];
    let mut old = lines.clone();
    for (i, cell) in cells.iter().enumerate() {
        assert_eq!(number(cell, "bsic_known"), 0, "no vector has a cell with an identity");
        let (carrier, band) = (number(cell, "arfcn"), number(cell, "band"));
        let identity = number(cell, "ncc") << 3 | number(cell, "bcc");
        let head = format!("GSM Surround Cell BA: Cell {i}: ARFCN: {carrier}/BC: {band}/BSIC: N/A");
        lines.push(format!("{head}, RxPwr: {}", level(cell, "rx_power_dbm")));
        old.push(format!("{head}, RxPwr: {identity}.00"));
        // Nothing near a cell is fainter than noise or louder than its mast.
        let power = cell.real("rx_power_dbm").expect("there is a power");
        assert!((-120.0..=-20.0).contains(&power), "{power}");
    }
    let printed = vector.printed();
    assert!(printed == lines.join("\n") || printed == old.join("\n"), "{printed}\n{lines:#?}");
}

pub(super) fn serving_power(vector: &Vector) {
    let power = level(&vector.decode(), "rx_power_dbm");
    assert_eq!(format!("GSM Serving Cell Aux Measurement: RxPwr: {power}"), vector.printed());
}

pub(super) fn neighbour_powers(vector: &Vector) {
    let tree = vector.decode();
    let cells = tree.list("cells");
    let mut lines = vec![format!("GSM Neighbor Cell Aux: {} cells", cells.len())];
    for (i, cell) in cells.iter().enumerate() {
        let (carrier, band) = (number(cell, "arfcn"), number(cell, "band"));
        let power = level(cell, "rx_power_dbm");
        lines.push(format!(
            "GSM Neighbor Cell Aux {i}: ARFCN: {carrier}/BC: {band}, RxPwr: {power}"
        ));
    }
    assert_eq!(lines.join("\n"), vector.printed());
}

pub(super) fn cell(vector: &Vector) {
    let tree = vector.decode();
    let lac = tree.bytes("lac").map(|lac| u16::from_be_bytes([lac[0], lac[1]]));
    let found = format!(
        "GSM RR Cell Info: ARFCN: {}, BCC: {}, NCC: {}, MCC/MNC: {}, xLAC/xCID: {:x}/{:x}",
        arfcn(&tree),
        number(&tree, "bcc"),
        number(&tree, "ncc"),
        plmn(&tree, "plmn"),
        lac.expect("there is an area"),
        number(&tree, "cell_identity"),
    );
    assert_eq!(found, vector.printed());
}
