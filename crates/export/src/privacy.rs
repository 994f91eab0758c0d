//! The parts of a capture that show its user or the user's location: hidden by default.
//!
//! The list names safe contents, not unsafe ones: an unlisted record is hidden. Hidden are IMSI,
//! IMEI, GUTI and TMSI; NAS; RRC except a few kinds of message without space for any of it; global
//! identities of cells; ciphering keys; user data; positions; events; and the modem's debug
//! messages. Physical cell ids, carrier numbers and RNTIs stay: they repeat from place to place,
//! and every KPI needs them.

use std::ops::RangeInclusive;

use sounding_diag::packet::Packet;
use sounding_diag::radio::Rnti;
use sounding_diag::record::{MacDownlink, Record, RrcPdu};
use sounding_diag::{LogRecord, packet};

use crate::message::{Channel, Message};

/// The private data that `--no-redact` reveals, for use in messages.
pub const EXPOSES: &str = "subscriber and device identities (IMSI, IMEI, GUTI, TMSI), NAS and RRC messages with what they \
     carry, cell identities and positions, ciphering keys, user data and the modem's debug messages";

/// Whether what identifies a person is hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Privacy {
    /// It is.
    #[default]
    Redact,
    /// Everything is shown.
    Expose,
}

/// Log codes whose records hold measurements, scheduling, headers and counters, and nothing else.
/// The vendor's names are in docs/reference/diag.md. The ranges leave out MAC's random access
/// attempts, RLC's and PDCP's data, and PDCP's configuration.
const PLAIN: &[RangeInclusive<u16>] = &[
    // 1xEV-DO: why a connection ended, counters of searching.
    0x1071..=0x1071,
    0x118A..=0x118A,
    // WCDMA: cells by scrambling code and level, block error rate, state of RRC.
    0x4005..=0x4005,
    0x4116..=0x4116,
    0x4125..=0x4125,
    // GSM: cells by carrier, colour code and level, parameters of reselection, but not the serving
    // cell's identity; the same of a device with two subscriptions.
    0x5065..=0x5066,
    0x506A..=0x506A,
    0x506C..=0x506C,
    0x5071..=0x5071,
    0x507A..=0x507B,
    0x5130..=0x5130,
    0x51FC..=0x51FC,
    0x5A65..=0x5A66,
    0x5A6C..=0x5A6C,
    0x5A71..=0x5A71,
    0x5A7A..=0x5A7B,
    0x5B30..=0x5B30,
    // LTE MAC: configuration, random access trigger; transport blocks except one element (see
    // `identifies`), buffer status, statistics.
    0xB060..=0xB061,
    0xB063..=0xB068,
    // LTE RLC: configuration, headers, statistics.
    0xB081..=0xB082,
    0xB087..=0xB088,
    0xB091..=0xB092,
    0xB097..=0xB097,
    // LTE PDCP: statistics.
    0xB0A4..=0xB0A4,
    0xB0B4..=0xB0B4,
    // LTE RRC: master information block.
    0xB0C1..=0xB0C1,
    // LTE layer 1: from gain control to dedicated configuration, PRACH; message 1 of random
    // access, but not 2 to 4; grants, power, measurements, searches, but not paging, whose
    // cycle follows from the IMSI, nor the serving cell's identity.
    0xB110..=0xB167,
    0xB16B..=0xB17B,
    0xB17D..=0xB196,
    0xB198..=0xB19F,
    0xB1A1..=0xB1A2,
    0xB1B0..=0xB1B2,
    0xB1C6..=0xB1C6,
    0xB1C9..=0xB1C9,
    // NB-IoT layer 1: the same.
    0xB240..=0xB240,
    0xB244..=0xB246,
    0xB248..=0xB248,
    0xB24C..=0xB24E,
    // NR RRC: master information block.
    0xB822..=0xB822,
    // NR: statistics of PDCP and RLC, status, uplink blocks and buffer status.
    0xB842..=0xB842,
    0xB84D..=0xB84E,
    0xB860..=0xB861,
    0xB868..=0xB869,
    0xB872..=0xB873,
    // NR MAC: uplink blocks, schedule, DCI, PDSCH, random access trigger, DRX, uplink control,
    // channel state.
    0xB880..=0xB885,
    0xB887..=0xB889,
    0xB890..=0xB89C,
    0xB8A0..=0xB8A1,
    0xB8A7..=0xB8A7,
    0xB8AE..=0xB8AE,
    0xB8C9..=0xB8DD,
    0xB8E2..=0xB8E2,
    // NR layer 1: configuration, searcher, beams.
    0xB950..=0xB98A,
    0xB98F..=0xB98F,
    0xB9A4..=0xB9A7,
    0xB9BF..=0xB9BF,
];

