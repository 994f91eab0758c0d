//! Flows over a modelled radio access network, whose grants answer what is sent.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::{UP, at_secs, mbit, millis, named};
use sounding_cell::config::{CarrierConfig, DeviceConfig, Rat};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{FadingConfig, ModelConfig, ScriptConfig};
use sounding_sim::world::{Event, Flow, FlowId, Listening, Report, Segment};
use sounding_sim::{Device, PathConfig, Port, Radio, Through, Wired, World};
use sounding_units::HostInstant;

const DOWN: Port = Port::down(Device(0));

fn lte() -> CarrierConfig {
    CarrierConfig { prb: 50, ..CarrierConfig::default() }
}

fn nr() -> CarrierConfig {
    let tdd = Some("DDDSU".into());
    CarrierConfig { rat: Rat::Nr, numerology: 1, prb: 51, tdd, ..CarrierConfig::default() }
}

/// A device that stands, its surroundings moving as in a street.
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

fn race(carrier: CarrierConfig, port: Port, controller: &str) -> (Report, BTreeMap<&'static str, u32>, u64) {
    let mut world = world(carrier, 3);
    world.listen(Listening { latency: millis(1), ..Listening::new(port) });
    let flow: FlowId = world.add_flow(Flow::bulk(port, named(controller)));
    let mut states = BTreeMap::new();
    world.observe_until(at_secs(20), &mut |_: HostInstant, event: &Event<'_>| {
        if let Event::Acked { controller, .. } = event {
            *states.entry(controller.state()).or_default() += 1;
        }
    });
    (world.report(flow).clone(), states, world.digest())
}

fn p95(report: &Report) -> Duration {
    report.one_way.quantile(0.95).unwrap()
}

#[test]
fn show() {
    for (name, carrier) in [("lte", lte()), ("nr", nr())] {
        for port in [UP, DOWN] {
            for controller in ["cubic", "bbr", "biscay", "reno"] {
                let (report, states, _) = race(carrier.clone(), port, controller);
                println!("{name} {:?} {controller}: {:.2} Mbit/s, one way p50 {:?} p95 {:?} {states:?}", port.direction, report.throughput().mbit_per_sec(), report.one_way.quantile(0.5).unwrap(), p95(&report));
            }
        }
    }
}
