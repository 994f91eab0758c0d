//! The page of one or several folders of results.

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_experiment::provenance::Provenance;

use super::bins::Bins;
use super::fairness::sliding;
use super::over_time::Group;
use super::summary::{self, Windows};
use super::{Findings, Flow, ReadError};
use crate::{Axis, Bar, Bars, Figure, Kind, Origin, Page, Section, Spread, distinct};

/// Lines that one figure over time has. Chosen: more cannot be distinguished where they cross.
const LINES: usize = 4;

/// Most scenarios or groups with separate figures; more are drawn together. Chosen: a page with
/// more plots is not read.
const MAX_GROUPS: usize = 8;

/// Options of the report.
#[derive(Clone, Debug)]
pub struct Options {
    /// Width of the windows over which Jain's index slides.
    pub window: Duration,
    /// The number of scenarios that are drawn over time.
    pub drawn: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { window: Duration::from_secs(1), drawn: 4 }
    }
}

/// Builds a page.
struct Maker<'a> {
    results: &'a [Findings],
    flows: Vec<Flow>,
    origin: Origin,
    options: &'a Options,
}

/// The report of these folders; `drawn` names the program that draws it.
///
/// # Errors
///
/// [`ReadError`] if a series that a figure needs is missing or wrong.
pub fn page(
    results: &[Findings],
    options: &Options,
    drawn: &Provenance,
) -> Result<Page, ReadError> {
    let flows = named(results);
    let maker = Maker { results, flows, origin: origin(results), options };
    let scenarios = distinct(maker.flows.iter().map(|flow| flow.scenario.as_str()));
    let groups = distinct(maker.flows.iter().map(|flow| flow.group.as_str()));
    let mut sections = vec![maker.overview(&groups)?];
    sections.extend(maker.over_time(&scenarios)?);
    sections.extend(maker.fairness(&scenarios)?);
    let titles = distinct(results.iter().map(|r| r.about.as_str()).filter(|a| !a.is_empty()));
    let title = if titles.is_empty() { "Results of a plan".into() } else { titles.join("; ") };
    let runs: usize = results.iter().map(|results| results.runs).sum();
    let names = distinct(maker.flows.iter().map(|flow| flow.name.as_str()));
    let stopped = if results.iter().all(|results| results.complete) {
        ""
    } else {
        " It was stopped before all runs of the plan were made."
    };
    let grouped = if groups == scenarios {
        String::new()
    } else {
        format!(" in {}", counted(groups.len(), "group"))
    };
    let subtitle = format!(
        "{}, {}, {}{grouped}, seed {}.{stopped}",
        counted(runs, "run"),
        counted(names.len(), "controller"),
        counted(scenarios.len(), "scenario"),
        maker.origin.seeds
    );
    Ok(Page { title, subtitle, sections, origin: pairs(results, drawn) })
}

/// The flows of all folders. If two folders hold the same run, the flow's name includes the folder.
fn named(results: &[Findings]) -> Vec<Flow> {
    let mut places: BTreeMap<(&str, i64, &str), usize> = BTreeMap::new();
    let mut is_ambiguous = false;
    for (folder, results) in results.iter().enumerate() {
        for flow in &results.flows {
            let key = (flow.scenario.as_str(), flow.seed, flow.name.as_str());
            is_ambiguous |= *places.entry(key).or_insert(folder) != folder;
        }
    }
    let flows = results.iter().enumerate().flat_map(|(folder, results)| {
        results.flows.iter().map(move |flow| {
            let last = results.folder.file_name().unwrap_or_default().to_string_lossy();
            let name =
                if is_ambiguous { format!("{} ({last})", flow.name) } else { flow.name.clone() };
            Flow { folder, name, ..flow.clone() }
        })
    });
    flows.collect()
}

fn origin(results: &[Findings]) -> Origin {
    let joined = |of: fn(&Findings) -> &str| distinct(results.iter().map(of)).join("; ");
    Origin {
        command: joined(|results| &results.origin.command),
        commit: joined(|results| &results.origin.commit),
        seeds: joined(|results| &results.origin.seeds),
        machine: joined(|results| &results.origin.machine),
    }
}

