//! One run of each controller over time, and how flows share in it.

use super::bins::{Bins, Happened, coarser};
use super::fairness::sliding;
use super::{Findings, Flow, ReadError};
use crate::{Axis, Happening, Line, Panel, Series, Shade, distinct};

/// Bins that a drawing has room for. Chosen: one for each pixel of a desk's is as close as a reader
/// can look.
const MAX_BINS: usize = 800;

/// Runs of one scenario and seed. One figure shows all of them.
pub(super) struct Group<'a> {
    results: &'a [Findings],
    pub(super) flows: Vec<&'a Flow>,
}

/// A drawing of runs, and how wide its bins are in seconds.
pub(super) struct Drawing {
    pub(super) series: Series,
    pub(super) width: f64,
}

/// The words that a drawing has for what happens on the radio, and whether it marks the beginning
/// in all panels.
const KINDS: [(&str, &str, bool); 4] = [
    ("handover", "handover", true),
    ("carrier", "carrier aggregated", false),
    ("harq", "HARQ retransmission burst", false),
    ("silence", "no grant for 100 ms", false),
];

impl<'a> Group<'a> {
    /// The first seed's runs of a scenario, if there are any whose series is kept.
    pub(super) fn of(results: &'a [Findings], flows: &'a [Flow], scenario: &str) -> Option<Self> {
        let kept = |flow: &&Flow| {
            let results: &Findings = &results[flow.folder];
            flow.scenario == scenario && results.of_run(flow.run, "series.parquet").is_some()
        };
        let seed = flows.iter().filter(kept).map(|flow| flow.seed).min()?;
        let flows = flows.iter().filter(kept).filter(|flow| flow.seed == seed).collect();
        Some(Self { results, flows })
    }

