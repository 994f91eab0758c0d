//! How the reference names and writes what we decode, record by record.
//!
//! # Where the reference is wrong
//!
//! Each of these is computed, not passed over: [`How::Error`] makes the wrong value from the right
//! one, and the test fails if the reference has anything else.
//!
//! | record | the reference | right | why |
//! |---|---|---|---|
//! | 0xB064 | long BSR, groups 1 and 2: `(x << 4) & (0x30 + (y >> 4))` | `((x << 4) & 0x30) + (y >> 4)` | C binds `+` before `&` |
//! | 0xB126 v123 | operating mode `& 0x15` | the four bits below the interferer's identity | 0x15 is not four bits |
//! | 0xB139 | power of 43 and 124 as a plain number, of 102 less 128 | seven bits of two's complement | 23 dBm is the most a device sends, −116 the least anyone measures |
//! | 0xB139 | second cluster: border between start and width one bit too high | seven bits each | both clusters' blocks then give the block size that code rate and modulation state; version 144 has it so |
//! | 0xB139 | clusters `× 63`, acknowledgement index `& 4096` | `& 63`, twelve bits | a slip of the pen each |
//! | 0x412F | channels from 0x80 on: carrier and scrambling code are the beginning of the message | they stand before it | it is the length's four bytes too short then, and does not decode |
//! | 0xB0C0 v7 | length of one byte; mask of system information is its high byte | length of two, the mask is the word before | messages longer than 255 bytes decode |
//! | 0xB0C0 v26 | carrier of 16 bits, time of 32 | 32 and 16 | bands from 65 on have higher numbers; read so, carriers agree with 0xB0C2 and time runs |
//! | 0x512F | a subscription before the rest | it is 0x512F's newer sibling that has one | read so, every record's length is that of its message |
//! | 0xB173 v36 | QED iteration `& 47` | six bits | 47 is not a mask |
//! | 0x4127 | scrambling code with the four bits below it | twelve bits | another decoder; there are 512 codes |
//! | 0xB060 sub 0 | reason, mask and two bytes of no meaning as one number | a byte each | version 2 has it so; the last two bytes differ between records that say the same |
//! | 0xB060, 0xB061 | preamble power as a plain number, or of the low byte less 256 | two's complement of sixteen bits | zero reads as −256 otherwise |
//! | 0xB061 sub 3 v2 | frequency offset three bytes long, all after it two bytes further on | one byte, as in versions 4 and 5 | it reads padding, and the next sub-packet's id |
//! | 0xB061 sub 5 v2 | eight bytes of identity, the preamble as the procedure | six, then the procedure | version 1 has it so; a request for a connection is always contention based |
//! | 0xB062 | the second and third message where the first begins, if the third was not sent | always in the same place | the attempts that succeed have them there, and another decoder |
//! | 0xB062 | power as a plain number, grant without its lowest byte | two's complement, twenty bits | another decoder's grants are those of the response |
//! | 0xB0A2 | first octet with its lowest bit first | highest first (TS 36.323 §6.2) | the record's own type is 1, feedback, and so are bits 6 to 4 |
//! | 0xB13C | power of six bits | seven bits of two's complement | it gives 42 to 62 dBm, where the byte gives −22 to −2 |
//! | 0xB16E, 0xB16F | powers of eight bits as plain numbers | two's complement | 254 dBm |
//! | 0xB16F v4 | `g(i)` less 65535 | two's complement of sixteen bits | with it each step is the command of the record |
//! | 0xB193 sub 18 | RSSI is that of antenna 1 | the word after it | the combined value is that of the better antenna in every record |
//! | 0xB193 sub 36 | RSRQ is that of antenna 0 | two words after it | the combined value is that of the better antenna |
//! | 0xB193 | of an antenna that is not there −180 dBm, −30 dB, −110 dBm | nothing | all its levels are zero steps, and the record's map of receivers lacks it |
//! | 0xB193 sub 36 | no RSSI, SNR or filtered levels; only the first cell | they are there | another decoder reads them |

mod bearers;
mod cells;
mod evdo;
mod events;
mod mac;
mod mac_config;
mod measurement;
mod nb_iot;
mod pdcch;
mod pdcp;
mod pdsch;
mod power;
mod pucch;
mod pusch;
mod rach;
mod rlc;
mod signalling;
mod statistics;

use serde_json::{Map, Value as Json};
use sounding_diag::LogRecord;

