use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{AsRawLibbpf, MapHandle, RingBuffer, RingBufferBuilder};
use sounding_laws::{Fallback, Law, biscay};

use crate::cost::{self, Program};
use crate::counting::Counting;
use crate::error::LoadError;
use crate::feed::Feed;
use crate::flows::{self, Flow, FlowError};
use crate::intf;
use crate::laws;
use crate::lead::Lead;
use crate::netns;
use crate::preflight;
use crate::radios::{MAX_MODEMS, Radios, set_radios};
use crate::reports::Transition;
use crate::sharing::Sharing;
use crate::skel::{CcSkel, CcSkelBuilder};
use crate::struct_ops::{Registered, Registration};
use crate::subordinates::SubordinateMap;

/// Transitions kept for [`Instance::poll_transition`]; beyond it the oldest go.
const MAX_QUEUED: usize = 4096;

/// What an instance is called and how it behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The name that sockets select, 1 to 15 bytes of `[a-z0-9_]`. Default `biscay`.
    pub name: String,
    /// The law. Default BISCAY's.
    pub law: Law,
    /// Controls the flow while the law does not. Default BBR.
    pub fallback: Fallback,
    /// The law's settings, fixed at load. `sounding` uses only those that say how long an estimate
    /// is believed.
    pub settings: biscay::Config,
    /// How flows share the link.
    pub sharing: Sharing,
}

impl Default for Config {
    fn default() -> Self {
        let law = Law::default();
        let name = law.kernel_name();
        let (fallback, settings) = (Fallback::default(), biscay::Config::default());
        Self { name, law, fallback, settings, sharing: Sharing::default() }
    }
}

/// A loaded and registered instance. Dropping it takes the name away and withdraws the feed;
/// nothing is pinned, so a process that dies leaves as little behind, but for the name before Linux
/// 6.4: [`outlasting`](Self::outlasting).
pub struct Instance {
    registered: Registered,
    law: Law,
    fallback: Fallback,
    feeds: [Feed; MAX_MODEMS],
    lead: Lead,
    flows: MapHandle,
    // libbpf's ring has one reader.
    ring: Mutex<RingBuffer<'static>>,
    ring_fd: RawFd,
    /// Why other flows cannot be counted, if they cannot.
    uncounted: Option<&'static str>,
    queue: Arc<Mutex<VecDeque<Transition>>>,
    skel: CcSkel<'static>,
}

impl Instance {
    /// Loads the program under its name and registers it.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the name is invalid or taken, this kernel or process lacks what it takes,
    /// or the kernel rejects the program.
    pub fn load(config: &Config) -> Result<Self, LoadError> {
        let kernel = preflight::kernel_for(&config.name, config.fallback)?;
        let registration = Registration::begin(&config.name, kernel);
        let rejected = |source| registration.rejected(source);

        // Eight bytes a load: the slot that libbpf-rs wants to outlive the skeleton. The object in
        // it is dropped.
        let slot = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = CcSkelBuilder::default().open(slot).map_err(rejected)?;
        if let Some(rodata) = open.maps.rodata_data.as_mut() {
            rodata.config = intf::wire_config(&config.settings);
            rodata.sharing = config.sharing.wire();
            rodata.falls_to_cubic = u32::from(config.fallback == Fallback::Cubic);
        }
        let uncounted = if !config.sharing.others {
            Some("the program that counts was not loaded")
        } else if !registration.kernel.has_tcx() {
            Some("this kernel has no tcx, which Linux 6.6 brought")
        } else {
            None
        };
        open.progs.count_egress.set_autoload(uncounted.is_none());
        let acked = open.progs.flow_pkts_acked.as_libbpf_object().as_ptr();
        let operations = laws::choose(&mut open, config.law).map_err(rejected)?;
        if config.fallback == Fallback::Cubic {
            *operations.pkts_acked = acked;
        }
        registration.adapt(operations)?;
        let mut skel = open.load().map_err(rejected)?;

        let feed = |place| Feed::map(skel.maps.feed.as_fd(), place);
        let feed = |place| feed(place).map_err(|source| LoadError::Feed { source });
        let feeds = [feed(0)?, feed(1)?, feed(2)?, feed(3)?];
        let flows = MapHandle::try_from(&skel.maps.flows)
            .map_err(|source| LoadError::Map { map: "flows", source })?;
        config
            .sharing
            .fill(&skel.maps.weights)
            .map_err(|source| LoadError::Map { map: "weights", source })?;
        let queue = Arc::new(Mutex::new(VecDeque::new()));
        let ring = ring(&skel, Arc::clone(&queue))
            .map_err(|source| LoadError::Map { map: "transitions", source })?;
        let registered = registration.register(laws::map(&mut skel.maps, config.law))?;
        let ring_fd = ring.epoll_fd();
        let ring = Mutex::new(ring);
        Ok(Self {
            registered,
            law: config.law,
            fallback: config.fallback,
            feeds,
            lead: Lead::of_this_process(),
            flows,
            ring,
            ring_fd,
            uncounted,
            queue,
            skel,
        })
    }

    /// What sockets select.
    pub fn name(&self) -> &str {
        &self.registered.name
    }

