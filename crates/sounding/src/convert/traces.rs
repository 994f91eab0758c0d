//! A link over time into another kind of file: mahimahi's packet deliveries, CSV, Parquet. A
//! capture becomes a link too.

use std::fmt;
use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use miette::{Result, miette};
use sounding_host::MAX_TRACE;
use sounding_kpi::Direction;
use sounding_trace::{LinkTrace, csv, mahimahi};

use super::format::{FileKind, Target};
use super::parquet;
use crate::captured;
use crate::input::{Source, read_whole};
use crate::output::{Access, Output, Over};
use crate::screen;

/// The format of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InputKind {
    /// Diag records; the default if the file's name does not tell the format
    Capture,
    /// A link: a line for each packet that it could have carried
    Mahimahi,
    /// A link: rows of numbers
    Csv,
    /// A link: the same as Parquet
    Parquet,
}

impl InputKind {
    /// The format of `path`'s extension, unless `kind` is given.
    pub(super) fn of(path: &Path, kind: Option<Self>) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let packed = ["gz", "zst"].iter().find_map(|end| name.strip_suffix(end)?.strip_suffix('.'));
        let name = packed.unwrap_or(&name);
        kind.unwrap_or(match name.rsplit_once('.') {
            Some((_, "csv")) => Self::Csv,
            Some((_, "parquet")) => Self::Parquet,
            Some((_, "trace" | "up" | "down" | "mahimahi")) => Self::Mahimahi,
            _ => Self::Capture,
        })
    }
}

/// Reads a link and writes it.
pub(super) fn run(
    input: &Path,
    kind: InputKind,
    output: &Path,
    target: Target,
    force: bool,
) -> Result<()> {
    let bytes = read_whole(input, MAX_TRACE)?;
    let refused = |error: &dyn fmt::Display| miette!("{}: {error}", screen::path(input));
    let course = match kind {
        InputKind::Csv => csv::parse(&bytes).map_err(|error| refused(&error))?,
        InputKind::Parquet => parquet::read(bytes).map_err(|error| refused(&error))?,
        InputKind::Mahimahi | InputKind::Capture => {
            LinkTrace::Opportunities(mahimahi::parse(&bytes).map_err(|error| refused(&error))?)
        }
    };
    write(&course, output, target, if force { Over::File } else { Over::Nothing })
}

/// Writes the link that a capture shows in the direction that the output's name tells.
pub(super) fn of_capture(input: &Path, output: &Path, target: Target, force: bool) -> Result<()> {
    let name = output.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = ["gz", "zst"]
        .iter()
        .find_map(|end| name.strip_suffix(end)?.strip_suffix('.'))
        .unwrap_or(&name);
    let direction = match name.rsplit_once('.') {
        Some((_, "up")) => Direction::Uplink,
        Some((_, "down")) => Direction::Downlink,
        _ => {
            // Report a missing input before the wrong name.
            Source::open(input)?;
            return Err(miette!(
                help = "name it .up or .down: mahimahi's traces of the two directions; `sounding link --csv` prints estimates",
                "{}: a capture has two links, and the name does not tell which",
                screen::path(output)
            ));
        }
    };
    let ([link], skipped) = captured::read(input, [direction])?;
    let (trace, sentence) = link.trace(input)?;
    let over = if force { Over::File } else { Over::Nothing };
    write(&LinkTrace::Opportunities(trace), output, target, over)?;
    skipped.tell_after(Some(sentence));
    Ok(())
}

fn write(course: &LinkTrace, path: &Path, target: Target, over: Over) -> Result<()> {
    let failed = |error: &dyn fmt::Display| miette!("{}: {error}", screen::path(path));
    let mut text = String::new();
    match target.kind {
        // Writing into a string cannot fail.
        FileKind::Csv => drop(csv::write(course, &mut text)),
        FileKind::Mahimahi => text = opportunities(course, path)?,
        FileKind::Parquet => {
            let output = Output::begin(path, target.packing, Access::Usual);
            let mut output = output.map_err(|error| failed(&error))?;
            parquet::write(course, &mut output).map_err(|error| failed(&error))?;
            return output.finish(over).map_err(|error| failed(&error));
        }
        _ => {
            return Err(miette!(
                help = "name it .csv, .parquet or .trace, or say it with --to",
                "{}: a link over time is no Diag record, and does not go into such a file",
                screen::path(path)
            ));
        }
    }
    let output = Output::begin(path, target.packing, Access::Usual);
    let mut output = output.map_err(|error| failed(&error))?;
    output.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    output.finish(over).map_err(|error| failed(&error))
}

/// Writes a mahimahi trace, and reports what this format cannot hold.
fn opportunities(course: &LinkTrace, path: &Path) -> Result<String> {
    let (trace, lost) = course
        .to_trace()
        .map_err(|error| miette!("{}: mahimahi has no such trace: {error}", screen::path(path)))?;
    if lost.rates {
        eprintln!(
            "warning: {}: rates become whole packets of 1500 bytes, each at the whole millisecond before its last bit; \
             {} after the last packet are left out, and the {:?} behind it: a trace ends with its last packet",
            screen::path(path),
            lost.bytes,
            lost.end,
        );
    }
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = mahimahi::write(&trace, &mut text);
    Ok(text)
}
