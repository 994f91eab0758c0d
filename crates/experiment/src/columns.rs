//! A table of words for a terminal.

use std::fmt::Write as _;

/// No column is padded further: formatting takes no greater width, and a name in a plan has no
/// limit.
pub const WIDEST: usize = u16::MAX as usize;

/// Lines with columns as wide as the widest cell, or as 65,535 characters; the first `words` begin
/// at the left, the others end at the right.
pub fn aligned(lines: &[Vec<String>], words: usize) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0).min(WIDEST)).collect();
    let mut text = String::new();
    for line in lines {
        let mut written = String::new();
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Writing into a string cannot fail.
            let _ = if at < words {
                write!(written, "{cell:<width$}  ")
            } else {
                write!(written, "{cell:>width$}  ")
            };
        }
        text.push_str(written.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_at_the_left_and_numbers_end_at_the_right() {
        let lines = [vec!["flow".into(), "Mbit/s".into()], vec!["a".into(), "7".into()]];
        assert_eq!(aligned(&lines, 1), "flow  Mbit/s\na          7\n");
    }

    #[test]
    fn a_cell_of_any_length_is_written() {
        let long = "x".repeat(70_000);
        let text = aligned(&[vec![long.clone(), "1".into()], vec!["a".into(), "2".into()]], 1);
        assert!(text.starts_with(&long), "{}", text.len());
    }
}