    /// What it goes by.
    pub fn law(&self) -> Law {
        self.law
    }

    /// Before Linux 6.4 the name outlasts a killed process: this is the number of the map that
    /// keeps it then, for [`unregister`](crate::unregister). `None` if the kernel removes it.
    pub fn outlasting(&self) -> Option<u32> {
        self.registered.outlasting
    }

    /// The page of the only modem, or of the first.
    pub fn feed(&self) -> &Feed {
        &self.feeds[0]
    }

    /// The page of the modem at this place, below [`MAX_MODEMS`].
    pub fn feed_of(&self, place: usize) -> Option<&Feed> {
        self.feeds.get(place)
    }

    /// The state of one of this process's sockets; `None` if it does not run under this instance.
    ///
    /// # Errors
    ///
    /// [`FlowError`] if the socket's storage cannot be read.
    pub fn flow(&self, socket: impl AsFd) -> Result<Option<Flow>, FlowError> {
        flows::flow(&self.flows, socket).map(|flow| flow.map(|flow| self.on_our_clock(flow)))
    }

    /// The state of another process's socket.
    ///
    /// # Errors
    ///
    /// [`FlowError`] if the descriptor cannot be borrowed, or the socket's storage cannot be read.
    pub fn flow_of(&self, pid: u32, fd: i32) -> Result<Option<Flow>, FlowError> {
        self.flow(flows::borrow_descriptor(pid, fd)?)
    }

    fn on_our_clock(&self, flow: Flow) -> Flow {
        Flow { since: self.lead.on_our_clock(flow.since), ..flow }
    }

    /// The oldest change of state not yet polled, of any flow under this instance. Never blocks.
    pub fn poll_transition(&self) -> Option<Transition> {
        // The only error of consume is EINTR; the records stay for the next poll.
        let _ = self.ring.lock().unwrap_or_else(PoisonError::into_inner).consume();
        let seen = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        Some(Transition { at: self.lead.on_our_clock(seen.at), ..seen })
    }

    /// Counts UDP flows, and TCP flows of other algorithms, that leave by a device of this network
    /// namespace, by its number. Needs [`Sharing::others`] at load, and Linux 6.6.
    ///
    /// # Errors
    ///
    /// An error if the program that counts was not loaded, the kernel has no tcx, or there is no
    /// such device.
    pub fn count_on(&self, device: u32) -> io::Result<Counting> {
        if let Some(why) = self.uncounted {
            return Err(io::Error::other(why));
        }
        Counting::attach(&self.skel.progs.count_egress, device)
    }

    /// Sets the modems' network devices. Flows that leave by others go on as without a modem, and
    /// claim nothing of a link. At load, all flows are those of the modem at the first place.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the namespace has no number.
    pub fn set_radios(&mut self, radios: &Radios) -> io::Result<()> {
        let netns_cookie = radios.netns_cookie()?;
        if let Some(bss) = self.skel.maps.bss_data.as_mut() {
            set_radios!(bss.radios, radios, netns_cookie);
        }
        Ok(())
    }

    /// The map by which ids of `/etc/subuid` count as the users that have them. At load it is
    /// empty.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it has no descriptor left.
    pub fn subordinates(&self) -> io::Result<SubordinateMap> {
        let map = MapHandle::try_from(&self.skel.maps.subordinates);
        map.map(SubordinateMap::of).map_err(io::Error::other)
    }

    /// Has only flows of this thread's network namespace report transitions: a container's could
    /// fill the queue. Before Linux 5.14 namespaces cannot be distinguished, and all report.
    pub fn report_own_namespace(&mut self) {
        if let Some(bss) = self.skel.maps.bss_data.as_mut() {
            bss.reported_netns = netns::cookie().unwrap_or(0);
        }
    }

    /// What each program cost so far.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it tells nothing of a program.
    pub fn programs(&self) -> io::Result<Vec<Program>> {
        cost::programs(&self.skel, self.law, self.fallback)
    }

    /// Where what peers say is kept.
    pub(crate) fn peers_map(&self) -> BorrowedFd<'_> {
        self.skel.maps.peers.as_fd()
    }

    /// Changes of state lost because they were not polled.
    pub fn transitions_dropped(&self) -> u64 {
        self.skel.maps.bss_data.as_ref().map_or(0, |bss| bss.transitions_dropped)
    }

    /// Becomes readable when [`poll_transition`](Self::poll_transition) has something.
    pub fn transitions_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the ring owns this epoll descriptor for as long as `self` lives.
        unsafe { BorrowedFd::borrow_raw(self.ring_fd) }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Clones of a feed may outlive us; what they last said shall not.
        self.feeds.iter().for_each(Feed::invalidate);
    }
}

fn ring(
    skel: &CcSkel<'static>,
    queue: Arc<Mutex<VecDeque<Transition>>>,
) -> libbpf_rs::Result<RingBuffer<'static>> {
    let mut builder = RingBufferBuilder::new();
    builder.add(&skel.maps.transitions, move |record| {
        if let Some(transition) = flows::transition(record) {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.len() == MAX_QUEUED {
                queue.pop_front();
            }
            queue.push_back(transition);
        }
        0
    })?;
    builder.build()
}
