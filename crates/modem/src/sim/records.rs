//! Sources of a simulated modem's records.

use std::borrow::Cow;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use sounding_diag::LogCode;
use sounding_diag::packet::{MULTI_RADIO, Packet};
use sounding_units::{HostInstant, ModemInstant};

use super::feed::Fed;
use super::script::Script;

/// Source of a simulated modem's records.
#[derive(Debug)]
pub enum Records {
    /// From a capture, at its pace.
    Script(Reading),
    /// From a sender that makes them in real time.
    Fed(Fed),
}

/// Position in a script.
#[derive(Debug)]
pub struct Reading {
    script: Script,
    next: usize,
}

/// One record.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    pub(super) code: LogCode,
    payload: Cow<'a, [u8]>,
}

impl From<Script> for Records {
    fn from(script: Script) -> Self {
        Self::Script(Reading { script, next: 0 })
    }
}

impl From<Fed> for Records {
    fn from(fed: Fed) -> Self {
        Self::Fed(fed)
    }
}

impl Records {
    /// When the first was due, where that does not wait for a reader.
    pub(super) fn begin(&self) -> Option<HostInstant> {
        match self {
            Self::Script(_) => None,
            Self::Fed(fed) => Some(fed.begin()),
        }
    }

    /// Codes that are known to come.
    pub(super) fn codes(&self) -> impl Iterator<Item = LogCode> {
        let script = match self {
            Self::Script(reading) => reading.script.records(),
            Self::Fed(_) => &[],
        };
        script.iter().map(|record| record.code)
    }

    /// When the next is due, after the beginning.
    pub(super) fn due(&mut self) -> Option<Duration> {
        match self {
            Self::Script(Reading { script, next }) => {
                script.records().get(*next).map(|record| record.due)
            }
            Self::Fed(fed) => {
                let begin = fed.begin();
                fed.peek().map(|record| record.at - begin)
            }
        }
    }

    pub(super) fn take(&mut self) -> Option<Record<'_>> {
        match self {
            Self::Script(Reading { script, next }) => {
                let record = script.records().get(*next)?;
                *next += 1;
                let payload = Cow::Borrowed(script.payload(record));
                Some(Record { code: record.code, payload })
            }
            Self::Fed(fed) => {
                let record = fed.take()?;
                Some(Record { code: record.code, payload: Cow::Owned(record.payload) })
            }
        }
    }

    /// True once there will never be another.
    pub(super) fn are_over(&self) -> bool {
        match self {
            Self::Script(Reading { script, next }) => *next == script.len(),
            Self::Fed(fed) => fed.is_over(),
        }
    }

    /// Readable once there may be more, where they come unforeseen.
    pub(super) fn awake(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Script(_) => None,
            Self::Fed(fed) => Some(fed.as_fd()),
        }
    }
}

impl Record<'_> {
    /// The modem's clock.
    pub(super) fn stamp(&self) -> ModemInstant {
        match Packet::parse(&self.payload) {
            Ok(Packet::Log(log)) => log.at,
            _ => ModemInstant::default(),
        }
    }

    /// Its bytes on the wire, with another time stamp if one is given.
    pub(super) fn into_payload(self, stamp: Option<u64>) -> Vec<u8> {
        let mut payload = self.payload.into_owned();
        if let Some(stamp) = stamp {
            // Behind command, lengths and code; and behind the wrapper of a modem with several
            // subscriptions.
            let at = if payload[0] == MULTI_RADIO { 16 } else { 8 };
            payload[at..at + 8].copy_from_slice(&stamp.to_le_bytes());
        }
        payload
    }
}
