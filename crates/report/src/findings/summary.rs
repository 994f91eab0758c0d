//! All runs together: a table, planes, distributions.

use std::collections::BTreeMap;

use super::bins::Bins;
use super::pool::Pool;
use super::{Figures, Findings, Flow, ReadError};
use crate::{Axis, Bar, Bars, Cdf, Cell, Curve, Mark, Plane, QUARTILES, Spread, Table, distinct};

/// Totals of one name's flows in each run: rates are sums, delays means. A value that only some
/// flows have, such as the time until convergence, is the mean of those.
pub(super) fn runs<'a>(flows: impl Iterator<Item = &'a Flow>) -> Vec<Figures> {
    let mut runs: BTreeMap<(usize, i64), Vec<Figures>> = BTreeMap::new();
    for flow in flows {
        runs.entry((flow.folder, flow.run)).or_default().push(flow.figures);
    }
    let together = |flows: Vec<Figures>| {
        let sum = |of: fn(&Figures) -> Option<f64>| flows.iter().map(of).sum::<Option<f64>>();
        let whole = |of| sum(of).map(|sum| sum / flows.len() as f64);
        let known = |of| mean(&flows, of);
        Figures {
            throughput: sum(|f| f.throughput),
            utilisation: sum(|f| f.utilisation),
            delay_mean: whole(|f| f.delay_mean),
            delay_p95: whole(|f| f.delay_p95),
            delay_p99: whole(|f| f.delay_p99),
            queue_p95: whole(|f| f.queue_p95),
            loss: whole(|f| f.loss),
            oracle_share: known(|f| f.oracle_share),
            oracle_queue_p95: known(|f| f.oracle_queue_p95),
            jain_mean: known(|f| f.jain_mean),
            jain_least: known(|f| f.jain_least),
            convergence: known(|f| f.convergence),
            stalled: known(|f| f.stalled),
            longest_gap: known(|f| f.longest_gap),
            completion_p50: known(|f| f.completion_p50),
            completion_p99: known(|f| f.completion_p99),
            completion_p999: known(|f| f.completion_p999),
        }
    };
    runs.into_values().map(together).collect()
}

