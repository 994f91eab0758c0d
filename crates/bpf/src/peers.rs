//! The server's side of the downlink: flows under either law use the report of the device at their other end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::rc::Rc;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, RingBuffer, RingBufferBuilder};
use sounding_units::{HostInstant, Rate};

use crate::downlink::walk::{self, Walked};
use crate::downlink::{DownlinkError, EXID, open_cgroup};
use crate::error::LoadError;
use crate::intf::{MAX_RATE, WireOverstatement, read};
use crate::lead::Lead;
use crate::loader::Instance;
use crate::log::Complaints;
use crate::skel_peers::{PeersSkel, PeersSkelBuilder};

/// Overstatements kept for [`Peers::poll_overstatement`]; beyond it the oldest go.
const MAX_QUEUED: usize = 1024;

/// Whose options are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeersConfig {
    /// The cgroup (v2) whose sockets listen, those of its descendants included; `None` for the whole machine.
    pub cgroup: Option<PathBuf>,
    /// Distinguishes the option from other experiments.
    pub exid: u16,
    /// The upper limit on a device's reported rate. Default, and maximum: what any radio carries, 100 Gbit/s.
    pub at_most: Rate,
}

impl Default for PeersConfig {
    fn default() -> Self {
        Self { cgroup: None, exid: EXID, at_most: Rate::from_bytes_per_sec(MAX_RATE) }
    }
}

/// The parts of peers' reports that were not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerCounts {
    /// Segments with the option that TCP drops: their acknowledgement is of nothing that was sent, or the time stamp is
    /// missing that both ends agreed on.
    pub forged: u64,
    /// Connections whose peer said more than [`PeersConfig::at_most`].
    pub limited: u64,
    /// Connections whose peer said for sixteen round trips in a row more than three times what was delivered. It may believe
    /// so: then the path is narrower than its radio.
    pub overstated: u64,
}

/// A connection that is counted as [`PeerCounts::overstated`] from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overstatement {
    /// When.
    pub at: HostInstant,
    /// The port at this end.
    pub local_port: u16,
    /// The peer.
    pub remote: SocketAddr,
    /// What it said, of IP packets.
    pub claimed: Rate,
    /// The largest delivery rate of the last ten round trips, of payload.
    pub delivered: Rate,
}

/// Reads the option that [`Downlink`](crate::Downlink) writes at the other end, for one instance of BISCAY. A flow with
/// a report of the last 100 ms uses that instead of the feed; else it uses the feed, and without one it is BBR.
///
/// A peer is believed up to [`PeersConfig::at_most`] and to three times what was delivered lately. In the first three round
/// trips, and after a second of silence, that is unknown: then its window may be of 128 segments.
pub struct Peers {
    _attached: Link,
    adopt: Link,
    ring: RingBuffer<'static>,
    queue: Rc<RefCell<VecDeque<Overstatement>>>,
    lead: Lead,
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
            rodata.at_most = config.at_most.bytes_per_sec().min(MAX_RATE);
        }
        // Reports are kept in the map that the instance reads.
        open.maps.peers.reuse_fd(instance.peers_map()).map_err(rejected)?;
        let skel = open.load().map_err(rejected)?;
        let attach = |what| move |source| DownlinkError::Attach { what, source };
        let lead = Lead::of_this_process();
        let queue = Rc::new(RefCell::new(VecDeque::new()));
        let mut ring = RingBufferBuilder::new();
        let heard = Rc::clone(&queue);
        let keep = move |record: &[u8]| {
            let told = read::<WireOverstatement>(record).and_then(overstatement);
            if let Some(told) = told {
                let mut queue = heard.borrow_mut();
                if queue.len() == MAX_QUEUED {
                    queue.pop_front();
                }
                queue.push_back(told);
            }
            0
        };
        ring.add(&skel.maps.overstatements, keep).map_err(attach("overstatements"))?;
        let ring = ring.build().map_err(attach("overstatements"))?;
        let adopt = skel.progs.adopt.attach().map_err(attach("adopt"))?;
        let attached =
            skel.progs.listen.attach_cgroup(cgroup.as_raw_fd()).map_err(attach("listen"))?;
        Ok(Self { _attached: attached, adopt, ring, queue, lead, skel })
    }

    /// Has the sockets of this thread's network namespace listen that are connected already. They are the cgroup's only if
    /// they were made in it.
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
            limited: bss.connections_limited,
            overstated: bss.connections_overstated,
        })
    }

    /// The oldest connection not yet polled that overstates. Never blocks.
    pub fn poll_overstatement(&self) -> Option<Overstatement> {
        // The only error of consume is EINTR; the records stay for the next poll.
        let _ = self.ring.consume();
        let told = self.queue.borrow_mut().pop_front()?;
        Some(Overstatement { at: self.lead.on_our_clock(told.at), ..told })
    }
}

fn overstatement(wire: WireOverstatement) -> Option<Overstatement> {
    let address = match i32::try_from(wire.family).ok()? {
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(wire.remote.first_chunk::<4>().copied()?)),
        libc::AF_INET6 => Ipv6Addr::from(wire.remote).to_canonical(),
        _ => return None,
    };
    Some(Overstatement {
        at: HostInstant::from_nanos(wire.at_ns),
        local_port: u16::try_from(wire.local_port).ok()?,
        remote: SocketAddr::new(address, u16::try_from(wire.remote_port).ok()?),
        claimed: Rate::from_bytes_per_sec(wire.claimed_bytes_per_sec),
        delivered: Rate::from_bytes_per_sec(wire.delivered_bytes_per_sec),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overstatement_has_the_address_of_its_family() {
        let wire = WireOverstatement {
            at_ns: 7,
            claimed_bytes_per_sec: 125_000_000,
            delivered_bytes_per_sec: 2_500_000,
            family: libc::AF_INET as u32,
            local_port: 5201,
            remote_port: 40_000,
            remote: [10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ..WireOverstatement::default()
        };
        let told = overstatement(wire).expect("of IPv4");
        assert_eq!(told.remote.to_string(), "10.0.0.9:40000");
        assert_eq!((told.at.as_nanos(), told.local_port), (7, 5201));
        assert_eq!(told.claimed, Rate::from_bits_per_sec(1_000_000_000));
        let mut remote = [0; 16];
        remote[15] = 1;
        let six = WireOverstatement { family: libc::AF_INET6 as u32, remote, ..wire };
        assert_eq!(overstatement(six).expect("of IPv6").remote.to_string(), "[::1]:40000");
        let odd = WireOverstatement { family: 1, ..wire };
        assert_eq!(overstatement(odd), None);
        let odd = WireOverstatement { remote_port: 70_000, ..wire };
        assert_eq!(overstatement(odd), None);
    }
}
