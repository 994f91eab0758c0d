//! A page of figures: for each case and rule its rates, delays and queues over time.

use sounding_experiment::provenance::Provenance;
use sounding_report::{
    Axis, Figure, Happening, Kind, Line, Origin, Page, Panel, Section, Series, Shade,
};

use super::case::{CASES, Rat};
use super::ran::Ran;

/// The page of these runs; of each case and rule the first seed is drawn.
pub(super) fn page(runs: &[Ran], tuned: &str, provenance: &Provenance) -> Page {
    let mut sections = Vec::new();
    for case in &CASES {
        for rat in Rat::ALL {
            let of = runs.iter().filter(|ran| ran.case == case.name && ran.rat == rat);
            let mut drawn: Vec<&Ran> = Vec::new();
            for ran in of {
                if !drawn.iter().any(|other| other.rule == ran.rule) {
                    drawn.push(ran);
                }
            }
            if !drawn.is_empty() {
                sections.push(Section {
                    heading: format!("{}, {}", case.name, rat.name()),
                    text: String::new(),
                    figures: drawn.into_iter().map(|ran| figure(ran, provenance)).collect(),
                });
            }
        }
    }
    let mut origin = provenance.pairs();
    origin.push(("cake-autorate, tuned".into(), tuned.trim().replace('\n', "; ")));
    Page {
        title: "Shapers of a router beside a modelled cell".into(),
        subtitle: "Real CAKE in User-Mode Linux; the cell, flows and probes in this machine's kernel. Of each case and \
                   rule the first seed is drawn."
            .into(),
        sections,
        origin,
    }
}

fn figure(ran: &Ran, provenance: &Provenance) -> Figure {
    let Ran { case, rat, rule, seed, series, figures, .. } = ran;
    let line =
        |name: &str, points: &super::ran::Line| Line { name: name.into(), points: points.clone() };
    let granted: Vec<(f64, f64)> =
        series.truth_mbit.iter().map(|&(at, mbit)| (at, mbit.unwrap_or(0.0))).collect();
    let panel = |label: &str, shade, lines| Panel { y: Axis::linear(label), shade, lines };
    let rates = panel(
        "Mbit/s",
        Some(Shade { name: "granted".into(), steps: granted }),
        vec![line("set", &series.set_mbit), line("sent", &series.sent_mbit)],
    );
    let delays = panel(
        "round trip (ms)",
        None,
        vec![line("probe", &series.probe_ms), line("bulk", &series.bulk_rtt_ms)],
    );
    let queue = panel("in CAKE (kB)", None, vec![line("backlog", &series.backlog_kbyte)]);
    let reasons = series.reasons.iter().map(|(from, until, why)| Happening {
        kind: "reason".into(),
        name: why.clone(),
        span: (*from, *until),
        marked: false,
    });
    let p95 = figures.probe.map_or("unknown".into(), |probe| format!("{:.0} ms", probe.p95_ms));
    Figure {
        name: format!("{case}-{}-{}", rat.name(), rule.name()),
        title: rule.name().into(),
        caption: format!(
            "Seed {seed}: {:.1} of {:.1} Mbit/s, p95 of probes {p95}.",
            figures.up_mbit_per_sec, figures.truth_mbit_per_sec
        ),
        origin: Origin::of(provenance, seed.to_string()),
        kind: Kind::Series(Series {
            x: Axis::linear("time (s)"),
            panels: vec![rates, delays, queue],
            happenings: reasons.collect(),
        }),
    }
}
