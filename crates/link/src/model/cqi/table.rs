//! What a CQI stands for, of one carrier (CQIC §3.2).

use sounding_kpi::{Channel, CqiTable};
use sounding_phy::{hspa, lte, nr};

/// Ranks, and CQIs with the 0 that is out of range: HSPA has the most.
pub(super) const RANKS: usize = 4;
pub(super) const CQIS: usize = 31;

/// Weight of the newest observation, which is the mean over the blocks of a [lesson](super::LESSON)
/// (interpretation 2).
const WEIGHT: f64 = 1.0 / 8.0;

/// How far an entry may get from the standard's, as parts of it (interpretation 2). In NR the table
/// of the report is configured and in no record: one with 256QAM has up to twice the bits.
const LEAST: f64 = 0.5;
const MOST: f64 = 1.3;
const MOST_NR: f64 = 2.2;

/// Resource elements of an LTE resource block in the reference of CQI (TS 36.213 §7.2.3): 11
/// symbols less the reference signals of two ports. NR has about as many for data, with 12 symbols
/// and two of them with reference signals.
const ELEMENTS: f64 = 120.0;

/// Bits of a resource block by rank and CQI; of HSPA, of the block of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Table {
    kind: CqiTable,
    bits: [[f64; CQIS]; RANKS],
}

/// Where a report points in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) rank: usize,
    pub(super) cqi: usize,
}

impl Entry {
    pub(super) fn of(report: &Channel) -> Self {
        let highest = if matches!(report.table, CqiTable::Hspa(_)) { CQIS - 1 } else { 15 };
        Self {
            rank: usize::from(report.rank.unwrap_or(1)).clamp(1, RANKS) - 1,
            cqi: usize::from(report.cqi).min(highest),
        }
    }
}

impl Table {
    /// The standard's.
    pub(super) fn standard(kind: CqiTable) -> Self {
        let row = |rank| core::array::from_fn(|cqi| standard(kind, Entry { rank, cqi }));
        Self { kind, bits: core::array::from_fn(row) }
    }

    pub(super) const fn kind(&self) -> CqiTable {
        self.kind
    }

    pub(super) fn bits(&self, Entry { rank, cqi }: Entry) -> f64 {
        self.bits[rank][cqi]
    }

    /// Blocks that were sent at this entry had so many bits.
    pub(super) fn learn(&mut self, entry: Entry, seen: f64) {
        let before = self.bits(entry);
        self.set(entry, before + (seen - before) * WEIGHT);
    }

    /// Sets an entry, within what the standard's allows.
    pub(super) fn set(&mut self, entry: Entry, bits: f64) {
        let standard = standard(self.kind, entry);
        let most = if self.kind == CqiTable::Nr { MOST_NR } else { MOST };
        if bits.is_finite() {
            self.bits[entry.rank][entry.cqi] = bits.clamp(LEAST * standard, most * standard);
        }
    }

    /// The entries that are not the standard's any more.
    pub(super) fn learnt(&self) -> impl Iterator<Item = (Entry, f64)> {
        let all = (0..RANKS).flat_map(|rank| (0..CQIS).map(move |cqi| Entry { rank, cqi }));
        let differs = |(entry, bits): &(Entry, f64)| *bits != standard(self.kind, *entry);
        all.map(|entry| (entry, self.bits(entry))).filter(differs)
    }
}

/// What the standard says of a report.
pub(super) fn standard(kind: CqiTable, Entry { rank, cqi }: Entry) -> f64 {
    // Entries are below 31.
    let index = cqi as u8;
    let one_layer = match kind {
        CqiTable::Lte(table) => {
            lte::cqi(table, index).map(|scheme| ELEMENTS * f64::from(scheme.efficiency()))
        }
        // The default of TS 38.331 CSI-ReportConfig's cqi-Table; the table adapts to another.
        CqiTable::Nr => nr::cqi(nr::CqiTable::Table1, index)
            .map(|scheme| ELEMENTS * f64::from(scheme.efficiency())),
        CqiTable::Hspa(table) => hspa::cqi(table, index).map(|block| f64::from(block.tbs_bits)),
    };
    one_layer.unwrap_or(0.0) * (rank + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_moves_by_an_eighth_of_the_difference_and_stays_near_the_standards() {
        let mut table = Table::standard(CqiTable::Lte(lte::CqiTable::Qam64));
        let entry = Entry { rank: 0, cqi: 7 };
        let begins = table.bits(entry);
        table.learn(entry, begins * 0.8);
        assert!((table.bits(entry) / begins - 0.975).abs() < 1e-9);
        assert_eq!(table.learnt().count(), 1);
        for (seen, ends) in [(0.0, LEAST), (1e9, MOST)] {
            (0..200).for_each(|_| table.learn(entry, seen));
            assert!((table.bits(entry) / begins - ends).abs() < 1e-9, "{ends}");
        }
        table.learn(entry, f64::NAN);
        assert!(table.bits(entry).is_finite());
    }

    #[test]
    fn hspa_has_thirty_qualities_and_the_block_of_cqi_20_is_the_papers() {
        let kind = CqiTable::Hspa(hspa::CqiTable::D);
        let table = Table::standard(kind);
        // §3.2: 5,896 bits in 2 ms.
        let bits = |cqi| table.bits(Entry { rank: 0, cqi });
        assert!((bits(20) - 5_896.0).abs() < 16.0, "{}", bits(20));
        assert!(bits(30) > bits(16) && bits(0) == 0.0);
    }
}
