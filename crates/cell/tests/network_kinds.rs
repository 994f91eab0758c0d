//! Kinds of networks: how each answers requests and reports.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, NetworkKind, UplinkConfig};
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_cell::{DeviceId, Direction, Event, Outcome, Ran};
use sounding_units::{Bytes, HostInstant};

const ORIGIN: HostInstant = HostInstant::from_nanos(0);
const DEVICE: DeviceId = DeviceId(0);

fn lte() -> CarrierConfig {
    CarrierConfig { prb: 25, ..CarrierConfig::default() }
}

fn nr() -> CarrierConfig {
    toml::from_str("rat = \"nr\"\nnumerology = 1\nprb = 51\ntdd = \"DDDSU\"").unwrap()
}

/// A device with these keys of `scheduling`.
fn device(scheduling: &str) -> DeviceConfig {
    let text = format!(
        "scheduling = {{ {scheduling} }}\n\
         channel = {{ kind = \"script\", levels = [{{ at_s = 0.0, sinr_db = 18.0 }}], fading = {{ profile = \"epa\" }} }}"
    );
    toml::from_str(&text).unwrap()
}

/// What a run shows: when each packet arrived, and how many requests went out.
struct Seen {
    delays_ms: Vec<f64>,
    digest: u64,
    requests: usize,
    grants: usize,
}

/// Packets of `size` bytes, one each `gap`, for five seconds.
fn run(carrier: CarrierConfig, device: DeviceConfig, size: u64, gap: Duration) -> Seen {
    let mut ran = Ran::new(&[carrier], ORIGIN, 7).unwrap();
    ran.add_device(device).unwrap();
    ran.watch(DEVICE);
    let mut seen =
        Seen { delays_ms: Vec::new(), digest: 0xcbf2_9ce4_8422_2325, requests: 0, grants: 0 };
    let mut events = Vec::new();
    let mut now = ORIGIN + Duration::from_micros(370);
    let mut number = 0_u64;
    while now < ORIGIN + Duration::from_secs(5) {
        ran.handle_packet(now, DEVICE, Direction::Uplink, Bytes::new(size), number);
        number += 1;
        now = now + gap;
        ran.handle_time(now);
        while let Some(output) = ran.poll_output() {
            let Outcome::Delivered(passage) = output.outcome else { continue };
            seen.delays_ms.push((passage.delivered - passage.entered).as_secs_f64() * 1e3);
            for part in [output.payload, passage.began.as_nanos(), passage.delivered.as_nanos()] {
                // FNV-1a, by words.
                seen.digest = (seen.digest ^ part).wrapping_mul(0x0100_0000_01b3);
            }
        }
        ran.drain_events(&mut events);
        for event in events.drain(..) {
            match event {
                Event::SchedulingRequest { .. } => seen.requests += 1,
                Event::Dci(dci) => seen.grants += usize::from(dci.direction == Direction::Uplink),
                _ => {}
            }
        }
    }
    seen
}

/// A steady stream of 2 Mbit/s.
fn stream(carrier: CarrierConfig, scheduling: &str) -> Seen {
    run(carrier, device(scheduling), 1_250, Duration::from_micros(5_130))
}

fn quantile(seen: &Seen, part: f64) -> f64 {
    let mut sorted = seen.delays_ms.clone();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() as f64 * part) as usize]
}

/// Digests of runs with `before` on timers of 5, 10, 20 and 80 ms, LTE's and then NR's. Taken on
/// the cell before it knew kinds of networks.
const DIGESTS: [u64; 8] = [
    0x6f53_630b_3b94_96b7,
    0x3ace_6266_65e0_f45e,
    0xc6e0_c33d_3eab_22e7,
    0xc088_db55_931c_c887,
    0x9a3b_a32e_8a44_bffe,
    0xea30_c876_e3e3_5929,
    0x0b5a_8a24_0ada_de5d,
    0x65c2_78b5_05d3_59ca,
];

#[test]
fn the_network_as_it_was_gives_every_packet_the_same_delay_as_then() {
    let digests: Vec<u64> = [lte(), nr()]
        .into_iter()
        .flat_map(|carrier| {
            [5, 10, 20, 80].map(|timer| {
                let keys = format!("network = \"before\", periodic_bsr = \"{timer}ms\"");
                stream(carrier.clone(), &keys).digest
            })
        })
        .collect();
    assert_eq!(digests, DIGESTS, "{digests:#x?}");
}

