//! The few commands that a session needs: identify the modem, read its masks, and set the log
//! records that it sends.
//!
//! Both sides of each: a reader of modems emits [`Request`]s and parses [`Answer`]s, a modelled
//! modem does the opposite. Source: docs/reference/diag.md, transport; the answers agree with those
//! that open real captures.

use alloc::vec::Vec;

mod mask;

pub(crate) use mask::mask_len;
pub use mask::{LogMask, MessageRange};

const VERSION: u8 = 0x00;
const PROTOCOL: u8 = 0x1C;
const LOG_CONFIG: u8 = 0x73;
const BUILD_ID: u8 = 0x7C;
const MESSAGES: u8 = 0x7D;
const EVENT_MASK: u8 = 0x81;

const DISABLE: u32 = 0;
const RANGES: u32 = 1;
const SET_MASK: u32 = 3;
const GET_MASK: u32 = 4;

const MESSAGE_RANGES: u8 = 1;
const MESSAGE_MASK: u8 = 3;

/// Equipment ids there are, 0..=15.
pub const EQUIPMENTS: usize = 16;

/// A request to a modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// When its software was built, command 0x00.
    Version,
    /// Its software build, command 0x7C.
    BuildId,
    /// The Diag protocol version, command 0x1C.
    Protocol,
    /// Stop all log records, command 0x73.
    LogDisable,
    /// The number of items of each equipment, command 0x73.
    LogRanges,
    /// The log mask of this equipment, command 0x73.
    LogMaskOf(u8),
    /// Send these log records of one equipment and no others of it, command 0x73.
    LogMask(LogMask<'a>),
    /// The subsystems that have messages, command 0x7D.
    MessageRanges,
    /// The message mask of these subsystems, command 0x7D.
    MessageMaskOf(MessageRange),
    /// The event mask, command 0x81.
    EventMask,
}

