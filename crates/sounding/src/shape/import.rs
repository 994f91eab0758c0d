//! `shape import`: the settings of another program as a configuration of this one.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use miette::{Result, miette};
use sounding_host::{MAX_TEXT, read_at_most};
use sounding_shape::autorate::{self, Imported};

use crate::screen;
use crate::skipped::counted;

/// Largest number of remarks that are printed. The longest known files have some seventy keys.
const MAX_REMARKS: usize = 200;

/// Writes a configuration of cake-autorate as one of Sounding
#[derive(Args, Debug)]
#[command(after_help = "\
The file is read as text and never run. Standard output has the section `[shape]`. Standard error \
names each line that is not in it, with the reason.

Exit code 1 if a line could not be read, or has a key that no version of cake-autorate has. The \
output then has a comment in its place. A key that is known and has no equivalent is no error.

Example:
  sounding shape import config.primary.sh > shape.toml")]
pub(crate) struct Import {
    /// The configuration, usually config.primary.sh
    file: PathBuf,
}

pub(crate) fn run(args: &Import) -> Result<ExitCode> {
    let name = screen::path(&args.file);
    let bytes = read_at_most(&args.file, MAX_TEXT).map_err(|error| miette!("{name}: {error}"))?;
    // A comment may be in any encoding, and no value that is used has such characters.
    let text = String::from_utf8_lossy(&bytes);
    let Some(imported) = autorate::import(&text) else {
        return Err(miette!(
            help = "give the file that sets dl_if and ul_if, usually config.primary.sh",
            "{name}: no line of it sets a key of cake-autorate"
        ));
    };
    print!("{}", imported.toml);
    let Imported { mapped, remarks, .. } = imported;
    for remark in remarks.iter().take(MAX_REMARKS) {
        eprintln!("sounding: {name}: {}", screen::inline(&remark.to_string()));
    }
    let more = remarks.len().saturating_sub(MAX_REMARKS) as u64;
    if more > 0 {
        eprintln!("sounding: {name}: {} not shown", counted(more, "remark", "remarks"));
    }
    let faults = remarks.iter().filter(|remark| remark.what.is_fault()).count();
    eprintln!(
        "sounding: {name}: {} taken over, {} without an equivalent, {} not read",
        counted(mapped as u64, "setting", "settings"),
        remarks.len() - faults,
        faults
    );
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
