//! The server's side of the downlink: flows under either law obey what the device at their other end says of its link.

use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use libbpf_rs::Link;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use crate::downlink::walk::{self, Walked};
use crate::downlink::{DownlinkError, EXID, open_cgroup};
use crate::error::LoadError;
use crate::loader::Instance;
use crate::log::Complaints;
use crate::skel_peers::{PeersSkel, PeersSkelBuilder};

/// Whose options are heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeersConfig {
    /// The cgroup (v2) whose sockets listen, those of its descendants included; `None` for the whole machine.
    pub cgroup: Option<PathBuf>,
    /// Tells the option from other experiments.
    pub exid: u16,
}

impl Default for PeersConfig {
    fn default() -> Self {
        Self { cgroup: None, exid: EXID }
    }
}

/// Hears the option that [`Downlink`](crate::Downlink) writes at the other end, for one instance of BISCAY. A flow whose
/// peer spoke within the last 100 ms goes by that instead of the feed; else by the feed, and without one it is BBR.
///
/// Who controls a peer controls how fast it is sent to, up to what the path delivers.
pub struct Peers {
    _attached: Link,
    adopt: Link,
    skel: PeersSkel<'static>,
}

impl Peers {
    /// Loads the program and attaches it to the cgroup. Sockets that are connected already are deaf before
    /// [`adopt`](Self::adopt).
    pub fn attach(instance: &Instance, config: &PeersConfig) -> Result<Self, DownlinkError> {
        let cgroup = open_cgroup(config.cgroup.as_deref())?;
        let log = Complaints::listen();
        let rejected = |source| LoadError::Rejected { source, complaint: log.take() };
        // As for BISCAY: a slot that outlives the skeleton, whose object is dropped.
        let slot = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = PeersSkelBuilder::default().open(slot).map_err(rejected)?;
        if let Some(rodata) = open.maps.rodata_data.as_mut() {
            rodata.exid = config.exid.into();
        }
        // What is heard is kept where that instance looks.
        open.maps.peers.reuse_fd(instance.peers_map()).map_err(rejected)?;
        let skel = open.load().map_err(rejected)?;
        let attach = |what| move |source| DownlinkError::Attach { what, source };
        let adopt = skel.progs.adopt.attach().map_err(attach("adopt"))?;
        let attached =
            skel.progs.listen.attach_cgroup(cgroup.as_raw_fd()).map_err(attach("listen"))?;
        Ok(Self { _attached: attached, adopt, skel })
    }

    /// Has the sockets of this thread's network namespace listen that are connected already. They are the cgroup's only if
    /// they were made in it.
    pub fn adopt(&self) -> Result<Walked, DownlinkError> {
        walk::walk(&self.adopt, || {
            let bss = self.skel.maps.bss_data.as_ref();
            bss.map_or((0, 0), |bss| (bss.walked_over, bss.walk_refused))
        })
    }
}
