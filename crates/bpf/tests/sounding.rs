//! The law of `sounding` in this machine's kernel. Where it cannot be loaded, each test says why
//! and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::fs;
use std::process::Command;
use std::time::Duration;

use sounding_bpf::{Bound, Config, FeedEstimate, Instance, Lull, Phase, Reason, Transition};
use sounding_host::monotonic_now;
use sounding_laws::Law;
use sounding_testdata::steadily;
use sounding_units::Rate;
use support::*;

fn load() -> Option<Instance> {
    load_law(Law::Sounding)
}

/// Data under this instance, over a loopback.
fn bulk(loaded: &Instance) -> Bulk {
    in_netns(|| {
        let (near, far) = connected();
        select(&near, loaded.name()).unwrap();
        Bulk::start((near, far))
    })
}

fn phase(loaded: &Instance, bulk: &Bulk) -> Phase {
    loaded.flow(&bulk.sender).unwrap().unwrap().phase
}

fn wait_for_phase(loaded: &Instance, bulk: &Bulk, phases: &[Phase]) {
    wait_for(&format!("{phases:?}"), || {
        let found = phase(loaded, bulk);
        phases.contains(&found).then_some(())
    });
}

fn next_to(loaded: &Instance, phase: Phase) -> Transition {
    wait_for(&format!("a transition to {phase:?}"), || {
        std::iter::from_fn(|| loaded.poll_transition()).find(|seen| seen.to == phase)
    })
}

/// Publishes what `estimate` makes, again and again, until the flow is in one of the phases.
fn publish_until(
    loaded: &Instance,
    bulk: &Bulk,
    phases: &[Phase],
    estimate: impl Fn() -> FeedEstimate,
) {
    wait_for(&format!("{phases:?}"), || {
        loaded.feed().publish(&estimate());
        loaded.feed().heartbeat(monotonic_now());
        let found = phase(loaded, bulk);
        phases.contains(&found).then_some(())
    });
}

fn is_listed(name: &str) -> bool {
    let list = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    list.unwrap().split_whitespace().any(|entry| entry == name)
}

#[test]
fn it_is_called_after_its_law_and_goes_with_its_instance() {
    if name().is_none() || is_listed("sounding") {
        return;
    }
    let law = Law::Sounding;
    let config = Config { name: law.name().into(), law, ..Config::default() };
    let loaded = Instance::load(&config).unwrap_or_else(|error| panic!("{error}"));
    assert!(is_listed("sounding"));
    let (near, _far) = in_netns(connected);
    select(&near, "sounding").unwrap();
    assert_eq!(selected(&near), "sounding");
    let flow = loaded.flow(&near).unwrap().unwrap();
    assert_eq!((flow.phase, flow.reason), (Phase::NoEstimate, Reason::Connected));
    drop(loaded);
    wait_for("the name to go", || (!is_listed("sounding")).then_some(()));
}

#[test]
fn a_flow_follows_what_is_published() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let bulk = bulk(&loaded);
        for mbit in [40, 20, 80] {
            let told = Rate::from_bits_per_sec(mbit * 1_000_000);
            let _daemon = Daemon::publish(loaded.feed(), mbit);
            wait_for("the share", || {
                let flow = loaded.flow(&bulk.sender).unwrap().unwrap();
                (flow.phase == Phase::RadioLimited && flow.share == told).then_some(())
            });
            let before = bulk.arrived();
            wait_for("data", || (bulk.arrived() > before + 100_000).then_some(()));
        }
    });
}

#[test]
fn the_first_estimate_is_reported_with_its_flow() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let _daemon = Daemon::publish(loaded.feed(), 40);
        let bulk = bulk(&loaded);
        let seen = next_to(&loaded, Phase::RadioLimited);
        assert_eq!((seen.from, seen.reason), (Phase::NoEstimate, Reason::Fresh));
        assert_eq!(seen.local_port, bulk.sender.local_addr().unwrap().port());
        assert_eq!(seen.share, Rate::from_bits_per_sec(40_000_000));
    });
}

#[test]
fn a_publisher_that_falls_silent_is_left_within_a_tenth_of_a_second() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let daemon = Daemon::publish(loaded.feed(), 40);
        let bulk = bulk(&loaded);
        next_to(&loaded, Phase::RadioLimited);
        drop(daemon);
        let silent_since = monotonic_now();
        let fell = next_to(&loaded, Phase::NoEstimate);
        assert_eq!(fell.reason, Reason::Silent);
        let after = fell.at - silent_since;
        assert!(after <= Duration::from_millis(100), "{after:?}");
        let before = bulk.arrived();
        wait_for("data without a publisher", || {
            (bulk.arrived() > before + 1_000_000).then_some(())
        });
        let _daemon = Daemon::publish(loaded.feed(), 40);
        assert_eq!(next_to(&loaded, Phase::RadioLimited).reason, Reason::Fresh);
    });
}

