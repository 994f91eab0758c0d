//! Whether a queue that is one stays visible: a wire of half the radio's rate, and a competitor
//! behind it.

use std::collections::{HashMap, VecDeque};
use std::sync::PoisonError;
use std::time::Duration;

use sounding_experiment::metrics::sorted;
use sounding_units::HostInstant;

use super::controls::Record;
use super::rig::Observed;
use super::scene::{Scene, Shared};
use super::table1::{BEGUN, rate_and_delay};
use super::{Figures, Kind, Made, Measure, Row, Short, quantile};

/// By how much a delay differs from the true queue after all corrections: that of each packet, as
/// the control sees it or as a user of the library can, and then the means that `copa-gandalf` goes
/// by.
pub(super) const COLUMNS: &[&str] = &[
    "Mbit/s",
    "mean ms",
    "p95 ms",
    "queue median ms",
    "error median ms",
    "error p95 ms",
    "hidden p95 ms",
    "of means median ms",
    "of means p95 ms",
];

/// What is asked for: the error, and the 95th percentile of the one-way delay over stock's.
const MEDIAN_MS: f64 = 1.0;
const P95_MS: f64 = 5.0;
const OVER_STOCK: f64 = 1.1;

/// Half of what the radio carries in each scene, Mbit/s.
fn half(scene: Scene) -> u32 {
    match (scene.nr, scene.up) {
        (true, false) => 100,
        (true, true) => 12,
        (false, false) => 50,
        (false, true) => 20,
    }
}

/// Where the flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Behind a wire of half the radio's rate.
    Wire,
    /// The same, beside a flow of CUBIC from the same device, which fills the wire's queue.
    Rival,
    /// The radio is the bottleneck.
    Radio,
    /// The same, where the radio makes next to no delay of its own: for stock Copa.
    Calm,
}

impl Place {
    const ALL: [Self; 4] = [Self::Wire, Self::Rival, Self::Radio, Self::Calm];

    const fn name(self) -> &'static str {
        match self {
            Self::Wire => "narrow wire",
            Self::Rival => "beside CUBIC",
            Self::Radio => "radio alone",
            Self::Calm => "radio without delays",
        }
    }

    fn sets(self, scene: Scene) -> Vec<String> {
        let way = if scene.up { "up" } else { "down" };
        let mut sets = Vec::new();
        if matches!(self, Self::Wire | Self::Rival) {
            sets.push(format!("wire.{way}={}Mbit", half(scene)));
            sets.push("wire.queue=500kB".to_owned());
        }
        if self == Self::Rival {
            let flow = |name: &str, controller: &str| {
                format!(
                    "{{ name = \"{name}\", device = \"phone\", direction = \"{way}\", controller = \"{controller}\" }}"
                )
            };
            sets.push(format!("flows=[{}, {}]", flow("flow", "copa"), flow("rival", "cubic")));
        }
        if self == Self::Calm {
            sets.extend(calm());
        }
        sets
    }
}

/// A radio that makes next to no delay of its own.
pub(super) fn calm() -> [String; 3] {
    let phone = "cell.devices.phone";
    [
        format!("{phone}.adapt_uplink.target_error_rate=0.001"),
        format!("{phone}.adapt_downlink.target_error_rate=0.001"),
        format!(
            "{phone}.scheduling={{ sr_period = \"1ms\", periodic_bsr = \"1ms\", answer = \"1ms\", double_grant = 0.0 }}"
        ),
    ]
}

/// Two of them know the truth at once, and so show what delay has to be borne for throughput.
const SENDERS: [(&str, &str); 5] = [
    ("copa", "copa"),
    ("copa-gandalf", "recorded-copa-gandalf"),
    ("constant", "copa-constant"),
    ("truth", "copa-truth"),
    ("truth, mean of 10 ms", "copa-truth-10"),
];

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for scene in Scene::all().filter(|scene| !scene.walks) {
        for place in Place::ALL {
            for (shown, controller) in SENDERS {
                if place == Place::Calm && (shown != "copa" || !scene.up) {
                    continue;
                }
                let mut sets = scene.sets();
                sets.extend(place.sets(scene));
                sets.push(format!("flows.flow.controller={controller}"));
                let name = format!("{}, {}: {shown}", scene.name(), place.name());
                kinds.push(Kind { name, sets, measure: Measure::Run(measure) });
            }
        }
    }
    kinds
}

fn measure(_: &Kind, made: &Made) -> Figures {
    let Made { observed, shared } = made;
    let mut figures = rate_and_delay(observed);
    let record = shared.record.lock().unwrap_or_else(PoisonError::into_inner);
    let packets = acked(observed, shared, &record);
    let begun = HostInstant::default() + BEGUN;
    let ms = |of: Duration| of.as_secs_f64() * 1e3;
    let of = |packet: &Option<Acked>| packet.map(|packet| (packet.now, ms(packet.queued)));
    let queued: HashMap<HostInstant, f64> = packets.iter().filter_map(of).collect();
    let seen = record.seen.iter().filter(|(at, _)| *at >= begun);
    let seen = seen.filter_map(|(at, rtt)| Some((ms(*rtt), *queued.get(at)?))).collect();
    // One for each acknowledgement, in the same order.
    let exact = record.exact.iter().zip(&packets).filter(|((sent, _), _)| *sent >= begun);
    let exact = exact.filter_map(|((_, rtt), packet)| {
        let of = (*packet)?;
        Some((ms(rtt.saturating_sub(of.held)), ms(of.queued)))
    });
    let exact: Vec<_> = exact.collect();
    if exact.is_empty() {
        figures.extend(errors(seen));
        return figures;
    }
    figures.extend(errors(exact));
    figures.extend(errors(seen).into_iter().filter_map(|(head, value)| match head {
        "error median ms" => Some(("of means median ms", value)),
        "error p95 ms" => Some(("of means p95 ms", value)),
        _ => None,
    }));
    figures
}

