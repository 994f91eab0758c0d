use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use sounding_cc::Needs;
use sounding_cc::parameter::{Choice, ChoiceError, Parameter, Values};
use sounding_cc::{Controller, Start};
use sounding_laws::Fallback;
use sounding_laws::background::Background;
use sounding_laws::bbr::{self, Bbr};
use sounding_laws::copa_gandalf::{self, CopaGandalf};
use sounding_laws::cubic::{self, Cubic};
use sounding_laws::pbe_cc::{self, PbeCc};
use sounding_laws::{Law, Named};

use crate::bbr3::Bbr3;
use crate::compensated::{Compensated, Smoothing};
use crate::copa::{self, Copa};
use crate::gcc::{self, Gcc};
use crate::ledbat::{self, Ledbat, LedbatPlusPlus};
use crate::legilimens::{self, Legilimens};
use crate::lp::Lp;
use crate::pcc::{Allegro, AllegroConfig, Vivace, VivaceConfig, proteus};
use crate::reno::Reno;
use crate::scream::{self, Scream};
use crate::smoothed::{self, Smoothed};
use crate::sprout::Sprout;
use crate::vegas::{self, Vegas};
use crate::verus::Verus;

/// Makes a controller for a flow.
pub type Make = fn(&Start) -> Box<dyn Controller>;

/// Makes a controller for a flow, with parameters.
type Tune = fn(&Start, &Values) -> Box<dyn Controller>;

#[derive(Clone, Copy)]
struct Entry {
    name: &'static str,
    /// What it asks of a modem; `None` for nothing.
    needs: Option<Needs>,
    parameters: &'static [Parameter],
    /// Checks that involve several parameters.
    fits: fn(&Values) -> Result<(), &'static str>,
    tune: Tune,
    make: Make,
}

impl Entry {
    fn of_law(law: Law, named: &Named) -> Self {
        let &Named { name, parameters, tune, make, .. } = named;
        Self { name, needs: Some(law.needs()), parameters, fits: |_| Ok(()), tune, make }
    }

    /// The same, for a flow to which the modem reports the delays of its radio.
    const fn corrected(self) -> Self {
        Self { needs: Some(Needs::DELAYS), ..self }
    }
}

/// Without stated values it is as published.
macro_rules! entry {
    ($name:expr, $parameters:expr, $tune:expr) => {{
        const TUNE: Tune = $tune;
        Entry {
            name: $name,
            needs: None,
            parameters: $parameters,
            fits: |_| Ok(()),
            tune: TUNE,
            make: |start| TUNE(start, &Values::default()),
        }
    }};
}

