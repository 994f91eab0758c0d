//! The daemon's HTTP server: a live daemon, a simulated modem on a pty, and clients.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod browser;
mod door;
mod lines;
mod metrics;
mod page;
mod rig;
