//! The numbers of a line, and its errors.

use alloc::string::String;
use core::ops::RangeInclusive;
use core::time::Duration;

/// No sniffer writes longer lines. A file with a longer line has another format.
pub(super) const LONGEST: usize = 4096;

/// A line that is left out, and why. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    /// The fault.
    #[source]
    pub problem: Problem,
}

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It has bytes that are no text.
    #[error("no text; is the file compressed?")]
    Text,
    /// It is longer than any line of a sniffer.
    #[error("{len} bytes, a line has {most} at most", most = LONGEST)]
    Long {
        /// Its length.
        len: usize,
    },
    /// It has another number of columns.
    #[error(
        "{found} columns, {wanted} needed; is it another format, or the other direction's file?"
    )]
    Columns {
        /// Their number.
        found: usize,
        /// The expected number.
        wanted: usize,
    },
    /// The header has no such column, so that no line can be read.
    #[error("the header has no column {column}")]
    Header {
        /// The missing column.
        column: &'static str,
    },
    /// A column does not hold a number within its range.
    #[error("{column} is {text:?}, which is no number from {low} to {high}")]
    Number {
        /// The column.
        column: &'static str,
        /// The beginning of the found text.
        text: String,
        /// The lowest that it may be.
        low: i64,
        /// The highest.
        high: i64,
    },
}

/// A number from a column.
pub(super) fn number(
    column: &'static str,
    text: &str,
    range: RangeInclusive<i64>,
) -> Result<i64, Problem> {
    let text = text.trim();
    let read = text.parse().ok().filter(|number| range.contains(number));
    read.ok_or_else(|| wrong(column, text, &range))
}

fn wrong(column: &'static str, text: &str, range: &RangeInclusive<i64>) -> Problem {
    let text = text.chars().take(20).collect();
    Problem::Number { column, text, low: *range.start(), high: *range.end() }
}

/// Seconds with a fraction of them, to the microsecond.
pub(super) fn seconds(column: &'static str, text: &str) -> Result<Duration, Problem> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = whole.parse::<u64>().ok().filter(|&seconds| digits && seconds < 1 << 40);
    let seconds = seconds.ok_or_else(|| wrong(column, text, &(0..=1 << 40)))?;
    let place = |at| fraction.as_bytes().get(at).map_or(0, |digit| u64::from(digit - b'0'));
    let micros = (0..6).fold(0, |micros, at| micros * 10 + place(at));
    Ok(Duration::from_secs(seconds) + Duration::from_micros(micros))
}

pub(super) const RNTI: RangeInclusive<i64> = 0..=65_535;
pub(super) const PRB: RangeInclusive<i64> = 0..=275;
pub(super) const MCS: RangeInclusive<i64> = 0..=31;
pub(super) const FLAG: RangeInclusive<i64> = 0..=1;
pub(super) const FRAME: RangeInclusive<i64> = 0..=1023;
/// No block of LTE or NR is larger: 1 376 224 bits are 275 resource blocks, four layers, 1024QAM.
pub(super) const BITS: RangeInclusive<i64> = 0..=2_000_000;