/// Every controller without a law, by its name in plans. The oracle is not among them: it needs the
/// truth at construction.
const CONTROLLERS: &[Entry] = &[
    entry!("reno", &[], |start, _| Box::new(Reno::new(start))),
    entry!("cubic", cubic::Config::PARAMETERS, |start, values| {
        Box::new(Cubic::with(start, cubic::Config::of(values)))
    }),
    entry!("reno-hystart", &[], |start, _| Box::new(Reno::with_hystart(start))),
    entry!("cubic-no-hystart", cubic::Config::PARAMETERS, |start, values| {
        Box::new(Cubic::with(start, cubic::Config::of(values)).without_hystart())
    }),
    Entry {
        fits: vegas::Config::fits,
        ..entry!("vegas", vegas::Config::PARAMETERS, |start, values| {
            Box::new(Vegas::with(start, vegas::Config::of(values)))
        })
    },
    entry!("copa", copa::Config::PARAMETERS, |start, values| {
        Box::new(Copa::with(start, copa::Config::of(values)))
    }),
    entry!("copa-default", copa::Config::DEFAULT_MODE, |start, values| {
        Box::new(Copa::with_delta(start, copa::Config::of(values).delta))
    }),
    entry!("ledbat", ledbat::Config::PARAMETERS, |start, values| {
        Box::new(Ledbat::with(start, ledbat::Config::of(values)))
    }),
    entry!("ledbat++", LedbatPlusPlus::PARAMETERS, |start, values| {
        Box::new(LedbatPlusPlus::tuned(start, values))
    }),
    entry!("legilimens", legilimens::Config::PARAMETERS, |start, values| {
        Box::new(Legilimens::with(start, legilimens::Config::of(values)))
    }),
    entry!("legilimens-published", legilimens::Config::PUBLISHED, |start, values| {
        Box::new(Legilimens::with(start, legilimens::Config::of(values).published()))
    }),
    Entry {
        needs: Some(Background::NEEDS),
        ..entry!("background", Background::PARAMETERS, |start, values| {
            Box::new(Background::tuned(start, values))
        })
    },
    entry!("lp", Lp::PARAMETERS, |start, values| Box::new(Lp::tuned(start, values))),
    entry!("bbr", bbr::Config::PARAMETERS, |start, values| {
        Box::new(Bbr::with(start, bbr::Config::of(values)))
    }),
    entry!("bbr3", &[], |start, _| Box::new(Bbr3::new(start))),
    entry!("allegro", AllegroConfig::PARAMETERS, |start, values| {
        Box::new(Allegro::with(start, AllegroConfig::of(values)))
    }),
    entry!("vivace", VivaceConfig::PARAMETERS, |start, values| {
        Box::new(Vivace::with(start, VivaceConfig::of(values)))
    }),
    entry!("proteus-s", proteus::PARAMETERS, |start, values| {
        Box::new(Vivace::with(start, proteus::scavenger(values)))
    }),
    entry!("sprout", Sprout::PARAMETERS, |start, values| Box::new(Sprout::tuned(start, values))),
    entry!("verus", Verus::PARAMETERS, |start, values| Box::new(Verus::tuned(start, values))),
    Entry {
        needs: Some(Law::PbeCc.needs()),
        ..entry!(PUBLISHED_PBE_CC, pbe_cc::Config::PARAMETERS, |start, values| {
            let config = pbe_cc::Config::of(values).published();
            Box::new(PbeCc::new(config, Fallback::Bbr, start, Duration::ZERO))
        })
    },
    entry!("gcc", gcc::Config::PARAMETERS, |start, values| {
        Box::new(Gcc::with(start, gcc::Config::of(values)))
    }),
    entry!("scream", scream::Config::PARAMETERS, |start, values| {
        Box::new(Scream::with(start, scream::Config::of(values)))
    }),
    entry!("vivace-published", VivaceConfig::PUBLISHED, |start, values| {
        Box::new(Vivace::with(start, VivaceConfig::of(values).published()))
    }),
    entry!("copa-gandalf", copa_gandalf::Config::PARAMETERS, |start, values| {
        Box::new(CopaGandalf::with(start, copa_gandalf::Config::of(values)))
    })
    .corrected(),
    entry!("vivace-gandalf", VivaceConfig::PUBLISHED, |start, values| {
        let config = VivaceConfig::of(values).published();
        Box::new(Compensated::holding(Vivace::with(start, config)))
    })
    .corrected(),
    entry!("bbr-gandalf", bbr::Config::PARAMETERS, |start, values| {
        Box::new(Compensated::revising(Bbr::with(start, bbr::Config::of(values))))
    })
    .corrected(),
    entry!("cubic-gandalf", cubic::Config::PARAMETERS, |start, values| {
        let inner = Cubic::with(start, cubic::Config::of(values));
        Box::new(Compensated::revising_with(inner, Smoothing::of_rises()))
    })
    .corrected(),
    entry!("gcc-gandalf", gcc::Config::PARAMETERS, |start, values| {
        Box::new(Compensated::holding(Gcc::with(start, gcc::Config::of(values))))
    })
    .corrected(),
    entry!("copa-smoothed", smoothed::PARAMETERS, |start, values| {
        Box::new(Smoothed::new(Copa::new(start), smoothed::window(values)))
    }),
    entry!("vivace-smoothed", smoothed::PARAMETERS, |start, values| {
        let inner = Vivace::with(start, VivaceConfig::default().published());
        Box::new(Smoothed::new(inner, smoothed::window(values)))
    }),
    entry!("gcc-smoothed", smoothed::PARAMETERS, |start, values| {
        Box::new(Smoothed::new(Gcc::new(start), smoothed::window(values)))
    }),
];

/// The law of PBE-CC without what was added to the paper: an ablation, and no law of the table.
const PUBLISHED_PBE_CC: &str = "pbe-cc-published";

/// What the controller of this name asks of those who read the modem; `None` if it asks nothing, or
/// is not known.
pub fn needs(name: &str) -> Option<Needs> {
    entry(name)?.needs
}

/// Every controller that needs only the reports of a flow and a modem: those above, and each law
/// with its fallbacks.
fn controllers() -> impl Iterator<Item = Entry> {
    let laws = Law::ALL
        .iter()
        .flat_map(|&law| law.controllers().iter().map(move |named| Entry::of_law(law, named)));
    CONTROLLERS.iter().copied().chain(laws)
}

fn entry(name: &str) -> Option<Entry> {
    controllers().find(|known| known.name == name)
}