use crate::agree::{Fields, How, Rule, compare};
use crate::tree::{Item, Node};

/// Length, code, time and version: what the reference has of any record.
const HEADER_ONLY: usize = 4;

/// Compares one record; nothing if the reference read no more than its header.
pub(crate) fn check(
    log: &LogRecord<'_>,
    mut ours: Item,
    mut theirs: Map<String, Json>,
) -> Result<Option<Fields>, String> {
    let version = log.body[0];
    // Sub-packets the reference does not know leave an empty list.
    let nothing = |key: &str| match theirs.get(key) {
        None => true,
        Some(list) => list.as_array().is_some_and(Vec::is_empty),
    };
    let rules = match (log.code.number(), version) {
        (0xB139, 161) | (0xB173, 48) | (0xB132, 42) if nothing("Records") => return Ok(None),
        (0xB0C0, _) => signalling::lte_rrc(log, &mut theirs)?,
        (0xB821, _) => signalling::nr_rrc(log, &mut theirs)?,
        (0xB0E2 | 0xB0E3 | 0xB0EC | 0xB0ED, _) => signalling::lte_nas(&mut theirs),
        (0xB0E5, _) => signalling::bearer(),
        (0xB0EE, _) => signalling::emm_state(),
        (0x106E, _) => evdo::attempt(),
        (0x1071, _) => evdo::release(),
        (0x412F, channel) => signalling::wcdma_rrc(channel, &mut theirs),
        (0x512F, _) => signalling::gsm_rr(log, &ours)?,
        (0x7130, _) => signalling::gmm_state(),
        (0x7131, _) => signalling::mm_state(),
        (0x7135, _) => signalling::registration(),
        (0x713A, _) => signalling::umts_nas(&mut theirs),
        (0xB063, 49) | (0xB066 | 0xB193, 1) if nothing("Subpackets") => return Ok(None),
        (0xB063, _) => mac::downlink(&mut ours, &theirs),
        (0xB064, _) => mac::uplink(&mut ours, &theirs),
        (0xB066, _) => mac::buffer(),
        (0xB067, _) => mac::statistics(&mut theirs),
        (0xB126, 144) => pdsch::demapper_v144(&mut ours, &mut theirs),
        (0xB126, _) => pdsch::demapper(version),
        (0xB130, _) => pdcch::decoding(),
        (0xB132, _) => pdsch::decoding(),
        (0xB13C | 0xB14D, 161 | 162) if theirs.len() == HEADER_ONLY => return Ok(None),
        (0x4127, _) => cells::wcdma(),
        (0xB060, _) => mac_config::rules(&mut ours, &mut theirs, log.body),
        (0xB061, _) => rach::trigger(log.body[5], reason_version(log.body)),
        (0xB062, _) => rach::attempt(&mut ours, &mut theirs, log.body)?,
        (0xB081, _) => bearers::rlc("RLCDL CFG"),
        (0xB091, _) => bearers::rlc("RLCUL CFG"),
        (0xB0A0 | 0xB0B0, _) => bearers::pdcp(),
        (0xB0A2, _) => pdcp::control(),
        (0xB0B1, _) => pdcp::data(),
        (0xB0C1, _) => cells::mib(),
        (0xB0C2, _) => cells::serving(),
        (0xB179, _) => cells::intra_frequency(),
        (0xB18A, _) => events::link_monitoring(),
        (0xB195, _) => cells::neighbours(&ours)?,
        (0xB198, _) => events::drx(),
        (0xB244, _) => nb_iot::dci(),
        (0xB245, _) => nb_iot::transmissions(),
        (0xB246, _) => nb_iot::blocks(),
        (0xB24B, _) => nb_iot::system(),
        (0xB24C, _) => nb_iot::reselection(&mut ours, &mut theirs),
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
    compare(&ours, &theirs, &rules).map(Some)
}

/// The version of the second sub-packet: of 0xB061 the reason, after the configuration.
fn reason_version(body: &[u8]) -> u8 {
    let len = usize::from(u16::from_le_bytes([body[6], body[7]]));
    body[4 + len + 1]
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

/// A level of an antenna, which may not be there; `rsrp` is what the reference calls the antenna's
/// RSRP.
const fn antenna(ours: &'static str, theirs: &'static str, rsrp: &'static str, zero: f64) -> Rule {
    Rule { ours, theirs, how: How::Antenna { rsrp, zero } }
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
