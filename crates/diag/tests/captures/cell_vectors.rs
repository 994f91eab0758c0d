//! Cells, random access and PDCP in single records, as a second decoder reads them.

use serde_json::Value as Json;

use crate::tree::Item;
use crate::vectors::{Vector, decode, hex, vectors};

fn stdout(result: &Json) -> &str {
    result["stdout"].as_str().expect("it prints")
}

fn number(item: &Item, name: &str) -> i64 {
    item.number(name).unwrap_or_else(|| panic!("there is no {name}"))
}

fn level(item: &Item, name: &str) -> f64 {
    item.real(name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// What stands between `before` and the next comma or line end.
fn after<'a>(text: &'a str, before: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split([',', '\n']).next().unwrap_or(rest).trim()
}

/// The second decoder rounds to hundredths.
fn assert_level(item: &Item, name: &str, text: &str) {
    let wanted: f64 = text.parse().expect("a level is a number");
    assert!((level(item, name) - wanted).abs() < 0.006, "{name}: {} and {text}", level(item, name));
}

#[test]
fn serving_cells_are_evaluated_as_a_second_decoder_does() {
    for Vector { body, result } in vectors("parse_lte_ml1_scell_meas") {
        let (tree, text) = (decode(0xB17F, &body), stdout(&result));
        assert_eq!(number(&tree, "earfcn").to_string(), after(text, "EARFCN: "));
        assert_eq!(number(&tree, "pci").to_string(), after(text, "PCI: "));
        assert_level(&tree, "rsrp_dbm", after(text, "Measured RSRP: "));
        assert_level(&tree, "rssi_dbm", after(text, "Measured RSSI: "));
        assert_level(&tree, "rsrq_db", after(text, "Measured RSRQ: "));
    }
}

#[test]
fn neighbours_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_ml1_ncell_meas") {
        let (tree, text) = (decode(0xB180, &body), stdout(&result));
        assert_eq!(number(&tree, "earfcn").to_string(), after(text, "EARFCN: "));
        assert_eq!(number(&tree, "cell_count").to_string(), after(text, "number of cells: "));
        let cell = &tree.list("cells")[0];
        assert_eq!(number(cell, "pci").to_string(), after(text, "PCI: "));
        assert_level(cell, "rsrp_dbm", after(text, "RSRP: "));
        assert_level(cell, "rssi_dbm", after(text, "RSSI: "));
        assert_level(cell, "rsrq_db", after(text, "RSRQ: "));
    }
}

#[test]
fn cell_information_is_that_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_ml1_cell_info") {
        let (tree, text) = (decode(0xB197, &body), stdout(&result));
        assert_eq!(number(&tree, "earfcn").to_string(), after(text, "EARFCN: "));
        assert_eq!(number(&tree, "pci").to_string(), after(text, "PCI: "));
        assert_eq!(number(&tree, "tx_antennas").to_string(), after(text, "Num antennas: "));
        let megahertz = number(&tree, "dl_bandwidth_prb") / 5;
        assert_eq!(format!("{megahertz} MHz"), after(text, "Bandwidth: "));
        let packet = hex(&result["cp"][0]);
        let [.., a, b, c] = packet[..] else { panic!("the packet is too short") };
        let mib = i64::from(u32::from_be_bytes([0, a, b, c]));
        assert_eq!(number(&tree, "mib"), mib);
    }
}

#[test]
fn master_information_is_that_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_mib") {
        let (tree, text) = (decode(0xB0C1, &body), stdout(&result));
        assert_eq!(number(&tree, "earfcn").to_string(), after(text, "EARFCN: "));
        assert_eq!(number(&tree, "frame").to_string(), after(text, "SFN: "));
        assert_eq!(number(&tree, "tx_antennas").to_string(), after(text, "TX antennas: "));
    }
}

#[test]
fn serving_cells_of_rrc_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_rrc_cell_info") {
        let (tree, text) = (decode(0xB0C2, &body), stdout(&result));
        let carriers = format!("{}/{}", number(&tree, "dl_earfcn"), number(&tree, "ul_earfcn"));
        assert_eq!(carriers, after(text, "EARFCN: "));
        assert_eq!(number(&tree, "pci").to_string(), after(text, "PCI: "));
        assert_eq!(number(&tree, "band").to_string(), after(text, "Band: "));
        assert_eq!(number(&tree, "mcc").to_string(), after(text, "MCC: "));
        let identity = format!("{:x}/{:x}", number(&tree, "tac"), number(&tree, "cell_identity"));
        assert_eq!(identity, after(text, "xTAC/xCID: "));
    }
}

