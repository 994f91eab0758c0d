//! Default time domain allocations (TS 38.214 §5.1.2.1.1, §6.1.2.1.1).

use super::{Numerology, tables};

/// The first symbol for counting demodulation reference signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MappingType {
    /// From the slot.
    A,
    /// From the allocation.
    B,
}

/// One row of a table of time domain allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeAllocation {
    /// Slots from the control message to the data: K0 downlink, K2 uplink.
    pub delay: u8,
    /// Mapping type.
    pub mapping: MappingType,
    /// First symbol, S.
    pub start: u8,
    /// Symbols, L.
    pub symbols: u8,
}

impl TimeAllocation {
    fn of_row((b, delay, start, symbols): (bool, u8, u8, u8)) -> Self {
        let mapping = if b { MappingType::B } else { MappingType::A };
        Self { delay, mapping, start, symbols }
    }
}

/// The default table, by the multiplexing pattern of synchronisation signals and control resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultPdschTable {
    /// TS 38.214 Table 5.1.2.1.1-2, normal cyclic prefix.
    A,
    /// TS 38.214 Table 5.1.2.1.1-4. One source only vouches for its rows.
    B,
    /// TS 38.214 Table 5.1.2.1.1-5. One source only vouches for its rows.
    C,
}

/// A row, 1..=16, of a default table of downlink allocations; `dmrs_type_a_position` is 2 or 3.
/// `None` for rows that the table leaves out.
pub fn pdsch_default(
    table: DefaultPdschTable,
    dmrs_type_a_position: u8,
    row: u8,
) -> Option<TimeAllocation> {
    let tables = match table {
        DefaultPdschTable::A => &tables::PDSCH_DEFAULT_A,
        DefaultPdschTable::B => &tables::PDSCH_DEFAULT_B,
        DefaultPdschTable::C => &tables::PDSCH_DEFAULT_C,
    };
    let rows = tables.get(usize::from(dmrs_type_a_position).checked_sub(2)?)?;
    let row = *rows.get(usize::from(row).checked_sub(1)?)?;
    (row.3 > 0).then(|| TimeAllocation::of_row(row))
}

/// A row, 1..=16, of the default table of uplink allocations, K2 counted in slots of the uplink
/// (TS 38.214 Table 6.1.2.1.1-2); `None` above numerology 3.
pub fn pusch_default(numerology: Numerology, row: u8) -> Option<TimeAllocation> {
    let (j, _) = *tables::J_DELTA.get(usize::from(numerology.mu()))?;
    let row = *tables::PUSCH_DEFAULT_A.get(usize::from(row).checked_sub(1)?)?;
    let allocation = TimeAllocation::of_row(row);
    Some(TimeAllocation { delay: allocation.delay + j, ..allocation })
}

/// Slots in addition to K2 for the first uplink message of random access (TS 38.214 Table
/// 6.1.2.1.1-5); `None` above numerology 3.
pub fn pusch_msg3_delay(numerology: Numerology) -> Option<u8> {
    tables::J_DELTA.get(usize::from(numerology.mu())).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_end_within_their_slot() {
        let downlink = [DefaultPdschTable::A, DefaultPdschTable::B, DefaultPdschTable::C]
            .into_iter()
            .flat_map(|table| {
                (2..=3).flat_map(move |at| {
                    (1..=16).filter_map(move |row| pdsch_default(table, at, row))
                })
            });
        let uplink = (0..=3)
            .filter_map(Numerology::new)
            .flat_map(|numerology| (1..=16).filter_map(move |row| pusch_default(numerology, row)));
        let all: std::vec::Vec<TimeAllocation> = downlink.chain(uplink).collect();
        assert_eq!(all.len(), 2 * (16 + 15 + 14) + 4 * 16);
        assert!(all.iter().all(|row| row.symbols > 0 && row.start + row.symbols <= 14));
    }

    #[test]
    fn what_the_tables_leave_out_is_unknown() {
        assert_eq!(pdsch_default(DefaultPdschTable::C, 2, 6), None);
        for (position, row) in [(1, 1), (4, 1), (2, 0), (2, 17)] {
            assert_eq!(pdsch_default(DefaultPdschTable::A, position, row), None);
        }
        let wide = Numerology::new(4).expect("a numerology");
        assert_eq!((pusch_default(wide, 1), pusch_msg3_delay(wide)), (None, None));
    }

    #[test]
    fn uplinks_of_shorter_slots_wait_longer() {
        let delay = |mu| {
            let numerology = Numerology::new(mu).expect("a numerology");
            pusch_default(numerology, 8).expect("a row").delay
        };
        assert_eq!([0, 1, 2, 3].map(delay), [2, 2, 3, 4]);
    }
}
