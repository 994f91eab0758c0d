//! The state that outlives a killed session: the masks that it set and those that it found, as
//! text.
//!
//! ```text
//! 11 4096 00…00 00…20…00      equipment, items, the mask that was found, the mask set
//! end
//! ```

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::step::Mask;
use crate::command::mask_len;

/// Masks that a session has set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub(super) masks: Vec<Noted>,
}

/// The mask of one equipment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) equipment: u8,
    pub(super) items: u32,
    /// The bits found.
    pub(super) found: Vec<u8>,
    /// Bits that were set.
    pub(super) ours: Vec<u8>,
}

/// A text that is no note, or not all of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no note of log masks: line {line}")]
pub struct NotANote {
    /// Which line, from 1.
    pub line: usize,
}

const END: &str = "end";

impl Noted {
    /// Whether this is the mask that was set.
    pub(super) fn is(&self, mask: &Mask) -> bool {
        self.items == mask.items && self.ours == mask.bits
    }
}

impl Note {
    /// True if there is nothing to restore.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Noted { equipment, items, found, ours } in &self.masks {
            writeln!(f, "{equipment} {items} {} {}", hex(found), hex(ours))?;
        }
        writeln!(f, "{END}")
    }
}

impl FromStr for Note {
    type Err = NotANote;

    /// Text behind the end is ignored: it is the rest of a longer note.
    fn from_str(text: &str) -> Result<Self, NotANote> {
        let mut masks = Vec::new();
        let mut lines = text.lines().zip(1..);
        loop {
            let (text, line) = lines.next().ok_or(NotANote { line: masks.len() + 1 })?;
            if text == END {
                return Ok(Self { masks });
            }
            masks.push(noted(text).ok_or(NotANote { line })?);
        }
    }
}

fn noted(line: &str) -> Option<Noted> {
    let mut words = line.split(' ');
    let equipment = words.next()?.parse().ok()?;
    let items: u32 = words.next()?.parse().ok()?;
    let mut mask = || bits(words.next()?).filter(|bits| bits.len() == mask_len(items));
    let (found, ours) = (mask()?, mask()?);
    words.next().is_none().then_some(Noted { equipment, items, found, ours })
}

fn hex(bits: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bits.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn bits(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use std::string::ToString;

    fn note() -> Note {
        let noted =
            |equipment, found| Noted { equipment, items: 20, found, ours: vec![0, 0x5A, 1] };
        Note { masks: vec![noted(4, vec![0xFF, 0, 1]), noted(11, vec![0; 3])] }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(note().to_string(), "4 20 ff0001 005a01\n11 20 000000 005a01\nend\n");
        assert_eq!(note().to_string().parse(), Ok(note()));
        assert_eq!(Note::default().to_string().parse(), Ok(Note::default()));
        let longer = note().to_string() + "11 20 000000 005a01\nend\n";
        assert_eq!(longer.parse(), Ok(note()), "what is left of a longer one");
    }

    #[test]
    fn a_note_cut_anywhere_is_none() {
        let whole = note().to_string();
        // The last line feed does not belong to the word before it.
        for cut in 0..whole.len() - 1 {
            assert!(whole[..cut].parse::<Note>().is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused_with_their_line() {
        for text in [
            "4 20 ff00 005a01\nend",
            "4 20 ff0001 -\nend",
            "4 20 ff0001 005a0x\nend",
            "4 20 ff0001 005a01 1\nend",
            "4 20 - 005a01\nend",
            "256 20 ff0001 005a01\nend",
            "4 4294967295 00 00\nend",
        ] {
            assert_eq!(text.parse::<Note>(), Err(NotANote { line: 1 }), "{text}");
        }
    }
}
