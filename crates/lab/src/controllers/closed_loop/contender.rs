//! The senders.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sounding_baselines::Registry;
use sounding_baselines::oracle::{Oracle, Present};
use sounding_cc::{Choice, ChoiceError, Controller, Start};
use sounding_feed::Tuning;
use sounding_link::Bound;
use sounding_sim::Port;
use sounding_sim::world::Listening;
use sounding_units::{Bytes, HostInstant, Rate};

use crate::controllers::advised::Advised;
use crate::controllers::constant::Constant;
use crate::controllers::reference::Reference;
use crate::controllers::rtt_buffer::RttBuffer;

/// A sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contender {
    /// BISCAY as published, without floors: every estimate counts as the link's capacity.
    Published,
    /// A controller of the registry, with the parameters that are stated.
    Named(Choice),
    /// A sender that knows the radio's future capacity: what it would send with data always
    /// waiting.
    Oracle,
    /// A sender that knows the radio's rate now, or that at the time of a report, and not the
    /// future.
    Reference(Reference),
    /// A live sender that takes the feed's advice.
    Advised(Option<Tuning>),
    /// The rule by which bonding senders over SRT set their encoder.
    RttBuffer,
    /// A live sender whose user chose half of the link's mean rate, and no more changes it.
    Constant,
}

/// The oracle's knowledge.
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
    /// The contender of this name: `oracle`, `biscay-published`, a reference's, or a controller's,
    /// as `copa` or `copa:delta=0.1`.
    pub fn by_name(name: &str) -> Result<Self, ChoiceError> {
        match name {
            "oracle" => Ok(Self::Oracle),
            "biscay-published" => Ok(Self::Published),
            "rtt-buffer" => Ok(Self::RttBuffer),
            "fixed-half" => Ok(Self::Constant),
            "advice" => Ok(Self::Advised(None)),
            name => Reference::by_name(name).map_or_else(
                || Registry::default().choose(&name.parse()?).map(|(shown, _)| Self::Named(shown)),
                |reference| Ok(Self::Reference(reference)),
            ),
        }
    }

    /// The names that [`by_name`](Self::by_name) knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        [
            "advice",
            "rtt-buffer",
            "fixed-half",
            "oracle",
            "present",
            "reported",
            "present-15ms-over-30ms",
            "biscay-published",
        ]
        .into_iter()
        .chain(sounding_baselines::names())
    }

    /// How its host reads the modem.
    pub(super) fn listening(&self, port: Port) -> Listening {
        let mut listening = Listening::new(port);
        match self {
            Self::Published => listening.estimator.assume = Some(Bound::Capacity),
            Self::Named(choice) => {
                listening = listening.told([sounding_baselines::needs(choice.name())]);
            }
            Self::Advised(tuning) => {
                let tuning = tuning.unwrap_or(Tuning::of(port.direction));
                listening.estimator = listening.estimator.over(Some(tuning.span));
            }
            Self::Oracle | Self::Reference(_) | Self::RttBuffer | Self::Constant => {}
        }
        listening
    }

    pub(super) fn make(
        &self,
        knows: Knows,
    ) -> impl FnOnce(&Start) -> Box<dyn Controller> + Send + 'static + use<> {
        let contender = self.clone();
        move |start| match contender {
            Self::Published => named(&Choice::plain("biscay"), start),
            Self::Named(choice) => named(&choice, start),
            Self::Advised(tuning) => Box::new(Advised::new(start, tuning)),
            Self::RttBuffer => Box::new(RttBuffer::new(start)),
            Self::Constant => Box::new(Constant(knows.mean().scaled(1, 2))),
            Self::Reference(reference) => {
                let word = reference.word(knows.lead, knows.late);
                Box::new(Present::new(start, word, move |until| knows.by(until)))
            }
            Self::Oracle => Box::new(Oracle::new(start, knows.lead, move |until| knows.by(until))),
        }
    }
}

/// A controller of the registry, whose name was read before.
fn named(choice: &Choice, start: &Start) -> Box<dyn Controller> {
    let make = sounding_baselines::make(choice);
    make.unwrap_or_else(|error| unreachable!("it is in the registry: {error}"))(start)
}

impl Knows {
    pub(super) fn by(&self, until: HostInstant) -> Bytes {
        let passed = self.carried.partition_point(|(at, _)| *at <= until);
        let sum = passed.checked_sub(1).map_or(0, |last| self.carried[last].1);
        Bytes::new(sum / self.flows)
    }

    /// Over the whole run.
    fn mean(&self) -> Rate {
        let last = self.carried.last();
        last.map_or(Rate::ZERO, |(at, sum)| Bytes::new(*sum).per(*at - HostInstant::default()))
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Published => f.pad("biscay-published"),
            Self::Named(choice) => f.pad(&choice.to_string()),
            Self::Oracle => f.pad("oracle"),
            Self::Advised(_) => f.pad("advice"),
            Self::RttBuffer => f.pad("rtt-buffer"),
            Self::Constant => f.pad("fixed-half"),
            Self::Reference(reference) => reference.fmt(f),
        }
    }
}
