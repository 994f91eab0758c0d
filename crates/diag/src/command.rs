//! The few commands a session needs: who is there, and which log records it shall send.
//!
//! Both sides of each: a reader of modems emits [`Request`]s and parses [`Answer`]s, a modelled modem does the
//! opposite. Source: docs/diag.md, transport; the answers agree with those that open real captures.

use alloc::vec;
use alloc::vec::Vec;

use crate::LogCode;

const VERSION: u8 = 0x00;
const BUILD_ID: u8 = 0x7C;
const LOG_CONFIG: u8 = 0x73;

const DISABLE: u32 = 0;
const RANGES: u32 = 1;
const SET_MASK: u32 = 3;

/// Equipment ids there are, 0..=15.
const EQUIPMENTS: usize = 16;

/// Which log records of one equipment are wanted: bit i of byte j is item 8j + i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMask<'a> {
    /// Equipment id, as in [`LogCode::equipment`].
    pub equipment: u8,
    /// How many items the mask speaks of; its bytes are as many as that needs.
    pub items: u32,
    /// The bits.
    pub bits: &'a [u8],
}

impl LogMask<'_> {
    /// Whether it asks for `code`.
    pub fn contains(&self, code: LogCode) -> bool {
        let item = usize::from(code.item());
        let byte = self.bits.get(item / 8).copied().unwrap_or_default();
        code.equipment() == self.equipment
            && u32::from(code.item()) < self.items
            && byte >> (item % 8) & 1 != 0
    }

    /// The bits of a mask of `items` items that asks for those of `codes` that belong to `equipment`.
    pub fn bits_of(equipment: u8, items: u32, codes: &[LogCode]) -> Vec<u8> {
        let mut bits = vec![0; mask_len(items)];
        for code in codes.iter().filter(|code| code.equipment() == equipment) {
            let item = usize::from(code.item());
            if u32::from(code.item()) < items
                && let Some(byte) = bits.get_mut(item / 8)
            {
                *byte |= 1 << (item % 8);
            }
        }
        bits
    }
}

const fn mask_len(items: u32) -> usize {
    items.div_ceil(8) as usize
}

/// What is asked of a modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// When its software was built, command 0x00.
    Version,
    /// Which software it runs, command 0x7C.
    BuildId,
    /// Stop all log records, command 0x73.
    LogDisable,
    /// How many items each equipment has, command 0x73.
    LogRanges,
    /// Send these log records of one equipment and no others of it, command 0x73.
    LogMask(LogMask<'a>),
}

/// What a modem answers.
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
    /// How many items each equipment has.
    LogRanges([u32; EQUIPMENTS]),
    /// These log records will come.
    LogMask(LogMask<'a>),
    /// It understood the log request and did not do it.
    LogRefused {
        /// What was asked: 0 disable, 1 ranges, 3 mask.
        operation: u32,
        /// Its reason; not zero.
        status: u32,
    },
    /// It did not understand.
    Refused(Refusal),
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
            [LOG_CONFIG, _, _, _, ref rest @ ..] => {
                let (operation, rest) = word(rest)?;
                match operation {
                    DISABLE => Some(Self::LogDisable),
                    RANGES => Some(Self::LogRanges),
                    SET_MASK => mask(rest).map(Self::LogMask),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Appends the payload of the frame that asks this.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Version => out.push(VERSION),
            Self::BuildId => out.push(BUILD_ID),
            Self::LogDisable => log_config(&[DISABLE], out),
            Self::LogRanges => log_config(&[RANGES], out),
            Self::LogMask(mask) => {
                log_config(&[SET_MASK, u32::from(mask.equipment), mask.items], out);
                out.extend_from_slice(mask.bits);
            }
        }
    }
}

