//! The rows of an item: a plan, and what is set in it.

use sounding_experiment::plan::{Run, Wrong};

use super::{Item, Kinds as _};
use crate::paper::{PaperItem, paper_item};

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(super) row: String,
    plan: PaperItem,
    sets: Vec<String>,
    watched: bool,
}

/// What the second bearers are served by where there is per-flow ideal priority.
const IDEAL: [&str; 3] = [
    "cell.carriers.0.policy={ priority = { slots = 100 } }",
    "flows.background.device=second",
    "flows.background.controller=cubic",
];
/// A background that never begins.
const NONE: &str = "flows.background.start=\"3600s\"";

/// Loads of Fig. 12, in parts of the resource blocks. The readers have nine tenths of them, those
/// with both one tenth.
pub(super) const LOADS: [(&str, [&str; 2]); 3] = [
    ("30 %", ["flows.readers.traffic.load=17.1Mbit", "flows.both.traffic.load=1.9Mbit"]),
    ("60 %", ["flows.readers.traffic.load=35.1Mbit", "flows.both.traffic.load=3.9Mbit"]),
    ("80 %", ["flows.readers.traffic.load=46.8Mbit", "flows.both.traffic.load=5.2Mbit"]),
];

/// Loads of Figs. 8 and 9, of the resource blocks.
const PHONES: [(&str, &str); 3] = [
    ("30 %", "flows.readers.traffic.load=9Mbit"),
    ("60 %", "flows.readers.traffic.load=19Mbit"),
    ("80 %", "flows.readers.traffic.load=27Mbit"),
];

/// Cells that a flow is alone in.
const CELLS: [(&str, &[&str]); 5] = [
    ("10 MHz at 20 dB as in fig2", &[]),
    ("10 MHz at 20 dB and 5 Hz", &[SLOW]),
    ("20 MHz at 20 dB and 5 Hz", &[WIDE, SLOW]),
    ("20 MHz at 20 dB and 30 Hz", &[WIDE, FAST]),
    ("20 MHz at 20 dB without fading", &[WIDE, FLAT]),
];
/// The same as uploads (the paper's future work): between two grants nothing arrives, and no other
/// user has the cell.
const UPLOADS: [(&str, &[&str]); 2] = [
    ("uploads in 10 MHz at 20 dB and 5 Hz", &[SLOW, UP]),
    ("uploads in 20 MHz at 20 dB and 30 Hz", &[WIDE, FAST, UP]),
];
/// Its modem is read.
const MODEM: &str = "cell.devices.0.modem={}";
const BY_MODEM: &str = "background by its modem";
const UP: &str = "flows.background.direction=up";
const FOREGROUND_UP: &str = "flows.foreground.direction=up";
const WIDE: &str = "cell.carriers.0.prb=100";
const SLOW: &str = "cell.devices.0.channel.fading={ profile = \"epa\", surroundings_mps = 0.75 }";
const FAST: &str = "cell.devices.0.channel.fading={ profile = \"epa\", surroundings_mps = 4.5 }";
const FLAT: &str = "cell.devices.0.channel.fading={ profile = \"none\" }";

/// Base loads of Fig. 10.
const BASES: [(&str, &str); 3] = [
    ("base 10 Mbit/s", "flows.others.traffic.load=10Mbit"),
    ("base 25 Mbit/s", "flows.others.traffic.load=25Mbit"),
    ("base 40 Mbit/s", "flows.others.traffic.load=40Mbit"),
];

impl Variant {
    fn new(
        row: impl Into<String>,
        plan: PaperItem,
        sets: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            row: row.into(),
            plan,
            sets: sets.into_iter().map(Into::into).collect(),
            watched: false,
        }
    }

    /// Whether its background is watched.
    pub(super) fn watched(&self) -> bool {
        self.watched
    }

    /// Its runs, one for each seed.
    pub(super) fn runs(&self, more: &[String]) -> Result<Vec<Run>, Wrong> {
        let mut text = self.plan.text();
        for set in self.sets.iter().chain(more) {
            text.set(set)?;
        }
        Ok(text.runs()?)
    }
}

/// The same at separate devices.
const IDEAL_DEVICES: [&str; 3] = [
    "cell.carriers.0.policy={ priority = { slots = 100 } }",
    "cell.devices.updater.background=true",
    "flows.background.controller=cubic",
];

/// The schemes that the paper's figures and this project's goals name. Not in it: no background,
/// and per-flow ideal priority.
const SCHEMES: [&str; 9] = [
    "cubic",
    "vegas",
    "lp",
    "ledbat",
    "ledbat++",
    "proteus-s",
    "legilimens-published",
    "legilimens",
    "background",
];

