//! The law of CQIC in this machine's kernel, at the far end of a loopback whose receiver says what its channel carries. Where it
//! cannot be loaded, each test says why and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod device;
#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use device::{alone, load};
use sounding_bpf::{
    Config, Downlink, Feed, Flow, Instance, Peers, PeersConfig, Phase, Reason, Signal,
};
use sounding_cc::Law;
use sounding_estimate::wire::{code_of, rate_of};
use sounding_estimate::{Bound, Direction, LinkEstimate, Source, State};
use sounding_host::monotonic_now;
use sounding_units::{HostInstant, Rate};
use support::*;

const fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

/// A rate as 16 bits carry it, and as payload of packets of 1500 bytes.
fn payload(rate: Rate) -> Rate {
    let told = rate_of(code_of(Some(rate))).unwrap();
    Rate::from_bytes_per_sec(told.bytes_per_sec() * 1448 / 1500)
}

fn link(state: State, rate: Rate) -> LinkEstimate {
    LinkEstimate {
        direction: Direction::Downlink,
        rate,
        bound: Bound::Capacity,
        age: Duration::from_millis(20),
        valid_for: Duration::from_millis(200),
        backlog: None,
        state,
        source: Source::Cqi,
        fair: None,
    }
}

/// A device that says the same of its link every 5 ms until dropped.
struct Reporter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reporter {
    fn of(feed: &Feed, link: LinkEstimate) -> Self {
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
    fn dies(self) -> HostInstant {
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

/// A download from a server under the law to a device, with CUBIC to fall back to.
struct Scene {
    bulk: Bulk,
    device: Downlink,
    _peers: Peers,
    server: Instance,
}

impl Scene {
    /// `None` where the law cannot be loaded.
    fn start(cgroup: &Path) -> Option<Self> {
        let law = Law::Cqic;
        let server = load_config(Config { law, fallback: law.fallback(), ..Config::default() })?;
        let config = PeersConfig { cgroup: Some(cgroup.into()), ..PeersConfig::default() };
        let peers = Peers::attach(&server, &config).unwrap_or_else(|error| panic!("{error}"));
        let device = load(cgroup, Signal::Option);
        let (near, far) = connected();
        select(&near, server.name()).unwrap();
        Some(Self { bulk: Bulk::start((near, far)), device, _peers: peers, server })
    }

    fn flow(&self) -> Flow {
        self.server.flow(&self.bulk.sender).unwrap().unwrap()
    }

    fn reports(&self, link: LinkEstimate) -> Reporter {
        Reporter::of(self.device.feed(), link)
    }

    /// Four segments in each millisecond are the least on a path as short as this: rates here are above that.
    fn wait_for_pace(&self, pace: Rate) {
        wait_for(&format!("{pace:?}"), || (self.flow().pacing == pace).then_some(()));
    }
}

#[test]
fn a_flow_sends_what_the_device_reports_up_and_down_at_once() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(cgroup) else { return };
        for rate in [200, 500, 100] {
            let _device = scene.reports(link(State::Active, mbit(rate)));
            scene.wait_for_pace(payload(mbit(rate)));
            assert_eq!(scene.flow().phase, Phase::RadioLimited);
        }
    });
}

#[test]
fn a_device_that_is_granted_nothing_yet_has_the_rate_of_its_channel_used() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(cgroup) else { return };
        let _device = scene.reports(link(State::Idle, mbit(150)));
        scene.wait_for_pace(payload(mbit(150)));
        let first = scene.server.poll_transition().unwrap();
        assert_eq!((first.from, first.reason), (Phase::NoEstimate, Reason::Fresh));
    });
}

#[test]
fn cubic_has_the_flow_a_second_after_the_last_report_and_gives_it_back() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(cgroup) else { return };
        for _ in 0..2 {
            let device = scene.reports(link(State::Active, mbit(400)));
            scene.wait_for_pace(payload(mbit(400)));
            let died = device.dies();
            wait_for("CUBIC", || (scene.flow().phase == Phase::NoEstimate).then_some(()));
            let fell = std::iter::from_fn(|| scene.server.poll_transition())
                .filter(|seen| seen.to == Phase::NoEstimate)
                .last()
                .unwrap();
            // The sample is 20 ms old when it is reported, and an option has its age in steps of 16 ms.
            let after = fell.at - died;
            let (least, most) = (Duration::from_millis(900), Duration::from_millis(1_100));
            assert!((least..=most).contains(&after), "{after:?}");
        }
    });
}
