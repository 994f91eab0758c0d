//! All runs together: a table, planes, distributions.

use std::collections::BTreeMap;

use super::bins::Bins;
use super::pool::Pool;
use super::{Figures, Findings, Flow, ReadError};
use crate::report::{
    Axis, Bar, Bars, Cdf, Cell, Curve, Mark, Plane, QUARTILES, Spread, Table, distinct,
};

/// What flows of one name did in each run: rates are sums, delays means.
pub(super) fn runs<'a>(flows: impl Iterator<Item = &'a Flow>) -> Vec<Figures> {
    let mut runs: BTreeMap<(usize, i64), Vec<Figures>> = BTreeMap::new();
    for flow in flows {
        runs.entry((flow.folder, flow.run)).or_default().push(flow.figures);
    }
    let together = |flows: Vec<Figures>| {
        let sum = |of: fn(&Figures) -> Option<f64>| flows.iter().map(of).sum::<Option<f64>>();
        let mean = |of| sum(of).map(|sum| sum / flows.len() as f64);
        Figures {
            throughput: sum(|f| f.throughput),
            utilisation: sum(|f| f.utilisation),
            delay_mean: mean(|f| f.delay_mean),
            delay_p95: mean(|f| f.delay_p95),
            delay_p99: mean(|f| f.delay_p99),
            queue_p95: mean(|f| f.queue_p95),
            loss: mean(|f| f.loss),
        }
    };
    runs.into_values().map(together).collect()
}

