//! Single records with a second decoder's reading. The test reads every line of the file, and
//! compares every value of it with our reading of the record.
//!
//! # Where the second decoder is wrong
//!
//! The test computes each wrong value from the right one, and fails if the second decoder has
//! another value.
//!
//! | record | the second decoder | right | why |
//! |---|---|---|---|
//! | 0x5066 | the burst's data from byte 12 | from byte 14 | only there it is a time and an identity (TS 44.018 §9.1.30a) |
//! | 0x5071 | as power of a cell without identity the identity's byte | the power | its text has more places than values; right in release 2.1.2 |
//! | 0xB97F 2.9, 2.10 | a layer's first bytes as those of 2.7 | the carrier comes first | the beams of every vector |
//! | 0xB97F under the header of 2.9 | reads it as 2.7 | it is a 2.7 | the same bytes are there under that header too |

mod cells;
mod gsm;
mod mac;
mod nr;
mod pdcp;
mod signalling;
mod wcdma;

use std::path::Path;

use serde_json::Value as Json;
use sounding_diag::record;
use sounding_diag::{LogCode, LogRecord};
use sounding_testdata::shared;
use sounding_units::ModemInstant;

use crate::tree::{Builder, Item};

/// One record, and the second decoder's reading of it.
struct Vector {
    function: String,
    code: LogCode,
    body: Vec<u8>,
    result: Json,
}

/// Every line of the shared file.
fn all() -> Vec<Vector> {
    let path = shared("captures/fgsect__scat-tests/vectors.jsonl");
    path.map(|path| lines(&path)).unwrap_or_default()
}

fn lines(path: &Path) -> Vec<Vector> {
    let text = std::fs::read_to_string(path).expect("the vectors can be read");
    let vector = |line: &str| {
        let line: Json = serde_json::from_str(line).expect("a vector is JSON");
        let text = |key: &str| line[key].as_str().unwrap_or_else(|| panic!("{key} is text"));
        let code = text("log_id").strip_prefix("0x").expect("a code is in hex");
        Vector {
            function: text("fn").to_owned(),
            code: LogCode::new(u16::from_str_radix(code, 16).expect("a code is in hex")),
            body: hex(&line["body"]),
            result: line["result"].clone(),
        }
    };
    text.lines().map(vector).collect()
}

/// Every vector's code and body.
pub(crate) fn bodies() -> Vec<(LogCode, Vec<u8>)> {
    all().into_iter().map(|vector| (vector.code, vector.body)).collect()
}

