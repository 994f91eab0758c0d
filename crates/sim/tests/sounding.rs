//! The controller that probes above a floor, on cells whose grants follow demand.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::time::Duration;

use common::{MSS, UP, mbit, millis, named};
use sounding_cc::{Controller, Start};
use sounding_cell::config::{CarrierConfig, DeviceConfig, Rat};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{FadingConfig, ModelConfig, ScriptConfig};
use sounding_link::Bound;
use sounding_sim::held::{Fixed, Held};
use sounding_sim::world::{Event, Flow, Listening};
use sounding_sim::{Device, PathConfig, Port, Radio, Wired, World};
use sounding_units::{Bytes, HostInstant};

const DOWN: Port = Port::down(Device(0));

/// Until this time another limit holds the flow back.
const FREED: Duration = Duration::from_secs(2);
const ENDS: Duration = Duration::from_secs(4);
/// The wire's part of the path, there and back; the radio adds its own.
const WIRE: Duration = Duration::from_millis(40);

fn carrier(nr: bool) -> CarrierConfig {
    let tdd = Some("DDDSU".into());
    match nr {
        false => CarrierConfig { prb: 50, ..CarrierConfig::default() },
        true => {
            CarrierConfig { rat: Rat::Nr, numerology: 1, prb: 51, tdd, ..CarrierConfig::default() }
        }
    }
}

/// Arrival time and delay of each packet.
type Arrivals = Vec<(HostInstant, Duration)>;

fn run(
    nr: bool,
    seed: u64,
    listening: Listening,
    make: impl FnOnce(&Start) -> Box<dyn Controller> + Send + 'static,
) -> Arrivals {
    let channel = ModelConfig::Script(ScriptConfig {
        fading: FadingConfig::default(),
        ..ScriptConfig::constant(15.0)
    });
    let device = DeviceConfig { channel, ..DeviceConfig::default() };
    let mut radio = Radio::new(vec![carrier(nr)], seed).unwrap();
    radio.add_listened(device, ModemConfig::default(), millis(1)).unwrap();
    let mut wire = PathConfig::new(mbit(1_000));
    wire.delay = WIRE / 2;
    let mut world = World::new(Wired::new(radio, &wire, &wire, HostInstant::default()), seed);
    // A sender at the other end of a downlink receives estimates over the wire.
    let latency = if listening.port == UP { millis(1) } else { WIRE / 2 };
    world.listen(Listening { latency, ..listening });
    world.add_flow(Flow::bulk(listening.port, make));
    let mut arrivals = Vec::new();
    world.observe_until(HostInstant::default() + ENDS, &mut |_: HostInstant, event: &Event<'_>| {
        if let Event::Arrived { packet, .. } = event {
            arrivals.push((packet.exits, packet.exits - packet.entered));
        }
    });
    arrivals
}

fn between(arrivals: &Arrivals, from: Duration, to: Duration) -> impl Iterator<Item = Duration> {
    let origin = HostInstant::default();
    let (from, to) = (origin + from, origin + to);
    let within = arrivals.iter().filter(move |(at, _)| (from..to).contains(at));
    within.map(|(_, delay)| *delay)
}

/// How a flow that was limited to 5 % of its cell's capacity recovers once the limit is gone.
#[derive(Debug)]
struct Climb {
    /// Part of the capacity that it was held at.
    held: f64,
    /// Round trips of the idle path until an RTT brought 95 % of what the cell carries in it.
    rtts: f64,
    /// Part of the capacity from then on.
    after: f64,
    /// The longest queue on the way up, and what 95 % of packets wait at most later on.
    overshoot: Duration,
    p95: Duration,
}

/// With `assume`, every estimate has this bound.
fn climb(nr: bool, port: Port, seed: u64, controller: &str, assume: Option<Bound>) -> Climb {
    let usual = Listening::new(port);
    let full = run(nr, seed, usual, |_| Box::new(Fixed(Bytes::new(800_000))));
    let count = |arrivals: &Arrivals, from, to| between(arrivals, from, to).count() as f64;
    let capacity = count(&full, FREED / 2, FREED) * 1_500.0 / (FREED / 2).as_secs_f64();
    let segments = (capacity * 0.05 * 0.055 / 1_500.0).round().max(1.0) as u64;
    let (most, freed) = (Bytes::new(segments * MSS), HostInstant::default() + FREED);
    let make = named(controller);
    let mut listening = usual.told([sounding_baselines::needs(controller)]);
    listening.estimator.assume = assume;
    let found = run(nr, seed, listening, move |start| {
        Box::new(Held::new(make(start), most, start.now, freed))
    });
    let idle = between(&found, Duration::ZERO, FREED).min().unwrap();
    let rtt = idle + WIRE / 2;
    let part = |from, to| count(&found, from, to) / count(&full, from, to).max(1.0);
    let mut steps = (0..).map(|ms| FREED + millis(ms)).take_while(|from| *from + rtt < ENDS);
    let there = steps.find(|from| part(*from, *from + rtt) >= 0.95).unwrap_or(ENDS - rtt);
    let queue = |delay: Duration| delay.saturating_sub(idle);
    let settled = (there + rtt * 10).min(ENDS - FREED / 4);
    let mut later: Vec<_> = between(&found, settled, ENDS).map(queue).collect();
    later.sort();
    Climb {
        held: part(FREED / 2, FREED),
        rtts: (there + rtt - FREED).as_secs_f64() / rtt.as_secs_f64(),
        after: part(there, ENDS),
        overshoot: between(&found, FREED, settled).map(queue).max().unwrap(),
        p95: later[later.len() * 95 / 100],
    }
}

const CELLS: [(bool, Port); 4] = [(false, UP), (false, DOWN), (true, UP), (true, DOWN)];

#[test]
fn a_flow_at_a_twentieth_of_its_link_has_all_of_it_within_ten_round_trips() {
    for (nr, port) in CELLS {
        let mut climbs: Vec<Climb> =
            (1..=5).map(|seed| climb(nr, port, seed, "sounding", None)).collect();
        climbs.sort_by(|a, b| a.rtts.total_cmp(&b.rtts));
        let name = format!("{} {}", if nr { "NR" } else { "LTE" }, port.direction);
        for Climb { held, rtts, after, overshoot, p95 } in &climbs {
            println!(
                "{name}: from {:.1} % in {rtts:.1} RTTs, then {:.1} %; queue up to {overshoot:.0?}, later p95 {p95:.0?}",
                held * 100.0,
                after * 100.0,
            );
        }
        assert!(climbs.iter().all(|climb| climb.held < 0.08), "{name}: {climbs:?}");
        assert!(climbs.iter().all(|climb| climb.rtts <= 10.0), "{name}: {climbs:?}");
        let after = climbs.iter().map(|climb| climb.after).sum::<f64>() / climbs.len() as f64;
        assert!(after >= 0.9, "{name}: {after:.3}");
    }
}

/// The law as published has no floor: a flow's grant stays at what it requests.
#[test]
fn the_published_law_does_not_climb() {
    let published = climb(false, DOWN, 1, "biscay", Some(Bound::Capacity));
    let told = climb(false, DOWN, 1, "biscay", None);
    let probing = climb(false, DOWN, 1, "sounding", None);
    println!("LTE downlink: published {published:?}, with floors {told:?}, probing {probing:?}");
    assert!(published.after < 0.5, "{published:?}");
    assert!(probing.after > published.after + 0.4, "{probing:?}");
}
