use sounding_report::{
    Axis, Cdf, Cell, Curve, Figure, Kind, Mark, Origin, Page, Plane, QUARTILES, Section, Spread,
    Table, distinct,
};

use super::{BIN, PrivateRun, Runs};
use crate::papers::biscay::item::Report;

/// The item as a page: its table, boxes as in the paper's figure, and distributions.
pub fn private_page(report: &Report<Runs>) -> Page {
    let Runs { runs } = &report.evidence.measured;
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.dedup();
    let seeds = seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let origin = Origin::of(&report.provenance, seeds);
    let figure = |name: &str, title: &str, caption: String, kind: Kind| Figure {
        name: name.into(),
        title: title.into(),
        caption,
        origin: origin.clone(),
        kind,
    };
    let bin = BIN.as_millis();
    let all = |of: fn(&PrivateRun) -> Vec<f64>| {
        // In the order in which they first ran.
        let names = distinct(runs.iter().map(|run| run.controller.as_str()));
        names.into_iter().map(move |name| {
            let own = runs.iter().filter(move |run| run.controller == name);
            (name.to_owned(), own.flat_map(of).collect::<Vec<f64>>())
        })
    };
    let marks = all(delays).zip(all(throughputs)).filter_map(|((name, late), (_, rates))| {
        Some(Mark { name, x: Spread::of(late)?, y: Spread::of(rates)? })
    });
    let curves = |of: fn(&PrivateRun) -> Vec<f64>| -> Vec<Curve> {
        all(of).map(|(name, values)| Curve::of(name, values)).collect()
    };
    let figures = vec![
        figure("summary", "Throughput and delay", notes(report), Kind::Table(table(report))),
        figure(
            "plane",
            "Throughput and one-way delay",
            format!(
                "Bins of {bin} ms of all runs: throughput, and the mean delay of what came out."
            ),
            Kind::Plane(Plane {
                x: Axis::logarithmic("one-way delay (ms)"),
                reversed: true,
                y: Axis::linear("throughput (Mbit/s)"),
                marks: marks.collect(),
                spread: QUARTILES.into(),
            }),
        ),
        figure(
            "delay-cdf",
            "One-way delay of all packets",
            "From the sender's device to the receiver's, of all runs.".into(),
            Kind::Cdf(Cdf {
                x: Axis::logarithmic("one-way delay (ms)"),
                of: "packets".into(),
                curves: curves(|run| run.delays_ms.clone()),
            }),
        ),
        figure(
            "throughput-cdf",
            "Throughput",
            format!("In bins of {bin} ms, of all runs."),
            Kind::Cdf(Cdf {
                x: Axis::linear("throughput (Mbit/s)"),
                of: "bins".into(),
                curves: curves(throughputs),
            }),
        ),
    ];
    Page {
        title: report.about.clone(),
        subtitle: report.expected.section.clone(),
        sections: vec![Section {
            heading: "Beside the paper".into(),
            text: String::new(),
            figures,
        }],
        origin: report.provenance.pairs(),
    }
}

fn throughputs(run: &PrivateRun) -> Vec<f64> {
    run.bins.iter().map(|(mbit, _)| *mbit).collect()
}

fn delays(run: &PrivateRun) -> Vec<f64> {
    run.bins.iter().filter_map(|(_, delay)| *delay).collect()
}

fn table(report: &Report<Runs>) -> Table {
    let columns = ["".to_owned(), "paper".into()].into_iter().chain(report.columns.clone());
    let rows = report.rows.iter().map(|(name, cells)| {
        let cells = cells.iter().map(|cell| Cell::from(cell.as_str()));
        [Cell::from(name.as_str()), report.expected.of(name).as_str().into()]
            .into_iter()
            .chain(cells)
            .collect()
    });
    Table { columns: columns.collect(), named: 0, rows: rows.collect() }
}

fn notes(report: &Report<Runs>) -> String {
    let mut text = String::new();
    for (heading, lines) in [("Missed", &report.misses), ("Why ours differ", &report.expected.why)]
    {
        if !lines.is_empty() {
            text += &format!("{heading}: {}. ", lines.join("; "));
        }
    }
    text
}
