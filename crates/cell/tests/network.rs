//! Several carriers, cells and users.

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, HandoverConfig, HarqConfig, Policy};
use sounding_cell::event::Rrc;
use sounding_cell::radio::{ModelConfig, Position, ScriptConfig, TrajectoryConfig};
use sounding_cell::traffic::Traffic;
use sounding_cell::{DeviceId, Direction, Event, Outcome, Output, Ran};
use sounding_units::{Bytes, HostInstant};

const ORIGIN: HostInstant = HostInstant::from_nanos(0);
const DEVICE: DeviceId = DeviceId(0);

/// A good channel that does not change.
fn device() -> DeviceConfig {
    let channel = ModelConfig::Script(ScriptConfig::constant(16.0));
    DeviceConfig { channel, ..DeviceConfig::default() }
}

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

/// Packets of 1500 bytes at a rate from `from` to `to`, in ms.
fn send(
    ran: &mut Ran<u64>,
    direction: Direction,
    (from, to): (u64, u64),
    mbit: f64,
    outputs: &mut Vec<Output<u64>>,
) {
    let gap = Duration::from_secs_f64(12_000.0 / (mbit * 1e6));
    let mut now = at(from);
    while now < at(to) {
        ran.handle_packet(now, DEVICE, direction, Bytes::new(1_500), 0);
        outputs.extend(std::iter::from_fn(|| ran.poll_output()));
        now = now + gap;
    }
    ran.handle_time(at(to));
    outputs.extend(std::iter::from_fn(|| ran.poll_output()));
}

