//! Rates by CQI that are kept by cell: what was learnt in a cell is known when the device comes
//! back to it (CQIC §3.2).

use alloc::collections::VecDeque;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use sounding_kpi::CqiTable;
use sounding_phy::{hspa, lte};

use super::table::{CQIS, Entry, RANKS, Table};

/// Cells that are kept; beyond them the one that was left longest ago is forgotten.
const CELLS: usize = 256;

/// What was learnt of a cell.
///
/// As text it is a line: the technology and the physical cell identity, the table of its CQIs, and
/// each entry that is no longer the standard's, as rank/CQI=bits of a resource block. `lte 123
/// 64qam 1/15=612.5 2/9=480.2`
#[derive(Clone, Debug, PartialEq)]
pub struct CellRates {
    nr: bool,
    cell: u16,
    table: Table,
}

/// Why a line is not a cell's rates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what:?} is no {wanted} of a cell's rates by CQI")]
pub struct NoRates {
    what: String,
    wanted: &'static str,
}

const TABLES: [(&str, CqiTable); 10] = [
    ("64qam", CqiTable::Lte(lte::CqiTable::Qam64)),
    ("256qam", CqiTable::Lte(lte::CqiTable::Qam256)),
    ("nr", CqiTable::Nr),
    ("hspa-a", CqiTable::Hspa(hspa::CqiTable::A)),
    ("hspa-b", CqiTable::Hspa(hspa::CqiTable::B)),
    ("hspa-c", CqiTable::Hspa(hspa::CqiTable::C)),
    ("hspa-d", CqiTable::Hspa(hspa::CqiTable::D)),
    ("hspa-e", CqiTable::Hspa(hspa::CqiTable::E)),
    ("hspa-f", CqiTable::Hspa(hspa::CqiTable::F)),
    ("hspa-g", CqiTable::Hspa(hspa::CqiTable::G)),
];

impl CellRates {
    pub(super) const fn new((nr, cell): (bool, u16), table: Table) -> Self {
        Self { nr, cell, table }
    }

    /// The entries that are no longer the standard's: rank, CQI, and bits of a resource block.
    pub fn learnt(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.table.learnt().map(|(Entry { rank, cqi }, bits)| (rank + 1, cqi, bits))
    }

    pub(super) const fn key(&self) -> (bool, u16) {
        (self.nr, self.cell)
    }

    pub(super) const fn table(&self) -> Table {
        self.table
    }
}

impl fmt::Display for CellRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = TABLES.iter().find(|(_, table)| *table == self.table.kind());
        let kind = kind.map_or("nr", |(name, _)| name);
        write!(f, "{} {} {kind}", if self.nr { "nr" } else { "lte" }, self.cell)?;
        for (Entry { rank, cqi }, bits) in self.table.learnt() {
            write!(f, " {}/{cqi}={bits:.1}", rank + 1)?;
        }
        Ok(())
    }
}

impl FromStr for CellRates {
    type Err = NoRates;

    fn from_str(line: &str) -> Result<Self, NoRates> {
        let wrong = |what: &str, wanted| NoRates { what: what.chars().take(40).collect(), wanted };
        let mut words = line.split_whitespace();
        let mut word = |wanted| words.next().ok_or_else(|| wrong("", wanted));
        let technology = word("technology, lte or nr,")?;
        let nr = match technology {
            "lte" => false,
            "nr" => true,
            other => return Err(wrong(other, "technology, lte or nr,")),
        };
        let cell = word("identity")?;
        let cell = cell.parse().map_err(|_| wrong(cell, "identity"))?;
        let name = word("table")?;
        let kind = TABLES.iter().find(|(known, _)| *known == name);
        let &(_, kind) = kind.ok_or_else(|| wrong(name, "table"))?;
        let mut table = Table::standard(kind);
        for entry in words {
            let known = parse(entry).ok_or_else(|| wrong(entry, "entry"))?;
            table.set(known.0, known.1);
        }
        Ok(Self { nr, cell, table })
    }
}

fn parse(entry: &str) -> Option<(Entry, f64)> {
    let (place, bits) = entry.split_once('=')?;
    let (rank, cqi) = place.split_once('/')?;
    let (rank, cqi): (usize, usize) = (rank.parse().ok()?, cqi.parse().ok()?);
    let bits: f64 = bits.parse().ok()?;
    let is_sound = (1..=RANKS).contains(&rank) && cqi < CQIS && bits.is_finite();
    is_sound.then_some((Entry { rank: rank - 1, cqi }, bits))
}

/// The cells that are kept, the one that was left last at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept(VecDeque<CellRates>);

impl Kept {
    pub(super) fn of(rates: impl IntoIterator<Item = CellRates>) -> Self {
        let mut kept = Self::default();
        rates.into_iter().for_each(|rates| kept.keep(rates));
        kept
    }

    pub(super) fn keep(&mut self, rates: CellRates) {
        self.0.retain(|known| known.key() != rates.key());
        if self.0.len() == CELLS {
            self.0.pop_front();
        }
        self.0.push_back(rates);
    }

    pub(super) fn table(&self, key: (bool, u16)) -> Option<Table> {
        self.0.iter().find(|known| known.key() == key).map(CellRates::table)
    }

    pub(super) fn rates(self) -> impl Iterator<Item = CellRates> {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_cell_is_a_line_and_a_line_is_a_cell() {
        let line = "lte 123 64qam 1/15=612.5 2/9=300.0";
        let rates: CellRates = line.parse().unwrap();
        assert_eq!(rates.to_string(), line);
        assert_eq!(rates.key(), (false, 123));
        let standard: CellRates = "nr 1007 nr".parse().unwrap();
        assert_eq!(standard.to_string(), "nr 1007 nr");
    }

    #[test]
    fn a_line_that_is_none_names_what_is_wrong() {
        for (line, what) in [
            ("", "technology"),
            ("gsm 1 nr", "\"gsm\""),
            ("lte 70000 nr", "\"70000\""),
            ("lte 1 5g", "\"5g\""),
            ("lte 1 64qam 9/1=3", "\"9/1=3\""),
            ("lte 1 64qam 1/31=3", "\"1/31=3\""),
            ("lte 1 64qam 1/3=inf", "\"1/3=inf\""),
            ("lte 1 64qam 1", "\"1\""),
        ] {
            let error = line.parse::<CellRates>().unwrap_err().to_string();
            assert!(error.contains(what), "{line}: {error}");
        }
    }

    #[test]
    fn so_many_cells_are_kept_and_then_the_oldest_goes() {
        let table = Table::standard(CqiTable::Nr);
        let mut kept = Kept::default();
        for cell in 0..=CELLS as u16 {
            kept.keep(CellRates::new((true, cell), table));
        }
        assert_eq!(kept.0.len(), CELLS);
        assert_eq!(kept.table((true, 0)), None);
        kept.keep(CellRates::new((true, 9), table));
        assert_eq!(kept.0.len(), CELLS);
    }
}
