//! The law of PBE-CC in this machine's kernel, at the far end of a loopback whose receiver says
//! what its cells have. Where it cannot be loaded, each test says why and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod device;
mod reported;
#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::time::{Duration, Instant};

use device::alone;
use reported::{Reporter, Scene, mbit, payload};
use sounding_bpf::{Phase, Reason};
use sounding_estimate::{FairShare, LinkEstimate, Source, State};
use sounding_laws::Law;
use sounding_units::Rate;
use support::*;

fn link(state: State, rate: Rate, fair: Option<Rate>) -> LinkEstimate {
    let fair = fair.map(|rate| FairShare::new(rate, 2, 1));
    reported::link(state, rate, Source::Cell).with_fair(fair)
}

#[test]
fn a_flow_sends_the_reported_capacity_and_no_less_than_its_fair_share() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::PbeCc, cgroup) else { return };
        for (rate, fair, paced) in [(400, 200, 400), (100, 300, 300)] {
            let _device = scene.reports(link(State::Active, mbit(rate), Some(mbit(fair))));
            scene.wait_for_pace(payload(mbit(paced)));
            assert_eq!(scene.flow().phase, Phase::RadioLimited);
        }
        let _device = scene.reports(link(State::Active, mbit(250), None));
        scene.wait_for_pace(payload(mbit(250)));
    });
}

#[test]
fn a_device_that_is_granted_nothing_yet_has_its_fair_share_used() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::PbeCc, cgroup) else { return };
        let _device = scene.reports(link(State::Idle, mbit(400), Some(mbit(150))));
        scene.wait_for_pace(payload(mbit(150)));
        assert_eq!((scene.flow().phase, scene.flow().share), (Phase::RadioLimited, Rate::ZERO));
        let first = scene.server.poll_transition().unwrap();
        assert_eq!((first.from, first.reason), (Phase::NoEstimate, Reason::Fresh));
    });
}

#[test]
fn bbr_has_the_flow_within_100_ms_of_the_last_report_and_gives_it_back() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::PbeCc, cgroup) else { return };
        for _ in 0..3 {
            let device = scene.reports(link(State::Active, mbit(400), Some(mbit(200))));
            scene.wait_for_pace(payload(mbit(400)));
            let died = device.dies();
            let fell = scene.wait_for_fall();
            assert_eq!(fell.reason, Reason::Silent);
            assert!(fell.at - died <= Duration::from_millis(100), "{:?}", fell.at - died);
        }
    });
}

#[test]
fn a_handover_keeps_the_pace_until_the_new_cell_grants() {
    // An option has no room for a handover: this is a sender whose own radio hands over.
    let Some(loaded) = load_law(Law::PbeCc) else { return };
    let bulk = in_netns(|| {
        let (near, far) = connected();
        select(&near, loaded.name()).unwrap();
        Bulk::start((near, far))
    });
    let flow = || loaded.flow(&bulk.sender).unwrap().unwrap();
    let reports = |link| Reporter::of(loaded.feed(), link);
    let old = reports(link(State::Active, mbit(400), Some(mbit(300))));
    let settles = |rate| {
        wait_for("the capacity", || {
            let flow = flow();
            (flow.phase == Phase::RadioLimited && flow.share == rate).then_some(flow.pacing)
        })
    };
    let pace = settles(mbit(400));
    // The next speaks before the last is silent.
    let away = reports(link(State::Handover, mbit(100), Some(mbit(100))));
    drop(old);
    wait_for("the handover", || {
        let flow = flow();
        (flow.phase == Phase::Handover && flow.pacing == pace).then_some(())
    });
    let _new = reports(link(State::Active, mbit(200), Some(mbit(100))));
    drop(away);
    assert!(settles(mbit(200)) < pace);
}

#[test]
fn a_device_whose_sample_is_old_has_nothing_to_say_although_it_lives() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::PbeCc, cgroup) else { return };
        let fresh = link(State::Active, mbit(400), Some(mbit(200)));
        for _ in 0..2 {
            let device = scene.reports(fresh);
            scene.wait_for_pace(payload(mbit(400)));
            let old = scene.reports(fresh.with_age(Duration::from_millis(230)));
            drop(device);
            assert_eq!(scene.wait_for_fall().reason, Reason::Silent);
            drop(old);
        }
    });
}

#[test]
fn a_rate_that_no_radio_has_is_not_paced_and_the_truth_is_used_again() {
    alone(|cgroup| {
        let Some(scene) = Scene::start(Law::PbeCc, cgroup) else { return };
        // As much as sixteen bits can say.
        let absurd = Rate::from_bits_per_sec(35_000_000_000_000);
        for _ in 0..2 {
            let liar = scene.reports(link(State::Active, absurd, Some(absurd)));
            let until = Instant::now() + Duration::from_millis(500);
            while Instant::now() < until {
                let flow = scene.flow();
                let most = sounding_estimate::MAX_RATE;
                assert!(!flow.phase.law_controls() || flow.pacing <= most, "{flow:?}");
            }
            drop(liar);
            let _device = scene.reports(link(State::Active, mbit(400), Some(mbit(200))));
            scene.wait_for_pace(payload(mbit(400)));
        }
    });
}
