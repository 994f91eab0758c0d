//! A call over time: what the sender believes and encodes, how late its pictures are, and what the
//! radio did meanwhile.

use std::time::Duration;

use sounding_report::{Axis, Figure, Happening, Kind, Line, Origin, Page, Panel, Section, Series};
use sounding_testbed::call::{CallSeen, StatsSeen};
use sounding_units::HostInstant;

use super::figures::{BEGUN, QUEUE};
use crate::paper::Report;
use crate::papers::gandalf::Evidence;

/// A call, and what it is shown as.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) place: String,
    /// How arrivals are reported.
    pub(super) corrected: &'static str,
    pub(super) seed: u64,
    pub(super) seen: CallSeen,
}

/// Times in seconds and values, if they are known.
type Points = Vec<(f64, Option<f64>)>;

/// A packet that the radio hands on later than the earliest by more than this was sent again.
const AGAIN: Duration = Duration::from_millis(6);
/// Spans of one kind that are as close are one.
const CLOSE_S: f64 = 0.02;

/// Each call over time, place by place.
pub(super) fn page(report: &Report<Evidence>, calls: &[Shown]) -> Page {
    let origin = |seed: u64| Origin::of(&report.provenance, seed.to_string());
    let mut sections: Vec<Section> = Vec::new();
    for first in calls {
        if sections.iter().any(|section| section.heading == first.place) {
            continue;
        }
        let here: Vec<&Shown> = calls.iter().filter(|call| call.place == first.place).collect();
        let mut seeds: Vec<u64> = here.iter().map(|call| call.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let figures = seeds.into_iter().map(|seed| Figure {
            name: format!("{}-{seed}", file_name(&first.place)),
            title: format!("{}, seed {seed}", first.place),
            caption:
                "Falls of the estimate by a tenth or more are marked through all panels. A queue \
                      stands if no packet of a tenth of a second found less than 5 ms of it."
                    .into(),
            origin: origin(seed),
            kind: Kind::Series(series(here.iter().filter(|call| call.seed == seed).copied())),
        });
        let figures = figures.collect();
        sections.push(Section { heading: first.place.clone(), text: String::new(), figures });
    }
    Page {
        title: report.about.clone(),
        subtitle: report.expected.section.clone(),
        sections,
        origin: report.provenance.pairs(),
    }
}

/// As part of a file's name.
fn file_name(place: &str) -> String {
    let parts = place.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

fn series<'a>(calls: impl Iterator<Item = &'a Shown> + Clone) -> Series {
    let panel = |label: &str, of: &dyn Fn(&CallSeen) -> Points| Panel {
        y: Axis::linear(label),
        shade: None,
        lines: calls
            .clone()
            .map(|call| Line { name: call.corrected.into(), points: of(&call.seen) })
            .collect(),
    };
    let stats = |of: fn(&StatsSeen) -> Option<f64>| {
        move |seen: &CallSeen| {
            let points = seen.stats.iter().map(|stats| (since(seen, stats.at), of(stats)));
            points.collect::<Vec<_>>()
        }
    };
    let frames = |seen: &CallSeen| {
        let known = seen.frames.iter().filter_map(|frame| {
            let late = frame.complete - frame.sent?;
            Some((since(seen, frame.complete), Some(late.as_secs_f64() * 1e3)))
        });
        known.collect::<Vec<_>>()
    };
    let is_known =
        |panel: &Panel| panel.lines.iter().flat_map(|line| &line.points).any(|at| at.1.is_some());
    Series {
        x: Axis::linear("time (s)"),
        // A stack need not report each.
        panels: [
            panel("estimate (Mbit/s)", &stats(|stats| stats.available.map(|bits| bits * 1e-6))),
            panel(
                "encoder's target (Mbit/s)",
                &stats(|stats| stats.target.map(|bits| bits * 1e-6)),
            ),
            panel("pictures/s", &stats(|stats| stats.frames_per_sec)),
            panel("height (pixels)", &stats(|stats| stats.height)),
            panel("frame delay (ms)", &frames),
        ]
        .into_iter()
        .filter(is_known)
        .collect(),
        happenings: calls.flat_map(happenings).collect(),
    }
}

/// Seconds since the network's start.
fn since(seen: &CallSeen, at: HostInstant) -> f64 {
    (at - seen.started).as_secs_f64()
}

/// What the radio did, and where the estimate fell.
fn happenings(call: &Shown) -> Vec<Happening> {
    let seen = &call.seen;
    let least = seen.waited.iter().map(|waited| waited.delivered - waited.sent).min();
    let least = least.unwrap_or_default();
    let again = seen.waited.iter().filter(|of| of.delivered - of.sent > least + AGAIN);
    let again = again.map(|of| (since(seen, of.sent), since(seen, of.delivered)));
    let queue = seen.standing().into_iter().filter(|(_, queue)| *queue >= QUEUE);
    let queue = queue.map(|(at, _)| (since(seen, at), since(seen, at) + CLOSE_S));
    let falls = seen.falls(seen.connected.unwrap_or(seen.started) + BEGUN);
    let falls = falls.iter().map(|(at, _)| (since(seen, *at), since(seen, *at) + CLOSE_S));
    let all = [
        ("sent again by the radio", joined(again), false),
        ("a queue stands", joined(queue), false),
        ("the estimate falls", falls.collect(), true),
    ];
    let all = all.into_iter().flat_map(|(kind, spans, marked)| {
        spans.into_iter().map(move |span| Happening {
            kind: kind.into(),
            name: call.corrected.into(),
            span,
            marked,
        })
    });
    all.collect()
}

/// Spans in order of their begin; those that touch are one.
fn joined(spans: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans {
        match all.last_mut() {
            Some(last) if from <= last.1 + CLOSE_S => last.1 = last.1.max(to),
            _ => all.push((from, to)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_are_one_and_a_place_is_part_of_a_files_name() {
        let spans = [(0.0, 0.1), (0.11, 0.12), (0.05, 0.06), (0.5, 0.6)];
        assert_eq!(joined(spans.into_iter()), [(0.0, 0.12), (0.5, 0.6)]);
        assert_eq!(file_name("LTE, rate falls"), "lte-rate-falls");
    }

    #[test]
    fn a_call_has_a_line_in_each_panel_and_what_the_radio_did_below_them() {
        let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
        let stats = |ms, available| StatsSeen {
            at: at(ms),
            available: Some(available),
            ..StatsSeen::default()
        };
        let waited = |entered, late| sounding_testbed::call::Waited {
            entered: at(entered),
            sent: at(entered + 4),
            delivered: at(entered + 8 + late),
        };
        let seen = CallSeen {
            stats: vec![stats(6_000, 2e6), stats(6_100, 1e6)],
            waited: vec![waited(100, 0), waited(300, 8), waited(500, 0)],
            ..CallSeen::default()
        };
        let call = Shown { place: "a place".into(), corrected: "stock", seed: 1, seen };
        let series = series(std::iter::once(&call));
        // Of what is not known there is no panel.
        assert_eq!(series.panels.len(), 1);
        assert_eq!(series.panels[0].lines[0].points, [(6.0, Some(2.0)), (6.1, Some(1.0))]);
        let kinds: Vec<_> =
            series.happenings.iter().map(|of| (of.kind.as_str(), of.span.0)).collect();
        assert_eq!(kinds, [("sent again by the radio", 0.304), ("the estimate falls", 6.1)]);
    }
}
