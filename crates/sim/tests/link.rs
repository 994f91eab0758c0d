//! Promises of a link and a path, for any packets.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

use std::time::Duration;

use proptest::prelude::*;
use sounding_sim::{
    Aqm, Backlog, Carried, DropFrom, Link, LinkEvent, Losses, Order, Output, Path, PathConfig,
    Pipe, QueueLimit,
};
use sounding_trace::{Schedule, Steps, Trace};
use sounding_units::{Bytes, HostInstant, Rate};

const FULL: Bytes = Bytes::new(1500);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn micros(micros: u64) -> HostInstant {
    HostInstant::from_nanos(micros * 1_000)
}

fn trace(millis: &[u32]) -> Schedule {
    Trace::from_millis(millis.to_vec()).unwrap().into()
}

fn mbit(mbit: u64) -> Schedule {
    Rate::from_bits_per_sec(mbit * 1_000_000).into()
}

fn link(schedule: &Schedule, limit: QueueLimit) -> Link<u32> {
    Link::new(schedule, limit, HostInstant::default())
}

/// Which packets departed, and at which microsecond.
fn departures(link: &mut Link<u32>) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| link.poll_departure())
        .map(|departure| (departure.payload, departure.at.as_nanos() / 1_000))
        .collect()
}

fn drops(link: &mut Link<u32>) -> Vec<u32> {
    std::iter::from_fn(|| link.poll_drop()).map(|drop| drop.payload).collect()
}

#[test]
fn a_packet_never_uses_an_opportunity_of_its_own_millisecond() {
    let mut link = link(&trace(&[5, 6]), QueueLimit::INFINITE);
    link.handle_packet(micros(5_000), FULL, 0);
    link.handle_time(micros(20_000));
    assert_eq!(departures(&mut link), [(0, 6_000)]);
}

#[test]
fn an_opportunity_finishes_one_packet_and_begins_the_next() {
    let mut link = link(&trace(&[1, 2, 3, 4]), QueueLimit::INFINITE);
    for packet in 0..3 {
        // 1004 bytes with the header: two thirds of an opportunity.
        link.handle_packet(micros(0), Bytes::new(1000), packet);
    }
    link.handle_time(micros(4_000));
    assert_eq!(departures(&mut link), [(0, 1_000), (1, 2_000), (2, 3_000)]);
}

#[test]
fn what_an_opportunity_does_not_use_is_lost() {
    let mut link = link(&trace(&[1, 2, 3]), QueueLimit::INFINITE);
    link.handle_packet(micros(0), Bytes::new(40), 0);
    link.handle_time(micros(1_000));
    link.handle_packet(micros(1_100), FULL, 1);
    link.handle_time(micros(3_000));
    assert_eq!(departures(&mut link), [(0, 1_000), (1, 2_000)]);
}

#[test]
fn opportunities_during_an_idle_hour_are_lost() {
    let mut link = link(&trace(&[0, 0, 700]), QueueLimit::INFINITE);
    let hour = 3_600_000_000;
    link.handle_packet(micros(hour), FULL, 0);
    assert_eq!(link.wakeup(), Some(micros(hour + 100_000)));
}

#[test]
fn a_packet_larger_than_an_opportunity_takes_two() {
    let mut link = link(&trace(&[1]), QueueLimit::INFINITE);
    link.handle_packet(micros(0), Bytes::new(3004), 0);
    link.handle_time(micros(10_000));
    assert_eq!(departures(&mut link), [(0, 2_000)]);
}

#[test]
fn a_trace_played_once_leaves_the_rest_in_the_queue() {
    let mut link = link(&trace(&[1, 2]), QueueLimit::INFINITE).once(true);
    for packet in 0..3 {
        link.handle_packet(micros(0), FULL, packet);
    }
    link.handle_time(micros(10_000));
    assert_eq!(departures(&mut link), [(0, 1_000), (1, 2_000)]);
    assert!(link.is_finished() && link.queue().packets == 1 && link.wakeup().is_none());
}

#[test]
fn a_full_queue_drops_the_packet_that_arrives() {
    let mut link = link(&trace(&[9]), QueueLimit::packets(2));
    for packet in 0..4 {
        link.handle_packet(micros(0), FULL, packet);
    }
    assert_eq!(drops(&mut link), [2, 3]);
}

#[test]
fn a_full_queue_that_drops_from_the_head_keeps_the_newest() {
    let limit = QueueLimit { drop: DropFrom::Head, ..QueueLimit::packets(2) };
    let mut link = link(&trace(&[9]), limit);
    for packet in 0..4 {
        link.handle_packet(micros(0), FULL, packet);
    }
    assert_eq!(drops(&mut link), [0, 1]);
}

