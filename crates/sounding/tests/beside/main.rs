//! Commands that look at a modem while a daemon holds it: they read it beside the daemon.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod crowd;
mod rig;
mod strangers;
mod verbs;
