//! The cell that serves a device, and since when. Grants depend on it.

use core::time::Duration;

use sounding_kpi::{Change, Connection, Signal};
use sounding_units::ModemInstant;

/// A device that has not reached its new cell by then has failed to: the longest T304 but one (TS
/// 36.331 §6.3.4, TS 38.331 §6.3.2); networks configure 1 s and less.
const REACHED_WITHIN: Duration = Duration::from_secs(2);

/// The known state of a device's connection.
///
/// ```text
///            handover                     a grant in the new cell, or too late
///   Steady ───────────▶ Moving { since } ─────────────────────────────────────▶ Steady
///     │ release                                 a grant, or a new connection
///     └───────────────▶ Released { since } ───────────────────────────────────▶ Steady
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Attachment {
    /// No known event keeps the network from granting.
    #[default]
    Steady,
    /// The device is on its way to another cell.
    Moving { since: ModemInstant },
    /// There is no connection.
    Released { since: ModemInstant },
}

impl Attachment {
    /// Applies an RRC change of the connection. Returns whether earlier grants no longer predict
    /// later ones.
    pub(super) fn handle_change(&mut self, told: &Connection) -> bool {
        *self = match told.change {
            Change::Begins => Self::Steady,
            Change::Handover => Self::Moving { since: told.at },
            Change::Ends => Self::Released { since: told.at },
        };
        !matches!(told.change, Change::Begins)
    }

    /// A block was granted.
    pub(super) fn handle_grant(&mut self, at: ModemInstant) {
        if self.since().is_some_and(|since| since < at) {
            *self = Self::Steady;
        }
    }

    /// When the change began that no grant has followed yet.
    pub(super) const fn since(&self) -> Option<ModemInstant> {
        match *self {
            Self::Steady => None,
            Self::Moving { since } | Self::Released { since } => Some(since),
        }
    }

    pub(super) fn is_moving(&self, now: ModemInstant) -> bool {
        matches!(*self, Self::Moving { since } if now - since <= REACHED_WITHIN)
    }

    pub(super) const fn is_released(&self) -> bool {
        matches!(self, Self::Released { .. })
    }
}

/// The measured primary cells of LTE and of NR.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Primary {
    cells: [Option<u16>; 2],
    /// Time of RRC's last handover: the measurement that shows it is not another one.
    told: Option<ModemInstant>,
}

impl Primary {
    pub(super) const fn handle_change(&mut self, told: &Connection) {
        if matches!(told.change, Change::Handover | Change::Begins) {
            self.told = Some(told.at);
        }
    }

    /// Applies a measurement of a cell. Returns whether it shows a handover without an RRC message.
    pub(super) fn handle_signal(&mut self, signal: &Signal) -> bool {
        if signal.serves_as != Some(0) {
            return false;
        }
        let before = self.cells[usize::from(signal.nr)].replace(signal.cell);
        let was_told = self.told.is_some_and(|told| signal.at - told <= REACHED_WITHIN);
        !was_told && before.is_some_and(|before| before != signal.cell)
    }
}
