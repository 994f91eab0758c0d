//! Experiments in real time: flows of this kernel over emulated links and cells, with the daemon
//! and its modem.

#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "only this project's own commands and tests call it"
)]

pub mod call;
pub mod cpu;
pub mod daemon;
pub mod download;
pub mod emulate;
pub mod flow;
pub mod follower;
pub mod granularity;
pub mod kernel_compare;
mod kernel_log;
pub mod kernel_run;
pub mod oracle;
pub mod overhead;
pub mod packet_metrics;
pub mod pair;
pub mod radio;
pub mod router;
mod served;
pub mod soak;
pub mod uml;

pub use kernel_log::KernelLog;
