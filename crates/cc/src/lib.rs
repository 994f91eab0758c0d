//! Congestion controllers as pure state machines: inputs are acknowledgements, estimates and time, outputs are a
//! window and a pacing rate.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod biscay;
