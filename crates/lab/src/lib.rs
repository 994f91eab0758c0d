//! Experiments: flows over emulated links, what was measured, and pages that show it.

pub mod agreement;
pub mod baselines;
pub mod biscay;
pub mod bound;
#[cfg(feature = "bpf")]
pub mod bpf_cost;
pub mod catalogue;
pub mod ceiling;
pub mod cell;
pub mod cell_pace;
pub mod closed_loop;
pub mod daemon;
pub mod dataset;
#[cfg(feature = "bpf")]
pub mod downlink;
pub mod duel;
pub mod emulate;
pub mod estimators;
pub mod field;
pub mod findings;
pub mod flow;
mod follower;
pub mod granularity;
pub mod head_to_head;
pub mod import;
pub mod inference;
mod jobs;
pub mod mahimahi;
pub mod metrics;
pub mod oracle;
pub mod overhead;
pub mod plan;
pub mod provenance;
pub mod race;
pub mod radio;
pub mod references;
pub mod report;
pub mod results;
pub mod simulate;
#[cfg(feature = "bpf")]
pub mod soak;
pub mod study;
pub mod sweep;
pub mod validation;
pub mod versus;
