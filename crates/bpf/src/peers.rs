//! The server's side of the downlink: flows under any law use the report of the device at their
//! other end about its link.

mod claim;

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, RingBuffer, RingBufferBuilder};

pub use claim::Peer;

use crate::config::PeersConfig;
use crate::copa::CopaInstance;
use crate::downlink::walk;
use crate::downlink::{DownlinkError, open_cgroup};
use crate::error::LoadError;
use crate::flows::{FlowError, stored};
use crate::intf::{MAX_RATE, WirePeer, WirePeerReport, read};
use crate::lead::Lead;
use crate::loader::Instance;
use crate::log::Complaints;
use crate::netns;
use crate::reports::{PeerCounts, PeerReport, Walked};
use crate::skel_peers::{PeersSkel, PeersSkelBuilder};

/// Reports kept for [`Peers::poll_report`]; beyond it the oldest go.
const MAX_QUEUED: usize = 1024;

/// Instances whose flows use what their peers say.
pub trait HearsPeers {
    /// The map where that is kept.
    fn peers_map(&self) -> BorrowedFd<'_>;
}

impl HearsPeers for Instance {
    fn peers_map(&self) -> BorrowedFd<'_> {
        self.peers_map()
    }
}

impl HearsPeers for CopaInstance {
    fn peers_map(&self) -> BorrowedFd<'_> {
        self.peers_map()
    }
}

/// Hears the option that [`Downlink`](crate::Downlink) writes at the other end, for one instance of
/// a law or of Copa.
///
/// Under Copa nothing but [`Peer::delay`] is used. A flow whose
/// peer spoke within the last 30 ms, or 200 ms while something is missing, goes by that instead of
/// the feed; else by the feed, and without one it is BBR.
///
/// A peer is believed up to [`PeersConfig::at_most`] and to three times what was delivered lately.
/// In the first three round trips, and after a second of silence, that is unknown: then its window
/// may be of 128 segments.
pub struct Peers {
    _attached: Link,
    adopt: Link,
    ring: RingBuffer<'static>,
    queue: Arc<Mutex<VecDeque<PeerReport>>>,
    lead: Lead,
    skel: PeersSkel<'static>,
}

impl Peers {
    /// Loads the program and attaches it to the cgroup, whose sockets may be in any network
    /// namespace. Those of this thread's are counted and reported. Sockets that are connected
    /// already are deaf before [`adopt`](Self::adopt).
    ///
    /// # Errors
    ///
    /// [`DownlinkError`] if there is no such cgroup, the kernel rejects the program, or it cannot
    /// be attached.
    pub fn attach(instance: &impl HearsPeers, config: &PeersConfig) -> Result<Self, DownlinkError> {
        let cgroup = open_cgroup(config.cgroup.as_deref())?;
        let log = Complaints::listen();
        let rejected = |source| LoadError::Rejected { source, complaint: log.take() };
        // As for BISCAY: a slot that outlives the skeleton, whose object is dropped.
        let slot = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = PeersSkelBuilder::default().open(slot).map_err(rejected)?;
        if let Some(rodata) = open.maps.rodata_data.as_mut() {
            rodata.exid = config.exid.into();
            rodata.at_most = config.at_most.bytes_per_sec().min(MAX_RATE);
            // Unknown before Linux 5.14: then sockets of all namespaces are counted.
            rodata.netns_cookie = netns::cookie().unwrap_or(0);
        }
        // Reports are kept in the map that the instance reads.
        open.maps.peers.reuse_fd(instance.peers_map()).map_err(rejected)?;
        let skel = open.load().map_err(rejected)?;
        let attach = |what| move |source| DownlinkError::Attach { what, source };
        let lead = Lead::of_this_process();
        let queue = Arc::new(Mutex::new(VecDeque::new()));
        let mut ring = RingBufferBuilder::new();
        let heard = Arc::clone(&queue);
        let keep = move |record: &[u8]| {
            let told = read::<WirePeerReport>(record).and_then(PeerReport::read);
            if let Some(told) = told {
                let mut queue = heard.lock().unwrap_or_else(PoisonError::into_inner);
                if queue.len() == MAX_QUEUED {
                    queue.pop_front();
                }
                queue.push_back(told);
            }
            0
        };
        ring.add(&skel.maps.reports, keep).map_err(attach("reports"))?;
        let ring = ring.build().map_err(attach("reports"))?;
        let adopt = skel.progs.adopt.attach().map_err(attach("adopt"))?;
        let attached =
            skel.progs.listen.attach_cgroup(cgroup.as_raw_fd()).map_err(attach("listen"))?;
        Ok(Self { _attached: attached, adopt, ring, queue, lead, skel })
    }

    /// Has the sockets of this thread's network namespace listen that are connected already. They
    /// are the cgroup's only if they were made in it.
    ///
    /// # Errors
    ///
    /// [`DownlinkError::Walk`] if the kernel refuses the walk over its sockets.
    pub fn adopt(&self) -> Result<Walked, DownlinkError> {
        walk::walk(&self.adopt, || {
            let bss = self.skel.maps.bss_data.as_ref();
            bss.map_or((0, 0), |bss| (bss.walked_over, bss.walk_refused))
        })
    }

    /// What was not believed so far.
    pub fn counts(&self) -> PeerCounts {
        let bss = self.skel.maps.bss_data.as_ref();
        bss.map_or_else(PeerCounts::default, |bss| PeerCounts {
            forged: bss.segments_forged,
            unreadable: bss.segments_unreadable,
            limited: bss.connections_limited,
            overstated: bss.connections_overstated,
        })
    }

    /// The oldest report not yet polled: of a connection of this network namespace whose peer said
    /// something for the first time, or overstates. Never blocks.
    pub fn poll_report(&self) -> Option<PeerReport> {
        // `consume` fails only with EINTR; the records stay for the next poll.
        let _ = self.ring.consume();
        let told = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        Some(PeerReport { at: self.lead.on_our_clock(told.at), ..told })
    }

    /// What the peer of one of this process's sockets says; `None` if it has not said anything.
    ///
    /// # Errors
    ///
    /// [`FlowError`] if the socket's storage cannot be read.
    pub fn peer(&self, socket: impl AsFd) -> Result<Option<Peer>, FlowError> {
        let read = |value: &[u8]| read::<WirePeer>(value).and_then(Peer::read);
        let peer = stored(&self.skel.maps.peers, socket, read)?;
        Ok(peer.map(|peer| Peer { heard_at: self.lead.on_our_clock(peer.heard_at), ..peer }))
    }
}
