//! Records as Parquet: one table for each log code.
//!
//! A table is flat, for pandas. A row is one item of the innermost list, and repeats the fields of
//! everything around the item. Columns of a list's items are called `list.field`, and `list.item`
//! counts the items from 0. If a record has two lists side by side, each item has its own row, and
//! the columns of the other list are empty there. Sums over a column of items are therefore right,
//! and `drop_duplicates("offset")` gives one row for each record.
//!
//! The first columns are `offset` (in the capture), `time` (the modem's clock, microseconds, UTC),
//! `stamp` (as on the wire) and `radio`. If a table needs them, the last are `unread` with `raw`
//! for unknown records, and `redacted` with `len_bytes` for hidden records.
//!
//! A Parquet file declares its columns before its rows, but only the end of a capture shows which
//! columns it fills. So a capture is read twice, into [`Schemas`] and then into [`Tables`]. This
//! has two advantages: a column without gaps is marked as such (pandas then keeps integers as
//! integers), and only one group of rows is held in memory.

mod column;
mod rows;
mod schema;
mod write;

pub use schema::{Schema, Schemas};
pub use write::{TableError, Tables};
