//! Formats: how a capture's bytes are separated into records.

use alloc::vec::Vec;
use core::fmt;

use crate::hdlc;
use crate::packet::{BodyTooLong, Packet};

/// The way a capture marks where a record begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Frames with escapes and a check, as a serial port carries them: `.qmdl`, `.mi2log`, a dump
    /// of a port.
    Hdlc,
    /// `7E 01`, a length of 16 bits, the packet, `7E`: ports with the framing switched off. No
    /// check.
    NonHdlc,
    /// Packets one after another, with the length of their log header: `.hdf`. No check.
    Hdf,
    /// Log records without the packet around them, length, code, time, body: `.dlf`. No check.
    Dlf,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hdlc => "Diag frames (.qmdl, .mi2log)",
            Self::NonHdlc => "Diag frames without HDLC",
            Self::Hdf => "Diag packets without framing (.hdf)",
            Self::Dlf => "log records without framing (.dlf)",
        })
    }
}

/// The detected kind of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its format.
    pub format: Format,
    /// Bytes before the first record that belong to the file and not to the stream: the header of
    /// a `.qmdl2`.
    pub preamble: usize,
}

impl Kind {
    /// A stream without a header.
    pub const fn of(format: Format) -> Self {
        Self { format, preamble: 0 }
    }
}

/// Why a packet cannot be written into a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// A length of sixteen bits does not reach to its end.
    #[error(transparent)]
    TooLong(#[from] BodyTooLong),
    /// The format has only log records, or the length does not fit its field.
    #[error("command 0x{command:02x} has no place in {format}")]
    NoPlace {
        /// The command byte.
        command: u8,
        /// The format of the output.
        format: Format,
    },
}

/// Appends a payload as on a port whose HDLC framing is switched off; on an error `out` stays
/// unchanged.
///
/// # Errors
///
/// [`BodyTooLong`] if the payload is longer than its length field of 16 bits can say.
pub fn emit_unframed(payload: &[u8], out: &mut Vec<u8>) -> Result<(), BodyTooLong> {
    let len = payload.len();
    let announced = u16::try_from(len).map_err(|_| BodyTooLong { len })?;
    out.extend_from_slice(&[0x7E, 1]);
    out.extend_from_slice(&announced.to_le_bytes());
    out.extend_from_slice(payload);
    out.push(0x7E);
    Ok(())
}

impl Format {
    /// Appends a packet to `out` in this format; on an error `out` stays unchanged.
    ///
    /// # Errors
    ///
    /// [`EmitError::TooLong`] if a length field of 16 bits cannot hold the length;
    /// [`EmitError::NoPlace`] if the format has only log records and this is none.
    pub fn emit(self, packet: &Packet<'_>, out: &mut Vec<u8>) -> Result<(), EmitError> {
        match (self, packet) {
            (Self::Hdlc, _) => {
                let mut payload = Vec::new();
                packet.emit(&mut payload)?;
                hdlc::encode(&payload, out);
            }
            (Self::NonHdlc, _) => {
                let mut payload = Vec::new();
                packet.emit(&mut payload)?;
                emit_unframed(&payload, out)?;
            }
            (Self::Hdf, Packet::Log(_)) => packet.emit(out)?,
            (Self::Dlf, Packet::Log(record)) => record.emit_bare(out)?,
            (Self::Hdf | Self::Dlf, &Packet::Other { command, .. }) => {
                return Err(EmitError::NoPlace { command, format: self });
            }
        }
        Ok(())
    }
}
