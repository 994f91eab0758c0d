//! Copa in the kernel, without the radio's own delays: a congestion control without a stock
//! algorithm behind it, and the page that says what the radio added to packets.

mod flow;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::MapHandle;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

pub use flow::{CopaFlow, CopaFlows};

use crate::cost::{self, Program};
use crate::delay_feed::DelayFeed;
use crate::error::LoadError;
use crate::flows::{FlowError, stored};
use crate::netns;
use crate::preflight::{self, Check};
use crate::radios::{Radios, set_radios};
use crate::skel_copa::{CopaSkel, CopaSkelBuilder};
use crate::struct_ops::{Registered, Registration, operations};

/// A loaded and registered instance. Dropping it takes the name away and empties the page. Flows
/// under it keep the program, and go on as plain Copa.
pub struct CopaInstance {
    // Dropped first: no socket gets it any more.
    registered: Registered,
    delays: DelayFeed,
    flows: MapHandle,
    skel: CopaSkel<'static>,
}

impl CopaInstance {
    /// Loads the program and registers it under `name`, 1 to 15 bytes of `[a-z0-9_]`.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the name is invalid or taken, this kernel or process lacks what it takes,
    /// or the kernel rejects the program.
    pub fn load(name: &str) -> Result<Self, LoadError> {
        let registration = Registration::begin(name, preflight::kernel_without_stock(name)?);
        let rejected = |source| registration.rejected(source);

        // As for the laws: a slot that outlives the skeleton, whose object is dropped.
        let slot = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = CopaSkelBuilder::default().open(slot).map_err(rejected)?;
        registration.adapt(operations!(open, copa, copa_cong_control_before_6_10))?;
        let mut skel = open.load().map_err(rejected)?;

        let delays = DelayFeed::map(skel.maps.delays.as_fd(), 0)
            .map_err(|source| LoadError::Feed { source })?;
        let flows = MapHandle::try_from(&skel.maps.copa_flows)
            .map_err(|source| LoadError::Map { map: "copa_flows", source })?;
        let registered = registration.register(&mut skel.maps.copa)?;
        Ok(Self { registered, delays, flows, skel })
    }

    /// What sockets select.
    pub fn name(&self) -> &str {
        &self.registered.name
    }

    /// Before Linux 6.4 the name outlasts a killed process: the number of the map that keeps it,
    /// for [`unregister`](crate::unregister).
    pub fn outlasting(&self) -> Option<u32> {
        self.registered.outlasting
    }

    /// What the radio of the only modem, or of the first, added to packets, for the flows of this
    /// instance.
    pub fn delays(&mut self) -> &mut DelayFeed {
        &mut self.delays
    }

    /// The page for the modem at this place, below [`MAX_MODEMS`](crate::MAX_MODEMS), which this
    /// empties. It may go to another thread. A page has one writer.
    ///
    /// # Errors
    ///
    /// The kernel's error, if there is no such page.
    pub fn delays_of(&self, place: usize) -> io::Result<DelayFeed> {
        DelayFeed::map(self.skel.maps.delays.as_fd(), place)
    }

    /// Where what peers say is kept.
    pub(crate) fn peers_map(&self) -> BorrowedFd<'_> {
        self.skel.maps.peers.as_fd()
    }

    /// Has only flows of this thread's network namespace counted. Before Linux 5.14 namespaces
    /// cannot be distinguished, and all are.
    pub fn count_own_namespace(&mut self) {
        if let Some(bss) = self.skel.maps.bss_data.as_mut() {
            bss.counted_netns = netns::cookie().unwrap_or(0);
        }
    }

    /// Flows that began under it.
    pub fn begun(&self) -> u64 {
        self.skel.maps.bss_data.as_ref().map_or(0, |bss| bss.counts.flows)
    }

    /// Sets the modems' network devices. Flows that leave by others are plain Copa. At load, all
    /// flows are those of the modem at the first place.
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

    /// The state of one of this process's sockets; `None` if it does not run under this instance.
    ///
    /// # Errors
    ///
    /// [`FlowError`] if the socket's storage cannot be read.
    pub fn flow(&self, socket: impl AsFd) -> Result<Option<CopaFlow>, FlowError> {
        stored(&self.flows, socket, CopaFlow::read)
    }

    /// Instructions that the verifier walked through for `cong_control`; the kernel's limit is a
    /// million.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it tells nothing of a program.
    pub fn verified(&self) -> io::Result<u32> {
        cost::program("cong_control", self.cong_control()).map(|program| program.verified_insns)
    }

    /// What each program that runs in mid-flow cost so far.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it tells nothing of a program.
    pub fn programs(&self) -> io::Result<Vec<Program>> {
        let progs = &self.skel.progs;
        [
            ("cong_control", self.cong_control()),
            ("set_state", progs.copa_set_state.as_fd()),
            ("min_tso_segs", progs.copa_min_tso_segs.as_fd()),
            ("sndbuf_expand", progs.copa_sndbuf_expand.as_fd()),
        ]
        .into_iter()
        .map(|(name, fd)| cost::program(name, fd))
        .collect()
    }

    /// The one of the two that has the kernel's signature.
    fn cong_control(&self) -> BorrowedFd<'_> {
        let progs = &self.skel.progs;
        match progs.copa_cong_control.autoload() {
            true => progs.copa_cong_control.as_fd(),
            false => progs.copa_cong_control_before_6_10.as_fd(),
        }
    }
}

/// All requirements of loading it under `name`.
pub fn copa_preflight(name: &str) -> Vec<Check> {
    preflight::preflight_without_stock(name)
}