fn mean(runs: &[Figures], of: fn(&Figures) -> Option<f64>) -> Option<f64> {
    let known: Vec<f64> = runs.iter().filter_map(of).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// A column of a table: its heading, and the function that computes its cell from some runs.
pub(super) type Column = (&'static str, fn(&[Figures]) -> Cell);

const RUNS: Column = ("runs", |runs| Cell::Number(runs.len() as f64, 0));

/// Columns of throughput and delay.
pub(super) const THROUGHPUT_AND_DELAY: [Column; 10] = [
    RUNS,
    ("Mbit/s", |runs| Cell::number(mean(runs, |f| f.throughput), 2)),
    ("used %", |runs| percent(runs, |f| f.utilisation, 1)),
    ("one-way mean ms", |runs| Cell::number(mean(runs, |f| f.delay_mean), 1)),
    ("p95 ms", |runs| Cell::number(mean(runs, |f| f.delay_p95), 1)),
    ("p99 ms", |runs| Cell::number(mean(runs, |f| f.delay_p99), 1)),
    ("queueing p95 ms", |runs| Cell::number(mean(runs, |f| f.queue_p95), 1)),
    ("loss %", |runs| percent(runs, |f| f.loss, 2)),
    ("of oracle %", |runs| percent(runs, |f| f.oracle_share, 1)),
    ("over oracle p95 ms", |runs| Cell::number(mean(runs, |f| f.oracle_queue_p95), 1)),
];

/// Sharing, convergence, stalls and completion times.
pub(super) const COURSE: [Column; 10] = [
    RUNS,
    ("Jain, mean", |runs| Cell::number(mean(runs, |f| f.jain_mean), 3)),
    ("Jain, least", |runs| {
        Cell::number(runs.iter().filter_map(|f| f.jain_least).reduce(f64::min), 3)
    }),
    ("runs that converge", |runs| {
        match runs.iter().filter(|run| run.convergence.is_some()).count() {
            0 => Cell::Unknown,
            some => Cell::Number(some as f64, 0),
        }
    }),
    ("after s", |runs| seconds(runs, |f| f.convergence)),
    ("stalled s", |runs| seconds(runs, |f| f.stalled)),
    ("longest gap s", |runs| seconds(runs, |f| f.longest_gap)),
    ("completion p50 s", |runs| seconds(runs, |f| f.completion_p50)),
    ("p99 s", |runs| seconds(runs, |f| f.completion_p99)),
    ("p99.9 s", |runs| seconds(runs, |f| f.completion_p999)),
];

fn percent(runs: &[Figures], of: fn(&Figures) -> Option<f64>, decimals: usize) -> Cell {
    Cell::number(mean(runs, of).map(|share| 100.0 * share), decimals)
}

fn seconds(runs: &[Figures], of: fn(&Figures) -> Option<f64>) -> Cell {
    Cell::number(mean(runs, of).map(|ms| ms / 1e3), 2)
}

/// A row for each group and name, or for each name alone without groups: means over runs. Left out
/// if all of it is unknown.
pub(super) fn table(flows: &[Flow], groups: &[&str], of: &[Column]) -> Option<Table> {
    let names = distinct(flows.iter().map(|flow| flow.name.as_str()));
    let several = groups.len() > 1;
    let heads = ["scenario", "controller"];
    let heads = if several { &heads[..] } else { &heads[1..] };
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
            let words = group.filter(|_| several).into_iter().chain([*name]).map(Cell::from);
            rows.push(words.chain(of.iter().map(|(_, of)| of(&runs))).collect());
        }
    }
    let columns = heads.iter().copied().chain(of.iter().map(|(head, _)| *head));
    let mut table =
        Table { columns: columns.map(Into::into).collect(), named: several.into(), rows };
    // A column without any known value is left out.
    for column in (0..table.columns.len()).rev() {
        if table.rows.iter().all(|row| row[column] == Cell::Unknown) {
            table.columns.remove(column);
            table.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    (table.columns.len() > heads.len() + 1).then_some(table)
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

/// A controller within this distance of the oracle counts as equal: the oracle's clock has steps of
/// a millisecond.
const NEAREST_MS: f64 = 1.0;

/// Distance of whole runs from the oracle, in both directions; `None` without an oracle.
pub(super) fn plane_from_oracle<'a>(
    flows: impl Iterator<Item = &'a Flow> + Clone,
) -> Option<Plane> {
    let mark = |name: &str| {
        let runs = runs(flows.clone().filter(|flow| flow.name == name));
        let delays = runs.iter().filter_map(|run| run.oracle_queue_p95);
        let shares = runs.iter().filter_map(|run| run.oracle_share);
        Some(Mark {
            name: name.into(),
            x: Spread::of(delays.map(|ms| ms.max(NEAREST_MS)).collect())?,
            y: Spread::of(shares.map(|share| 100.0 * share).collect())?,
        })
    };
    let names = distinct(flows.clone().map(|flow| flow.name.as_str()));
    let marks: Vec<Mark> = names.into_iter().filter_map(mark).collect();
    let plane = plane("queueing delay, p95 of a run, over the oracle's (ms)", marks);
    let y = Axis::linear("throughput (% of the oracle's)");
    (!plane.marks.is_empty()).then_some(Plane { y, ..plane })
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

/// The bins of many runs together, by group and name.
#[derive(Default)]
pub(super) struct Windows {
    pools: BTreeMap<(String, String), [Pool; 2]>,
    /// Widths of the bins in seconds, least and largest.
    pub(super) width: (f64, f64),
}

impl Windows {
    /// From all runs whose series is kept.
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
                mark: None,
            });
        }
    }
    let several = bars.iter().any(|bar| bar.between.is_some());
    let between = if several { "bar: median · line: 25–75 % of runs" } else { "" };
    Bars { y: Axis::linear(label), bars, between: between.into(), marks: String::new() }
}
