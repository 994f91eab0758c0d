//! Records as Parquet: tables for each log code, flat, for pandas and the like.
//!
//! A row is one item of a list: one transport block where the record has blocks. It repeats the
//! fields of everything around the item. Columns of a list's items are called `list.field`, and
//! `list.item` counts the items from 0. Subheaders of MAC, missing PDUs and other parts of a block,
//! and lists that stand side by side, have tables of their own with the numbers of the items around
//! them. So a size is in one row, and sums are right.
//!
//! The first columns are `code`, `offset` (in the capture), `record_time` (the modem's clock,
//! microseconds, UTC) and `time`, when the item was on the air, by its frame number. Then the
//! first table of a code has `stamp` (as on the wire) and `radio`, and at its end `unread` with
//! `raw` for unknown records, and `redacted` with `hidden_bytes` for hidden records.
//!
//! A KPI is the column of its field, or has a column with its name if it is a formula or has a
//! condition: `lte.pdsch.tbs`. The sum of a KPI in bytes, bits, resource blocks or counts is that
//! of its column.
//!
//! The columns of a table depend on its log code alone, and a name has one type in all tables.
//! Columns that no record of a capture fills are there and empty.
//!
//! [`Tables`] are those of one capture. [`Parts`] are those of many, with a part for each day.
//! There the first column is `capture`, and rows wait in a file, so that memory does not grow with
//! them.

mod about;
mod arrow;
mod cells;
mod chunk;
mod kind;
mod kpis;
mod outline;
mod parts;
mod plan;
mod rows;
mod unit;
mod write;

pub use about::unit_of;
pub use parts::{Part, Parts, describe};
pub use write::{ABOUT_ALL, TableError, Tables};
