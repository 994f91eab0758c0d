//! One run, and the references for it.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use sounding_cc::{Choice, Controller, Start};
use sounding_cell::config::InvalidConfig;
use sounding_experiment::metrics::{jain, nearest_rank};
use sounding_experiment::observe::{Arrival, Packets, Sink};
use sounding_sim::held::{Fixed, Held};
use sounding_sim::world::{Event, Flow, Listening};
use sounding_units::{Bytes, HostInstant, Rate};

use super::contender::{Contender, Knows};
use super::late::{BEARABLE, HEADERS, Late, Told};
use super::scenario::{Case, FREED, GOES, Kind, Scenario, WIRE};

/// More than the BDP of any of these links, and less than RLC's queue of 2 MB, so that no packet is
/// dropped.
pub(super) const FLOOD: Bytes = Bytes::new(1_800_000);
/// One packet in 40 ms, which leaves the link empty.
const LIGHT: Rate = Rate::from_bits_per_sec(300_000);
/// Until then flows begin.
pub(super) const BEGUN: Duration = Duration::from_secs(2);
/// Window of the fairness index.
const SHORT: Duration = Duration::from_millis(500);

/// The possibilities of a link with the same seed: the yardstick, which only the oracle knows.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) scenario: Scenario,
    span: Duration,
    /// Arrivals of a saturating flow.
    pub(super) full: Vec<Arrival>,
    /// Payload that the radio had sent of it by each time.
    carried: Arc<[(HostInstant, u64)]>,
    /// One-way delays of a flow without a queue of its own: the minimum, and the 95th percentile.
    least: Duration,
    empty_p95_ms: f64,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Score {
    /// Throughput of all flows ÷ throughput of a saturating flow, from 2 s on; for a climb or a
    /// handover from its end on.
    pub share: f64,
    /// The 95th percentile of one-way delays, and that of the same link while it is empty, ms.
    pub p95_ms: f64,
    /// See [`p95_ms`](Self::p95_ms).
    pub empty_p95_ms: f64,
    /// The 95th percentile of what packets waited until they had been sent once, and of what
    /// repetitions and the order of packets took after that, ms.
    pub queueing_p95_ms: f64,
    /// See [`queueing_p95_ms`](Self::queueing_p95_ms).
    pub after_p95_ms: f64,
    /// Causes of late packets.
    pub late: Late,
    /// Round trips until 95 % of the capacity after a climb began, or 90 % after a handover was
    /// over; `None` of other cases, infinite if that never came.
    pub round_trips: Option<f64>,
    /// For several flows: the mean of Jain's index over windows of 500 ms.
    pub jain: Option<f64>,
    /// For several flows: the smallest throughput over an equal part.
    pub least: Option<f64>,
}

impl Score {
    /// The 95th percentile minus that of the empty link.
    pub fn over_ms(&self) -> f64 {
        self.p95_ms - self.empty_p95_ms
    }
}

impl Truth {
    pub(super) fn of(kind: Kind, case: Case, seed: u64) -> Result<Self, InvalidConfig> {
        Self::lasting(kind, case, seed, case.span())
    }

    /// The same over another span. A longer one than the case's goes on with other levels.
    pub(super) fn lasting(
        kind: Kind,
        case: Case,
        seed: u64,
        span: Duration,
    ) -> Result<Self, InvalidConfig> {
        let scenario = Scenario::of(kind, case, seed);
        let scenario = if span > case.span() { scenario.over(span) } else { scenario };
        let flood = Flow::bulk(kind.port(), |_| Box::new(Fixed(FLOOD)));
        let alone = Listening::new(kind.port());
        let full = run(&scenario, span, alone, vec![flood])?;
        let light = vec![Flow::datagrams(kind.port(), LIGHT)];
        let light = run(&scenario, span, alone, light)?;
        let mut empty: Vec<_> = within(&light, BEGUN, span).map(Arrival::delay).collect();
        empty.sort_unstable();
        let mut sent: Vec<_> = full.iter().map(|packet| (packet.left(), packet.size())).collect();
        sent.sort_unstable();
        let mut sum = 0;
        let carried = sent.into_iter().map(|(at, size)| {
            sum += size.saturating_sub(HEADERS);
            (HostInstant::default() + at, sum)
        });
        let carried = carried.collect();
        let least = empty.first().copied().unwrap_or_default();
        Ok(Self { scenario, span, full, carried, least, empty_p95_ms: p95_ms(&empty) })
    }

