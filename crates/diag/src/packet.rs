//! The payload of a frame: a log record, or a request or answer of a command.

use alloc::vec::Vec;

use sounding_units::ModemInstant;

use crate::LogCode;

/// Command byte of a log record.
pub const LOG: u8 = 0x10;
/// Command byte of the wrapper that modems with several subscriptions put around a packet.
pub const MULTI_RADIO: u8 = 0x98;

// 0x10, more, outer length u16, then the inner length, which includes itself and all later bytes.
const LOG_HEADER: usize = 4;
// Inner length u16, code u16, time stamp u64.
const LOG_INNER: usize = 12;
// 0x98, version, reserved u16, radio id u32.
const WRAPPER: usize = 8;

/// Positions at which a packet with a log record may begin that ends with these bytes: both of its
/// lengths say so. A record inside a wrapper begins with the wrapper.
pub(crate) fn logs_to_the_end(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let fits = move |at: usize| match bytes[at..] {
        [LOG, _, a, b, c, d, ..] => {
            let rest = bytes.len() - at - LOG_HEADER;
            [a, b] == [c, d] && usize::from(u16::from_le_bytes([a, b])) == rest && rest >= LOG_INNER
        }
        _ => false,
    };
    let wrapper = move |at: usize| {
        let start = at.checked_sub(WRAPPER)?;
        matches!(bytes[start..], [MULTI_RADIO, _, 0, 0, ..]).then_some(start)
    };
    memchr::memchr_iter(LOG, bytes)
        .filter(move |at| fits(*at))
        .flat_map(move |at| wrapper(at).into_iter().chain([at]))
}

/// One log record, as the modem sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// The log code.
    pub code: LogCode,
    /// When, by the modem's clock; see [`time`](Self::time).
    pub at: ModemInstant,
    /// The time stamp as on the wire: a number in the modem's own units.
    pub stamp: u64,
    /// Its subscription, counted from 1, if the modem reports it.
    pub radio: Option<u32>,
    /// Everything after the time stamp; for most codes the first byte is the version.
    pub body: &'a [u8],
}

/// The payload of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A log record.
    Log(LogRecord<'a>),
    /// Any other command or answer.
    Other {
        /// The command byte.
        command: u8,
        /// Its subscription, if the modem reports it.
        radio: Option<u32>,
        /// Everything after the command byte.
        body: &'a [u8],
    },
}

/// Why a payload is not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// There is no command byte.
    #[error("packet without a command")]
    Empty,
    /// The bytes end within the header of the command.
    #[error("command 0x{command:02x}: needs {need} bytes, has {have}")]
    Short {
        /// The command byte.
        command: u8,
        /// Bytes its header takes.
        need: usize,
        /// Bytes present.
        have: usize,
    },
    /// A log record announces fewer bytes than its own header takes, or more than are there.
    #[error("log record announces {announced} bytes, has {have}")]
    Length {
        /// The length in the inner header.
        announced: usize,
        /// Bytes present after the outer header.
        have: usize,
    },
    /// A wrapper around a wrapper.
    #[error("command 0x98 within command 0x98")]
    Nested,
}

impl<'a> Packet<'a> {
    /// Reads the payload of a frame.
    ///
    /// # Errors
    ///
    /// [`PacketError`] if the payload is empty, is shorter than its command needs or its record
    /// announces, or wraps a wrapped packet.
    pub fn parse(payload: &'a [u8]) -> Result<Self, PacketError> {
        let (&command, body) = payload.split_first().ok_or(PacketError::Empty)?;
        if command != MULTI_RADIO {
            return Self::parse_inner(payload, command, body, None);
        }
        let Some((wrapper, inner)) = payload.split_first_chunk::<WRAPPER>() else {
            return Err(PacketError::Short { command, need: WRAPPER, have: payload.len() });
        };
        let [.., a, b, c, d] = *wrapper;
        let radio = u32::from_le_bytes([a, b, c, d]);
        let (&command, body) = inner.split_first().ok_or(PacketError::Empty)?;
        if command == MULTI_RADIO {
            return Err(PacketError::Nested);
        }
        Self::parse_inner(inner, command, body, Some(radio))
    }

    fn parse_inner(
        payload: &'a [u8],
        command: u8,
        body: &'a [u8],
        radio: Option<u32>,
    ) -> Result<Self, PacketError> {
        if command != LOG {
            return Ok(Packet::Other { command, radio, body });
        }
        let have = payload.len();
        let need = LOG_HEADER + LOG_INNER;
        let short = PacketError::Short { command, need, have };
        let inner = payload.get(LOG_HEADER..).ok_or(short)?;
        let (head, _) = inner.split_first_chunk::<LOG_INNER>().ok_or(short)?;
        let [l0, l1, c0, c1, stamp @ ..] = *head;
        let announced = usize::from(u16::from_le_bytes([l0, l1]));
        // The outer length repeats the inner one; the inner one is the record's own.
        let body = inner
            .get(LOG_INNER..announced)
            .ok_or(PacketError::Length { announced, have: inner.len() })?;
        let stamp = u64::from_le_bytes(stamp);
        Ok(Packet::Log(LogRecord {
            code: LogCode::new(u16::from_le_bytes([c0, c1])),
            at: ModemInstant::from_diag(stamp),
            stamp,
            radio,
            body,
        }))
    }
}

