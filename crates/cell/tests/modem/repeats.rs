//! RLC's repeats, from the modem's bytes to events, against what the network did with each packet.

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_cell::config::CarrierConfig;
use sounding_cell::modem::ModemConfig;
use sounding_cell::{Direction, Event, Passage};
use sounding_link::{Arrival, Config, DelayKind, RanDelay, Sounder};
use sounding_units::HostInstant;

use crate::network::{Flows, ORIGIN, Run, lte, lte_tdd, nr, run};

const SPAN: Duration = Duration::from_secs(20);
/// Packets of the beginning and of the end may have parts that no record has.
const EDGE: Duration = Duration::from_millis(500);
/// A repeat of RLC takes longer than all transmissions of a block: two of them here.
const HARQ: Duration = Duration::from_millis(25);
/// The same moment in an event and in a packet's passage, decoding between.
const SAME: Duration = Duration::from_millis(5);
/// The block with the repeat may itself be sent twice, which is an event of HARQ: TDD's rounds have
/// ten subframes and more.
const TWICE: Duration = Duration::from_millis(12);

/// Some packets a slot, so that a queue builds up behind a repeat only.
const STEADY: Flows = Flows {
    down: Some((1_200, Duration::from_micros(2_300))),
    up: Some((400, Duration::from_micros(4_700))),
};

fn events(run: &Run) -> Vec<RanDelay> {
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    let mut found = Vec::new();
    for record in &run.records {
        sounder.handle_bytes(Arrival::At(record.made_at), &record.bytes, |_, _| {});
        found.extend(std::iter::from_fn(|| sounder.poll_delay()));
    }
    found
}

fn off(a: HostInstant, b: HostInstant) -> Duration {
    (a - b).max(b - a)
}

/// Whether a packet arrived when an event ended.
fn is_of(event: &RanDelay, passage: &Passage) -> bool {
    let most = if passage.harq > 0 { SAME + TWICE } else { SAME };
    off(event.to, passage.arrived) <= most
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// Of a direction: repeats that were found, all of them, events without one, all events; and the
/// sizes of errors, ms.
#[derive(Debug, Default)]
struct Judged {
    found: usize,
    repeats: usize,
    untrue: usize,
    events: usize,
    /// Of the time at which a repeat arrived, and of how long a packet behind it waited.
    ends: Vec<f64>,
    holds: Vec<f64>,
}

fn judge(run: &Run, direction: Direction, judged: &mut Judged) {
    let inside = |at: HostInstant| at >= ORIGIN + EDGE && at + EDGE <= ORIGIN + SPAN;
    let passages: Vec<&Passage> = run
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Passage { direction: way, passage, .. } if *way == direction => Some(passage),
            _ => None,
        })
        .filter(|passage| inside(passage.entered))
        .collect();
    let all = events(run);
    // Of the same begin the last counts.
    let rlc = all.iter().filter(|event| event.direction == direction);
    let rlc = rlc.filter(|event| event.kind == DelayKind::Rlc && inside(event.from));
    let last: BTreeMap<HostInstant, RanDelay> = rlc.map(|event| (event.from, *event)).collect();
    let again = |passage: &&&Passage| passage.rlc && passage.arrived - passage.sent >= HARQ;
    let repeated: Vec<&&Passage> = passages.iter().filter(again).collect();
    for passage in &repeated {
        judged.repeats += 1;
        let same = last.values().filter(|event| is_of(event, passage));
        if let Some(wrong) = same.map(|event| off(event.to, passage.arrived)).min() {
            judged.found += 1;
            judged.ends.push(ms(wrong));
        }
    }
    for event in last.values() {
        judged.events += 1;
        let is_true = passages.iter().any(|passage| passage.rlc && is_of(event, passage));
        judged.untrue += usize::from(!is_true);
    }
    for passage in passages.iter().filter(|passage| !passage.rlc) {
        let waited = passage.delivered - passage.arrived;
        if waited < HARQ {
            continue;
        }
        let said = last.values().filter_map(|event| event.of(passage.arrived)).max();
        judged.holds.push(ms(said.unwrap_or_default().abs_diff(waited)));
    }
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

#[test]
fn repeats_of_rlc_are_found_with_few_that_are_none_and_their_lengths() {
    let cells: [(&str, CarrierConfig); 3] = [("LTE", lte()), ("LTE TDD", lte_tdd()), ("NR", nr())];
    for (name, carrier) in cells {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let mut judged = Judged::default();
            // Seeds that nothing was tuned on.
            for seed in 301..304 {
                let run =
                    run(std::slice::from_ref(&carrier), STEADY, SPAN, ModemConfig::default(), seed);
                judge(&run, direction, &mut judged);
            }
            let Judged { found, repeats, untrue, events, ends, holds } = judged;
            let (count, ends, holds) = (holds.len(), median(ends), median(holds));
            let said = format!(
                "{name} {direction}: {found} of {repeats} repeats found, {untrue} of {events} events untrue; \
                 ends {ends:.2} ms wrong, waits {holds:.2} ms of {count}"
            );
            println!("{said}");
            assert!(repeats > 20 && count > 100, "{said}");
            assert!(found * 100 >= repeats * 95 && untrue * 100 <= events, "{said}");
            // In the uplink an event ends when the repeat is sent; the network decodes it some
            // milliseconds later.
            let most = if direction == Direction::Downlink { 1.0 } else { 3.0 };
            assert!(ends <= most && holds <= most, "{said}");
        }
    }
}
