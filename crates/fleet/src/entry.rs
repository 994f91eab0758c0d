//! Files of a dataset, as lines of JSON in it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Lines};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sounding_host::files::{Access, Draft, Over};

use crate::error::{FleetError, read, write};

/// A file that a run found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Entry {
    /// Below the folder of all captures.
    pub(crate) path: String,
    pub(crate) size_bytes: u64,
    /// Of a capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<Sha>,
    #[serde(flatten)]
    pub(crate) state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub(crate) enum State {
    /// A capture, which a block makes rows of.
    Read { block: u32 },
    /// It has the bytes of another one, and no rows.
    Again { same_as: String },
    /// No capture.
    Foreign { error: String },
    /// It cannot be read.
    Unreadable { error: String },
}

/// The SHA-256 of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Sha(pub(crate) [u8; 32]);

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<Sha> for String {
    fn from(sha: Sha) -> Self {
        sha.to_string()
    }
}

impl TryFrom<String> for Sha {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut bytes = [0; 32];
        let digits = text.as_bytes().chunks_exact(2);
        for (byte, digits) in bytes.iter_mut().zip(digits) {
            let digits = std::str::from_utf8(digits).map_err(|_| "no SHA-256")?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| "no SHA-256")?;
        }
        if text.len() == 64 { Ok(Self(bytes)) } else { Err("no SHA-256") }
    }
}

/// What became of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Outcome {
    pub(crate) path: String,
    /// Why it has no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) records: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) hidden_records: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unwanted_records: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) partly_read_records: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) longer_records: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unsupported_records: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) corrupt_records: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) other_packets: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) corrupt_frames: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) cut_bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) padding_bytes: u64,
    /// The fault of what packs it: the rest is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) damage: Option<String>,
    /// Microseconds on the Unix clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_time_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_time_us: Option<u64>,
}

/// A line about a block: a part that it wrote, or a capture.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Part { part: String },
    Capture(Outcome),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Entry {
    /// The name of a capture in rows: the beginning of its SHA-256.
    pub(crate) fn capture(&self) -> String {
        let mut name = self.sha256.map(String::from).unwrap_or_default();
        name.truncate(16);
        name
    }

    /// The block that it is in.
    pub(crate) fn block(&self) -> Option<u32> {
        match self.state {
            State::Read { block } => Some(block),
            _ => None,
        }
    }
}

/// Writes a file of lines, which is there whole or not at all.
pub(crate) fn write_lines<'l, T: Serialize + 'l>(
    path: &Path,
    access: Access,
    lines: impl IntoIterator<Item = &'l T>,
) -> Result<(), FleetError> {
    let written = || -> io::Result<()> {
        let mut draft = Draft::begin(path, access)?;
        lines.into_iter().try_for_each(|line| write_line(&mut draft, line))?;
        draft.finish(Over::File)
    };
    written().map_err(write(path))
}

pub(crate) fn write_line(mut out: impl io::Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut out, line)?;
    out.write_all(b"\n")
}

/// Lines of a file, one after the other.
pub(crate) struct ReadLines<T> {
    path: PathBuf,
    lines: Lines<BufReader<File>>,
    number: usize,
    of: PhantomData<T>,
}

impl<T: DeserializeOwned> ReadLines<T> {
    pub(crate) fn open(path: &Path) -> Result<Self, FleetError> {
        let file = File::open(path).map_err(read(path))?;
        let lines = BufReader::new(file).lines();
        Ok(Self { path: path.into(), lines, number: 0, of: PhantomData })
    }
}

impl<T: DeserializeOwned> Iterator for ReadLines<T> {
    type Item = Result<T, FleetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.number += 1;
        let line = match self.lines.next()? {
            Ok(line) => line,
            Err(error) => return Some(Err(read(&self.path)(error))),
        };
        Some(serde_json::from_str(&line).map_err(|source| FleetError::Damaged {
            path: self.path.clone(),
            line: self.number,
            source,
        }))
    }
}
