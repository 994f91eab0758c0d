//! What becomes of the rates by CQI that are kept.

use serde_json::json;

use super::Events;
use crate::cqi_rates::NotKept;

impl Events {
    /// The file of the rates by CQI is as it was.
    pub(in crate::run) fn rates_not_kept(&mut self, error: &NotKept) {
        let event = json!({ "event": "rates_not_kept", "reason": error.to_string() });
        self.say(&event, || Some(format!("{error}: what is learnt now is not kept")));
    }
}
