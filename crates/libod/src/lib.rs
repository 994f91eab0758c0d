//! libOD: KPIs for C programs, from a board, a modem or a capture. The header `sounding/od.h` is its manual.
//!
//! * [`ffi`](mod@ffi): the C functions. They check what they are given, and catch what must not unwind into C.
//! * `table`: handles are numbers, so that a closed or invalid one is an error and no crash.
//! * `source`: the three kinds of handle behind them.

mod error;
pub mod ffi;
mod sample;
mod source;
mod table;