#[test]
fn a_queue_of_bytes_counts_the_header_of_the_tun_device() {
    let mut link = link(&trace(&[9]), QueueLimit::bytes(Bytes::new(3007)));
    link.handle_packet(micros(0), FULL, 0);
    link.handle_packet(micros(0), FULL, 1);
    assert_eq!(drops(&mut link), [1]);
}

#[test]
fn a_packet_in_service_does_not_fill_the_queue() {
    let mut link = link(&mbit(12), QueueLimit::packets(1));
    for packet in 0..3 {
        link.handle_packet(micros(0), FULL, packet);
    }
    assert_eq!(drops(&mut link), [2]);
}

#[test]
fn a_rate_spaces_packets_to_the_nanosecond() {
    let mut link = link(&mbit(1200), QueueLimit::INFINITE);
    link.handle_packet(micros(0), FULL, 0);
    link.handle_packet(micros(0), FULL, 1);
    link.handle_packet(micros(100), FULL, 2);
    link.handle_time(micros(200));
    assert_eq!(departures(&mut link), [(0, 10), (1, 20), (2, 110)]);
}

#[test]
fn packets_wait_for_the_end_of_an_outage() {
    let steps: Steps = "0s 12Mbit, 1ms 0bit, 3s 12Mbit".parse().unwrap();
    let mut link = link(&steps.into(), QueueLimit::INFINITE);
    link.handle_packet(micros(500), FULL, 0);
    assert_eq!(link.wakeup(), Some(micros(3_000_500)));
}

fn path(schedule: Schedule, order: Order) -> Path<u32> {
    let config = PathConfig { delay: Duration::from_millis(20), ..PathConfig::new(schedule) };
    Path::new(&config, order, HostInstant::default())
}

fn carried(path: &mut Path<u32>) -> Vec<Carried<u32>> {
    std::iter::from_fn(|| path.poll_output())
        .map(|output| match output {
            Output::Carried(carried) => carried,
            Output::Lost(lost) => panic!("packet {} was lost", lost.payload),
        })
        .collect()
}

#[test]
fn the_uplink_waits_for_the_link_and_then_travels() {
    let mut path = path(mbit(12), Order::LinkThenDelay);
    path.handle_packet(micros(0), FULL, 0);
    path.handle_packet(micros(0), FULL, 1);
    path.handle_time(micros(30_000));
    let exits: Vec<_> = carried(&mut path).iter().map(|out| out.exits).collect();
    assert_eq!(exits, [micros(21_000), micros(22_000)]);
}

#[test]
fn the_downlink_travels_and_then_waits_for_the_link() {
    let mut path = path(mbit(12), Order::DelayThenLink);
    path.handle_packet(micros(0), FULL, 0);
    assert!(path.wakeup() > Some(micros(20_900)), "{:?}", path.wakeup());
    // A driver that is late by ten milliseconds gets the same result.
    path.handle_time(micros(30_000));
    let out = carried(&mut path)[0];
    assert_eq!((out.joined, out.exits), (micros(20_000), micros(21_000)));
}

#[test]
fn the_end_of_a_trace_played_once_is_reported_without_a_packet() {
    let config = PathConfig { once: true, ..PathConfig::new(trace(&[1, 200])) };
    let mut path: Path<u32> = Path::new(&config, Order::LinkThenDelay, HostInstant::default());
    let end = path.wakeup().unwrap();
    path.handle_time(end);
    assert!(path.is_finished(end) && path.wakeup().is_none());
}

/// Anything a driver may do to a path.
#[derive(Clone, Debug)]
enum Operation {
    Packet { after_us: u64, size: u64 },
    Time { after_us: u64 },
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let packet = (0..3_000_u64, 20..1501_u64)
        .prop_map(|(after_us, size)| Operation::Packet { after_us, size });
    let time = (0..50_000_u64).prop_map(|after_us| Operation::Time { after_us });
    proptest::collection::vec(prop_oneof![4 => packet, 1 => time], 1..200)
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let traces = proptest::collection::vec(0..40_u32, 1..40).prop_map(|mut millis| {
        millis.sort_unstable();
        millis.push(41);
        trace(&millis)
    });
    let steps = (1..50_000_u64, 0..50_000_000_u64, 1..50_000_000_u64).prop_map(|(at, a, b)| {
        let text = format!("0s {a}bit, {at}us 0bit, {}us {b}bit", at + 5_000);
        Schedule::from(text.parse::<Steps>().unwrap())
    });
    prop_oneof![traces, steps]
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    let drop = prop_oneof![Just(DropFrom::Tail), Just(DropFrom::Head)];
    let aqm = prop_oneof![
        2 => Just(Aqm::None),
        1 => Just(Aqm::CoDel { target: millis(1), interval: millis(3) }),
        1 => Just(Aqm::Pie { reference: millis(1), max_burst: millis(20) }),
    ];
    (proptest::option::of(0..20_u64), proptest::option::of(0..20_000_u64), drop, aqm).prop_map(
        |(packets, bytes, drop, aqm)| QueueLimit {
            packets,
            bytes: bytes.map(Bytes::new),
            drop,
            aqm,
        },
    )
}