#[test]
fn a_floor_is_probed_above_and_a_capacity_is_not() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let bulk = bulk(&loaded);
        let served = || FeedEstimate { bound: Bound::Floor, ..capacity(10) };
        publish_until(&loaded, &bulk, &[Phase::Probing, Phase::Hold], served);
        publish_until(&loaded, &bulk, &[Phase::RadioLimited], || capacity(10));
        publish_until(&loaded, &bulk, &[Phase::Probing, Phase::Hold], served);
        // The recipient makes no difference.
        let told: Vec<_> = std::iter::from_fn(|| loaded.poll_transition()).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!((told[0].to, told[0].reason), (Phase::Probing, Reason::Fresh));
    });
}

#[test]
fn a_handover_keeps_what_is_under_way_and_a_mere_silence_does_not() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let bulk = bulk(&loaded);
        publish_until(&loaded, &bulk, &[Phase::RadioLimited], || capacity(40));
        wait_for("the handover", || {
            loaded.feed().withdraw(Lull::Handover);
            loaded.feed().heartbeat(monotonic_now());
            (phase(&loaded, &bulk) == Phase::Handover).then_some(())
        });
        publish_until(&loaded, &bulk, &[Phase::RadioLimited], || capacity(20));
        loaded.feed().invalidate();
        wait_for_phase(&loaded, &bulk, &[Phase::NoEstimate]);
        let told: Vec<_> = std::iter::from_fn(|| loaded.poll_transition()).collect();
        let states: Vec<_> = told.iter().map(|seen| seen.to).collect();
        let (full, away, fell) = (Phase::RadioLimited, Phase::Handover, Phase::NoEstimate);
        assert_eq!(states, [full, away, full, fell], "{told:?}");
    });
}

/// The longest time in which no ACK came, over a second and a half.
fn longest_stall(loaded: &Instance, bulk: &Bulk) -> Duration {
    let began = monotonic_now();
    let (mut acks, mut since, mut longest) = (0, began, Duration::ZERO);
    while monotonic_now() - began < Duration::from_millis(1500) {
        let (now, seen) = (monotonic_now(), loaded.flow(&bulk.sender).unwrap().unwrap().acks);
        if seen != acks {
            (acks, since) = (seen, now);
        }
        longest = longest.max(now - since);
        std::thread::sleep(Duration::from_millis(1));
    }
    longest
}

#[test]
fn an_estimate_of_far_too_much_stalls_no_flow_and_the_truth_is_used_again() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let bulk = in_netns(|| {
            // The backlog at three times the rate exceeds the queue, and is lost.
            let limits = "qdisc add dev lo root tbf rate 12mbit burst 5kb limit 20kb";
            let status = Command::new("tc").args(limits.split(' ')).status().unwrap();
            assert!(status.success(), "tc {limits}");
            let (near, far) = connected();
            select(&near, loaded.name()).unwrap();
            Bulk::start((near, far))
        });
        let truth = Daemon::publish(loaded.feed(), 12);
        next_to(&loaded, Phase::RadioLimited);
        drop(truth);
        let too_much = Daemon::publish(loaded.feed(), 10_000);
        let stall = longest_stall(&loaded, &bulk);
        println!("longest stall {stall:?}");
        assert!(stall <= Duration::from_millis(200), "{stall:?}");
        assert_eq!(next_to(&loaded, Phase::EstimateTooHigh).reason, Reason::Narrow);
        drop(too_much);
        let _truth = Daemon::publish(loaded.feed(), 12);
        assert_eq!(next_to(&loaded, Phase::RadioLimited).reason, Reason::Wide);
    });
}

#[test]
fn a_whole_life_leaves_the_kernels_log_without_alarms() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let log = KernelLog::watch();
        let daemon = Daemon::publish(loaded.feed(), 100);
        let bulk = bulk(&loaded);
        wait_for_phase(&loaded, &bulk, &[Phase::RadioLimited]);
        wait_for("data", || (bulk.arrived() > 1_000_000).then_some(()));
        drop(daemon);
        loaded.feed().invalidate();
        wait_for_phase(&loaded, &bulk, &[Phase::NoEstimate]);
        let before = bulk.arrived();
        // The running flow keeps the program.
        drop(loaded);
        wait_for("data without a daemon", || (bulk.arrived() > before + 1_000_000).then_some(()));
        drop(bulk);
        assert_eq!(log.alarms(), Vec::<String>::new());
    });
}
