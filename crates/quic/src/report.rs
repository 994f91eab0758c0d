//! An estimate on its way to the sender: a separate datagram (RFC 9221) on the connection that it
//! is about.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------------------------------------------------------+
//! |                     "SNDG", to tell it apart                  |
//! +---------------+---------------+---------------+---------------+
//! |  version = 1  |   direction   |     bound     |     state     |
//! +---------------+---------------+---------------+---------------+
//! |     source    |   own blocks  |  idle blocks  |   cell's rate |
//! +---------------+---------------+---------------+---------------+
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
//! All numbers are big-endian; direction, bound, state and source are places in their `ALL`. The
//! fair share, its users and its carriers are zero where they are not known, and absent in reports
//! that end with the validity, as the first ones did. Own and idle blocks of the device's cells are
//! one more than the part of all blocks in units of 1/250, rounded down; zero is unknown. The rate
//! of all blocks is in 128ths of the fair share times its users; zero is unknown. Earlier versions
//! write zeros in these three, and ignore them. The radio's own delays may follow (`delays.rs`);
//! other bytes are left for later versions and ignored. PBE-CC feeds its capacity back as the time
//! between two packets in 32 bits (§5), which in whole milliseconds is none above 12 Mbit/s: here
//! it is a rate.

use std::ops::Range;
use std::time::Duration;

use sounding_kpi::Direction;
use sounding_link::{Bound, CellUse, FairShare, LinkEstimate, Source, State};
use sounding_units::{HostInstant, Rate};

use crate::arrivals::is_times;
use crate::error::{LEAST, ReportError, VERSION};
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
    pub(super) const OWN: usize = 9;
    pub(super) const IDLE: usize = 10;
    pub(super) const WHOLE: usize = 11;
    pub(super) const SEQUENCE: Range<usize> = 12..16;
    pub(super) const RATE: Range<usize> = 16..24;
    pub(super) const AGE: Range<usize> = 24..28;
    pub(super) const VALIDITY: Range<usize> = 28..32;
    pub(super) const FAIR: Range<usize> = 32..40;
    pub(super) const USERS: Range<usize> = 40..42;
    pub(super) const CARRIERS: Range<usize> = 42..44;
}

const MAGIC: [u8; 4] = *b"SNDG";

/// The longest validity of a report, so that a peer that reports "for ever" and falls silent does
/// no more harm than one that lives. Chosen: five times the validity of an estimate from a modem.
const MAX_VALIDITY: Duration = Duration::from_secs(1);

/// Unit of a part of the blocks, in thousandths, and how many are all.
const UNIT: u16 = 4;
const EACH: u16 = 250;
/// Units of the cells' rate in the fair share times its users.
const WHOLE_UNITS: u128 = 128;

/// No radio carries more: 100 Gbit/s.
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();

/// An estimate and its number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Counts the reports of a connection, so that an overtaken one is recognised as old.
    pub sequence: u32,
    /// The link's rate; its age is that when it was sent. The backlog is not sent. Of users or
    /// carriers, 65535 means that or more.
    pub estimate: LinkEstimate,
}

impl Report {
    /// Bytes of a report.
    pub const LENGTH: usize = 44;
    /// And of one without a fair share.
    pub const LEAST: usize = LEAST;

    /// The report of this number.
    pub const fn new(sequence: u32, estimate: LinkEstimate) -> Self {
        Self { sequence, estimate }
    }

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
            if let Some(cell) = self.estimate.cell {
                let part = |permille: u16| (permille / UNIT).min(EACH) as u8 + 1;
                let all = u128::from(rate) * u128::from(fair.users.max(1));
                let whole = u128::from(cell.rate.bytes_per_sec()) * WHOLE_UNITS / all;
                bytes[field::OWN] = part(cell.own);
                bytes[field::IDLE] = part(cell.idle);
                bytes[field::WHOLE] = whole.clamp(1, u8::MAX.into()) as u8;
            }
        }
        bytes
    }

    /// What a datagram says.
    ///
    /// # Errors
    ///
    /// [`ReportError`] if the datagram is no report, is cut short, has another version, or has a
    /// value that means nothing.
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
        let direction = meaning(bytes, field::DIRECTION, Direction::ALL)?;
        let bound = meaning(bytes, field::BOUND, Bound::ALL)?;
        let estimate = LinkEstimate::new(direction, rate, bound)
            .with_age(Duration::from_micros(number(field::AGE)))
            .with_valid_for(Duration::from_micros(number(field::VALIDITY)).min(MAX_VALIDITY))
            .with_state(meaning(bytes, field::STATE, State::ALL)?)
            .with_source(meaning(bytes, field::CAUSE, Source::ALL)?)
            .with_fair(fair)
            .with_cell(fair.and_then(|fair| cell_use(bytes, fair)));
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
    Ok(is_known.then_some(FairShare::new(rate, users, carriers)))
}

/// Who has the cells' blocks, if all of it is known.
fn cell_use(bytes: &[u8], fair: FairShare) -> Option<CellUse> {
    let part = |at: usize| u16::from(bytes[at]).checked_sub(1).map(|part| part * UNIT);
    let whole = u128::from(bytes[field::WHOLE]);
    let all = u128::from(fair.rate.bytes_per_sec()) * u128::from(fair.users);
    let rate = u64::try_from(all * whole / WHOLE_UNITS).unwrap_or(MAX_RATE).min(MAX_RATE);
    let (own, idle) = (part(field::OWN)?, part(field::IDLE)?);
    (whole > 0).then(|| CellUse::new(Rate::from_bytes_per_sec(rate), own, idle))
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

/// The report in a datagram, if it is about the link that the peer receives over.
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
#[non_exhaustive]
pub struct Counts {
    /// Reports that were used.
    pub taken: u64,
    /// Reports that later ones overtook.
    pub late: u64,
    /// Datagrams that are no reports, or none that can be read.
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

    /// Takes a datagram that arrived at `now` and was `on_its_way` for about so long: half a
    /// smallest RTT, if nothing better is known. Its estimate is so much older.
    ///
    /// # Errors
    ///
    /// [`ReportError`] as [`Report::parse`], and [`ReportError::Uplink`] if the peer reports its
    /// uplink. It is counted, and the handle does not change.
    pub fn handle_datagram(
        &mut self,
        now: HostInstant,
        on_its_way: Duration,
        datagram: &[u8],
    ) -> Result<(), ReportError> {
        if let Some(times) = self.times.as_ref().filter(|_| is_times(datagram)) {
            let taken = times.handle_datagram(now, datagram);
            match taken {
                Ok(()) => self.counts.times += 1,
                Err(_) => self.counts.refused += 1,
            }
            return taken;
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
        let fair = fair.map(|fair| fair.with_rate(limited(fair.rate)));
        let cell = report.estimate.cell.map(|cell| cell.with_rate(limited(cell.rate)));
        let estimate = report.estimate.with_age(age).with_rate(rate);
        self.handle.set_report(estimate.with_fair(fair).with_cell(cell), now);
        if let Some(delays) = Delays::parse(datagram) {
            self.handle.set_peer_delays(&delays.arrived(now));
        }
        Ok(())
    }

    /// What became of datagrams so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests;