/// The parameters of the controller of this name.
pub fn parameters(name: &str) -> &'static [Parameter] {
    entry(name).map_or(&[], |entry| entry.parameters)
}

/// The constructor of a controller with these parameters.
///
/// # Errors
///
/// [`ChoiceError`] if no controller has the name, or the controller refuses a parameter.
pub fn make(choice: &Choice) -> Result<Maker, ChoiceError> {
    Registry::default().choose(choice).map(|(_, make)| make)
}

/// The oracle's name in plans.
const ORACLE: &str = "oracle";

/// The constructor of the controller of this name.
pub fn by_name(name: &str) -> Option<Make> {
    entry(name).map(|entry| entry.make)
}

/// The names that [`by_name`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    controllers().map(|entry| entry.name)
}

/// Makes a controller for a flow. It may capture data, unlike [`Make`]; [`Registry::add`] takes it.
pub type Maker = Arc<dyn Fn(&Start) -> Box<dyn Controller> + Send + Sync>;

/// Controllers by name: those of [`by_name`], and added ones. Cheap to clone while few are added.
#[derive(Clone, Default)]
pub struct Registry {
    added: Vec<Added>,
}

#[derive(Clone)]
struct Added {
    name: String,
    needs: Option<Needs>,
    make: Maker,
}

/// Why a controller cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is another's.
    #[error("{name:?} is the name of another controller")]
    Taken {
        /// The name.
        name: String,
    },
    /// It could not be written in a plan or read in a table.
    #[error(
        "{name:?} is no name: it needs a character, and none of them is a blank, a quote or a colon"
    )]
    Unwritable {
        /// The name.
        name: String,
    },
}

