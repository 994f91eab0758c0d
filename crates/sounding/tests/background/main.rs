//! `sounding background` as a user meets it, and its flows beside others in a modelled cell. Parts
//! that need root report a skip without it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod call;
mod cell;
mod command;
mod crowd;
mod download;
mod killed;
mod loaded;
mod moments;
mod rig;
