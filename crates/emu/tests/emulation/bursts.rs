//! Long bursts: more packets due at one moment than are written one by one.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use nix::sys::socket::{setsockopt, sockopt};

use crate::common::{assert_conserved, sockets};
use sounding_emu::{Config, Emulation};
use sounding_sim::PathConfig;
use sounding_testdata::may_emulate;
use sounding_trace::Trace;
use sounding_units::Rate;

/// Up, a link that carries 96 Mbit/s, stands still for a fifth of a second and then carries 1500
/// packets in one moment, over and over; down, one that is always fast.
fn config() -> Config {
    let steady = (1..=100).flat_map(|millis| [millis; 8]);
    let up = Trace::from_millis(steady.chain([300; 1500]).collect()).unwrap();
    let down = Rate::from_bits_per_sec(1_000_000_000);
    let sysctls = [
        // Enough data in flight for a long queue while the link stands still.
        ("net.ipv4.tcp_rmem", "4096 8388608 8388608"),
        ("net.ipv4.tcp_wmem", "4096 8388608 8388608"),
        ("net.ipv4.tcp_congestion_control", "reno"),
    ];
    let sysctls = sysctls.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    Config { sysctls, ..Config::new(PathConfig::new(up), PathConfig::new(down)) }
}

/// Whether this is Linux 6.2 or later.
fn takes_udp() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split('.').map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(2))
}

#[test]
fn every_datagram_of_a_long_burst_arrives_as_it_was_sent() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(config()).unwrap();
    let (near, far) = sockets(&emulation);
    setsockopt(&far, sockopt::RcvBufForce, &(64 << 20)).unwrap();
    // Runs of one size, between them shorter ones and an empty one.
    let size = |number: usize| match number % 500 {
        200..220 => 900,
        250 => 700,
        251 => 0,
        499 => 100,
        _ => 1472,
    };
    let datagrams: Vec<Vec<u8>> = (0..6_000_usize)
        .map(|number| (0..size(number)).map(|at| (number * 31 + at * 7) as u8).collect())
        .collect();
    let count = datagrams.len();
    let receiver = thread::spawn(move || {
        let receive = |_| {
            let mut buffer = [0; 2_000];
            let len = far.recv(&mut buffer).unwrap();
            buffer[..len].to_vec()
        };
        (0..count).map(receive).collect::<Vec<_>>()
    });
    for datagram in &datagrams {
        near.send(datagram).unwrap();
    }
    let received = receiver.join().unwrap();
    let report = emulation.stop().unwrap();
    assert_conserved(&report.up);
    assert_eq!((report.up.delivered, report.up.dropped), (count as u64, 0));
    if takes_udp() {
        assert!(report.up.coalesced > 1_000, "{:?}", report.up.coalesced);
    } else {
        eprintln!(
            "skipped: this kernel takes no superpackets of UDP, so each datagram was written by itself"
        );
    }
    let wrong = received.iter().zip(&datagrams).position(|(received, sent)| received != sent);
    assert_eq!(wrong, None);
}

#[test]
fn a_stream_of_long_bursts_arrives_as_it_was_sent() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(config()).unwrap();
    let address = emulation.far_address();
    let listener = emulation.far().enter(|| TcpListener::bind((address, 0)).unwrap()).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = emulation.far().spawn_thread("server", move || {
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        received
    });
    let sent: Vec<u8> = (0..8_000_000_u32).map(|at| (at ^ at >> 9) as u8).collect();
    let mut client =
        emulation.near().enter(|| TcpStream::connect((address, port)).unwrap()).unwrap();
    client.write_all(&sent).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    client.read_to_end(&mut Vec::new()).unwrap();
    let received = server.unwrap().join().unwrap().unwrap();
    let report = emulation.stop().unwrap();
    assert_conserved(&report.up);
    assert_eq!(report.up.dropped, 0);
    assert!(report.up.coalesced > 1_000, "{:?}", report.up.coalesced);
    assert!(received == sent);
}
