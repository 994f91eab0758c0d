//! RRC and NAS messages in records, as people read them.

use serde_json::{Value as Json, json};
use sounding_diag::record::{Record, RecordError, RrcPdu, Version};
use sounding_diag::{LogCode, LogRecord};
use sounding_nas::{Direction, NasMessage, System};
use sounding_rrc::Value;
use sounding_rrc::facts::facts;

use crate::privacy::{self, Privacy};

/// Decodes the messages of one capture, in the order of its records.
#[derive(Debug, Default)]
pub struct Messages {
    rrc: sounding_rrc::Messages,
}

impl Messages {
    /// The contents of a record's message; `None` if it has none, or only a part of one. An unknown kind is reported as
    /// such.
    ///
    /// If a message may identify a person, only parts that are known not to are kept.
    pub fn read(&mut self, record: &LogRecord<'_>, privacy: Privacy) -> Option<Json> {
        let hide = || privacy == Privacy::Redact && privacy::identifies(record);
        if let Some((system, direction)) = nas(record.code) {
            let Ok(Record::Other(node)) = Record::parse(record) else { return None };
            return Some(read_nas(system, direction, node.message()?, hide()));
        }
        match self.rrc.handle_record(record) {
            Ok(message) => message.map(|message| read_rrc(message.pdu, message.bytes, hide())),
            // The record itself is read, and says more than that its message cannot be.
            Err(error @ RecordError::Unsupported { version: Version::Message { .. }, .. }) => {
                Some(json!({ "unread": error.to_string() }))
            }
            Err(_) => None,
        }
    }
}

/// Whose NAS message a record of that code holds, and which way it went.
const fn nas(code: LogCode) -> Option<(System, Direction)> {
    Some(match code.number() {
        0xB0E0 | 0xB0E2 | 0xB0EA | 0xB0EC => (System::Eps, Direction::Downlink),
        0xB0E1 | 0xB0E3 | 0xB0EB | 0xB0ED => (System::Eps, Direction::Uplink),
        0xB800 | 0xB808 | 0xB80A => (System::FiveGs, Direction::Downlink),
        0xB801 | 0xB809 | 0xB80B => (System::FiveGs, Direction::Uplink),
        _ => return None,
    })
}

fn read_nas(system: System, direction: Direction, message: &[u8], hide: bool) -> Json {
    let decoded = match NasMessage::decode(system, direction, message) {
        Ok(decoded) => decoded,
        // The decoder's words may hold what it could not read.
        Err(_) if hide => return json!({ "unread": "no message of this system" }),
        Err(error) => return json!({ "unread": error.to_string() }),
    };
    let content = if hide { decoded.redacted() } else { decoded.whole() };
    let content: Json = serde_json::from_str(&content).unwrap_or_default();
    json!({ "message": decoded.name(), "content": content })
}

fn read_rrc(pdu: RrcPdu, message: &[u8], hide: bool) -> Json {
    let decoded = match sounding_rrc::decode(pdu, message) {
        Ok(decoded) => decoded,
        Err(error) => return json!({ "unread": error.to_string() }),
    };
    let mut facts = facts(pdu.into(), &decoded.value);
    // A message that does not decode to its end is not of its assumed kind.
    let content = match hide {
        true if decoded.unread > 0 => Value::Name("redacted"),
        true => decoded.value.redacted(),
        false => decoded.value,
    };
    facts.facts.retain(|fact| !(hide && fact.known.identifies()));
    json!({
        "message": facts.message,
        "event": facts.event,
        "facts": facts.facts,
        "content": serde_json::to_value(&content).unwrap_or_default(),
    })
}
