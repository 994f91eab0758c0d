//! A download from a server under a remote law, to a device that says what its link carries.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_bpf::{
    Config, Downlink, Feed, Flow, Instance, Peers, PeersConfig, Phase, Signal, Transition,
};
use sounding_estimate::wire::{code_of, rate_of};
use sounding_estimate::{Bound, Direction, LinkEstimate, Source, State};
use sounding_host::monotonic_now;
use sounding_laws::Law;
use sounding_units::{HostInstant, Rate};

use crate::device::load;
use crate::support::*;

pub(crate) const fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

/// A rate as 16 bits carry it, and as payload of packets of 1500 bytes.
pub(crate) fn payload(rate: Rate) -> Rate {
    let told = rate_of(code_of(Some(rate))).unwrap();
    Rate::from_bytes_per_sec(told.bytes_per_sec() * 1448 / 1500)
}

pub(crate) fn link(state: State, rate: Rate, source: Source) -> LinkEstimate {
    LinkEstimate::new(Direction::Downlink, rate, Bound::Capacity)
        .with_age(Duration::from_millis(20))
        .with_state(state)
        .with_source(source)
}

/// A device that says the same of its link every 5 ms until dropped.
pub(crate) struct Reporter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reporter {
    pub(crate) fn of(feed: &Feed, link: LinkEstimate) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (feed, stopped) = (feed.clone(), stop.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let now = monotonic_now();
                feed.publish_link(&link, now);
                feed.heartbeat(now);
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { stop, thread: Some(thread) }
    }

    /// It says nothing more; when that was.
    pub(crate) fn dies(self) -> HostInstant {
        drop(self);
        monotonic_now()
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// A download from a server under a law to a device, with the law's own algorithm to fall back to.
pub(crate) struct Scene {
    pub(crate) bulk: Bulk,
    device: Downlink,
    _peers: Peers,
    pub(crate) server: Instance,
}

impl Scene {
    /// `None` where the law cannot be loaded.
    pub(crate) fn start(law: Law, cgroup: &Path) -> Option<Self> {
        let server = load_config(Config { law, fallback: law.fallback(), ..Config::default() })?;
        let config = PeersConfig { cgroup: Some(cgroup.into()), ..PeersConfig::default() };
        let peers = Peers::attach(&server, &config).unwrap_or_else(|error| panic!("{error}"));
        let device = load(cgroup, Signal::Option);
        let (near, far) = connected();
        select(&near, server.name()).unwrap();
        Some(Self { bulk: Bulk::start((near, far)), device, _peers: peers, server })
    }

    pub(crate) fn flow(&self) -> Flow {
        self.server.flow(&self.bulk.sender).unwrap().unwrap()
    }

    pub(crate) fn reports(&self, link: LinkEstimate) -> Reporter {
        Reporter::of(self.device.feed(), link)
    }

    /// Four segments in each millisecond are the least on a path as short as this: rates here are
    /// above that.
    pub(crate) fn wait_for_pace(&self, pace: Rate) {
        wait_for(&format!("{pace:?}"), || (self.flow().pacing == pace).then_some(()));
    }

    /// Waits until the stock algorithm has the flow; the last change to that.
    pub(crate) fn wait_for_fall(&self) -> Transition {
        wait_for("a fall", || (self.flow().phase == Phase::NoEstimate).then_some(()));
        let seen = std::iter::from_fn(|| self.server.poll_transition());
        seen.filter(|seen| seen.to == Phase::NoEstimate).last().unwrap()
    }
}
