//! Measurements of a log, by the definitions of its own tools.
//!
//! * mm-link: bytes are those of IP, without the 4 of a TUN header. Time runs from the arrival of
//!   the first packet that counts to the end of the window, or to the last departure; packets that
//!   left in it count. Throughput and capacity are over that time; delays are those of the queue,
//!   in whole milliseconds, with mm-delay's beside it one way if the log says how much that was. A
//!   percentile is the value at the rank rounded down, as in mm-throughput-graph.
//! * Pantheon: throughput is the bytes that left ÷ the time from the first departure to the last.
//!   The delay is that of the whole path. Loss is 1 − bytes that left ÷ bytes that arrived, so
//!   packets in flight at the end count as lost. Capacity is over the time from the first
//!   opportunity to the last. A percentile is the value at the nearest rank, as in numpy's
//!   `nearest`.

use std::time::Duration;

use sounding_trace::log::{Source, TUN_HEADER};
use sounding_units::Bytes;

use super::log::{Packets, Recorded};
use crate::simulate::{Delays, FlowOutcome, Pantheon};

/// Which packets of a log count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Packets that left within this time after the first arrival; `None` means all.
    pub window: Option<Duration>,
    /// Packets of at least this many bytes of IP.
    pub least: Bytes,
}

/// The flows of a log with their numbers in it; flows without a counted packet are left out.
pub fn measure(recorded: &Recorded, question: &Question) -> Vec<(u32, FlowOutcome)> {
    let source = recorded.source();
    let header = match source {
        Source::MmLink => TUN_HEADER,
        Source::Pantheon => Bytes::ZERO,
    };
    let mut flows = Vec::new();
    for (&number, packets) in &recorded.flows {
        let Some(counted) = Counted::of(packets, question, header) else { continue };
        let measured = match source {
            Source::MmLink => mm_link(recorded, &counted),
            Source::Pantheon => pantheon(recorded, &counted, question),
        };
        let name = if number == 0 { "data".into() } else { format!("flow {number}") };
        let direction = match recorded.up {
            Some(true) => "up",
            Some(false) => "down",
            None => "",
        };
        let flow = FlowOutcome {
            flow: flows.len(),
            plan: flows.len(),
            name,
            device: source.name().into(),
            direction: direction.into(),
            traffic: "logged".into(),
            sent: Some(counted.arrived.0),
            arrived: Some(counted.delays.len() as u64),
            ..measured
        };
        flows.push((number, flow));
    }
    flows
}

/// The packets of a flow that count.
struct Counted {
    from: Duration,
    until: Duration,
    /// The first departure and the last.
    departures: (Duration, Duration),
    /// Packets and bytes that came.
    arrived: (u64, Bytes),
    /// Bytes that left.
    departed: Bytes,
    /// Delay of each packet that left, in nanoseconds, sorted.
    delays: Vec<u64>,
}

impl Counted {
    fn of(packets: &Packets, question: &Question, header: Bytes) -> Option<Self> {
        let size = |logged: Bytes| logged.saturating_sub(header);
        let counts = |logged: Bytes| size(logged) >= question.least;
        let data = || packets.departed.iter().filter(|&&(_, size, _)| counts(size));
        let from = data().map(|&(at, _, delay)| at.saturating_sub(delay)).min()?;
        let last = data().map(|&(at, ..)| at).max()?;
        let until = question.window.map_or(last, |window| from.saturating_add(window));
        let left = || data().filter(|&&(at, ..)| at <= until);
        let first = left().map(|&(at, ..)| at).min()?;
        let mut delays: Vec<u64> = left().map(|&(_, _, delay)| nanos(delay)).collect();
        delays.sort_unstable();
        // Pantheon also counts packets that arrived after the last departure: they did not leave.
        let inside = |at| question.window.is_none() || (at >= from && at <= until);
        let came = packets.arrived.iter();
        let came = came.filter(|&&(at, logged)| inside(at) && counts(logged));
        let arrived = came.fold((0, Bytes::ZERO), |(count, bytes), &(_, logged)| {
            (count + 1, bytes + size(logged))
        });
        Some(Self {
            from,
            until,
            departures: (first, last.min(until)),
            arrived,
            departed: left().map(|&(_, logged, _)| size(logged)).sum(),
            delays,
        })
    }

    fn within(&self, at: Duration) -> bool {
        at >= self.from && at <= self.until
    }
}

