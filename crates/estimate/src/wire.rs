//! An estimate in eight bytes: what a TCP option carries to a sender (docs/reference/downlink.md).
//! `crates/bpf/src/bpf/common/wire.h` is the same in C; a test of `sounding-bpf` holds the two to
//! the same bits.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------+---------------------+---------+---------------------+
//! |        rate of the flow       |     fair share of the flow    |
//! +---------+-----+-----+-+-------+---------+---------------------+
//! |  users  |carr.|state|f|  age  | retransmitted |  wait longer  |
//! +---------+-----+-----+-+-------+---------------+---------------+
//! ```
//!
//! A rate has an exponent of 5 bits and then a mantissa of 11, in bytes per second: the mantissa
//! itself where the exponent is zero, and elsewhere `(2048 + mantissa) << (exponent - 1)`. So
//! larger codes are larger rates, all up to 4095 bytes per second (33 kbit/s) are exact, others are
//! off by 1/4096 at most, and the largest is 35 Tbit/s. Zero is an unknown rate; a link that
//! is known to carry nothing has the least there is, 8 bit/s.
//!
//! `f` is set where the rate is a floor ([`Bound::Floor`]). State is a place in [`State::ALL`]; the
//! age is in units of 16 ms, rounded down. Of users, carriers and age the largest value means that
//! or more.
//!
//! The last two fields are what the radio itself lately added to a round trip, as averages
//! ([`RadioDelay`]). Zero is unknown; any other code is one more than the delay in units of 250 µs,
//! rounded down, and 255 means 63.5 ms or more. Earlier versions write zeros there and ignore what
//! they read.

use core::fmt;
use core::time::Duration;

use sounding_units::Rate;

use crate::{Bound, FairShare, LinkEstimate, State};

/// The place of a field in the eight bytes as a big-endian number: its lowest bit, and its length
/// in bits.
#[derive(Clone, Copy)]
struct Field {
    shift: u32,
    bits: u32,
}

const RATE: Field = Field { shift: 48, bits: 16 };
const FAIR: Field = Field { shift: 32, bits: 16 };
const USERS: Field = Field { shift: 27, bits: 5 };
const CARRIERS: Field = Field { shift: 24, bits: 3 };
const STATE: Field = Field { shift: 21, bits: 3 };
const FLOOR: Field = Field { shift: 20, bits: 1 };
const AGE: Field = Field { shift: 16, bits: 4 };
const RETRANSMITTED: Field = Field { shift: 8, bits: 8 };
const LONGER: Field = Field { shift: 0, bits: 8 };

impl Field {
    const fn most(self) -> u64 {
        (1 << self.bits) - 1
    }

    const fn of(self, word: u64) -> u64 {
        word >> self.shift & self.most()
    }

    fn put(self, value: u64) -> u64 {
        value.min(self.most()) << self.shift
    }
}

const MANTISSA_BITS: u32 = 11;
/// The mantissa's bit that is not written.
const HIDDEN: u64 = 1 << MANTISSA_BITS;
/// The largest rate that can be written, bytes per second.
const MOST: u64 = (2 * HIDDEN - 1) << 30;
/// Unit of the age.
const AGE_UNIT_MS: u64 = 16;
/// Unit of the radio's delays.
const DELAY_UNIT_US: u64 = 250;

/// The 16 bits of a rate, rounded to the nearest code. A known rate never becomes the code for
/// "unknown".
pub fn code_of(rate: Option<Rate>) -> u16 {
    let Some(rate) = rate else { return 0 };
    let units = rate.bytes_per_sec().clamp(1, MOST);
    let exponent = (u64::BITS - units.leading_zeros()).saturating_sub(MANTISSA_BITS + 1);
    let half = (1 << exponent) >> 1;
    // A mantissa that rounds up to twice the hidden bit carries into the exponent, which is
    // intended. 16 bits: `units` is clamped.
    ((u64::from(exponent) << MANTISSA_BITS) + ((units + half) >> exponent)) as u16
}

/// The rate of 16 bits, `None` if it is unknown.
pub fn rate_of(code: u16) -> Option<Rate> {
    let code = u64::from(code);
    let (exponent, mantissa) = (code >> MANTISSA_BITS, code % HIDDEN);
    let units = if exponent == 0 { mantissa } else { (HIDDEN + mantissa) << (exponent - 1) };
    (units > 0).then(|| Rate::from_bytes_per_sec(units))
}

/// The 8 bits of a delay, rounded down. A known delay never becomes the code for "unknown".
fn delay_code(delay: Option<Duration>) -> u64 {
    // A field cuts what is too large.
    delay.map_or(0, |delay| (delay.as_micros() / u128::from(DELAY_UNIT_US)).min(254) as u64 + 1)
}

/// The delay of 8 bits, `None` if it is unknown.
fn delay_of(code: u64) -> Option<Duration> {
    code.checked_sub(1).map(|units| Duration::from_micros(units * DELAY_UNIT_US))
}

