//! Records as Parquet: one table for each log code.
//!
//! A table is flat, as pandas likes it: a row is one item of the innermost list, with the fields of everything around
//! the item repeated in it. Columns of a list's items are called `list.field`, and `list.item` counts the items from 0;
//! where a record has two lists side by side, each item has a row of its own, and the columns of the other list are
//! empty there. So sums over a column of items are right as they stand, and `drop_duplicates("offset")` gives one row
//! for each record.
//!
//! Before them stand `offset` (in the capture), `time` (the modem's clock, microseconds, UTC), `stamp` (as on the wire)
//! and `radio`; behind them, where a table needs it, `unread` with `raw` for what nobody has described, and `redacted`
//! with `len_bytes` for what is hidden.
//!
//! The columns of a Parquet file stand before its rows do, and which columns a capture fills is known at its end: so a
//! capture is read twice, into [`Schemas`] and then into [`Tables`]. In return a column without gaps says so (pandas then
//! keeps integers as integers), and nothing but one group of rows is ever held in memory.

mod column;
mod rows;
mod schema;
mod write;

pub use schema::{Schema, Schemas};
pub use write::{TableError, Tables};
