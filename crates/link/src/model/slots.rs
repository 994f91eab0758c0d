//! What this device was granted, slot by slot.

use core::time::Duration;

use sounding_kpi::{Coding, Direction, Grant, Kpi};
use sounding_units::ModemInstant;

use crate::Config;
use crate::recent::Recent;

/// Grants of one carrier in one slot: in LTE two blocks may share its resource blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub(super) carrier: u8,
    /// Resource blocks.
    pub(super) prb: u32,
    /// Blocks sent for the first time: their number, and bits.
    pub(super) first: u32,
    pub(super) first_bits: u64,
    /// Blocks sent again.
    pub(super) again: u32,
    /// Bits that are known to have arrived, or in the uplink to have been sent for the first time.
    pub(super) new_bits: u64,
    /// Whether it is LTE's, where two blocks of one carrier in one subframe share resource blocks.
    /// In NR a second block belongs to another carrier, which the record does not name.
    lte: bool,
    /// Sum of I_MCS, in LTE I_TBS, of the blocks sent for the first time.
    pub(super) mcs: u32,
}

/// The slots of the last stretch of modem time.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    direction: Direction,
    pub(super) span: Duration,
    recent: Recent<Slot>,
}

impl Slots {
    /// Enough for a second's statistics and for twice any window.
    pub(super) const KEPT: Duration = Duration::from_millis(1_500);

    pub(super) fn new(config: &Config) -> Self {
        let keep = Self::KEPT.max(config.window.saturating_mul(2));
        Self { direction: config.direction, span: config.window, recent: Recent::new(keep) }
    }

    pub(super) fn handle_kpi(&mut self, kpi: &Kpi) {
        let Kpi::Grant(grant) = kpi else { return };
        let Some(part) = Slot::of(grant).filter(|_| grant.direction == self.direction) else {
            return;
        };
        let mut same = self.recent.at_mut(grant.at).filter(|slot| slot.carrier == part.carrier);
        let added = same.next().map(|slot| slot.add(&part));
        drop(same);
        if added.is_none() {
            self.recent.push(grant.at, part);
        }
    }

    /// When the newest was.
    pub(super) fn newest(&self) -> Option<ModemInstant> {
        self.recent.until(ModemInstant::from_nanos(u64::MAX)).next().map(|(at, _)| *at)
    }

    /// Those of the window that ends at `end`, or of another span.
    pub(super) fn within(&self, end: ModemInstant, span: Duration) -> impl Iterator<Item = &Slot> {
        self.recent.within(end, span)
    }

    /// Those up to a time, the latest first.
    pub(super) fn until(&self, end: ModemInstant) -> impl Iterator<Item = &(ModemInstant, Slot)> {
        self.recent.until(end)
    }
}

impl Slot {
    /// From a record that has resource blocks.
    pub(super) fn of(grant: &Grant) -> Option<Self> {
        let allocation = grant.allocation?;
        let bits = grant.size.count().saturating_mul(8);
        let first = u32::from(!grant.retransmission);
        let arrived = grant.decoded.unwrap_or(!grant.retransmission);
        let mcs = match allocation.coding {
            Coding::Lte(index) => index.row(),
            Coding::Nr(mcs) => mcs,
            Coding::Hspa => 0,
        };
        Some(Self {
            carrier: grant.carrier,
            prb: allocation.prb.count().into(),
            first,
            first_bits: bits * u64::from(first),
            again: 1 - first,
            new_bits: if arrived { bits } else { 0 },
            mcs: u32::from(mcs) * first,
            lte: matches!(allocation.coding, Coding::Lte(_)),
        })
    }

    fn add(&mut self, other: &Self) {
        self.prb = if self.lte { self.prb.max(other.prb) } else { self.prb + other.prb };
        self.first += other.first;
        self.first_bits = self.first_bits.saturating_add(other.first_bits);
        self.again += other.again;
        self.new_bits = self.new_bits.saturating_add(other.new_bits);
        self.mcs += other.mcs;
    }

    /// Bits of a block sent for the first time in a resource block.
    pub(super) fn bits_per_prb(&self) -> Option<f64> {
        // With a repeat beside it, it is not known which resource blocks are whose.
        (self.first > 0 && self.again == 0 && self.prb > 0)
            .then(|| self.first_bits as f64 / f64::from(self.prb))
    }
}
