use std::ffi::c_char;

use sounding_feed::Line;
use sounding_units::HostInstant;

use crate::sample::{NAME_MAX, STALE, UNIT_MAX, padded};

/// `OD_HAS_ADVICE`.
pub(crate) const ADVICE: u32 = 1;
/// `OD_HAS_RATE`.
pub(crate) const RATE: u32 = 2;
/// `OD_HAS_AGE`.
pub(crate) const AGE: u32 = 4;
/// `OD_HAS_BACKLOG`.
pub(crate) const BACKLOG: u32 = 8;
/// `OD_HAS_USERS`.
pub(crate) const USERS: u32 = 16;

/// `struct od_line`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Counts the lines of this modem and direction.
    pub number: u64,
    /// What a sender should take now.
    pub advice_bits_per_sec: u64,
    /// The rate that the radio granted.
    pub rate_bits_per_sec: u64,
    /// What waits in the modem.
    pub backlog_bytes: u64,
    /// Time since the newest record behind the rate came.
    pub age_ns: u64,
    /// When the line was made, by CLOCK_MONOTONIC.
    pub made_ns: u64,
    /// Time since then.
    pub line_age_ns: u64,
    /// The line's age from which on it is stale.
    pub valid_for_ns: u64,
    /// Users of the cell with data.
    pub users: u32,
    /// `OD_HAS_*` of what is known. Other numbers are 0.
    pub has: u32,
    /// `OD_STALE` or 0.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
    /// The modem's name.
    pub modem: [c_char; NAME_MAX],
    /// Why the advice is what it is; empty if there is none.
    pub cause: [c_char; UNIT_MAX],
    /// `capacity` or `floor`; empty if unknown.
    pub bound: [c_char; UNIT_MAX],
    /// State of the link; empty if unknown.
    pub state: [c_char; UNIT_MAX],
    /// The method behind the rate; empty if unknown.
    pub source: [c_char; UNIT_MAX],
}

impl Link {
    pub(crate) fn of(line: &Line, now: HostInstant) -> Self {
        let since = now - HostInstant::from_nanos(line.made_at_ns);
        let line_age_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let ns = |ms: f64| (ms * 1e6) as u64;
        let is_valid = line.is_valid(now);
        let mut has = 0;
        let mut known = |bit: u32, value: Option<u64>| {
            let value = value.filter(|_| is_valid);
            has |= if value.is_some() { bit } else { 0 };
            value.unwrap_or(0)
        };
        let advice_bits_per_sec = known(ADVICE, line.advice_bits_per_sec);
        let rate_bits_per_sec = known(RATE, line.rate_bits_per_sec);
        let age_ns = known(AGE, line.age_ms.map(|age| ns(age).saturating_add(line_age_ns)));
        let backlog_bytes = known(BACKLOG, line.backlog_bytes);
        let users = known(USERS, line.users.map(u64::from)) as u32;
        let word = |word: &Option<String>| {
            padded(word.as_deref().filter(|_| is_valid).unwrap_or_default())
        };
        Self {
            number: line.number,
            advice_bits_per_sec,
            rate_bits_per_sec,
            backlog_bytes,
            age_ns,
            made_ns: line.made_at_ns,
            line_age_ns,
            valid_for_ns: ns(line.valid_for_ms),
            users,
            has,
            flags: if is_valid { 0 } else { STALE },
            reserved: 0,
            modem: padded(&line.modem),
            cause: word(&line.advice_cause),
            bound: word(&line.bound),
            state: word(&line.state),
            source: word(&line.source),
        }
    }
}
