//! 3GPP tables and formulae. Each table names its section; the numbers live as CSV in `tables/`.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod lte;
pub mod nr;