/// A packet whose acknowledgement arrived, by the network's own account.
#[derive(Clone, Copy)]
struct Acked {
    /// When its acknowledgement arrived.
    now: HostInstant,
    /// What it waited behind others.
    queued: Duration,
    /// For how long its receiver kept the acknowledgement back: no part of the path (RFC 1122,
    /// §4.2.3.2).
    held: Duration,
}

/// The packets of the acknowledgements whose RTT the control kept, in their order; `None` where the
/// network has no account of one.
fn acked(observed: &Observed, shared: &Shared, record: &Record) -> Vec<Option<Acked>> {
    let mut truth = shared.truth.lock().unwrap_or_else(PoisonError::into_inner);
    let mut came: HashMap<HostInstant, Vec<(HostInstant, Duration)>> = HashMap::new();
    for (arrival, queued) in observed.packets.arrivals.iter().zip(&observed.queued) {
        let packet = arrival.packet;
        came.entry(packet.entered).or_default().push((packet.exits, *queued));
    }
    let packet = |(now, sent): &(HostInstant, HostInstant)| {
        let left = truth.acked.get_mut(now).and_then(VecDeque::pop_front)?;
        // Packets that are sent at one time arrive at several. An acknowledgement confirms the
        // newest that was there when it left.
        let there = came.get(sent)?.iter().filter(|(at, _)| *at <= left);
        let (at, queued) = there.max_by_key(|(at, _)| *at)?;
        Some(Acked { now: *now, queued: *queued, held: left - *at })
    };
    record.acks.iter().map(packet).collect()
}

/// What differs between corrected delays and queues, both in milliseconds.
fn errors(both: Vec<(f64, f64)>) -> Figures {
    if both.is_empty() {
        return Figures::new();
    }
    // The path without a queue: what is left on the whole of the corrected delay when the true
    // queue is taken off.
    let bases = sorted(both.iter().map(|(rtt, queue)| rtt - queue));
    let base = quantile(&bases, 0.5);
    let errors = sorted(bases.iter().map(|of| (of - base).abs()));
    // A queue that is there and not seen is hidden.
    let hidden = sorted(bases.iter().map(|of| (base - of).max(0.0)));
    let queues = sorted(both.iter().map(|(_, queue)| *queue));
    Figures::from([
        ("queue median ms", quantile(&queues, 0.5)),
        ("error median ms", quantile(&errors, 0.5)),
        ("error p95 ms", quantile(&errors, 0.95)),
        ("hidden p95 ms", quantile(&hidden, 0.95)),
    ])
}

/// Rows that fall short of what is asked for. The control must: it is one if it does not.
pub(super) fn short(rows: &[Row]) -> Short {
    let p95 = |scene: &str, place: Place| {
        let name = format!("{scene}, {}: copa", place.name());
        rows.iter().find(|row| row.name == name).map(|row| row.figure("p95 ms"))
    };
    let mut all = Vec::new();
    for row in rows {
        let Some((of, sender)) = row.name.split_once(": ") else { continue };
        let Some((scene, place)) = of.rsplit_once(", ") else { continue };
        let Some(place) = Place::ALL.into_iter().find(|of| of.name() == place) else { continue };
        let mut short = Vec::new();
        if row.figure("error median ms") > MEDIAN_MS {
            short.push("error median".to_owned());
        }
        if row.figure("error p95 ms") > P95_MS {
            short.push("error p95".to_owned());
        }
        // A download that is limited by the radio queues more than stock, which leaves it idle.
        let beside = match place {
            Place::Wire | Place::Rival => Some((place, "stock's")),
            Place::Radio => Some((Place::Calm, "that of stock without the radio's delays")),
            Place::Calm => None,
        };
        if let Some((place, whose)) = beside
            && let Some(over) = p95(scene, place).map(|stock| row.figure("p95 ms") / stock)
            && over > OVER_STOCK
        {
            short.push(format!("p95 {over:.2} × {whose}"));
        }
        match (sender, short.is_empty()) {
            ("copa-gandalf", false) => all.push((row.name.clone(), short)),
            ("constant", true) if place != Place::Radio => {
                all.push((row.name.clone(), vec!["the control passes".to_owned()]));
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, p95_ms: f64, error_ms: [f64; 2]) -> Row {
        let heads = ["p95 ms", "error median ms", "error p95 ms"];
        let figures = heads.iter().zip([p95_ms, error_ms[0], error_ms[1]]);
        let figures = figures.map(|(head, value)| ((*head).to_owned(), value)).collect();
        Row { name: name.to_owned(), figures }
    }

    #[test]
    fn a_control_that_passes_is_reported_and_so_is_a_delay_over_stocks() {
        let rows = [
            row("LTE UL, static, narrow wire: copa", 50.0, [f64::NAN; 2]),
            row("LTE UL, static, narrow wire: copa-gandalf", 56.0, [0.5, 4.0]),
            row("LTE UL, static, narrow wire: constant", 50.0, [0.5, 4.0]),
            row("LTE UL, static, radio alone: copa-gandalf", 40.0, [1.5, 4.0]),
            row("LTE UL, static, radio without delays: copa", 38.0, [f64::NAN; 2]),
        ];
        let short = short(&rows);
        let found: Vec<String> = short.iter().map(|(_, why)| why.join(", ")).collect();
        assert_eq!(found, ["p95 1.12 × stock's", "the control passes", "error median"]);
    }
}
