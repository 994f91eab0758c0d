//! The modem's events against what the network did.

use std::time::Duration;

use sounding_experiment::metrics::sorted;
use sounding_kpi::Direction;
use sounding_link::{DelayKind, RanDelay};
use sounding_units::HostInstant;

use super::rig::{self, Observed};
use super::scene::Scene;
use super::{Figures, Kind, Made, Measure, Row, Short, mean, quantile};

/// Of retransmissions: how many were found, how many were not there, and by how much their length
/// is wrong. Of the wait for grants: by how much that of a packet is wrong. Of all: how late they
/// come.
pub(super) const COLUMNS: &[&str] = &[
    "recall %",
    "false %",
    "harq median ms",
    "harq p95 ms",
    "wait median ms",
    "wait p95 ms",
    "wait bias ms",
    "late median ms",
    "late p95 ms",
];

/// What is asked for.
const RECALL: f64 = 95.0;
const FALSE: f64 = 1.0;
const MEDIAN_MS: f64 = 1.0;
const P95_MS: f64 = 3.0;

/// Begins of the same event on both clocks.
const SAME: Duration = Duration::from_millis(3);
/// Events of the beginning and of the end may have parts that no record has.
const EDGE: Duration = Duration::from_millis(500);

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for scene in Scene::all() {
        for controller in ["copa", "bbr"] {
            let mut sets = scene.sets();
            sets.push(format!("flows.flow.controller={controller}"));
            kinds.push(Kind {
                name: format!("{}, {controller}", scene.name()),
                sets,
                measure: Measure::Run(measure),
            });
        }
    }
    kinds
}

/// A block that was sent more than once, as the network knows it: its first and its last
/// transmission.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    direction: Direction,
    from: HostInstant,
    to: HostInstant,
}

/// All of them that arrived in the end, and all.
fn repeated(observed: &Observed) -> [Vec<Repeated>; 2] {
    let mut first: std::collections::HashMap<(bool, u16, u8), HostInstant> = Default::default();
    let (mut arrived, mut all): (Vec<Repeated>, Vec<Repeated>) = Default::default();
    for block in &observed.blocks {
        let up = block.direction == Direction::Uplink;
        let key = (up, block.carrier, block.harq);
        if block.number == 0 {
            first.insert(key, block.at);
        } else if let Some(from) = first.get(&key).copied() {
            let repeated = Repeated { direction: block.direction, from, to: block.at };
            all.push(repeated);
            if block.arrived {
                first.remove(&key);
                arrived.push(repeated);
            }
        }
    }
    for of in [&mut arrived, &mut all] {
        of.sort_by_key(|repeated| repeated.from);
    }
    [arrived, all]
}

