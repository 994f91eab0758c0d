//! Experiments: flows over emulated links, what was measured, and pages that show it.

pub mod bound;
pub mod bpf_cost;
pub mod ceiling;
pub mod daemon;
pub mod duel;
pub mod flow;
mod follower;
pub mod granularity;
pub mod mahimahi;
pub mod metrics;
pub mod oracle;
pub mod overhead;
pub mod provenance;
pub mod race;
pub mod radio;
pub mod report;
pub mod versus;
