//! A controller in a plan: `"copa"`, `"copa:delta=0.1"` or `{ name = "copa", delta = 0.1 }`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use sounding_baselines::Registry;
use sounding_cc::{Choice, ChoiceError};
use toml::de::ValueDeserializer;

use super::Wrong;
use super::quantity::ORACLE;
use super::tree::Value;

/// Whether a key of a plan is the controller of a flow, or one of its parameters.
pub fn names_controller(key: &str) -> bool {
    key.split('.').skip(1).any(|part| part == "controller")
}

/// Reads one.
pub(super) fn choice<'de, D: Deserializer<'de>>(input: D) -> Result<Choice, D::Error> {
    input.deserialize_any(ChoiceVisitor)
}

struct ChoiceVisitor;

impl<'de> Visitor<'de> for ChoiceVisitor {
    type Value = Choice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a controller's name, or a table as { name = \"copa\", delta = 0.1 }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Choice, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Choice, A::Error> {
        let (mut name, mut stated) = (None, Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            if key == "name" {
                name = Some(map.next_value::<String>()?);
            } else {
                stated.push((key, map.next_value::<ParameterText>()?.0));
            }
        }
        let name = name.ok_or_else(|| A::Error::missing_field("name"))?;
        Ok(Choice::plain(name).with(stated))
    }
}

/// A number, a time or a word.
struct ParameterText(String);

impl<'de> Deserialize<'de> for ParameterText {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(ParameterVisitor).map(Self)
    }
}

struct ParameterVisitor;

impl Visitor<'_> for ParameterVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a time as \"60ms\", or a word")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.into())
    }
}

/// The canonical form of a flow's choice; fails with the fault and its key, relative to the flow.
pub(super) fn settle(choice: &Choice, controllers: &Registry) -> Result<Choice, Wrong> {
    let settled = if choice.name() != ORACLE {
        controllers.choose(choice).map(|(shown, _)| shown)
    } else if let Some((name, _)) = choice.stated().next() {
        Err(ChoiceError::Untunable { controller: ORACLE.into(), name: name.into() })
    } else {
        Ok(choice.clone())
    };
    settled.map_err(|mut error| {
        if let ChoiceError::Controller { known, .. } = &mut error {
            known.push(ORACLE.into());
        }
        let parameter = error.parameter().map(|name| format!(".{name}"));
        Wrong::new(format!("controller{}", parameter.unwrap_or_default()), error.to_string())
    })
}

/// The name of a key's value in tables, if the key takes controllers and this is one.
pub(super) fn label(key: &str, value: &Value<'_>, controllers: &Registry) -> Option<String> {
    if !key.ends_with(".controller") {
        return None;
    }
    let choice = choice(ValueDeserializer::from(value.clone())).ok()?;
    Some(settle(&choice, controllers).ok()?.to_string())
}
