//! A flow follows the modem by whose network device it leaves, and shares that modem's link.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use sounding_bpf::{Bound, Config, Feed, FeedEstimate, Flow, Instance, Radios};
use sounding_host::{Priority, monotonic_now};
use sounding_testbed::flow::RunningTcp;
use sounding_testdata::steadily;
use sounding_units::Rate;

use crate::rig::{Links, Place};

const MBIT: [u64; 2] = [12, 24];

/// A minimal daemon of one modem.
struct Publisher {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Publisher {
    fn start(feed: &Feed, mbit: u64) -> Self {
        let (feed, stop) = (feed.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let _ = Priority::RoundRobin(1).take();
            while !stopped.load(Ordering::Relaxed) {
                let (now, rate) = (monotonic_now(), Rate::from_bits_per_sec(mbit * 1_000_000));
                let bound = Bound::Capacity;
                feed.publish(&FeedEstimate { rate, sampled_at: now, bound, other_flows: 0 });
                feed.heartbeat(now);
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// An instance that is fed by two modems, whose devices are those of the links.
fn fed(links: &Links, name: &str) -> (Instance, [Publisher; 2]) {
    let config = Config { name: Place::new(name).law, ..Config::default() };
    let mut instance = Instance::load(&config).unwrap();
    let publishers =
        [0, 1].map(|place| Publisher::start(instance.feed_of(place).unwrap(), MBIT[place]));
    let set = || {
        let number = |name: &str| [if_nametoindex(name).unwrap()];
        let (first, second) = (number("wwan0"), number("wwan1"));
        instance.set_radios(&Radios::of(&[(0, &first), (1, &second)]).unwrap()).unwrap();
    };
    links.near.enter(set).unwrap();
    (instance, publishers)
}

fn flow_of(instance: &Instance, running: &RunningTcp) -> Flow {
    // SAFETY: the socket is open until the transfer is waited for, which takes it by value.
    let socket = unsafe { BorrowedFd::borrow_raw(running.sender_socket()) };
    instance.flow(socket).unwrap().unwrap()
}

/// Waits until the flow has this part of a link, and shares it with so many.
fn wait_for_share(instance: &Instance, running: &RunningTcp, mbit: u64, flows: u32) {
    let is_so = |flow: &Flow| {
        let share = flow.share.bits_per_sec().abs_diff(mbit * 1_000_000);
        flow.phase.law_controls() && flow.flows == flows && share < 100_000
    };
    let mut last = None;
    let reached = (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        let flow = flow_of(instance, running);
        last = Some(flow);
        is_so(&flow)
    });
    assert!(reached, "{mbit} Mbit/s among {flows}: {last:?}");
}

#[test]
fn a_flow_that_changes_its_route_takes_the_other_modems_estimate_and_back() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let (instance, _publishers) = fed(&links, "route");
        let flow = links.upload_over_either(instance.name());
        for link in [0, 1, 0] {
            links.lead_over(link);
            wait_for_share(&instance, &flow, MBIT[link], 1);
        }
        flow.abort().unwrap();
    });
}

#[test]
fn flows_share_the_link_of_their_own_modem_alone() {
    steadily(|| {
        let Some(links) = Links::new() else { return };
        let (instance, _publishers) = fed(&links, "share");
        let upload = |link: usize| links.upload(link, instance.name());
        let (one, alone) = (upload(0), upload(1));
        wait_for_share(&instance, &one, 12, 1);
        wait_for_share(&instance, &alone, 24, 1);
        let moves = links.upload_over_either(instance.name());
        wait_for_share(&instance, &one, 6, 2);
        wait_for_share(&instance, &moves, 6, 2);
        wait_for_share(&instance, &alone, 24, 1);
        // It takes its claim along.
        links.lead_over(1);
        wait_for_share(&instance, &one, 12, 1);
        wait_for_share(&instance, &moves, 12, 2);
        wait_for_share(&instance, &alone, 12, 2);
        moves.abort().unwrap();
        wait_for_share(&instance, &alone, 24, 1);
        [one, alone].into_iter().for_each(|flow| drop(flow.abort().unwrap()));
    });
}
