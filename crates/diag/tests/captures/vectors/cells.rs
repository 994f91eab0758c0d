//! Cells of LTE.

use sounding_diag::record::ServingCells;

use super::{Vector, level, number};

pub(super) fn master_information(vector: &Vector) {
    let tree = vector.decode();
    let carrier = number(&tree, "earfcn");
    let (frame, antennas) = (number(&tree, "frame"), number(&tree, "tx_antennas"));
    let found = match tree.number("dl_bandwidth_prb") {
        Some(prb) => {
            let schedule = tree.number("sib1_br_schedule");
            let kind = if schedule.is_some() { "LTE-M" } else { "LTE" };
            let schedule = schedule.map(|index| format!(", schedulingInfoSIB1-BR-r13: {index}"));
            format!(
                "{kind} MIB Info: EARFCN: {carrier}, SFN: {frame:4}, Bandwidth: {}, TX antennas: {antennas}{}",
                megahertz(prb),
                schedule.unwrap_or_default()
            )
        }
        None => {
            format!("LTE MIB-NB Info: EARFCN: {carrier}, SFN: {frame:4}, TX antennas: {antennas}")
        }
    };
    assert_eq!(found, vector.printed());
}

/// Bandwidths from 5 MHz on, the only ones in the vectors, have five blocks to the megahertz.
fn megahertz(prb: i64) -> String {
    assert!(prb >= 25 && prb % 5 == 0, "{prb}");
    format!("{} MHz", prb / 5)
}

pub(super) fn serving(vector: &Vector) {
    let tree = vector.decode();
    let blocks = [number(&tree, "dl_bandwidth_prb"), number(&tree, "ul_bandwidth_prb")];
    let bandwidth = match blocks {
        // Narrowband has no whole number of blocks.
        [0, 0] => "0/0 PRBs".to_owned(),
        [down, up] => format!("{}/{}", megahertz(down).replace(" MHz", ""), megahertz(up)),
    };
    let digits = number(&tree, "mnc_digits") as usize;
    let found = format!(
        "LTE RRC SCell Info: EARFCN: {}/{}, Band: {}, Bandwidth: {bandwidth}, PCI: {}, MCC: {}, MNC: {:0digits$}, \
         xTAC/xCID: {:x}/{:x}",
        number(&tree, "dl_earfcn"),
        number(&tree, "ul_earfcn"),
        number(&tree, "band"),
        number(&tree, "pci"),
        number(&tree, "mcc"),
        number(&tree, "mnc"),
        number(&tree, "tac"),
        number(&tree, "cell_identity"),
    );
    assert_eq!(found, vector.printed());
}

pub(super) fn evaluated(vector: &Vector) {
    let tree = vector.decode();
    let found = format!(
        "LTE SCell: EARFCN: {}, PCI: {}, Measured RSRP: {}, Measured RSSI: {}, Measured RSRQ: {}",
        number(&tree, "earfcn"),
        number(&tree, "pci"),
        level(&tree, "rsrp_dbm"),
        level(&tree, "rssi_dbm"),
        level(&tree, "rsrq_db"),
    );
    assert_eq!(found, vector.printed());
}

pub(super) fn neighbours(vector: &Vector) {
    let tree = vector.decode();
    let cells = tree.list("cells");
    let carrier = number(&tree, "earfcn");
    let mut lines = vec![format!("LTE NCell: EARFCN: {carrier}, number of cells: {}", cells.len())];
    for (i, cell) in cells.iter().enumerate() {
        lines.push(format!(
            "└── Neighbor cell {i}: PCI: {}, RSRP: {}, RSSI: {}, RSRQ: {}",
            number(cell, "pci"),
            level(cell, "rsrp_dbm"),
            level(cell, "rssi_dbm"),
            level(cell, "rsrq_db"),
        ));
    }
    assert_eq!(lines.join("\n"), vector.printed());
}

/// It prints the cell, and makes a packet of the master information it sent.
pub(super) fn information(vector: &Vector) {
    let tree = vector.decode();
    let carrier = number(&tree, "earfcn");
    let found = format!(
        "LTE ML1 Cell Info: EARFCN: {carrier}, PCI: {}, Bandwidth: {}, Num antennas: {}",
        number(&tree, "pci"),
        megahertz(number(&tree, "dl_bandwidth_prb")),
        number(&tree, "tx_antennas"),
    );
    assert_eq!(found, vector.printed());
    let packets = vector.packets("cp");
    let [.., a, b, c] = packets[0][..] else { panic!("the packet is too short") };
    assert_eq!(number(&tree, "mib"), i64::from(u32::from_be_bytes([0, a, b, c])));
    assert_eq!(packets[0][4..6], (carrier as u16).to_be_bytes());
}

/// Of the sub-packet it prints carrier, cells and receivers, of each cell its identity and time; of
/// version 60 nothing. The places of the words of versions 48 and 60 are inferred from the last of
/// these checks.
pub(super) fn measured(vector: &Vector) {
    let tree = vector.decode();
    let packet = &tree.list("sub_packets")[0];
    let listed = ServingCells::parse(&vector.body).expect("it is a measurement");
    let mut lines = vec![format!(
        "LTE ML1 SCell Meas Response: EARFCN: {}, Number of cells: {}, Valid RX: {}",
        number(packet, "earfcn"),
        number(packet, "cell_count"),
        packet.number("valid_receivers").unwrap_or_default(),
    )];
    for (i, cell) in listed.cells().enumerate() {
        let tti = cell.tti.expect("a cell has its time");
        lines.push(format!(
            "LTE ML1 SCell Meas Response (Cell {i}): PCI: {}, SFN/SubFN: {}/{}, Serving cell index: {}, \
             is_serving_cell: {}",
            cell.pci,
            tti.sfn(),
            tti.subframe(),
            cell.cell,
            u8::from(cell.serving.expect("it says whether it serves")),
        ));
    }
    let version = vector.body[5];
    if version != 60 {
        assert_eq!(lines.join("\n"), vector.printed());
    }
    for cell in packet.list("cells") {
        for (kind, unit) in [("rsrp", "dbm"), ("rsrq", "db"), ("rssi", "dbm")] {
            let level = |of: &str| cell.real(&format!("{kind}{of}_{unit}"));
            let antennas = ["_rx0", "_rx1", "_rx2", "_rx3"].map(level);
            let best =
                antennas.into_iter().flatten().reduce(f64::max).expect("an antenna is there");
            assert_eq!(level(""), Some(best), "{kind} of version {version}");
        }
    }
}
