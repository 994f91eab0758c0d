//! The law of CQIC in this machine's kernel, at the far end of a loopback whose receiver says what
//! its channel carries. Where it cannot be loaded, each test says why and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod device;
mod reported;
#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::time::Duration;

use device::alone;
use reported::{Scene, mbit, payload};
use sounding_bpf::{Phase, Reason};
use sounding_estimate::{LinkEstimate, Source, State};
use sounding_laws::Law;
use sounding_units::Rate;

fn link(state: State, rate: Rate) -> LinkEstimate {
    reported::link(state, rate, Source::Cqi)
}

#[test]
fn a_flow_sends_what_the_device_reports_up_and_down_at_once() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::Cqic, cgroup) else { return };
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
        let Some(scene) = Scene::start(Law::Cqic, cgroup) else { return };
        let _device = scene.reports(link(State::Idle, mbit(150)));
        scene.wait_for_pace(payload(mbit(150)));
        let first = scene.server.poll_transition().unwrap();
        assert_eq!((first.from, first.reason), (Phase::NoEstimate, Reason::Fresh));
    });
}

#[test]
fn a_device_between_cells_leaves_the_flow_its_rate_until_the_next_report() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::Cqic, cgroup) else { return };
        let device = scene.reports(link(State::Active, mbit(400)));
        scene.wait_for_pace(payload(mbit(400)));
        drop(device);
        let away = scene.reports(link(State::Handover, mbit(400)));
        // Longer than any handover, and within the second in which the last report counts.
        std::thread::sleep(Duration::from_millis(500));
        let flow = scene.flow();
        assert!(flow.phase.law_controls(), "{:?}", flow.phase);
        assert_eq!(flow.pacing, payload(mbit(400)));
        drop(away);
        let _next = scene.reports(link(State::Active, mbit(150)));
        scene.wait_for_pace(payload(mbit(150)));
        let fell = std::iter::from_fn(|| scene.server.poll_transition());
        assert_eq!(fell.filter(|seen| seen.to == Phase::NoEstimate).count(), 0);
    });
}

#[test]
fn a_handover_of_more_than_a_second_leaves_the_flow_to_cubic_until_a_report() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::Cqic, cgroup) else { return };
        let device = scene.reports(link(State::Active, mbit(400)));
        scene.wait_for_pace(payload(mbit(400)));
        drop(device);
        let _away = scene.reports(link(State::Handover, mbit(400)));
        scene.wait_for_fall();
        let _next = scene.reports(link(State::Active, mbit(150)));
        scene.wait_for_pace(payload(mbit(150)));
    });
}

#[test]
fn cubic_has_the_flow_a_second_after_the_last_report_and_gives_it_back() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::Cqic, cgroup) else { return };
        for _ in 0..2 {
            let device = scene.reports(link(State::Active, mbit(400)));
            scene.wait_for_pace(payload(mbit(400)));
            let died = device.dies();
            let fell = scene.wait_for_fall();
            // The sample is 20 ms old when it is reported, and an option has its age in steps of 16
            // ms.
            let after = fell.at - died;
            let (least, most) = (Duration::from_millis(900), Duration::from_millis(1_100));
            assert!((least..=most).contains(&after), "{after:?}");
        }
    });
}
