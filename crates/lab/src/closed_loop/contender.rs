//! Who sends.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sounding_cc::oracle::{Oracle, Present, Word};
use sounding_cc::{Controller, Make, Start};
use sounding_link::Bound;
use sounding_sim::Port;
use sounding_sim::world::Listening;
use sounding_units::{Bytes, HostInstant};

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// BISCAY as published, which knows no floor: every estimate is taken for all that the link carries.
    Published,
    /// A controller of the registry.
    Named(&'static str),
    /// One that knows what the radio would have sent when, had there always been something waiting.
    Oracle,
    /// One that knows what the radio carries now, or did when word of it set out, and nothing of what comes; and has for so long
    /// waiting there.
    Present(Duration),
}

/// Of `present` without a number. Chosen: on links that stand still it carries about what controllers do with it.
const ROOM: Duration = Duration::from_millis(6);

/// What the oracle is told.
#[derive(Clone, Debug)]
pub(super) struct Knows {
    /// Payload that was sent by when.
    pub(super) carried: Arc<[(HostInstant, u64)]>,
    /// Of how many flows each has an equal part.
    pub(super) flows: u64,
    /// From leaving the sender to being sent by the radio.
    pub(super) lead: Duration,
    /// From the radio to the sender, of what is told.
    pub(super) late: Duration,
}

impl Contender {
    /// The contender of this name: `oracle`, `present`, `present-15ms` with that much room, `biscay-published`, or a controller's.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "oracle" => Some(Self::Oracle),
            "present" => Some(Self::Present(ROOM)),
            "biscay-published" => Some(Self::Published),
            name => match name.strip_prefix("present-").and_then(|rest| rest.strip_suffix("ms")) {
                Some(millis) => millis
                    .parse()
                    .ok()
                    .map(|ms: u16| Self::Present(Duration::from_millis(ms.into()))),
                None => sounding_cc::names().find(|known| *known == name).map(Self::Named),
            },
        }
    }

    /// The names that [`by_name`](Self::by_name) knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ["oracle", "present", "present-15ms", "biscay-published"]
            .into_iter()
            .chain(sounding_cc::names())
    }

    /// How its host listens.
    pub(super) fn listening(self, port: Port) -> Listening {
        let mut listening = Listening::new(port);
        match self {
            Self::Published => listening.estimator.assume = Some(Bound::Capacity),
            Self::Named(name) => listening = listening.told([name]),
            Self::Oracle | Self::Present(_) => {}
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
            Self::Oracle | Self::Present(_) => None,
        };
        move |start| match (named, self) {
            (Some(make), _) => make(start),
            (None, Self::Present(room)) => {
                let word = Word::steady(knows.lead, knows.late, room);
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
            Self::Present(ROOM) => "present",
            Self::Present(room) => return f.pad(&format!("present-{}ms", room.as_millis())),
        })
    }
}
