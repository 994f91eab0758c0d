//! Flows of this kernel: their quality, their cost, and their remains.

pub mod background_kernel;
pub mod biscay_vs_kernel;
pub mod bpf_cost;
pub mod downlink;
pub(crate) mod soak;