    /// The oracle's knowledge as one of `flows` flows.
    pub(super) fn knows(&self, flows: u64) -> Knows {
        let kind = self.scenario.kind;
        let carried = Arc::clone(&self.carried);
        Knows { carried, flows, lead: kind.lead(), late: kind.latency() }
    }

    /// Round-trip time of the idle path.
    fn rtt(&self) -> Duration {
        self.least + WIRE
    }
}

pub(super) fn within(
    arrivals: &[Arrival],
    from: Duration,
    to: Duration,
) -> impl Iterator<Item = &Arrival> {
    let first = arrivals.partition_point(|packet| packet.at() < from);
    arrivals[first..].iter().take_while(move |packet| packet.at() < to)
}

pub(super) fn bytes(arrivals: &[Arrival], from: Duration, to: Duration) -> f64 {
    within(arrivals, from, to).map(Arrival::size).sum::<u64>() as f64
}

/// The arrivals, in order.
pub(super) fn run(
    scenario: &Scenario,
    span: Duration,
    listening: Listening,
    flows: Vec<Flow>,
) -> Result<Vec<Arrival>, InvalidConfig> {
    let mut world = scenario.world()?;
    world.listen(Listening { latency: scenario.kind.latency(), ..listening });
    for flow in flows {
        world.add_flow(flow);
    }
    let mut packets = Packets::default();
    let mut see = |now: HostInstant, event: &Event<'_>| packets.handle_event(now, event);
    world.observe_until(HostInstant::default() + span, &mut see);
    Ok(packets.arrivals)
}

/// Makes a run of a case, and judges it.
pub(super) fn judge(
    truth: &Truth,
    case: Case,
    contender: &Contender,
) -> Result<Score, InvalidConfig> {
    let flows = flows(truth, case, contender);
    let count = flows.len();
    let listening = contender.listening(truth.scenario.kind.port());
    let arrivals = run(&truth.scenario, truth.span, listening, flows)?;
    let (measured, round_trips) = match case {
        Case::Climb => since(truth, &arrivals, FREED, 0.95, 10),
        Case::Handover => since(truth, &arrivals, back(&truth.full), 0.90, 5),
        _ => (BEGUN, None),
    };
    let p95_ms = |of: fn(&Arrival) -> Duration| {
        let mut values: Vec<_> = within(&arrivals, measured, truth.span).map(of).collect();
        values.sort_unstable();
        p95_ms(&values)
    };
    let limit = Duration::from_secs_f64(truth.empty_p95_ms / 1e3) + BEARABLE;
    let first = arrivals.partition_point(|packet| packet.at() < measured);
    let told = Told { span: listening.estimator.window, latency: truth.scenario.kind.latency() };
    let late = Late::of(&arrivals[first..], &truth.knows(1), &told, limit);
    let several = (count > 1).then(|| fairness(&arrivals, count, truth.span));
    Ok(Score {
        share: bytes(&arrivals, measured, truth.span)
            / bytes(&truth.full, measured, truth.span).max(1.0),
        p95_ms: p95_ms(Arrival::delay),
        queueing_p95_ms: p95_ms(Arrival::queueing),
        after_p95_ms: p95_ms(|packet| packet.at() - packet.left()),
        late,
        empty_p95_ms: truth.empty_p95_ms,
        round_trips,
        jain: several.map(|(jain, _)| jain),
        least: several.map(|(_, least)| least),
    })
}