#[test]
fn at_five_milliseconds_an_operators_network_is_the_one_it_was() {
    for carrier in [lte(), nr()] {
        let operator = stream(carrier.clone(), "periodic_bsr = \"5ms\"").digest;
        assert_eq!(operator, stream(carrier, "network = \"before\"").digest);
    }
}

/// A wait for the next report, and then an answer that takes the same time as ever. No block is
/// lost here.
#[test]
fn an_operators_answer_does_not_follow_the_timer() {
    let run = |keys: &str| {
        let mut device = device(keys);
        device.channel = ModelConfig::Script(ScriptConfig::constant(18.0));
        device.adapt_uplink.step_db = 0.0;
        device.adapt_uplink.initial_offset_db = -3.0;
        run(lte(), device, 1_250, Duration::from_micros(5_130))
    };
    let median = |keys: &str| quantile(&run(keys), 0.5);
    let at_5 = median("periodic_bsr = \"5ms\"");
    let at_20 = median("periodic_bsr = \"20ms\"");
    // Half an interval more until the report.
    assert!(at_20 - at_5 < 10.0, "{at_20} and {at_5}");
    let before = median("network = \"before\", periodic_bsr = \"20ms\"");
    assert!(before > at_20 + 10.0, "{before} and {at_20}");
    let late = quantile(&run("periodic_bsr = \"20ms\""), 0.95);
    assert!(late <= 20.0 + 10.0 + 5.0, "{late}");
    let slow = median("answer = \"15ms\"");
    assert!(slow > at_5 + 5.0, "{slow} and {at_5}");
}

/// An emptied buffer refills, and the device asks at once: the timer hardly matters.
#[test]
fn in_a_stacks_network_the_timer_matters_under_backlog_alone() {
    let seen = |timer| {
        let keys =
            format!("network = \"srsran\", sr_period = \"20ms\", periodic_bsr = \"{timer}ms\"");
        stream(lte(), &keys)
    };
    let (short, long) = (seen(5), seen(20));
    let (at_5, at_20) = (quantile(&short, 0.5), quantile(&long, 0.5));
    assert!((at_20 - at_5).abs() < 5.0, "{at_20} and {at_5}");
    assert!(short.requests > 20 && long.requests > 20, "{} {}", short.requests, long.requests);
}

/// One packet each 90 ms: a request and its wait, or a grant that is there already.
#[test]
fn grants_without_a_reason_spare_an_idle_device_its_request() {
    let pings = |keys: &str| run(lte(), device(keys), 84, Duration::from_micros(90_370));
    for network in ["operator", "srsran"] {
        let asked = pings(&format!("network = \"{network}\""));
        let given = pings(&format!("network = \"{network}\", proactive = \"5ms\""));
        let (asked_ms, given_ms) = (quantile(&asked, 0.5), quantile(&given, 0.5));
        assert!(given_ms < asked_ms - 4.0, "{network}: {given_ms} and {asked_ms}");
        assert!(given.requests < asked.requests / 2, "{network}: {}", given.requests);
        assert!(given.grants > 800, "{network}: {}", given.grants);
    }
}

#[test]
fn a_network_is_named_in_a_device_and_brings_its_own_times() {
    let scheduling = |keys: &str| device(keys).scheduling;
    assert_eq!(scheduling(""), UplinkConfig::default());
    assert_eq!(scheduling("").network, NetworkKind::Operator);
    let stack = scheduling("network = \"srsran\"");
    assert_eq!(stack.answer(), Duration::from_millis(9));
    assert_eq!(stack.first_grant(), Bytes::new(512));
    let own = scheduling("network = \"srsran\", answer = \"12ms\", first_grant = 80");
    assert_eq!((own.answer(), own.first_grant()), (Duration::from_millis(12), Bytes::new(80)));
    assert_eq!(scheduling("").answer(), Duration::from_millis(5));
    assert_eq!(scheduling("").proactive, None);
    assert!(toml::from_str::<DeviceConfig>("scheduling = { network = \"none\" }").is_err());
}
