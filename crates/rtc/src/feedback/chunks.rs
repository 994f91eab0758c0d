//! The status of each packet, in chunks of 16 bits (§3.1.1 to §3.1.4).

use super::FeedbackError;

/// The packets that a chunk describes at most: a run, or a vector of one or two bits each.
const LONGEST_RUN: usize = (1 << 13) - 1;
const ONE_BIT: usize = 14;
const TWO_BITS: usize = 7;

/// Whether a packet arrived, and the length of its delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    NotReceived,
    /// Its delta is a byte, not negative.
    Small,
    /// Its delta is two bytes with a sign.
    Large,
}

impl Symbol {
    pub(super) fn of(delta: Option<i16>) -> Self {
        match delta.map(u8::try_from) {
            None => Self::NotReceived,
            Some(Ok(_)) => Self::Small,
            Some(Err(_)) => Self::Large,
        }
    }

    fn read(bits: u16) -> Option<Self> {
        match bits & 3 {
            0 => Some(Self::NotReceived),
            1 => Some(Self::Small),
            2 => Some(Self::Large),
            _ => None,
        }
    }

    fn bits(self) -> u16 {
        match self {
            Self::NotReceived => 0,
            Self::Small => 1,
            Self::Large => 2,
        }
    }
}

/// The symbols of `count` packets, and the bytes behind the chunks. Symbols of a vector's end that
/// belong to no packet count as none.
pub(super) fn read_symbols(
    mut bytes: &[u8],
    base: u16,
    count: u16,
) -> Result<(Vec<Symbol>, &[u8]), FeedbackError> {
    let whole = bytes.len();
    let count = usize::from(count);
    let mut symbols = Vec::new();
    while symbols.len() < count {
        let cut = FeedbackError::Cut { have: whole, need: whole + 2 };
        let (chunk, rest) = bytes.split_first_chunk::<2>().ok_or(cut)?;
        bytes = rest;
        let chunk = u16::from_be_bytes(*chunk);
        let left = count - symbols.len();
        // The packet's number is for the error only.
        let place = base.wrapping_add(u16::try_from(symbols.len()).unwrap_or(u16::MAX));
        let read = |bits| Symbol::read(bits).ok_or(FeedbackError::Reserved(place));
        match chunk >> 14 {
            0 | 1 => {
                let run = usize::from(chunk & 0x1FFF).min(left);
                let symbol = read(chunk >> 13)?;
                symbols.resize(symbols.len() + run, symbol);
            }
            2 => {
                for at in (0..ONE_BIT).rev().take(left) {
                    symbols.push(read(chunk >> at & 1)?);
                }
            }
            _ => {
                for at in (0..TWO_BITS).rev().take(left) {
                    symbols.push(read(chunk >> (2 * at) & 3)?);
                }
            }
        }
    }
    Ok((symbols, bytes))
}

/// Writes the chunks of symbols: the kind of chunk that describes the most packets, from the first
/// on.
pub(super) fn write_symbols(symbols: &[Symbol], into: &mut Vec<u8>) {
    let mut rest = symbols;
    while let Some(&first) = rest.first() {
        let run = rest.iter().take(LONGEST_RUN).take_while(|&&symbol| symbol == first).count();
        let small =
            rest.iter().take(ONE_BIT).take_while(|&&symbol| symbol != Symbol::Large).count();
        let is_small = small == rest.len().min(ONE_BIT);
        let vector = if is_small { small } else { rest.len().min(TWO_BITS) };
        let (chunk, taken) = if run >= vector {
            (first.bits() << 13 | u16::try_from(run).unwrap_or_default(), run)
        } else if is_small {
            (0x8000 | packed(&rest[..vector], ONE_BIT, 1), vector)
        } else {
            (0xC000 | packed(&rest[..vector], TWO_BITS, 2), vector)
        };
        into.extend(chunk.to_be_bytes());
        rest = &rest[taken..];
    }
}

/// Symbols in a row of `places`, of `bits` each, from the left; what is left over is zero.
fn packed(symbols: &[Symbol], places: usize, bits: usize) -> u16 {
    let places = (0..places).rev();
    symbols.iter().zip(places).fold(0, |row, (symbol, place)| row | symbol.bits() << (place * bits))
}