proptest! {
    #[test]
    fn nothing_is_invented_and_nothing_vanishes(
        operations in operations(),
        schedule in schedules(),
        queue in limits(),
        uplink: bool,
        poll_each: bool,
    ) {
        let order = if uplink { Order::LinkThenDelay } else { Order::DelayThenLink };
        let config = PathConfig { queue, delay: Duration::from_micros(3_300), ..PathConfig::new(schedule) };
        let mut path = Path::new(&config, order, HostInstant::default());
        let (mut now, mut arrived, mut delivered, mut dropped) = (0, (0, 0), (0, 0), (0, 0));
        let mut last = HostInstant::default();
        for (index, operation) in operations.into_iter().enumerate() {
            match operation {
                Operation::Packet { after_us, size } => {
                    now += after_us;
                    arrived = (arrived.0 + 1, arrived.1 + size);
                    path.handle_packet(micros(now), Bytes::new(size), index);
                }
                Operation::Time { after_us } => {
                    now += after_us;
                    path.handle_time(micros(now));
                }
            }
            while poll_each && let Some(output) = path.poll_output() {
                match output {
                    Output::Carried(out) => {
                        delivered = (delivered.0 + 1, delivered.1 + out.size.count());
                        prop_assert!(out.exits >= last && out.exits <= micros(now));
                        prop_assert!(out.entered <= out.joined && out.joined <= out.left && out.left <= out.exits);
                        last = out.exits;
                    }
                    Output::Lost(lost) => dropped = (dropped.0 + 1, dropped.1 + lost.size.count()),
                }
            }
            let inside = path.backlog();
            prop_assert_eq!(arrived.0, delivered.0 + dropped.0 + inside.packets);
            prop_assert_eq!(arrived.1, delivered.1 + dropped.1 + inside.bytes.count());
        }
    }

    #[test]
    fn the_link_alone_conserves_packets_too(operations in operations(), schedule in schedules(), queue in limits()) {
        let mut link = Link::new(&schedule, queue, HostInstant::default());
        let (mut now, mut arrived) = (0, 0);
        for operation in operations {
            match operation {
                Operation::Packet { after_us, size } => {
                    now += after_us;
                    arrived += 1;
                    link.handle_packet(micros(now), Bytes::new(size), ());
                }
                Operation::Time { after_us } => {
                    now += after_us;
                    link.handle_time(micros(now));
                }
            }
            prop_assert_eq!(link.backlog().packets, arrived);
        }
    }

    #[test]
    fn nothing_comes_out_before_the_wakeup_and_everything_at_one(
        operations in operations(),
        schedule in schedules(),
        uplink: bool,
    ) {
        let order = if uplink { Order::LinkThenDelay } else { Order::DelayThenLink };
        let config = PathConfig { delay: Duration::from_micros(3_300), ..PathConfig::new(schedule) };
        let mut path = Path::new(&config, order, HostInstant::default());
        let (mut now, mut arrived, mut exits) = (0, 0, Vec::new());
        let mut follow = |path: &mut Path<usize>, until: HostInstant| {
            while let Some(due) = path.wakeup().filter(|&due| due <= until) {
                path.handle_time(due);
                let mut out = 0;
                while let Some(output) = path.poll_output() {
                    let Output::Carried(carried) = output else { continue };
                    // A wake-up may be for nothing, but nothing may have waited for one.
                    prop_assert_eq!(carried.exits, due);
                    out += 1;
                }
                exits.push(out);
            }
            Ok(())
        };
        for operation in operations {
            let (after_us, size) = match operation {
                Operation::Packet { after_us, size } => (after_us, Some(size)),
                Operation::Time { after_us } => (after_us, None),
            };
            now += after_us;
            follow(&mut path, micros(now))?;
            if let Some(size) = size {
                path.handle_packet(micros(now), Bytes::new(size), arrived);
                arrived += 1;
            }
        }
        // One bit a second takes weeks.
        follow(&mut path, micros(now + 10_000_000_000_000))?;
        prop_assert_eq!(exits.iter().sum::<usize>(), arrived);
    }

    #[test]
    fn being_called_late_changes_no_departure_and_no_drop(
        operations in operations(),
        schedule in schedules(),
        queue in limits(),
    ) {
        let mut punctual = Link::new(&schedule, queue, HostInstant::default());
        let mut late = Link::new(&schedule, queue, HostInstant::default());
        let mut now = 0;
        for (index, operation) in operations.into_iter().enumerate() {
            let (after_us, size) = match operation {
                Operation::Packet { after_us, size } => (after_us, Some(size)),
                Operation::Time { after_us } => (after_us, None),
            };
            now += after_us;
            while let Some(due) = punctual.wakeup().filter(|&due| due <= micros(now)) {
                punctual.handle_time(due);
            }
            if let Some(size) = size {
                punctual.handle_packet(micros(now), Bytes::new(size), index);
                late.handle_packet(micros(now), Bytes::new(size), index);
            }
        }
        punctual.handle_time(micros(now + 1_000_000));
        late.handle_time(micros(now + 1_000_000));
        loop {
            let (punctual, late) = (punctual.poll_departure(), late.poll_departure());
            prop_assert_eq!(punctual, late);
            if late.is_none() {
                break;
            }
        }
        loop {
            let (punctual, late) = (punctual.poll_drop(), late.poll_drop());
            prop_assert_eq!(punctual, late);
            if late.is_none() {
                break;
            }
        }
    }
}

