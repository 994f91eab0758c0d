//! The experiments: each compares this project with others or with itself.

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
pub mod table;
