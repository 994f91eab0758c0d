//! How much of each carrier is served to this device while data waits for it (CQIC §3.3: the DTX
//! ratio).

use core::time::Duration;

use sounding_kpi::CqiTable;
use sounding_units::ModemInstant;

use super::CARRIERS;
use crate::model::slots::Slots;

/// The share is looked at this often.
const STEP: Duration = Duration::from_millis(20);
/// The use of a device without waiting data is a mean over this.
const USED: Duration = Duration::from_millis(100);
/// A share that is used to this part while nothing waits is too low, and grows by this in each step
/// (interpretation 4).
const NEARLY: f64 = 0.8;
const GROWTH: f64 = 1.05;
/// After nothing has waited for so long, the share is far too low: it then grows by a quarter if
/// half of it is used.
const LONG: Duration = Duration::from_millis(60);
const NEARLY_AT_LAST: f64 = 0.5;
const GROWTH_AT_LAST: f64 = 1.25;

/// What data waits at the base station, as far as padding shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// All blocks up to then are known.
    pub(crate) until: ModemInstant,
    /// Whether any record has padding. Without it the device counts as waiting whenever it is
    /// served.
    pub(crate) is_known: bool,
    /// Since when data has waited, if it does, and the newest block that left some behind.
    pub(crate) waited: Option<(ModemInstant, ModemInstant)>,
}

/// Resource blocks per second of each carrier while data waits. It is held while nothing does,
/// through handovers and pauses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    prb_per_sec: [Option<f64>; CARRIERS],
    looked_at: ModemInstant,
    /// The last time at which data waited.
    waited_at: ModemInstant,
}

impl Served {
    /// What a carrier has for the device: before anything was granted, a guess (interpretation 6).
    pub(super) fn prb_per_sec(&self, carrier: usize, kind: CqiTable) -> f64 {
        let known = self.prb_per_sec.get(carrier).copied().flatten();
        known.unwrap_or(if carrier == 0 { first(kind) } else { 0.0 })
    }

    /// Some time has passed, and blocks came.
    pub(super) fn handle_pending(&mut self, slots: &Slots, pending: Pending, kind: CqiTable) {
        if pending.until - self.looked_at < STEP {
            return;
        }
        self.looked_at = pending.until;
        match pending.waited {
            // Records of blocks may come before those of their resource blocks: a share that is not
            // known yet is not nothing.
            Some((_, newest)) if slots.newest().is_none_or(|known| known < newest) => {}
            Some((since, newest)) => {
                self.waited_at = newest;
                let span = (newest - since).max(STEP).min(slots.span);
                self.prb_per_sec = rates(slots, newest, span).map(Some);
            }
            None if !pending.is_known => {
                let rates = rates(slots, pending.until, slots.span);
                if rates.iter().any(|rate| *rate > 0.0) {
                    self.prb_per_sec = rates.map(Some);
                }
            }
            None => self.handle_idle(rates(slots, pending.until, USED), kind),
        }
    }

    /// Nothing waits: the device has all that it asked for, which is no less than its share.
    fn handle_idle(&mut self, used: [f64; CARRIERS], kind: CqiTable) {
        let held = |served: &Self| -> f64 {
            (0..CARRIERS).map(|carrier| served.prb_per_sec(carrier, kind)).sum()
        };
        let (nearly, growth) = if self.looked_at - self.waited_at > LONG {
            (NEARLY_AT_LAST, GROWTH_AT_LAST)
        } else {
            (NEARLY, GROWTH)
        };
        if used.iter().sum::<f64>() >= nearly * held(self) {
            for carrier in 0..CARRIERS {
                let grown = self.prb_per_sec(carrier, kind) * growth;
                if grown > 0.0 {
                    self.prb_per_sec[carrier] = Some(grown);
                }
            }
        }
        for (carrier, used) in used.into_iter().enumerate() {
            if used > self.prb_per_sec(carrier, kind) {
                self.prb_per_sec[carrier] = Some(used);
            }
        }
    }
}

/// Resource blocks per second that carried new data, by carrier.
fn rates(slots: &Slots, end: ModemInstant, span: Duration) -> [f64; CARRIERS] {
    let mut sums = [0.0; CARRIERS];
    for slot in slots.within(end, span).filter(|slot| slot.new_bits > 0) {
        if let Some(sum) = sums.get_mut(usize::from(slot.carrier)) {
            *sum += f64::from(slot.prb);
        }
    }
    sums.map(|sum| sum / span.as_secs_f64())
}

/// Half of the widest carrier of LTE; as many of NR, three quarters of whose slots of half a
/// millisecond are downlink; every interval of HSPA.
const fn first(kind: CqiTable) -> f64 {
    match kind {
        CqiTable::Lte(_) => 50_000.0,
        CqiTable::Nr => 75_000.0,
        CqiTable::Hspa(_) => 500.0,
    }
}
