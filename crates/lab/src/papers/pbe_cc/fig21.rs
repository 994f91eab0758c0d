//! How three phones share a primary carrier: Jain's index of the resource blocks that each has of
//! it (§6.4, Fig. 21).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_cell::event::SlotUse;
use sounding_cell::{CarrierId, DeviceId, Event as CellEvent};
use sounding_experiment::metrics::{jain, mean};
use sounding_experiment::observe::Setup as Shows;
use sounding_experiment::plan::{Run, Wrong};
use sounding_experiment::provenance::Provenance;

use super::Item;
use super::rig::{Setup, observe};
use crate::paper::{Course, Ours, OverTime, Picture, Report, over_time};
use crate::table::Table;

/// What the paper averages resource blocks over.
const WINDOW: Duration = Duration::from_millis(50);

/// A flow that has just come or gone has not settled: so much after it is left out. Chosen.
const SETTLES: Duration = Duration::from_secs(1);

/// Less fair than the paper by more than this is a miss, in percent. Chosen.
const SHORT: f64 = 1.0;

/// The flows' cases, as the plan calls them and as the figure does.
const CASES: [(&str, &str); 4] = [("similar", "a"), ("distant", "b"), ("bbr", "c"), ("cubic", "d")];

/// How one run shared.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// The plan's name of the case.
    case: String,
    /// Jain's index of two flows and of three, over all of their time.
    whole: [Option<f64>; 2],
    /// The same in the mean of 50 subframes.
    short: [Option<f64>; 2],
    /// By flow, with all three: resource blocks of a subframe, Mbit/s, and the 95th percentile of
    /// the delay in ms.
    three: Vec<(String, f64, f64, f64)>,
    /// By flow, over time: resource blocks of a subframe.
    over_time: Vec<Course>,
}

/// So many windows are one point of a picture.
const DRAWN: u64 = 10;

/// When flows are there together: two of them, and three.
fn spans(run: &Run) -> [Vec<(Duration, Duration)>; 2] {
    let flows = &run.plan.flows;
    let mut times: Vec<Duration> = flows.iter().map(|flow| flow.start).collect();
    times.extend(flows.iter().map(|flow| flow.stop.min(run.plan.duration)));
    times.sort_unstable();
    let mut spans = [Vec::new(), Vec::new()];
    for pair in times.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let there = flows.iter().filter(|flow| flow.start <= from && flow.stop >= to).count();
        if let (2 | 3, true) = (there, to > from + SETTLES) {
            spans[there - 2].push((from + SETTLES, to));
        }
    }
    spans
}

/// Resource blocks of the primary carrier by device, in windows.
fn windows(cell: &[CellEvent]) -> BTreeMap<u64, BTreeMap<DeviceId, u64>> {
    let mut windows: BTreeMap<u64, BTreeMap<DeviceId, u64>> = BTreeMap::new();
    for event in cell {
        let CellEvent::Use(SlotUse { slot, users, .. }) = event else { continue };
        if slot.carrier != CarrierId(0) {
            continue;
        }
        let at = slot.at.as_nanos() / WINDOW.as_nanos() as u64;
        let window = windows.entry(at).or_default();
        for user in users {
            *window.entry(user.device).or_default() += u64::from(user.prb);
        }
    }
    windows
}

/// A device's resource blocks over time.
fn drawn(
    windows: &BTreeMap<u64, BTreeMap<DeviceId, u64>>,
    device: DeviceId,
) -> Vec<(f64, Option<f64>)> {
    let mut points: BTreeMap<u64, u64> = BTreeMap::new();
    for (at, window) in windows {
        *points.entry(at / DRAWN).or_default() += window.get(&device).copied().unwrap_or_default();
    }
    let subframes = WINDOW.as_secs_f64() * 1e3 * DRAWN as f64;
    let seconds = WINDOW.as_secs_f64() * DRAWN as f64;
    let point = |(at, prb): (u64, u64)| (at as f64 * seconds, Some(prb as f64 / subframes));
    // A run's last slot begins a point that is not whole.
    let whole = windows.keys().next_back().map_or(0, |last| (last + 1) / DRAWN);
    points.into_iter().filter(|(at, _)| *at < whole).map(point).collect()
}

