//! Every controller keeps its promises for any order of events, plausible or not.

use std::time::Duration;

use proptest::prelude::*;
use sounding_baselines::Maker;
use sounding_cc::parameter::{Kind, Value};
use sounding_cc::{Ack, Choice, Delivered, Departure, Loss, Recovery, Start};
use sounding_estimate::{Bound, LinkEstimate, State};
use sounding_kpi::Direction;
use sounding_laws::{Phase, RadioController};
use sounding_units::{Bytes, HostInstant, Rate};

#[derive(Clone, Debug)]
enum Event {
    Pass(u64),
    Sent(Departure, u64),
    Delivered(Departure, u64),
    Ack(Box<Ack>),
    Loss(Departure, bool),
    Timeout,
    Spurious,
    Estimate { bits: u64, age_ms: u64, served: bool, silent: bool, flows: u32 },
    Time,
}

/// Controllers whose window is one segment at times although no timer fired.
const ONE_SEGMENT: [&str; 4] = ["lp", "bbr", "bbr-gandalf", "biscay"];

/// Mostly plausible numbers, sometimes any number.
fn number(plausible: u64) -> impl Strategy<Value = u64> {
    prop_oneof![12 => 0..=plausible, 1 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)]
}

fn departure() -> impl Strategy<Value = Departure> {
    (
        number(1 << 34),
        number(1 << 24),
        number(1 << 34),
        number(1 << 20),
        number(1 << 22),
        any::<bool>(),
    )
        .prop_map(|(at, delivered, delivered_at, lost, in_flight, app_limited)| Departure {
            at: HostInstant::from_nanos(at),
            delivered: Bytes::new(delivered),
            delivered_at: HostInstant::from_nanos(delivered_at),
            first_sent_at: HostInstant::from_nanos(delivered_at),
            lost: Bytes::new(lost),
            in_flight: Bytes::new(in_flight),
            app_limited,
        })
}

fn ack() -> impl Strategy<Value = Ack> {
    let recovery = prop_oneof![3 => Just(Recovery::None), 1 => Just(Recovery::Fast), 1 => Just(Recovery::Timeout)];
    (
        (number(1 << 14), number(1 << 12), number(1 << 24), number(1 << 20), number(1 << 22)),
        (proptest::option::of(number(1 << 30)), proptest::option::of(number(1 << 30))),
        (any::<bool>(), any::<bool>(), recovery, departure()),
    )
        .prop_map(|(counts, samples, (ce, cwnd_limited, recovery, sent))| {
            let (acked, newly_lost, delivered, lost, in_flight) = counts;
            let (rtt, rate) = samples;
            Ack {
                acked: Bytes::new(acked),
                newly_lost: Bytes::new(newly_lost),
                rtt: rtt.map(Duration::from_nanos),
                one_way: rtt.map(|rtt| Duration::from_nanos(rtt / 2)),
                rate: rate.map(Rate::from_bits_per_sec),
                delivered: Bytes::new(delivered),
                lost: Bytes::new(lost),
                prior_in_flight: Bytes::new(in_flight) + Bytes::new(acked),
                in_flight: Bytes::new(in_flight),
                ce: Bytes::new(if ce { acked } else { 0 }),
                cwnd_limited,
                recovery,
                sent,
                ..Ack::default()
            }
        })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => number(300_000_000).prop_map(Event::Pass),
        3 => (departure(), number(1448)).prop_map(|(sent, size)| Event::Sent(sent, size)),
        4 => (departure(), number(1448)).prop_map(|(sent, size)| Event::Delivered(sent, size)),
        8 => ack().prop_map(|ack| Event::Ack(Box::new(ack))),
        2 => (departure(), any::<bool>()).prop_map(|(sent, begins)| Event::Loss(sent, begins)),
        1 => Just(Event::Timeout),
        1 => Just(Event::Spurious),
        3 => (number(100_000_000), number(400), any::<bool>(), any::<bool>(), 0..9_u32).prop_map(
            |(bits, age_ms, served, silent, flows)| Event::Estimate { bits, age_ms, served, silent, flows }
        ),
        1 => Just(Event::Time),
    ]
}

