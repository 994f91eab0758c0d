//! Writes records for a modelled modem: common code of the emitters in the record files.

use alloc::vec::Vec;

use super::Version;
use crate::LogCode;
use crate::layout::Bits;

/// Why a value cannot be written as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The number does not fit its field.
    #[error("field {field} cannot hold {value}")]
    Range {
        /// The field.
        field: &'static str,
        /// The number.
        value: u64,
    },
    /// The record always has it, and the value does not.
    #[error("field {field} may not be unknown")]
    Absent {
        /// The field.
        field: &'static str,
    },
    /// The field holds whole decibels within seven bits.
    #[error("field {field} holds whole decibels from -64 to 63")]
    Fraction {
        /// The field.
        field: &'static str,
    },
    /// There are more items than a record can count.
    #[error("{count} {list}, a record counts {most}")]
    Count {
        /// The list.
        list: &'static str,
        /// Their number.
        count: usize,
        /// The largest number in its count field.
        most: usize,
    },
    /// The record has no such field or list, or one of another kind.
    #[error("no field {field} of that kind in the record's layout")]
    Unknown {
        /// The name.
        field: &'static str,
    },
    /// A field announces items that are missing.
    #[error("{count} {list}, but {announced} announced")]
    Mismatch {
        /// The list.
        list: &'static str,
        /// Their number.
        count: usize,
        /// The announced number.
        announced: usize,
    },
    /// This version of the record is not described.
    #[error("log {code} v{version}: version not described", version = Version::Packet(*version))]
    Version {
        /// The log code.
        code: LogCode,
        /// The version.
        version: u32,
    },
    /// The items take more bytes than a record can have.
    #[error("sub-packet of {len} bytes, a record holds {most}", most = MAX_SUB_PACKET)]
    Long {
        /// Bytes of the sub-packet.
        len: usize,
    },
}

/// The longest sub-packet, from the longest record.
const MAX_SUB_PACKET: usize = crate::packet::MAX_BODY - 4;

/// Writes one number into its bits.
pub(super) fn put(
    block: &mut [u8],
    bits: Bits,
    field: &'static str,
    value: u64,
) -> Result<(), EmitError> {
    if bits.write(value, block) { Ok(()) } else { Err(EmitError::Range { field, value }) }
}

/// The length of a list, if a record can hold that many.
pub(super) fn count(list: &'static str, count: usize, most: usize) -> Result<u64, EmitError> {
    if count <= most { Ok(count as u64) } else { Err(EmitError::Count { list, count, most }) }
}

/// Runs `write`, and removes its output if it fails.
pub(super) fn whole(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), EmitError>,
) -> Result<(), EmitError> {
    let before = out.len();
    write(out).inspect_err(|_| out.truncate(before))
}

/// Appends the body of a record of packet version 1 around one sub-packet.
pub(super) fn sub_packet(
    id: u8,
    version: u8,
    contents: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let len = contents.len() + 4;
    let announced = u16::try_from(len).ok().filter(|len| usize::from(*len) <= MAX_SUB_PACKET);
    let announced = announced.ok_or(EmitError::Long { len })?;
    out.extend_from_slice(&[1, 1, 0, 0, id, version]);
    out.extend_from_slice(&announced.to_le_bytes());
    out.extend_from_slice(contents);
    Ok(())
}
