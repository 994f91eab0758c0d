//! Shapers of a router beside a modelled cell: which rate each rule gives CAKE, and what flows,
//! calls and pages behind it get.
//!
//! The router is a guest of User-Mode Linux with real CAKE ([`sounding_testbed::router`]). A run is
//! one case under one rule with one seed, and is kept as a file.

pub(crate) mod autorate;
pub(crate) mod case;
pub(crate) mod decisions;
pub(crate) mod experiment;
pub(crate) mod job;
pub(crate) mod load;
pub(crate) mod matrix;
pub(crate) mod naive;
pub(crate) mod page;
pub(crate) mod ran;
pub(crate) mod rule;
pub(crate) mod run;
pub mod simulated;
pub(crate) mod table;
pub(crate) mod truth;
pub(crate) mod verdict;
