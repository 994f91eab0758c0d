//! Experiments: flows over emulated links, what was measured, and pages that show it.

pub mod agreement;
pub mod biscay;
pub mod bound;
pub mod bpf_cost;
pub mod ceiling;
pub mod cell;
pub mod cell_pace;
pub mod closed_loop;
pub mod daemon;
pub mod dataset;
pub mod duel;
pub mod emulate;
pub mod estimators;
pub mod flow;
mod follower;
pub mod granularity;
pub mod mahimahi;
pub mod metrics;
pub mod oracle;
pub mod overhead;
pub mod plan;
pub mod provenance;
pub mod race;
pub mod radio;
pub mod report;
pub mod simulate;
pub mod versus;
