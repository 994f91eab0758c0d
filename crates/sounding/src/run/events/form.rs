//! The forms of events.

use serde_json::Value as Json;

use super::journal;
use crate::screen;

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines of JSON on standard output.
    Json,
    /// Sentences on standard error.
    Sentences,
    /// Entries of the journal that standard error is connected to.
    Journal,
}

/// Its text, safe to show.
pub(super) fn line(
    form: Form,
    event: &Json,
    modem: Option<&str>,
    sentence: impl FnOnce() -> Option<String>,
) -> Option<String> {
    let line = match (form, modem) {
        (Form::Journal, modem) => {
            return sentence().map(|sentence| journal::entry(event, modem, &sentence));
        }
        (Form::Json, None) => event.to_string(),
        (Form::Json, Some(modem)) => {
            let mut event = event.clone();
            event["modem"] = modem.into();
            event.to_string()
        }
        (Form::Sentences, None) => format!("sounding: {}", sentence()?),
        (Form::Sentences, Some(modem)) => format!("sounding: {modem}: {}", sentence()?),
    };
    Some(screen::inline(&line).into_owned())
}
