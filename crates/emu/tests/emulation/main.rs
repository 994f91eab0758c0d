//! Real emulations. These tests need root. Without root they print a message and pass.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod bursts;
mod cells;
mod common;
mod inside;
mod left_behind;
mod logs;
mod packets;
