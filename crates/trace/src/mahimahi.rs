//! mahimahi's packet-delivery traces: one whole number of milliseconds a line, one line an
//! opportunity.
//!
//! Several lines may name the same millisecond, a trace may begin at 0, and thousands of
//! milliseconds may have no line at all (an outage).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use sounding_units::without_mark;

use crate::{InvalidTrace, MAX_MILLIS, MAX_OPPORTUNITIES, Trace};

/// The number of characters of a wrong line that the error quotes.
const QUOTED: usize = 40;

/// Why bytes are not a mahimahi trace. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTraceError {
    /// The file has no line.
    #[error("the trace is empty: it needs at least one line with a time in milliseconds")]
    Empty,
    /// An empty line.
    #[error("line {line} is blank: every line is one time in milliseconds")]
    Blank {
        /// Number of the line.
        line: usize,
    },
    /// A line that is not a whole number.
    #[error("line {line}: {text:?} is not a whole number of milliseconds")]
    NotANumber {
        /// Number of the line.
        line: usize,
        /// The beginning of the text.
        text: String,
    },
    /// A line with a negative number.
    #[error("line {line}: {text:?} is negative, a time in milliseconds starts at 0")]
    Negative {
        /// Number of the line.
        line: usize,
        /// The beginning of the text.
        text: String,
    },
    /// A time before the time on the line above.
    #[error("line {line}: {millis} ms is before the {previous} ms of the line above")]
    Decreasing {
        /// Number of the line.
        line: usize,
        /// The time there.
        millis: u32,
        /// The time on the line above.
        previous: u32,
    },
    /// A time past [`MAX_MILLIS`].
    #[error(
        "line {line}: {text} ms is past the limit of {MAX_MILLIS} ms (seven days); are these milliseconds?"
    )]
    TooLate {
        /// Number of the line.
        line: usize,
        /// The beginning of the text.
        text: String,
    },
    /// More lines than [`MAX_OPPORTUNITIES`].
    #[error("line {line}: more than {MAX_OPPORTUNITIES} lines; cut the trace")]
    TooMany {
        /// The first line too many.
        line: usize,
    },
    /// Every line is 0.
    #[error("all {lines} lines are 0 ms: a trace that lasts no time cannot be repeated")]
    NoDuration {
        /// The number of lines.
        lines: usize,
    },
}

/// Reads a trace. A last line without a line feed, and lines that end in CR LF, are read too.
///
/// # Errors
///
/// [`ParseTraceError`] if a line is no number or below the one before, or the trace is empty, lasts
/// no time or is too long.
pub fn parse(bytes: &[u8]) -> Result<Trace, ParseTraceError> {
    let mut millis = Vec::new();
    let mut previous = 0;
    let bytes = without_mark(bytes);
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if body.is_empty() {
        return Err(ParseTraceError::Empty);
    }
    for (index, text) in body.split(|&byte| byte == b'\n').enumerate() {
        let line = index + 1;
        if index == MAX_OPPORTUNITIES {
            return Err(ParseTraceError::TooMany { line });
        }
        let at = parse_line(line, text.trim_ascii())?;
        if at < previous {
            return Err(ParseTraceError::Decreasing { line, millis: at, previous });
        }
        previous = at;
        millis.push(at);
    }
    let lines = millis.len();
    Trace::from_millis(millis).map_err(|error| match error {
        InvalidTrace::NoDuration => ParseTraceError::NoDuration { lines },
        InvalidTrace::TooMany => ParseTraceError::TooMany { line: lines },
        // Order and range were checked line by line above.
        InvalidTrace::Empty | InvalidTrace::Decreasing { .. } | InvalidTrace::TooLate { .. } => {
            ParseTraceError::Empty
        }
    })
}

