//! Host functions that several crates share: the clock that the kernel side also reads, threads of
//! higher priority and processors that wake at once, locked memory, the folder for files that the
//! next boot does not need, files that are read up to a limit, the rights of a process, the
//! paths of the system's programs, and the same work on many items.

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod caller;
mod clock;
pub mod files;
mod folder;
pub mod jobs;
mod limited;
mod memory;
mod priority;
mod privilege;
mod tool;
mod wakefulness;

pub use clock::{boottime_now, monotonic_now, thread_cpu};
pub use folder::{RUNTIME_OVERRIDE, runtime_folder};
pub use limited::{MAX_TEXT, MAX_TRACE, read_at_most, read_text_at_most};
pub use memory::lock_into_memory;
pub use priority::{Priority, prefer_this_thread};
pub use privilege::{Capabilities, holds, is_raised, keep_only, spawn_with_only};
pub use tool::tool;
pub use wakefulness::Wakefulness;