fn mean(runs: &[Figures], of: fn(&Figures) -> Option<f64>) -> Option<f64> {
    let known: Vec<f64> = runs.iter().filter_map(of).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// A row for each group and name, or for each name alone where no groups are told apart: means over runs.
pub(super) fn table(flows: &[Flow], groups: &[&str]) -> Table {
    let names = distinct(flows.iter().map(|flow| flow.name.as_str()));
    let several = groups.len() > 1;
    let mut columns = vec![
        "controller",
        "runs",
        "Mbit/s",
        "used %",
        "one-way mean ms",
        "p95 ms",
        "p99 ms",
        "queueing p95 ms",
        "loss %",
    ];
    if several {
        columns.insert(0, "scenario");
    }
    let mut rows = Vec::new();
    let all: Vec<Option<&str>> = match groups {
        [] => vec![None],
        some => some.iter().map(|group| Some(*group)).collect(),
    };
    for group in all {
        for name in &names {
            let own =
                |flow: &&Flow| flow.name == **name && group.is_none_or(|group| flow.group == group);
            let runs = runs(flows.iter().filter(own));
            if runs.is_empty() {
                continue;
            }
            let cell = |of, decimals| Cell::number(mean(&runs, of), decimals);
            let percent = |of| Cell::number(mean(&runs, of).map(|share| 100.0 * share), 1);
            let mut row = vec![
                Cell::from(*name),
                Cell::Number(runs.len() as f64, 0),
                cell(|f| f.throughput, 2),
                percent(|f| f.utilisation),
                cell(|f| f.delay_mean, 1),
                cell(|f| f.delay_p95, 1),
                cell(|f| f.delay_p99, 1),
                cell(|f| f.queue_p95, 1),
                Cell::number(mean(&runs, |f| f.loss).map(|share| 100.0 * share), 2),
            ];
            if let Some(group) = group.filter(|_| several) {
                row.insert(0, Cell::from(group));
            }
            rows.push(row);
        }
    }
    let mut table = Table {
        columns: columns.into_iter().map(Into::into).collect(),
        named: several.into(),
        rows,
    };
    // A column of which nobody knows anything says nothing.
    for column in (0..table.columns.len()).rev() {
        if table.rows.iter().all(|row| row[column] == Cell::Unknown) {
            table.columns.remove(column);
            table.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    table
}

/// Throughput and 95th percentile of delay of whole runs, a mark for each name.
pub(super) fn plane_of_runs<'a>(flows: impl Iterator<Item = &'a Flow> + Clone) -> Plane {
    let mark = |name: &str| {
        let runs = runs(flows.clone().filter(|flow| flow.name == name));
        let spread =
            |of: fn(&Figures) -> Option<f64>| Spread::of(runs.iter().filter_map(of).collect());
        let x = spread(|figures| figures.delay_p95)?;
        Some(Mark { name: name.into(), x, y: spread(|figures| figures.throughput)? })
    };
    let names = distinct(flows.clone().map(|flow| flow.name.as_str()));
    plane("one-way delay, p95 of a run (ms)", names.into_iter().filter_map(mark).collect())
}

fn plane(delay: &str, marks: Vec<Mark>) -> Plane {
    // Delays of one magnitude read better on even steps.
    let ends = marks.iter().flat_map(|mark| [mark.x.outer.0, mark.x.outer.1]);
    let (low, high) = ends.fold((f64::MAX, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let x = if high > 4.0 * low { Axis::logarithmic(delay) } else { Axis::linear(delay) };
    let x = Axis { from_zero: false, ..x };
    Plane {
        x,
        reversed: true,
        y: Axis::linear("throughput (Mbit/s)"),
        marks,
        spread: QUARTILES.into(),
    }
}

/// What the bins of many runs hold together, by group and name.
#[derive(Default)]
pub(super) struct Windows {
    pools: BTreeMap<(String, String), [Pool; 2]>,
    /// Widths of the bins in seconds, least and largest.
    pub(super) width: (f64, f64),
}

impl Windows {
    /// Of all runs whose series is kept.
    pub(super) fn read(results: &[Findings], flows: &[Flow]) -> Result<Self, ReadError> {
        let mut windows = Self { width: (f64::MAX, 0.0), ..Self::default() };
        let mut by_run: BTreeMap<(usize, i64), Vec<&Flow>> = BTreeMap::new();
        for flow in flows {
            by_run.entry((flow.folder, flow.run)).or_default().push(flow);
        }
        for ((folder, run), flows) in by_run {
            let Some(bins) = Bins::read(&results[folder], run)? else { continue };
            let (least, most) = windows.width;
            windows.width = (least.min(bins.width), most.max(bins.width));
            for flow in flows {
                let own = bins.flows.get(&flow.number).map_or(&[][..], Vec::as_slice);
                let key = (flow.group.clone(), flow.name.clone());
                let [throughput, delay] = windows.pools.entry(key).or_default();
                for bin in Bins::since(own, results[folder].warmup) {
                    throughput.push(bin.throughput);
                    if let Some(ms) = bin.delay {
                        delay.push(ms);
                    }
                }
            }
        }
        Ok(windows)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }

    /// Widths in words.
    pub(super) fn wide(&self) -> String {
        let ms = |seconds: f64| format!("{:.0} ms", 1e3 * seconds);
        let (least, most) = self.width;
        if most - least < 1e-9 { ms(least) } else { format!("{} to {}", ms(least), ms(most)) }
    }

    /// Values of a name: of one group, or of all.
    fn values(&self, group: Option<&str>, name: &str, of: usize) -> Vec<f64> {
        let pools = self.pools.iter().filter(|((pooled, whose), _)| {
            whose == name && group.is_none_or(|group| group == pooled)
        });
        pools.flat_map(|(_, pools)| pools[of].values()).copied().collect()
    }

    /// Throughput and delay in all bins, as in BISCAY's Figure 8 and PBE-CC's Figure 13.
    pub(super) fn plane(&self, group: Option<&str>, names: &[&str]) -> Plane {
        let mark = |name: &&str| {
            let y = Spread::of(self.values(group, name, 0))?;
            let x = Spread::of(self.values(group, name, 1))?;
            Some(Mark { name: (*name).into(), x, y })
        };
        plane("one-way delay (ms)", names.iter().filter_map(mark).collect())
    }

    pub(super) fn cdfs(&self, names: &[&str]) -> [Cdf; 2] {
        let cdf = |of: usize, x: Axis| {
            let curve = |name: &&str| Curve::of(*name, self.values(None, name, of));
            let curves = names.iter().map(curve).filter(|curve| !curve.points.is_empty());
            Cdf { x, of: "bins".into(), curves: curves.collect() }
        };
        [
            cdf(1, Axis::logarithmic("one-way delay (ms)")),
            cdf(0, Axis::linear("throughput (Mbit/s)")),
        ]
    }
}

/// One quantity by group and name: medians and quartiles over runs.
pub(super) fn bars(
    flows: &[Flow],
    groups: &[&str],
    label: &str,
    of: fn(&Figures) -> Option<f64>,
) -> Bars {
    let names = distinct(flows.iter().map(|flow| flow.name.as_str()));
    let mut bars = Vec::new();
    for group in groups {
        for name in &names {
            let own = |flow: &&Flow| flow.group == **group && flow.name == **name;
            let runs = runs(flows.iter().filter(own));
            let Some(spread) = Spread::of(runs.iter().filter_map(of).collect()) else { continue };
            bars.push(Bar {
                group: (*group).into(),
                name: (*name).into(),
                value: spread.middle,
                between: (runs.len() > 1).then_some(spread.inner),
            });
        }
    }
    let several = bars.iter().any(|bar| bar.between.is_some());
    let between = if several { "bar: median · line: 25–75 % of runs" } else { "" };
    Bars { y: Axis::linear(label), bars, between: between.into() }
}
