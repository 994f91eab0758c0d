//! What of the host several crates need in the same way: the clock that the kernel side reads too, threads that run
//! before others and processors that wake at once, memory that stays where it is, the folder for what the next boot does not
//! need, the rights that a process has, and where the system's programs are.

mod clock;
pub mod files;
mod folder;
mod memory;
mod priority;
mod privilege;
mod tool;
mod wakefulness;

pub use clock::{boottime_now, monotonic_now, thread_cpu};
pub use folder::runtime_folder;
pub use memory::lock_into_memory;
pub use priority::{Priority, prefer_this_thread};
pub use privilege::{Capabilities, is_raised, keep_only};
pub use tool::tool;
pub use wakefulness::Wakefulness;
