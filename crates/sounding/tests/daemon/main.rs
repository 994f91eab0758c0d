//! The daemon as it runs on a device: a modem on a pty, the real kernel, real TCP flows, and
//! failures of each of them. Needs root; elsewhere it reports a skip.

mod beside;
mod by_unit;
mod crowds;
#[path = "../device/mod.rs"]
mod device;
mod downloads;
mod drills;
mod fallback;
mod feed;
mod kills;
mod outputs;
mod reader;
mod restore;
mod rig;
mod service;
mod session;
mod sharing;
mod subordinates;
mod users;

use std::time::Duration;

use rig::{LAWS, Rig};
use sounding_host::monotonic_now;
use sounding_testdata::steadily;

#[test]
fn a_flow_follows_the_modem_and_nothing_else_changes_its_state() {
    for law in LAWS {
        steadily(|| {
            let Some(mut rig) = Rig::start("follow", law) else { return };
            let flow = rig.transfer();
            rig.replay_for(Duration::from_secs(4));
            let sender = u64::from(flow.flow().source);
            flow.stop().expect("the flow ends in good order");
            let events = rig.stop();
            let is_sender = |seen: &rig::Seen| seen.local_port == sender;
            let states: Vec<_> = rig::transitions(&events).filter(is_sender).collect();
            assert_eq!(states.len(), 1, "{states:?}");
            assert_eq!(
                (states[0].to.as_str(), states[0].reason.as_str()),
                ("radio-limited", "fresh")
            );
            let done = rig::done(&events);
            assert_eq!(done["corrupt_frames"], 0);
            assert!(done["kpis"].as_u64() > Some(1000), "{done}");
        });
    }
}

#[test]
fn an_unplugged_modem_puts_the_flow_on_bbr_at_once_and_a_new_one_takes_over() {
    steadily(|| {
        let Some(mut rig) = Rig::start("unplug", "biscay") else { return };
        let flow = rig.transfer();
        rig.replay_for(Duration::from_secs(2));
        let unplugged = monotonic_now();
        rig.unplug();
        std::thread::sleep(Duration::from_secs(1));
        let plugged = monotonic_now();
        rig.plug();
        rig.replay_for(Duration::from_secs(2));
        flow.stop().expect("the flow ends in good order");
        let events = rig.stop();
        assert!(events.iter().any(|event| event["event"] == "closed"));
        assert!(events.iter().any(|event| event["event"] == "reopened"));
        let states: Vec<_> = rig::transitions(&events).collect();
        let fell = states.iter().find(|seen| seen.to == "no-estimate").expect("it falls back");
        // By the kernel's own clock: one ACK after the daemon withdrew the estimate.
        let after = fell.at - unplugged;
        assert!(after <= Duration::from_millis(100), "{after:?} after {unplugged}: {states:?}");
        let back = states.iter().rfind(|seen| seen.to == "radio-limited").expect("it comes back");
        assert!(back.at > plugged, "{states:?}");
    });
}

#[test]
fn a_stream_that_turns_to_noise_is_stale_after_200_ms_until_it_clears() {
    steadily(|| {
        let Some(mut rig) = Rig::start("noise", "biscay") else { return };
        let flow = rig.transfer();
        rig.replay_for(Duration::from_secs(2));
        rig.corrupt_for(Duration::from_secs(1));
        let noise_began = rig.noise_began();
        rig.replay_for(Duration::from_secs(2));
        flow.stop().expect("the flow ends in good order");
        let events = rig.stop();
        assert!(rig::done(&events)["corrupt_frames"].as_u64() > Some(10));
        let states: Vec<_> = rig::transitions(&events).collect();
        let fell = states.iter().find(|seen| seen.to == "no-estimate").expect("it falls back");
        let after = fell.at - noise_began;
        // The estimate is valid for 200 ms after the last good record, and the flow notices within
        // another 100 ms.
        assert!(after <= Duration::from_millis(320), "{after:?}");
        assert_eq!(states.last().map(|seen| seen.to.as_str()), Some("radio-limited"), "{states:?}");
    });
}

#[test]
fn one_corrupt_frame_in_a_hundred_is_counted_and_changes_nothing() {
    steadily(|| {
        let Some(mut rig) = Rig::start("speckle", "biscay") else { return };
        rig.speckle(100);
        let flow = rig.transfer();
        rig.replay_for(Duration::from_secs(4));
        flow.stop().expect("the flow ends in good order");
        let events = rig.stop();
        let done = rig::done(&events);
        let (bad, good) = (done["corrupt_frames"].as_u64(), done["frames"].as_u64());
        assert!(bad > Some(0) && bad < good, "{done}");
        let others: Vec<_> =
            rig::transitions(&events).filter(|seen| seen.to != "radio-limited").collect();
        let late: Vec<_> = events.iter().filter(|event| event["event"] == "late").collect();
        assert!(others.is_empty(), "{others:?} {late:?}");
    });
}

#[test]
fn a_killed_daemon_leaves_the_flow_running_and_its_name_unknown() {
    steadily(|| {
        let Some(mut rig) = Rig::start("killed", "biscay") else { return };
        let flow = rig.transfer();
        rig.replay_for(Duration::from_secs(2));
        let name = rig.name().to_string();
        let killed = monotonic_now();
        rig.kill_daemon();
        std::thread::sleep(Duration::from_secs(2));
        let ended = monotonic_now();
        flow.stop().expect("the flow ends in good order");
        // No stall: in every half second after the kill packets arrived.
        let arrivals = rig.arrivals();
        for start in [0, 500, 1000, 1500].map(Duration::from_millis) {
            let (from, to) =
                (killed + start, (killed + start + Duration::from_millis(500)).min(ended));
            let count = arrivals.iter().filter(|at| (from..to).contains(at)).count();
            assert!(count > 20, "{count} packets from {start:?} after the kill");
        }
        let available =
            std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        assert!(!available.expect("readable").contains(&name));
    });
}
