use alloc::boxed::Box;
use core::time::Duration;

use sounding_estimate::Source;

use crate::parameter::Values;

use crate::{Controller, Fallback, Law, Start};

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

    /// A flow under it whose estimates come every `every`, or zero for every few milliseconds: estimates may be that
    /// much older, and silence counts that much later.
    pub fn make(self, start: &Start, every: Duration) -> Box<dyn Controller> {
        self.law.make(self.fallback, start, every, &Values::default())
    }
}

/// How far back the estimates of these controllers' flows should look; `None` for an estimator's default. It is the
/// [`Law::span`] of all that use estimates, if they agree.
pub fn span<'a>(controllers: impl IntoIterator<Item = &'a str>) -> Option<Duration> {
    agreed(controllers, Law::span)
}

/// The method of estimation for flows of these controllers, where that is not an estimator's own default: [`Law::method`] of all
/// their laws, where they agree.
pub fn method<'a>(controllers: impl IntoIterator<Item = &'a str>) -> Option<Source> {
    agreed(controllers, Law::method)
}

/// How often a device reports to flows of these controllers, where that is not as often as it has an estimate:
/// [`Law::reports_every`] of all their laws, where they agree.
pub fn reports_every<'a>(controllers: impl IntoIterator<Item = &'a str>) -> Option<Duration> {
    agreed(controllers, Law::reports_every)
}

fn agreed<'a, T: PartialEq>(
    controllers: impl IntoIterator<Item = &'a str>,
    wish: fn(Law) -> Option<T>,
) -> Option<T> {
    let known = controllers.into_iter().filter_map(RadioController::by_name);
    let mut wishes = known.map(|known| wish(known.law));
    let first = wishes.next()??;
    wishes.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sounding;

    #[test]
    fn estimates_have_the_span_of_the_controllers_that_use_them() {
        for told in [&["cubic", "sounding"][..], &["sounding", "sounding-cubic"]] {
            assert_eq!(span(told.iter().copied()), Some(sounding::SPAN), "{told:?}");
        }
        for told in [&["cubic"][..], &["biscay"], &["sounding", "biscay-cubic"], &[]] {
            assert_eq!(span(told.iter().copied()), None, "{told:?}");
        }
    }
}