impl Packet<'_> {
    /// Appends the payload of the frame that carries this packet to `out`.
    ///
    /// # Errors
    ///
    /// [`BodyTooLong`] if a log record's body does not fit its length field of 16 bits.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), BodyTooLong> {
        match *self {
            Self::Log(ref record) => record.emit(out)?,
            Self::Other { command, radio, body } => {
                wrap(radio, out);
                out.push(command);
                out.extend_from_slice(body);
            }
        }
        Ok(())
    }
}

fn wrap(radio: Option<u32>, out: &mut Vec<u8>) {
    if let Some(radio) = radio {
        out.extend_from_slice(&[MULTI_RADIO, 1, 0, 0]);
        out.extend_from_slice(&radio.to_le_bytes());
    }
}

/// Maximum number of bytes after a log record's time stamp, by its length field.
pub const MAX_BODY: usize = u16::MAX as usize - LOG_INNER;

/// Why a log record cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("log record body of {len} bytes, a 16-bit length allows {MAX_BODY}")]
pub struct BodyTooLong {
    /// Bytes of body.
    pub len: usize,
}

impl LogRecord<'_> {
    /// When, by the modem's clock; `None` if the modem wrote a stamp of zero, as some do in every
    /// record of some codes.
    pub fn time(&self) -> Option<ModemInstant> {
        Some(self.at).filter(|at| at.is_known())
    }

    /// Appends the payload of the frame that carries this record to `out`, inside a wrapper if it
    /// names a radio.
    ///
    /// # Errors
    ///
    /// [`BodyTooLong`] if a log record's body does not fit its length field of 16 bits.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), BodyTooLong> {
        let announced = self.announced()?;
        wrap(self.radio, out);
        out.extend_from_slice(&[LOG, 0]);
        out.extend_from_slice(&announced.to_le_bytes());
        self.emit_inner(announced, out);
        Ok(())
    }

    /// Appends the record without the packet around it to `out`, as `.dlf` has it; its radio has no
    /// place there.
    ///
    /// # Errors
    ///
    /// [`BodyTooLong`] if the body does not fit its length field of 16 bits.
    pub fn emit_bare(&self, out: &mut Vec<u8>) -> Result<(), BodyTooLong> {
        self.emit_inner(self.announced()?, out);
        Ok(())
    }

    /// The length in its header: the body and the header before it.
    fn announced(&self) -> Result<u16, BodyTooLong> {
        let len = self.body.len();
        u16::try_from(len + LOG_INNER).map_err(|_| BodyTooLong { len })
    }

    fn emit_inner(&self, announced: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(&announced.to_le_bytes());
        out.extend_from_slice(&self.code.number().to_le_bytes());
        out.extend_from_slice(&self.stamp.to_le_bytes());
        out.extend_from_slice(self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn record(radio: Option<u32>, body: &[u8]) -> LogRecord<'_> {
        let stamp = 55_000_000_000 << 16 | 17;
        let at = ModemInstant::from_diag(stamp);
        LogRecord { code: LogCode::new(0xB139), at, stamp, radio, body }
    }

    fn payload(record: &LogRecord<'_>) -> Vec<u8> {
        let mut payload = Vec::new();
        record.emit(&mut payload).unwrap();
        payload
    }

    #[test]
    fn a_log_record_is_what_was_written() {
        for radio in [None, Some(1), Some(2)] {
            let record = record(radio, b"body");
            assert_eq!(Packet::parse(&payload(&record)), Ok(Packet::Log(record)));
        }
    }

    #[test]
    fn a_record_cut_anywhere_is_an_error() {
        for whole in [payload(&record(None, b"body")), payload(&record(Some(1), b"body"))] {
            for cut in 0..whole.len() {
                let found = Packet::parse(&whole[..cut]);
                assert!(found.is_err(), "{cut} of {}: {found:?}", whole.len());
            }
        }
    }

    #[test]
    fn bytes_after_the_announced_length_are_no_part_of_the_record() {
        let mut payload = payload(&record(None, b"body"));
        payload.extend_from_slice(b"more");
        assert_eq!(Packet::parse(&payload), Ok(Packet::Log(record(None, b"body"))));
    }

    #[test]
    fn a_length_shorter_than_the_header_is_refused() {
        let mut payload = payload(&record(None, b"body"));
        payload[4..6].copy_from_slice(&11u16.to_le_bytes());
        let refused = PacketError::Length { announced: 11, have: 16 };
        assert_eq!(Packet::parse(&payload), Err(refused));
    }

    #[test]
    fn commands_are_named_by_their_number() {
        let other = Packet::Other { command: 0x7D, radio: None, body: &[5, 1] };
        assert_eq!(Packet::parse(&[0x7D, 5, 1]), Ok(other));
        let wrapped = [0x98, 1, 0, 0, 2, 0, 0, 0, 0x7D, 5, 1];
        let other = Packet::Other { command: 0x7D, radio: Some(2), body: &[5, 1] };
        assert_eq!(Packet::parse(&wrapped), Ok(other));
    }

    #[test]
    fn a_wrapper_holds_no_wrapper() {
        let mut nested = vec![0x98, 1, 0, 0, 1, 0, 0, 0];
        nested.extend_from_within(..);
        assert_eq!(Packet::parse(&nested), Err(PacketError::Nested));
    }

    #[test]
    fn the_longest_body_can_be_written_and_none_longer() {
        let body = vec![0; MAX_BODY + 1];
        assert!(record(Some(1), &body[1..]).emit(&mut Vec::new()).is_ok());
        let refused = record(Some(1), &body).emit(&mut Vec::new());
        assert_eq!(refused, Err(BodyTooLong { len: MAX_BODY + 1 }));
    }
}
