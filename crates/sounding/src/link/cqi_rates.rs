//! The file of `--cqi-rates`: what was learnt of each cell's rates by CQI.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use miette::{IntoDiagnostic, Result, miette};
use sounding_link::CellRates;

/// A file with more lines was written by something else.
const LINES: usize = 100_000;

/// Its cells; none if there is no such file yet.
pub(super) fn read(file: &Path) -> Result<Vec<CellRates>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(miette!("cannot read {}: {error}", file.display())),
    };
    let lines = (1..).zip(text.lines()).take(LINES).filter(|(_, line)| !line.trim().is_empty());
    let cell = |(number, line): (usize, &str)| {
        line.parse().map_err(|error| miette!("{}, line {number}: {error}", file.display()))
    };
    lines.map(cell).collect()
}

/// Replaces it with these cells.
pub(super) fn write(file: &Path, rates: impl Iterator<Item = CellRates>) -> Result<()> {
    let mut text = String::new();
    for rates in rates {
        writeln!(text, "{rates}").into_diagnostic()?;
    }
    // A reader never finds half of it.
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = file.with_file_name(name);
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, file))
        .map_err(|error| miette!("cannot write {}: {error}", file.display()))
}
