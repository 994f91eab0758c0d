//! A link over time as Parquet.

use std::io::{self, Write};

use sounding_export::figures::{Cell, Figures, Kind};
use sounding_export::numbers::{Numbers, NumbersError};
use sounding_export::table::TableError;
use sounding_trace::LinkTrace;
use sounding_trace::link_trace::{Builder, Form, LinkTraceError};

/// Why a table is no link.
#[derive(Debug, thiserror::Error)]
pub(in crate::convert) enum NoLinkTrace {
    #[error(transparent)]
    Numbers(#[from] NumbersError),
    #[error(transparent)]
    LinkTrace(#[from] LinkTraceError),
    #[error(
        "has the columns {0}, not time_ms and packets, or from_ns, until_ns and rate_bits_per_sec"
    )]
    Columns(String),
}

/// Reads one.
pub(in crate::convert) fn read(file: Vec<u8>) -> Result<LinkTrace, NoLinkTrace> {
    let numbers = Numbers::new(file)?;
    let columns = numbers.columns();
    let (form, places) =
        Form::of(&columns).ok_or_else(|| NoLinkTrace::Columns(columns.join(", ")))?;
    let mut builder = Builder::new(form);
    let mut own = Vec::new();
    numbers.for_each_row(|row| {
        own.clear();
        own.extend(places.iter().map(|&place| row[place]));
        builder.push(&own).map_err(NoLinkTrace::from)
    })?;
    Ok(builder.finish()?)
}

/// Writes one.
pub(in crate::convert) fn write(
    course: &LinkTrace,
    out: &mut (impl Write + Send),
) -> Result<(), TableError> {
    let columns: Vec<_> = course.form().columns().iter().map(|name| (*name, Kind::Int)).collect();
    let mut figures = Figures::new(out, &columns, &[])?;
    course.for_each_row(|row| {
        // The columns have 63 bits. No real time or rate is larger, and a larger value could not be
        // read back.
        if row.iter().any(|&number| i64::try_from(number).is_err()) {
            let error = format!("a column of Parquet has no room for {row:?}; CSV has");
            return Err(TableError::Io(io::Error::other(error)));
        }
        figures.push(row.iter().map(|&number| Some(Cell::from(number))))
    })?;
    figures.finish()
}
