//! Scenes for measuring the simulator's speed: one flow to each device of a cell as in
//! `scripts/ns3/lte.cc`, a flow on a recorded link, and a crowd.

#![allow(dead_code, reason = "each program needs some of it")]

use std::time::Duration;

use sounding_cc::{Controller, Start};
use sounding_cell::config::{CarrierConfig, DeviceConfig};
use sounding_cell::radio::{Position, TrajectoryConfig};
use sounding_sim::world::{Flow, FlowId, Segment, Traffic};
use sounding_sim::{
    Device, Links, Network, Path, PathConfig, Port, QueueLimit, Radio, Through, Wired, World,
};
use sounding_trace::{Trace, mahimahi};
use sounding_units::{Bytes, HostInstant, Rate};

/// A cell behind a wire.
pub(crate) type Cell = Wired<Radio<Through<Segment>>, Segment>;

/// A recorded link.
pub(crate) type Recorded = Links<Path<Segment>>;

/// A world and its flows.
pub(crate) struct Scene<N> {
    world: World<N>,
    flows: Vec<FlowId>,
}

/// What a scene came to so far.
pub(crate) struct Totals {
    /// Data packets that were sent.
    pub(crate) packets: u64,
    /// Bytes of IP that arrived.
    pub(crate) carried: Bytes,
    /// The world's expected digest. An optimization must not change it.
    pub(crate) digest: u64,
}

impl<N: Network<Segment>> Scene<N> {
    fn new(network: N) -> Self {
        Self { world: World::new(network, 1), flows: Vec::new() }
    }

    fn add(&mut self, flow: Flow) {
        self.flows.push(self.world.add_flow(flow));
    }

    /// Lets time pass until this many seconds have.
    pub(crate) fn run(&mut self, secs: u64) -> Totals {
        self.world.run_until(HostInstant::from_nanos(secs * 1_000_000_000));
        let mut totals = Totals { packets: 0, carried: Bytes::ZERO, digest: self.world.digest() };
        for &flow in &self.flows {
            let report = self.world.report(flow);
            totals.packets += report.sent;
            totals.carried += report.carried;
        }
        totals
    }
}

fn cubic() -> fn(&Start) -> Box<dyn Controller> {
    sounding_baselines::by_name("cubic").expect("a controller")
}

/// From an uncrowded wire to its far end.
fn behind_a_wire(radio: Radio<Through<Segment>>) -> Scene<Cell> {
    let mut wire = PathConfig::new(Rate::from_bits_per_sec(1_000_000_000));
    wire.delay = Duration::from_millis(10);
    Scene::new(Wired::new(radio, &wire, &wire, HostInstant::default()))
}

/// A carrier of 20 MHz and one layer, this many devices that stand at 110 m and more, and a flow of
/// CUBIC to each.
pub(crate) fn cell(devices: u16) -> Scene<Cell> {
    let carrier = CarrierConfig { layers: 1, ..CarrierConfig::default() };
    let mut radio = Radio::new(vec![carrier], 1).expect("a network");
    for device in 0..devices {
        let at = Position::new(100.0 + 10.0 * f64::from(device), 50.0);
        let trajectory = TrajectoryConfig::Static { at };
        radio.add_device(DeviceConfig { trajectory, ..DeviceConfig::default() }).expect("a device");
    }
    let mut scene = behind_a_wire(radio);
    for device in 0..devices {
        let flow = Flow::bulk(Port::down(Device(device)), cubic());
        let flow = flow.begins(HostInstant::from_nanos(100_000_000));
        scene.add(flow.buffered(Bytes::new(6_000_000)));
    }
    scene
}

/// A hundred devices across a cell of 10 MHz and two layers, at a load of 60 %: ten of them fetch
/// 32 MB at a time, thirty 1 MB, sixty 64 kB, which are 60, 30 and 10 % of the load; and flows in
/// the background of four of them that never end (Legilimens §V-E, §VI).
pub(crate) fn crowd() -> Scene<Cell> {
    const DEVICES: u16 = 100;
    let carrier = CarrierConfig { prb: 50, ..CarrierConfig::default() };
    let mut radio = Radio::new(vec![carrier], 1).expect("a network");
    for device in 0..DEVICES {
        let (place, turn) = (f64::from(device), f64::from(device) * 2.4);
        let metres = 50.0 + 3.0 * place;
        let at = Position::new(metres * turn.cos(), metres * turn.sin());
        let trajectory = TrajectoryConfig::Static { at };
        radio.add_device(DeviceConfig { trajectory, ..DeviceConfig::default() }).expect("a device");
    }
    let mut scene = behind_a_wire(radio);
    for device in 0..DEVICES {
        let port = Port::down(Device(device));
        let (size, think) = match device % 10 {
            0 => (32_000_000, 200),
            1..=3 => (1_000_000, 39),
            _ => (64_000, 15),
        };
        let (size, think) = (Bytes::new(size), Duration::from_secs(think));
        let begins = HostInstant::from_nanos(u64::from(device) * 370_000_000);
        let flow = Flow::bulk(port, cubic()).sends(Traffic::Responses { size, think });
        scene.add(flow.begins(begins));
        if device % 25 == 7 {
            scene.add(Flow::bulk(port, cubic()));
        }
    }
    scene
}

/// The recorded link, if it is there.
pub(crate) fn recording() -> Option<Trace> {
    let path = sounding_testdata::shared("traces/mahimahi/traces/TMobile-LTE-driving.down")?;
    let text = std::fs::read(path).expect("the trace can be read");
    Some(mahimahi::parse(&text).expect("a trace"))
}

/// A flow of CUBIC on a recorded downlink with 20 ms each way and a megabyte and a half of buffer.
pub(crate) fn recorded(trace: &Trace) -> Scene<Recorded> {
    let mut down = PathConfig::new(trace.clone());
    down.delay = Duration::from_millis(20);
    down.queue = QueueLimit::bytes(Bytes::new(1_500_000));
    let mut up = PathConfig::new(Rate::from_bits_per_sec(1_000_000_000));
    up.delay = Duration::from_millis(20);
    let mut scene = Scene::new(Links::one(&up, &down, HostInstant::default()));
    scene.add(Flow::bulk(Port::down(Device(0)), cubic()));
    scene
}
