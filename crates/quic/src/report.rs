//! An estimate on its way to the sender: a separate datagram (RFC 9221) on the connection that it is about.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------------------------------------------------------+
//! |                     "SNDG", to tell it apart                  |
//! +---------------+---------------+---------------+---------------+
//! |  version = 1  |   direction   |     bound     |     state     |
//! +---------------+---------------+---------------+---------------+
//! |     source     |            zero, ignored by readers           |
//! +---------------+-----------------------------------------------+
//! |             sequence, of any beginning, wraps around          |
//! +---------------------------------------------------------------+
//! |                                                               |
//! +                      rate, bytes a second                     +
//! |                                                               |
//! +---------------------------------------------------------------+
//! |                  age when it was sent, us                     |
//! +---------------------------------------------------------------+
//! |                       validity, us                            |
//! +---------------------------------------------------------------+
//! |                                                               |
//! +                   fair share, bytes a second                  +
//! |                                                               |
//! +-------------------------------+-------------------------------+
//! |             users             |           carriers            |
//! +-------------------------------+-------------------------------+
//! ```
//!
//! All numbers are big-endian; direction, bound, state and source are places in their `ALL`. The fair share, its users and its
//! carriers are zero where they are not known, and absent in reports that end with the validity, as the first ones did. What
//! follows may be the radio's own delays (`delays.rs`); anything else is left for later and ignored. PBE-CC feeds its capacity back as the time between two packets in 32 bits (§5), which
//! in whole milliseconds is none above 12 Mbit/s: here it is a rate.

use std::ops::Range;
use std::time::Duration;

use sounding_kpi::Direction;
use sounding_link::{Bound, FairShare, LinkEstimate, Source, State};
use sounding_units::{HostInstant, Rate};

use crate::arrivals::is_times;
use crate::{EstimateHandle, PeerTimes};

mod delays;

use delays::Delays;
pub use delays::Reporter;

mod field {
    use super::Range;

    pub(super) const MAGIC: Range<usize> = 0..4;
    pub(super) const VERSION: usize = 4;
    pub(super) const DIRECTION: usize = 5;
    pub(super) const BOUND: usize = 6;
    pub(super) const STATE: usize = 7;
    pub(super) const CAUSE: usize = 8;
    pub(super) const SEQUENCE: Range<usize> = 12..16;
    pub(super) const RATE: Range<usize> = 16..24;
    pub(super) const AGE: Range<usize> = 24..28;
    pub(super) const VALIDITY: Range<usize> = 28..32;
    pub(super) const FAIR: Range<usize> = 32..40;
    pub(super) const USERS: Range<usize> = 40..42;
    pub(super) const CARRIERS: Range<usize> = 42..44;
}

const MAGIC: [u8; 4] = *b"SNDG";
const VERSION: u8 = 1;

/// The longest validity of a report, so that a peer that reports "for ever" and falls silent does no more harm than one
/// that lives. Chosen: five times the validity of an estimate from a modem.
const MAX_VALIDITY: Duration = Duration::from_secs(1);

/// No radio carries more: 100 Gbit/s.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();

/// An estimate and its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Counts the reports of a connection, so that an overtaken one is recognised as old.
    pub sequence: u32,
    /// The link's rate; its age is that when it was sent. The backlog is not sent. Of users or carriers, 65535 means
    /// that or more.
    pub estimate: LinkEstimate,
}

/// Why a datagram is no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// It is not one of ours.
    #[error("a datagram of {length} bytes that does not begin as a report does")]
    Other {
        /// Its length.
        length: usize,
    },
    /// It is cut off.
    #[error("a report of {length} bytes, which has {} at least", Report::LEAST)]
    Short {
        /// Its length.
        length: usize,
    },
    /// A list of receive times is cut off.
    #[error("receive times in a datagram of {length} bytes, which are more")]
    Cut {
        /// Its length.
        length: usize,
    },
    /// It is of a later version.
    #[error("a report of version {version}, and only {VERSION} is known here")]
    Version {
        /// Which.
        version: u8,
    },
    /// A field has a value that means nothing.
    #[error("{value} in byte {offset} of a report means nothing")]
    Value {
        /// Where.
        offset: usize,
        /// What.
        value: u8,
    },
    /// It is of the link from the peer, and what the peer is sent takes the one to it.
    #[error("a report of an uplink, and a peer has to report its downlink")]
    Uplink,
    /// It says more than any radio carries.
    #[error("a report of {bytes_per_sec} bytes a second, more than any radio carries")]
    Absurd {
        /// What it says.
        bytes_per_sec: u64,
    },
}

impl Report {
    /// Bytes of a report.
    pub const LENGTH: usize = 44;
    /// And of one without a fair share.
    pub const LEAST: usize = 32;

