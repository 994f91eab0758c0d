//! Reading a modem beside the process that holds its port: that process serves the records over a
//! socket, and others read them there.
//!
//! ```text
//!   holder                          reader
//!   greeting, a line of JSON  ────▶  checks version and port
//!   checks and adds the codes ◀────  request, a line of JSON
//!   frames: packets, losses, …────▶  until either ends
//! ```

mod client;
mod folder;
mod foreign;
mod frame;
mod limits;
mod node;
mod peer;
mod queue;
mod server;
mod words;

pub use client::{BesideError, Client};
pub use foreign::Foreign;
pub use frame::{Decoder, Frame, Kind};
pub use limits::VERSION;
pub use server::{ServeError, Server};
pub use words::{Greeting, Request};
