//! RRC and NAS messages in records, as people read them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use sounding_diag::record::{LteRrc, MessageSegments, NrRrc, Record, RrcPdu, Segment};
use sounding_diag::{LogCode, LogRecord};
use sounding_nas::{Direction, NasMessage, System};
use sounding_rrc::facts::facts;

/// Decodes the messages of one capture, in the order of its records.
pub(crate) struct Messages {
    redact: bool,
    segments: BTreeMap<(LogCode, Option<u32>), MessageSegments>,
}

impl Messages {
    pub(crate) fn new(redact: bool) -> Self {
        Self { redact, segments: BTreeMap::new() }
    }

    /// Puts what the message of a record says beside the record's other fields, and takes out what may not be shown.
    pub(crate) fn explain(&mut self, record: &LogRecord<'_>, fields: &mut Map<String, Json>) {
        if self.redact {
            for name in PRIVATE {
                if let Some(value) = fields.get_mut(*name) {
                    *value = "redacted".into();
                }
            }
        }
        let Some(read) = self.read(record) else { return };
        fields.insert("decoded".into(), read);
    }

    fn read(&mut self, record: &LogRecord<'_>) -> Option<Json> {
        let (pdu, segment, message) = match Record::parse(record) {
            Ok(Record::LteRrc(LteRrc { pdu, segment, message, .. })) => (pdu?, segment?, message),
            Ok(Record::NrRrc(NrRrc { pdu, segment, message, .. })) => (pdu?, segment?, message),
            Ok(Record::Other(node)) => return self.read_nas(record.code, node.message()?),
            _ => return None,
        };
        if segment == Segment::Whole {
            return Some(read_rrc(pdu, message, self.redact));
        }
        let parts = self.segments.entry((record.code, record.radio)).or_default();
        parts.handle_segment(segment, message).map(|whole| read_rrc(pdu, whole, self.redact))
    }

    fn read_nas(&self, code: LogCode, message: &[u8]) -> Option<Json> {
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
        let text = if self.redact { decoded.redacted() } else { decoded.whole() };
        let content: Json = serde_json::from_str(&text).unwrap_or_default();
        Some(json!({ "message": decoded.name(), "content": content }))
    }
}

/// Fields of signalling records that identify the subscriber, or hold a message that may.
const PRIVATE: &[&str] = &["message", "guti_m_tmsi", "guti_5g_tmsi"];

fn read_rrc(pdu: RrcPdu, message: &[u8], redact: bool) -> Json {
    let decoded = match sounding_rrc::decode(pdu, message) {
        Ok(decoded) => decoded,
        Err(error) => return json!({ "unread": error.to_string() }),
    };
    let content = match redact {
        true => serde_json::to_value(decoded.value.redacted()),
        false => serde_json::to_value(&decoded.value),
    };
    let facts = facts(pdu.into(), &decoded.value);
    json!({
        "message": facts.message,
        "event": facts.event,
        "facts": facts.facts,
        "content": content.unwrap_or_default(),
    })
}
