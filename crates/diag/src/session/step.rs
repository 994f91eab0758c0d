use alloc::vec::Vec;
use core::fmt;

use crate::LogCode;
use crate::command::{LogMask, MessageRange, Request};

/// One request of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Whether the modem answers, and since when.
    Version,
    /// The software build.
    BuildId,
    /// The version of Diag.
    Protocol,
    /// The number of log codes of each equipment.
    LogRanges,
    /// The log mask of an equipment.
    ReadLogMask(u8),
    /// Switch log codes of an equipment on and off.
    SetLogMask(u8),
    /// The event mask.
    ReadEventMask,
    /// The subsystems that have messages.
    MessageRanges,
    /// The message mask of a range of subsystems.
    ReadMessageMask(MessageRange),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => f.write_str("the version request (0x00)"),
            Self::BuildId => f.write_str("the request for its build (0x7C)"),
            Self::Protocol => f.write_str("the request for its version of Diag (0x1C)"),
            Self::LogRanges => f.write_str("the request for its log codes (0x73)"),
            Self::ReadLogMask(equipment) => {
                write!(f, "the request for the log mask of equipment {equipment} (0x73)")
            }
            Self::SetLogMask(equipment) => {
                write!(f, "the log mask of equipment {equipment} (0x73)")
            }
            Self::ReadEventMask => f.write_str("the request for its event mask (0x81)"),
            Self::MessageRanges => f.write_str("the request for its messages (0x7D)"),
            Self::ReadMessageMask(range) => {
                write!(
                    f,
                    "the request for the mask of messages {} to {} (0x7D)",
                    range.first, range.last
                )
            }
        }
    }
}

/// A log mask that owns its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    pub(super) items: u32,
    pub(super) bits: Vec<u8>,
}

impl Mask {
    pub(super) fn of(mask: &LogMask<'_>) -> Self {
        Self { items: mask.items, bits: mask.bits.to_vec() }
    }

    pub(super) fn has(&self, code: LogCode) -> bool {
        let equipment = code.equipment();
        LogMask { equipment, items: self.items, bits: &self.bits }.contains(code)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bits.iter().all(|&byte| byte == 0)
    }
}

impl Step {
    /// Appends the request; a mask that is to be set is `mask`.
    pub(super) fn emit(self, mask: Option<&Mask>, out: &mut Vec<u8>) {
        self.request(mask).emit(out);
    }

    pub(super) fn request(self, mask: Option<&Mask>) -> Request<'_> {
        match self {
            Self::Version => Request::Version,
            Self::BuildId => Request::BuildId,
            Self::Protocol => Request::Protocol,
            Self::LogRanges => Request::LogRanges,
            Self::ReadLogMask(equipment) => Request::LogMaskOf(equipment),
            Self::SetLogMask(equipment) => Request::LogMask(match mask {
                Some(mask) => LogMask { equipment, items: mask.items, bits: &mask.bits },
                None => LogMask { equipment, items: 0, bits: &[] },
            }),
            Self::ReadEventMask => Request::EventMask,
            Self::MessageRanges => Request::MessageRanges,
            Self::ReadMessageMask(range) => Request::MessageMaskOf(range),
        }
    }
}