    /// The bytes of a datagram.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        let LinkEstimate { direction, rate, bound, age, valid_for, state, source, fair, .. } =
            self.estimate;
        let mut bytes = [0; Self::LENGTH];
        bytes[field::MAGIC].copy_from_slice(&MAGIC);
        bytes[field::VERSION] = VERSION;
        bytes[field::DIRECTION] = code(Direction::ALL, direction);
        bytes[field::BOUND] = code(Bound::ALL, bound);
        bytes[field::STATE] = code(State::ALL, state);
        bytes[field::CAUSE] = code(Source::ALL, source);
        bytes[field::SEQUENCE].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[field::RATE].copy_from_slice(&rate.bytes_per_sec().to_be_bytes());
        bytes[field::AGE].copy_from_slice(&micros(age).to_be_bytes());
        bytes[field::VALIDITY].copy_from_slice(&micros(valid_for).to_be_bytes());
        if let Some(fair) = fair {
            // Zero is an unknown one.
            let rate = fair.rate.bytes_per_sec().max(1);
            let short = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
            bytes[field::FAIR].copy_from_slice(&rate.to_be_bytes());
            bytes[field::USERS].copy_from_slice(&short(fair.users).to_be_bytes());
            bytes[field::CARRIERS].copy_from_slice(&short(fair.carriers).to_be_bytes());
        }
        bytes
    }

    /// What a datagram says.
    pub fn parse(datagram: &[u8]) -> Result<Self, ReportError> {
        let length = datagram.len();
        if !datagram.starts_with(&MAGIC) {
            return Err(ReportError::Other { length });
        }
        let Some(bytes) = datagram.first_chunk::<{ Self::LEAST }>() else {
            return Err(ReportError::Short { length });
        };
        if bytes[field::VERSION] != VERSION {
            return Err(ReportError::Version { version: bytes[field::VERSION] });
        }
        let number = |range| number(bytes, range);
        let rate = plausible(number(field::RATE))?;
        let fair = match datagram.first_chunk::<{ Self::LENGTH }>() {
            Some(bytes) => fair_share(bytes)?,
            None => None,
        };
        let estimate = LinkEstimate {
            direction: meaning(bytes, field::DIRECTION, Direction::ALL)?,
            rate,
            bound: meaning(bytes, field::BOUND, Bound::ALL)?,
            age: Duration::from_micros(number(field::AGE)),
            valid_for: Duration::from_micros(number(field::VALIDITY)).min(MAX_VALIDITY),
            backlog: None,
            state: meaning(bytes, field::STATE, State::ALL)?,
            source: meaning(bytes, field::CAUSE, Source::ALL)?,
            fair,
        };
        // Four bytes.
        Ok(Self { sequence: number(field::SEQUENCE) as u32, estimate })
    }
}

/// The fair share at the end of a report, if all of one is known.
fn fair_share(bytes: &[u8; Report::LENGTH]) -> Result<Option<FairShare>, ReportError> {
    let rate = plausible(number(bytes, field::FAIR))?;
    // Two bytes each.
    let [users, carriers] =
        [field::USERS, field::CARRIERS].map(|range| number(bytes, range) as u32);
    let is_known = rate > Rate::ZERO && users > 0 && carriers > 0;
    Ok(is_known.then_some(FairShare { rate, users, carriers }))
}

fn number(bytes: &[u8], range: Range<usize>) -> u64 {
    bytes[range].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn plausible(bytes_per_sec: u64) -> Result<Rate, ReportError> {
    if bytes_per_sec > MAX_RATE {
        return Err(ReportError::Absurd { bytes_per_sec });
    }
    Ok(Rate::from_bytes_per_sec(bytes_per_sec))
}

fn code<T: PartialEq>(all: &[T], one: T) -> u8 {
    // Every value is in its list, which a test holds them to.
    all.iter().position(|known| *known == one).unwrap_or(0) as u8
}

fn meaning<T: Copy>(bytes: &[u8], offset: usize, all: &[T]) -> Result<T, ReportError> {
    let value = bytes[offset];
    all.get(usize::from(value)).copied().ok_or(ReportError::Value { offset, value })
}

fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}

/// The report in a datagram, if it is of the link that the peer receives over.
fn downlink(datagram: &[u8]) -> Result<Report, ReportError> {
    let report = Report::parse(datagram)?;
    match report.estimate.direction {
        Direction::Downlink => Ok(report),
        Direction::Uplink => Err(ReportError::Uplink),
    }
}

/// Where reports of one connection arrive: sets a handle by them.
#[derive(Debug)]
pub struct Intake {
    handle: EstimateHandle,
    most: Rate,
    newest: Option<u32>,
    counts: Counts,
    times: Option<PeerTimes>,
}