/// One test for each of the second decoder's functions and the code it reads: how many records it
/// has, and what holds each of them against its reading.
macro_rules! readers {
    ($($test:ident: $function:literal, $code:literal, $count:literal, $check:path;)*) => {
        $(
            #[test]
            fn $test() {
                let vectors = all();
                let own = |vector: &&Vector| is_of(vector, $function, $code);
                vectors.iter().filter(own).for_each($check);
            }
        )*

        type Reader = (&'static str, u16, usize, fn(&Vector));
        const READERS: &[Reader] = &[$(($function, $code, $count, $check)),*];
    };
}

readers! {
    gsm_frequency_burst: "parse_gsm_fcch", 0x5065, 1, gsm::frequency_burst;
    gsm_synchronisation_burst: "parse_gsm_sch", 0x5066, 1, gsm::synchronisation_burst;
    gsm_new_bursts: "parse_gsm_l1_new_burst_metric", 0x506A, 1, gsm::new_bursts;
    gsm_bursts: "parse_gsm_l1_burst_metric", 0x506C, 1, gsm::bursts;
    gsm_surrounding_cells: "parse_gsm_l1_surround_cell_ba", 0x5071, 1, gsm::surrounding;
    gsm_serving_power: "parse_gsm_l1_serv_aux_meas", 0x507A, 1, gsm::serving_power;
    gsm_neighbour_powers: "parse_gsm_l1_neig_aux_meas", 0x507B, 2, gsm::neighbour_powers;
    gsm_cell: "parse_gsm_cell_info", 0x5134, 3, gsm::cell;
    gsm_messages: "parse_gsm_rr", 0x512F, 4, signalling::gsm;
    wcdma_ranks: "parse_wcdma_search_cell_reselection", 0x4005, 1, wcdma::ranks;
    wcdma_cell: "parse_wcdma_cell_id", 0x4127, 1, wcdma::cell;
    wcdma_messages: "parse_wcdma_rrc", 0x412F, 2, signalling::wcdma;
    wcdma_downlink_ciphers: "parse_wcdma_rlc_dl_pdu_cipher_packet", 0x4168, 1, wcdma::downlink;
    wcdma_uplink_ciphers: "parse_wcdma_rlc_ul_pdu_cipher_packet", 0x4169, 2, wcdma::uplink;
    lte_random_access: "parse_lte_mac_rach_response", 0xB062, 6, mac::random_access;
    lte_random_access_sub_packets: "parse_lte_mac_subpkt_v1", 0xB062, 6, mac::random_access;
    lte_downlink_blocks: "parse_lte_mac_dl_block", 0xB063, 5, mac::downlink;
    lte_downlink_sub_packets: "parse_lte_mac_subpkt_v1", 0xB063, 3, mac::downlink;
    lte_downlink_units: "parse_lte_mac_subpkt_v49", 0xB063, 2, mac::downlink;
    lte_uplink_blocks: "parse_lte_mac_ul_block", 0xB064, 7, mac::uplink;
    lte_uplink_sub_packets: "parse_lte_mac_subpkt_v1", 0xB064, 7, mac::uplink;
    lte_downlink_ciphered: "parse_lte_pdcp_dl_cip", 0xB0A3, 1, pdcp::ciphered;
    lte_downlink_ciphered_sub_packets: "parse_lte_pdcp_subpkt_v1", 0xB0A3, 1, pdcp::ciphered;
    lte_uplink_ciphered: "parse_lte_pdcp_ul_cip", 0xB0B3, 1, pdcp::ciphered;
    lte_uplink_ciphered_sub_packets: "parse_lte_pdcp_subpkt_v1", 0xB0B3, 1, pdcp::ciphered;
    lte_uplink_signalling: "parse_lte_pdcp_ul_srb_int", 0xB0B5, 1, pdcp::signalling;
    lte_uplink_signalling_sub_packets: "parse_lte_pdcp_subpkt_v1", 0xB0B5, 1, pdcp::signalling;
    lte_messages: "parse_lte_rrc", 0xB0C0, 11, signalling::lte;
    lte_master_information: "parse_lte_mib", 0xB0C1, 3, cells::master_information;
    lte_serving_cell: "parse_lte_rrc_cell_info", 0xB0C2, 4, cells::serving;
    lte_evaluation: "parse_lte_ml1_scell_meas", 0xB17F, 4, cells::evaluated;
    lte_neighbours: "parse_lte_ml1_ncell_meas", 0xB180, 2, cells::neighbours;
    lte_measured_cells: "parse_lte_ml1_scell_meas_response", 0xB193, 4, cells::measured;
    lte_cell_information: "parse_lte_ml1_cell_info", 0xB197, 2, cells::information;
    nr_registration: "parse_nr_mm_state", 0xB80C, 2, signalling::registration;
    nr_master_information: "parse_nr_mib_info", 0xB822, 3, nr::master_information;
    nr_serving_cell: "parse_nr_rrc_scell_info", 0xB823, 4, nr::serving_cell;
    nr_measured_cells: "parse_nr_ml1_meas_db_update", 0xB97F, 11, nr::measured;
}

/// Lines, counted from 0, that the second decoder does not read. Nothing can be compared there.
const SILENT: &[(usize, &str)] = &[
    (29, "0xB062: an attempt that did not succeed"),
    (30, "0xB062: the same again"),
    (33, "0xB062: an attempt that did not succeed"),
    (34, "0xB062: the same again"),
    (64, "0xB193 sub-packet 25 v60: it does not know the version"),
    (65, "0xB193 sub-packet 25 v60: it does not know the version"),
    (110, "0x4169: nothing is ciphered"),
];

fn is_of(vector: &Vector, function: &str, code: u16) -> bool {
    vector.function == function && vector.code == LogCode::new(code)
}

#[test]
fn every_vector_has_its_test() {
    let vectors = all();
    if vectors.is_empty() {
        return;
    }
    for (function, code, count, _) in READERS {
        let own = vectors.iter().filter(|vector| is_of(vector, function, *code)).count();
        assert_eq!(own, *count, "{function} of {code:04X}");
    }
    let tested: usize = READERS.iter().map(|(_, _, count, _)| count).sum();
    assert_eq!((vectors.len(), tested), (114, 114));
}

#[test]
fn the_second_decoder_is_silent_where_the_list_says() {
    let vectors = all();
    let silent = vectors.iter().enumerate().filter(|(_, vector)| vector.is_silent());
    let silent: Vec<usize> = silent.map(|(line, _)| line).collect();
    let listed: Vec<usize> = SILENT.iter().map(|(line, _)| *line).collect();
    assert!(vectors.is_empty() || silent == listed, "{silent:?}");
}

/// `scripts/compare-scat`: the records in which another release of the second decoder differs.
#[test]
#[ignore = "needs that release, which scripts/compare-scat fetches"]
fn of_another_release() {
    let path = std::env::var_os("SOUNDING_VECTORS").expect("SOUNDING_VECTORS names its readings");
    let (mut same, mut ours_alone, mut wrong) = (0, 0, Vec::new());
    for vector in lines(Path::new(&path)) {
        let name = format!("{} of {}: {:02x?}", vector.function, vector.code, vector.body);
        let reader = READERS.iter().find(|(function, code, ..)| is_of(&vector, function, *code));
        let Some((.., check)) = reader else {
            wrong.push(format!("{name}: no test compares it"));
            continue;
        };
        let judged = std::panic::catch_unwind(|| match vector.is_silent() {
            true => drop(vector.decode()),
            false => check(&vector),
        });
        match (judged, vector.is_silent()) {
            (Ok(()), true) => ours_alone += 1,
            (Ok(()), false) => same += 1,
            (Err(_), _) => wrong.push(format!("{name}: the readings differ, as is printed above")),
        }
    }
    println!("{same} records agree, {ours_alone} are read by this project alone");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Our decoder also reads the records that the second decoder skips.
#[test]
fn every_vector_is_read() {
    all().iter().for_each(|vector| drop(vector.decode()));
}

impl Vector {
    /// The second decoder gives no reading of it.
    fn is_silent(&self) -> bool {
        let text = self.result["stdout"].as_str().is_none_or(str::is_empty);
        text && self.result["cp"].is_null() && self.result["up"].is_null()
    }

    /// The body, with the padding that some were published without.
    fn whole(&self) -> Vec<u8> {
        let mut body = self.body.clone();
        if self.code == LogCode::new(0xB062) {
            let announced = 4 + usize::from(u16::from_le_bytes([body[6], body[7]]));
            body.resize(body.len().max(announced), 0);
        }
        body
    }

    fn decode(&self) -> Item {
        decode(self.code, &self.whole())
    }

    /// The output of the second decoder.
    fn printed(&self) -> &str {
        self.result["stdout"].as_str().expect("it prints")
    }

    /// The packets it makes: `cp` of signalling, `up` of data.
    fn packets(&self, kind: &str) -> Vec<Vec<u8>> {
        self.result[kind].as_array().into_iter().flatten().map(hex).collect()
    }
}

fn hex(text: &Json) -> Vec<u8> {
    let text = text.as_str().expect("bytes are written in hex");
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("bytes are written in hex");
    (0..text.len()).step_by(2).map(byte).collect()
}

fn decode(code: LogCode, body: &[u8]) -> Item {
    let at = ModemInstant::default();
    let log = LogRecord { code, at, stamp: 0, radio: None, body };
    let mut tree = Builder::new();
    record::decode(&log, &mut tree).expect("a vector can be read");
    tree.finish()
}

fn number(item: &Item, name: &str) -> i64 {
    item.number(name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// A level as the second decoder prints it.
fn level(item: &Item, name: &str) -> String {
    format!("{:.2}", item.real(name).unwrap_or_else(|| panic!("there is no {name}")))
}

/// A network as the second decoder prints it.
fn plmn(item: &Item, name: &str) -> String {
    item.plmn(name).unwrap_or_else(|| panic!("there is no {name}")).replace('-', "/")
}
