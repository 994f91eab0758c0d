//! The plan of an item of the evaluation.

use std::time::Duration;

use serde::Deserialize;
use sounding_cell::quantity as time;
use sounding_laws::RadioController;

use super::given_link::is_known;
use super::{Setting, Told};

/// See the module. Files of `papers/biscay`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// For people.
    pub about: String,
    /// The senders: controllers, or ones that know the truth.
    #[serde(deserialize_with = "known")]
    pub controllers: Vec<String>,
    /// Numbers of parallel flows, one after the other.
    #[serde(default = "one")]
    pub flows: Vec<usize>,
    /// Delay between the starts of consecutive flows.
    #[serde(default, deserialize_with = "time::duration")]
    pub stagger: Duration,
    /// Time between two estimates in milliseconds, one after the other; without, as the daemon has
    /// it.
    #[serde(default)]
    pub every_ms: Vec<u64>,
    /// And once for `biscay`: frequent repetition has the same effect as the mean itself (BISCAY
    /// §5.2).
    #[serde(default)]
    pub once: bool,
    /// Propagation delay, each way.
    #[serde(deserialize_with = "time::duration")]
    pub delay: Duration,
    /// Duration of each run.
    #[serde(deserialize_with = "time::duration")]
    pub duration: Duration,
}

fn one() -> Vec<usize> {
    vec![1]
}

fn known<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(names),
        Some(name) => Err(serde::de::Error::custom(format!("no controller is called {name:?}"))),
    }
}

impl Plan {
    /// Each combination, in order. A controller without estimates runs once, whatever the intervals
    /// of the others.
    pub(super) fn settings(&self) -> Vec<Setting<'_>> {
        let mut settings = Vec::new();
        for controller in &self.controllers {
            let told = RadioController::by_name(controller).is_some();
            for &flows in &self.flows {
                let setting = |told| Setting { controller, flows, told };
                match told {
                    true if !self.every_ms.is_empty() => settings.extend(
                        self.every_ms
                            .iter()
                            .map(|&ms| setting(Told::Every(Duration::from_millis(ms)))),
                    ),
                    _ => settings.push(setting(Told::AsByDaemon)),
                }
                if self.once && controller == "biscay" {
                    settings.push(setting(Told::Once));
                }
            }
        }
        settings
    }
}