fn off(a: HostInstant, b: HostInstant) -> Duration {
    (a - b).max(b - a)
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

fn measure(_: &Kind, made: &Made) -> Figures {
    figures(&made.observed)
}

fn figures(observed: &Observed) -> Figures {
    let (begins, ends) = (
        HostInstant::default() + EDGE,
        HostInstant::default() + observed.span.saturating_sub(EDGE),
    );
    let inside = |at: HostInstant| at >= begins && at <= ends;
    let [truth_sorted, sent_again] = repeated(observed);
    let harq: Vec<&RanDelay> = observed
        .events
        .iter()
        .map(|(_, event)| event)
        .filter(|event| event.kind == DelayKind::Harq)
        .collect();
    // The last event of a begin is the one that counts.
    let mut last: std::collections::HashMap<(Direction, HostInstant), &RanDelay> =
        Default::default();
    harq.iter().for_each(|event| {
        last.insert((event.direction, event.from), event);
    });
    let mut events: Vec<&RanDelay> = last.into_values().collect();
    events.sort_by_key(|event| event.from);
    let near_event = |repeated: &Repeated| {
        let begin = events.partition_point(|event| event.from + SAME < repeated.from);
        let near = events[begin..].iter().take_while(|event| event.from <= repeated.from + SAME);
        let same = near.filter(|event| event.direction == repeated.direction);
        // Decoding and the clocks' difference shift both ends alike: the length tells which of
        // several it is.
        let wrong = |event: &&&RanDelay| {
            let length = repeated.to - repeated.from;
            event.amount.abs_diff(length) + off(event.from, repeated.from)
        };
        same.min_by_key(wrong).map(|event| event.amount.abs_diff(repeated.to - repeated.from))
    };
    let inner: Vec<&Repeated> = truth_sorted.iter().filter(|r| inside(r.from)).collect();
    let found: Vec<Duration> = inner.iter().filter_map(|repeated| near_event(repeated)).collect();
    let recall = 100.0 * found.len() as f64 / inner.len() as f64;
    let errors = sorted(found.into_iter().map(ms));
    let is_true = |event: &&&RanDelay| {
        let begin = sent_again.partition_point(|r| r.from + SAME < event.from);
        let near = sent_again[begin..].iter().take_while(|r| r.from <= event.from + SAME);
        near.into_iter().any(|r| r.direction == event.direction)
    };
    let told: Vec<&&RanDelay> = events.iter().filter(|event| inside(event.from)).collect();
    let untrue = told.iter().filter(|event| !is_true(event)).count();
    let late = sorted(observed.events.iter().map(|(at, event)| ms(*at - event.to)));
    let (waits, bias) = wait_errors(observed, inside);
    vec![
        ("recall %", recall),
        ("false %", 100.0 * untrue as f64 / told.len() as f64),
        ("harq median ms", quantile(&errors, 0.5)),
        ("harq p95 ms", quantile(&errors, 0.95)),
        ("wait median ms", quantile(&waits, 0.5)),
        ("wait p95 ms", quantile(&waits, 0.95)),
        ("late median ms", quantile(&late, 0.5)),
        ("late p95 ms", quantile(&late, 0.95)),
        ("wait bias ms", bias),
    ]
}

/// The wait of each uplink packet until its first byte was sent, against what the events say;
/// without those that waited behind a queue, whose wait is not the scheduler's alone. The sizes of
/// the errors, sorted, and their mean, ms.
fn wait_errors(observed: &Observed, inside: impl Fn(HostInstant) -> bool) -> (Vec<f64>, f64) {
    let mut waits: Vec<&RanDelay> = observed
        .events
        .iter()
        .map(|(_, event)| event)
        .filter(|event| event.kind == DelayKind::Scheduling)
        .collect();
    waits.sort_by_key(|event| event.from);
    let judged = observed.passages[1].iter().filter(|passage| inside(passage.entered));
    let errors = judged.filter_map(|passage| {
        let waited = passage.sent - passage.entered;
        if waited > rig::SCHEDULED {
            return None;
        }
        let after = waits.partition_point(|event| event.from <= passage.entered);
        let said = waits[after.checked_sub(1)?].of(passage.entered).unwrap_or_default();
        Some(ms(said) - ms(waited))
    });
    let errors: Vec<f64> = errors.collect();
    let bias = mean(&errors);
    let sizes = sorted(errors.into_iter().map(f64::abs));
    (sizes, bias)
}

/// Rows that fall short of what is asked for.
pub(super) fn short(rows: &[Row]) -> Short {
    let wrong = |row: &Row| {
        let mut short = Vec::new();
        if row.figure("recall %") < RECALL {
            short.push("recall".to_owned());
        }
        if row.figure("false %") > FALSE {
            short.push("false events".to_owned());
        }
        for (head, most) in [("harq median ms", MEDIAN_MS), ("harq p95 ms", P95_MS)] {
            if row.figure(head) > most {
                short.push(head.to_owned());
            }
        }
        for (head, most) in [("wait median ms", MEDIAN_MS), ("wait p95 ms", P95_MS)] {
            if row.figure(head) > most {
                short.push(head.to_owned());
            }
        }
        short
    };
    let all = rows.iter().map(|row| (row.name.clone(), wrong(row)));
    all.filter(|(_, short)| !short.is_empty()).collect()
}
