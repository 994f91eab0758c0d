//! The pictures of downloads: delay and throughput of each controller, and both over time.

use std::time::Duration;

use sounding_cell::event::SlotUse;
use sounding_cell::{DeviceId, Event as CellEvent};
use sounding_experiment::metrics::{nearest_rank, sorted};
use sounding_experiment::observe::Setup as Shows;
use sounding_experiment::plan::{Run, Wrong};

use super::rig::{Observed, Setup, observe};
use super::table1::{QUANTILES, windows};
use super::{Item, PLACES};
use crate::paper::{Expected, OverTime, Picture, over_time, plane, stated};

/// The controllers that Figs. 17 and 19 have.
const OVER_TIME: [&str; 2] = ["pbe-cc", "bbr"];

/// What Fig. 17 has medians of, and Fig. 19 means.
const fn bin(item: Item) -> Option<Duration> {
    match item {
        Item::Fig16 => Some(Duration::from_secs(2)),
        Item::Fig18 => Some(Duration::from_millis(200)),
        _ => None,
    }
}

/// One run that is drawn.
pub(super) struct Drawn {
    controller: String,
    observed: Observed,
    flows: usize,
}

/// The runs of the plan's first seed, made again with all that is drawn.
pub(super) fn measure(run: &Run) -> Result<Drawn, Wrong> {
    let controller = run.plan.flows[0].controller.to_string();
    let slots = OVER_TIME.contains(&controller.as_str());
    let observed = observe(run, Setup::of(Shows { slots, ..Shows::default() }))?;
    Ok(Drawn { controller, observed, flows: run.plan.flows.len() })
}

/// All pictures of an item whose rows are flows.
pub(super) fn pictures(item: Item, expected: &Expected, drawn: &[Drawn]) -> Vec<Picture> {
    let name = item.files().file;
    let mut pictures = vec![Picture {
        name: name.into(),
        title: expected.section.clone(),
        caption: "Throughput by 100 ms and delay by packet, of the first seed.".into(),
        kind: plane(drawn.iter().flat_map(spreads), &points(expected)),
    }];
    if let Some(bin) = bin(item) {
        pictures.push(Picture {
            name: format!("{name}-over-time"),
            title: format!("{}: over time", item.files().about),
            caption: format!(
                "Of the first seed: throughput of {0}, the median delay of packets in {0}, and the \
                 resource blocks of other devices. A flat line is the paper's mean.",
                humantime::format_duration(bin)
            ),
            kind: series(expected, drawn, bin),
        });
    }
    pictures
}

/// Of each flow: delays and throughput as order statistics.
fn spreads(drawn: &Drawn) -> Vec<(String, [f64; 5], [f64; 5])> {
    let Observed { packets, span, .. } = &drawn.observed;
    let flow = |flow: usize| {
        let delays = packets.delays_ms(flow, Duration::ZERO, Duration::MAX);
        let rates = windows(packets, flow, *span);
        if delays.is_empty() || rates.is_empty() {
            return None;
        }
        let name = match drawn.flows {
            1 => drawn.controller.clone(),
            _ => format!("{}, {}", drawn.controller, PLACES.get(flow)?),
        };
        let of = |values: &[f64]| QUANTILES.map(|quantile| nearest_rank(values, quantile));
        Some((name, of(&delays), of(&rates)))
    };
    (0..drawn.flows).filter_map(flow).collect()
}

/// What the paper states of both, delay first: the mean, else the 95th percentile.
fn points(expected: &Expected) -> Vec<(String, f64, f64)> {
    let known = expected.rows.keys().filter_map(|row| {
        let numbers = stated(expected, row);
        let delay = numbers.get(1..)?.iter().flatten().next()?;
        Some((row.clone(), *delay, (*numbers.first()?)?))
    });
    known.collect()
}

fn series(expected: &Expected, drawn: &[Drawn], bin: Duration) -> sounding_report::Kind {
    let those = || drawn.iter().filter(|drawn| OVER_TIME.contains(&drawn.controller.as_str()));
    let panel = |label, column: usize, of: &dyn Fn(&Observed, Duration) -> Option<f64>| OverTime {
        label,
        lines: those()
            .map(|drawn| (drawn.controller.clone(), binned(&drawn.observed, bin, of)))
            .collect(),
        stated: those()
            .filter_map(|drawn| {
                let mean = *stated(expected, &drawn.controller).get(column)?;
                Some((drawn.controller.clone(), mean?))
            })
            .collect(),
    };
    let rate = |observed: &Observed, from| Some(observed.packets.mbit_per_sec(0, from, from + bin));
    let delay = |observed: &Observed, from| {
        let delays = sorted(observed.packets.delays_ms(0, from, from + bin));
        (!delays.is_empty()).then(|| nearest_rank(&delays, 0.5))
    };
    let others = |observed: &Observed, from| Some(blocks_of_others(observed, from, from + bin));
    let mut rivals = panel("resource blocks of others", usize::MAX, &others);
    // One channel for all: the others of one run.
    rivals.lines.truncate(1);
    over_time(vec![panel("Mbit/s", 0, &rate), panel("median delay (ms)", 1, &delay), rivals], None)
}

fn binned(
    observed: &Observed,
    bin: Duration,
    of: &dyn Fn(&Observed, Duration) -> Option<f64>,
) -> Vec<(f64, Option<f64>)> {
    let count = (observed.span.as_nanos() / bin.as_nanos()) as u32;
    let at = |number: u32| bin * number;
    (0..count).map(|n| (at(n).as_secs_f64(), of(observed, at(n)))).collect()
}

/// The mean in a slot.
fn blocks_of_others(observed: &Observed, from: Duration, to: Duration) -> f64 {
    let begin = sounding_units::HostInstant::default();
    let (mut blocks, mut slots) = (0_u64, 0_u64);
    for event in &observed.cell {
        let CellEvent::Use(SlotUse { slot, users, .. }) = event else { continue };
        if (from..to).contains(&(slot.at - begin)) {
            slots += 1;
            let others = users.iter().filter(|user| user.device != DeviceId(0));
            blocks += others.map(|user| u64::from(user.prb)).sum::<u64>();
        }
    }
    blocks as f64 / slots.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_is_drawn_over_time_beside_the_papers_means() {
        let mut text = Item::Fig16.files().text();
        for set in ["seeds=1", "duration=\"5s\"", "sweep={\"flows.download.controller\"=[\"bbr\"]}"]
        {
            text.set(set).unwrap();
        }
        let drawn: Vec<Drawn> =
            text.runs().unwrap().iter().map(|run| measure(run).unwrap()).collect();
        let expected = Item::Fig16.files().expected().unwrap();
        let pictures = pictures(Item::Fig16, &expected, &drawn);
        let [_, over_time] = &pictures[..] else { panic!("two pictures: {pictures:?}") };
        let sounding_report::Kind::Series(series) = &over_time.kind else { panic!("a series") };
        assert_eq!(series.panels[0].lines[0].points.len(), 2);
        // The paper has 55 Mbit/s, and no mean delay.
        assert_eq!(series.panels[0].lines[1].points[0].1, Some(55.0));
        assert_eq!(series.panels[1].lines.len(), 1);
    }
}
