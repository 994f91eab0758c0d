//! The experiments: each compares this project with others or with itself.

#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "only this project's own commands and tests call it"
)]

pub mod controllers;
pub mod estimates;
pub mod experiment;
pub mod fidelity;
pub mod kernel;
mod noted;
pub mod paper;
pub mod papers;
#[cfg(test)]
#[path = "../../baselines/tests/probe/mod.rs"]
mod probe;
pub mod registry;
pub mod router;
pub mod table;