/// The packets that a path loses of one each millisecond, and the events of its link.
fn losses(config: &PathConfig, order: Order) -> (Vec<u64>, Vec<LinkEvent>) {
    let mut path = Path::new(config, order, HostInstant::default()).logged();
    let (mut lost, mut carried, mut events) = (Vec::new(), 0, Vec::new());
    for millis in 0..1_100 {
        path.handle_time(micros(millis * 1_000));
        if millis < 1_000 {
            path.handle_packet(micros(millis * 1_000), Bytes::new(100), millis);
        }
        while let Some(output) = path.poll_output() {
            match output {
                Output::Carried(_) => carried += 1,
                Output::Lost(packet) => {
                    assert_eq!(
                        (packet.entered, packet.dropped),
                        (micros(millis * 1_000), packet.entered)
                    );
                    lost.push(packet.payload);
                }
            }
        }
    }
    assert_eq!(carried + lost.len(), 1_000);
    assert_eq!(path.backlog(), Backlog::default());
    path.drain_events(&mut events);
    (lost, events)
}

#[test]
fn losses_are_at_the_entry_of_a_path_and_no_event_of_its_link() {
    let config = PathConfig {
        losses: Losses::Share(0.5),
        seed: 1,
        delay: millis(20),
        ..PathConfig::new(mbit(1000))
    };
    let other = PathConfig { seed: 2, ..config.clone() };
    let (up, events) = losses(&config, Order::LinkThenDelay);
    assert!((430..570).contains(&up.len()), "{}", up.len());
    let arrived = |event: &&LinkEvent| matches!(event, LinkEvent::Arrived { .. });
    assert_eq!(events.iter().filter(arrived).count(), 1_000 - up.len());
    assert!(!events.iter().any(|event| matches!(event, LinkEvent::Dropped { .. })));
    assert_eq!(losses(&config, Order::DelayThenLink).0, up, "the seed alone decides");
    assert_ne!(losses(&other, Order::LinkThenDelay).0, up);
}

#[test]
fn codel_and_pie_keep_the_delay_of_an_overloaded_link_short() {
    let delay = |queue| {
        // 13 Mbit/s over 12 Mbit/s, for ten seconds.
        let mut link = Link::new(&mbit(12), queue, HostInstant::default());
        let mut longest_of_late = Duration::ZERO;
        for number in 0..10_833_u64 {
            link.handle_packet(micros(number * 923), FULL, ());
            while let Some(departure) = link.poll_departure() {
                if departure.at > micros(8_000_000) {
                    longest_of_late = longest_of_late.max(departure.at - departure.arrival);
                }
            }
        }
        longest_of_late
    };
    let infinite = delay(QueueLimit::INFINITE);
    assert!(infinite > millis(700), "{infinite:?}");
    for aqm in [Aqm::CODEL, Aqm::PIE] {
        let managed = delay(QueueLimit::managed(aqm));
        assert!(managed < millis(100), "{aqm:?}: {managed:?}");
    }
}