fn flows(truth: &Truth, case: Case, contender: &Contender) -> Vec<Flow> {
    let port = truth.scenario.kind.port();
    let one = |flows: u64| Flow::bulk(port, contender.make(truth.knows(flows)));
    match case {
        Case::Still | Case::Alone | Case::Handover => vec![one(1)],
        Case::Two => vec![one(2), one(2)],
        Case::Three => vec![one(3), one(3), one(3)],
        Case::BesideCubic => {
            let cubic = Contender::Named(Choice::plain("cubic"));
            vec![one(2), Flow::bulk(port, cubic.make(truth.knows(2)))]
        }
        Case::Climb => {
            let capacity = bytes(&truth.full, FREED / 2, FREED) / (FREED / 2).as_secs_f64();
            let window = capacity * 0.05 * truth.rtt().as_secs_f64() / 1_500.0;
            let most = Bytes::new(window.round().max(1.0) as u64 * 1_448);
            let make = contender.make(truth.knows(1));
            vec![Flow::bulk(port, move |start: &Start| -> Box<dyn Controller> {
                let freed = HostInstant::default() + FREED;
                Box::new(Held::new(make(start), most, start.now, freed))
            })]
        }
    }
}

/// When the device is served again after a handover: after the longest pause that follows the
/// command.
fn back(full: &[Arrival]) -> Duration {
    const LONGEST: Duration = Duration::from_millis(500);
    let after = full.windows(2).filter(|pair| (GOES..GOES + LONGEST).contains(&pair[0].at()));
    let longest = after.max_by_key(|pair| pair[1].at() - pair[0].at());
    longest.map_or(GOES, |pair| pair[1].at())
}

/// When, after `from`, the throughput of an RTT reaches this part of the capacity, and the number
/// of RTTs until then. The measurement starts a few RTTs later, when the queue of the climb has
/// drained.
fn since(
    truth: &Truth,
    arrivals: &[Arrival],
    from: Duration,
    part: f64,
    settled: u32,
) -> (Duration, Option<f64>) {
    let rtt = truth.rtt();
    let step = Duration::from_millis(1);
    let latest = truth.span.saturating_sub(rtt);
    let mut at = from;
    while at < latest {
        let could = bytes(&truth.full, at, at + rtt);
        if could > 0.0 && bytes(arrivals, at, at + rtt) >= part * could {
            let rtts = (at + rtt - from).as_secs_f64() / rtt.as_secs_f64();
            return ((at + rtt * settled).min(truth.span - SHORT), Some(rtts));
        }
        at += step;
    }
    (truth.span - SHORT, Some(f64::INFINITY))
}

/// Mean of Jain's index over short windows, and the smallest ratio of a flow's throughput to an
/// equal part.
fn fairness(arrivals: &[Arrival], flows: usize, span: Duration) -> (f64, f64) {
    let shares = |from, to| {
        let mut shares = vec![0.0; flows];
        for packet in within(arrivals, from, to) {
            shares[packet.flow.0 as usize] += packet.size() as f64;
        }
        shares
    };
    let windows = ((span - BEGUN).as_nanos() / SHORT.as_nanos()) as u32;
    let jains =
        (0..windows).filter_map(|at| jain(&shares(BEGUN + SHORT * at, BEGUN + SHORT * (at + 1))));
    let jains: Vec<f64> = jains.collect();
    let all = shares(BEGUN, span);
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let equal = all.iter().sum::<f64>() / flows as f64;
    (jains.iter().sum::<f64>() / jains.len().max(1) as f64, least / equal.max(1.0))
}

/// Zero without values.
fn p95_ms(sorted: &[Duration]) -> f64 {
    if sorted.is_empty() { 0.0 } else { nearest_rank(sorted, 0.95).as_secs_f64() * 1e3 }
}
