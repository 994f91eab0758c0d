//! The packet log of a real emulation: what mm-link would have written, and would reproduce.

use std::time::Duration;

use crate::common::{datagram, sockets};
use sounding_emu::{Config, Emulation, Logs};
use sounding_sim::{Link, LinkEvent, PathConfig, QueueLimit};
use sounding_testdata::may_emulate;
use sounding_trace::{Schedule, Trace};
use sounding_units::{Bytes, HostInstant};

#[test]
fn a_log_replays_into_its_own_departures() {
    if !may_emulate() {
        return;
    }
    let path = std::env::temp_dir().join(format!("sounding-log-test-{}", std::process::id()));
    let schedule = Schedule::from(Trace::from_millis(vec![0, 2, 2, 3, 9]).unwrap());
    let way = || PathConfig {
        delay: Duration::from_millis(3),
        queue: QueueLimit::packets(20),
        ..PathConfig::new(schedule.clone())
    };
    let config = Config {
        logs: Logs { down: Some(path.clone()), ..Logs::default() },
        ..Config::new(way(), way())
    };
    let emulation = Emulation::start(config).unwrap();
    let (near, far) = sockets(&emulation);
    for round in 0..200 {
        far.send(&datagram(100 + round * 7)).unwrap();
        if round % 10 == 0 {
            near.recv(&mut [0; 2000]).unwrap();
        }
    }
    emulation.stop().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();

    let mut link = Link::new(&schedule, QueueLimit::packets(20), HostInstant::default()).logged();
    let mut logged = Vec::new();
    let mut end = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| words[index].parse::<u64>().unwrap();
        end = number(0);
        match words[1] {
            "+" => {
                let at = HostInstant::from_nanos(number(0) * 1_000_000);
                link.handle_packet(at, Bytes::new(number(2) - 4), ());
            }
            "-" => logged.push((number(0), number(2), number(3))),
            "#" => assert_eq!(number(2), 1504),
            other => panic!("{other:?} in {line:?}"),
        }
    }
    link.handle_time(HostInstant::from_nanos(end * 1_000_000));
    let mut events = Vec::new();
    link.drain_events(&mut events);
    let replayed: Vec<_> = events
        .into_iter()
        .filter_map(|event| match event {
            LinkEvent::Departed { at, arrival, size, .. } => {
                let millis = |at: HostInstant| at.as_nanos() / 1_000_000;
                Some((millis(at), size.count() + 4, millis(at) - millis(arrival)))
            }
            LinkEvent::Arrived { .. } | LinkEvent::Dropped { .. } => None,
        })
        .collect();
    assert!(replayed.len() > 20, "only {} departures", replayed.len());
    // Packets that were still inside when the emulation ended may depart in the replay's last
    // millisecond.
    assert_eq!(replayed[..logged.len()], logged);
}

#[test]
fn a_log_that_cannot_be_created_is_an_error_that_names_it() {
    if !may_emulate() {
        return;
    }
    let rate = sounding_units::Rate::from_bits_per_sec(1_000_000);
    let path = || PathConfig::new(rate);
    let logs = Logs { up: Some("/nonexistent/up.log".into()), ..Logs::default() };
    let error = Emulation::start(Config { logs, ..Config::new(path(), path()) }).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/up.log"), "{error}");
}
