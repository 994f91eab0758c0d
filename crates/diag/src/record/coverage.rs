//! How much of a record is read, and the counts of it.

use super::{LteRrc, NrRrc, RecordError, Version, described};
use crate::layout::{Short, Survey};
use crate::{LogCode, LogRecord};

/// How much of a readable record is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All of it.
    Whole,
    /// Not all: this sub-packet is not described.
    Partly(Version),
    /// It has this many bytes beyond its layout and the padding in it. Its values are kept, but the
    /// record may have another layout.
    Longer(usize),
}

/// Records by how much of them is read. Each counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Records that are read whole.
    pub whole: u64,
    /// Read in part: a sub-packet is not described.
    pub partly: u64,
    /// Records that are read, but are longer than their layout and its padding.
    pub longer: u64,
    /// Not read: no version of their code is described.
    pub undescribed: u64,
    /// Not read: their version, all of their sub-packets, or their kind of message are not
    /// described.
    pub unsupported: u64,
    /// Not read: their bytes do not fit their description.
    pub corrupt: u64,
}

impl RecordCounts {
    /// Counts a record.
    pub fn handle(&mut self, outcome: Result<Coverage, &RecordError>) {
        *match outcome {
            Ok(Coverage::Whole) => &mut self.whole,
            Ok(Coverage::Partly(_)) => &mut self.partly,
            Ok(Coverage::Longer(_)) => &mut self.longer,
            Err(RecordError::Undescribed { .. }) => &mut self.undescribed,
            Err(RecordError::Unsupported { .. }) => &mut self.unsupported,
            Err(RecordError::Corrupt { .. }) => &mut self.corrupt,
        } += 1;
    }

    /// Records whose values are read, all or some of them.
    pub const fn read(&self) -> u64 {
        self.whole + self.partly + self.longer
    }

    /// Records of undescribed codes or versions.
    pub const fn unknown(&self) -> u64 {
        self.undescribed + self.unsupported
    }
}

impl Coverage {
    /// Of a record that was surveyed.
    ///
    /// # Errors
    ///
    /// The version of a sub-packet, if there are sub-packets and none of them is described.
    pub fn of(survey: &Survey, packet: u32) -> Result<Self, Version> {
        let missing = survey.missing.map(|(id, version)| Version::Sub { packet, id, version });
        match (survey.unread, missing) {
            (_, Some(version)) if survey.described == 0 => Err(version),
            (1.., _) => Ok(Self::Longer(survey.unread)),
            (0, Some(version)) => Ok(Self::Partly(version)),
            (0, None) => Ok(Self::Whole),
        }
    }
}

/// The version of a record; `None` if its first bytes are none: its code is not described, or its
/// records have no version.
pub fn version_of(log: &LogRecord<'_>) -> Option<u32> {
    /// Its layouts are those of channels, which are its first byte.
    const BY_CHANNEL: LogCode = LogCode::new(0x412F);
    let layouts = super::layouts(log.code)?;
    let has_version =
        log.code != BY_CHANNEL && layouts.iter().all(|layout| !layout.versions.is_empty());
    log.code.version_of(log.body).filter(|_| has_version)
}

/// How much of a record is read.
///
/// # Errors
///
/// [`RecordError`] if the record's contents are not read: [`decode`](super::decode) then emits at
/// most what is around them.
pub fn check(log: &LogRecord<'_>) -> Result<Coverage, RecordError> {
    let (code, len, body) = (log.code, log.body.len(), log.body);
    let layouts = described(log)?;
    let (number, version) = super::version(code, body)?;
    let found = layouts.iter().find(|layout| layout.describes(number));
    let layout = found.ok_or(RecordError::Unsupported { code, version, len })?;
    let corrupt = |Short { at, need, have }| RecordError::Corrupt { code, version, need, at, have };
    let survey = layout.survey(body).map_err(corrupt)?;
    let coverage = Coverage::of(&survey, number).map_err(|version| RecordError::Unsupported {
        code,
        version,
        len,
    })?;
    match code {
        LteRrc::CODE => LteRrc::parse(body)?.described(log)?,
        NrRrc::CODE => NrRrc::parse(body)?.described(log)?,
        _ => return Ok(coverage),
    };
    Ok(coverage)
}
