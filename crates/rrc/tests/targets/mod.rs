//! What the fuzz target does with its input; the test `corpus` does the same with its seeds.

use sounding_rrc::{Decoded, Pdu, decode};

/// The kind of message in one byte, and a message: it decodes or does not, and what decodes can be written.
pub(crate) fn rrc(data: &[u8]) -> Option<Decoded<'_>> {
    let (&kind, message) = data.split_first()?;
    let pdu = Pdu::ALL[usize::from(kind) % Pdu::ALL.len()];
    let decoded = decode(pdu, message).ok()?;
    assert!(decoded.left_bits <= message.len() * 8);
    let whole = serde_json::to_string(&decoded.value).expect("a value can be written");
    let shown = serde_json::to_string(&decoded.value.redacted()).expect("a value can be written");
    assert!(whole == shown || shown.contains("redacted"));
    Some(decoded)
}