fn estimate(bits: u64, age_ms: u64, served: bool, silent: bool) -> LinkEstimate {
    let bound = if served { Bound::Floor } else { Bound::Capacity };
    LinkEstimate::new(Direction::Uplink, Rate::from_bits_per_sec(bits), bound)
        .with_age(Duration::from_millis(age_ms))
        .with_state(if silent { State::Stale } else { State::Active })
}

/// Every controller with its published parameters, and with each parameter at both ends of its
/// range.
fn choices() -> Vec<(Choice, Maker)> {
    let mut choices: Vec<Choice> = sounding_baselines::names().map(Choice::plain).collect();
    for name in sounding_baselines::names() {
        for parameter in sounding_baselines::parameters(name) {
            let ends = match parameter.kind {
                Kind::Number { least, most, .. } => [least, most].map(Value::Number),
                Kind::Count { least, most, .. } => [least, most].map(Value::Count),
                Kind::Time { least, most, .. } => [least, most].map(Value::Time),
                Kind::Word { words, .. } => [words[0], words[words.len() - 1]].map(Value::Word),
            };
            let stated = ends.map(|end| (parameter.name.to_owned(), end.to_string()));
            choices.extend(stated.map(|stated| Choice::plain(name).with([stated])));
        }
    }
    // Ends that do not go with another parameter's default cannot be made.
    let made = choices.into_iter().filter_map(|choice| {
        let make = sounding_baselines::make(&choice).ok()?;
        Some((choice, make))
    });
    made.collect()
}

proptest! {
    #[test]
    fn a_window_is_never_closed_nor_a_flow_stopped(
        events in proptest::collection::vec(event(), 1..200),
        seed: u64,
        rtt in proptest::option::of(0..1_000_u64),
    ) {
        for (choice, make) in choices() {
            let name = choice.name();
            let mut now = HostInstant::default();
            let start = Start::tcp(now, rtt.map(Duration::from_millis), seed);
            let mut controller = make(&start);
            // A window of one segment is possible after a timeout, in TCP-LP after a second sign of
            // other flows, and in packet conservation.
            let mut least = if ONE_SEGMENT.contains(&name) { 1 } else { 2 };
            for event in &events {
                match event {
                    Event::Pass(nanos) => now = now + Duration::from_nanos(*nanos),
                    Event::Sent(sent, size) => {
                        controller.handle_sent(&Departure { at: now, ..*sent }, Bytes::new(*size));
                    }
                    Event::Delivered(sent, size) => controller.handle_delivered(&Delivered {
                        now,
                        size: Bytes::new(*size),
                        sent: *sent,
                    }),
                    Event::Ack(ack) => controller.handle_ack(&Ack { now, ..**ack }),
                    Event::Loss(sent, begins_recovery) => controller.handle_loss(&Loss {
                        now,
                        size: start.mss,
                        in_flight: sent.in_flight,
                        sent: *sent,
                        begins_recovery: *begins_recovery,
                    }),
                    Event::Timeout => {
                        least = 1;
                        controller.handle_timeout(now);
                    }
                    Event::Spurious => controller.handle_spurious_timeout(now),
                    Event::Estimate { bits, age_ms, served, silent, flows } => {
                        let estimate = estimate(*bits, *age_ms, *served, *silent);
                        controller.handle_estimate(now, &estimate, *flows);
                    }
                    Event::Time => controller.handle_time(now),
                }
                let window = controller.cwnd().count() / start.mss.count();
                prop_assert!(window >= least, "{}: {:?}", choice, controller);
                let rate = controller.pacing_rate();
                prop_assert!(rate != Some(Rate::ZERO), "{}: {:?}", choice, controller);
                if let Some(known) = RadioController::by_name(choice.name()) {
                    let phase = Phase::by_name(controller.state()).unwrap();
                    prop_assert!(known.law.phases().contains(&phase), "{}: {}", choice, phase);
                }
            }
        }
    }
}
