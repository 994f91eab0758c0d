//! RRC and NAS messages in records, as people read them.

use serde_json::{Value as Json, json};
use sounding_diag::LogRecord;
use sounding_diag::record::{Record, RecordError, RrcPdu, Version};
use sounding_rrc::Value;
use sounding_rrc::facts::facts;

use crate::message::{self, Channel};
use crate::privacy::{self, Privacy};

/// The error of every NAS message in a build without the feature `nas`.
pub const NO_NAS: &str = "this build has no NAS decoder: build with the default features";

/// Decodes the messages of one capture, in the order of its records.
#[derive(Debug, Default)]
pub struct Messages {
    rrc: sounding_rrc::Messages,
    undecoded: u64,
}

impl Messages {
    /// The contents of a record's message; `None` if it has none, or only a part of one. An unknown
    /// kind is reported as such.
    ///
    /// If a message may identify a person, only parts that are known not to are kept.
    pub fn read(&mut self, record: &LogRecord<'_>, privacy: Privacy) -> Option<Json> {
        let hide = || privacy == Privacy::Redact && privacy::identifies(record);
        if let Some((channel, uplink)) = message::nas(record.code.number()) {
            let Ok(Record::Other(node)) = Record::parse(record) else { return None };
            let read = read_nas(channel, uplink, node.message()?, hide());
            self.undecoded += u64::from(read.is_none());
            return Some(read.unwrap_or_else(|| json!({ "unread": NO_NAS })));
        }
        match self.rrc.handle_record(record) {
            Ok(message) => message.map(|message| read_rrc(message.pdu, message.bytes, hide())),
            // The record itself can be read, and tells more than the error of its message.
            Err(error @ RecordError::Unsupported { version: Version::Message { .. }, .. }) => {
                Some(json!({ "unread": error.to_string() }))
            }
            Err(_) => None,
        }
    }

    /// How many NAS messages were not decoded because this build has no NAS decoder ([`NO_NAS`]).
    pub fn undecoded(&self) -> u64 {
        self.undecoded
    }
}

#[cfg(feature = "nas")]
fn read_nas(channel: Channel, uplink: bool, message: &[u8], hide: bool) -> Option<Json> {
    use sounding_nas::{Direction, NasMessage, System};
    let system = if channel == Channel::NasNr { System::FiveGs } else { System::Eps };
    let direction = if uplink { Direction::Uplink } else { Direction::Downlink };
    let decoded = match NasMessage::decode(system, direction, message) {
        Ok(decoded) => decoded,
        // The decoder's error text may contain bytes of the message.
        Err(_) if hide => return Some(json!({ "unread": "no message of this system" })),
        Err(error) => return Some(json!({ "unread": error.to_string() })),
    };
    let content = if hide { decoded.redacted() } else { decoded.whole() };
    let content: Json = serde_json::from_str(&content).unwrap_or_default();
    Some(json!({ "message": decoded.name(), "content": content }))
}

/// Without a decoder the content of a message is unknown. Therefore nothing of it is shown.
#[cfg(not(feature = "nas"))]
fn read_nas(_: Channel, _: bool, _: &[u8], _: bool) -> Option<Json> {
    None
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

#[cfg(test)]
mod tests {
    use sounding_diag::LogCode;
    use sounding_units::ModemInstant;

    use super::*;
    use crate::json;

    /// A detach request with the number of a subscriber of a test network (TS 24.301 §8.2.11), in a
    /// record 0xB0ED.
    const DETACH: &[u8] =
        &[1, 9, 6, 0, 0x07, 0x45, 0x09, 0x08, 0x09, 0x10, 0x10, 0x10, 0x32, 0x54, 0x76, 0x98];
    /// The number's end, as bytes and as a decoder reads it.
    const NUMBER: [&str; 2] = ["1032547698", "0123456789"];

    fn line(privacy: Privacy, messages: &mut Messages) -> Json {
        let at = ModemInstant::from_diag(0);
        let code = LogCode::new(0xB0ED);
        let record = LogRecord { code, at, stamp: 0, radio: None, body: DETACH };
        json::line(0, &record, privacy, messages)
    }

    #[test]
    fn a_hidden_nas_message_shows_no_number_in_any_build() {
        let line = line(Privacy::Redact, &mut Messages::default());
        assert_eq!(line["redacted"], true, "{line}");
        let text = line.to_string();
        assert!(!NUMBER.iter().any(|number| text.contains(number)), "{line}");
    }

    #[test]
    #[cfg(feature = "nas")]
    fn with_the_decoder_a_nas_message_has_a_name() {
        let mut messages = Messages::default();
        let line = line(Privacy::Expose, &mut messages);
        assert_eq!(line["decoded"]["message"], "detach-request", "{line}");
        assert_eq!(messages.undecoded(), 0);
    }

    #[test]
    #[cfg(not(feature = "nas"))]
    fn without_the_decoder_a_nas_message_stays_bytes_and_the_feature_is_named() {
        let mut messages = Messages::default();
        let undecoded = serde_json::json!({ "unread": NO_NAS });
        let shown = line(Privacy::Expose, &mut messages);
        assert_eq!(shown["decoded"], undecoded);
        assert!(shown["fields"].to_string().contains(NUMBER[0]), "{shown}");
        assert_eq!(line(Privacy::Redact, &mut messages)["decoded"], undecoded);
        assert_eq!(messages.undecoded(), 2);
    }
}
