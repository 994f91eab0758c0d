use alloc::boxed::Box;
use core::time::Duration;

use crate::biscay::{BiscayController, Config};
use crate::parameter::Values;
use crate::sounding::{self, Sounding};
use crate::{Controller, Fallback, Start};

/// What a controller that goes by a modem makes of what it is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// BISCAY's, as published ([`crate::biscay`]).
    #[default]
    Biscay,
    /// This project's own ([`crate::sounding`]).
    Sounding,
}

impl Law {
    /// What it is called, also where nothing else is said.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Biscay => "biscay",
            Self::Sounding => "sounding",
        }
    }

    /// How far back the rate should look that it is told of, where that is not what an estimator has by itself, the 100 ms of BISCAY's
    /// paper.
    pub const fn span(self) -> Option<Duration> {
        match self {
            Self::Biscay => None,
            Self::Sounding => Some(sounding::SPAN),
        }
    }
}

/// A controller that goes by what a modem says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioController {
    /// What it is called in plans.
    pub name: &'static str,
    /// What drives while it is told.
    pub law: Law,
    /// What drives while it is not.
    pub fallback: Fallback,
}

impl RadioController {
    pub(crate) const BISCAY: Self =
        Self { name: "biscay", law: Law::Biscay, fallback: Fallback::Bbr };
    pub(crate) const BISCAY_CUBIC: Self =
        Self { name: "biscay-cubic", law: Law::Biscay, fallback: Fallback::Cubic };
    pub(crate) const SOUNDING: Self =
        Self { name: "sounding", law: Law::Sounding, fallback: Fallback::Bbr };
    pub(crate) const SOUNDING_CUBIC: Self =
        Self { name: "sounding-cubic", law: Law::Sounding, fallback: Fallback::Cubic };

    /// Every law with everything that it falls back to.
    pub const ALL: [Self; 4] =
        [Self::BISCAY, Self::BISCAY_CUBIC, Self::SOUNDING, Self::SOUNDING_CUBIC];

    /// The one of this name; other controllers need no modem.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name == name)
    }

    /// A flow under it that hears of its link only so often, zero where that is every few milliseconds: it believes what is as much
    /// older, and waits as much longer until it takes silence for one.
    pub fn make(self, start: &Start, every: Duration) -> Box<dyn Controller> {
        self.tuned(start, every, &Values::default())
    }

    pub(crate) fn tuned(
        self,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Box<dyn Controller> {
        match self.law {
            Law::Biscay => {
                let usual = Config::of(values);
                let config = Config {
                    max_age: usual.max_age + every,
                    max_silence: usual.max_silence + every,
                    ..usual
                };
                Box::new(BiscayController::falling_back_to(self.fallback, config, start))
            }
            Law::Sounding => Box::new(Sounding::tuned(self.fallback, start, every, values)),
        }
    }
}

/// How far back the rate should look that flows of these controllers are told of, where that is not what an estimator has by
/// itself: [`Law::span`] of all who listen, where they agree.
pub fn span<'a>(controllers: impl IntoIterator<Item = &'a str>) -> Option<Duration> {
    let mut spans =
        controllers.into_iter().filter_map(RadioController::by_name).map(|known| known.law.span());
    let first = spans.next()??;
    spans.all(|span| span == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_look_back_as_far_as_those_want_who_are_told() {
        for told in [&["cubic", "sounding"][..], &["sounding", "sounding-cubic"]] {
            assert_eq!(span(told.iter().copied()), Some(sounding::SPAN), "{told:?}");
        }
        for told in [&["cubic"][..], &["biscay"], &["sounding", "biscay-cubic"], &[]] {
            assert_eq!(span(told.iter().copied()), None, "{told:?}");
        }
    }
}
