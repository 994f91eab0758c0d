//! User-Mode Linux: another kernel as a process of this machine, for what this machine's kernel
//! lacks: CAKE, IFB, netem.
//!
//! The guest sees this machine's files, read only, and has devices whose other ends are TAP devices
//! in namespaces of the caller's. Nothing of it remains after it: the process makes the TAP devices
//! itself, its files are in a private tmpfs, and its process namespace ends with it and with the
//! thread that holds it.

mod cpu;
mod guest;
mod image;
mod process;
mod tc;

pub(crate) use guest::ip;
pub use guest::{Answer, Guest, GuestError, Running};
pub use image::{Absent, Image};
pub use tc::{Shaper, Tc};