fn parse_line(line: usize, text: &[u8]) -> Result<u32, ParseTraceError> {
    if text.is_empty() {
        return Err(ParseTraceError::Blank { line });
    }
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(ParseTraceError::NotANumber { line, text: quote(text) });
    }
    if digits.len() < text.len() {
        return Err(ParseTraceError::Negative { line, text: quote(text) });
    }
    let value = digits.iter().fold(0_u64, |value, &digit| {
        value.saturating_mul(10).saturating_add((digit - b'0').into())
    });
    u32::try_from(value)
        .ok()
        .filter(|&value| value <= MAX_MILLIS)
        .ok_or_else(|| ParseTraceError::TooLate { line, text: quote(text) })
}

fn quote(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(4 * QUOTED)]).chars().take(QUOTED).collect()
}

/// Writes a trace as mahimahi reads it.
///
/// # Errors
///
/// That of `out`, and no other.
pub fn write(trace: &Trace, out: &mut impl fmt::Write) -> fmt::Result {
    trace.millis().iter().try_for_each(|millis| writeln!(out, "{millis}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec;

    #[test]
    fn several_packets_may_share_a_millisecond_and_the_first_may_be_zero() {
        let trace = parse(b"0\n0\n3\n3\n5000\n").unwrap();
        assert_eq!(trace.millis(), [0, 0, 3, 3, 5000]);
    }

    #[test]
    fn the_last_line_feed_and_carriage_returns_do_not_matter() {
        assert_eq!(parse(b"1\r\n2\r\n"), parse(b"1\n2"));
    }

    #[test]
    fn every_fault_is_named_with_its_line() {
        let text = |text: &str| String::from(text);
        for (bytes, error) in [
            (&b""[..], ParseTraceError::Empty),
            (b"\n", ParseTraceError::Empty),
            (b"1\n\n2\n", ParseTraceError::Blank { line: 2 }),
            (b"1\n2.5\n", ParseTraceError::NotANumber { line: 2, text: text("2.5") }),
            (b"-", ParseTraceError::NotANumber { line: 1, text: text("-") }),
            (b"1\n-7\n", ParseTraceError::Negative { line: 2, text: text("-7") }),
            (b"1\n5\n4\n", ParseTraceError::Decreasing { line: 3, millis: 4, previous: 5 }),
            (b"604800001\n", ParseTraceError::TooLate { line: 1, text: text("604800001") }),
            (
                b"99999999999999999999999\n",
                ParseTraceError::TooLate { line: 1, text: text("99999999999999999999999") },
            ),
            (b"0\n0\n", ParseTraceError::NoDuration { lines: 2 }),
        ] {
            assert_eq!(parse(bytes), Err(error), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn an_error_repeats_only_the_beginning_of_a_long_line() {
        let error = parse(&vec![b'x'; 1_000_000]).unwrap_err();
        assert!(error.to_string().len() < 120, "{error}");
    }

    #[test]
    fn a_file_with_too_many_lines_is_refused_before_it_fills_the_memory() {
        let bytes = b"1\n".repeat(MAX_OPPORTUNITIES + 5);
        assert_eq!(parse(&bytes), Err(ParseTraceError::TooMany { line: MAX_OPPORTUNITIES + 1 }));
    }

    #[test]
    fn every_public_mahimahi_trace_is_read_and_written_unchanged() {
        for path in sounding_testdata::shared_files("traces/mahimahi/traces") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !(name.ends_with(".up") || name.ends_with(".down")) {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let trace = parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut written = String::new();
            write(&trace, &mut written).unwrap();
            assert!(written.as_bytes() == bytes, "{name} changed");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn what_is_written_is_read_back(mut millis in proptest::collection::vec(0..10_000_u32, 1..50)) {
            millis.sort_unstable();
            millis.push(10_000);
            let trace = Trace::from_millis(millis).unwrap();
            let mut written = String::new();
            write(&trace, &mut written).unwrap();
            prop_assert_eq!(parse(written.as_bytes()), Ok(trace));
        }
    }
}
