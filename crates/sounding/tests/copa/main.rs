//! `sounding run --copa`: flows of this kernel in real time. Of uploads a modem is read from a pty,
//! of downloads a device says what its radio adds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod cells;
#[path = "../device/mod.rs"]
mod device;
mod downloads;
mod drills;
mod rig;
