//! The syntax of a table of KPIs from messages, and how they are read.

use sounding_diag::layout::Item;
use sounding_rrc::facts::{Event, Facts, Known, Place};

/// Takes a value and which of the message's it is.
pub(crate) type Give<'g> = dyn FnMut(Item, f64) + 'g;

/// The KPIs of one record's messages, a line for each: name, unit, range, the specification's name
/// of the message or member, how it is read, section, and description.
macro_rules! facts {
    ($($(#[$doc:meta])* $table:ident = $code:literal { $(
        $name:literal $unit:ident $least:literal..=$most:literal
        $member:literal [$($reading:tt)+] $origin:literal $what:literal;
    )* })*) => { $(
        $(#[$doc])*
        pub(super) const $table: &[$crate::registry::NamedKpi] = &[$(
            $crate::registry::NamedKpi {
                name: $name,
                unit: $crate::registry::Unit::$unit,
                least: { const LEAST: i64 = $least; LEAST as f64 },
                most: { const MOST: i64 = $most; MOST as f64 },
                what: $what,
                origin: $origin,
                code: sounding_diag::LogCode::new($code),
                source: $crate::registry::Source::Fact {
                    member: $member,
                    read: $crate::registry::fact::reading!($($reading)+),
                },
            },
        )*];
    )* };
}

/// * `event A | B`: 1 for each message that does one of these;
/// * `by FUNCTION`: the result of the function;
/// * `SCOPE KIND(it) => VALUE`: a value for each fact of that kind about cells of the scope;
/// * `SCOPE KIND(it) each VALUES`: a value for each of the entries of such a fact.
macro_rules! reading {
    (event $($event:ident)|+) => {
        |facts, give| {
            $crate::registry::fact::of_event(
                facts,
                |event| matches!(event, $(sounding_rrc::facts::Event::$event)|+).then_some(1.0),
                give,
            )
        }
    };
    (by $function:expr) => {
        $function
    };
    ($scope:ident $kind:ident($it:pat) => $value:expr) => {
        |facts, give| {
            let facts = facts.facts.iter().filter(|fact| $scope(&fact.place));
            let found = facts.filter_map(|fact| match &fact.known {
                sounding_rrc::facts::Known::$kind($it) => Some($value),
                _ => None,
            });
            for (number, value) in found.enumerate() {
                let value: Option<f64> = value;
                if let Some(value) = value {
                    give(sounding_diag::layout::Item::default().within(number), value);
                }
            }
        }
    };
    ($scope:ident $kind:ident($it:pat) each $values:expr) => {
        |facts, give| {
            let facts = facts.facts.iter().filter(|fact| $scope(&fact.place));
            let found = facts.filter_map(|fact| match &fact.known {
                sounding_rrc::facts::Known::$kind($it) => Some($values),
                _ => None,
            });
            for (number, values) in found.enumerate() {
                let item = sounding_diag::layout::Item::default().within(number);
                for (entry, value) in values.enumerate() {
                    let value: Option<f64> = value;
                    if let Some(value) = value {
                        give(item.within(entry), value);
                    }
                }
            }
        }
    };
}

pub(super) use {facts, reading};

/// The value of the message's event.
pub(super) fn of_event(facts: &Facts, worth: fn(Event) -> Option<f64>, give: &mut Give<'_>) {
    if let Some(value) = facts.event.and_then(worth) {
        give(Item::default(), value);
    }
}

/// The state that an event leaves the connection in, where it does so for LTE and NR alike: 0 idle,
/// 1 connected, 2 suspended or inactive.
pub(super) fn state_of(event: Event) -> Option<f64> {
    match event {
        // If a device could not reestablish its connection, only its request for a new one shows
        // that.
        Event::Request | Event::Release | Event::ReestablishmentReject => Some(0.0),
        Event::Setup
        | Event::SetupComplete
        | Event::ReestablishmentRequest
        | Event::Reestablishment
        | Event::ReestablishmentComplete
        | Event::Resume
        | Event::ResumeComplete
        | Event::SecurityMode => Some(1.0),
        Event::Suspend | Event::ResumeRequest => Some(2.0),
        Event::Paging
        | Event::Reject
        | Event::Reconfiguration
        | Event::ReconfigurationComplete
        | Event::Handover
        | Event::MeasurementReport
        | Event::SecondaryFailure => None,
    }
}

/// A number that is there.
pub(super) fn some(number: impl Into<f64>) -> Option<f64> {
    Some(number.into())
}

/// A number that may be missing.
pub(super) fn maybe(number: Option<impl Into<f64>>) -> Option<f64> {
    number.map(Into::into)
}

/// A time that may be set to never, which is 0: no timer of the specifications is that short.
pub(super) fn or_never(number: Option<impl Into<f64>>) -> Option<f64> {
    Some(number.map_or(0.0, Into::into))
}

/// The index of each added secondary cell, which is beside the facts about the cell.
pub(super) fn scells_added(facts: &Facts, scope: fn(&Place) -> bool, give: &mut Give<'_>) {
    let facts = facts.facts.iter().filter(|fact| scope(&fact.place));
    let added = facts.filter(|fact| matches!(fact.known, Known::ScellAdded(_)));
    for (number, index) in added.filter_map(|fact| fact.place.scell).enumerate() {
        give(Item::default().within(number), index.into());
    }
}
