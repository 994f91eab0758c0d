//! Parquet: tables of a capture's records, and links over time.

mod links;
mod tables;

pub(super) use links::{read, write};
pub(super) use tables::write as write_tables;
