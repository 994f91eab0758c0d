//! Packets through a network of one carrier: arrivals, times, and the network's reports about them.

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, Rat};
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_cell::{DeviceId, Direction, Event, Outcome, Output, Ran};
use sounding_units::{Bytes, HostInstant};

const ORIGIN: HostInstant = HostInstant::from_nanos(1_000_000_000);
const DEVICE: DeviceId = DeviceId(0);

fn lte() -> CarrierConfig {
    CarrierConfig::default()
}

fn lte_tdd(configuration: u8) -> CarrierConfig {
    CarrierConfig { tdd: Some(configuration.to_string()), ..lte() }
}

fn nr(pattern: &str) -> CarrierConfig {
    let tdd = Some(pattern.into());
    CarrierConfig { rat: Rat::Nr, numerology: 1, prb: 106, tdd, ..CarrierConfig::default() }
}

/// A good channel that does not change.
fn device() -> DeviceConfig {
    let channel = ModelConfig::Script(ScriptConfig::constant(22.0));
    DeviceConfig { channel, ..DeviceConfig::default() }
}

fn one_device(carrier: CarrierConfig, seed: u64) -> Ran<u64> {
    let mut ran = Ran::new(&[carrier], ORIGIN, seed).expect("a network");
    ran.add_device(device()).expect("a device");
    ran
}

/// Sends a packet of `size` every `gap` for `span`, and runs on until all is out or two seconds
/// have passed.
fn steady(
    ran: &mut Ran<u64>,
    direction: Direction,
    size: u64,
    gap: Duration,
    span: Duration,
) -> Vec<Output<u64>> {
    let mut outputs = Vec::new();
    let count = (span.as_nanos() / gap.as_nanos()) as u64;
    for number in 0..count {
        let now = ORIGIN + gap * number as u32;
        ran.handle_packet(now, DEVICE, direction, Bytes::new(size), number);
        outputs.extend(std::iter::from_fn(|| ran.poll_output()));
    }
    ran.handle_time(ORIGIN + span + Duration::from_secs(2));
    outputs.extend(std::iter::from_fn(|| ran.poll_output()));
    outputs
}

fn delays_ms(outputs: &[Output<u64>]) -> Vec<f64> {
    let mut delays: Vec<f64> = outputs
        .iter()
        .map(|output| match output.outcome {
            Outcome::Delivered(passage) => (passage.delivered - output.entered).as_secs_f64() * 1e3,
            Outcome::Lost(at) => panic!("{} lost at {at:?}", output.payload),
        })
        .collect();
    delays.sort_by(f64::total_cmp);
    delays
}

fn percentile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

#[test]
fn every_packet_comes_out_once_and_in_order() {
    let mut carriers = vec![lte(), nr("DDDSU"), nr("DDDDDDDSUU"), nr("DDDSUDDSUU")];
    carriers.extend((0..=6).map(lte_tdd));
    for (carrier, seed) in carriers.into_iter().zip(1..) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let mut ran = one_device(carrier.clone(), seed);
            // One uplink subframe of ten carries less than this twice as often.
            let gap = Duration::from_micros(3_400);
            let outputs = steady(&mut ran, direction, 1_200, gap, Duration::from_secs(20));
            let numbers: Vec<u64> = outputs.iter().map(|output| output.payload).collect();
            let wrong = numbers.iter().zip(0..).find(|(number, at)| *number != at);
            assert_eq!(wrong, None, "{direction:?}");
            assert_eq!(numbers.len(), 5_882, "{direction:?}");
            delays_ms(&outputs);
        }
    }
}

#[test]
fn a_light_downlink_takes_a_few_milliseconds_and_eight_more_for_each_repeat() {
    let mut ran = one_device(lte(), 5);
    let gap = Duration::from_micros(10_300);
    let outputs = steady(&mut ran, Direction::Downlink, 1_200, gap, Duration::from_secs(60));
    let mut by_repeats = BTreeMap::new();
    for output in &outputs {
        let Outcome::Delivered(passage) = output.outcome else { continue };
        if !passage.rlc {
            let ms = (passage.arrived - passage.began).as_secs_f64() * 1e3;
            by_repeats.entry(passage.harq).or_insert_with(Vec::new).push(ms);
        }
    }
    // A subframe and its decoding.
    assert!(by_repeats[&0].iter().all(|ms| (ms - 2.5).abs() < 0.01));
    assert!(by_repeats[&1].iter().all(|ms| (ms - 10.5).abs() < 0.01), "{:?}", by_repeats[&1]);
    let delays = delays_ms(&outputs);
    assert!(percentile(&delays, 0.5) < 4.0, "{}", percentile(&delays, 0.5));
}