/// What became of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Used.
    pub taken: u64,
    /// Overtaken by later ones.
    pub late: u64,
    /// No reports, or none that can be read.
    pub refused: u64,
    /// Receive times, of a connection that takes them.
    pub times: u64,
}

impl Intake {
    /// Sets this handle.
    pub fn new(handle: EstimateHandle) -> Self {
        let most = Rate::from_bytes_per_sec(MAX_RATE);
        Self { handle, most, newest: None, counts: Counts::default(), times: None }
    }

    /// The upper limit on a peer's reported rate. Without it the limit is the fastest radio.
    #[must_use]
    pub fn at_most(self, rate: Rate) -> Self {
        Self { most: rate, ..self }
    }

    /// Takes receive times too, for the connection's controller.
    #[must_use]
    pub fn timing(self, times: PeerTimes) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Takes a datagram that arrived at `now` and was `on_its_way` for about so long: half a smallest RTT, if nothing
    /// better is known. Its estimate is so much older.
    pub fn handle_datagram(
        &mut self,
        now: HostInstant,
        on_its_way: Duration,
        datagram: &[u8],
    ) -> Result<(), ReportError> {
        if let Some(times) = self.times.as_ref().filter(|_| is_times(datagram)) {
            let taken = times.handle_datagram(now, datagram);
            return match taken {
                Ok(()) => Ok(self.counts.times += 1),
                Err(_) => taken.inspect_err(|_| self.counts.refused += 1),
            };
        }
        let report = downlink(datagram).inspect_err(|_| self.counts.refused += 1)?;
        let ahead = |newest: u32| report.sequence.wrapping_sub(newest).cast_signed() > 0;
        if !self.newest.is_none_or(ahead) {
            self.counts.late += 1;
            return Ok(());
        }
        self.newest = Some(report.sequence);
        self.counts.taken += 1;
        let age = report.estimate.age.saturating_add(on_its_way);
        let limited = |rate: Rate| rate.min(self.most);
        let rate = limited(report.estimate.rate);
        let fair = report.estimate.fair;
        let fair = fair.map(|fair| FairShare { rate: limited(fair.rate), ..fair });
        self.handle.set(LinkEstimate { age, rate, fair, ..report.estimate }, now);
        if let Some(delays) = Delays::parse(datagram) {
            delays.set(&self.handle, now, on_its_way);
        }
        Ok(())
    }

