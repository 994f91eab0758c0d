//! `sounding run --copa`: uploads of this kernel in a modelled cell in real time, whose modem is read from a pty.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod cell;
mod drills;
mod rig;
