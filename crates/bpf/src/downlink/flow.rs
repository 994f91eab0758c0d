use std::os::fd::AsFd;
use std::time::Duration;

use libbpf_rs::MapHandle;
use sounding_units::{Bytes, Rate};

use crate::flows::{FlowError, stored};
use crate::intf::{Plain, mirrors, read};
use crate::skel_downlink::types;

/// `struct downlink_flow` of downlink.h.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct WireFlow {
    share_bytes_per_sec: u64,
    stepped_at_ns: u64,
    told: u64,
    state: u32,
    window: u32,
    theirs: u32,
    rtt_us: u32,
    counted_epoch: u32,
    received: u32,
    n_flows: u32,
    clamps: u32,
    releases: u32,
    options: u32,
    version_2: u32,
    option_length: u32,
    adopted: u32,
}
// SAFETY: only integers.
unsafe impl Plain for WireFlow {}
mirrors!(
    WireFlow = types::downlink_flow {
        share_bytes_per_sec,
        stepped_at_ns,
        told,
        state,
        window,
        theirs,
        rtt_us,
        counted_epoch,
        received,
        n_flows,
        clamps,
        releases,
        options,
        version_2,
        option_length,
        adopted,
    }
);

/// What is done with a socket's receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: the window is the kernel's own.
    Free,
    /// It is held at what the link carries for it.
    Held,
    /// The link has more than it was asked for: it opens, step by step.
    Opening,
    /// A number this version does not know.
    Unknown(u32),
}

/// The state of a receiving socket. Read without a lock: fields may be one segment apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownlinkFlow {
    /// What is done.
    pub hold: Hold,
    /// This flow's part of the link, of IP packets; zero where no estimate is to be believed.
    pub share: Rate,
    /// The clamp that was set; zero where there is none of ours.
    pub window: Bytes,
    /// The clamp without us.
    pub theirs: Bytes,
    /// The shortest round-trip time seen, if any was.
    pub rtt: Option<Duration>,
    /// The number of equal parts of the link when it was last looked at, one of them this flow's.
    /// It counts the flows that received or, with several users, the users times the flows of
    /// this one's user.
    pub flows: u32,
    /// Times that a clamp was set.
    pub clamps: u32,
    /// Times that it was taken back.
    pub releases: u32,
    /// Options written.
    pub options: u32,
    /// And of them those that had room for all there is to say: version 2.
    pub whole_options: u32,
    /// It was connected before the program came.
    pub adopted: bool,
}

impl From<WireFlow> for DownlinkFlow {
    fn from(wire: WireFlow) -> Self {
        Self {
            hold: match wire.state {
                0 => Hold::Free,
                1 => Hold::Held,
                2 => Hold::Opening,
                other => Hold::Unknown(other),
            },
            share: Rate::from_bytes_per_sec(wire.share_bytes_per_sec),
            window: Bytes::new(wire.window.into()),
            theirs: Bytes::new(wire.theirs.into()),
            rtt: (wire.rtt_us > 0).then(|| Duration::from_micros(wire.rtt_us.into())),
            flows: wire.n_flows,
            clamps: wire.clamps,
            releases: wire.releases,
            options: wire.options,
            whole_options: wire.version_2,
            adopted: wire.adopted != 0,
        }
    }
}

pub(super) fn flow(map: &MapHandle, socket: impl AsFd) -> Result<Option<DownlinkFlow>, FlowError> {
    stored(map, socket, |value| read::<WireFlow>(value).map(DownlinkFlow::from))
}
