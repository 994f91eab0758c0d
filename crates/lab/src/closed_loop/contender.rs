//! The senders.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sounding_cc::oracle::{Oracle, Present};
use sounding_cc::{Controller, Make, Start};
use sounding_link::Bound;
use sounding_sim::Port;
use sounding_sim::world::Listening;
use sounding_units::{Bytes, HostInstant};

use crate::reference::Reference;

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// BISCAY as published, which knows no floor: every estimate is taken for all that the link carries.
    Published,
    /// A controller of the registry.
    Named(&'static str),
    /// One that knows what the radio would have sent when, had there always been something waiting.
    Oracle,
    /// One that knows what the radio carries now, or did when word of it set out, and nothing of what comes.
    Reference(Reference),
}

/// What the oracle knows.
#[derive(Clone, Debug)]
pub(super) struct Knows {
    /// Payload that was sent by when.
    pub(super) carried: Arc<[(HostInstant, u64)]>,
    /// The number of flows that share equally.
    pub(super) flows: u64,
    /// From leaving the sender to being sent by the radio.
    pub(super) lead: Duration,
    /// Delay from the radio to the sender, for estimates.
    pub(super) late: Duration,
}

impl Contender {
    /// The contender of this name: `oracle`, `biscay-published`, a reference's, or a controller's.
    pub fn by_name(name: &str) -> Option<Self> {
        let named = || sounding_cc::names().find(|known| *known == name).map(Self::Named);
        match name {
            "oracle" => Some(Self::Oracle),
            "biscay-published" => Some(Self::Published),
            name => Reference::by_name(name).map(Self::Reference).or_else(named),
        }
    }

    /// The names that [`by_name`](Self::by_name) knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ["oracle", "present", "reported", "present-15ms-over-30ms", "biscay-published"]
            .into_iter()
            .chain(sounding_cc::names())
    }

    /// How its host listens.
    pub(super) fn listening(self, port: Port) -> Listening {
        let mut listening = Listening::new(port);
        match self {
            Self::Published => listening.estimator.assume = Some(Bound::Capacity),
            Self::Named(name) => listening = listening.told([name]),
            Self::Oracle | Self::Reference(_) => {}
        }
        listening
    }

    pub(super) fn make(
        self,
        knows: Knows,
    ) -> impl FnOnce(&Start) -> Box<dyn Controller> + Send + 'static {
        let named: Option<Make> = match self {
            Self::Published => sounding_cc::by_name("biscay"),
            Self::Named(name) => sounding_cc::by_name(name),
            Self::Oracle | Self::Reference(_) => None,
        };
        move |start| match (named, self) {
            (Some(make), _) => make(start),
            (None, Self::Reference(reference)) => {
                let word = reference.word(knows.lead, knows.late);
                Box::new(Present::new(start, word, move |until| knows.by(until)))
            }
            (None, _) => Box::new(Oracle::new(start, knows.lead, move |until| knows.by(until))),
        }
    }
}

impl Knows {
    pub(super) fn by(&self, until: HostInstant) -> Bytes {
        let passed = self.carried.partition_point(|(at, _)| *at <= until);
        let sum = passed.checked_sub(1).map_or(0, |last| self.carried[last].1);
        Bytes::new(sum / self.flows)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Published => "biscay-published",
            Self::Named(name) => name,
            Self::Oracle => "oracle",
            Self::Reference(reference) => return reference.fmt(f),
        })
    }
}
