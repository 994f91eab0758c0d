use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::bbr::Bbr;
use crate::bbr3::Bbr3;
use crate::copa::Copa;
use crate::cubic::Cubic;
use crate::gcc::Gcc;
use crate::laws::Law;
use crate::ledbat::{Ledbat, LedbatPlusPlus};
use crate::lp::Lp;
use crate::pbe_cc::{self, PbeCc};
use crate::pcc::{Allegro, Vivace};
use crate::reno::Reno;
use crate::sprout::Sprout;
use crate::vegas::Vegas;
use crate::verus::Verus;
use crate::{Controller, Start};

/// Makes a controller for a flow.
pub type Make = fn(&Start) -> Box<dyn Controller>;

/// Every controller without a law, by its name in plans. The oracle is not among them: it needs the truth at construction.
const CONTROLLERS: &[(&str, Make)] = &[
    ("reno", |start| Box::new(Reno::new(start))),
    ("cubic", |start| Box::new(Cubic::new(start))),
    ("reno-hystart", |start| Box::new(Reno::with_hystart(start))),
    ("cubic-no-hystart", |start| Box::new(Cubic::new(start).without_hystart())),
    ("vegas", |start| Box::new(Vegas::new(start))),
    ("copa", |start| Box::new(Copa::new(start))),
    ("copa-default", |start| Box::new(Copa::with_delta(start, 0.5))),
    ("ledbat", |start| Box::new(Ledbat::new(start))),
    ("ledbat++", |start| Box::new(LedbatPlusPlus::new(start))),
    ("lp", |start| Box::new(Lp::new(start))),
    ("bbr", |start| Box::new(Bbr::new(start))),
    ("bbr3", |start| Box::new(Bbr3::new(start))),
    ("allegro", |start| Box::new(Allegro::new(start))),
    ("vivace", |start| Box::new(Vivace::new(start))),
    ("sprout", |start| Box::new(Sprout::new(start))),
    ("verus", |start| Box::new(Verus::new(start))),
    ("gcc", |start| Box::new(Gcc::new(start))),
    ("pbe-cc", |start| Box::new(PbeCc::new(pbe_cc::Config::default(), start, Duration::ZERO))),
    ("pbe-cc-published", |start| {
        Box::new(PbeCc::new(pbe_cc::Config::published(), start, Duration::ZERO))
    }),
];

/// Controllers of the far end of a downlink: what the device reports reaches them on its acknowledgements.
const REMOTE: [&str; 2] = ["pbe-cc", "pbe-cc-published"];

/// Whether the controller of this name runs at the far end of a downlink and goes by what the device reports to it.
pub fn is_remote(name: &str) -> bool {
    REMOTE.contains(&name)
}

/// What plans call the oracle.
const ORACLE: &str = "oracle";

/// Every controller that needs nothing but what a flow and a modem report: those above, and each law with its fallbacks.
fn controllers() -> impl Iterator<Item = (&'static str, Make)> {
    let laws = Law::ALL.iter().flat_map(|law| law.controllers());
    CONTROLLERS.iter().copied().chain(laws.map(|named| (named.name, named.make)))
}

/// How to make the controller of this name.
pub fn by_name(name: &str) -> Option<Make> {
    controllers().find(|(known, _)| *known == name).map(|(_, make)| make)
}

/// The names that [`by_name`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    controllers().map(|(name, _)| name)
}

/// Makes a controller for a flow, and may know more than its name: what [`Registry::add`] takes.
pub type Maker = Arc<dyn Fn(&Start) -> Box<dyn Controller> + Send + Sync>;

/// Controllers by name: those of [`by_name`], and added ones. Cheap to clone while few are added.
#[derive(Clone, Default)]
pub struct Registry {
    added: Vec<(String, Maker)>,
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
    #[error("{name:?} is no name: it needs a character, and none of them is a blank or a quote")]
    Unwritable {
        /// The name.
        name: String,
    },
}

impl Registry {
    /// Adds a controller under another name.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        make: impl Fn(&Start) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Result<(), NameError> {
        let name = name.into();
        let unwritable = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'');
        if name.is_empty() || name.chars().any(unwritable) {
            return Err(NameError::Unwritable { name });
        }
        if name == ORACLE || self.names().any(|known| known == name) {
            return Err(NameError::Taken { name });
        }
        self.added.push((name, Arc::new(make)));
        Ok(())
    }

    /// How to make the controller of this name.
    pub fn by_name(&self, name: &str) -> Option<Maker> {
        let added = self.added.iter().find(|(known, _)| known == name);
        added.map(|(_, make)| Arc::clone(make)).or_else(|| Some(Arc::new(by_name(name)?)))
    }

    /// The names that it knows, those that were added last.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let ours = controllers().map(|(name, _)| name);
        ours.chain(self.added.iter().map(|(name, _)| name.as_str()))
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
    use std::string::ToString;

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
        for name in ["mine", "bbr", "oracle", "", "my own", "a\"b", "line\n"] {
            let error = registry.add(name, |start| Box::new(Reno::new(start))).unwrap_err();
            assert!(error.to_string().contains("name"), "{error}");
        }
        assert_eq!(registry.names().count(), names().count() + 1);
    }
}
