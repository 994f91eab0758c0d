//! BISCAY and `sounding` in the kernel: eBPF struct_ops TCP congestion controls, the feed that they
//! read, and their reports.
//!
//! ```no_run
//! # #[cfg(feature = "kernel")] {
//! use sounding_bpf::{Config, Feed, Instance};
//!
//! let biscay = Instance::load(&Config::default())?;
//! let feed: &Feed = biscay.feed();
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Any socket of this machine may now select `biscay` (`TCP_CONGESTION`, `ip route … congctl`, the
//! sysctl); it is plain BBR until the feed is published and kept alive. Dropping [`Instance`] takes
//! the name away; flows that run under it keep the program and go on as BBR. [`Config::law`] says
//! which law an instance goes by.
//!
//! [`Downlink`] is the other direction: on the device it limits senders to what its link carries,
//! by the receive window or by a TCP option that [`Peers`] reads at a server of ours.
//!
//! [`Arrivals`] corrects when media seem to come: a call's receiver reads times without what the
//! radio added.
//!
//! [`Background`] needs no modem: flows under it use what a cell leaves over, and yield to all
//! others.
//!
//! [`CopaInstance`] is Copa that does not take the radio's own delays for a queue, while its
//! [`DelayFeed`] says what they are.
//!
//! Without the feature `kernel` there are no programs, and no library in C. What programs are asked
//! for has its types still: a configuration is read before it is refused.

#![cfg_attr(
    not(feature = "kernel"),
    allow(dead_code, unused_imports, unused_macros, reason = "only programs take them")
)]

#[cfg(feature = "kernel")]
mod arrivals;
#[cfg(feature = "kernel")]
mod background;
mod config;
#[cfg(feature = "kernel")]
mod copa;
#[cfg(feature = "kernel")]
mod cost;
#[cfg(feature = "kernel")]
mod counting;
#[cfg(feature = "kernel")]
mod delay_feed;
#[cfg(feature = "kernel")]
mod downlink;
#[cfg(feature = "kernel")]
mod error;
#[cfg(feature = "kernel")]
mod feed;
#[cfg(feature = "kernel")]
mod flows;
#[cfg(feature = "kernel")]
mod holder;
#[cfg(feature = "kernel")]
mod intf;
#[cfg(feature = "kernel")]
pub mod inventory;
#[cfg(feature = "kernel")]
mod kernel;
#[cfg(feature = "kernel")]
mod laws;
#[cfg(feature = "kernel")]
mod lead;
#[cfg(feature = "kernel")]
mod loader;
#[cfg(feature = "kernel")]
mod log;
mod netns;
#[cfg(feature = "kernel")]
mod offers;
#[cfg(feature = "kernel")]
mod peers;
#[cfg(feature = "kernel")]
mod preflight;
mod radios;
mod reports;
mod sharing;
mod sockets;
#[cfg(test)]
#[cfg(feature = "kernel")]
mod stack;
#[cfg(feature = "kernel")]
mod struct_ops;
mod subordinates;

/// The skeleton of an object that the build made.
macro_rules! skeleton {
    ($name:ident, $file:literal) => {
        #[cfg(feature = "kernel")]
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
        mod $name {
            include!(concat!(env!("OUT_DIR"), "/", $file));
        }
    };
}

skeleton!(skel, "cc.skel.rs");
skeleton!(skel_arrivals, "arrivals.skel.rs");
skeleton!(skel_background, "background.skel.rs");
skeleton!(skel_copa, "copa.skel.rs");
skeleton!(skel_downlink, "downlink.skel.rs");
skeleton!(skel_own, "own.skel.rs");
skeleton!(skel_peers, "peers.skel.rs");

#[cfg(feature = "kernel")]
pub use arrivals::{Arrivals, ArrivalsConfig, ArrivalsError, CorrectedArrival, arrivals_preflight};
#[cfg(feature = "kernel")]
pub use background::{
    Background, BackgroundError, BackgroundFlow, BackgroundPhase, BackgroundReceiver,
    background_preflight, borrow_descriptor,
};
pub use config::{BackgroundConfig, COPA_NAME, DownlinkConfig, EXID, PeersConfig, Signal, is_name};
#[cfg(feature = "kernel")]
pub use copa::{CopaFlow, CopaFlows, CopaInstance, copa_preflight};
#[cfg(feature = "kernel")]
pub use cost::{Program, RunStats};
#[cfg(feature = "kernel")]
pub use counting::Counting;
#[cfg(feature = "kernel")]
pub use delay_feed::DelayFeed;
#[cfg(feature = "kernel")]
pub use downlink::{
    CLAIMS, Downlink, DownlinkError, DownlinkFlow, Hold, OwnCgroup, cgroup_root,
    downlink_preflight, pins_of, release_pinned,
};
#[cfg(feature = "kernel")]
pub use error::LoadError;
#[cfg(feature = "kernel")]
pub use feed::{Feed, Lull};
#[cfg(feature = "kernel")]
pub use flows::{Flow, FlowError};
#[cfg(feature = "kernel")]
pub use loader::{Config, Instance};
#[cfg(feature = "kernel")]
pub use offers::offers;
#[cfg(feature = "kernel")]
pub use peers::{HearsPeers, Peer, Peers};
#[cfg(feature = "kernel")]
pub use preflight::{Check, preflight};
pub use radios::{MAX_MODEMS, MAX_RADIOS, Radios};
pub use reports::{
    ArrivalsCounts, BackgroundCounts, PeerClaim, PeerCounts, PeerReport, Reason, ReportCause,
    Transition, Walked,
};
pub use sharing::{Application, MAX_WEIGHTS, Owner, Sharing};
pub use sockets::{TcpSocket, tcp_sockets};
pub use sounding_cc::sharing::Policy;
pub use sounding_laws::Phase;
pub use sounding_laws::biscay::{Bound, Config as LawConfig, FeedEstimate};
#[cfg(feature = "kernel")]
pub use struct_ops::unregister;
pub use subordinates::{BadLine, SubordinateMap, Subordinates};
