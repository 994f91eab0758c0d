//! BISCAY and `sounding` in the kernel: eBPF struct_ops TCP congestion controls, the feed that they
//! read, and their reports.
//!
//! ```no_run
//! use sounding_bpf::{Config, Feed, Instance};
//!
//! let biscay = Instance::load(&Config::default())?;
//! let feed: &Feed = biscay.feed();
//! # Ok::<(), sounding_bpf::LoadError>(())
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

mod arrivals;
mod background;
mod copa;
mod cost;
mod delay_feed;
mod downlink;
mod error;
mod feed;
mod flows;
mod holder;
mod intf;
pub mod inventory;
mod kernel;
mod laws;
mod lead;
mod loader;
mod log;
mod netns;
mod offers;
mod peers;
mod preflight;
mod radios;
mod sharing;
mod sockets;
#[cfg(test)]
mod stack;
mod struct_ops;
mod subordinates;

/// The skeleton of an object that the build made.
macro_rules! skeleton {
    ($name:ident, $file:literal) => {
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

pub use arrivals::{
    Arrivals, ArrivalsConfig, ArrivalsCounts, ArrivalsError, CorrectedArrival, arrivals_preflight,
};
pub use background::{
    Background, BackgroundConfig, BackgroundCounts, BackgroundError, BackgroundFlow,
    BackgroundPhase, BackgroundReceiver, background_preflight, borrow_descriptor,
};
pub use copa::{COPA_NAME, CopaFlow, CopaFlows, CopaInstance, copa_preflight};
pub use cost::{Program, RunStats};
pub use delay_feed::DelayFeed;
pub use downlink::{
    CLAIMS, Downlink, DownlinkConfig, DownlinkError, DownlinkFlow, EXID, Hold, OwnCgroup, Signal,
    Walked, cgroup_root, downlink_preflight, pins_of, release_pinned,
};
pub use error::LoadError;
pub use feed::{Feed, Lull};
pub use flows::{Flow, FlowError, Reason, Transition};
pub use loader::{Config, Instance};
pub use offers::offers;
pub use peers::{
    HearsPeers, Peer, PeerClaim, PeerCounts, PeerReport, Peers, PeersConfig, ReportCause,
};
pub use preflight::{Check, is_name, preflight};
pub use radios::{MAX_MODEMS, MAX_RADIOS, Radios};
pub use sharing::{Application, Counting, MAX_WEIGHTS, Owner, Sharing};
pub use sockets::{TcpSocket, tcp_sockets};
pub use sounding_cc::sharing::Policy;
pub use sounding_laws::Phase;
pub use sounding_laws::biscay::{Bound, Config as LawConfig, FeedEstimate};
pub use struct_ops::unregister;
pub use subordinates::{BadLine, SubordinateMap, Subordinates};