/// Uplink subframes of 20 MHz at the highest MCS carry some 75 Mbit/s, downlink ones some 150 with
/// two layers; a special one three quarters of that.
#[test]
fn each_lte_tdd_configuration_carries_by_its_subframes() {
    let mut shares = Vec::new();
    for configuration in 0..=6 {
        let carried = [Direction::Downlink, Direction::Uplink].map(|direction| {
            let mut ran = one_device(lte_tdd(configuration), 12);
            let span = Duration::from_secs(3);
            let gap = Duration::from_micros(70);
            let mut bytes = 0;
            for number in 0..(span.as_nanos() / gap.as_nanos()) as u64 {
                let now = ORIGIN + gap * number as u32;
                ran.handle_packet(now, DEVICE, direction, Bytes::new(1_500), number);
                let delivered = std::iter::from_fn(|| ran.poll_output());
                bytes += delivered
                    .filter(|output| matches!(output.outcome, Outcome::Delivered(_)))
                    .map(|output| output.size.count())
                    .sum::<u64>();
            }
            bytes as f64
        });
        shares.push(carried);
    }
    let pattern = [
        "DSUUUDSUUU",
        "DSUUDDSUUD",
        "DSUDDDSUDD",
        "DSUUUDDDDD",
        "DSUUDDDDDD",
        "DSUDDDDDDD",
        "DSUUUDSUUD",
    ];
    let count = |at: usize, letter| pattern[at].matches(letter).count() as f64;
    let subframes = |at: usize| [count(at, 'D') + 0.75 * count(at, 'S'), count(at, 'U')];
    for (at, share) in shares.iter().enumerate() {
        for (way, carried) in share.iter().enumerate() {
            let wanted = subframes(at)[way] / subframes(2)[way];
            let found = carried / shares[2][way];
            assert!((found / wanted - 1.0).abs() < 0.06, "{at} {way}: {found:.3} of {wanted:.3}");
        }
    }
}

#[test]
fn a_light_uplink_waits_for_its_request_and_its_grant() {
    let mut ran = one_device(lte(), 6);
    let gap = Duration::from_micros(100_700);
    let outputs = steady(&mut ran, Direction::Uplink, 100, gap, Duration::from_secs(60));
    let delays = delays_ms(&outputs);
    // An occasion every 10 ms, 5 ms until it is answered, 4 to the PUSCH, 2.5 to the packet.
    let median = percentile(&delays, 0.5);
    assert!((12.0..25.0).contains(&median), "{median}");
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let events = |seed| {
        let mut ran = one_device(nr("DDDSU"), seed);
        ran.watch(DEVICE);
        let gap = Duration::from_micros(700);
        let outputs = steady(&mut ran, Direction::Downlink, 1_400, gap, Duration::from_secs(3));
        let mut events: Vec<Event> = Vec::new();
        ran.drain_events(&mut events);
        (events, outputs)
    };
    assert!(events(7) == events(7));
    assert!(events(7) != events(8));
}

#[test]
fn a_saturated_downlink_carries_what_its_blocks_hold() {
    for carrier in [lte(), nr("DDDSU")] {
        let mut ran = one_device(carrier, 9);
        ran.watch(DEVICE);
        let mut events = Vec::new();
        let span = Duration::from_secs(5);
        for number in 0..300_000_u64 {
            let now = ORIGIN + span.mul_f64(number as f64 / 300_000.0);
            ran.handle_packet(now, DEVICE, Direction::Downlink, Bytes::new(1_500), number);
        }
        ran.drain_events(&mut events);
        let delivered: u64 = std::iter::from_fn(|| ran.poll_output())
            .filter(|output| matches!(output.outcome, Outcome::Delivered(_)))
            .map(|output| output.size.count())
            .sum();
        let granted: u64 = events
            .iter()
            .filter_map(|event| match event {
                Event::Transmission(_, sent) if sent.arrived => Some(u64::from(sent.size)),
                _ => None,
            })
            .sum();
        let share = delivered as f64 / granted as f64;
        assert!((0.96..1.0).contains(&share), "{share}");
    }
}

#[test]
fn a_saturated_uplink_is_granted_all_the_time() {
    let mut ran = one_device(lte(), 10);
    let gap = Duration::from_micros(100);
    let mut bytes = 0;
    for number in 0..50_000_u64 {
        ran.handle_packet(
            ORIGIN + gap * number as u32,
            DEVICE,
            Direction::Uplink,
            Bytes::new(1_500),
            number,
        );
        while let Some(output) = ran.poll_output() {
            if let Outcome::Delivered(_) = output.outcome {
                bytes += output.size.count();
            }
        }
    }
    let mbit = bytes as f64 * 8.0 / 5.0 / 1e6;
    println!("{mbit} Mbit/s");
    assert!(mbit > 30.0, "{mbit}");
}
