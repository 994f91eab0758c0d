//! The device's side of the downlink: limits this machine's senders to what its radio link carries.
//!
//! A receive window limits any sender (BISCAY §4): the window of a socket is what the socket's
//! share of the link carries in one round trip plus a slack. A TCP option gives the rate to senders
//! that know it, see [`Peers`](crate::Peers). Both use their own [`Feed`] and stop when it is
//! stale.
//!
//! A program in the kernel does it at every segment that a socket of the cgroup sends. It is
//! pinned: without this process it goes on, finds the feed stale and stops. [`release_pinned`]
//! restores the windows of silent sockets, and needs only the pins.

mod cgroup;
mod claim;
mod error;
mod flow;
mod own;
mod pins;
mod sockets;
pub(crate) mod walk;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapHandle};
use nix::net::if_::{if_indextoname, if_nametoindex};

pub(crate) use cgroup::open as open_cgroup;
pub use cgroup::{cgroup_root, downlink_preflight};
use claim::Claim;
pub use error::DownlinkError;
pub use flow::{DownlinkFlow, Hold};
pub use own::OwnCgroup;
pub use pins::release_pinned;
use sockets::Sockets;
use sounding_host::runtime_folder;

use crate::config::{DownlinkConfig, Signal};
use crate::error::LoadError;
use crate::feed::Feed;
use crate::flows::FlowError;
use crate::log::Complaints;
use crate::netns;
use crate::radios::{Radios, set_radios};
use crate::reports::Walked;
use crate::skel_downlink::{DownlinkSkel, DownlinkSkelBuilder};
use crate::subordinates::SubordinateMap;

/// Where root's daemons record their claimed sockets, in files that begin with their process. Too
/// long for a daemon's name.
pub const CLAIMS: &str = "/run/sounding/claimed-downlinks";

/// The same for this process: daemons that look into the same folder see each other.
fn claims() -> PathBuf {
    let own = runtime_folder().zip(Path::new(CLAIMS).file_name());
    own.map_or_else(|| CLAIMS.into(), |(folder, claims)| folder.join(claims))
}

/// Where the pins of a daemon of this name are.
pub fn pins_of(name: &str) -> PathBuf {
    pins::given().unwrap_or_else(|| "/run/sounding".into()).join(name)
}

/// A loaded and attached instance. Dropping it lets every socket go and leaves nothing behind.
pub struct Downlink {
    // Dropped in this order: first no socket is clamped any more.
    _attached: Link,
    adopt: Link,
    release: Link,
    pins: Option<PathBuf>,
    feed: Feed,
    flows: MapHandle,
    skel: DownlinkSkel<'static>,
    // Last: until then senders are limited.
    _claim: Claim,
}

