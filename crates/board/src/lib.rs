//! The board in a file that other processes map, and a wake-up when it changes.
//!
//! A board called `NAME` is three files in one folder:
//!
//! * `NAME.board`, the memory itself, in the layout of [`sounding_kpi::board`]. Readers map it
//!   read-only. It appears by a rename once it is complete, and is never truncated. A writer that
//!   restarts makes a new file, and readers that have mapped the old one keep its last values.
//! * `NAME.lock`, on which the writer holds an exclusive `flock`. A second writer is refused while
//!   the first lives. When the first dies, the kernel releases the lock. No other user can open the
//!   file, so no other user can hold the lock.
//! * `NAME.wake`, a UNIX stream socket. A client gets a byte after each post, which makes the
//!   descriptor readable for `poll`, and end of file when the writer ends in any way. A reader that
//!   needs no wake-ups does not connect. A slow reader loses wake-up bytes but no values, because a
//!   full socket is readable already. 64 readers are woken, 16 of one user. The next one gets a
//!   byte of another kind before the end of file: it can read the board, but is not woken.
//!
//! The folder is `$SOUNDING_BOARD_DIR`, else `/run/sounding` for a writer that is root and
//! `$XDG_RUNTIME_DIR/sounding` for one that is not; readers look in all of them. Boards hold no
//! identities of the subscriber, so every user of the machine may read them.

mod error;
mod lock;
mod memory;
mod place;
mod publisher;
mod reader;
mod wakes;

pub use error::PublishError;
pub use place::{NameError, Place};
pub use publisher::Publisher;
pub use reader::{OpenError, Reader, Writer};
