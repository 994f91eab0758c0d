//! The link in virtual time: delivery opportunities, queue, propagation delay.
//!
//! A [`Link`] is one bottleneck, a [`Path`] is a link and a delay in the order of `mm-delay D mm-link UP DOWN`, and
//! [`Pipe`] is what both an emulator and a simulator need to know of either. Nothing here reads a clock.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod fluid;
pub mod link;
mod opportunity;
mod path;
mod pipe;
mod queue;

pub use link::{Link, LinkEvent};
pub use path::{Order, Path, PathConfig};
pub use pipe::{Backlog, Carried, Lost, Output, Pipe};
pub use queue::{DropFrom, QueueLimit};
