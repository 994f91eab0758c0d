//! What a correction of arrival times needs, and who makes it.

use core::fmt::Debug;

use sounding_units::HostInstant;

/// A packet's way over the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// When it was sent, on the clock of the device's host; `None` if the packet does not say.
    pub sent: Option<HostInstant>,
    /// When it arrived. The receiver's clock may have another origin.
    pub arrived: HostInstant,
}

/// When a packet would have arrived without the radio's own delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrected {
    /// The modem's records, or a calculation, gave this time.
    At(HostInstant),
    /// The records of that time have not come yet.
    NotYet,
    /// It will not be known: the arrival counts uncorrected.
    Unknown,
}

/// A source of corrected arrival times.
pub trait Corrections: Debug + Send {
    /// The corrected arrival of a packet, with what is known now. Packets come in order of arrival.
    /// A packet may come several times.
    fn corrected(&mut self, now: HostInstant, way: &Way) -> Corrected;
}

/// No correction: the stack behaves as it was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stock;

impl Corrections for Stock {
    fn corrected(&mut self, _: HostInstant, _: &Way) -> Corrected {
        Corrected::Unknown
    }
}
