//! Copa without the radio's delays in this kernel, over a namespace's own loopback.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::time::Duration;

use sounding_bpf::{CopaFlow, CopaInstance, Radios, copa_preflight};
use sounding_estimate::{DelayKind, DelayUpdate, Direction, RanDelay};
use sounding_host::monotonic_now;
use sounding_laws::copa_gandalf::CopaPhase;
use sounding_testdata::steadily;
use sounding_units::HostInstant;
use support::*;

fn load() -> Option<CopaInstance> {
    let name = name()?;
    if let Some(check) = copa_preflight(&name).into_iter().find(|check| !check.ok) {
        let why = format_args!("{}: {}", check.name, check.detail);
        sounding_testdata::skip(sounding_testdata::Need::Kernel, why);
        return None;
    }
    let mut loaded = CopaInstance::load(&name).unwrap_or_else(|error| panic!("{error}"));
    // The loopback of every namespace is the modem's device.
    loaded.set_radios(&Radios::of_one(&[LOOPBACK]).unwrap()).unwrap();
    Some(loaded)
}

/// An upload of this namespace under the instance.
fn upload(loaded: &CopaInstance) -> Bulk {
    in_netns(|| {
        let (near, far) = connected();
        select(&near, loaded.name()).unwrap();
        Bulk::start((near, far))
    })
}

fn state(loaded: &CopaInstance, bulk: &Bulk) -> CopaFlow {
    loaded.flow(&bulk.sender).unwrap().unwrap()
}

/// A modem in little: it reports waits of 3 ms for a grant, 20 ms late.
fn report(loaded: &mut CopaInstance, from: &mut HostInstant) {
    let now = monotonic_now();
    let until = now.saturating_before(Duration::from_millis(20));
    let mut events = Vec::new();
    while *from < until {
        let to = *from + Duration::from_millis(3);
        events.push(
            RanDelay::new(Direction::Uplink, DelayKind::Scheduling, *from, to)
                .with_amount(Duration::from_millis(3))
                .with_age(now - to),
        );
        *from = to;
    }
    let (up_until, down_until) = (Some(until), Some(until));
    let update = DelayUpdate::new(now, events).with_up_until(up_until).with_down_until(down_until);
    loaded.delays().handle_update(update);
}

#[test]
fn the_verifier_takes_it_at_a_cost_that_leaves_room() {
    let Some(loaded) = load() else { return };
    let verified = loaded.verified().unwrap();
    println!("{verified}");
    assert!((1..200_000).contains(&verified), "{verified}");
}

#[test]
fn a_second_instance_of_a_name_is_refused() {
    let Some(loaded) = load() else { return };
    let error = CopaInstance::load(loaded.name()).err().unwrap();
    assert!(error.to_string().contains("already registered"), "{error}");
}

#[test]
fn without_a_modem_it_is_copa_and_a_flow_outlives_its_loader() {
    steadily(|| {
        let Some(loaded) = load() else { return };
        let log = KernelLog::watch();
        let bulk = upload(&loaded);
        let seen = wait_for("the end of slow start", || {
            let seen = state(&loaded, &bulk);
            (seen.phase == CopaPhase::AtTarget && seen.acks > 1_000).then_some(seen)
        });
        assert!(seen.corrected_by.is_none() && seen.switches == 0, "{seen:?}");
        assert_eq!(seen.corrections, 0);
        assert!(seen.standing >= seen.least && seen.least.is_some(), "{seen:?}");
        assert_eq!(loaded.begun(), 1);
        let name = loaded.name().to_owned();
        drop(loaded);
        let before = bulk.arrived();
        wait_for("data without the loader", || (bulk.arrived() > before + 100_000).then_some(()));
        assert_eq!(selected(&bulk.sender), name);
        drop(bulk);
        assert_eq!(log.alarms(), Vec::<String>::new());
    });
}

#[test]
fn a_modem_that_falls_silent_leaves_rtts_as_they_are_within_a_tenth_of_a_second() {
    steadily(|| {
        let Some(mut loaded) = load() else { return };
        let bulk = upload(&loaded);
        let mut from = monotonic_now();
        let seen = wait_for("corrected RTTs", || {
            report(&mut loaded, &mut from);
            let seen = state(&loaded, &bulk);
            (seen.corrected_by.is_some() && seen.corrections > 50).then_some(seen)
        });
        assert_eq!(seen.switches, 1, "{seen:?}");
        let silent = monotonic_now();
        let stock = wait_for("RTTs as they are", || {
            Some(state(&loaded, &bulk)).filter(|seen| seen.corrected_by.is_none())
        });
        let took = monotonic_now() - silent;
        // The flow's next acknowledgement, and this test's own look.
        assert!(took < Duration::from_millis(130), "{took:?}");
        assert_eq!(stock.switches, 2, "{stock:?}");
        // No RTT that Copa remembers is below one that was measured.
        assert!(stock.least >= stock.least_measured, "{stock:?}");
    });
}

#[test]
fn a_port_that_closes_is_believed_no_longer_and_other_devices_never_were() {
    steadily(|| {
        let Some(mut loaded) = load() else { return };
        let bulk = upload(&loaded);
        let mut from = monotonic_now();
        wait_for("corrected RTTs", || {
            report(&mut loaded, &mut from);
            state(&loaded, &bulk).corrected_by.is_some().then_some(())
        });
        loaded.delays().forget();
        wait_for("RTTs as they are", || {
            (state(&loaded, &bulk).corrected_by.is_none()).then_some(())
        });
        drop(bulk);
        let elsewhere = in_netns(|| {
            // The modem's device is another than this namespace's loopback.
            loaded.set_radios(&Radios::of_one(&[77]).unwrap()).unwrap();
            let (near, far) = connected();
            select(&near, loaded.name()).unwrap();
            Bulk::start((near, far))
        });
        wait_for("acknowledgements", || {
            report(&mut loaded, &mut from);
            (state(&loaded, &elsewhere).acks > 5_000).then_some(())
        });
        assert_eq!(state(&loaded, &elsewhere).switches, 0);
    });
}
