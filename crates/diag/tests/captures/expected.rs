//! The reference's reading of a capture: one JSON line for each frame.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

/// What the reference says about one frame.
#[derive(Deserialize)]
pub(crate) struct Line<'a> {
    /// Position of the frame in the file.
    pub off: u64,
    /// Command byte; absent from a frame whose check is wrong.
    pub cmd: Option<u8>,
    /// Command, version, reserved and radio of the wrapper.
    pub wrap: Option<[u32; 4]>,
    /// Log code, as in `0xB139`.
    pub code: Option<&'a str>,
    /// First byte of the body.
    pub ver: Option<u8>,
    /// The inner length of a log record.
    pub len: Option<u64>,
    /// Time stamp as on the wire.
    pub ts: Option<u64>,
    /// Bytes of body.
    pub body: Option<usize>,
    /// The reason if the other fields are missing.
    pub err: Option<&'a str>,
    /// The fields the reference found.
    #[serde(borrow)]
    pub mi: Option<&'a RawValue>,
}

/// Calls `check` with each line of a compressed file, and gives how many there were.
pub(crate) fn for_each_line(path: &Path, mut check: impl FnMut(Line<'_>)) -> usize {
    let file = std::fs::File::open(path).expect("the expected readings can be opened");
    let unpacked = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file))
        .expect("the expected readings are compressed with zstd");
    let mut lines = BufReader::with_capacity(1 << 18, unpacked.take(u64::MAX));
    let mut text = String::new();
    let mut count = 0;
    while lines.read_line(&mut text).expect("the expected readings are text") > 0 {
        check(serde_json::from_str(&text).unwrap_or_else(|e| panic!("line {count}: {e}")));
        text.clear();
        count += 1;
    }
    count
}