fn pairs(results: &[Findings], drawn: &Provenance) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for results in results {
        pairs.push(("results".into(), results.folder.display().to_string()));
        pairs.push(("made by".into(), format!("sounding {}", results.version)));
        pairs.extend(results.origin.pairs().map(|(name, value)| (name.into(), value.into())));
        if !results.set.is_empty() {
            pairs.push(("set".into(), results.set.join("\n")));
        }
    }
    pairs.push(("drawn by".into(), drawn.command.clone()));
    pairs.push(("at commit".into(), drawn.commit.clone()));
    pairs.push(("on".into(), drawn.machine.clone()));
    pairs
}

impl Maker<'_> {
    fn figure(&self, name: impl Into<String>, title: &str, caption: &str, kind: Kind) -> Figure {
        Figure {
            name: name.into(),
            title: title.into(),
            caption: caption.into(),
            origin: self.origin.clone(),
            kind,
        }
    }

    fn overview(&self, groups: &[&str]) -> Result<Section, ReadError> {
        let names = distinct(self.flows.iter().map(|flow| flow.name.as_str()));
        let shown = if groups.len() > MAX_GROUPS { &[] } else { groups };
        let mut figures = Vec::from_iter(self.summary(shown, groups.len()));
        let windows = Windows::read(self.results, &self.flows)?;
        if !windows.is_empty() {
            let wide = windows.wide();
            let caption = format!(
                "Throughput of a flow and mean delay of its packets in each bin of {wide}, after the warm-up; all runs \
                 together. Less delay is at the right: the best is in the upper right corner."
            );
            let plane = windows.plane(None, &names);
            figures.push(self.figure(
                "plane",
                "Throughput against delay",
                &caption,
                Kind::Plane(plane),
            ));
            if shown.len() > 1 {
                for (at, group) in (1..).zip(shown) {
                    let plane = windows.plane(Some(group), &names);
                    let title = format!("Throughput against delay: {group}");
                    let caption = format!("As above, only of {group}.");
                    let name = format!("plane-{at}");
                    figures.push(self.figure(name, &title, &caption, Kind::Plane(plane)));
                }
            }
            let [delay, throughput] = windows.cdfs(&names);
            let caption = format!(
                "Mean one-way delay of the packets in each bin of {wide}, all runs together."
            );
            figures.push(self.figure(
                "delay-cdf",
                "Distribution of delay",
                &caption,
                Kind::Cdf(delay),
            ));
            let caption = format!("Throughput of a flow in each bin of {wide}, all runs together.");
            let kind = Kind::Cdf(throughput);
            figures.push(self.figure(
                "throughput-cdf",
                "Distribution of throughput",
                &caption,
                kind,
            ));
        }
        let runs = self.flows.iter().filter(|flow| flow.name == names[0]).count();
        if runs > 2 {
            let caption = "Each run counts once, whatever its length: its throughput and the 95th percentile of its \
                           one-way delay.";
            let plane = summary::plane_of_runs(self.flows.iter());
            figures.push(self.figure(
                "plane-runs",
                "Runs against each other",
                caption,
                Kind::Plane(plane),
            ));
            // With bins, the planes separate the groups.
            for (at, group) in (1..).zip(shown).filter(|_| windows.is_empty() && shown.len() > 1) {
                let own = self.flows.iter().filter(|flow| flow.group == **group);
                let title = format!("Runs against each other: {group}");
                let caption = format!("As above, only of {group}.");
                let kind = Kind::Plane(summary::plane_of_runs(own));
                figures.push(self.figure(format!("plane-runs-{at}"), &title, &caption, kind));
            }
        }
        figures.extend(self.beside_oracle(shown));
        if shown.len() > 1 {
            let bars = |label: &str, of| summary::bars(&self.flows, shown, label, of);
            let delay = bars("one-way delay, p95 (ms)", |figures| figures.delay_p95);
            let rate = bars("throughput (Mbit/s)", |figures| figures.throughput);
            let caption = "Medians over the runs of each scenario.";
            figures.push(self.figure(
                "throughput-bars",
                "Throughput by scenario",
                caption,
                Kind::Bars(rate),
            ));
            figures.push(self.figure(
                "delay-bars",
                "Delay by scenario",
                caption,
                Kind::Bars(delay),
            ));
        }
        figures.extend(self.course(shown));
        Ok(Section { heading: "All runs".into(), text: String::new(), figures })
    }

    fn summary(&self, shown: &[&str], groups: usize) -> Option<Figure> {
        let caption = format!(
            "Means over runs; flows of one controller in a run count together. One-way: from sender to receiver; \
             queueing: behind other packets and through the bottleneck.{}",
            together(groups)
        );
        let table = summary::table(&self.flows, shown, &summary::THROUGHPUT_AND_DELAY)?;
        Some(self.figure("summary", "Throughput and delay", &caption, Kind::Table(table)))
    }

    fn course(&self, shown: &[&str]) -> Option<Figure> {
        let caption = "Means over runs, but for Jain's index: over sliding windows, the least of all runs. \
                       Convergence: from a bulk flow's beginning until what it gets stays within a quarter of what is \
                       fair for five seconds, of the runs that have such; in a modelled cell it is unknown of a flow \
                       alone what is fair. Stalled: nothing arrived for more than 200 ms. Completion: of finite flows \
                       and responses.";
        let table = summary::table(&self.flows, shown, &summary::COURSE)?;
        let title = "Sharing, convergence, standstill, completion";
        Some(self.figure("course", title, caption, Kind::Table(table)))
    }

    /// The distance to the oracle in both axes, of all runs and of each group.
    fn beside_oracle(&self, shown: &[&str]) -> Vec<Figure> {
        let one = |name: String, of: &str, caption: &str, flows: Vec<&Flow>| {
            let plane = summary::plane_from_oracle(flows.into_iter())?;
            let title = format!("Distance to the oracle{of}");
            Some(self.figure(name, &title, caption, Kind::Plane(plane)))
        };
        let caption = "Each run counts once, beside the oracle's with the same seed. Delays that are no more than 1 ms \
                       above its, a step of its clock, stand at 1 ms.";
        let groups = (1..).zip(shown).filter(|_| shown.len() > 1).map(|(at, group)| {
            let own = self.flows.iter().filter(|flow| flow.group == **group).collect();
            let caption = format!("As above, only of {group}.");
            one(format!("oracle-{at}"), &format!(": {group}"), &caption, own)
        });
        let all = one("oracle".into(), "", caption, self.flows.iter().collect());
        std::iter::once(all).chain(groups).flatten().collect()
    }

    fn over_time(&self, scenarios: &[&str]) -> Result<Option<Section>, ReadError> {
        let mut figures = Vec::new();
        for (at, scenario) in (1..).zip(scenarios.iter().take(self.options.drawn)) {
            let Some(group) = Group::of(self.results, &self.flows, scenario) else { continue };
            let seed = group.flows[0].seed;
            let names = group.names();
            for (part, names) in (1..).zip(names.chunks(LINES)) {
                let drawing = group.draw(names)?;
                let is_parted = group.names().len() > LINES;
                let name =
                    if is_parted { format!("time-{at}-{part}") } else { format!("time-{at}") };
                let of = if scenario.is_empty() { String::new() } else { format!(": {scenario}") };
                let title = format!("Over time{of}, seed {seed}");
                let ms = 1e3 * drawing.width;
                let capacity = match drawing.series.panels.iter().any(|panel| panel.shade.is_some())
                {
                    true => " The shaded area is what the link could have carried.",
                    false => " The capacity of a modelled cell is unknown, so nothing is shaded.",
                };
                let radio = match drawing.series.happenings.is_empty() {
                    true => "",
                    false => {
                        " Below: what happened on the radio, to each run in its colour; dotted: handovers."
                    }
                };
                let caption = format!(
                    "Sum of a controller's flows and mean delay of their packets in bins of {ms:.0} ms; a run for each \
                     controller, over the same network.{capacity}{radio}"
                );
                figures.push(self.figure(name, &title, &caption, Kind::Series(drawing.series)));
            }
        }
        let text = if scenarios.len() > self.options.drawn {
            format!(
                "{} of {} scenarios, the first of the plan.",
                self.options.drawn,
                scenarios.len()
            )
        } else {
            String::new()
        };
        let section = Section { heading: "Over time".into(), text, figures };
        Ok((!section.figures.is_empty()).then_some(section))
    }

    fn fairness(&self, scenarios: &[&str]) -> Result<Option<Section>, ReadError> {
        let window = self.options.window.as_secs_f64();
        let mut figures = Vec::new();
        for (at, scenario) in (1..).zip(scenarios.iter().take(self.options.drawn)) {
            let Some(group) = Group::of(self.results, &self.flows, scenario) else { continue };
            let of = if scenario.is_empty() { String::new() } else { format!(": {scenario}") };
            let seed = group.flows[0].seed;
            if let Some(drawing) = group.draw_shares()? {
                let caption =
                    format!("Throughput of each flow in bins of {:.0} ms.", 1e3 * drawing.width);
                let title = format!("Shares of flows{of}, seed {seed}");
                let kind = Kind::Series(drawing.series);
                figures.push(self.figure(format!("shares-{at}"), &title, &caption, kind));
            }
            if let Some(drawing) = group.draw_fairness(window)? {
                let caption = format!(
                    "Jain's index of the flows of a run that send through the whole of a window of {window} s, at its \
                     middle; 1 is an even share."
                );
                let title = format!("Fairness over time{of}, seed {seed}");
                let kind = Kind::Series(drawing.series);
                figures.push(self.figure(format!("fairness-{at}"), &title, &caption, kind));
            }
        }
        if figures.is_empty() {
            return Ok(None);
        }
        let caption = format!(
            "Jain's index over windows of {window} s of all runs after the warm-up: how unfair the unfair moments are, \
             which an index over whole runs hides."
        );
        let bars = self.fairness_bars(window)?;
        figures.insert(0, self.figure("fairness", "Fairness", &caption, Kind::Bars(bars)));
        Ok(Some(Section { heading: "Fairness".into(), text: String::new(), figures }))
    }

    /// Median and quartiles of the index over the windows of all runs.
    fn fairness_bars(&self, window: f64) -> Result<Bars, ReadError> {
        let mut by_run: BTreeMap<(usize, i64, &str), Vec<i64>> = BTreeMap::new();
        for flow in &self.flows {
            let key = (flow.folder, flow.run, flow.name.as_str());
            by_run.entry(key).or_default().push(flow.number);
        }
        let mut indices: BTreeMap<&str, super::pool::Pool> = BTreeMap::new();
        for ((folder, run, name), numbers) in by_run.iter().filter(|(_, flows)| flows.len() > 1) {
            let results = &self.results[*folder];
            let Some(bins) = Bins::read(results, *run)? else { continue };
            let pool = indices.entry(name).or_default();
            let points = sliding(&bins, numbers, window).into_iter();
            let points = points.filter(|(at, _)| at - 0.5 * window >= results.warmup);
            points.filter_map(|point| point.1).for_each(|index| pool.push(index));
        }
        let names = distinct(self.flows.iter().map(|flow| flow.name.as_str()));
        let bar = |name: &str| {
            let spread = Spread::of(indices.get(name)?.values().to_vec())?;
            Some(Bar {
                group: String::new(),
                name: name.into(),
                value: spread.middle,
                between: Some((spread.outer.0, spread.outer.1)),
                mark: None,
            })
        };
        Ok(Bars {
            y: Axis::linear("Jain's index").until(1.0),
            bars: names.into_iter().filter_map(bar).collect(),
            between: "bar: median · line: 10–90 % of windows".into(),
            marks: String::new(),
        })
    }
}

fn counted(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

fn together(groups: usize) -> String {
    if groups > MAX_GROUPS {
        format!(" All {groups} scenarios together; flows.parquet has each.")
    } else {
        String::new()
    }
}
