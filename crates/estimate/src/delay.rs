use core::time::Duration;

use sounding_units::HostInstant;

use crate::Direction;

/// Delay that a radio access network made without a queue (Gandalf §3): data reached a point of the radio at `from`,
/// went on at `to`, and `amount` of the time between is the network's own.
///
/// Data that reached the same point later, and before the next event of its direction and kind, went on at the same
/// `to` and waited less: `amount` − (its time − `from`), never below zero. The points are:
///
/// * [`DelayKind::Harq`]: `from` is the first transmission of a block that did not arrive, `to` the one that did. In the
///   downlink `to` is when the block's packets reached the host, decoding included.
/// * [`DelayKind::Scheduling`]: `from` is when data entered the modem, `to` the block that carried it.
/// * [`DelayKind::Rlc`]: `from` is the first transmission of a PDU that did not arrive, `to` its repeat. In the downlink `from` is
///   when the next PDU had reached the host, and `to` when the repeat had, decoding included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RanDelay {
    /// Uplink or downlink.
    pub direction: Direction,
    /// Begin of the event, on the clock of the device's host.
    pub from: HostInstant,
    /// Its end, on the same clock.
    pub to: HostInstant,
    /// The part of `to` − `from` that no queue made. At most `to` − `from`.
    pub amount: Duration,
    /// What made it.
    pub kind: DelayKind,
    /// From the event's end until the record came that shows it.
    pub age: Duration,
    /// How it is known.
    pub confidence: Confidence,
}

impl RanDelay {
    /// The delay of data that reached the event's point at `at`; `None` outside the event.
    pub fn of(&self, at: HostInstant) -> Option<Duration> {
        (self.from <= at && at <= self.to).then(|| self.amount.saturating_sub(at - self.from))
    }
}

/// What made a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DelayKind {
    /// A block of MAC was sent again, and all behind it waited for it (Gandalf §3.1).
    Harq,
    /// Uplink data waited for a report to be written and granted (Gandalf §3.2).
    Scheduling,
    /// RLC sent data again that HARQ had given up, and all behind it waited (Gandalf §B.3.2).
    Rlc,
}

/// How an event is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Both ends were decoded from records.
    Decoded,
    /// An end follows from others: a block counts as arrived while its repeat is not asked for; bytes of a report are a range.
    Inferred,
}

words!(DelayKind { Harq => "harq", Scheduling => "scheduling", Rlc => "rlc" });
words!(Confidence { Decoded => "decoded", Inferred => "inferred" });