/// An answer of a modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Dates and times of its software, in text.
    Version {
        /// Day it was compiled, as in `Apr  2 2015`.
        compiled_on: &'a [u8; 11],
        /// Time it was compiled, as in `21:45:40`.
        compiled_at: &'a [u8; 8],
    },
    /// Its software.
    BuildId(&'a [u8]),
    /// No log record will come.
    LogDisabled,
    /// The number of items of each equipment.
    LogRanges([u32; EQUIPMENTS]),
    /// These log records come.
    LogMaskOf(LogMask<'a>),
    /// These log records will come.
    LogMask(LogMask<'a>),
    /// It understood the log request and did not do it.
    LogRefused {
        /// The operation: 0 disable, 1 ranges, 3 set mask, 4 get mask.
        operation: u32,
        /// Its reason; not zero.
        status: u32,
    },
    /// The Diag protocol version.
    Protocol(u16),
    /// The subsystems that have messages: first and last of each range, as on the wire.
    MessageRanges(&'a [u8]),
    /// The message mask of a range: 32 bits for each subsystem, as on the wire.
    MessageMaskOf(MessageRange, &'a [u8]),
    /// The event mask: bit i of byte j is event 8j + i.
    EventMask(&'a [u8]),
    /// It did not do it.
    Refused {
        /// Why not.
        refusal: Refusal,
        /// The command that it refuses, if it names it.
        command: Option<u8>,
    },
}

/// Why a modem refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Answer 0x13.
    #[error("the modem does not know the command")]
    Command,
    /// Answer 0x14.
    #[error("the modem refuses a parameter of the command")]
    Parameter,
    /// Answer 0x15.
    #[error("the modem expects another length of the command")]
    Length,
    /// Answer 0x18.
    #[error("the modem is not in a mode for the command")]
    Mode,
    /// Answer 0x47.
    #[error("the modem wants to be unlocked first")]
    Locked,
}

const REFUSALS: [(u8, Refusal); 5] = [
    (0x13, Refusal::Command),
    (0x14, Refusal::Parameter),
    (0x15, Refusal::Length),
    (0x18, Refusal::Mode),
    (0x47, Refusal::Locked),
];

impl<'a> Request<'a> {
    /// Reads the payload of a frame; `None` if it is no request known here.
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        match *payload {
            [VERSION] => Some(Self::Version),
            [BUILD_ID] => Some(Self::BuildId),
            [PROTOCOL] => Some(Self::Protocol),
            [EVENT_MASK, _, _, _] => Some(Self::EventMask),
            [MESSAGES, MESSAGE_RANGES] => Some(Self::MessageRanges),
            [MESSAGES, MESSAGE_MASK, ref range @ ..] => {
                let (range, rest) = message_range(range)?;
                rest.is_empty().then_some(Self::MessageMaskOf(range))
            }
            [LOG_CONFIG, _, _, _, ref rest @ ..] => {
                let (operation, rest) = word(rest)?;
                match operation {
                    DISABLE => Some(Self::LogDisable),
                    RANGES => Some(Self::LogRanges),
                    SET_MASK => mask(rest).map(Self::LogMask),
                    GET_MASK => {
                        let (equipment, _) = word(rest)?;
                        Some(Self::LogMaskOf(u8::try_from(equipment).ok()?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The command byte of its payload, which an answer repeats.
    pub const fn command(&self) -> u8 {
        match self {
            Self::Version => VERSION,
            Self::BuildId => BUILD_ID,
            Self::Protocol => PROTOCOL,
            Self::LogDisable | Self::LogRanges | Self::LogMaskOf(_) | Self::LogMask(_) => {
                LOG_CONFIG
            }
            Self::MessageRanges | Self::MessageMaskOf(_) => MESSAGES,
            Self::EventMask => EVENT_MASK,
        }
    }

    /// Appends the payload of the request's frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Version => out.push(VERSION),
            Self::BuildId => out.push(BUILD_ID),
            Self::LogDisable => log_config(&[DISABLE], out),
            Self::LogRanges => log_config(&[RANGES], out),
            Self::LogMaskOf(equipment) => log_config(&[GET_MASK, u32::from(*equipment)], out),
            Self::LogMask(mask) => {
                log_config(&[SET_MASK, u32::from(mask.equipment), mask.items], out);
                out.extend_from_slice(mask.bits);
            }
            Self::Protocol => out.push(PROTOCOL),
            Self::MessageRanges => out.extend_from_slice(&[MESSAGES, MESSAGE_RANGES]),
            Self::MessageMaskOf(range) => {
                out.extend_from_slice(&[MESSAGES, MESSAGE_MASK]);
                emit_range(*range, out);
            }
            Self::EventMask => out.extend_from_slice(&[EVENT_MASK, 0, 0, 0]),
        }
    }
}

impl<'a> Answer<'a> {
    /// Reads a packet that is not a log record: its command and what follows it; `None` if it is no
    /// answer known here.
    pub fn parse(command: u8, body: &'a [u8]) -> Option<Self> {
        match command {
            VERSION => {
                let (compiled_on, rest) = body.split_first_chunk()?;
                let compiled_at = rest.first_chunk()?;
                Some(Self::Version { compiled_on, compiled_at })
            }
            BUILD_ID => {
                // Version and two reserved bytes, hardware u32, model u32, then text that ends with
                // a zero.
                let text = body.get(11..)?;
                let end = memchr::memchr(0, text).unwrap_or(text.len());
                Some(Self::BuildId(&text[..end]))
            }
            LOG_CONFIG => {
                let (operation, rest) = word(body.get(3..)?)?;
                let (status, rest) = word(rest)?;
                match (operation, status) {
                    (DISABLE, 0) => Some(Self::LogDisabled),
                    (RANGES, 0) => ranges(rest).map(Self::LogRanges),
                    (SET_MASK, 0) => mask(rest).map(Self::LogMask),
                    (GET_MASK, 0) => mask(rest).map(Self::LogMaskOf),
                    (operation, 1..) => Some(Self::LogRefused { operation, status }),
                    _ => None,
                }
            }
            PROTOCOL => Some(Self::Protocol(u16::from_le_bytes(*body.first_chunk()?))),
            MESSAGES => match *body {
                [MESSAGE_RANGES, _, _, ref rest @ ..] => {
                    let (count, rest) = word(rest)?;
                    let len = usize::try_from(count).ok()?.checked_mul(RANGE_LEN)?;
                    rest.get(..len).map(Self::MessageRanges)
                }
                [MESSAGE_MASK, ref rest @ ..] => {
                    let (range, rest) = message_range(rest)?;
                    // Status and padding, then 32 bits for each subsystem.
                    let masks = rest.get(2..)?.get(..4 * range.count())?;
                    Some(Self::MessageMaskOf(range, masks))
                }
                _ => None,
            },
            EVENT_MASK => match *body {
                // Status, padding u16, count of bits, bits.
                [0, _, _, low, high, ref bits @ ..] => {
                    let count = u32::from(u16::from_le_bytes([low, high]));
                    bits.get(..mask_len(count)).map(Self::EventMask)
                }
                _ => None,
            },
            _ => {
                let found = REFUSALS.iter().find(|(number, _)| *number == command)?;
                Some(Self::Refused { refusal: found.1, command: body.first().copied() })
            }
        }
    }

    /// Appends the payload of the frame that answers this.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Version { compiled_on, compiled_at } => {
                out.push(VERSION);
                // Compiled, released, and 16 bytes of hardware and model that no reader here looks
                // at.
                for _ in 0..2 {
                    out.extend_from_slice(*compiled_on);
                    out.extend_from_slice(*compiled_at);
                }
                out.extend_from_slice(&[0; 16]);
            }
            Self::BuildId(text) => {
                out.extend_from_slice(&[BUILD_ID, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
                out.extend_from_slice(text);
                out.push(0);
            }
            Self::LogDisabled => log_config(&[DISABLE, 0], out),
            Self::LogRanges(items) => {
                log_config(&[RANGES, 0], out);
                items.iter().for_each(|count| out.extend_from_slice(&count.to_le_bytes()));
            }
            Self::LogMaskOf(mask) => {
                log_config(&[GET_MASK, 0, u32::from(mask.equipment), mask.items], out);
                out.extend_from_slice(mask.bits);
            }
            Self::LogMask(mask) => {
                log_config(&[SET_MASK, 0, u32::from(mask.equipment), mask.items], out);
                out.extend_from_slice(mask.bits);
            }
            Self::LogRefused { operation, status } => log_config(&[*operation, *status], out),
            Self::Protocol(version) => {
                out.push(PROTOCOL);
                out.extend_from_slice(&version.to_le_bytes());
            }
            Self::MessageRanges(ranges) => {
                out.extend_from_slice(&[MESSAGES, MESSAGE_RANGES, 0, 0]);
                out.extend_from_slice(&((ranges.len() / RANGE_LEN) as u32).to_le_bytes());
                out.extend_from_slice(ranges);
            }
            Self::MessageMaskOf(range, masks) => {
                out.extend_from_slice(&[MESSAGES, MESSAGE_MASK]);
                emit_range(*range, out);
                out.extend_from_slice(&[0, 0]);
                out.extend_from_slice(masks);
            }
            Self::EventMask(bits) => {
                out.extend_from_slice(&[EVENT_MASK, 0, 0, 0]);
                out.extend_from_slice(&((bits.len() * 8) as u16).to_le_bytes());
                out.extend_from_slice(bits);
            }
            Self::Refused { refusal, command } => {
                let found = REFUSALS.iter().find(|(_, found)| found == refusal);
                out.extend(found.map(|(number, _)| *number));
                out.extend(*command);
            }
        }
    }
}

fn log_config(words: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(&[LOG_CONFIG, 0, 0, 0]);
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// First and last subsystem, 16 bits each.
const RANGE_LEN: usize = 4;

fn emit_range(range: MessageRange, out: &mut Vec<u8>) {
    out.extend_from_slice(&range.first.to_le_bytes());
    out.extend_from_slice(&range.last.to_le_bytes());
}

fn message_range(bytes: &[u8]) -> Option<(MessageRange, &[u8])> {
    let (&[a, b, c, d], rest) = bytes.split_first_chunk::<RANGE_LEN>()?;
    let (first, last) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    Some((MessageRange { first, last }, rest))
}

/// The ranges of [`Answer::MessageRanges`]; one that ends before it begins is left out.
pub fn message_ranges(bytes: &[u8]) -> impl Iterator<Item = MessageRange> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let (range, tail) = message_range(rest)?;
        rest = tail;
        Some(range)
    })
    .filter(|range| range.first <= range.last)
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*word), rest))
}

fn ranges(mut bytes: &[u8]) -> Option<[u32; EQUIPMENTS]> {
    let mut items = [0; EQUIPMENTS];
    for count in &mut items {
        (*count, bytes) = word(bytes)?;
    }
    Some(items)
}

fn mask(bytes: &[u8]) -> Option<LogMask<'_>> {
    let (equipment, rest) = word(bytes)?;
    let (items, rest) = word(rest)?;
    let bits = rest.get(..mask_len(items))?;
    Some(LogMask { equipment: u8::try_from(equipment).ok()?, items, bits })
}

#[cfg(test)]
mod tests;