impl Registry {
    /// Adds a controller under another name. It asks nothing of a modem.
    ///
    /// # Errors
    ///
    /// [`NameError::Taken`] if another controller has the name; [`NameError::Unwritable`] if plans
    /// cannot write it: empty, or with blanks, quotes or colons.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        make: impl Fn(&Start) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Result<(), NameError> {
        self.add_needing(name, None, make)
    }

    /// The same for a controller that asks this of those who read the modem.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn add_needing(
        &mut self,
        name: impl Into<String>,
        needs: Option<Needs>,
        make: impl Fn(&Start) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Result<(), NameError> {
        let name = name.into();
        let unwritable =
            |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | ':');
        if name.is_empty() || name.chars().any(unwritable) {
            return Err(NameError::Unwritable { name });
        }
        if name == ORACLE || self.names().any(|known| known == name) {
            return Err(NameError::Taken { name });
        }
        self.added.push(Added { name, needs, make: Arc::new(make) });
        Ok(())
    }

    /// The constructor of the controller of this name.
    pub fn by_name(&self, name: &str) -> Option<Maker> {
        let added = self.added.iter().find(|added| added.name == name);
        added.map(|added| Arc::clone(&added.make)).or_else(|| Some(Arc::new(by_name(name)?)))
    }

    /// What the controller of this name asks of those who read the modem; see [`needs`].
    pub fn needs(&self, name: &str) -> Option<Needs> {
        let added = self.added.iter().find(|added| added.name == name);
        added.map_or_else(|| needs(name), |added| added.needs)
    }

    /// The constructor of a controller with the given parameters, and the choice in its canonical
    /// form: parameters in the order of their table, values in one spelling. Added controllers
    /// take no parameters.
    ///
    /// # Errors
    ///
    /// [`ChoiceError`] if no controller has the name, or if its parameters are unknown, out of
    /// range or contradict each other.
    pub fn choose(&self, choice: &Choice) -> Result<(Choice, Maker), ChoiceError> {
        let name = choice.name();
        let unknown = || ChoiceError::Controller {
            name: name.into(),
            known: self.names().map(String::from).collect(),
        };
        let make = self.by_name(name).ok_or_else(unknown)?;
        let Some((parameter, _)) = choice.stated().next() else {
            return Ok((choice.clone(), make));
        };
        let entry = entry(name).filter(|entry| !entry.parameters.is_empty());
        let Some(Entry { parameters, fits, tune, .. }) = entry else {
            return Err(ChoiceError::Untunable { controller: name.into(), name: parameter.into() });
        };
        let values = Values::parse(parameters, choice.stated())
            .map_err(|source| ChoiceError::Parameter { controller: name.into(), source })?;
        fits(&values).map_err(|why| ChoiceError::Together { controller: name.into(), why })?;
        let shown = values.stated().map(|(name, value)| (name.to_string(), value.to_string()));
        let shown = Choice::plain(name).with(shown);
        Ok((shown, Arc::new(move |start| tune(start, &values))))
    }

    /// The names that it knows, those that were added last.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let ours = controllers().map(|entry| entry.name);
        ours.chain(self.added.iter().map(|added| added.name.as_str()))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_cc::parameter::{Kind, Value};
    use sounding_units::Bytes;

    fn start() -> Start {
        Start::tcp(sounding_units::HostInstant::default(), None, 1)
    }

    #[test]
    fn what_is_added_is_found_beside_what_was_there() {
        let mut registry = Registry::default();
        registry.add("mine", |start| Box::new(Reno::new(start))).unwrap();
        for name in ["mine", "reno", "sounding"] {
            let make = registry.by_name(name).expect(name);
            assert_eq!(make(&start()).cwnd(), start().initial_cwnd(), "{name}");
        }
        assert!(registry.by_name("yours").is_none());
        assert_eq!(registry.names().count(), names().count() + 1);
    }

    #[test]
    fn a_name_is_unique_and_can_be_written() {
        let mut registry = Registry::default();
        registry.add("mine", |start| Box::new(Reno::new(start))).unwrap();
        for name in ["mine", "bbr", "oracle", "", "my own", "a\"b", "a:b", "line\n"] {
            let error = registry.add(name, |start| Box::new(Reno::new(start))).unwrap_err();
            assert!(error.to_string().contains("name"), "{error}");
        }
        assert_eq!(registry.names().count(), names().count() + 1);
    }

    fn chosen(text: &str) -> Result<(Choice, Maker), ChoiceError> {
        Registry::default().choose(&text.parse()?)
    }

    #[test]
    fn every_controller_takes_each_of_its_parameters_at_both_ends_and_at_its_default() {
        for name in names() {
            for parameter in parameters(name) {
                let ends: [Value; 2] = match parameter.kind {
                    Kind::Number { least, most, .. } => [least, most].map(Value::Number),
                    Kind::Count { least, most, .. } => [least, most].map(Value::Count),
                    Kind::Time { least, most, .. } => [least, most].map(Value::Time),
                    Kind::Word { words, .. } => [words[0], words[words.len() - 1]].map(Value::Word),
                };
                for value in [parameter.kind.default(), ends[0], ends[1]] {
                    let text = std::format!("{name}:{}={value}", parameter.name);
                    match chosen(&text) {
                        Ok((_, make)) => assert!(make(&start()).cwnd() > Bytes::ZERO, "{text}"),
                        Err(error) => {
                            assert!(matches!(error, ChoiceError::Together { .. }), "{error}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_choice_is_shown_in_one_spelling_and_makes_what_it_says() {
        let (choice, _) = chosen("copa:mode=default:delta=0.10").unwrap();
        assert_eq!(choice.to_string(), "copa(delta=0.1,mode=default)");
        let pacing = |text: &str| {
            let (_, make) = chosen(text).unwrap();
            std::format!("{:?}", make(&start()))
        };
        assert_eq!(pacing("copa"), pacing("copa:delta=0.5"));
        assert_eq!(pacing("copa-default"), pacing("copa:mode=default"));
        assert_ne!(pacing("copa"), pacing("copa:delta=0.1"));
    }

    #[test]
    fn what_cannot_be_chosen_is_refused_with_what_can() {
        let wrong = [
            ("copa:dleta=0.1", "copa: unknown parameter `dleta`, there are `delta`, `mode`"),
            ("copa:delta=20", "copa: `delta` is 0.001 to 10, not \"20\""),
            ("ledbat:target=150ms", "ledbat: `target` is 1ms to 100ms, not \"150ms\""),
            ("vegas:alpha=6", "vegas: `alpha` is at most `beta`"),
            ("reno:beta=0.5", "reno takes no parameters, and `beta` is one"),
        ];
        for (text, said) in wrong {
            assert_eq!(chosen(text).map(drop).unwrap_err().to_string(), said);
        }
        let error = chosen("kopa:delta=0.1").map(drop).unwrap_err().to_string();
        assert!(error.starts_with("unknown controller `kopa`, there are `reno`"), "{error}");
    }

    #[test]
    fn an_added_controller_takes_no_parameters() {
        let mut registry = Registry::default();
        registry.add("mine", |start| Box::new(Reno::new(start))).unwrap();
        let error = registry.choose(&"mine:a=1".parse().unwrap()).map(drop).unwrap_err();
        assert_eq!(error.to_string(), "mine takes no parameters, and `a` is one");
        assert!(registry.choose(&Choice::plain("mine")).is_ok());
    }
}