impl Downlink {
    /// Loads the program and attaches it to the cgroup. Sockets that are connected already are not
    /// touched before [`adopt`](Self::adopt).
    ///
    /// # Errors
    ///
    /// [`DownlinkError::Taken`] if another daemon limits these senders; another [`DownlinkError`]
    /// if there is no such cgroup, or the kernel rejects the program or its place.
    pub fn load(config: &DownlinkConfig) -> Result<Self, DownlinkError> {
        let cgroup = open_cgroup(config.cgroup.as_deref())?;
        let netns_cookie = netns::cookie().map_err(DownlinkError::Namespace)?;
        let claim = Claim::make(
            &claims(),
            &Sockets {
                netns_cookie,
                cgroups: cgroup::lineage(&cgroup)?,
                interfaces: config.interfaces.iter().map(|name| own_name(name)).collect(),
            },
        )?;
        let numbers: Vec<u32> = config
            .interfaces
            .iter()
            .map(|name| if_nametoindex(name.as_str()).unwrap_or_default())
            .collect();
        let radios = Radios::of_one(&numbers).map_err(DownlinkError::Interfaces)?;
        let log = Complaints::listen();
        let rejected = |source| LoadError::Rejected { source, complaint: log.take() };

        // As for BISCAY: a slot that outlives the skeleton, whose object is dropped.
        let slot = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = DownlinkSkelBuilder::default().open(slot).map_err(rejected)?;
        if let Some(rodata) = open.maps.rodata_data.as_mut() {
            let settings = &mut rodata.settings;
            settings.max_age_ns = nanos(config.max_age);
            settings.max_silence_ns = nanos(config.max_silence);
            settings.netns_cookie = netns_cookie;
            settings.slack_us = u32::try_from(config.slack.as_micros()).unwrap_or(u32::MAX);
            settings.signals = bits(config.signal);
            settings.exid = config.exid.into();
        }
        if let Some(bss) = open.maps.bss_data.as_mut() {
            let netns_cookie = if config.interfaces.is_empty() { 0 } else { netns_cookie };
            set_radios!(bss.radios, &radios, netns_cookie);
        }
        let skel = open.load().map_err(rejected)?;
        let feed =
            Feed::map(skel.maps.feed.as_fd(), 0).map_err(|source| LoadError::Feed { source })?;
        let flows = MapHandle::try_from(&skel.maps.downlinks)
            .map_err(|source| LoadError::Map { map: "downlinks", source })?;
        let attach = |what| move |source| DownlinkError::Attach { what, source };
        let adopt = skel.progs.adopt.attach().map_err(attach("adopt"))?;
        let mut release = skel.progs.release.attach().map_err(attach("release"))?;
        let mut attached =
            skel.progs.downlink.attach_cgroup(cgroup.as_raw_fd()).map_err(attach("downlink"))?;
        let pins = match &config.pin {
            Some(name) => Some(pins::pin(name, &mut attached, &mut release)?),
            None => None,
        };
        Ok(Self { _attached: attached, adopt, release, pins, feed, flows, skel, _claim: claim })
    }

    /// Sets the numbers of the modem's devices, 0 for one that is not there: one that comes back
    /// has another number under the old name. With none, every device but loopback counts as
    /// the modem's.
    ///
    /// # Errors
    ///
    /// An error if there are more devices than [`MAX_RADIOS`](crate::MAX_RADIOS).
    pub fn follow(&mut self, devices: &[u32]) -> io::Result<()> {
        let radios = Radios::of_one(devices)?;
        let netns_cookie = radios.netns_cookie()?;
        if let Some(bss) = self.skel.maps.bss_data.as_mut() {
            set_radios!(bss.radios, &radios, netns_cookie);
        }
        Ok(())
    }

    /// Takes on the sockets of this thread's network namespace that are connected already. They are
    /// the cgroup's only if they were made in it.
    ///
    /// # Errors
    ///
    /// [`DownlinkError::Walk`] if the kernel refuses the walk over its sockets.
    pub fn adopt(&self) -> Result<Walked, DownlinkError> {
        self.walk(&self.adopt)
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

    /// The page this instance goes by.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Where it is pinned, for [`release_pinned`].
    pub fn pins(&self) -> Option<&Path> {
        self.pins.as_deref()
    }

    /// The state of one of this process's sockets; `None` if it is not one of the cgroup's.
    ///
    /// # Errors
    ///
    /// [`FlowError`] if the socket's storage cannot be read.
    pub fn flow(&self, socket: impl AsFd) -> Result<Option<DownlinkFlow>, FlowError> {
        flow::flow(&self.flows, socket)
    }

    fn walk(&self, by: &Link) -> Result<Walked, DownlinkError> {
        walk::walk(by, || {
            let bss = self.skel.maps.bss_data.as_ref();
            bss.map_or((0, 0), |bss| (bss.walked_over, bss.walk_refused))
        })
    }
}

impl Drop for Downlink {
    fn drop(&mut self) {
        // Before the walk: no segment may set again what the walk has restored.
        self.feed.invalidate();
        let _ = self.walk(&self.release);
        if let Some(pins) = &self.pins {
            let _ = pins::unpin(pins);
        }
    }
}

/// The bits of `signals` in the program.
fn bits(signal: Signal) -> u32 {
    match signal {
        Signal::Window => 1,
        Signal::Option => 2,
        Signal::Both => 3,
    }
}

/// The kernel's own name of a device that may have other names as well; the given name while there
/// is none.
fn own_name(name: &str) -> String {
    let own = if_nametoindex(name).and_then(if_indextoname);
    own.ok().and_then(|own| own.into_string().ok()).unwrap_or_else(|| name.into())
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
