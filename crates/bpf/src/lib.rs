//! BISCAY in the kernel: an eBPF struct_ops TCP congestion control, the feed it obeys, and what it tells.
//!
//! ```no_run
//! use sounding_bpf::{Biscay, Config, Feed};
//!
//! let biscay = Biscay::load(&Config::default())?;
//! let feed: &Feed = biscay.feed();
//! # Ok::<(), sounding_bpf::LoadError>(())
//! ```
//!
//! Any socket of this machine may now select `biscay` (`TCP_CONGESTION`, `ip route … congctl`, the sysctl); it is
//! plain BBR until the feed is published and kept alive. Dropping [`Biscay`] takes the name away; flows that run
//! under it keep the program and go on as BBR.

mod cost;
mod error;
mod feed;
mod flows;
mod holder;
mod intf;
mod loader;
mod log;
mod preflight;
#[allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::semicolon_if_nothing_returned,
    clippy::uninlined_format_args,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    reason = "generated"
)]
mod skel {
    include!(concat!(env!("OUT_DIR"), "/biscay.skel.rs"));
}

pub use cost::{Program, RunStats};
pub use error::LoadError;
pub use feed::Feed;
pub use flows::{Flow, FlowError, Phase, Reason, Transition};
pub use loader::{Biscay, Config};
pub use preflight::{Check, preflight};
pub use sounding_cc::biscay::{Bound, Estimate, Knobs};