/// Each case of the first seed over time.
pub(super) fn pictures(all: &[Shares]) -> Vec<Picture> {
    let first = |(case, letter): &(&str, &str)| {
        let shares = all.iter().find(|shares| shares.case == *case)?;
        Some(Picture {
            name: format!("fig21{letter}"),
            title: format!("Resource blocks of the primary carrier: {case}"),
            caption: "The mean of 500 subframes, of the first seed.".into(),
            kind: over_time(
                vec![OverTime {
                    label: "resource blocks of a subframe",
                    lines: shares.over_time.clone(),
                    stated: Vec::new(),
                }],
                None,
            ),
        })
    };
    CASES.iter().filter_map(first).collect()
}

/// Makes one run.
pub(super) fn measure(run: &Run) -> Result<Shares, Wrong> {
    let observed = observe(run, Setup::of(Shows { slots: true, ..Shows::default() }))?;
    let windows = windows(&observed.cell);
    let mut shares = Shares {
        case: run
            .values
            .first()
            .map(|(_, case)| case.trim_matches('"').to_owned())
            .unwrap_or_default(),
        whole: [None; 2],
        short: [None; 2],
        three: Vec::new(),
        over_time: (0_u16..)
            .zip(&run.plan.flows)
            .map(|(device, flow)| (flow.label().to_owned(), drawn(&windows, DeviceId(device))))
            .collect(),
    };
    for (at, spans) in spans(run).iter().enumerate() {
        let (mut whole, mut short, mut count) =
            (BTreeMap::<DeviceId, u64>::new(), Vec::new(), 0_u32);
        for &(from, to) in spans {
            let there: Vec<DeviceId> = (0_u16..)
                .zip(&run.plan.flows)
                .filter(|(_, flow)| flow.start <= from && flow.stop >= to)
                .map(|(device, _)| DeviceId(device))
                .collect();
            let number = |span: Duration| (span.as_nanos() / WINDOW.as_nanos()) as u64;
            for (_, window) in windows.range(number(from)..number(to)) {
                let of = |device: &DeviceId| window.get(device).copied().unwrap_or_default();
                let each: Vec<f64> = there.iter().map(|device| of(device) as f64).collect();
                short.extend(jain(&each));
                for device in &there {
                    *whole.entry(*device).or_default() += of(device);
                }
                count += 1;
            }
        }
        let whole: Vec<f64> = whole.values().map(|prb| *prb as f64).collect();
        shares.whole[at] = jain(&whole);
        shares.short[at] = (!short.is_empty()).then(|| mean(short));
        if at == 1
            && let [(from, to)] = spans[..]
        {
            let subframes = f64::from(count) * WINDOW.as_secs_f64() * 1e3;
            for (flow, prb) in whole.iter().enumerate() {
                let delays = observed.packets.delays_ms(flow, from, to);
                let p95 = delays.get(delays.len() * 95 / 100).copied().unwrap_or(f64::NAN);
                let name = run.plan.flows[flow].label();
                let name = format!("{name}, {}", run.plan.flows[flow].controller);
                let mbit = observed.packets.mbit_per_sec(flow, from, to);
                shares.three.push((name, prb / subframes, mbit, p95));
            }
        }
    }
    Ok(shares)
}

/// A case over all seeds.
#[derive(Clone, Debug, Serialize)]
struct Case {
    case: String,
    seeds: usize,
    /// Jain's index in percent, of two flows and of three.
    whole_percent: [f64; 2],
    /// The same in the mean of 50 subframes.
    short_percent: [f64; 2],
    /// By flow, of all three: resource blocks, Mbit/s, 95th percentile of the delay in ms.
    three: Vec<(String, f64, f64, f64)>,
}

/// The cases.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Evidence {
    cases: Vec<Case>,
}

