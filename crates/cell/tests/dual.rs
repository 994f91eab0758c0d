//! NR beside LTE: NR is added, fails, is released, and the two hand over to each other. No packet
//! is lost, doubled or out of order.

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, HandoverConfig, PrimaryPath, Rat};
use sounding_cell::event::{CarrierId, Rrc};
use sounding_cell::radio::{ModelConfig, Position, PropagationConfig, TrajectoryConfig};
use sounding_cell::{DeviceId, Direction, Event, Outcome, Ran};
use sounding_units::{Bytes, HostInstant};

const ORIGIN: HostInstant = HostInstant::from_nanos(0);
const DEVICE: DeviceId = DeviceId(0);
const LTE: CarrierId = CarrierId(0);
const NR: CarrierId = CarrierId(1);

fn lte() -> CarrierConfig {
    CarrierConfig { prb: 50, ..CarrierConfig::default() }
}

/// Its antennas are at the start of the walk and weak: the device cannot receive them at the other
/// end.
fn nr() -> CarrierConfig {
    let mut carrier = CarrierConfig {
        rat: Rat::Nr,
        numerology: 1,
        prb: 51,
        tdd: Some("DDDSU".into()),
        frequency_mhz: 3_550.0,
        pci: 700,
        arfcn: 636_666,
        ..CarrierConfig::default()
    };
    carrier.site.transmit_dbm = 24.0;
    carrier
}

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

/// Away from the site and back, in a car, half a minute each way.
fn driving() -> DeviceConfig {
    DeviceConfig {
        cells: vec![vec![0, 1]],
        channel: ModelConfig::Propagation(PropagationConfig {
            shadowing: false,
            ..PropagationConfig::default()
        }),
        trajectory: TrajectoryConfig::Waypoints {
            points: vec![Position::new(60.0, 0.0), Position::new(900.0, 0.0)],
            speed_mps: 28.0,
            then: sounding_cell::radio::AtTheEnd::Return,
        },
        ..DeviceConfig::default()
    }
}

struct Run {
    changes: Vec<(u64, Rrc)>,
    /// Bytes of new blocks that each carrier's uplink and downlink carried.
    carried: [[u64; 2]; 2],
}

/// Sends numbered packets both ways. Every packet must arrive once, in order.
fn run(
    device: DeviceConfig,
    carriers: &[CarrierConfig],
    seconds: u64,
    up_us: u64,
    seed: u64,
) -> Run {
    let mut ran: Ran<u64> = Ran::new(carriers, ORIGIN, seed).expect("a network");
    ran.add_device(device).expect("a device");
    ran.watch(DEVICE);
    let gaps = [Duration::from_micros(400), Duration::from_micros(up_us)];
    let (mut sent, mut came) = ([0_u64; 2], [0_u64; 2]);
    let mut run = Run { changes: Vec::new(), carried: [[0; 2]; 2] };
    let mut events = Vec::new();
    for ms in 0..(seconds + 3) * 1_000 {
        for (way, direction) in [Direction::Downlink, Direction::Uplink].into_iter().enumerate() {
            while ms < seconds * 1_000 && ORIGIN + gaps[way] * (sent[way] as u32) <= at(ms) {
                ran.handle_packet(at(ms), DEVICE, direction, Bytes::new(1_200), sent[way]);
                sent[way] += 1;
            }
        }
        ran.handle_time(at(ms));
        while let Some(output) = ran.poll_output() {
            let way = usize::from(output.direction == Direction::Uplink);
            let Outcome::Delivered(_) = output.outcome else {
                panic!("seed {seed}: {} of {:?} was lost", output.payload, output.direction)
            };
            assert_eq!(output.payload, came[way], "seed {seed}, {:?}", output.direction);
            came[way] += 1;
        }
        ran.drain_events(&mut events);
        for event in events.drain(..) {
            match event {
                Event::Rrc { at, change, .. } => {
                    run.changes.push((at.as_nanos() / 1_000_000, change));
                }
                Event::Transmission(_, block) if block.number == 0 => {
                    let way = usize::from(block.direction == Direction::Uplink);
                    let carrier = usize::from(block.slot.carrier.0);
                    run.carried[carrier][way] += u64::from(block.size - block.padding);
                }
                _ => {}
            }
        }
    }
    assert_eq!(came, sent, "seed {seed}");
    run
}

#[test]
fn nothing_is_lost_or_doubled_while_nr_comes_and_goes() {
    for (seed, primary_path) in
        [(1, PrimaryPath::Secondary), (2, PrimaryPath::Master), (3, PrimaryPath::Secondary)]
    {
        let mut device = driving();
        device.dual.primary_path = primary_path;
        // The outages of a second outlast the usual timer.
        device.dual.t310 = Duration::from_millis(200);
        let Run { changes, carried } = run(device, &[lte(), nr()], 60, 4_000, seed);
        let count = |wanted: fn(&Rrc) -> bool| changes.iter().filter(|(_, c)| wanted(c)).count();
        let added = count(|change| matches!(change, Rrc::SecondaryAdded { carrier: NR, .. }));
        let failed = count(|change| matches!(change, Rrc::SecondaryFailed { .. }));
        let released = count(|change| matches!(change, Rrc::SecondaryReleased { .. }));
        assert!(added >= 2 && failed >= 1, "seed {seed}: {changes:?}");
        assert_eq!(failed, released);
        let [lte, nr] = carried;
        assert!(lte[0] > 0 && nr[0] > 0, "the downlink is split: {carried:?}");
        assert!(lte[1] > 0, "without NR the uplink goes through LTE: {carried:?}");
        if primary_path == PrimaryPath::Secondary {
            assert!(nr[1] > 0, "{carried:?}");
        }
    }
}

#[test]
fn the_uplink_uses_the_other_path_only_once_the_threshold_waits() {
    let near = || {
        let mut device = driving();
        device.trajectory = TrajectoryConfig::Static { at: Position::new(60.0, 0.0) };
        device
    };
    let after_addition = |threshold| {
        let mut device = near();
        device.dual.split_threshold = Bytes::new(threshold);
        device.uplink.queue = Bytes::new(50_000_000);
        // 16 Mbit/s: more than NR's uplink holds here.
        run(device, &[lte(), nr()], 3, 600, 5).carried
    };
    let [never, always] = [u64::MAX, 0].map(after_addition);
    // The bytes that LTE carried before NR was added.
    assert!(always[0][1] > 5 * never[0][1], "{never:?} {always:?}");
    assert!(never[1][1] > never[0][1], "{never:?}");
}

#[test]
fn a_device_goes_from_lte_to_nr_and_back_without_losing_anything() {
    let mut strong = nr();
    strong.site.transmit_dbm = 46.0;
    let mut device = driving();
    device.cells = vec![vec![0], vec![1]];
    device.trajectory = TrajectoryConfig::Static { at: Position::new(80.0, 0.0) };
    device.handover = HandoverConfig {
        at: [1, 2, 3, 4].map(Duration::from_secs).to_vec(),
        a3_offset_db: 60.0,
        ..HandoverConfig::default()
    };
    for seed in 1..4 {
        let run = run(device.clone(), &[lte(), strong.clone()], 5, 4_000, seed);
        let went: Vec<CarrierId> = run
            .changes
            .iter()
            .filter_map(|(_, change)| match change {
                Rrc::Handover { to, .. } => Some(*to),
                _ => None,
            })
            .collect();
        assert_eq!(went, [NR, LTE, NR, LTE], "seed {seed}");
        assert!(run.carried.iter().flatten().all(|bytes| *bytes > 0), "{:?}", run.carried);
    }
}
