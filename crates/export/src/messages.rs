//! RRC and NAS messages in records, as people read them.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use sounding_diag::record::{LteRrc, MessageSegments, NrRrc, Record, RrcPdu, Segment};
use sounding_diag::{LogCode, LogRecord};
use sounding_nas::{Direction, NasMessage, System};
use sounding_rrc::facts::facts;

use crate::privacy::{self, Privacy};

/// Streams of segments that are held at once: more than a modem has, so that a broken capture costs no more.
const MOST_STREAMS: usize = 64;

/// Decodes the messages of one capture, in the order of its records.
#[derive(Debug, Default)]
pub struct Messages {
    segments: BTreeMap<(LogCode, Option<u32>), MessageSegments>,
}

impl Messages {
    /// What the message of a record says; `None` if it carries none, or only a part of one.
    ///
    /// What may not be shown comes down to the message's name: of which kind it is tells nothing about its user.
    pub fn read(&mut self, record: &LogRecord<'_>, privacy: Privacy) -> Option<Json> {
        let mut read = self.read_whole(record)?;
        if privacy == Privacy::Redact && privacy::identifies(record) {
            let read = read.as_object_mut()?;
            read.retain(|name, _| NAMES.contains(&name.as_str()));
        }
        Some(read)
    }

    fn read_whole(&mut self, record: &LogRecord<'_>) -> Option<Json> {
        let (pdu, segment, message) = match Record::parse(record) {
            Ok(Record::LteRrc(LteRrc { pdu, segment, message, .. })) => (pdu?, segment?, message),
            Ok(Record::NrRrc(NrRrc { pdu, segment, message, .. })) => (pdu?, segment?, message),
            Ok(Record::Other(node)) => return read_nas(record.code, node.message()?),
            _ => return None,
        };
        if segment == Segment::Whole {
            return Some(read_rrc(pdu, message));
        }
        if self.segments.len() >= MOST_STREAMS {
            self.segments.clear();
        }
        let parts = self.segments.entry((record.code, record.radio)).or_default();
        parts.handle_segment(segment, message).map(|whole| read_rrc(pdu, whole))
    }
}

/// What of a decoded message is shown in any case.
const NAMES: &[&str] = &["message", "event"];

fn read_nas(code: LogCode, message: &[u8]) -> Option<Json> {
    let (system, direction) = match code.number() {
        0xB0E0 | 0xB0E2 | 0xB0EA | 0xB0EC => (System::Eps, Direction::Downlink),
        0xB0E1 | 0xB0E3 | 0xB0EB | 0xB0ED => (System::Eps, Direction::Uplink),
        0xB800 | 0xB808 | 0xB80A => (System::FiveGs, Direction::Downlink),
        0xB801 | 0xB809 | 0xB80B => (System::FiveGs, Direction::Uplink),
        _ => return None,
    };
    let decoded = match NasMessage::decode(system, direction, message) {
        Ok(decoded) => decoded,
        Err(error) => return Some(json!({ "unread": error.to_string() })),
    };
    let content: Json = serde_json::from_str(&decoded.whole()).unwrap_or_default();
    Some(json!({ "message": decoded.name(), "content": content }))
}

fn read_rrc(pdu: RrcPdu, message: &[u8]) -> Json {
    let decoded = match sounding_rrc::decode(pdu, message) {
        Ok(decoded) => decoded,
        Err(error) => return json!({ "unread": error.to_string() }),
    };
    let content = serde_json::to_value(&decoded.value).unwrap_or_default();
    let facts = facts(pdu.into(), &decoded.value);
    json!({
        "message": facts.message,
        "event": facts.event,
        "facts": facts.facts,
        "content": content,
    })
}