impl<'a> Answer<'a> {
    /// Reads a packet that is not a log record: its command and what follows it; `None` if it is no answer known here.
    pub fn parse(command: u8, body: &'a [u8]) -> Option<Self> {
        match command {
            VERSION => {
                let (compiled_on, rest) = body.split_first_chunk()?;
                let compiled_at = rest.first_chunk()?;
                Some(Self::Version { compiled_on, compiled_at })
            }
            BUILD_ID => {
                // Version and two reserved bytes, hardware u32, model u32, then text that ends with a zero.
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
                    (operation, 1..) => Some(Self::LogRefused { operation, status }),
                    _ => None,
                }
            }
            _ => {
                let found = REFUSALS.iter().find(|(number, _)| *number == command)?;
                Some(Self::Refused(found.1))
            }
        }
    }

    /// Appends the payload of the frame that answers this.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Version { compiled_on, compiled_at } => {
                out.push(VERSION);
                // Compiled, released, and 16 bytes of hardware and model that no reader here looks at.
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
            Self::LogMask(mask) => {
                log_config(&[SET_MASK, 0, u32::from(mask.equipment), mask.items], out);
                out.extend_from_slice(mask.bits);
            }
            Self::LogRefused { operation, status } => log_config(&[*operation, *status], out),
            Self::Refused(refusal) => {
                let found = REFUSALS.iter().find(|(_, found)| found == refusal);
                out.extend(found.map(|(number, _)| *number));
            }
        }
    }
}

fn log_config(words: &[u32], out: &mut Vec<u8>) {
    out.extend_from_slice(&[LOG_CONFIG, 0, 0, 0]);
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
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
mod tests {
    use super::*;

    const CODES: [LogCode; 3] = [LogCode::new(0xB139), LogCode::new(0xB064), LogCode::new(0x4005)];

    fn lte_mask(bits: &[u8]) -> LogMask<'_> {
        LogMask { equipment: 0xB, items: 0x1C4, bits }
    }

    #[test]
    fn a_mask_asks_for_what_it_was_made_of() {
        let bits = LogMask::bits_of(0xB, 0x1C4, &CODES);
        assert_eq!(bits.len(), 57);
        let mask = lte_mask(&bits);
        let asked = CODES.map(|code| mask.contains(code));
        assert_eq!(asked, [true, true, false]);
        assert!(!mask.contains(LogCode::new(0xB13A)));
        assert!(!mask.contains(LogCode::new(0xBFFF)));
    }

    #[test]
    fn requests_are_read_as_they_were_written() {
        let bits = LogMask::bits_of(0xB, 0x1C4, &CODES);
        for request in [
            Request::Version,
            Request::BuildId,
            Request::LogDisable,
            Request::LogRanges,
            Request::LogMask(lte_mask(&bits)),
        ] {
            let mut payload = Vec::new();
            request.emit(&mut payload);
            assert_eq!(Request::parse(&payload), Some(request));
            assert_eq!(Request::parse(&payload[..payload.len() - 1]), None, "{request:?} cut");
        }
    }

    #[test]
    fn answers_are_read_as_they_were_written() {
        let bits = LogMask::bits_of(0xB, 0x1C4, &CODES);
        for answer in [
            Answer::Version { compiled_on: b"Apr  2 2015", compiled_at: b"21:45:40" },
            Answer::BuildId(b"MPSS.DI.2.0.1"),
            Answer::LogDisabled,
            Answer::LogRanges(core::array::from_fn(|i| i as u32 * 100)),
            Answer::LogMask(lte_mask(&bits)),
            Answer::LogRefused { operation: 3, status: 2 },
            Answer::Refused(Refusal::Length),
        ] {
            let mut payload = Vec::new();
            answer.emit(&mut payload);
            assert_eq!(Answer::parse(payload[0], &payload[1..]), Some(answer));
        }
    }

    #[test]
    fn a_mask_shorter_than_it_says_is_no_mask() {
        let mut payload = Vec::new();
        Request::LogMask(LogMask { equipment: 0xB, items: 80, bits: &[0; 9] }).emit(&mut payload);
        assert_eq!(Request::parse(&payload), None);
    }

    #[test]
    fn the_answer_that_opens_a_capture_is_read() {
        let mut payload = vec![0x7C, 1, 0, 0, 0x41, 0x7B, 0, 0, 0xF3, 0x0F, 0, 0];
        payload.extend_from_slice(b"MPSS.DI.2.0.1.c2-00062\0\0");
        let text = Answer::BuildId(b"MPSS.DI.2.0.1.c2-00062");
        assert_eq!(Answer::parse(payload[0], &payload[1..]), Some(text));
    }
}
