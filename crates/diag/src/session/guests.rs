//! Log records that other readers of the same modem want, beside those of the session's own.
//!
//! Guests come and go while the modem goes on. Their codes stand behind the session's own on the
//! list that a budget takes from, so no guest costs the session a record. Bytes of a guest that has
//! just left do not count: the modem still sends what it had buffered for it.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Session, State};
use crate::LogCode;

/// Why a code that a guest wants is not on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It does not fit into the budget.
    Budget,
    /// The modem has no room for it in its ranges.
    Unknown,
    /// The log mask stays, because the modem does not tell it or gives no answers.
    Kept,
}

/// The guests' codes, and those that have left.
#[derive(Clone, Debug, Default)]
pub(super) struct Guests {
    /// Codes that only guests want.
    pub(super) codes: Vec<LogCode>,
    /// Codes of guests that have left, which the modem may still send.
    departed: BTreeSet<LogCode>,
}

impl Guests {
    /// Whether only guests that have left wanted records of this code.
    pub(super) fn have_left(&self, code: LogCode) -> bool {
        self.departed.contains(&code)
    }

    /// The modem is set again: nothing of an earlier guest is under way.
    pub(super) fn forget_departed(&mut self) {
        self.departed.clear();
    }
}

impl Session {
    /// Guests want these codes from now on, in this order, and no others of earlier guests.
    pub fn handle_guests(&mut self, codes: &[LogCode]) {
        // There may be thousands, and the modem's next records wait for this.
        let mut seen: BTreeSet<LogCode> = self.wanted.codes.iter().copied().collect();
        let wanted: Vec<LogCode> =
            codes.iter().copied().filter(|code| seen.insert(*code)).collect();
        if wanted == self.guests.codes {
            return;
        }
        let before = core::mem::replace(&mut self.guests.codes, wanted);
        if matches!(self.state, State::Restoring | State::Over) {
            return;
        }
        let left: BTreeSet<LogCode> =
            before.into_iter().filter(|code| !seen.contains(code)).collect();
        self.on.retain(|code| !left.contains(code));
        self.off.retain(|code| !left.contains(code));
        let mut changed: BTreeSet<u8> = left.iter().map(|code| code.equipment()).collect();
        self.guests.departed.extend(left);
        let there: BTreeSet<LogCode> = self.on.iter().chain(&self.off).copied().collect();
        for code in self.guests.codes.clone() {
            self.guests.departed.remove(&code);
            if !there.contains(&code) && (self.state != State::Logging || self.may_set(code)) {
                self.on.push(code);
                changed.insert(code.equipment());
            }
        }
        // Before that the masks are set with all that is on.
        if self.state == State::Logging {
            changed.into_iter().for_each(|equipment| self.set_mask(equipment));
        }
    }

    /// Why a code is not on; `None` if it is. The outer `None` says that the session does not know
    /// yet.
    pub fn lack(&self, code: LogCode) -> Option<Option<Lack>> {
        match self.state {
            State::Mute => Some(Some(Lack::Kept)),
            State::Logging if self.off.contains(&code) => Some(Some(Lack::Budget)),
            State::Logging if !self.masks.has(code) => Some(Some(Lack::Unknown)),
            State::Logging if !self.may_set(code) => Some(Some(Lack::Kept)),
            State::Logging => Some(None),
            State::Greeting | State::Asking | State::Restoring | State::Over => None,
        }
    }

    /// Whether the mask that has this code is the session's to set.
    fn may_set(&self, code: LogCode) -> bool {
        self.sets_untold || self.masks.is_told(code.equipment())
    }
}
