//! The board in a file that other processes map, and a wake-up when it changes.
//!
//! A board called `NAME` is three files in one folder:
//!
//! * `NAME.board`, the memory itself, laid out as [`sounding_kpi::board`] says. Readers map it read-only. It appears by
//!   a rename once it is complete, and is never truncated: a writer that starts anew makes a new file, and those who
//!   have mapped the old one keep what it last said.
//! * `NAME.lock`, which the writer holds an exclusive `flock` on: a second writer is refused while the first lives,
//!   and however that one dies, the kernel lets the lock go. No other user can open it, and so none can hold it.
//! * `NAME.wake`, a UNIX stream socket. Whoever connects gets a byte after each post, which makes the descriptor
//!   readable for `poll`, and end of file when the writer ends in whatever way. A reader that does not care does not
//!   connect; one that does not keep up loses bytes and no values, because a full socket is readable already. 64 readers
//!   are woken, 16 of one user. One more gets a byte of another kind before the end of file: it reads on, and is not woken.
//!
//! The folder is `$SOUNDING_BOARD_DIR`, else `/run/sounding` for a writer that is root and `$XDG_RUNTIME_DIR/sounding`
//! for one that is not; readers look in all of them. Boards hold no identities of the subscriber, so that every user
//! of the machine may read them.

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