fn changes(ran: &mut Ran<u64>) -> Vec<(u64, Rrc)> {
    let mut events = Vec::new();
    ran.drain_events(&mut events);
    events
        .into_iter()
        .filter_map(|event| match event {
            Event::Rrc { at, change, .. } => Some((at.as_nanos() / 1_000_000, change)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_second_carrier_is_added_while_one_is_too_little_and_dropped_after() {
    let carrier = CarrierConfig { prb: 50, layers: 1, ..CarrierConfig::default() };
    let second = CarrierConfig { uplink: false, pci: 2, ..carrier.clone() };
    let mut ran = Ran::new(&[carrier, second], ORIGIN, 1).unwrap();
    ran.add_device(DeviceConfig { cells: vec![vec![0, 1]], ..device() }).unwrap();
    ran.watch(DEVICE);
    let mut outputs = Vec::new();
    // PBE-CC Fig. 2: 40 Mbit/s for two seconds, then 6.
    send(&mut ran, Direction::Downlink, (0, 2_000), 40.0, &mut outputs);
    send(&mut ran, Direction::Downlink, (2_000, 4_000), 6.0, &mut outputs);
    let changes = changes(&mut ran);
    let (&(added, Rrc::Activated { usable, .. }), &(dropped, Rrc::Deactivated { .. })) =
        (&changes[0], &changes[1])
    else {
        panic!("{changes:?}");
    };
    // "at 0.13 seconds".
    assert!((100..=180).contains(&added), "{added}");
    assert!((usable - at(added)) >= Duration::from_millis(24));
    assert!((2_000..3_500).contains(&dropped), "{dropped}");
    let late = |from: u64, to: u64| {
        let delays =
            outputs.iter().filter(|output| output.entered >= at(from) && output.entered < at(to));
        delays
            .filter_map(|output| match output.outcome {
                Outcome::Delivered(passage) => Some(passage.delivered - output.entered),
                Outcome::Lost(_) => None,
            })
            .max()
            .unwrap()
    };
    assert!(late(0, 200) > Duration::from_millis(30), "the queue that one carrier leaves");
    assert!(late(1_000, 2_000) < Duration::from_millis(30), "two carriers drain it");
}

#[test]
fn a_handover_interrupts_for_its_time_and_loses_nothing_where_it_is_forwarded() {
    for forward in [true, false] {
        let carriers =
            [CarrierConfig::default(), CarrierConfig { pci: 2, ..CarrierConfig::default() }];
        let mut ran = Ran::new(&carriers, ORIGIN, 3).unwrap();
        // Not in step with reports and measurements.
        let moments: Vec<Duration> = (1..=12).map(|at| Duration::from_millis(311 * at)).collect();
        ran.add_device(DeviceConfig {
            cells: vec![vec![0], vec![1]],
            handover: HandoverConfig { at: moments, forward, ..HandoverConfig::default() },
            ..device()
        })
        .unwrap();
        ran.watch(DEVICE);
        let mut outputs = Vec::new();
        send(&mut ran, Direction::Downlink, (0, 4_000), 40.0, &mut outputs);
        ran.handle_time(at(5_000));
        outputs.extend(std::iter::from_fn(|| ran.poll_output()));
        let interruptions: Vec<Duration> = changes(&mut ran)
            .iter()
            .filter_map(|(when, change)| match change {
                Rrc::Handover { resumes, .. } => Some(*resumes - at(*when)),
                _ => None,
            })
            .collect();
        assert_eq!(interruptions.len(), 12);
        let usual = Duration::from_millis(29)..Duration::from_millis(62);
        assert!(interruptions.iter().all(|span| usual.contains(span)), "{interruptions:?}");
        let lost =
            outputs.iter().filter(|output| matches!(output.outcome, Outcome::Lost(_))).count();
        assert_eq!(outputs.len(), 13_334);
        if forward {
            assert_eq!(lost, 0);
        } else {
            // Packets in flight when the device left, if any.
            assert!((1..270).contains(&lost), "{lost}");
        }
    }
}

#[test]
fn a_device_asks_for_room_as_soon_as_rlc_has_something_to_repeat() {
    let mut ran = Ran::new(&[CarrierConfig::default()], ORIGIN, 5).unwrap();
    // Everything that HARQ would repeat is left to RLC.
    let harq = HarqConfig { misheard: 1.0, ..HarqConfig::default() };
    ran.add_device(DeviceConfig { harq, ..device() }).unwrap();
    let mut outputs = Vec::new();
    // One packet every 100 ms: no later packet shows soon that one is missing.
    send(&mut ran, Direction::Uplink, (0, 60_000), 0.12, &mut outputs);
    let passages: Vec<_> = outputs
        .iter()
        .filter_map(|output| match output.outcome {
            Outcome::Delivered(passage) => Some(passage),
            Outcome::Lost(_) => None,
        })
        .collect();
    let repeated = passages.iter().filter(|passage| passage.rlc).count();
    assert!(passages.len() > 590 && repeated > 10, "{} {repeated}", passages.len());
    let late = passages.iter().filter(|passage| passage.rlc);
    let mut late: Vec<_> = late.map(|passage| passage.delivered - passage.entered).collect();
    late.sort();
    // t-PollRetransmit, and a request. Where none is sent, or the report is lost too, it is
    // repeated after 320 ms.
    assert!(late[late.len() / 2] < Duration::from_millis(200), "{late:?}");
}

#[test]
fn a_connection_is_let_go_when_idle_and_set_up_again_for_data() {
    let mut ran = Ran::new(&[CarrierConfig::default()], ORIGIN, 4).unwrap();
    ran.add_device(device()).unwrap();
    ran.watch(DEVICE);
    let mut outputs = Vec::new();
    send(&mut ran, Direction::Uplink, (0, 100), 5.0, &mut outputs);
    ran.handle_time(at(20_000));
    while ran.poll_output().is_some() {}
    outputs.clear();
    send(&mut ran, Direction::Uplink, (20_000, 20_003), 5.0, &mut outputs);
    ran.handle_time(at(21_000));
    outputs.extend(std::iter::from_fn(|| ran.poll_output()));
    let Outcome::Delivered(first) = outputs[0].outcome else { panic!("{:?}", outputs[0]) };
    let delay = first.delivered - outputs[0].entered;
    // Setup, the grant that comes with it, its report, and the grant that answers that.
    assert!((Duration::from_millis(80)..Duration::from_millis(130)).contains(&delay), "{delay:?}");
    let changes = changes(&mut ran);
    assert!(
        matches!(changes[..], [(10_000..10_400, Rrc::Released), (20_080, Rrc::Setup)]),
        "{changes:?}"
    );
}

#[test]
fn users_share_a_cell_by_its_policy() {
    let served = |policy, background| {
        let carrier = CarrierConfig { policy, ..CarrierConfig::default() };
        let mut ran = Ran::new(&[carrier], ORIGIN, 5).unwrap();
        ran.add_device(DeviceConfig { background, ..device() }).unwrap();
        for _ in 0..3 {
            let traffic = Some(Traffic::Full);
            ran.add_device(DeviceConfig { traffic, ..device() }).unwrap();
        }
        let mut outputs = Vec::new();
        send(&mut ran, Direction::Downlink, (0, 2_000), 100.0, &mut outputs);
        let delivered =
            outputs.iter().filter(|output| matches!(output.outcome, Outcome::Delivered(_))).count();
        delivered as f64 * 12_000.0 / 2.0 / 1e6
    };
    let alone = {
        let mut ran = Ran::new(&[CarrierConfig::default()], ORIGIN, 5).unwrap();
        ran.add_device(device()).unwrap();
        let mut outputs = Vec::new();
        send(&mut ran, Direction::Downlink, (0, 2_000), 100.0, &mut outputs);
        let delivered =
            outputs.iter().filter(|output| matches!(output.outcome, Outcome::Delivered(_))).count();
        delivered as f64 * 12_000.0 / 2.0 / 1e6
    };
    for policy in [Policy::ProportionalFair { slots: 100 }, Policy::RoundRobin] {
        let share = served(policy, false) / alone;
        assert!((0.21..0.29).contains(&share), "{policy:?}: {share}");
    }
    let behind = served(Policy::Priority { slots: 100 }, true);
    assert!(behind < 0.01 * alone, "{behind}");
}

/// Two walking devices, with packets in both directions and idle pauses. The clock advances by
/// `step`.
fn pauses(step: Duration) -> (Vec<Event>, Vec<Output<u64>>) {
    let mut ran = Ran::new(&[CarrierConfig::default()], ORIGIN, 6).expect("a network");
    for x_m in [100.0, 200.0] {
        let from = Position::new(x_m, 50.0);
        let trajectory = TrajectoryConfig::Straight { from, heading_deg: 0.0, speed_mps: 1.4 };
        ran.add_device(DeviceConfig { trajectory, ..DeviceConfig::default() }).expect("a device");
    }
    ran.watch(DEVICE);
    let mut now = ORIGIN;
    for number in 0..40 {
        let next = at(number * 307);
        while now + step < next {
            now = now + step;
            ran.handle_time(now);
        }
        let direction = if number % 3 == 0 { Direction::Uplink } else { Direction::Downlink };
        let device = DeviceId((number % 2) as u16);
        ran.handle_packet(next, device, direction, Bytes::new(20_000), number);
        now = next;
    }
    ran.handle_time(at(20_000));
    let mut events = Vec::new();
    ran.drain_events(&mut events);
    (events, std::iter::from_fn(|| ran.poll_output()).collect())
}

#[test]
fn how_often_the_clock_advances_changes_nothing() {
    let often = pauses(Duration::from_micros(300));
    assert!(!often.0.is_empty() && often.1.len() == 40);
    assert!(often == pauses(Duration::from_secs(60)));
}

#[test]
fn slots_in_which_nothing_happens_are_passed_over() {
    let mut ran: Ran<u64> = Ran::new(&[CarrierConfig::default()], ORIGIN, 7).unwrap();
    assert_eq!(ran.wakeup(), None, "no user is there");
    ran.add_device(device()).unwrap();
    ran.handle_time(at(1_005));
    // The device reports its channel every 20 ms.
    assert_eq!(ran.wakeup(), Some(at(1_020)));
    assert_eq!(ran.no_delivery_until(), None);
    ran.handle_packet(at(1_005), DEVICE, Direction::Downlink, Bytes::new(1_500), 0);
    assert_eq!(ran.wakeup(), Some(at(1_006)));
    assert_eq!(ran.no_delivery_until(), Some(at(1_006) + Duration::from_micros(2_500)));
}

#[test]
fn a_device_that_comes_later_begins_then() {
    let mut ran: Ran<u64> = Ran::new(&[CarrierConfig::default()], ORIGIN, 8).unwrap();
    ran.handle_time(at(5_000));
    ran.add_device(device()).unwrap();
    assert_eq!(ran.wakeup(), Some(at(5_001)));
    ran.handle_packet(at(5_000), DEVICE, Direction::Downlink, Bytes::new(1_500), 0);
    ran.handle_time(at(6_000));
    let Some(Output { outcome: Outcome::Delivered(passage), .. }) = ran.poll_output() else {
        panic!("a packet of a good channel is delivered");
    };
    assert!(passage.began > at(5_000), "{passage:?}");
}
