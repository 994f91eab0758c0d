//! The rows of an item: a plan, and what is set in it.

use sounding_experiment::plan::{PlanError, Run, Wrong};

use super::Item;
use crate::paper::{PaperItem, paper_item};

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) row: String,
    plan: PaperItem,
    sets: Vec<String>,
}

/// What the second bearers are served by where there is per-flow ideal priority.
const IDEAL: [&str; 3] = [
    "cell.carriers.0.policy={ priority = { slots = 100 } }",
    "flows.background.device=second",
    "flows.background.controller=cubic",
];
/// A background that never begins.
const NONE: &str = "flows.background.start=\"3600s\"";

/// Loads of Fig. 12, of the resource blocks, and of which together the readers and those with both have nine tenths and one.
pub(super) const LOADS: [(&str, [&str; 2]); 3] = [
    ("30 %", ["flows.readers.traffic.load=17.1Mbit", "flows.both.traffic.load=1.9Mbit"]),
    ("60 %", ["flows.readers.traffic.load=35.1Mbit", "flows.both.traffic.load=3.9Mbit"]),
    ("80 %", ["flows.readers.traffic.load=46.8Mbit", "flows.both.traffic.load=5.2Mbit"]),
];

impl Variant {
    fn new(
        row: impl Into<String>,
        plan: PaperItem,
        sets: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self { row: row.into(), plan, sets: sets.into_iter().map(Into::into).collect() }
    }

    /// Its runs, one for each seed.
    pub(super) fn runs(&self, more: &[String]) -> Result<Vec<Run>, Wrong> {
        let wrong = |error: PlanError| Wrong::new("", error.to_string());
        let mut text = self.plan.text();
        for set in self.sets.iter().chain(more) {
            text.set(set).map_err(wrong)?;
        }
        text.runs().map_err(wrong)
    }
}

fn under(controller: &str) -> String {
    format!("flows.background.controller={controller}")
}

/// The variants of an item, in the order of its table.
pub(super) fn of(item: Item) -> Vec<Variant> {
    let plan = item.files();
    match item {
        Item::Fig2 => {
            let wire = paper_item!("legilimens", "fig2-wire");
            let networks = [("wire", wire), ("cell", plan)];
            let schemes = ["cubic", "ledbat", "lp", "legilimens", "background"];
            let rows = networks.into_iter().flat_map(|(network, plan)| {
                let none = Variant::new(format!("{network}, none"), plan, [NONE]);
                let under = move |scheme: &str| {
                    Variant::new(format!("{network}, {scheme}"), plan, [under(scheme)])
                };
                std::iter::once(none).chain(schemes.into_iter().map(under))
            });
            rows.collect()
        }
        Item::Fig7 => {
            let none = Variant::new("none", plan, [NONE]);
            let schemes = ["cubic", "legilimens", "background"];
            let rows = schemes.into_iter().map(|name| Variant::new(name, plan, [under(name)]));
            std::iter::once(none).chain(rows).collect()
        }
        Item::Fig12 => {
            let schemes = [
                "cubic",
                "bbr",
                "verus",
                "vegas",
                "lp",
                "ledbat",
                "ledbat++",
                "legilimens",
                "background",
            ];
            let rows = LOADS.iter().flat_map(|(load, sets)| {
                let row = |name: &str, more: Vec<String>| {
                    let sets = sets.iter().map(|set| (*set).to_owned()).chain(more);
                    Variant::new(format!("{load}, {name}"), plan, sets)
                };
                let none = row("none", vec![NONE.into()]);
                let ideal = row("ideal", IDEAL.map(Into::into).to_vec());
                let rest = schemes.iter().map(|name| row(name, vec![under(name)]));
                [none, ideal].into_iter().chain(rest).collect::<Vec<_>>()
            });
            rows.collect()
        }
        Item::Fig13 => {
            let schemes = ["cubic", "ledbat", "vegas", "legilimens", "background"];
            schemes.into_iter().map(|name| Variant::new(name, plan, [under(name)])).collect()
        }
        Item::Fig14 => {
            let several = ["flows.background.device=several", "flows.background.count=1"];
            let rows = ["legilimens", "background"].into_iter().flat_map(|name| {
                let one = Variant::new(format!("{name}, one device"), plan, [under(name)]);
                let sets = several.map(str::to_owned).into_iter().chain([under(name)]);
                [one, Variant::new(format!("{name}, several"), plan, sets)]
            });
            rows.collect()
        }
        Item::Fig15 => {
            let with = |parameter: &str, values: &[&str]| {
                let row = |value: &&str| {
                    let controller = under(&format!("legilimens:{parameter}={value}"));
                    let sets = LOADS[1].1.map(str::to_owned).into_iter().chain([controller]);
                    Variant::new(format!("{parameter} {value}"), plan, sets)
                };
                values.iter().map(row).collect::<Vec<_>>()
            };
            let sets = LOADS[1].1.map(str::to_owned).into_iter().chain([NONE.to_owned()]);
            let mut rows = vec![Variant::new("none", plan, sets)];
            rows.extend(with("lambda", &["0", "0.1", "0.25", "0.5", "0.75", "1"]));
            rows.extend(with("burst", &["12", "25", "50", "100", "200"]));
            rows.extend(with("interval", &["50ms", "100ms", "200ms", "250ms", "300ms", "1s"]));
            rows
        }
    }
}