/// Answers without identities: version and build, errors, time, log mask, and the masks of messages
/// and events. Everything else that is not a log record is hidden. Status and subsystem answers
/// name the device. Events and debug messages can have any content. The frames that a recording
/// program adds begin with the name of a phone.
const PLAIN_COMMANDS: &[u8] = &[0x00, 0x13, 0x14, 0x15, 0x18, 0x1C, 0x1D, 0x60, 0x73, 0x7C, 0x7D];

/// Whether a packet may show a person's identity or location.
pub fn packet_identifies(packet: &Packet<'_>) -> bool {
    match packet {
        Packet::Log(record) => identifies(record),
        // 0x60 is both the answer that switches events and an event itself; an event has a length
        // and time.
        Packet::Other { command: 0x60, body, .. } => body.len() > 1,
        Packet::Other { command, .. } => !PLAIN_COMMANDS.contains(command),
    }
}

/// Whether a record may show a person's identity or location.
pub fn identifies(record: &LogRecord<'_>) -> bool {
    match record.code.number() {
        // The answer to a random access repeats the asking device's identity, and is one of the
        // control elements.
        MAC_DOWNLINK => match Record::parse(record) {
            Ok(Record::MacDownlink(blocks)) => resolves_contention(&blocks),
            _ => true,
        },
        code if PLAIN.iter().any(|codes| codes.contains(&code)) => false,
        _ => !Message::of(record).is_some_and(|message| is_harmless(&message)),
    }
}

const MAC_DOWNLINK: u16 = 0xB063;
/// Logical channel id of a contention resolution identity (TS 36.321 Table 6.2.1-1).
const CONTENTION_RESOLUTION: u8 = 28;

fn resolves_contention(blocks: &MacDownlink<'_>) -> bool {
    blocks.blocks().any(|block| match block.rnti {
        Rnti::Cell | Rnti::SemiPersistent | Rnti::Temporary => {
            block.pdu.subheaders().any(|header| header.id() == CONTENTION_RESOLUTION)
        }
        // Paging has no header. All its bytes are the identities that are paged.
        _ => !block.pdu.bytes().is_empty(),
    })
}

/// RRC messages that have no room for an identity, by channel and the first octet's choice (TS
/// 36.331 §6.2.2).
fn is_harmless(message: &Message<'_>) -> bool {
    // One bit for the class of the messages, four for which of it; in the uplink and downlink of a
    // connection alike.
    let choice = message.bytes.first().map(|octet| (octet >> 7, octet >> 3 & 15));
    match message.channel {
        Channel::Rrc(RrcPdu::LteBcchBch | RrcPdu::NrBcchBch) => true,
        // securityModeCommand, ueCapabilityEnquiry.
        Channel::Rrc(RrcPdu::LteDlDcch) => matches!(choice, Some((0, 6 | 7))),
        // rrcConnectionReconfigurationComplete, rrcConnectionReestablishmentComplete,
        // securityModeComplete, securityModeFailure.
        Channel::Rrc(RrcPdu::LteUlDcch) => matches!(choice, Some((0, 2 | 3 | 5 | 6))),
        _ => false,
    }
}

/// A log record's command byte is no command of [`PLAIN_COMMANDS`]: its code decides.
const _: () = {
    let mut i = 0;
    while i < PLAIN_COMMANDS.len() {
        assert!(PLAIN_COMMANDS[i] != packet::LOG);
        i += 1;
    }
};