    /// What became of datagrams so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate() -> LinkEstimate {
        LinkEstimate {
            direction: Direction::Downlink,
            rate: Rate::from_bits_per_sec(48_000_000),
            bound: Bound::Floor,
            age: Duration::from_micros(12_345),
            valid_for: Duration::from_millis(200),
            backlog: None,
            state: State::Silent,
            source: Source::Cell,
            fair: Some(FAIR),
        }
    }

    const FAIR: FairShare =
        FairShare { rate: Rate::from_bits_per_sec(16_000_000), users: 3, carriers: 2 };

    fn report(sequence: u32) -> [u8; Report::LENGTH] {
        Report { sequence, estimate: estimate() }.emit()
    }

    #[test]
    fn what_is_sent_is_what_arrives() {
        let sent = Report { sequence: 0xDEAD_BEEF, estimate: estimate() };
        assert_eq!(Report::parse(&sent.emit()), Ok(sent));
        let mut longer = sent.emit().to_vec();
        longer.extend([7; 9]);
        assert_eq!(Report::parse(&longer), Ok(sent));
        let bytes = sent.emit();
        assert_eq!(bytes[..9], *b"SNDG\x01\x01\x01\x03\x04");
        assert_eq!(bytes[16..24], 6_000_000_u64.to_be_bytes());
        assert_eq!(bytes[32..40], 2_000_000_u64.to_be_bytes());
        assert_eq!(bytes[40..], [0, 3, 0, 2]);
    }

    #[test]
    fn a_report_without_a_fair_share_is_read_and_so_is_one_that_ends_within_it() {
        let none = Report { sequence: 7, estimate: LinkEstimate { fair: None, ..estimate() } };
        assert_eq!(none.emit()[Report::LEAST..], [0; 12]);
        let whole = report(7);
        for length in Report::LEAST..Report::LENGTH {
            assert_eq!(Report::parse(&whole[..length]), Ok(none), "{length} bytes");
        }
        // One that is not known whole is none.
        for zeros in [32..40, 40..42, 42..44] {
            let mut bytes = whole;
            bytes[zeros].fill(0);
            assert_eq!(Report::parse(&bytes), Ok(none));
        }
    }

    #[test]
    fn a_fair_share_too_small_or_too_crowded_to_be_written_is_the_nearest_that_is() {
        let fair = FairShare { rate: Rate::ZERO, users: 70_000, carriers: u32::MAX };
        let sent =
            Report { sequence: 0, estimate: LinkEstimate { fair: Some(fair), ..estimate() } };
        let least = Rate::from_bytes_per_sec(1);
        let fair = FairShare { rate: least, users: 65_535, carriers: 65_535 };
        assert_eq!(Report::parse(&sent.emit()).unwrap().estimate.fair, Some(fair));
    }

    #[test]
    fn every_value_has_a_code_of_its_own() {
        for (&direction, &bound) in Direction::ALL.iter().zip(Bound::ALL) {
            for (at, &source) in Source::ALL.iter().enumerate() {
                let state = State::ALL[at % State::ALL.len()];
                let estimate = LinkEstimate { direction, bound, state, source, ..estimate() };
                let sent = Report { sequence: 0, estimate };
                assert_eq!(Report::parse(&sent.emit()), Ok(sent));
            }
        }
    }

    #[test]
    fn what_is_no_report_says_why() {
        let changed = |offset: usize, value: u8| {
            let mut bytes = report(1);
            bytes[offset] = value;
            Report::parse(&bytes).unwrap_err()
        };
        assert_eq!(changed(0, b'X'), ReportError::Other { length: 44 });
        assert_eq!(Report::parse(&report(1)[..31]), Err(ReportError::Short { length: 31 }));
        assert_eq!(changed(4, 2), ReportError::Version { version: 2 });
        for offset in [5, 6, 7, 8] {
            assert_eq!(changed(offset, 9), ReportError::Value { offset, value: 9 });
        }
        for offset in [16, 32] {
            assert!(matches!(changed(offset, 1), ReportError::Absurd { .. }));
        }
    }

    #[test]
    fn no_report_is_used_for_longer_than_a_second() {
        let long = LinkEstimate { valid_for: Duration::from_secs(4000), ..estimate() };
        let parsed = Report::parse(&Report { sequence: 0, estimate: long }.emit()).unwrap();
        assert_eq!(parsed.estimate.valid_for, MAX_VALIDITY);
    }

    #[test]
    fn a_report_that_was_overtaken_is_not_obeyed_and_the_way_counts_as_age() {
        let handle = EstimateHandle::new();
        let mut intake = Intake::new(handle.clone());
        let now = HostInstant::from_nanos(1_000_000_000);
        let way = Duration::from_millis(30);
        for sequence in [u32::MAX - 1, 0, u32::MAX, 0] {
            intake.handle_datagram(now, way, &report(sequence)).unwrap();
        }
        intake.handle_datagram(now, way, b"else").unwrap_err();
        assert_eq!(intake.counts(), Counts { taken: 2, late: 2, refused: 1, times: 0 });
        assert_eq!(handle.estimate(now).unwrap().age, estimate().age + way);
        // Released when no more come.
        assert!(handle.estimate(now).unwrap().is_usable());
        assert!(!handle.estimate(now + Duration::from_millis(200)).unwrap().is_usable());
    }

    #[test]
    fn a_report_of_the_peers_uplink_is_refused() {
        let handle = EstimateHandle::new();
        let mut intake = Intake::new(handle.clone());
        let uplink = LinkEstimate { direction: Direction::Uplink, ..estimate() };
        let datagram = Report { sequence: 1, estimate: uplink }.emit();
        let now = HostInstant::from_nanos(1_000_000_000);
        let refused = intake.handle_datagram(now, Duration::ZERO, &datagram);
        assert_eq!(refused, Err(ReportError::Uplink));
        assert_eq!(intake.counts(), Counts { refused: 1, ..Counts::default() });
        assert_eq!(handle.estimate(now), None);
        // Nor does it make the next one late.
        intake.handle_datagram(now, Duration::ZERO, &report(0)).unwrap();
        assert_eq!(intake.counts().taken, 1);
    }

    #[test]
    fn no_report_is_used_above_the_limit() {
        let handle = EstimateHandle::new();
        let now = HostInstant::from_nanos(1_000_000_000);
        let limits = [(4_000_000, 4_000_000), (20_000_000, 20_000_000), (100_000_000, 48_000_000)];
        for (most, believed) in limits {
            let most = Rate::from_bits_per_sec(most);
            let mut intake = Intake::new(handle.clone()).at_most(most);
            intake.handle_datagram(now, Duration::ZERO, &report(1)).unwrap();
            let estimate = handle.estimate(now).unwrap();
            assert_eq!(estimate.rate, Rate::from_bits_per_sec(believed));
            assert_eq!(estimate.fair, Some(FairShare { rate: FAIR.rate.min(most), ..FAIR }));
        }
    }
}
