//! The experiments: each compares this project with others or with itself.

pub mod agreement;
pub mod background_kernel;
pub mod baselines;
pub mod biscay;
pub mod biscay_vs_kernel;
pub mod bound;
pub mod bpf_cost;
pub mod busyness;
pub mod cell;
pub mod closed_loop;
pub mod cqic;
pub mod downlink;
pub mod emu_ceiling;
pub mod emu_cells;
pub mod estimators;
pub mod experiment;
pub mod field;
pub mod gandalf;
pub mod granularity;
pub mod head_to_head;
pub mod legilimens;
pub mod mahimahi;
pub mod overhead;
pub mod paper;
pub mod pbe_cc;
#[cfg(test)]
#[path = "../../baselines/tests/probe/mod.rs"]
mod probe;
pub mod reference;
pub mod references;
pub mod registry;
pub mod soak;
pub mod table;
pub mod validation;
