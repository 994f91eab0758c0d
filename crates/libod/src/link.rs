use std::ffi::c_char;
use std::time::Duration;

use sounding_feed::Line;
use sounding_link::Row;
use sounding_units::{Bytes, HostInstant, Rate};

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
/// `OD_HAS_GRANTED`.
pub(crate) const GRANTED: u32 = 32;
/// `OD_HAS_FAIR_SHARE`.
pub(crate) const FAIR_SHARE: u32 = 64;

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
    /// When the line was made, by CLOCK_MONOTONIC; 0 in a capture.
    pub made_ns: u64,
    /// Time since then.
    pub line_age_ns: u64,
    /// The line's age from which on it is stale.
    pub valid_for_ns: u64,
    /// End of the row by the modem's clock, in nanoseconds since 1970; 0 from a feed, as are the
    /// next three.
    pub modem_unix_ns: u64,
    /// End of the row since the first record.
    pub time_ns: u64,
    /// Length of the row.
    pub span_ns: u64,
    /// Bytes of the blocks that were granted in the row.
    pub granted_bytes: u64,
    /// The device's part of an equal division among the users; 0 from a feed.
    pub fair_share_bits_per_sec: u64,
    /// Users of the cell with data.
    pub users: u32,
    /// Carriers of the fair share; 0 from a feed.
    pub carriers: u32,
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
            modem_unix_ns: 0,
            time_ns: 0,
            span_ns: 0,
            granted_bytes: 0,
            fair_share_bits_per_sec: 0,
            users,
            carriers: 0,
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
    /// A row of a capture with one direction.
    pub(crate) fn of_row(number: u64, Row { bin, ways }: &Row) -> Option<Self> {
        let way = ways.first()?;
        let estimate = &way.estimate;
        let ns = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let mut has = 0;
        let mut known = |bit: u32, value: Option<u64>| {
            has |= if value.is_some() { bit } else { 0 };
            value.unwrap_or(0)
        };
        let fair = estimate.known_fair();
        let rate = estimate.known_rate().map(Rate::bits_per_sec);
        let age = Some(estimate.age).filter(|age| *age != Duration::MAX);
        let fair_share = fair.map(|fair| fair.rate.bits_per_sec());
        Some(Self {
            number,
            advice_bits_per_sec: 0,
            rate_bits_per_sec: known(RATE, rate),
            backlog_bytes: known(BACKLOG, estimate.backlog.map(Bytes::count)),
            age_ns: known(AGE, age.map(ns)),
            made_ns: 0,
            line_age_ns: 0,
            valid_for_ns: 0,
            modem_unix_ns: bin.end.unix_nanos(),
            time_ns: ns(bin.elapsed),
            span_ns: ns(bin.span),
            granted_bytes: known(GRANTED, way.granted.map(Bytes::count)),
            fair_share_bits_per_sec: known(FAIR_SHARE, fair_share),
            users: known(USERS, fair.map(|fair| fair.users.into())) as u32,
            carriers: fair.map_or(0, |fair| fair.carriers),
            has,
            flags: 0,
            reserved: 0,
            modem: [0; NAME_MAX],
            cause: [0; UNIT_MAX],
            bound: padded(&estimate.known_bound().map_or(String::new(), |bound| bound.to_string())),
            state: padded(&estimate.known_state().map_or(String::new(), |state| state.to_string())),
            source: padded(&estimate.source.to_string()),
        })
    }
}
