//! Carriers that the network activates by load, without a queue (PBE-CC §3, footnote 1).

use std::time::Duration;

use sounding_cell::config::{AggregationConfig, CarrierConfig, DeviceConfig};
use sounding_cell::event::Rrc;
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_cell::traffic::Traffic;
use sounding_cell::{CarrierId, DeviceId, Direction, Event, Outcome, Ran};
use sounding_units::{Bytes, HostInstant};

const ORIGIN: HostInstant = HostInstant::from_nanos(0);
const DEVICE: DeviceId = DeviceId(0);
const BY_LOAD: Option<f64> = Some(0.7);

/// A good channel that does not change.
fn device(load: Option<f64>) -> DeviceConfig {
    let channel = ModelConfig::Script(ScriptConfig::constant(16.0));
    let aggregation = AggregationConfig { load, ..AggregationConfig::default() };
    DeviceConfig { channel, aggregation, cells: vec![vec![0, 1, 2]], ..DeviceConfig::default() }
}

/// Three carriers alike, and what else is on the first.
fn network(load: Option<f64>, others: &[DeviceConfig]) -> Ran<()> {
    let carrier =
        |pci| CarrierConfig { prb: 50, layers: 1, pci, uplink: pci == 1, ..Default::default() };
    let mut ran = Ran::new(&[carrier(1), carrier(2), carrier(3)], ORIGIN, 1).expect("sound");
    ran.add_device(device(load)).expect("a device");
    for other in others {
        ran.add_device(other.clone()).expect("a device");
    }
    ran.watch(DEVICE);
    ran
}

/// The events of the carriers.
#[derive(Debug, Default)]
struct Story {
    activated: Vec<(u64, CarrierId)>,
    deactivated: Vec<(u64, CarrierId)>,
    longest: Duration,
    delivered: u64,
}

/// Packets of 1500 bytes at these rates, in Mbit/s, each for this many ms.
fn story(ran: &mut Ran<()>, rates: &[(f64, u64)]) -> Story {
    let (mut now, mut end, mut story) = (ORIGIN, ORIGIN, Story::default());
    for &(mbit, ms) in rates {
        end = end + Duration::from_millis(ms);
        while now < end {
            ran.handle_packet(now, DEVICE, Direction::Downlink, Bytes::new(1_500), ());
            now = now + Duration::from_secs_f64(12_000.0 / (mbit * 1e6));
        }
        ran.handle_time(end);
        now = end;
    }
    for output in ran.drain_outputs() {
        if let Outcome::Delivered(passage) = output.outcome {
            story.longest = story.longest.max(passage.delivered - output.entered);
            story.delivered += output.size.count();
        }
    }
    let mut events = Vec::new();
    ran.drain_events(&mut events);
    for event in events {
        match event {
            Event::Rrc { at, change: Rrc::Activated { carrier, .. }, .. } => {
                story.activated.push((at.as_nanos() / 1_000_000, carrier));
            }
            Event::Rrc { at, change: Rrc::Deactivated { carrier }, .. } => {
                story.deactivated.push((at.as_nanos() / 1_000_000, carrier));
            }
            _ => {}
        }
    }
    story
}

/// The capacity of the first carrier, Mbit/s.
fn capacity() -> f64 {
    let carrier = CarrierConfig { prb: 50, layers: 1, ..CarrierConfig::default() };
    let mut alone = Ran::new(&[carrier], ORIGIN, 1).expect("sound");
    alone.add_device(DeviceConfig { cells: vec![vec![0]], ..device(None) }).expect("a device");
    story(&mut alone, &[(100.0, 2_000)]).delivered as f64 * 8.0 / 2e6
}

#[test]
fn a_flow_without_a_queue_that_fills_the_primary_gets_a_secondary() {
    let rate = 0.9 * capacity();
    let story = story(&mut network(BY_LOAD, &[]), &[(rate, 4_000)]);
    assert!(matches!(story.activated[..], [(100..200, CarrierId(1))]), "{story:?}");
    assert!(story.deactivated.is_empty(), "it is needed all the time: {story:?}");
    // Two repeats of HARQ, and no queue that another carrier would drain.
    assert!(story.longest < Duration::from_millis(25), "{story:?}");
}

#[test]
fn it_gets_none_where_only_queues_count() {
    let rate = 0.9 * capacity();
    let story = story(&mut network(None, &[]), &[(rate, 4_000)]);
    assert!(story.activated.is_empty(), "{story:?}");
}

#[test]
fn a_flow_that_leaves_most_of_the_primary_gets_none() {
    let rate = 0.3 * capacity();
    let story = story(&mut network(BY_LOAD, &[]), &[(rate, 4_000)]);
    assert!(story.activated.is_empty(), "{story:?}");
}

#[test]
fn carriers_come_one_by_one_and_go_once_the_rate_falls() {
    let all = capacity();
    let rates = [(0.9 * all, 1_000), (1.8 * all, 1_000), (0.2 * all, 2_000)];
    let story = story(&mut network(BY_LOAD, &[]), &rates);
    let [(100..200, CarrierId(1)), (1_040..1_250, CarrierId(2))] = story.activated[..] else {
        panic!("{story:?}");
    };
    let [(2_300..2_600, CarrierId(2)), (2_600..3_000, CarrierId(1))] = story.deactivated[..] else {
        panic!("{story:?}");
    };
}

#[test]
fn what_others_use_is_not_a_part_that_the_device_left() {
    let all = capacity();
    let other = || DeviceConfig {
        traffic: Some(Traffic::OnOff {
            bits_per_sec: 0.6 * all * 1e6,
            on: Duration::from_secs(100),
            off: Duration::ZERO,
        }),
        cells: vec![vec![0]],
        ..device(None)
    };
    // At least nine tenths of the rest, and a third of the whole.
    let shared = story(&mut network(BY_LOAD, &[other()]), &[(0.34 * all, 1_000)]);
    assert!(matches!(shared.activated[..], [(100..300, CarrierId(1))]), "{shared:?}");
    let alone = story(&mut network(BY_LOAD, &[]), &[(0.34 * all, 1_000)]);
    assert!(alone.activated.is_empty(), "{alone:?}");
}

#[test]
fn a_load_that_is_no_share_is_refused() {
    let carriers = [0; 3].map(|_| CarrierConfig::default());
    for load in [0.0, 1.5, f64::NAN] {
        let mut ran: Ran<()> = Ran::new(&carriers, ORIGIN, 1).expect("sound");
        let error = ran.add_device(device(Some(load))).expect_err("no share").to_string();
        assert!(error.contains("aggregation.load: is above 0 and at most 1"), "{error}");
    }
}
