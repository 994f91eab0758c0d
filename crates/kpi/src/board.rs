//! The board: the latest value of each KPI in memory that other processes map.
//!
//! One writer, any number of readers. Everything is a 64-bit word that is only accessed atomically.
//! The protocol therefore needs only a slice of such words, and is the same over a mapped file,
//! over plain memory and under a model checker. Readers write nothing: a read-only mapping is
//! enough.
//!
//! ```text
//! header    8 words   magic, version and slots, started, writer's pid, heartbeat, state, posts, 0
//! names     8 words   for each slot: 48 bytes of name, 8 of unit, 8 of reserve
//! slots    24 words   for each slot: number of the latest post, then three buffers, each of
//!                     mark and sample
//! ```
//!
//! All numbers are in the byte order of the machine; times are nanoseconds, host time of
//! CLOCK_MONOTONIC.

mod header;
mod slot;
mod word;
mod writer;

pub use header::{Board, Life, NotABoard};
pub use slot::{Overtaken, Sample};
pub use word::Word;
pub use writer::Writer;

const HEADER_WORDS: usize = 8;
const NAME_WORDS: usize = 8;
const SLOT_WORDS: usize = 24;

/// Longest name of a KPI and of a unit, in bytes.
pub const MAX_NAME: usize = 48;
/// Longest name of a unit, in bytes.
pub const MAX_UNIT: usize = 8;
/// Most KPIs on one board: a file with more is not a board.
pub const MAX_SLOTS: usize = 4096;

/// Number of words of a board with this many KPIs.
pub const fn words_for(slots: usize) -> usize {
    HEADER_WORDS + slots * (NAME_WORDS + SLOT_WORDS)
}
