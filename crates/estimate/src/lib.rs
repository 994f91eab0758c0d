//! The rate of a radio link, with its age, bound and source. An estimator makes this type;
//! controllers, reports and the kernel's feed exchange it.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

use core::time::Duration;

use sounding_units::{Bytes, Rate};

/// The values of a choice with their words: one list for printing, parsing and numbering.
macro_rules! words {
    ($name:ident { $($variant:ident => $text:literal),+ $(,)? }) => {
        impl $name {
            /// Every value, in the order by which a report on its way to a sender numbers them: new
            /// ones go to the end.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(match self { $(Self::$variant => $text),+ })
            }
        }
    };
}

/// For each field a method that returns the same with another value in it: other crates cannot
/// write a literal of a type that grows.
macro_rules! setters {
    ($($name:ident: $field:ident, $type:ty;)+) => { $(
        #[doc = concat!("The same with this `", stringify!($field), "`.")]
        #[must_use]
        pub const fn $name(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    )+ };
}

pub mod delay;
pub mod wire;

pub use delay::{Confidence, DelayKind, DelayUpdate, RanDelay, Timeline};

/// No radio carries more: 100 Gbit/s of IP packets. An estimate above it cannot be true.
pub const MAX_RATE: Rate = Rate::from_bits_per_sec(100_000_000_000);

/// Direction of the data, seen from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Device to network.
    Uplink,
    /// Network to device.
    Downlink,
}

/// The rate of the radio link, and its reliability. It grows: [`LinkEstimate::new`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkEstimate {
    /// Uplink or downlink.
    pub direction: Direction,
    /// Rate of IP packets that this device was granted: transport blocks minus the overhead of
    /// MAC, RLC and PDCP.
    pub rate: Rate,
    /// Whether `rate` is the radio's whole capacity or only all that was requested.
    pub bound: Bound,
    /// Host time since the newest record behind it arrived; [`Duration::MAX`] while there is none.
    pub age: Duration,
    /// The age up to which it may be used.
    pub valid_for: Duration,
    /// Bytes that the modem still holds, if it reports them.
    pub backlog: Option<Bytes>,
    /// The state of the link.
    pub state: State,
    /// The method behind `rate`.
    pub source: Source,
    /// The fair share of this device; `None` if the method does not know the other users.
    pub fair: Option<FairShare>,
    /// The resource blocks that the device had, over the span of `rate` and at most 100 ms, in
    /// thousandths of the most that the same carriers ever gave it in 100 ms: 0..=1000. The
    /// rest was left over, or was of others. `None` unless `bound` is [`Bound::Capacity`], and
    /// in estimates from another host.
    pub own_blocks: Option<u16>,
    /// Who has the resource blocks of the device's cells; `None` if the method does not know all of
    /// them.
    pub cell: Option<CellUse>,
    /// The radio of the grants; `None` before the first one, and in estimates from another host.
    pub radio: Option<Radio>,
}

/// The radio of a link's grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Radio {
    /// LTE, alone or beside NR.
    Lte,
    /// NR alone.
    Nr,
}

/// An equal division of the cells that serve a device among their users with data (PBE-CC §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FairShare {
    /// C_f of all active carriers: the rate of IP packets.
    pub rate: Rate,
    /// N of the primary carrier: users with data, this device included. At least 1.
    pub users: u32,
    /// Carriers that are active for this device. At least 1.
    pub carriers: u32,
}

impl FairShare {
    /// A share of `rate`, among so many users and carriers.
    pub const fn new(rate: Rate, users: u32, carriers: u32) -> Self {
        Self { rate, users, carriers }
    }

    setters! { with_rate: rate, Rate; }
}

/// Who has the resource blocks of the cells that serve a device (PBE-CC §4.2.1: P_a, P_idle, and
/// the rest of P_cell).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CellUse {
    /// The rate of IP packets that all blocks would carry for this device.
    pub rate: Rate,
    /// The device's blocks, in thousandths of all: 0..=1000.
    pub own: u16,
    /// The blocks of no user, in thousandths of all. With `own` at most 1000; others have the rest.
    pub idle: u16,
}

impl CellUse {
    /// Of cells that would carry `rate`. Parts of more than all are cut.
    pub const fn new(rate: Rate, own: u16, idle: u16) -> Self {
        let own = if own > 1000 { 1000 } else { own };
        let idle = if idle > 1000 - own { 1000 - own } else { idle };
        Self { rate, own, idle }
    }

    /// The blocks of other users, in thousandths of all.
    pub const fn others(&self) -> u16 {
        1000_u16.saturating_sub(self.own).saturating_sub(self.idle)
    }

    setters! { with_rate: rate, Rate; }
}

impl LinkEstimate {
    /// The age up to which an estimate may be used, unless its modem reports less often. 200 ms,
    /// chosen; pinned by the staleness tests of the kernel side.
    pub const VALID_FOR: Duration = Duration::from_millis(200);

    /// An active link, as grants show it at this moment. Backlog, fair share and blocks are
    /// unknown.
    pub const fn new(direction: Direction, rate: Rate, bound: Bound) -> Self {
        Self {
            direction,
            rate,
            bound,
            age: Duration::ZERO,
            valid_for: Self::VALID_FOR,
            backlog: None,
            state: State::Active,
            source: Source::Grants,
            fair: None,
            own_blocks: None,
            cell: None,
            radio: None,
        }
    }