fn mm_link(recorded: &Recorded, counted: &Counted) -> FlowOutcome {
    let span = counted.until - counted.from;
    let opportunities = recorded.opportunities.iter().filter(|&&(at, _)| counted.within(at));
    let capacity: Bytes = opportunities.map(|&(_, size)| size.saturating_sub(TUN_HEADER)).sum();
    let dropped: u64 = recorded
        .dropped
        .iter()
        .filter(|&&(at, _)| counted.within(at))
        .map(|&(_, count)| count)
        .sum();
    let queueing = delays(&counted.delays, |count, percent| (count * percent / 100).min(count - 1));
    let behind = recorded.delay.map(|delay| delay.as_secs_f64() * 1e3);
    let through = counted.delays.len() as u64 + dropped;
    let throughput_mbit_per_sec = mbit(counted.departed, span);
    let one_way_ms = behind.map(|behind| Delays {
        mean: queueing.mean + behind,
        p50: queueing.p50 + behind,
        p95: queueing.p95 + behind,
        p99: queueing.p99 + behind,
        max: queueing.max + behind,
    });
    FlowOutcome {
        throughput_mbit_per_sec,
        capacity_mbit_per_sec: (capacity > Bytes::ZERO).then(|| mbit(capacity, span)),
        utilisation: (capacity > Bytes::ZERO)
            .then(|| counted.departed.count() as f64 / capacity.count() as f64),
        queueing_ms: Some(queueing),
        one_way_ms,
        power_mbit_per_sec_per_sec: power(throughput_mbit_per_sec, one_way_ms),
        pantheon: as_pantheon(counted, one_way_ms),
        loss: dropped as f64 / through as f64,
        dropped: Some(dropped),
        ..FlowOutcome::default()
    }
}

fn pantheon(recorded: &Recorded, counted: &Counted, question: &Question) -> FlowOutcome {
    let (first, last) = counted.departures;
    let throughput_mbit_per_sec = mbit(counted.departed, last - first);
    let counts = |at: Duration| question.window.is_none() || counted.within(at);
    let opportunities: Vec<_> =
        recorded.opportunities.iter().filter(|&&(at, _)| counts(at)).collect();
    let capacity = match (opportunities.first(), opportunities.last()) {
        (Some((first, _)), Some((last, _))) => {
            mbit(opportunities.iter().map(|(_, size)| *size).sum(), last.saturating_sub(*first))
        }
        _ => 0.0,
    };
    let (packets, _) = counted.arrived;
    let one_way_ms = Some(delays(&counted.delays, |count, percent| {
        ((count - 1) as f64 * percent as f64 / 100.0).round_ties_even() as usize
    }));
    let pantheon = as_pantheon(counted, one_way_ms);
    FlowOutcome {
        throughput_mbit_per_sec,
        capacity_mbit_per_sec: (capacity > 0.0).then_some(capacity),
        utilisation: (capacity > 0.0).then(|| throughput_mbit_per_sec / capacity),
        one_way_ms,
        power_mbit_per_sec_per_sec: power(throughput_mbit_per_sec, one_way_ms),
        loss: pantheon.loss,
        pantheon,
        dropped: Some(packets.saturating_sub(counted.delays.len() as u64)),
        ..FlowOutcome::default()
    }
}

/// The same for any log.
fn as_pantheon(counted: &Counted, one_way_ms: Option<Delays>) -> Pantheon {
    let (first, last) = counted.departures;
    let (_, came) = counted.arrived;
    let lost = 1.0 - counted.departed.count() as f64 / came.count() as f64;
    Pantheon {
        throughput_mbit_per_sec: (last > first).then(|| mbit(counted.departed, last - first)),
        delay_p95_ms: one_way_ms.map(|delays| delays.p95),
        // Unknown without an arrival.
        loss: if came == Bytes::ZERO { 0.0 } else { lost },
    }
}

fn power(throughput: f64, one_way_ms: Option<Delays>) -> Option<f64> {
    let p95 = one_way_ms.map(|delays| delays.p95).filter(|&p95| p95 > 0.0);
    p95.map(|p95| throughput / (p95 / 1e3))
}

/// Delays of at least one sorted value in nanoseconds. `rank` gives the index of a percentage.
fn delays(sorted: &[u64], rank: impl Fn(usize, usize) -> usize) -> Delays {
    let ms = |nanos: u64| nanos as f64 / 1e6;
    let at = |percent: usize| ms(sorted[rank(sorted.len(), percent)]);
    let total: u128 = sorted.iter().map(|&nanos| u128::from(nanos)).sum();
    Delays {
        mean: total as f64 / sorted.len() as f64 / 1e6,
        p50: at(50),
        p95: at(95),
        p99: at(99),
        max: sorted.last().map_or(0.0, |&nanos| ms(nanos)),
    }
}

/// Zero over no time, as Pantheon has it.
fn mbit(bytes: Bytes, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { bytes.count() as f64 * 8.0 / 1e6 / span.as_secs_f64() }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
