//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_trace::dci::{BadLine, Counts, Direction, Format, Heard, LiveReader, Reader, Remote};

pub(crate) const FORMATS: [Format; 4] = [
    Format::DciLog(Direction::Downlink),
    Format::DciLog(Direction::Uplink),
    Format::Falcon,
    Format::NrScope,
];

/// The byte for datagrams, after those of the formats.
pub(crate) const REMOTE: u8 = FORMATS.len() as u8;

/// The format in one byte, and a file: what is read of it is read again when it has been written,
/// and while it grows.
pub(crate) fn dci(data: &[u8]) -> Counts {
    let Some((&format, file)) = data.split_first() else { return Counts::default() };
    let format = format % (REMOTE + 1);
    if format == REMOTE {
        return remote(file);
    }
    let format = FORMATS[usize::from(format)];
    let mut reader = Reader::new(format, 3, file);
    let mut heard = Vec::new();
    let lines: Vec<Result<Heard, BadLine>> = reader.by_ref().collect();
    for line in &lines {
        match line {
            Ok(line) => heard.push(*line),
            Err(bad) => assert!(bad.to_string().starts_with("line ")),
        }
    }
    live(format, file, &lines);
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

/// The same file in chunks, as a sniffer writes it. Its last line is whole once its end has come.
fn live(format: Format, file: &[u8], lines: &[Result<Heard, BadLine>]) {
    let chunk = 1 + file.first().map_or(0, |&byte| usize::from(byte));
    let mut reader = LiveReader::new(format, 3);
    let mut read = Vec::new();
    for bytes in file.chunks(chunk).chain([b"\n".as_slice()]) {
        reader.handle_bytes(bytes, |line| read.push(line));
    }
    let messages = |lines: &[Result<Heard, BadLine>]| -> Vec<Heard> {
        lines.iter().filter_map(|line| line.as_ref().ok().copied()).collect()
    };
    // Without a header it goes on to look for one.
    assert!(messages(&read).starts_with(&messages(lines)));
    if lines.iter().any(Result::is_ok) {
        assert_eq!(messages(&read), messages(lines));
    }
    reader.handle_gap();
    reader.handle_bytes(file, |_| {});
    reader.handle_restart();
    reader.handle_bytes(file, |_| {});
}

/// A datagram of NG-Scope's service, alone and behind another.
fn remote(datagram: &[u8]) -> Counts {
    let mut remote = Remote::new();
    let mut heard = Vec::new();
    let _ = remote.handle_datagram(datagram, |one| heard.push(one));
    let counts = remote.counts();
    assert_eq!(counts.messages + counts.silent, heard.len() as u64);
    let twice = [datagram, datagram].concat();
    let _ = remote.handle_datagram(&twice, |one| heard.push(one));
    counts
}