    setters! {
        with_direction: direction, Direction;
        with_rate: rate, Rate;
        with_bound: bound, Bound;
        with_age: age, Duration;
        with_valid_for: valid_for, Duration;
        with_backlog: backlog, Option<Bytes>;
        with_state: state, State;
        with_source: source, Source;
        with_fair: fair, Option<FairShare>;
        with_own_blocks: own_blocks, Option<u16>;
        with_cell: cell, Option<CellUse>;
        with_radio: radio, Option<Radio>;
    }

    /// True if a controller may act on it. A rate that does not come from grants may be used while
    /// there are none.
    pub fn is_usable(&self) -> bool {
        match self.state {
            State::Active | State::Silent => self.source != Source::None,
            State::Idle => self.source == Source::Cqi,
            State::Handover | State::Stale => false,
        }
    }

    /// The rate, if it is current. `None` before the first grant, while the device changes its
    /// cell, and if the modem has been silent for too long. An idle device is known to be
    /// granted nothing: its rate is zero, except by [`Source::Cqi`], which is known before the
    /// first grant and in idleness.
    pub fn known_rate(&self) -> Option<Rate> {
        let known =
            self.source != Source::None && !matches!(self.state, State::Handover | State::Stale);
        known.then_some(self.rate)
    }

    /// How the known rate relates to what the radio could carry.
    pub fn known_bound(&self) -> Option<Bound> {
        self.known_rate().map(|_| self.bound)
    }

    /// The fair share, if it is current: `None` while the device changes its cell, and if the modem
    /// has been silent for too long. An idle device may have one, though it is granted nothing.
    pub fn known_fair(&self) -> Option<FairShare> {
        self.fair.filter(|_| !matches!(self.state, State::Handover | State::Stale))
    }

    /// The part of the most resource blocks that the device has, in thousandths, if that is current
    /// and data waited for them.
    pub fn known_own_blocks(&self) -> Option<u16> {
        self.own_blocks.filter(|_| self.known_bound() == Some(Bound::Capacity))
    }

    /// Who has the cells' blocks: `None` while the device changes its cell. A sniffer says how new
    /// that is, and not the modem, which is silent without grants.
    pub fn known_cell(&self) -> Option<CellUse> {
        self.cell.filter(|_| self.state != State::Handover)
    }

    /// The state of the link. `None` before the first grant: only after grants is a device known to
    /// be idle.
    pub fn known_state(&self) -> Option<State> {
        (self.source != Source::None || self.state != State::Idle).then_some(self.state)
    }
}

/// How the rate relates to what the radio could carry.
///
/// A base station grants what a device requests. A sender that its own window limits requests
/// little and is granted little, so its grants do not show what it could have had.
///
/// A label refers to the time in `Estimator::bound_speaks_of` of `sounding-link` and to the 20 ms
/// before it. Blocks are reported up to 100 ms after they were sent, and the label knows only the
/// reported ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Throughout those 20 ms more waited than was granted, and `rate` is that of the time in which
    /// it did: this is what the radio had. In the downlink that is a queue at the base station
    /// that no block emptied; in the uplink data that waited for longer than the network takes to
    /// answer the next report: 15 ms, or more where data waits for rare reports.
    Capacity,
    /// The device was granted everything it requested: a floor.
    Floor,
}

/// The state of the link.
///
/// ```text
///            a grant                    no grant for 200 ms
///   Stale ────────────▶ Active ──────────┬──────────────▶ Idle    nothing waits, it is unknown, or
///   no connection
///     ▲                 ▲ │ ▲            └──────────────▶ Silent  data waits
///     │ no record       │ │ └──────────── a grant ──────────┘
///     │ for `valid_for` │ │ RRC sends the device to another cell, or another cell serves it
///     │                 │ ▼
///     └── from any ── Handover ──── no grant there for 2 s ───▶ Idle
///                a grant there leads back
/// ```
///
/// In the uplink the modem knows the backlog. In the downlink the base station does. Data waits
/// there if the last blocks left something behind and the device has since reported that its
/// channel is out of range (CQI 0). If a base station stops sending to a device whose channel is in
/// range, then, as far as a device can know, it has nothing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Blocks are being granted.
    Active,
    /// The modem sends records, but nothing is granted and no data is known to wait: the device
    /// sleeps, or has no connection.
    Idle,
    /// On the way from one cell to another: grants there do not predict grants here.
    Handover,
    /// Data waits and nothing is granted: an outage, not idleness.
    Silent,
    /// The modem has been silent for longer than an estimate is valid.
    Stale,
}

/// The method behind a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Granted bytes summed per window (BISCAY §3.2.2, the MAC summary).
    Grants,
    /// Equation 1 of BISCAY: table[PRB, I_TBS] by carrier and layers.
    Formula,
    /// CQI and the share of the carrier that was served (CQIC §3.3).
    Cqi,
    /// Own and idle resource blocks of the cells (PBE-CC §4.2.1).
    Cell,
    /// Resource blocks alone.
    Prb,
    /// I_MCS alone.
    Mcs,
    /// RSRP alone.
    Rsrp,
    /// No grant was received so far, or not the records that the method needs.
    None,
}

words!(Direction { Uplink => "uplink", Downlink => "downlink" });
words!(Radio { Lte => "lte", Nr => "nr" });
words!(Bound { Capacity => "capacity", Floor => "floor" });
words!(State {
    Active => "active",
    Idle => "idle",
    Handover => "handover",
    Silent => "silent",
    Stale => "stale",
});
words!(Source {
    None => "none",
    Grants => "grants",
    Formula => "formula",
    Cqi => "cqi",
    Cell => "cell",
    Prb => "prb",
    Mcs => "mcs",
    Rsrp => "rsrp",
});
