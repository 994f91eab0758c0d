use std::ffi::c_char;

use sounding_estimate::Direction;
use sounding_estimate::delay::RanDelay;
use sounding_feed::HeardDelay;
use sounding_units::ModemInstant;

use crate::sample::{NAME_MAX, UNIT_MAX, padded};

/// `struct od_delay`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Counts the events of the capture, or of a modem's direction in a feed.
    pub number: u64,
    /// The event's begin by the modem's clock, in nanoseconds since 1970; 0 from a feed.
    pub from_modem_unix_ns: u64,
    /// Its end by the modem's clock; 0 from a feed.
    pub to_modem_unix_ns: u64,
    /// Its begin in nanoseconds of CLOCK_MONOTONIC; 0 in a capture.
    pub from_ns: u64,
    /// Its end by the same clock; 0 in a capture.
    pub to_ns: u64,
    /// Its end since the first record of the capture; 0 from a feed.
    pub time_ns: u64,
    /// The part of the time between begin and end that no queue made.
    pub amount_ns: u64,
    /// Time from the end until the record came that shows it.
    pub age_ns: u64,
    /// A code: `OD_UPLINK` or `OD_DOWNLINK`.
    pub direction: i32,
    /// Zero.
    pub reserved: u32,
    /// The modem's name; empty in a capture.
    pub modem: [c_char; NAME_MAX],
    /// The cause.
    pub kind: [c_char; UNIT_MAX],
    /// How it is known.
    pub confidence: [c_char; UNIT_MAX],
}

/// The number of a direction in C.
pub(crate) const fn direction(way: Direction) -> i32 {
    match way {
        Direction::Uplink => 0,
        Direction::Downlink => 1,
    }
}

impl Delay {
    /// An event of a capture that began then. A capture's host time is the modem's.
    pub(crate) fn of_capture(number: u64, began: Option<ModemInstant>, event: &RanDelay) -> Self {
        let modem = |at: u64| ModemInstant::from_nanos(at);
        let to = modem(event.to.as_nanos());
        let ns = |span: std::time::Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self {
            number,
            from_modem_unix_ns: modem(event.from.as_nanos()).unix_nanos(),
            to_modem_unix_ns: to.unix_nanos(),
            from_ns: 0,
            to_ns: 0,
            time_ns: ns(to - began.unwrap_or(to)),
            amount_ns: ns(event.amount),
            age_ns: ns(event.age),
            direction: direction(event.direction),
            reserved: 0,
            modem: [0; NAME_MAX],
            kind: padded(&event.kind.to_string()),
            confidence: padded(&event.confidence.to_string()),
        }
    }
    /// An event of a feed.
    pub(crate) fn of_feed(heard: &HeardDelay) -> Self {
        let event = &heard.event;
        Self {
            number: heard.number,
            from_modem_unix_ns: 0,
            to_modem_unix_ns: 0,
            from_ns: event.from_ns,
            to_ns: event.to_ns,
            time_ns: 0,
            amount_ns: event.amount_ns,
            age_ns: event.age_ns,
            direction: direction(heard.direction),
            reserved: 0,
            modem: padded(&heard.modem),
            kind: padded(&event.kind),
            confidence: padded(&event.confidence),
        }
    }
}
