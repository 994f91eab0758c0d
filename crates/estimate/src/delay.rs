//! The delays that a radio itself makes: events, news of them, and the rule by which they are taken
//! off packets. Every crate that measures or corrects delays uses these definitions.

mod events;
mod interval;
mod lately;
mod timeline;
mod update;

use core::time::Duration;

use sounding_units::HostInstant;

use crate::Direction;

pub use events::Events;
pub use interval::{LONGEST_INTERVAL, USUAL_INTERVAL, followed, in_intervals, whole_intervals};
pub use lately::Lately;
pub use timeline::Timeline;
pub use update::DelayUpdate;

/// Packets of a burst reach the host this long before an event's end at most: host and modem do not
/// agree better (docs/interpretations/gandalf.md, interpretation 7).
pub const BEFORE: Duration = Duration::from_micros(1_000);
/// They reach it this long after the event's end at most.
pub const AFTER: Duration = Duration::from_micros(1_500);
/// The times of one block in the records of two layers differ by less, because each record dates
/// its blocks by itself. It is less than a slot of NR, so no other block is taken for the same.
pub const SAME_BLOCK: Duration = Duration::from_micros(300);
/// A modem that reported nothing for longer is silent, and delays count as measured.
pub const SILENT: Duration = Duration::from_millis(100);
/// Averages are over the newest known events of this span: records of MAC are half as far apart.
pub const RECENT: Duration = Duration::from_millis(200);
/// A delay that is unknown for longer stays unknown: records of PHY are 300 ms apart at most.
pub const PATIENCE: Duration = Duration::from_millis(400);
/// No packet is later by the radio alone: four transmissions of a block in 32 ms, and a wait of two
/// intervals of reports, each of [`LONGEST_INTERVAL`] at most. A repeat of RLC may hold longer, and
/// is corrected as far.
pub const OBVIOUS: Duration = Duration::from_millis(80);

/// Delay that a radio access network made without a queue (Gandalf §3): data reached a point of the
/// radio at `from`, went on at `to`, and `amount` of the time between is the network's own.
///
/// Data that reached the same point later, and before the next event of its direction and kind,
/// went on at the same `to` and waited less: `amount` − (its time − `from`), never below zero. The
/// points are:
///
/// * [`DelayKind::Harq`]: `from` is the first transmission of a block that did not arrive, `to` the
///   one that did. In the downlink `to` is when the block's packets reached the host, decoding
///   included.
/// * [`DelayKind::Scheduling`]: `from` is when data entered the modem, `to` the block that carried
///   it.
/// * [`DelayKind::Rlc`]: `from` is the first transmission of a PDU that did not arrive, `to` its
///   repeat. In the downlink `from` is when the next PDU had reached the host, and `to` when the
///   repeat had, decoding included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// An event that was decoded when it ended, and that the radio made for all of its length.
    pub fn new(direction: Direction, kind: DelayKind, from: HostInstant, to: HostInstant) -> Self {
        let (amount, age, confidence) = (to - from, Duration::ZERO, Confidence::Decoded);
        Self { direction, from, to, amount, kind, age, confidence }
    }

    setters! {
        with_direction: direction, Direction;
        with_from: from, HostInstant;
        with_to: to, HostInstant;
        with_amount: amount, Duration;
        with_kind: kind, DelayKind;
        with_age: age, Duration;
        with_confidence: confidence, Confidence;
    }

    /// Whether a packet that reached the host at `at` belongs to the burst at the event's end.
    pub fn releases(&self, at: HostInstant) -> bool {
        at + BEFORE >= self.to && at <= self.to + AFTER
    }

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
    /// An end follows from others: a block counts as arrived while its repeat is not asked for;
    /// bytes of a report are a range.
    Inferred,
}

words!(DelayKind { Harq => "harq", Scheduling => "scheduling", Rlc => "rlc" });
words!(Confidence { Decoded => "decoded", Inferred => "inferred" });