/// The second decoder makes a response of a preamble, a timing advance, the grant and an identity, and a packet of the
/// third message.
#[test]
fn random_access_is_that_of_a_second_decoder() {
    let mut compared = 0;
    for Vector { mut body, result } in vectors("parse_lte_mac_rach_response") {
        // Some were published without the padding at their end.
        body.resize(4 + usize::from(u16::from_le_bytes([body[6], body[7]])), 0);
        let tree = decode(0xB062, &body);
        let attempt = &tree.list("sub_packets")[0];
        let Some([response, message]) = result["cp"].as_array().map(Vec::as_slice) else {
            assert!(attempt.number("result") != Some(0) || attempt.number("msg3_sent") == Some(0));
            continue;
        };
        // TS 36.321 §6.1.5: eleven bits of timing advance, twenty of grant, an identity.
        let response = hex(response);
        let [.., preamble, a, b, c, d, e, f] = response[..] else { panic!("it is too short") };
        assert_eq!(i64::from(preamble & 63), number(attempt, "preamble"));
        let advance = i64::from(a & 0x7F) << 4 | i64::from(b >> 4);
        assert_eq!(advance, number(attempt, "timing_advance"));
        assert_eq!(i64::from(u16::from_be_bytes([e, f])), number(attempt, "temporary_c_rnti"));
        let grant = u32::from_be_bytes([0, b & 15, c, d]);
        let own = attempt.number("grant").or_else(|| {
            let [_, a, b, c] = attempt.bytes("grant")?.first_chunk()?;
            Some(i64::from(u32::from_be_bytes([0, *a, *b, *c])))
        });
        assert_eq!(own, Some(i64::from(grant)));
        let message = hex(message);
        let msg3 = attempt.bytes("msg3").expect("there is a message");
        assert!(message.ends_with(msg3), "{message:02x?} {msg3:02x?}");
        compared += 1;
    }
    assert!(compared > 0 || sounding_testdata::shared("captures/fgsect__scat-tests").is_none());
}

/// Its packets end with the bytes logged.
#[test]
fn ciphered_pdus_are_those_of_a_second_decoder() {
    for (function, code) in [("parse_lte_pdcp_dl_cip", 0xB0A3), ("parse_lte_pdcp_ul_cip", 0xB0B3)] {
        for Vector { body, result } in vectors(function) {
            let tree = decode(code, &body);
            let pdus = tree.list("sub_packets")[0].list("pdus");
            let packets = result["up"].as_array().expect("there are packets");
            assert_eq!(pdus.len(), packets.len());
            for (pdu, packet) in pdus.iter().zip(packets) {
                let first = pdu.bytes("first_bytes").expect("bytes are logged");
                assert!(hex(packet).ends_with(first), "{packet} {first:02x?}");
            }
        }
    }
}

#[test]
fn signalling_is_that_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_lte_pdcp_ul_srb_int") {
        let tree = decode(0xB0B5, &body);
        let pdu = tree.list("sub_packets")[0].list("pdus")[0].bytes("pdu").unwrap().to_vec();
        assert!(hex(&result["up"][0]).ends_with(&pdu), "{pdu:02x?}");
    }
}

#[test]
fn cells_of_wcdma_and_gsm_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_wcdma_cell_id") {
        let (tree, text) = (decode(0x4127, &body), stdout(&result));
        let carriers = format!("{}/{}", number(&tree, "dl_uarfcn"), number(&tree, "ul_uarfcn"));
        assert_eq!(carriers, after(text, "UARFCN: "));
        assert_eq!(number(&tree, "psc").to_string(), after(text, "PSC: "));
        let areas =
            ["lac", "rac", "cell_identity"].map(|name| format!("{:x}", number(&tree, name)));
        assert_eq!(areas.join("/"), after(text, "xLAC/xRAC/xCID: "));
    }
    for Vector { body, result } in vectors("parse_gsm_cell_info") {
        let (tree, text) = (decode(0x5134, &body), stdout(&result));
        assert_eq!(
            format!("{}/Band: {}", number(&tree, "arfcn"), number(&tree, "band")),
            after(text, "ARFCN: ")
        );
        assert_eq!(number(&tree, "bcc").to_string(), after(text, "BCC: "));
        assert_eq!(number(&tree, "ncc").to_string(), after(text, "NCC: "));
        let lac = tree.bytes("lac").map(|lac| u16::from_be_bytes([lac[0], lac[1]])).unwrap();
        assert_eq!(
            format!("{lac:x}/{:x}", number(&tree, "cell_identity")),
            after(text, "xLAC/xCID: ")
        );
    }
}

#[test]
fn powers_of_gsm_are_those_of_a_second_decoder() {
    for Vector { body, result } in vectors("parse_gsm_l1_serv_aux_meas") {
        assert_level(&decode(0x507A, &body), "rx_power_dbm", after(stdout(&result), "RxPwr: "));
    }
    // Of surrounding cells the second decoder has carriers only: it takes their powers for zero.
    let listed = [
        ("parse_gsm_l1_neig_aux_meas", 0x507B, true),
        ("parse_gsm_l1_surround_cell_ba", 0x5071, false),
    ];
    for (function, code, powers) in listed {
        for Vector { body, result } in vectors(function) {
            let tree = decode(code, &body);
            let lines: Vec<_> = stdout(&result).lines().skip(1).collect();
            assert_eq!(lines.len(), tree.list("cells").len());
            for (line, cell) in lines.iter().zip(tree.list("cells")) {
                let arfcn = after(line, "ARFCN: ");
                assert!(arfcn.starts_with(&number(cell, "arfcn").to_string()), "{line}");
                if powers {
                    assert_level(cell, "rx_power_dbm", after(line, "RxPwr: "));
                }
            }
        }
    }
}
