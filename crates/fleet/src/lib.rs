//! The captures of a drive, or of a whole fleet, as one dataset of tables.
//!
//! ```text
//! OUT/code=0xB139/day=2021-12-20/part-00000-0.parquet   rows of a table and a day
//! OUT/0-columns.parquet                                 every column, and no row
//! OUT/_about/captures.parquet                           a row for each file
//! OUT/_about/schema.json                                type, unit, meaning of columns
//! OUT/_about/dataset.json                               the choice
//! OUT/_about/found-0000.jsonl                           files that a run found
//! OUT/_about/blocks/00000.jsonl                         captures of a finished block
//! ```
//!
//! Captures are joined to blocks in the order of their paths. A block is made by one thread from
//! its captures alone, so its bytes depend on nothing else. Its file in `blocks` appears last. A
//! killed run leaves finished blocks, and the same command goes on with the rest. It gives the same
//! bytes.

mod account;
mod block;
mod choice;
mod dataset;
mod entry;
mod error;
mod look;
mod walk;

pub use account::Summary;
pub use block::make_block;
pub use choice::Choice;
pub use dataset::{Fleet, Progress};
pub use error::FleetError;
pub use look::unpacked;
pub use walk::Captures;

/// The version of this program, in what it writes.
const VERSION: &str = env!("CARGO_PKG_VERSION");