    pub(super) fn names(&self) -> Vec<&'a str> {
        distinct(self.flows.iter().map(|flow| flow.name.as_str()))
    }

    /// The run in which this name is, and the numbers of its flows there.
    fn run_of(&self, name: &str) -> Option<(&'a Findings, i64, Vec<&'a Flow>)> {
        let first = self.flows.iter().find(|flow| flow.name == name)?;
        let own = self.flows.iter().filter(|flow| {
            flow.name == name && (flow.folder, flow.run) == (first.folder, first.run)
        });
        Some((&self.results[first.folder], first.run, own.copied().collect()))
    }

    /// Throughput and delay of these names, and what happened on their radio.
    pub(super) fn draw(&self, names: &[&str]) -> Result<Drawing, ReadError> {
        let (mut rates, mut delays) = (Vec::new(), Vec::new());
        let (mut shade, mut happenings) = (None, Vec::new());
        let (mut width, mut end) = (0.0_f64, 0.0_f64);
        for name in names {
            let Some((results, run, flows)) = self.run_of(name) else { continue };
            let Some(bins) = Bins::read(results, run)? else { continue };
            let numbers: Vec<i64> = flows.iter().map(|flow| flow.number).collect();
            let (sum, factor) = coarser(&bins.sum(&numbers), MAX_BINS);
            width = bins.width * factor as f64;
            end = end.max(bins.end());
            let line = |of: fn(&super::bins::Bin) -> Option<f64>| Line {
                name: (*name).into(),
                points: sum.iter().map(|bin| (bin.from + 0.5 * width, of(bin))).collect(),
            };
            rates.push(line(|bin| Some(bin.throughput)));
            delays.push(line(|bin| bin.delay));
            let devices = distinct(flows.iter().map(|flow| flow.device.as_str()));
            if shade.is_none() && devices.len() == 1 {
                let steps = sum.iter().map_while(|bin| Some((bin.from, bin.capacity?)));
                let steps: Vec<_> = steps.collect();
                let last = steps.last().map(|(from, offered)| (from + width, *offered));
                shade = last.map(|last| Shade {
                    name: "capacity".into(),
                    steps: steps.into_iter().chain([last]).collect(),
                });
            }
            happenings.extend(happened(name, &Happened::read(results, run)?, &flows));
        }
        // Rows keep one order, independent of the order of events.
        let order = |happening: &Happening| KINDS.iter().position(|kind| kind.1 == happening.kind);
        happenings.sort_by_key(order);
        let panel = |y, shade, lines| Panel { y, shade, lines };
        let series = Series {
            x: Axis::linear("time (s)").until(end),
            panels: vec![
                panel(Axis::linear("throughput (Mbit/s)"), shade, rates),
                panel(Axis::logarithmic("one-way delay, mean (ms)"), None, delays),
            ],
            happenings,
        };
        Ok(Drawing { series, width })
    }

    /// A panel for each name with the rates of its flows, where there are several, as in BISCAY's
    /// Figure 9.
    pub(super) fn draw_shares(&self) -> Result<Option<Drawing>, ReadError> {
        let (mut panels, mut width, mut end) = (Vec::new(), 0.0_f64, 0.0_f64);
        for name in self.names() {
            let Some((results, run, flows)) = self.run_of(name) else { continue };
            let Some(bins) = Bins::read(results, run)?.filter(|_| flows.len() > 1) else {
                continue;
            };
            end = end.max(bins.end());
            let mut lines = Vec::new();
            for (at, flow) in flows.iter().enumerate() {
                let own = bins.flows.get(&flow.number).map_or(&[][..], Vec::as_slice);
                let (own, factor) = coarser(own, MAX_BINS);
                width = bins.width * factor as f64;
                let points = own.iter().map(|bin| (bin.from + 0.5 * width, Some(bin.throughput)));
                lines.push(Line { name: format!("flow {}", at + 1), points: points.collect() });
            }
            let y = Axis::linear(format!("{name}, throughput of each flow (Mbit/s)"));
            panels.push(Panel { y, shade: None, lines });
        }
        let x = Axis::linear("time (s)").until(end);
        let series = Series { x, panels, happenings: Vec::new() };
        Ok((!series.panels.is_empty()).then_some(Drawing { series, width }))
    }

    /// Jain's index of the flows of each name over windows that slide.
    pub(super) fn draw_fairness(&self, window: f64) -> Result<Option<Drawing>, ReadError> {
        let (mut lines, mut width, mut end) = (Vec::new(), 0.0_f64, 0.0_f64);
        for name in self.names() {
            let Some((results, run, flows)) = self.run_of(name) else { continue };
            let Some(bins) = Bins::read(results, run)?.filter(|_| flows.len() > 1) else {
                continue;
            };
            let numbers: Vec<i64> = flows.iter().map(|flow| flow.number).collect();
            let points = sliding(&bins, &numbers, window);
            (width, end) = (bins.width, end.max(bins.end()));
            let every = points.len().div_ceil(MAX_BINS).max(1);
            let points: Vec<_> = points.into_iter().step_by(every).collect();
            if points.iter().any(|point| point.1.is_some()) {
                lines.push(Line { name: name.into(), points });
            }
        }
        let panel = Panel { y: Axis::linear("Jain's index").until(1.0), shade: None, lines };
        let is_empty = panel.lines.is_empty();
        let x = Axis::linear("time (s)").until(end);
        let series = Series { x, panels: vec![panel], happenings: Vec::new() };
        Ok((!is_empty).then_some(Drawing { series, width }))
    }
}

/// The radio events of the devices of these flows, in the flows' directions.
fn happened(name: &str, all: &[Happened], flows: &[&Flow]) -> Vec<Happening> {
    let is_theirs = |happened: &Happened| {
        flows.iter().any(|flow| {
            let way = happened.direction.as_str();
            flow.device == happened.device && (way.is_empty() || flow.direction == way)
        })
    };
    let shown = all.iter().filter(|happened| is_theirs(happened)).filter_map(|happened| {
        let (_, kind, marked) = KINDS.iter().find(|(stored, ..)| *stored == happened.kind)?;
        Some(Happening {
            kind: (*kind).into(),
            name: name.into(),
            span: happened.span,
            marked: *marked,
        })
    });
    shown.collect()
}
