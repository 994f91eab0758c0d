//! What the fuzz target does with its input; the test `corpus` does the same with its seeds.

use serde_json::Value as Json;
use sounding_nas::{Direction, NasMessage, System};

/// One byte for the radio and the direction, then a message. It may decode or not. Of a decoded
/// message, others are shown nothing that is not in it.
pub(crate) fn nas(data: &[u8]) -> Option<NasMessage> {
    let (&kind, message) = data.split_first()?;
    let system = if kind & 1 == 0 { System::Eps } else { System::FiveGs };
    let direction = if kind & 2 == 0 { Direction::Uplink } else { Direction::Downlink };
    let decoded = NasMessage::decode(system, direction, message).ok()?;
    let whole = serde_json::from_str(&decoded.whole()).expect("a message is JSON");
    let shown = serde_json::from_str(&decoded.redacted()).expect("what is shown is JSON");
    assert!(is_part(&shown, &whole), "{shown} of {whole}");
    assert!(decoded.name().is_none_or(|name| name.len() < 100));
    Some(decoded)
}

/// Whether every field that is shown is one of the message, whole or hidden.
fn is_part(shown: &Json, whole: &Json) -> bool {
    match (shown, whole) {
        (Json::String(text), _) if text == "redacted" => true,
        (Json::Object(shown), Json::Object(whole)) => {
            shown.len() == whole.len()
                && shown
                    .iter()
                    .all(|(name, shown)| whole.get(name).is_some_and(|whole| is_part(shown, whole)))
        }
        _ => shown == whole,
    }
}
