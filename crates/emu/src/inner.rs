//! An emulated link inside another.
//!
//! A command in a namespace has no capabilities, so an emulator that it starts can make neither a
//! namespace nor a device. The emulator outside makes them for it, and starts the inner command in
//! them, as the same user and again without capabilities. The inner emulator gets the two ends of
//! the link, and moves the packets itself.
//!
//! Both speak over a socket that is known in the outer link's near namespace alone. Beside packets,
//! a process gains nothing there that it could not do before: its command runs as its own user,
//! with descriptors that it has handed over.

mod door;
mod message;
mod visit;

pub use door::Door;
pub use visit::{InnerLink, Visit, VisitError};
