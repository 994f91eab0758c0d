//! How the reference names and writes what we decode, record by record.
//!
//! # Where the reference is wrong
//!
//! Each of these is computed, not passed over: [`How::Error`] makes the wrong value from the right one, and the test
//! fails if the reference has anything else.
//!
//! | record | the reference | right | why |
//! |---|---|---|---|
//! | 0xB064 | long BSR, groups 1 and 2: `(x << 4) & (0x30 + (y >> 4))` | `((x << 4) & 0x30) + (y >> 4)` | C binds `+` before `&` |
//! | 0xB126 v123 | operating mode `& 0x15` | the four bits below the interferer's identity | 0x15 is not four bits |
//! | 0xB139 | power of 43 and 124 as a plain number, of 102 less 128 | seven bits of two's complement | 23 dBm is the most a device sends, −116 the least anyone measures |
//! | 0xB139 | second cluster: border between start and width one bit too high | seven bits each | both clusters' blocks then give the block size that code rate and modulation state; version 144 has it so |
//! | 0xB139 | clusters `× 63`, acknowledgement index `& 4096` | `& 63`, twelve bits | a slip of the pen each |
//! | 0xB173 v36 | QED iteration `& 47` | six bits | 47 is not a mask |
//! | 0xB193 sub 18 | RSSI is that of antenna 1 | the word after it | the combined value is that of the better antenna in every record |
//! | 0xB193 sub 36 | RSRQ is that of antenna 0 | two words after it | the combined value is that of the better antenna |
//! | 0xB193 sub 36 | no RSSI, SNR or filtered levels; only the first cell | they are there | another decoder reads them |

mod mac;
mod measurement;
mod pdcch;
mod pdcp;
mod pdsch;
mod power;
mod pucch;
mod pusch;
mod rlc;
mod statistics;

use serde_json::{Map, Value as Json};
use sounding_diag::LogRecord;

use crate::agree::{How, Rule, compare};
use crate::tree::{Item, Node};

/// Length, code, time and version: what the reference has of any record.
const HEADER_ONLY: usize = 4;

/// Compares one record; false if the reference read no more than its header.
pub(crate) fn check(
    log: &LogRecord<'_>,
    mut ours: Item,
    mut theirs: Map<String, Json>,
) -> Result<bool, String> {
    let version = log.body[0];
    // Sub-packets the reference does not know leave an empty list.
    let nothing = |key: &str| match theirs.get(key) {
        None => true,
        Some(list) => list.as_array().is_some_and(Vec::is_empty),
    };
    let rules = match (log.code.number(), version) {
        (0xB139, 161) | (0xB173, 48) | (0xB132, 42) if nothing("Records") => return Ok(false),
        (0xB063, 49) | (0xB066 | 0xB193, 1) if nothing("Subpackets") => return Ok(false),
        (0xB063, _) => mac::downlink(&mut ours, &theirs),
        (0xB064, _) => mac::uplink(&mut ours, &theirs),
        (0xB066, _) => mac::buffer(),
        (0xB067, _) => mac::statistics(&mut theirs),
        (0xB126, 144) => pdsch::demapper_v144(&mut ours, &mut theirs),
        (0xB126, _) => pdsch::demapper(version),
        (0xB130, _) => pdcch::decoding(),
        (0xB132, _) => pdsch::decoding(),
        (0xB13C | 0xB14D, 161 | 162) if theirs.len() == HEADER_ONLY => return Ok(false),
        (0xB082, _) => rlc::pdus(&mut ours, "RLCDL"),
        (0xB092, _) => rlc::pdus(&mut ours, "RLCUL"),
        (0xB087, _) => statistics::rlc_downlink(),
        (0xB097, _) => statistics::rlc_uplink(),
        (0xB0A3, _) => pdcp::ciphered("PDCPDL CIPH DATA"),
        (0xB0B3, _) => pdcp::ciphered("PDCPUL CIPH DATA"),
        (0xB0A4, _) => statistics::pdcp_downlink(),
        (0xB0B4, _) => statistics::pdcp_uplink(log.body[5]),
        (0xB0A5 | 0xB0B5, _) => pdcp::signalling(&mut ours, &mut theirs),
        (0xB16E, _) => power::pusch(version),
        (0xB16F, _) => power::pucch(version),
        (0xB13C, _) => pucch::report(),
        (0xB14D, _) => pucch::periodic(version),
        (0xB14E, _) => pucch::aperiodic(version),
        (0xB139, _) => pusch::report(version),
        (0xB16B, _) => pdcch::indication(version),
        (0xB173, _) => pdsch::statistics(),
        (0xB193, _) => measurement::serving(&mut ours, log.body[5]),
        other => return Err(format!("no rules for {other:?}")),
    };
    compare(&ours, &theirs, &rules).map(|()| true)
}

