//! The RAN, TTI by TTI: a seeded model of what stands between a device and the network.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod radio;
