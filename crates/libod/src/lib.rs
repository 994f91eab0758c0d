//! libOD: KPIs for C programs, from a board, a modem or a capture; the link and the radio's delays,
//! from a capture or a daemon's rate feed.
//! The header `sounding/od.h` is its manual.
//!
//! * [`ffi`](mod@ffi): the C functions. They check their arguments, and catch panics, which must
//!   not unwind into C.
//! * `table`: handles are numbers. So a closed or invalid handle gives an error and no crash.
//! * `source`: the four kinds of handle behind them.

mod delay;
mod error;
pub mod ffi;
mod link;
mod sample;
mod source;
mod table;
