//! Parquet: a folder with the tables of each log code.

use std::fs::File;

use miette::{Result, miette};
use sounding_diag::capture::Located;
use sounding_diag::packet::Packet;
use sounding_export::table::{TableError, Tables};

use crate::convert::Job;
use crate::input::Source;
use crate::output::Folder;
use crate::screen;
use crate::skipped::Skipped;

pub(in crate::convert) fn write(job: &mut Job<'_>) -> Result<Skipped> {
    let path = &job.args.output;
    if path.exists() && !path.is_dir() && !path.is_file() {
        return Err(miette!(
            help = "give a name that does not exist",
            "{}: tables need a folder, and this is none",
            screen::path(path)
        ));
    }
    let source = Source::open(&job.args.input)?;
    let folder = Folder::begin(path, job.access()).map_err(|error| job.failed(error))?;
    let mut tables = Tables::new(job.privacy, |name: &str| folder.file(name));
    let skipped = job.for_each(source, |job, located| {
        let Some(Located { offset, packet }) = located else { return Ok(()) };
        let Packet::Log(record) = packet else {
            job.tally.left_out.others += 1;
            return Ok(());
        };
        job.count_shown(record);
        tables.handle_record(*offset, record).map_err(|error| failed(job, error))
    })?;
    if tables.codes().len() == 0 {
        return Err(miette!(
            help = "`sounding decode --summary` says which are in it",
            "{}: none of the records asked for is in it, and a table of nothing has no rows",
            screen::path(&job.args.input)
        ));
    }
    for (_, file) in tables.finish().map_err(|error| failed(job, error))? {
        // Some file systems report a full disk only here.
        File::sync_all(&file).map_err(|error| job.failed(error))?;
    }
    folder.finish(job.over()).map_err(|error| job.failed(error))?;
    Ok(skipped)
}

fn failed(job: &Job<'_>, error: TableError) -> miette::Report {
    match error {
        TableError::Io(error) => job.failed(error),
        other => miette!("{}: {other}", screen::path(&job.args.output)),
    }
}
