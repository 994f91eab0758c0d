//! `sounding run --copa`: uploads of this kernel in real time, while a modem is read from a pty.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod drills;
mod rig;
