//! Packets through a real emulation.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::common::{assert_conserved, datagram, eventually, sockets};
use sounding_emu::{Config, Direction, Emulation, Outcome};
use sounding_sim::{PathConfig, QueueLimit};
use sounding_testdata::may_emulate;
use sounding_trace::{Steps, Trace};
use sounding_units::{Bytes, Rate};

fn mbit(mbit: u64) -> PathConfig {
    PathConfig::new(Rate::from_bits_per_sec(mbit * 1_000_000))
}

fn trace(millis: &[u32]) -> PathConfig {
    PathConfig::new(Trace::from_millis(millis.to_vec()).unwrap())
}

fn steps(text: &str) -> PathConfig {
    PathConfig::new(text.parse::<Steps>().unwrap())
}

#[test]
fn a_round_trip_takes_both_delays() {
    if !may_emulate() {
        return;
    }
    let delay = Duration::from_millis(30);
    let way = || PathConfig { delay, ..mbit(100) };
    let emulation = Emulation::start(Config::new(way(), way())).unwrap();
    let (near, far) = sockets(&emulation);
    let sent = Instant::now();
    near.send(b"there").unwrap();
    far.recv(&mut [0; 10]).unwrap();
    far.send(b"and back").unwrap();
    near.recv(&mut [0; 10]).unwrap();
    assert!(sent.elapsed() >= 2 * delay, "{:?}", sent.elapsed());
    let report = emulation.stop().unwrap();
    assert_eq!((report.up.delivered, report.down.delivered), (1, 1));
}

#[test]
fn a_record_says_when_a_packet_passed_where() {
    if !may_emulate() {
        return;
    }
    let way = || PathConfig { delay: Duration::from_millis(10), ..mbit(12) };
    let config = Config { record: true, ..Config::new(way(), way()) };
    let emulation = Emulation::start(config).unwrap();
    let (near, far) = sockets(&emulation);
    near.send(&datagram(1500)).unwrap();
    far.recv(&mut [0; 2000]).unwrap();
    let ports = (near.local_addr().unwrap().port(), far.local_addr().unwrap().port());
    let report = emulation.stop().unwrap();
    let record = report.records[0];
    assert_eq!((record.direction, record.size), (Direction::Uplink, Bytes::new(1500)));
    assert_eq!((record.flow.source, record.flow.destination), ports);
    // A packet of 1500 bytes takes a millisecond at 12 Mbit/s: exact, because the model computes
    // it.
    assert_eq!(record.queueing_delay(), Some(Duration::from_millis(1)));
    assert_eq!(record.one_way_delay(), Some(Duration::from_millis(11)));
    let Outcome::Delivered { due, written, .. } = record.outcome else { panic!("{record:?}") };
    assert!(written >= due);
}

#[test]
fn a_full_queue_drops_and_counts() {
    if !may_emulate() {
        return;
    }
    // The link carries nothing for the first minute, so the queue fills up.
    let way = PathConfig { queue: QueueLimit::packets(5), ..steps("0s 0bit, 1min 1Mbit") };
    let emulation = Emulation::start(Config::new(way, mbit(1))).unwrap();
    let (near, _far) = sockets(&emulation);
    for _ in 0..20 {
        near.send(&datagram(1000)).unwrap();
    }
    assert!(eventually(|| emulation.counts(Direction::Uplink).arrived == 20));
    let report = emulation.stop().unwrap();
    assert_conserved(&report.up);
    // One is in service, five wait.
    assert_eq!((report.up.arrived, report.up.dropped, report.up.queued), (20, 14, 6));
}

#[test]
fn a_queue_of_bytes_drops_and_counts() {
    if !may_emulate() {
        return;
    }
    let queue = QueueLimit::bytes(Bytes::new(2500));
    let way = PathConfig { queue, ..steps("0s 0bit, 1min 1Mbit") };
    let emulation = Emulation::start(Config::new(way, mbit(1))).unwrap();
    let (near, _far) = sockets(&emulation);
    for _ in 0..20 {
        near.send(&datagram(1000)).unwrap();
    }
    assert!(eventually(|| emulation.counts(Direction::Uplink).arrived == 20));
    let report = emulation.stop().unwrap();
    assert_eq!((report.up.dropped_bytes, report.up.queued), (Bytes::new(17_000), 3));
}

#[test]
fn a_trace_that_begins_at_zero_and_has_an_outage_of_seconds_delivers_after_it() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(Config::new(trace(&[0, 0, 3_000, 3_001]), mbit(10))).unwrap();
    let (near, far) = sockets(&emulation);
    near.send(&datagram(1500)).unwrap();
    far.recv(&mut [0; 2000]).unwrap();
    assert!(emulation.started() + Duration::from_secs(3) <= sounding_emu::monotonic_now());
    assert_conserved(&emulation.stop().unwrap().up);
}

#[test]
fn a_trace_played_once_finishes() {
    if !may_emulate() {
        return;
    }
    let way = PathConfig { once: true, ..trace(&[1, 50]) };
    let emulation = Emulation::start(Config::new(way, mbit(10))).unwrap();
    let (near, _far) = sockets(&emulation);
    for _ in 0..5 {
        near.send(&datagram(1500)).unwrap();
    }
    assert!(eventually(|| emulation.is_finished()));
    assert!(emulation.stop().unwrap().up.delivered <= 2);
}

#[test]
fn every_packet_of_a_tcp_transfer_is_accounted_for() {
    if !may_emulate() {
        return;
    }
    let way = || PathConfig {
        delay: Duration::from_millis(5),
        queue: QueueLimit::packets(40),
        ..mbit(50)
    };
    let config = Config { record: true, ..Config::new(way(), way()) };
    let emulation = Emulation::start(config).unwrap();
    let address = emulation.far_address();
    let listener = emulation.far().enter(|| TcpListener::bind((address, 0)).unwrap()).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = emulation.far().spawn_thread("server", move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
    });
    let mut client =
        emulation.near().enter(|| TcpStream::connect((address, port)).unwrap()).unwrap();
    client.write_all(&vec![1; 3_000_000]).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    client.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(server.unwrap().join().unwrap().unwrap(), 3_000_000);

    let report = emulation.stop().unwrap();
    assert_conserved(&report.up);
    assert_conserved(&report.down);
    assert!(report.up.delivered_bytes.count() > 3_000_000);
    let settled =
        report.up.delivered + report.up.dropped + report.down.delivered + report.down.dropped;
    assert_eq!((report.records.len() as u64, report.records_lost), (settled, 0));
}

#[test]
fn a_setting_for_the_namespaces_reaches_them_and_not_the_host() {
    if !may_emulate() {
        return;
    }
    let path = "/proc/sys/net/ipv4/tcp_wmem";
    let before = std::fs::read_to_string(path).unwrap();
    let sysctls = vec![("net.ipv4.tcp_wmem".to_owned(), "4096 16384 999424".to_owned())];
    let config = Config { sysctls, ..Config::new(mbit(10), mbit(10)) };
    let emulation = Emulation::start(config).unwrap();
    let inside = emulation.near().enter(|| std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(inside.contains("999424"), "{inside}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), before);
}
