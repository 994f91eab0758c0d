//! The cells of a column as bytes, for rows that wait in a file.

use parquet::data_type::ByteArray;

use super::cells::{Cells, Values};

/// The first byte of a column: which rows have a cell.
const NONE: u8 = 0;
const ALL: u8 = 1;
const SOME: u8 = 2;

impl Cells {
    /// Moves the cells of so many rows to the end of `out`, and lets go of their memory: the next
    /// captures may have other codes.
    pub(super) fn pack(&mut self, rows: usize, out: &mut Vec<u8>) {
        self.present.resize(rows, 0);
        let filled = self.present.iter().filter(|present| **present != 0).count();
        match filled {
            0 => out.push(NONE),
            all if all == rows => out.push(ALL),
            _ => {
                out.push(SOME);
                out.extend(self.present.iter().map(|present| u8::from(*present != 0)));
            }
        }
        match &self.values {
            Values::Flags(flags) => out.extend(flags.iter().map(|flag| u8::from(*flag))),
            Values::Ints(ints) => ints.iter().for_each(|int| push(zigzag(*int), out)),
            Values::Reals(reals) => out.extend(reals.iter().flat_map(|real| real.to_le_bytes())),
            Values::Bytes(texts) => {
                for text in texts {
                    push(text.len() as u64, out);
                    out.extend_from_slice(text.data());
                }
            }
        }
        *self = self.emptied();
    }

    /// Adds so many rows that [`pack`](Self::pack) made. `None` if the bytes are other ones.
    pub(super) fn unpack(&mut self, rows: usize, bytes: &[u8]) -> Option<()> {
        let (first, mut rest) = bytes.split_first()?;
        let filled = match *first {
            NONE => {
                self.present.resize(self.present.len() + rows, 0);
                0
            }
            ALL => {
                self.present.resize(self.present.len() + rows, 1);
                rows
            }
            _ => {
                let present = take(&mut rest, rows)?;
                self.present.extend(present.iter().map(|present| i16::from(*present)));
                present.iter().filter(|present| **present != 0).count()
            }
        };
        match &mut self.values {
            Values::Flags(flags) => {
                flags.extend(take(&mut rest, filled)?.iter().map(|flag| *flag != 0));
            }
            Values::Ints(ints) => {
                for _ in 0..filled {
                    let number = pull(&mut rest)?;
                    ints.push((number >> 1).cast_signed() ^ -(number & 1).cast_signed());
                }
            }
            Values::Reals(reals) => {
                let numbers = take(&mut rest, filled * 8)?.chunks_exact(8);
                reals.extend(
                    numbers.filter_map(|real| real.try_into().ok().map(f64::from_le_bytes)),
                );
            }
            Values::Bytes(texts) => {
                let mut last = ByteArray::from(Vec::new());
                for _ in 0..filled {
                    let len = usize::try_from(pull(&mut rest)?).ok()?;
                    let text = take(&mut rest, len)?;
                    // Most texts are the name of the same capture or choice as in the row before.
                    if last.data() != text {
                        last = text.to_vec().into();
                    }
                    self.heap_bytes += len;
                    texts.push(last.clone());
                }
            }
        }
        rest.is_empty().then_some(())
    }
}

const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Seven bits in each byte, and a mark on all but the last.
fn push(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn pull(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7F).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::super::kind::{Cell, Kind};
    use super::*;

    fn round(kind: Kind, cells: &[Option<Cell>]) {
        let mut own = Cells::new(kind, false);
        let mut twice = Cells::new(kind, false);
        for (row, cell) in [cells, cells].concat().into_iter().enumerate() {
            cell.into_iter().for_each(|cell| twice.set(row, cell));
        }
        for (row, cell) in cells.iter().enumerate() {
            cell.iter().for_each(|cell| own.set(row, cell.clone()));
        }
        let (mut packed, mut bytes) = (Vec::new(), Vec::new());
        own.pack(cells.len(), &mut packed);
        own.unpack(cells.len(), &packed).expect("its own bytes");
        own.unpack(cells.len(), &packed).expect("its own bytes");
        assert!(own.unpack(cells.len(), &packed[..packed.len() - 1]).is_none());
        let mut own = Cells::new(kind, false);
        own.unpack(cells.len(), &packed).expect("its own bytes");
        own.unpack(cells.len(), &packed).expect("its own bytes");
        let mut again = Vec::new();
        own.pack(2 * cells.len(), &mut again);
        twice.pack(2 * cells.len(), &mut bytes);
        assert_eq!(again, bytes, "{kind:?}");
    }

    #[test]
    fn packed_cells_come_back_behind_others() {
        let ints = [i64::MIN, -1, 0, 1, 127, 128, i64::MAX].map(|int| Some(Cell::Int(int)));
        round(Kind::Int, &ints);
        round(Kind::Time, &[None, ints[3].clone(), None, ints[6].clone()]);
        round(Kind::Flag, &[Some(Cell::Int(1)), None, Some(Cell::Int(0))]);
        round(Kind::Real, &[Some(Cell::Real(-0.5)), None, Some(Cell::Real(f64::MAX))]);
        round(Kind::Text, &["a", "a", "", "long"].map(|text| Some(Cell::text(text))));
        round(Kind::Bytes, &[None, None]);
    }
}