/// What the radio itself lately added to a round trip of a device, as averages (Gandalf §4.3;
/// docs/interpretations/gandalf.md, interpretation 23). Such delays are no queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioDelay {
    /// What retransmissions added on average, of both directions together. 63.5 ms: that or more.
    pub retransmitted: Option<Duration>,
    /// How much longer a usual wait for a grant was than the shortest. 63.5 ms: that or more.
    pub wait_longer: Option<Duration>,
}

impl RadioDelay {
    /// The 16 bits at the end of a report.
    pub fn code(self) -> u16 {
        // Two fields of 8 bits.
        (RETRANSMITTED.put(delay_code(self.retransmitted))
            | LONGER.put(delay_code(self.wait_longer))) as u16
    }

    /// Reads the 16 bits.
    pub fn of_code(code: u16) -> Self {
        let field = |field: Field| delay_of(field.of(code.into()));
        Self { retransmitted: field(RETRANSMITTED), wait_longer: field(LONGER) }
    }
}

/// A device's report of its link, or of one flow's part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The link's rate for the flow, of IP packets.
    pub rate: Option<Rate>,
    /// The fair share of the flow.
    pub fair: Option<Rate>,
    /// Users with data of the primary carrier, the device included. 31: that or more.
    pub users: Option<u32>,
    /// Carriers that are active for the device. 7: that or more.
    pub carriers: Option<u32>,
    /// The state of the link.
    pub state: State,
    /// The bound of the rate.
    pub bound: Bound,
    /// The estimate's age when it was sent. 240 ms: that or more.
    pub age: Duration,
    /// What the radio itself adds to packets.
    pub delay: RadioDelay,
}

/// Error for eight bytes with a state of a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownState {
    /// Its place in a list that is longer there.
    pub place: u8,
}

impl fmt::Display for UnknownState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state {} in an option means nothing to this version", self.place)
    }
}

impl core::error::Error for UnknownState {}

impl Payload {
    /// Bytes of it.
    pub const LENGTH: usize = 8;

    /// The report of an estimate for a link with a single flow. An unusable rate is reported as
    /// unknown, and so are the radio's own delays, which no estimate has.
    pub fn of(estimate: &LinkEstimate) -> Self {
        let fair = estimate.known_fair();
        Self {
            rate: estimate.is_usable().then_some(estimate.rate),
            fair: fair.map(|fair| fair.rate),
            users: fair.map(|fair| fair.users),
            carriers: fair.map(|fair| fair.carriers),
            state: estimate.state,
            bound: estimate.bound,
            age: estimate.age,
            delay: RadioDelay::default(),
        }
    }

    /// The bytes on the wire.
    pub fn emit(&self) -> [u8; Self::LENGTH] {
        // A count of zero is none, as none is.
        let count = |known: Option<u32>| u64::from(known.unwrap_or(0));
        // Every state is in its list.
        let place = State::ALL.iter().position(|known| *known == self.state).unwrap_or(0);
        let age_ms = u64::try_from(self.age.as_millis()).unwrap_or(u64::MAX);
        let word = RATE.put(code_of(self.rate).into())
            | FAIR.put(code_of(self.fair).into())
            | USERS.put(count(self.users))
            | CARRIERS.put(count(self.carriers))
            | STATE.put(place as u64)
            | FLOOR.put((self.bound == Bound::Floor).into())
            | AGE.put(age_ms / AGE_UNIT_MS)
            | u64::from(self.delay.code());
        word.to_be_bytes()
    }

    /// Parses bytes from the wire.
    ///
    /// # Errors
    ///
    /// [`UnknownState`] if the state is one of a later version.
    pub fn parse(bytes: [u8; Self::LENGTH]) -> Result<Self, UnknownState> {
        let word = u64::from_be_bytes(bytes);
        // No field has more bits than the numbers they become.
        let place = STATE.of(word) as u8;
        let count = |field: Field| Some(field.of(word) as u32).filter(|count| *count > 0);
        Ok(Self {
            rate: rate_of(RATE.of(word) as u16),
            fair: rate_of(FAIR.of(word) as u16),
            users: count(USERS),
            carriers: count(CARRIERS),
            state: State::ALL.get(usize::from(place)).copied().ok_or(UnknownState { place })?,
            bound: if FLOOR.of(word) == 1 { Bound::Floor } else { Bound::Capacity },
            age: Duration::from_millis(AGE.of(word) * AGE_UNIT_MS),
            delay: RadioDelay::of_code(word as u16),
        })
    }

    /// The fair share, if all of it is known.
    pub fn fair_share(&self) -> Option<FairShare> {
        let (rate, users, carriers) = (self.fair?, self.users?, self.carriers?);
        Some(FairShare::new(rate, users, carriers))
    }
}

#[cfg(test)]
mod tests;
