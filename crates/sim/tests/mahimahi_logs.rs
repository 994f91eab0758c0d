//! The link against mahimahi's own per-packet logs: the same arrivals through the same trace must
//! depart at the same milliseconds, packet by packet.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its input has to fail")]

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use sounding_sim::{Link, LinkEvent, QueueLimit};
use sounding_trace::{Schedule, mahimahi};
use sounding_units::{Bytes, HostInstant};

/// mahimahi logs sizes with the header of its TUN device.
const TUN_HEADER: u64 = 4;

struct Log {
    trace: String,
    base: u64,
    /// Time and size of each arrival.
    arrivals: Vec<(u64, u64)>,
    /// Time, size and queueing delay of each departure.
    departures: Vec<(u64, u64, u64)>,
    /// Time of each opportunity.
    opportunities: Vec<u64>,
}

fn read(path: &Path) -> Log {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let trace = header.split(['[', ']']).nth(1).unwrap().to_owned();
    let mut log =
        Log { trace, base: 0, arrivals: vec![], departures: vec![], opportunities: vec![] };
    for line in lines {
        if let Some(base) = line.strip_prefix("# base timestamp: ") {
            log.base = base.parse().unwrap();
        }
        if line.starts_with('#') {
            continue;
        }
        let mut words = line.split(' ');
        let at = words.next().unwrap().parse().unwrap();
        let kind = words.next().unwrap();
        let mut number = || words.next().unwrap().parse().unwrap();
        match kind {
            "+" => log.arrivals.push((at, number())),
            "-" => log.departures.push((at, number(), number())),
            "#" => log.opportunities.push(at),
            other => panic!("{}: unknown event {other:?}", path.display()),
        }
    }
    log
}

fn millis(at: HostInstant) -> u64 {
    at.as_nanos() / 1_000_000
}

fn replay(log: &Log, schedule: &Schedule) -> (Vec<(u64, u64, u64)>, u64) {
    let at = |millis: u64| HostInstant::from_nanos(millis * 1_000_000);
    let mut link = Link::new(schedule, QueueLimit::INFINITE, HostInstant::default())
        .based_at(log.base)
        .logged();
    for &(arrival, size) in &log.arrivals {
        link.handle_packet(at(arrival), Bytes::new(size - TUN_HEADER), ());
    }
    let end = log.opportunities.last().copied().unwrap_or_default();
    link.handle_time(at(end));
    let mut events = Vec::new();
    link.drain_events(&mut events);
    let mut used = 0;
    let departures = events
        .into_iter()
        .filter_map(|event| match event {
            LinkEvent::Departed { at, arrival, size, opportunities } => {
                used = opportunities;
                let delay = millis(at) - millis(arrival);
                Some((millis(at), size.count() + TUN_HEADER, delay))
            }
            LinkEvent::Arrived { .. } | LinkEvent::Dropped { .. } => None,
        })
        .collect();
    (departures, used)
}

#[test]
fn every_departure_in_mahimahis_logs_is_reproduced() {
    let logs = sounding_testdata::shared_files("reference/mahimahi-logs");
    let mut schedules = HashMap::new();
    let mut departures = 0;
    for path in &logs {
        let log = read(path);
        let schedule = schedules.entry(log.trace.clone()).or_insert_with(|| {
            let name = format!("traces/mahimahi/traces/{}", log.trace);
            let trace = sounding_testdata::shared(&name).expect("the log names a trace");
            Schedule::from(mahimahi::parse(&std::fs::read(trace).unwrap()).unwrap())
        });
        let (ours, used) = replay(&log, schedule);
        for (index, (ours, theirs)) in ours.iter().zip(&log.departures).enumerate() {
            assert_eq!(ours, theirs, "departure {index} of {}", path.display());
        }
        assert_eq!(ours.len(), log.departures.len(), "{}", path.display());
        let last = log.departures.last().map_or(0, |departure| departure.0);
        let theirs = log.opportunities.iter().filter(|&&at| at <= last).count() as u64;
        assert!(used <= theirs, "{}: {used} of {theirs} opportunities", path.display());
        departures += ours.len();
    }
    // Counted in the logs with grep. A skip was already reported above.
    if !logs.is_empty() {
        assert_eq!((logs.len(), departures), (48, 861_458));
    }
}

#[test]
fn the_opportunities_of_a_schedule_are_those_mahimahi_logged() {
    for path in sounding_testdata::shared_files("reference/mahimahi-logs").iter().take(8) {
        let log = read(path);
        let name = format!("traces/mahimahi/traces/{}", log.trace);
        let trace = sounding_testdata::shared(&name).expect("the log names a trace");
        let schedule = Schedule::from(mahimahi::parse(&std::fs::read(trace).unwrap()).unwrap());
        let ours: Vec<u64> = schedule
            .opportunities()
            .take(log.opportunities.len())
            .map(|at| log.base + u64::try_from(at.as_millis()).unwrap())
            .collect();
        assert!(ours == log.opportunities, "{}", path.display());
    }
}
