//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_trace::dci::{Counts, Direction, Format, Heard, Reader};

pub(crate) const FORMATS: [Format; 4] = [
    Format::DciLog(Direction::Downlink),
    Format::DciLog(Direction::Uplink),
    Format::Falcon,
    Format::NrScope,
];

/// One byte for the format, then a file. The read lines are written and read again, and must be equal.
pub(crate) fn dci(data: &[u8]) -> Counts {
    let Some((&format, file)) = data.split_first() else { return Counts::default() };
    let format = FORMATS[usize::from(format) % FORMATS.len()];
    let mut reader = Reader::new(format, 3, file);
    let mut heard = Vec::new();
    for line in &mut reader {
        match line {
            Ok(line) => heard.push(line),
            Err(bad) => assert!(bad.to_string().starts_with("line ")),
        }
    }
    let mut text = String::from(format.header());
    text.push('\n');
    // FALCON cannot say that a message has no block, or blocks of different coding.
    let written: Vec<Heard> =
        heard.iter().filter(|line| format.write(line, &mut text)).copied().collect();
    let again: Vec<Heard> =
        Reader::new(format, 3, text.as_bytes()).map(|line| line.expect("it was written")).collect();
    assert_eq!(again, written);
    assert_eq!(written.len(), heard.len());
    reader.counts()
}
