//! Single records with a second decoder's reading of them.

use serde_json::Value as Json;
use sounding_diag::mac::MacPdu;
use sounding_diag::radio::Tti;
use sounding_diag::record::{self, MacDownlink, MacUplink, ServingCells};
use sounding_diag::{LogCode, LogRecord};
use sounding_testdata::shared;
use sounding_units::ModemInstant;

use crate::tree::{Builder, Item};

pub(crate) struct Vector {
    pub(crate) body: Vec<u8>,
    pub(crate) result: Json,
}

/// The vectors that one function of the second decoder reads.
pub(crate) fn vectors(function: &str) -> Vec<Vector> {
    let Some(path) = shared("captures/fgsect__scat-tests/vectors.jsonl") else { return Vec::new() };
    let text = std::fs::read_to_string(path).expect("the vectors can be read");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a vector is JSON"));
    let own = lines.filter(|line: &Json| line["fn"] == function);
    let own: Vec<_> = own
        .map(|line| Vector { body: hex(&line["body"]), result: line["result"].clone() })
        .collect();
    assert!(!own.is_empty(), "there are vectors of {function}");
    own
}

/// Every vector's code and body.
pub(crate) fn bodies() -> Vec<(LogCode, Vec<u8>)> {
    let Some(path) = shared("captures/fgsect__scat-tests/vectors.jsonl") else { return Vec::new() };
    let text = std::fs::read_to_string(path).expect("the vectors can be read");
    let body = |line: &str| {
        let line: Json = serde_json::from_str(line).expect("a vector is JSON");
        let code = line["log_id"].as_str()?.strip_prefix("0x")?;
        let code = u16::from_str_radix(code, 16).ok()?;
        Some((LogCode::new(code), hex(&line["body"])))
    };
    text.lines().filter_map(body).collect()
}

pub(crate) fn hex(text: &Json) -> Vec<u8> {
    let text = text.as_str().expect("bytes are written in hex");
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("bytes are written in hex");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Bytes of the second decoder's packets before the time, which a tag and the MAC header follow.
const PSEUDO_HEADER: usize = 38;

/// Time and MAC header of every block the second decoder found.
fn blocks(result: &Json) -> Vec<(u16, Vec<u8>)> {
    let packets = result["cp"].as_array().into_iter().flatten();
    let packets = packets.map(hex).map(|bytes| {
        let (time, header) = bytes[PSEUDO_HEADER..].split_at(2);
        (u16::from_be_bytes([time[0], time[1]]), header[1..].to_vec())
    });
    packets.collect()
}

fn block(tti: Option<Tti>, pdu: &MacPdu<'_>) -> (u16, Vec<u8>) {
    (tti.expect("a block has its time").packed(), pdu.bytes().to_vec())
}

#[test]
fn uplink_blocks_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_mac_ul_block") {
        let uplink = MacUplink::parse(&body).unwrap();
        let found: Vec<_> = uplink.blocks().map(|found| block(found.tti, &found.pdu)).collect();
        assert_eq!(found, blocks(&result), "sub-packet version {}", body[5]);
    }
}

#[test]
fn downlink_blocks_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_mac_dl_block") {
        if body[0] != 1 {
            continue;
        }
        let downlink = MacDownlink::parse(&body).unwrap();
        let found: Vec<_> = downlink.blocks().map(|found| block(found.tti, &found.pdu)).collect();
        assert_eq!(found, blocks(&result), "sub-packet version {}", body[5]);
    }
}

/// From version 49 on the second decoder makes up a header for each unit: channel, length, contents of an element.
#[test]
fn downlink_units_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_mac_dl_block") {
        if body[0] == 1 {
            continue;
        }
        let tree = decode(0xB063, &body);
        let mut found = Vec::new();
        for block in tree.list("blocks") {
            let tti = Tti::new(number(block, "frame") as u16, number(block, "subframe") as u8);
            for unit in block.list("units") {
                let len = number(unit, "len_bytes") as u16;
                let mut header = vec![number(unit, "channel") as u8 & 31 | 0x20];
                match len {
                    0..0x80 => header.push(len as u8),
                    _ => header.extend((len | 0x8000).to_be_bytes()),
                }
                if number(unit, "control_element") == 1 {
                    let bytes = unit.bytes("first_bytes").unwrap();
                    header.extend(&bytes[..usize::from(len).min(bytes.len())]);
                } else {
                    header.push(0x1F);
                }
                found.push((tti.unwrap().packed(), header));
            }
        }
        assert_eq!(found, blocks(&result), "version {}", body[0]);
    }
}

#[test]
fn serving_cells_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_ml1_scell_meas_response") {
        let cells = ServingCells::parse(&body).unwrap();
        let stdout = result["stdout"].as_str().unwrap();
        let listed = stdout.lines().skip(1).zip(cells.cells());
        for (i, (line, cell)) in listed.enumerate() {
            let tti = cell.tti.unwrap();
            let wanted = format!(
                "LTE ML1 SCell Meas Response (Cell {i}): PCI: {}, SFN/SubFN: {}/{}, \
                 Serving cell index: {}, is_serving_cell: {}",
                cell.pci,
                tti.sfn(),
                tti.subframe(),
                cell.cell,
                u8::from(cell.serving.unwrap()),
            );
            assert_eq!(line, wanted);
        }
    }
}

/// The places of the words of versions 48 and 60 are inferred; this is what they are inferred from.
#[test]
fn combined_levels_are_those_of_the_best_antenna() {
    for Vector { body, .. } in vectors("parse_lte_ml1_scell_meas_response") {
        let tree = decode(0xB193, &body);
        for cell in tree.list("sub_packets").iter().flat_map(|packet| packet.list("cells")) {
            for (kind, unit) in [("rsrp", "dbm"), ("rsrq", "db"), ("rssi", "dbm")] {
                let level = |of: &str| cell.real(&format!("{kind}{of}_{unit}")).unwrap();
                let best = ["_rx0", "_rx1", "_rx2", "_rx3"].map(level).into_iter().reduce(f64::max);
                assert_eq!(Some(level("")), best, "{kind} of version {}", body[5]);
            }
        }
    }
}

pub(crate) fn decode(code: u16, body: &[u8]) -> Item {
    let at = ModemInstant::default();
    let log = LogRecord { code: LogCode::new(code), at, stamp: 0, radio: None, body };
    let mut tree = Builder::new();
    record::decode(&log, &mut tree).expect("a vector can be read");
    tree.finish()
}

pub(crate) fn number(item: &Item, name: &str) -> i64 {
    item.number(name).unwrap_or_else(|| panic!("there is no {name}"))
}
