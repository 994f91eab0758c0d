//! Parquet: a capture is read twice, for the columns and for the rows.

use std::fs::File;

use miette::{Result, miette};
use sounding_diag::LogCode;
use sounding_diag::capture::Located;
use sounding_diag::packet::Packet;
use sounding_export::table::{Schemas, TableError, Tables};

use super::replayable::Replayable;
use crate::convert::Job;
use crate::convert::tally::Tally;
use crate::output::{Folder, Output, Packing};
use crate::screen;
use crate::skipped::Skipped;

pub(in crate::convert) fn write(job: &mut Job<'_>) -> Result<Skipped> {
    let path = &job.args.output;
    let input = Replayable::new(&job.args.input)?;
    let privacy = job.privacy;
    let mut schemas = Schemas::default();
    job.for_each(input.open()?, |_, located| {
        if let Some(Located { offset, packet: Packet::Log(record) }) = located {
            schemas.handle_record(*offset, record, privacy);
        }
        Ok(())
    })?;
    if schemas.codes().next().is_none() {
        return Err(miette!(
            help = "`sounding decode --summary` says which are in it",
            "{}: none of the records asked for is in it, and a table of nothing has no columns",
            screen::path(&job.args.input)
        ));
    }
    if schemas.codes().len() == 1 {
        let output = Output::begin(path, Packing::None, job.access());
        let output = output.map_err(|error| job.failed(error))?;
        let mut output = Some(output);
        let open = |_| output.take().ok_or_else(|| std::io::Error::other("one table, one file"));
        let tables = Tables::new(schemas, privacy, open).map_err(|e| failed(job, e))?;
        let (skipped, written) = fill(job, &input, tables)?;
        for (_, output) in written {
            output.finish(job.over()).map_err(|error| job.failed(error))?;
        }
        return Ok(skipped);
    }
    if path.exists() && !path.is_dir() && !path.is_file() {
        return Err(miette!(
            help = "give a name that does not exist",
            "{}: there are {} tables, which need a folder, and this is none",
            screen::path(path),
            schemas.codes().len()
        ));
    }
    let folder = Folder::begin(path, job.access()).map_err(|error| job.failed(error))?;
    let open = |code: LogCode| folder.file(&format!("{code}.parquet"));
    let tables = Tables::new(schemas, privacy, open).map_err(|e| failed(job, e))?;
    let (skipped, written) = fill(job, &input, tables)?;
    for (_, file) in written {
        // Some file systems report a full disk only here.
        File::sync_all(&file).map_err(|error| job.failed(error))?;
    }
    folder.finish(job.over()).map_err(|error| job.failed(error))?;
    Ok(skipped)
}

fn fill<W: std::io::Write + Send>(
    job: &mut Job<'_>,
    input: &Replayable,
    mut tables: Tables<W>,
) -> Result<(Skipped, Vec<(LogCode, W)>)> {
    // The second reading counts the same things again.
    job.tally = Tally::default();
    let skipped = job.for_each(input.open()?, |job, located| {
        let Some(Located { offset, packet }) = located else { return Ok(()) };
        let Packet::Log(record) = packet else {
            job.tally.left_out.others += 1;
            return Ok(());
        };
        job.count_shown(record);
        tables.handle_record(*offset, record).map_err(|error| failed(job, error))
    })?;
    Ok((skipped, tables.finish().map_err(|error| failed(job, error))?))
}

fn failed(job: &Job<'_>, error: TableError) -> miette::Report {
    match error {
        TableError::Io(error) => job.failed(error),
        other => miette!("{}: {other}", screen::path(&job.args.output)),
    }
}
