//! Experiments in virtual time: plans, their runs, sweeps of them, and the measurements and files
//! of each.

pub mod catalogue;
pub mod columns;
#[cfg(feature = "lab")]
pub mod dataset;
#[cfg(feature = "lab")]
pub mod import;
#[cfg(feature = "lab")]
pub mod inference;
pub mod metrics;
pub mod observe;
pub mod plan;
pub mod provenance;
pub mod results;
pub mod simulate;
pub mod study;
#[cfg(feature = "lab")]
pub mod sweep;
