//! The RRC or NAS message that a record carries: its bytes, and the channel that says how to read them.
//!
//! Only what is needed to hand a message on; its contents are nobody's concern here. Numbers and lengths: docs/diag.md
//! and the captures (test `messages_are_those_of_an_independent_reader`).

use sounding_diag::LogRecord;

use Channel::{
    LteBcchBch as Bch, LteBcchDlSch as Sch, LteDlCcch as DlC, LteDlDcch as DlD, LteMcch as Mcch,
    LtePcch as Pcch, LteUlCcch as UlC, LteUlDcch as UlD, NbBcchBch, NbBcchDlSch, NbDlCcch,
    NbDlDcch, NbPcch, NbUlCcch, NbUlDcch,
};

/// What a message was sent on, or what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// LTE, master information block.
    LteBcchBch,
    /// LTE, system information.
    LteBcchDlSch,
    /// LTE, multicast control.
    LteMcch,
    /// LTE, paging.
    LtePcch,
    /// LTE, downlink before a connection.
    LteDlCcch,
    /// LTE, downlink of a connection.
    LteDlDcch,
    /// LTE, uplink before a connection.
    LteUlCcch,
    /// LTE, uplink of a connection.
    LteUlDcch,
    /// NB-IoT, master information block.
    NbBcchBch,
    /// NB-IoT, system information.
    NbBcchDlSch,
    /// NB-IoT, paging.
    NbPcch,
    /// NB-IoT, downlink before a connection.
    NbDlCcch,
    /// NB-IoT, downlink of a connection.
    NbDlDcch,
    /// NB-IoT, uplink before a connection.
    NbUlCcch,
    /// NB-IoT, uplink of a connection.
    NbUlDcch,
    /// NR, master information block.
    NrBcchBch,
    /// NR, a reconfiguration that came within a message of LTE.
    NrReconfiguration,
    /// NR, a radio bearer configuration that came within a message of LTE.
    NrRadioBearerConfig,
    /// NR, uplink of a connection.
    NrUlDcch,
    /// LTE's NAS without protection.
    NasPlain,
    /// LTE's NAS as it goes over the air.
    NasProtected,
}

/// A message, and where it was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// How to read it.
    pub channel: Channel,
    /// The device sent it.
    pub uplink: bool,
    /// Number of the carrier; 0 where the record has none.
    pub carrier: u32,
    /// Frame in its upper bits and subframe in its lower four, as far as the record has them.
    pub frame: u16,
    /// The message.
    pub bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// The message that `record` carries; `None` if it carries none, or one that nobody has described.
    pub fn of(record: &LogRecord<'a>) -> Option<Self> {
        let body = record.body;
        match record.code.number() {
            0xB0C0 => lte_rrc(body),
            0xB821 => nr_rrc(body),
            0xB0E0 | 0xB0EA => nas(body, Channel::NasProtected, false),
            0xB0E1 | 0xB0EB => nas(body, Channel::NasProtected, true),
            0xB0E2 | 0xB0EC => nas(body, Channel::NasPlain, false),
            0xB0E3 | 0xB0ED => nas(body, Channel::NasPlain, true),
            _ => None,
        }
    }
}

/// Channels by number: always in this order, and in later versions with others in between.
type Numbers = &'static [(u8, Channel)];

const FROM_1: Numbers =
    &[(1, Bch), (2, Sch), (3, Mcch), (4, Pcch), (5, DlC), (6, DlD), (7, UlC), (8, UlD)];
const FROM_8: Numbers =
    &[(8, Bch), (9, Sch), (10, Mcch), (11, Pcch), (12, DlC), (13, DlD), (14, UlC), (15, UlD)];
const WITH_GAP: Numbers =
    &[(1, Bch), (2, Sch), (4, Mcch), (5, Pcch), (6, DlC), (7, DlD), (8, UlC), (9, UlD)];
const WITH_NB: Numbers = &[
    (1, Bch),
    (3, Sch),
    (6, Mcch),
    (7, Pcch),
    (8, DlC),
    (9, DlD),
    (10, UlC),
    (11, UlD),
    (45, NbBcchBch),
    (46, NbBcchDlSch),
    (47, NbPcch),
    (48, NbDlCcch),
    (49, NbDlDcch),
    (50, NbUlCcch),
    (52, NbUlDcch),
];

/// 0xB0C0: version, release and bearer; cell, carrier, time, number, and the length before the message.
fn lte_rrc(body: &[u8]) -> Option<Message<'_>> {
    let version = *body.first()?;
    // Where the carrier starts, how many bytes it has, and where the message starts.
    let (at, wide, start) = match version {
        2..=4 => (6, 2, 13),
        5..=7 => (6, 2, 17),
        8..=24 => (6, 4, 19),
        25..=29 => (8, 4, 21),
        _ => return None,
    };
    let numbers = match version {
        9 | 12 => FROM_8,
        2..=8 | 13 | 22 => FROM_1,
        14 | 15 | 16 | 20 | 24 => WITH_GAP,
        19 | 26 => WITH_NB,
        _ => return None,
    };
    let number = *body.get(at + wide + 2)?;
    let channel = find(numbers, number)?;
    let bytes = body.get(start..)?.get(..usize::from(word(body, start - 2)?))?;
    let carrier = match wide {
        2 => u32::from(word(body, at)?),
        _ => u32::from(word(body, at)?) | u32::from(word(body, at + 2)?) << 16,
    };
    let uplink = matches!(channel, UlC | UlD | NbUlCcch | NbUlDcch);
    Some(Message { channel, uplink, carrier, frame: word(body, at + wide)?, bytes })
}

/// 0xB821, the versions that captures show.
fn nr_rrc(body: &[u8]) -> Option<Message<'_>> {
    const NUMBERS: Numbers = &[
        (1, Channel::NrBcchBch),
        (8, Channel::NrUlDcch),
        (9, Channel::NrReconfiguration),
        (26, Channel::NrRadioBearerConfig),
    ];
    let &[7 | 8, 0, 0, 0] = body.first_chunk::<4>()? else { return None };
    let channel = find(NUMBERS, *body.get(17)?)?;
    let bytes = body.get(24..)?.get(..usize::from(word(body, 22)?))?;
    let carrier = u32::from(word(body, 9)?) | u32::from(word(body, 11)?) << 16;
    let uplink = channel == Channel::NrUlDcch;
    Some(Message { channel, uplink, carrier, frame: 0, bytes })
}

/// Version and release, then the message to the end.
fn nas(body: &[u8], channel: Channel, uplink: bool) -> Option<Message<'_>> {
    let (&[1, ..], bytes) = body.split_first_chunk::<4>()? else { return None };
    Some(Message { channel, uplink, carrier: 0, frame: 0, bytes })
}

fn find(numbers: Numbers, number: u8) -> Option<Channel> {
    numbers.iter().find(|(found, _)| *found == number).map(|(_, channel)| *channel)
}

fn word(body: &[u8], at: usize) -> Option<u16> {
    body.get(at..)?.first_chunk().map(|word| u16::from_le_bytes(*word))
}