/// No background, ideal priority, and each scheme, under what is set in all of them.
fn group(
    name: &str,
    plan: PaperItem,
    ideal: [&str; 3],
    schemes: &[&str],
    sets: &[&str],
) -> Vec<Variant> {
    let row = |scheme: &str, more: Vec<String>| {
        let name = if name.is_empty() { scheme.to_owned() } else { format!("{name}, {scheme}") };
        let sets = sets.iter().map(|set| (*set).to_owned()).chain(more);
        Variant::new(name, plan, sets)
    };
    let none = row("none", vec![NONE.into()]);
    let ideal = row("ideal", ideal.map(Into::into).to_vec());
    let rest = schemes.iter().map(|scheme| row(scheme, vec![under(scheme)]));
    [none, ideal].into_iter().chain(rest).collect()
}

/// An upload whose device's modem shows its part of the resource blocks.
fn by_modem(name: &str, plan: PaperItem, sets: &[&str]) -> Variant {
    let sets = sets.iter().map(|set| (*set).to_owned());
    let more = [under("background"), MODEM.into()];
    Variant::new(format!("{name}, {BY_MODEM}"), plan, sets.chain(more))
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
            let schemes = SCHEMES;
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
            let ideal = IDEAL_DEVICES.map(|set| set.replace("updater", "first"));
            let of = |name, sets: &[&str]| {
                group(name, plan, ideal.each_ref().map(String::as_str), &SCHEMES, sets)
            };
            let both = [UP, FOREGROUND_UP];
            let mut rows = of("", &[]);
            rows.extend(of("uploads", &both));
            rows.push(by_modem("uploads", plan, &both));
            rows
        }
        Item::Fig8 | Item::Fig9 => {
            let rows = PHONES.iter();
            rows.flat_map(|(load, set)| group(load, plan, IDEAL_DEVICES, &SCHEMES, &[set]))
                .collect()
        }
        Item::Fig10 => {
            let rows = BASES.iter();
            rows.flat_map(|(load, set)| group(load, plan, IDEAL_DEVICES, &SCHEMES, &[set]))
                .collect()
        }
        Item::Fig11 => {
            // Each site has a scheduler.
            let policy = "policy={ priority = { slots = 100 } }";
            let mut ideal =
                Vec::from(["cell.devices.first.background=true".to_owned(), under("cubic")]);
            ideal.extend((0..7).map(|site| format!("cell.carriers.{site}.{policy}")));
            let none = Variant::new("none", plan, [NONE]);
            let ideal = Variant::new("ideal", plan, ideal);
            let rest = SCHEMES.iter().map(|name| Variant::new(*name, plan, [under(name)]));
            [none, ideal].into_iter().chain(rest).collect()
        }
        Item::Fig12 => {
            let paper = ["cubic", "bbr", "verus"].into_iter();
            let schemes: Vec<&str> = paper.chain(SCHEMES[1..].iter().copied()).collect();
            let rows = LOADS.iter();
            rows.flat_map(|(load, sets)| group(load, plan, IDEAL, &schemes, sets)).collect()
        }
        Item::Alone => {
            let rows = CELLS.iter().chain(&UPLOADS).flat_map(|(cell, sets)| {
                let row = move |scheme: &&str| {
                    let sets = sets.iter().map(|set| (*set).to_owned()).chain([under(scheme)]);
                    Variant::new(format!("{cell}, {scheme}"), plan, sets)
                };
                SCHEMES.iter().map(row)
            });
            let uploads = UPLOADS.iter().map(|(cell, sets)| by_modem(cell, plan, sets));
            rows.chain(uploads).collect()
        }
        Item::Fig13 => {
            let ideal = IDEAL_DEVICES.map(|set| set.replace("updater", "first"));
            group("", plan, ideal.each_ref().map(String::as_str), &SCHEMES, &[])
        }
        Item::Fig14 => {
            let several = ["flows.background.device=several", "flows.background.count=1"];
            let rows =
                ["legilimens-published", "legilimens", "background"].into_iter().flat_map(|name| {
                    let one = Variant::new(format!("{name}, one device"), plan, [under(name)]);
                    let sets = several.map(str::to_owned).into_iter().chain([under(name)]);
                    [one, Variant::new(format!("{name}, several"), plan, sets)]
                });
            rows.collect()
        }
        Item::Fig15 => {
            let with = |parameter: &str, values: &[&str]| {
                let row = |value: &&str| {
                    let controller = under(&format!("legilimens-published:{parameter}={value}"));
                    let sets = LOADS[1].1.map(str::to_owned).into_iter().chain([controller]);
                    let row = Variant::new(format!("{parameter} {value}"), plan, sets);
                    Variant { watched: true, ..row }
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
