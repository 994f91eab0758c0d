//! Flows through a real emulation. These tests need root. Without root they print a message and
//! pass.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sounding_emu::{Config, Direction, Emulation};
use sounding_sim::PathConfig;
use sounding_sim::world::Traffic;
use sounding_testbed::flow::{TcpFlow, UdpFlow};
use sounding_testdata::may_emulate;
use sounding_units::{Bytes, Rate};

fn link(mbit: u64) -> PathConfig {
    PathConfig {
        delay: Duration::from_millis(5),
        ..PathConfig::new(Rate::from_bits_per_sec(mbit * 1_000_000))
    }
}

#[test]
fn a_tcp_flow_in_either_direction_uses_the_congestion_control_asked_for() {
    if !may_emulate() {
        return;
    }
    for (direction, name) in [(Direction::Uplink, "reno"), (Direction::Downlink, "cubic")] {
        let emulation = Emulation::start(Config::new(link(20), link(20))).unwrap();
        let flow = TcpFlow {
            congestion: Some(name.into()),
            duration: Some(Duration::from_secs(1)),
            ..TcpFlow::new(direction)
        };
        let result = flow.start(&emulation).unwrap().wait().unwrap();
        emulation.stop().unwrap();
        assert_eq!(result.congestion, name);
        assert!(result.received.count() > 10_000, "{direction:?}: {result:?}");
    }
}

#[test]
fn a_finite_transfer_in_either_direction_ends_when_all_has_arrived() {
    if !may_emulate() {
        return;
    }
    for direction in [Direction::Uplink, Direction::Downlink] {
        let emulation = Emulation::start(Config::new(link(20), link(20))).unwrap();
        let size = Bytes::new(64_000);
        let flow = TcpFlow { traffic: Traffic::Finite(size), ..TcpFlow::new(direction) };
        let running = flow.start(&emulation).unwrap();
        let ended = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            running.has_ended()
        });
        assert!(ended, "{direction:?}");
        let result = running.wait().unwrap();
        emulation.stop().unwrap();
        // With a SYN at the end that connected.
        let syn = result.last.acked.count() - size.count();
        assert_eq!(syn, u64::from(direction == Direction::Uplink), "{result:?}");
    }
}

#[test]
fn the_hook_is_called_with_every_sample() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(Config::new(link(20), link(20))).unwrap();
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let flow = TcpFlow {
        sample_every: Duration::from_millis(20),
        hook: Some(Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        })),
        ..TcpFlow::new(Direction::Uplink)
    };
    let running = flow.start(&emulation).unwrap();
    while calls.load(Ordering::Relaxed) < 5 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let result = running.stop().unwrap();
    assert_eq!(result.samples.len() as u64, calls.load(Ordering::Relaxed));
}

#[test]
fn a_greeting_goes_up_before_any_data_whichever_way_the_data_goes() {
    if !may_emulate() {
        return;
    }
    for direction in [Direction::Uplink, Direction::Downlink] {
        let config = Config { record: true, ..Config::new(link(20), link(20)) };
        let emulation = Emulation::start(config).unwrap();
        let flow = TcpFlow {
            choose_late: true,
            congestion: Some("cubic".into()),
            greeting: 37,
            duration: Some(Duration::from_millis(300)),
            ..TcpFlow::new(direction)
        };
        let result = flow.start(&emulation).unwrap().wait().unwrap();
        let report = emulation.stop().unwrap();
        assert_eq!(result.congestion, "cubic");
        // Behind the SYN and its acknowledgement, each packet of the uplink below 60 bytes is an
        // acknowledgement.
        let upward = report.records.iter().filter(|record| record.direction == Direction::Uplink);
        let first = upward.map(|record| record.size.count()).find(|&size| size > 60);
        assert_eq!(first, Some(37 + 52), "{direction:?}");
    }
}

#[test]
fn an_unknown_congestion_control_is_an_error_that_names_it() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(Config::new(link(20), link(20))).unwrap();
    let flow = TcpFlow { congestion: Some("nosuch".into()), ..TcpFlow::new(Direction::Uplink) };
    let error = flow.start(&emulation).unwrap_err().to_string();
    assert!(error.contains("nosuch"), "{error}");
}

#[test]
fn every_datagram_is_numbered_and_stamped() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(Config::new(link(20), link(20))).unwrap();
    let rate = Rate::from_bits_per_sec(5_000_000);
    let flow = UdpFlow::new(Direction::Downlink, rate, Duration::from_millis(500));
    let result = flow.start(&emulation).unwrap().wait().unwrap();
    let report = emulation.stop().unwrap();
    assert_eq!(result.received, result.sent, "{report:?}");
    let numbers: Vec<u64> = result.arrivals.iter().map(|arrival| arrival.number).collect();
    assert_eq!(numbers, (0..result.sent).collect::<Vec<_>>());
    assert!(result.arrivals.iter().all(|arrival| arrival.received_realtime_ns > 0));
}
