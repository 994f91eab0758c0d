//! Several modems under one name: a flow follows the one by whose network device it leaves.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "other tests need more of it")]
mod support;

use std::time::Duration;

use sounding_bpf::{Config, Instance, MAX_MODEMS, Phase, Radios, Reason};
use sounding_testdata::steadily;
use support::{
    Bulk, Daemon, LOOPBACK, connected, in_netns, load_without_a_radio, select, wait_for,
};

/// No device has this number.
const ELSEWHERE: u32 = 77;

fn loaded() -> Option<Instance> {
    load_without_a_radio(Config::default())
}

/// Loopback is the device of the modem at this place, and another one is the other's.
fn loopback_of(instance: &mut Instance, place: usize) {
    let rows: [(usize, &[u32]); 2] = [(place, &[LOOPBACK]), (3 - place, &[ELSEWHERE])];
    instance.set_radios(&Radios::of(&rows).unwrap()).unwrap();
}

#[test]
fn a_flow_takes_the_estimate_of_the_modem_that_it_leaves_by() {
    steadily(|| {
        let Some(mut biscay) = loaded() else { return };
        assert!(biscay.feed_of(MAX_MODEMS).is_none());
        let _slow = Daemon::publish(biscay.feed_of(1).unwrap(), 20);
        let _fast = Daemon::publish(biscay.feed_of(2).unwrap(), 60);
        loopback_of(&mut biscay, 1);
        in_netns(|| {
            let (near, far) = connected();
            select(&near, biscay.name()).unwrap();
            let bulk = Bulk::start((near, far));
            let flow = || biscay.flow(&bulk.sender).unwrap();
            let has = |mbit: u64| {
                flow().filter(|flow| {
                    let share = flow.share.bits_per_sec();
                    flow.phase == Phase::RadioLimited && share == mbit * 1_000_000
                })
            };
            let first = wait_for("the estimate of the first modem", || has(20));
            assert_eq!(first.flows, 1);
            let transition = std::iter::from_fn(|| biscay.poll_transition()).last().unwrap();
            assert_eq!(transition.modem, Some(1));
            // Its route now leads over the other one's device.
            let rows: [(usize, &[u32]); 2] = [(1, &[ELSEWHERE]), (2, &[LOOPBACK])];
            biscay.set_radios(&Radios::of(&rows).unwrap()).unwrap();
            let second = wait_for("the estimate of the second modem", || {
                biscay.flow(&bulk.sender).unwrap().filter(|flow| {
                    flow.phase == Phase::RadioLimited && flow.share.bits_per_sec() == 60_000_000
                })
            });
            assert_eq!(second.flows, 1);
            assert_eq!(second.transitions, first.transitions);
            // And now over neither's.
            let rows: [(usize, &[u32]); 2] = [(1, &[ELSEWHERE]), (2, &[])];
            biscay.set_radios(&Radios::of(&rows).unwrap()).unwrap();
            wait_for("no estimate", || {
                let flow = biscay.flow(&bulk.sender).unwrap();
                flow.filter(|flow| (flow.phase, flow.reason) == (Phase::NoEstimate, Reason::Absent))
            });
        });
    });
}

#[test]
fn a_modem_that_falls_silent_is_stale_alone() {
    steadily(|| {
        let Some(mut biscay) = loaded() else { return };
        let other = Daemon::publish(biscay.feed_of(2).unwrap(), 60);
        let _own = Daemon::publish(biscay.feed_of(1).unwrap(), 20);
        loopback_of(&mut biscay, 1);
        in_netns(|| {
            let (near, far) = connected();
            select(&near, biscay.name()).unwrap();
            let bulk = Bulk::start((near, far));
            let flow = || biscay.flow(&bulk.sender).unwrap();
            let driven = wait_for("the law to drive", || {
                flow().filter(|flow| flow.phase == Phase::RadioLimited)
            });
            drop(other);
            std::thread::sleep(Duration::from_millis(500));
            let after = flow().unwrap();
            assert_eq!(after.transitions, driven.transitions, "{after:?}");
            assert!(after.acks > driven.acks);
        });
    });
}

#[test]
fn of_several_modems_none_has_a_flow_that_leaves_by_another_device() {
    steadily(|| {
        let Some(mut biscay) = loaded() else { return };
        let _first = Daemon::publish(biscay.feed(), 20);
        let rows: [(usize, &[u32]); 2] = [(0, &[ELSEWHERE]), (1, &[])];
        biscay.set_radios(&Radios::of(&rows).unwrap()).unwrap();
        in_netns(|| {
            let (near, far) = connected();
            select(&near, biscay.name()).unwrap();
            let bulk = Bulk::start((near, far));
            let flow = || biscay.flow(&bulk.sender).unwrap();
            let flow =
                wait_for("acknowledgements", || flow().filter(|_| bulk.arrived() > 10_000_000));
            assert_eq!((flow.phase, flow.reason), (Phase::NoEstimate, Reason::Connected));
        });
    });
}
