use alloc::boxed::Box;
use core::time::Duration;

use sounding_cc::parameter::Values;
use sounding_cc::{Controller, Start};

use crate::{laws::Law, stock::Fallback};

/// A controller that uses a modem's estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioController {
    /// Its name in plans.
    pub name: &'static str,
    /// Controls the flow while there is an estimate.
    pub law: Law,
    /// Controls the flow while there is no estimate.
    pub fallback: Fallback,
}

impl RadioController {
    /// Every law with each of its fallbacks.
    pub fn all() -> impl Iterator<Item = Self> {
        Law::ALL.iter().flat_map(|&law| {
            let controllers = law.controllers().iter();
            controllers.map(move |named| Self { name: named.name, law, fallback: named.fallback })
        })
    }

    /// The one of this name; other controllers need no modem.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|known| known.name == name)
    }

    /// A flow under it whose estimates come every `every`, or zero for every few milliseconds:
    /// estimates may be that much older, and silence counts that much later.
    pub fn make(self, start: &Start, every: Duration) -> Box<dyn Controller> {
        self.law.make(self.fallback, start, every, &Values::default())
    }
}
