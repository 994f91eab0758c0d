//! Speed of the simulator, scene by scene, as JSON lines: for `scripts/bench-ns3`, which alternates
//! it with ns-3, and for profilers. Arguments name scenes: `cell-N` has N devices.

#[path = "../benches/scenes/mod.rs"]
mod scenes;

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use scenes::{Scene, Totals};
use sounding_sim::Network;
use sounding_sim::world::Segment;

const SECS: u64 = 30;
/// Of LTE.
const SLOTS_PER_SEC: u64 = 1_000;
/// Fifteen minutes (Legilimens §VI-B).
const CROWD_SECS: u64 = 900;

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let all = ["cell-1", "cell-10", "recorded", "crowd"];
    for &name in if named.is_empty() { &all[..] } else { &named[..] } {
        let devices = name.strip_prefix("cell-").and_then(|devices| devices.parse().ok());
        match (name, devices) {
            ("crowd", _) => time(name, CROWD_SECS, scenes::crowd),
            ("recorded", _) => {
                if let Some(trace) = scenes::recording() {
                    time(name, SECS, || scenes::recorded(&trace));
                }
            }
            (_, Some(devices)) => time(name, SECS, || scenes::cell(devices)),
            _ => eprintln!("pace: no scene {name:?}; there are cell-N, recorded, crowd"),
        }
    }
}

/// Runs a scene, its making included, and prints what it took.
fn time<N: Network<Segment>>(name: &str, secs: u64, make: impl FnOnce() -> Scene<N>) {
    let begin = cpu();
    let Totals { packets, carried, digest } = make().run(secs);
    let took = (cpu() - begin).as_secs_f64();
    let mbit = carried.count() as f64 * 8e-6 / secs as f64;
    let times = secs as f64 / took;
    let per_slot = took * 1e9 / (secs * SLOTS_PER_SEC) as f64;
    let per_packet = took * 1e9 / packets as f64;
    println!(
        r#"{{"scene":"{name}","secs":{secs},"cpu_secs":{took:.6},"times_real_time":{times:.0},"ns_per_slot":{per_slot:.0},"packets":{packets},"ns_per_packet":{per_packet:.0},"mbit_per_sec":{mbit:.2},"digest":"{digest:016x}"}}"#
    );
}

/// CPU time of this process: a machine that others use too takes longer by the clock.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
