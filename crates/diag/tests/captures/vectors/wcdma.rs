//! Cells of WCDMA, and what its RLC ciphered.

use super::{Vector, level, number, plmn};
use crate::tree::Item;

pub(super) fn ranks(vector: &Vector) {
    let tree = vector.decode();
    let (cells, others) = (tree.list("wcdma_cells"), tree.list("gsm_cells").len());
    let mut lines = vec![format!("WCDMA Search Cell: {} 3G cells, {others} 2G cells", cells.len())];
    assert_eq!(others, 0, "no vector has cells of GSM");
    for (i, cell) in cells.iter().enumerate() {
        let power = cell.real("rscp_dbm").expect("there is a power");
        lines.push(format!(
            "WCDMA Search Cell: 3G Cell {i}: UARFCN: {}, PSC: {:3}, RSCP: {power}, Ec/Io: {}",
            number(cell, "uarfcn"),
            number(cell, "psc"),
            level(cell, "ec_io_db"),
        ));
    }
    assert_eq!(lines.join("\n"), vector.printed());
}

pub(super) fn cell(vector: &Vector) {
    let tree = vector.decode();
    let found = format!(
        "WCDMA Cell ID: UARFCN: {}/{}, PSC: {}, MCC/MNC: {}, xLAC/xRAC/xCID: {:x}/{:x}/{:x}",
        number(&tree, "dl_uarfcn"),
        number(&tree, "ul_uarfcn"),
        number(&tree, "psc"),
        plmn(&tree, "plmn"),
        number(&tree, "lac"),
        number(&tree, "rac"),
        number(&tree, "cell_identity"),
    );
    assert_eq!(found, vector.printed());
}

/// It leaves out what was not ciphered.
fn printed(tree: &Item, line: impl Fn(&Item) -> String) -> String {
    let ciphered = tree.list("pdus").iter().filter(|pdu| number(pdu, "algorithm") != 255);
    ciphered.map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn downlink(vector: &Vector) {
    let found = printed(&vector.decode(), |pdu| {
        format!(
            "WCDMA RLC Cipher DL PDU: LCID: {}, CK: {:#x}, Algorithm: UEA{}, Message: {:#x}, Count C: {:#x}",
            number(pdu, "channel"),
            number(pdu, "ck"),
            number(pdu, "algorithm"),
            number(pdu, "message"),
            number(pdu, "count_c"),
        )
    });
    assert_eq!(found, vector.printed());
}

pub(super) fn uplink(vector: &Vector) {
    let found = printed(&vector.decode(), |pdu| {
        format!(
            "WCDMA RLC Cipher UL PDU: LCID: {}, CK: {:#x}, Algorithm: UEA{}, Count C: {:#x}",
            number(pdu, "channel"),
            number(pdu, "ck"),
            number(pdu, "algorithm"),
            number(pdu, "count_c"),
        )
    });
    assert_eq!(found, vector.printed());
}
