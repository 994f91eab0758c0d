//! A link over time as CSV: the rows of a [`LinkTrace`] under the names of their columns.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use csv_core::{ReadRecordResult, Reader};
use sounding_units::without_mark;

use crate::link_trace::{Builder, Form, LinkTrace, LinkTraceError};

/// The longest line, in bytes of its fields: three numbers of twenty digits have room.
const LONGEST: usize = 256;

/// The most columns.
const COLUMNS: usize = 16;

/// Why a text is no link. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseCsvError {
    /// There is not even a header.
    #[error(
        "the file is empty: it begins with a line `time_ms,packets` or `from_ns,until_ns,rate_bits_per_sec`"
    )]
    Empty,
    /// The header is another.
    #[error(
        "line 1 has the columns {found}, not `time_ms,packets` or `from_ns,until_ns,rate_bits_per_sec`"
    )]
    Header {
        /// The found heading.
        found: String,
    },
    /// A line has more or fewer fields than the header.
    #[error("line {line} has {found} fields, not {expected}")]
    Fields {
        /// Number of the line.
        line: u64,
        /// The number of its fields.
        found: usize,
        /// The expected number.
        expected: usize,
    },
    /// A field is no whole number.
    #[error("line {line}: {text:?} is no whole number")]
    Number {
        /// Number of the line.
        line: u64,
        /// The beginning of the text.
        text: String,
    },
    /// A line is longer than any of such a file.
    #[error("line {line} is longer than {LONGEST} bytes or has more than {COLUMNS} fields")]
    Long {
        /// Number of the line.
        line: u64,
    },
    /// A row that cannot be; rows count from 1, without the header.
    #[error(transparent)]
    Row(#[from] LinkTraceError),
}

/// Reads a link.
///
/// # Errors
///
/// [`ParseCsvError`] if the header names no known columns, a line has other columns or no whole
/// number, or the rows are no link.
pub fn parse(bytes: &[u8]) -> Result<LinkTrace, ParseCsvError> {
    let mut records = Records::new(bytes);
    let (line, header) = records.next()?.ok_or(ParseCsvError::Empty)?;
    let names: Vec<String> = header.iter().map(|field| quote(field.trim_ascii())).collect();
    let Some((form, places)) = Form::of(&names).filter(|_| line == 1) else {
        return Err(ParseCsvError::Header { found: names.join(",") });
    };
    let mut builder = Builder::new(form);
    let mut row = Vec::with_capacity(places.len());
    while let Some((line, fields)) = records.next()? {
        if fields.len() != places.len() {
            let (found, expected) = (fields.len(), places.len());
            return Err(ParseCsvError::Fields { line, found, expected });
        }
        row.clear();
        for &place in &places {
            let text = fields[place].trim_ascii();
            let number = || ParseCsvError::Number { line, text: quote(text) };
            row.push(whole(text).ok_or_else(number)?);
        }
        builder.push(&row)?;
    }
    Ok(builder.finish()?)
}

/// Writes a link as [`parse`] reads it.
///
/// # Errors
///
/// That of `out`, and no other.
pub fn write(course: &LinkTrace, out: &mut impl fmt::Write) -> fmt::Result {
    writeln!(out, "{}", course.form().columns().join(","))?;
    course.for_each_row(|row| {
        for (at, number) in row.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(out, "{comma}{number}")?;
        }
        writeln!(out)
    })
}

fn whole(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

fn quote(text: &[u8]) -> String {
    let beginning = &text[..text.len().min(160)];
    String::from_utf8_lossy(beginning).chars().take(40).collect()
}

/// The start of a line, and its fields.
type Record<'a> = (u64, Vec<&'a [u8]>);

/// Lines and their fields.
struct Records<'a> {
    reader: Reader,
    rest: &'a [u8],
    fields: [u8; LONGEST],
    ends: [usize; COLUMNS],
}

impl<'a> Records<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let bytes = without_mark(bytes);
        Self { reader: Reader::new(), rest: bytes, fields: [0; LONGEST], ends: [0; COLUMNS] }
    }

    /// The next line that is not empty, and where it begins.
    fn next(&mut self) -> Result<Option<Record<'_>>, ParseCsvError> {
        let line = self.reader.line();
        let (mut written, mut ended) = (0, 0);
        loop {
            let (result, taken, more, ends) = self.reader.read_record(
                self.rest,
                &mut self.fields[written..],
                &mut self.ends[ended..],
            );
            self.rest = &self.rest[taken..];
            (written, ended) = (written + more, ended + ends);
            match result {
                // No more input: an empty input marks the end for the reader.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err(ParseCsvError::Long { line });
                }
                ReadRecordResult::End => return Ok(None),
                ReadRecordResult::Record => break,
            }
        }
        let fields = &self.fields;
        let begins = core::iter::once(0).chain(self.ends.iter().copied());
        let fields = begins.zip(&self.ends[..ended]).map(|(from, &to)| &fields[from..to]);
        Ok(Some((line, fields.collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec;

    fn written(course: &LinkTrace) -> String {
        let mut text = String::new();
        write(course, &mut text).unwrap();
        text
    }

    fn fault(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn both_tables_are_read_and_written() {
        for text in [
            "time_ms,packets\n0,2\n3,3\n9,1\n",
            "from_ns,until_ns,rate_bits_per_sec\n0,1500000001,12000000\n1500000001,2000000000,0\n",
        ] {
            assert_eq!(written(&parse(text.as_bytes()).unwrap()), text);
        }
    }

    #[test]
    fn what_other_programs_write_is_read_too() {
        let plain = parse(b"time_ms,packets\n0,2\n3,3\n").unwrap();
        let foreign = "\u{feff}\"packets\",\"time_ms\"\r\n\"2\", 0\r\n\r\n3,3";
        assert_eq!(parse(foreign.as_bytes()), Ok(plain));
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        for (text, said) in [
            ("", "empty"),
            ("1\n2\n", "the columns 1, not"),
            ("time_ms,packets,x\n", "time_ms,packets,x"),
            ("time_ms,packets\n1,1\n2\n", "line 3 has 1 fields, not 2"),
            ("time_ms,packets\n1,1.5\n", "line 2: \"1.5\""),
            ("time_ms,packets\n1,-1\n", "line 2: \"-1\""),
            ("time_ms,packets\n1,99999999999999999999\n", "line 2"),
            ("time_ms,packets\n", "no row"),
            ("time_ms,packets\n4,1\n3,1\n", "row 2 is at 3, not after the row before at 4"),
        ] {
            assert!(fault(text).contains(said), "{text:?}: {}", fault(text));
        }
        assert_eq!(parse(&vec![b'1'; 5_000]), Err(ParseCsvError::Long { line: 1 }));
        assert_eq!(parse(&[b','; 100]), Err(ParseCsvError::Long { line: 1 }));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn rates_are_read_as_they_were_written(
            spans in proptest::collection::vec((1..10_000_000_000_u64, any::<u64>()), 1..30),
        ) {
            let mut builder = Builder::new(Form::Rates);
            let mut from = 0;
            for (span, rate) in spans {
                builder.push(&[from, from + span, rate]).unwrap();
                from += span;
            }
            let course = builder.finish().unwrap();
            prop_assert_eq!(parse(written(&course).as_bytes()), Ok(course));
        }
    }
}
