//! Experiments in real time: flows of this kernel over emulated links and cells, with the daemon and its modem beside them.

pub mod daemon;
pub mod duel;
pub mod emulate;
pub mod flow;
pub mod follower;
mod kernel_log;
pub mod oracle;
pub mod packet_metrics;
pub mod race;
pub mod radio;

pub use kernel_log::KernelLog;
