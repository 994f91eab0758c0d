//! Replaces `parquet` in a build of only the daemon: an error that names the missing feature.

use std::convert::Infallible;
use std::fmt;
use std::io::Write;

use miette::{Result, miette};
use sounding_trace::LinkTrace;

use super::Job;
use crate::skipped::Skipped;

/// This build cannot do it.
#[derive(Debug)]
pub(super) struct NoParquet;

impl fmt::Display for NoParquet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this build of sounding has no Parquet, which is part of the feature `lab`: build it with \
             `cargo build --release -p sounding`, or choose .jsonl or .csv",
        )
    }
}

pub(super) fn read(_: Vec<u8>) -> Result<LinkTrace, NoParquet> {
    Err(NoParquet)
}

pub(super) fn write(_: &LinkTrace, _: &mut (impl Write + Send)) -> Result<Infallible, NoParquet> {
    Err(NoParquet)
}

pub(super) fn write_tables(_: &mut Job<'_>) -> Result<Skipped> {
    Err(miette!("{NoParquet}"))
}
