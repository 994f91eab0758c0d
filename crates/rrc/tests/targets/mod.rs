//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_rrc::{Decoded, Pdu, decode, encode};

/// One byte for the kind of message, then the message. It may decode or not. Every decoded message
/// can be written. If the whole message decoded and can be encoded again, the result decodes to the
/// same message.
pub(crate) fn rrc(data: &[u8]) -> Option<Decoded<'_>> {
    let (&kind, message) = data.split_first()?;
    let pdu = Pdu::ALL[usize::from(kind) % Pdu::ALL.len()];
    let decoded = decode(pdu, message).ok()?;
    assert!(decoded.left_bits <= message.len() * 8);
    let whole = serde_json::to_string(&decoded.value).expect("a value can be written");
    let shown = serde_json::to_string(&decoded.value.redacted()).expect("a value can be written");
    assert!(whole == shown || shown.contains("redacted"));
    // Parts of a later release cannot be encoded. Bytes that should be an encoding and are not stay
    // bytes, and may become a valid encoding once they are written as bytes.
    if decoded.unread == 0
        && let Ok(again) = encode(pdu, &decoded.value)
    {
        assert_eq!(decode(pdu, &again).map(|again| again.value).as_ref(), Ok(&decoded.value));
    }
    Some(decoded)
}
