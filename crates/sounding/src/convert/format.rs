//! Choice of the file format.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use clap::ValueEnum;
use miette::{Result, miette};
use sounding_export::pcap::Gsmtap;
use sounding_host::files::names_descriptor;

use crate::output::Packing;
use crate::screen;

/// An output format for captures or links over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FileKind {
    /// A line of JSON for each record
    Jsonl,
    /// A folder with a table for each log code; a file for a link
    Parquet,
    /// RRC and NAS for Wireshark, without NR
    Pcap,
    /// RRC and NAS for Wireshark
    Pcapng,
    /// Diag frames
    #[value(alias = "mi2log")]
    Qmdl,
    /// Log packets without framing
    Hdf,
    /// Log records without framing
    Dlf,
    /// A link: rows of numbers
    Csv,
    /// A link: a line for each packet that it could have carried
    Mahimahi,
}

impl FileKind {
    /// Whether it holds messages and nothing else.
    pub(super) fn is_of_messages(self) -> bool {
        matches!(self, Self::Pcap | Self::Pcapng)
    }
}

/// A version of GSMTAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Version {
    /// Wireshark reads it
    #[value(name = "2")]
    V2,
    /// The public proposal: it has room for NR and for every carrier, and Wireshark needs a plugin
    #[value(name = "3")]
    V3,
}

impl From<Version> for Gsmtap {
    fn from(version: Version) -> Self {
        match version {
            Version::V2 => Self::V2,
            Version::V3 => Self::V3,
        }
    }
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: FileKind,
    pub(super) packing: Packing,
}

impl Target {
    /// The format of `path`'s extension, unless `kind` is given.
    pub(super) fn of(path: &Path, kind: Option<FileKind>) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let (name, packing) = match name.rsplit_once('.') {
            Some((name, "gz")) => (name, Packing::Gzip),
            Some((name, "zst")) => (name, Packing::Zstd),
            _ => (name.as_str(), Packing::None),
        };
        let end = name.rsplit_once('.').map(|(_, end)| end);
        let kind = match (kind, end) {
            (Some(kind), _) => kind,
            (None, Some("jsonl" | "ndjson")) => FileKind::Jsonl,
            (None, Some("parquet")) => FileKind::Parquet,
            (None, Some("pcap")) => FileKind::Pcap,
            (None, Some("pcapng")) => FileKind::Pcapng,
            (None, Some("qmdl" | "mi2log")) => FileKind::Qmdl,
            (None, Some("hdf")) => FileKind::Hdf,
            (None, Some("dlf")) => FileKind::Dlf,
            (None, Some("csv")) => FileKind::Csv,
            (None, Some("trace" | "up" | "down" | "mahimahi")) => FileKind::Mahimahi,
            (None, _) => {
                return Err(miette!(
                    help = "name it .jsonl, .parquet, .pcapng, .pcap, .qmdl, .hdf or .dlf, a link .csv, .parquet or .trace, or say it with --to",
                    "{}: what kind of file is to be written?",
                    screen::path(path)
                ));
            }
        };
        if kind == FileKind::Parquet {
            if packing != Packing::None {
                return Err(miette!(
                    "{}: Parquet is packed already, its name ends in .parquet",
                    screen::path(path)
                ));
            }
            if is_pipe(path) {
                return Err(miette!(
                    help = "name a file, or say --to jsonl for the same records line by line",
                    "{}: Parquet cannot be streamed: its tables are complete only at their end",
                    screen::path(path)
                ));
            }
        }
        Ok(Self { kind, packing })
    }
}

/// Whether the output goes to another program.
fn is_pipe(path: &Path) -> bool {
    path == Path::new("-")
        || names_descriptor(path)
        || path.metadata().is_ok_and(|about| about.file_type().is_fifo())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_kind_and_packing() {
        for (name, kind, packing) in [
            ("a.jsonl", FileKind::Jsonl, Packing::None),
            ("a.b.QMDL.gz", FileKind::Qmdl, Packing::Gzip),
            ("folder/a.mi2log.zst", FileKind::Qmdl, Packing::Zstd),
            ("a.pcapng.gz", FileKind::Pcapng, Packing::Gzip),
            ("a.parquet", FileKind::Parquet, Packing::None),
            ("a.csv.zst", FileKind::Csv, Packing::Zstd),
            ("Verizon-LTE-short.down", FileKind::Mahimahi, Packing::None),
        ] {
            let target = Target::of(Path::new(name), None).expect(name);
            assert_eq!(target, Target { kind, packing }, "{name}");
        }
    }

    #[test]
    fn a_name_that_says_nothing_is_an_error_unless_the_kind_is_given() {
        for name in ["-", "a", "a.gz", "a.txt", ".gz"] {
            assert!(Target::of(Path::new(name), None).is_err(), "{name}");
            assert!(Target::of(Path::new(name), Some(FileKind::Dlf)).is_ok(), "{name}");
        }
    }

    #[test]
    fn parquet_is_neither_packed_again_nor_piped() {
        assert!(Target::of(Path::new("a.parquet.gz"), None).is_err());
        assert!(Target::of(Path::new("-"), Some(FileKind::Parquet)).is_err());
    }
}
