//! NAS messages of LTE (TS 24.301) and NR (TS 24.501): the kind of message, its fields as JSON, and
//! which of them may be shown.
//!
//! A library does the decoding. This crate decides what may be shown: a message for others keeps
//! only fields that are known not to identify a person. Everything else is left out. Messages hold
//! identities in many fields, and also names of access points, passwords, called numbers and short
//! messages.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

use alloc::string::{String, ToString};

use oxirush_nas::nas_5gs::Nas5gsMessage;
use oxirush_nas::nas_eps::NasEpsMessage;
use oxirush_nas::tree::Value;

pub use oxirush_nas::nas_eps::Direction;

/// Whose messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// LTE's core network, TS 24.301.
    Eps,
    /// NR's core network, TS 24.501.
    FiveGs,
}

/// A message that is not one, or not of that system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no message of this system: {reason}")]
pub struct NasError {
    /// The decoder's error.
    pub reason: String,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct NasMessage {
    tree: Value,
    protected: bool,
}

impl NasMessage {
    /// Decodes a message, plain or protected. Of a protected one that is encrypted only the header
    /// can be known.
    ///
    /// # Errors
    ///
    /// [`NasError`] with the decoder's reason, if the bytes are no message of this system.
    pub fn decode(system: System, direction: Direction, bytes: &[u8]) -> Result<Self, NasError> {
        let refused = |error: &dyn ToString| NasError { reason: error.to_string() };
        let (tree, protected) = match system {
            System::Eps => {
                let message = NasEpsMessage::decode_with_direction(bytes, direction)
                    .map_err(|error| refused(&error))?;
                (message.to_tree(), matches!(message, NasEpsMessage::SecurityProtected(..)))
            }
            System::FiveGs => {
                let message = Nas5gsMessage::decode(bytes).map_err(|error| refused(&error))?;
                (message.to_tree(), matches!(message, Nas5gsMessage::SecurityProtected(..)))
            }
        };
        Ok(Self { tree, protected })
    }

    /// Its name, as in `attach-request`; `None` for one that is encrypted. A service request of LTE
    /// has a short form without a name in it.
    pub fn name(&self) -> Option<&str> {
        let short = self.tree.get("ksi-and-sequence-number").map(|_| "service-request");
        self.tree.get("message-type").and_then(Value::as_str).or(short)
    }

    /// Whether it goes over the air protected.
    pub fn is_protected(&self) -> bool {
        self.protected
    }

    /// All of it, as JSON. It identifies the subscriber.
    pub fn whole(&self) -> String {
        self.tree.to_string()
    }

    /// The fields that do not identify a person, as JSON; the others have the value `"redacted"`.
    pub fn redacted(&self) -> String {
        shown(&self.tree).to_string()
    }
}

/// Fields that describe the purpose of a message, without the person's identity.
const PUBLIC: &[&str] = &[
    "5gmm-cause",
    "5gsm-cause",
    "apn-ambr",
    "emm-cause",
    "eps-attach-result",
    "eps-attach-type",
    "eps-bearer-context-status",
    "eps-bearer-identity",
    "eps-qos",
    "eps-update-result",
    "eps-update-type",
    "esm-cause",
    "extended-eps-qos",
    "fgmm-cause",
    "imeisv-request",
    "message-type",
    "pdn-type",
    "pdu-session-type",
    "procedure-transaction-identity",
    "request-type",
    "security-header-type",
    "selected-nas-security-algorithms",
    "selected-pdu-session-type",
    "service-type",
    "session-ambr",
    "t3402-value",
    "t3412-value",
    "t3423-value",
    "t3442-value",
    "t3346-value",
    "t3502-value",
    "t3512-value",
];

/// Fields that hold another message, which may hold another in turn.
const CONTAINERS: &[&str] =
    &["esm-message-container", "message", "nas-message", "plain-nas-message"];

fn shown(tree: &Value) -> Value {
    let Some(fields) = tree.as_object() else { return Value::from("redacted") };
    let mut kept = Value::Object(Default::default());
    for (name, value) in fields.iter() {
        let value = match name.as_str() {
            name if PUBLIC.contains(&name) => named_or_counted(value),
            name if CONTAINERS.contains(&name) => shown(value),
            _ => Value::from("redacted"),
        };
        if let Some(kept) = kept.as_object_mut() {
            kept.insert(name.clone(), value);
        }
    }
    kept
}

/// Names and numbers within a field. Bytes that the decoder does not understand appear as hex, and
/// are left out.
fn named_or_counted(value: &Value) -> Value {
    match value {
        Value::String(text) if is_bytes(text) => Value::from("redacted"),
        Value::Array(items) => Value::Array(items.iter().map(named_or_counted).collect()),
        Value::Object(fields) => {
            let mut kept = Value::Object(Default::default());
            if let Some(kept) = kept.as_object_mut() {
                for (name, value) in fields.iter() {
                    kept.insert(name.clone(), named_or_counted(value));
                }
            }
            kept
        }
        other => other.clone(),
    }
}

/// No name of a field's value is this long without any other letter.
fn is_bytes(text: &str) -> bool {
    text.len() >= 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bytes(hex: &str) -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(byte).collect()
    }

    /// The subscriber belongs to a test network, TS 24.501 as others publish it.
    #[test]
    fn a_registration_shows_no_identity() {
        let request = bytes("7e004179000d0102f8390000000000000010022e08a020000000000000");
        let message = NasMessage::decode(System::FiveGs, Direction::Uplink, &request).unwrap();
        assert_eq!(message.name(), Some("registration-request"));
        assert!(message.whole().contains("208"), "{}", message.whole());
        let shown = message.redacted();
        assert!(shown.contains("registration-request") && shown.contains("redacted"), "{shown}");
        assert!(!shown.contains("208") && !shown.contains("0000000120"), "{shown}");
    }

    #[test]
    fn a_reject_shows_its_cause() {
        let message =
            NasMessage::decode(System::Eps, Direction::Downlink, &[0x07, 0x44, 0x0F]).unwrap();
        assert_eq!(message.name(), Some("attach-reject"));
        assert_eq!(message.whole(), message.redacted());
    }

    #[test]
    fn bytes_within_a_public_field_are_left_out() {
        let mut qos = Value::Object(Default::default());
        let mut fields = Value::Object(Default::default());
        let members = fields.as_object_mut().unwrap();
        members.insert("qci".into(), Value::from("nine"));
        members.insert("bit-rates".into(), Value::from("ffffffff"));
        qos.as_object_mut().unwrap().insert("eps-qos".into(), fields);
        let text = shown(&qos).to_string();
        assert!(text.contains("nine") && text.contains("redacted"), "{text}");
        assert!(!text.contains("ffffffff"), "{text}");
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        assert!(NasMessage::decode(System::Eps, Direction::Uplink, &[]).is_err());
        assert!(NasMessage::decode(System::FiveGs, Direction::Uplink, &[0x07]).is_err());
    }
}