fn case(name: &str, all: &[Shares]) -> Option<Case> {
    let those: Vec<&Shares> = all.iter().filter(|shares| shares.case == name).collect();
    let first = those.first()?;
    let percent = |of: &dyn Fn(&Shares) -> [Option<f64>; 2]| {
        [0, 1].map(|at| mean(those.iter().filter_map(|shares| of(shares)[at])) * 100.0)
    };
    let three = (0..first.three.len()).map(|flow| {
        let of = |value: fn(&(String, f64, f64, f64)) -> f64| {
            mean(those.iter().filter_map(|shares| shares.three.get(flow).map(value)))
        };
        (first.three[flow].0.clone(), of(|row| row.1), of(|row| row.2), of(|row| row.3))
    });
    Some(Case {
        case: name.into(),
        seeds: those.len(),
        whole_percent: percent(&|shares| shares.whole),
        short_percent: percent(&|shares| shares.short),
        three: three.collect(),
    })
}

/// The item's table beside the paper's figures.
pub(super) fn report(
    all: &[Shares],
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let expected = Item::Fig21.files().expected()?;
    let cases: Vec<Case> = CASES.iter().filter_map(|(name, _)| case(name, all)).collect();
    let mut ours = Ours::new(["all of the time", "50 subframes"], []);
    for case in &cases {
        let letter = CASES.iter().find(|(name, _)| *name == case.case).map_or("", |found| found.1);
        for (at, flows) in ["two flows", "three flows"].into_iter().enumerate() {
            let name = format!("{letter}, {}, {flows}", case.case);
            let (whole, short) = (case.whole_percent[at], case.short_percent[at]);
            let paper =
                expected.rows.get(&name).and_then(|row| row.trim_end_matches(" %").parse().ok());
            if paper.is_none_or(|paper: f64| whole.is_nan() || whole < paper - SHORT) {
                ours.misses.push(expected.miss(&name, &["Jain's index"]));
            }
            ours.rows.push((name, vec![format!("{whole:.2} %"), format!("{short:.2} %")]));
        }
    }
    Ok(Report::new(Item::Fig21.files().about, expected, ours, Evidence { cases }, provenance))
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nWith all three flows, the mean over seeds:\n")?;
        let mut table = Table::new().left(["", ""]).right([
            "resource blocks of the primary carrier",
            "Mbit/s",
            "p95 of the delay, ms",
        ]);
        for case in &self.cases {
            for (name, prb, mbit, p95) in &case.three {
                let numbers = [prb, mbit, p95].map(|number| format!("{number:.1}"));
                table.row([case.case.clone(), name.clone()].into_iter().chain(numbers));
            }
        }
        table.fmt(f)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    /// The runs of the plan, ten times as fast.
    fn short() -> Vec<Run> {
        let mut text = Item::Fig21.files().text();
        text.set("seeds=1").unwrap();
        text.runs().unwrap()
    }

    #[test]
    fn two_flows_are_there_twice_and_three_once() {
        let seconds = |from, to| (Duration::from_secs(from), Duration::from_secs(to));
        let [two, three] = spans(&short()[0]);
        assert_eq!(two, [seconds(11, 20), seconds(41, 50)]);
        assert_eq!(three, [seconds(21, 40)]);
    }

    #[test]
    fn three_flows_of_pbe_cc_have_alike_parts_of_their_primary_carrier() {
        let mut run = short().remove(0);
        for flow in &mut run.plan.flows {
            flow.start /= 5;
            flow.stop /= 5;
        }
        run.plan.duration /= 5;
        let shares = measure(&run).unwrap();
        assert_eq!(shares.case, "similar");
        assert!(shares.whole[1].unwrap() > 0.95, "{shares:?}");
        assert_eq!(shares.three.len(), 3);
        let drawn = pictures(&[shares]);
        let [sounding_report::Kind::Series(series)] =
            drawn.iter().map(|of| &of.kind).collect::<Vec<_>>()[..]
        else {
            panic!("one picture: {drawn:?}")
        };
        assert_eq!(series.panels[0].lines.len(), 3);
        // Twelve seconds by half seconds.
        assert_eq!(series.panels[0].lines[0].points.len(), 24);
    }
}
