//! Flows over a modelled radio access network, whose grants react to the sent data.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{UP, at_secs, mbit, millis, named};
use sounding_cell::config::{CarrierConfig, DeviceConfig, Rat};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{FadingConfig, ModelConfig, ScriptConfig};
use sounding_diag::buffer::Limits;
use sounding_link::Bound;
use sounding_sim::world::{Event, Flow, FlowId, Listening, Report, Segment};
use sounding_sim::{Device, Network, PathConfig, Port, Radio, Reading, Through, Wired, World};
use sounding_units::{Bytes, HostInstant};

const DOWN: Port = Port::down(Device(0));

fn lte() -> CarrierConfig {
    CarrierConfig { prb: 50, ..CarrierConfig::default() }
}

fn nr() -> CarrierConfig {
    let tdd = Some("DDDSU".into());
    CarrierConfig { rat: Rat::Nr, numerology: 1, prb: 51, tdd, ..CarrierConfig::default() }
}

/// A standing device with moving surroundings, as in a street.
fn device() -> DeviceConfig {
    let channel = ModelConfig::Script(ScriptConfig {
        fading: FadingConfig::default(),
        ..ScriptConfig::constant(15.0)
    });
    DeviceConfig { channel, ..DeviceConfig::default() }
}

type CellWorld = World<Wired<Radio<Through<Segment>>, Segment>>;

/// One device whose modem is listened to, and 20 ms of wire each way behind its base station.
fn world(carrier: CarrierConfig, seed: u64) -> CellWorld {
    let mut radio = Radio::new(vec![carrier], seed).unwrap();
    radio.add_listened(device(), ModemConfig::default(), millis(1)).unwrap();
    let mut wire = PathConfig::new(mbit(1_000));
    wire.delay = millis(20);
    World::new(Wired::new(radio, &wire, &wire, HostInstant::default()), seed)
}

struct Run {
    report: Report,
    states: BTreeMap<&'static str, u32>,
}

fn race(carrier: CarrierConfig, port: Port, controller: &str) -> Run {
    let mut listening = Listening { latency: millis(1), ..Listening::new(port) };
    // The published law has no floor: it treats the granted rate as the capacity.
    if controller == "biscay" && port == DOWN {
        listening.estimator.assume = Some(Bound::Capacity);
    }
    let mut world = world(carrier, 3);
    world.listen(listening);
    let flow: FlowId = world.add_flow(Flow::bulk(port, named(controller)));
    let mut states = BTreeMap::new();
    world.observe_until(at_secs(20), &mut |_: HostInstant, event: &Event<'_>| {
        if let Event::Acked { controller, .. } = event {
            *states.entry(controller.state()).or_default() += 1;
        }
    });
    Run { report: world.report(flow).clone(), states }
}

fn p95(report: &Report) -> Duration {
    report.one_way.quantile(0.95).unwrap()
}

#[test]
fn loss_fills_the_modems_queue_bbr_a_part_of_it_and_grants_leave_it_nearly_empty() {
    for carrier in [lte(), nr()] {
        let [cubic, bbr, biscay] =
            ["cubic", "bbr", "biscay"].map(|name| race(carrier.clone(), UP, name).report);
        let [most, some, little] = [&cubic, &bbr, &biscay].map(p95);
        assert!(most > 3 * some && some > 2 * little, "{most:?} {some:?} {little:?}");
        assert!(cubic.throughput() >= biscay.throughput());
        let kept = biscay.throughput().mbit_per_sec() / cubic.throughput().mbit_per_sec();
        // A small window waits for the rhythm of reports (Gandalf §3.2.1).
        assert!(kept > 0.7, "{kept}");
    }
}

/// The device requests what its window allows, is granted that, and sets its window by the grants
/// (interpretation 4).
#[test]
fn biscay_takes_its_own_small_grants_of_a_downlink_for_all_there_is() {
    let run = race(lte(), DOWN, "biscay");
    let all = race(lte(), DOWN, "bbr").report.throughput().mbit_per_sec();
    assert!(
        f64::from(run.states["radio-limited"]) > 0.9 * f64::from(run.states.values().sum::<u32>())
    );
    let taken = run.report.throughput().mbit_per_sec() / all;
    assert!(taken < 0.7, "{taken}");
}

#[test]
fn a_network_and_its_flows_repeat_to_the_bit() {
    let digest = |seed| {
        let mut world = world(nr(), seed);
        world.listen(Listening::new(UP));
        world.add_flow(Flow::bulk(UP, named("biscay")));
        world.run_until(at_secs(3));
        world.digest()
    };
    let elsewhere = std::thread::spawn(move || digest(7)).join().unwrap();
    assert_eq!(digest(7), elsewhere);
    assert_ne!(digest(7), digest(8));
}

/// Diag output after one second of an upload with this reading, and when it came.
fn written(reading: impl Into<Reading>) -> Vec<(HostInstant, Vec<u8>)> {
    let mut radio = Radio::new(vec![lte()], 5).unwrap();
    radio.add_listened(device(), ModemConfig::default(), reading).unwrap();
    let mut written = Vec::new();
    for ms in 0..1000 {
        let now = HostInstant::default() + millis(ms);
        radio.handle_packet(now, UP, Bytes::new(1500), ());
        radio.handle_time(now);
        while radio.poll_output().is_some() {}
        written.extend(std::iter::from_fn(|| radio.poll_diag()).map(|diag| (diag.at, diag.bytes)));
    }
    written
}

#[test]
fn how_a_modem_is_read_changes_when_its_records_come_and_nothing_else() {
    let at_once = written(Reading::AT_ONCE);
    let drained = written(millis(1));
    let release = millis(200);
    let limits = Limits { high_water: 4000, release };
    let kept = written(Reading { limits, drain: None });
    assert!(at_once.len() > 200, "{}", at_once.len());
    for later in [&drained, &kept] {
        let same = later.iter().zip(&at_once).all(|(later, first)| {
            later.1 == first.1 && later.0 >= first.0 && later.0 - first.0 <= release
        });
        assert!(same && later.len() * 10 > at_once.len() * 7, "{} of them", later.len());
    }
    assert!(drained.iter().all(|(at, _)| at.as_nanos() % 1_000_000 == 0));
    // A host sees bursts: fewer moments, more bytes at each.
    let moments =
        |written: &[(HostInstant, Vec<u8>)]| written.chunk_by(|one, next| one.0 == next.0).count();
    assert!(3 * moments(&kept) < moments(&at_once), "{} {}", moments(&kept), moments(&at_once));
}