impl Item {
    /// Puts the fields of the chosen item of `list` in the place of the list.
    pub(crate) fn inline(&mut self, list: &str, choose: fn(Vec<Item>) -> Option<Item>) {
        let Some(at) = self.0.iter().position(|(name, _)| *name == list) else { return };
        if let (_, Node::List(items)) = self.0.remove(at) {
            self.0.extend(choose(items).into_iter().flat_map(|item| item.0));
        }
    }

    pub(crate) fn list_mut(&mut self, list: &str) -> Option<&mut Vec<Item>> {
        self.0.iter_mut().find_map(|(name, node)| match node {
            Node::List(items) if *name == list => Some(items),
            _ => None,
        })
    }
}

/// What every record has.
fn record(own: Vec<Rule>) -> Vec<Rule> {
    let mut rules = vec![
        theirs("log_msg_len"),
        theirs("type_id"),
        theirs("timestamp"),
        same("version", "Version"),
    ];
    rules.extend(own);
    rules
}

/// A record of sub-packets, whose fields are among `own`.
fn sub_packets(count: &'static str, kinds: Texts, own: Vec<Rule>) -> Vec<Rule> {
    let mut rules = vec![
        text("id", "SubPacket ID", kinds),
        same("version", "Version"),
        same("len_bytes", "SubPacket Size"),
        same("sample_count", "Num Samples"),
    ];
    rules.extend(own);
    record(vec![same("sub_packet_count", count), list("sub_packets", "Subpackets", rules)])
}

type Texts = &'static [(i64, &'static str)];

const fn same(ours: &'static str, theirs: &'static str) -> Rule {
    Rule { ours, theirs, how: How::Same }
}

const fn text(ours: &'static str, theirs: &'static str, texts: Texts) -> Rule {
    Rule { ours, theirs, how: How::Text(texts) }
}

const fn list(ours: &'static str, theirs: &'static str, rules: Vec<Rule>) -> Rule {
    Rule { ours, theirs, how: How::List(rules) }
}

const fn error(ours: &'static str, theirs: &'static str, make: fn(&Item) -> Json) -> Rule {
    Rule { ours, theirs, how: How::Error(make) }
}

const fn differently(ours: &'static str, theirs: &'static str, make: fn(&Item) -> Json) -> Rule {
    Rule { ours, theirs, how: How::Differently(make) }
}

/// Only we read it.
const fn ours(ours: &'static str) -> Rule {
    Rule { ours, theirs: "", how: How::Ours }
}

/// Only the reference has it.
const fn theirs(theirs: &'static str) -> Rule {
    Rule { ours: "", theirs, how: How::Theirs }
}

const RNTI: Texts = &[
    (0, "C-RNTI"),
    (1, "SPS-RNTI"),
    (2, "P-RNTI"),
    (3, "RA-RNTI"),
    (4, "Temporary-C-RNTI"),
    (5, "SI-RNTI"),
    (6, "TPC-PUSCH-RNTI"),
    (7, "TPC-PUCCH-RNTI"),
    (8, "MBMS RNTI"),
];
const CARRIER: Texts = &[(0, "PCC"), (1, "SCC"), (2, "SCC-2")];
const CELL: Texts = &[(0, "PCell"), (1, "1_SCell"), (2, "2_SCell")];
const PASS: Texts = &[(0, "Fail"), (1, "Pass")];
const ACK: Texts = &[(0, "NACK"), (1, "ACK")];
const YES: Texts = &[(0, "No"), (1, "Yes")];
const ON: Texts = &[(0, "Off"), (1, "On")];
const MODE: Texts = &[(1, "AM")];
const TRUE: Texts = &[(0, "False"), (1, "True")];
const ENABLED: Texts = &[(0, "Disabled"), (1, "Enabled")];
const AGGREGATION: Texts = &[(0, "Agg1"), (1, "Agg2"), (2, "Agg4"), (3, "Agg8")];
const SEARCH_SPACE: Texts = &[(0, "Common"), (1, "UE-specific")];
const ORDINAL: Texts = &[
    (0, "First"),
    (1, "Second"),
    (2, "Third"),
    (3, "Fourth"),
    (4, "Fifth"),
    (5, "Sixth"),
    (6, "Seventh"),
    (7, "Eighth"),
];
const DCI_FORMAT: Texts = &[
    (0, "Format 0"),
    (1, "Format 1"),
    (2, "Format 1A"),
    (3, "Format 1B"),
    (4, "Format 1C"),
    (5, "Format 1D"),
    (6, "Format 2"),
    (7, "Format 2A"),
    (10, "Format 3"),
    (11, "Format 3A"),
    (12, "NO DCI"),
    (13, "NO DCI"),
];
const PUCCH_FORMAT: Texts = &[
    (0, "Format 1"),
    (1, "Format 1A"),
    (2, "Format 1B"),
    (3, "Format 2"),
    (4, "Format 2A"),
    (5, "Format 2B"),
    (6, "Format 1bCS"),
    (7, "Format 3"),
];
