//! Copa of this kernel in real time: unmodified, and without the radio's own delays, over the cells
//! of Table 1 (Gandalf §5.1.1).
//!
//! The network is a modelled cell between namespaces, its modem is on a pty, and the daemon that
//! reads it is this program's own.

mod flow;

use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, miette};
use sounding_bpf::OwnCgroup;
use sounding_experiment::provenance::Begun;

use super::scene::Scene;
use super::{Evidence, Figures, Row, mean};
use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::paper::{Expected, Ours, PaperItem, Report, no_row, paper_item};
use flow::{Ground, carry};

/// What is not measured: slow start.
const BEGUN: Duration = Duration::from_secs(2);
/// The delay that the paper allows over stock's.
const OVER_STOCK: f64 = 1.1;

const COLUMNS: &[&str] = &[
    RATE,
    "least",
    "most",
    MEAN,
    "p95 ms",
    "× stock",
    "× mean delay",
    "corrected %",
    "doubted %",
    "said reTx ms",
    "said wait ms",
    "corrected RTTs/s",
    "times behind",
];
const RATE: &str = "Mbit/s";
const MEAN: &str = "mean ms";

/// Copa of this kernel in real time over the cells of Table 1, unmodified and without the radio's
/// own delays, beside BBR and CUBIC
///
/// Downloads and uploads of a phone that stands, over LTE and 5G. The modelled cell is between
/// namespaces. In uploads `sounding run --copa` reads its modem. In downloads `sounding run
/// --downlink option` reads it at the phone, and the server runs `sounding run --copa
/// --peers`. Each run has another seed, the same for all algorithms.
#[derive(clap::Args)]
pub(crate) struct KernelFlags {
    /// Runs of each algorithm in each cell
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=99))]
    runs: u64,

    /// Length of each flow
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    length: Duration,

    /// Only rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// The item.
pub(crate) struct KernelItem;

const FILES: PaperItem = paper_item!("gandalf", "table1")
    .called("gandalf/kernel", "kernel")
    .about("this kernel's Copa with and without the radio's own delays, in real time")
    .lasts("20 min");

/// The first seed: that of Table 1.
const FIRST_SEED: u64 = 2001;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// Of the kernel itself.
    Own(&'static str),
    /// Without a daemon.
    Copa,
    /// With one at the modem, and in downloads one at the server.
    Gandalf,
}

impl Sender {
    const ALL: [Self; 4] = [Self::Own("bbr"), Self::Own("cubic"), Self::Copa, Self::Gandalf];

    fn name(self) -> &'static str {
        match self {
            Self::Own(name) => name,
            Self::Copa => "copa",
            Self::Gandalf => "copa-gandalf",
        }
    }
}

fn scenes() -> impl Iterator<Item = Scene> {
    Scene::all().filter(|scene| !scene.walks)
}

/// The row of several runs: means, and the least and the most throughput.
fn row(name: String, runs: &[Figures]) -> Row {
    let mut row = Row { name, ..Row::default() };
    let values = |head: &str| -> Vec<f64> {
        let all = runs.iter().flatten().filter(|(of, _)| *of == head);
        all.map(|(_, value)| *value).collect()
    };
    for (head, _) in runs.first().into_iter().flatten() {
        row.figures.insert((*head).to_owned(), mean(values(head)));
    }
    let rates = values(RATE);
    row.figures.insert("least".into(), rates.iter().copied().fold(f64::INFINITY, f64::min));
    row.figures.insert("most".into(), rates.iter().copied().fold(0.0, f64::max));
    row
}

/// Adds what compares rows with stock Copa of their cell.
fn compare(rows: &mut [Row]) {
    let stock = |cell: &str, rows: &[Row]| {
        let found = rows.iter().find(|row| row.name == format!("{cell}: {}", Sender::Copa.name()));
        found.map(|row| [row.figure(RATE), row.figure(MEAN)])
    };
    for at in 0..rows.len() {
        let cell = rows[at].name.split(": ").next().unwrap_or_default().to_owned();
        let Some([rate, delay]) = stock(&cell, rows) else { continue };
        let [gain, slower] = [rows[at].figure(RATE) / rate, rows[at].figure(MEAN) / delay];
        rows[at].figures.insert("× stock".into(), gain);
        rows[at].figures.insert("× mean delay".into(), slower);
    }
}

/// Rows that fall short of the paper's gain.
fn short(rows: &[Row], expected: &Expected) -> Vec<String> {
    let mut misses = Vec::new();
    for row in rows {
        let paper = expected.of(&row.name);
        let Ok(gain) = paper.trim_end_matches([' ', '×']).parse::<f64>() else { continue };
        let mut short = Vec::new();
        if row.figure("× stock") < gain {
            short.push("throughput");
        }
        if row.figure("× mean delay") > OVER_STOCK {
            short.push("mean delay");
        }
        if !short.is_empty() {
            misses.push(expected.miss(&row.name, &short));
        }
    }
    misses
}

impl Experiment for KernelItem {
    type Flags = KernelFlags;

    fn card(&self) -> Card {
        FILES.card().needs(Needs::Root)
    }

    fn run(&self, flags: KernelFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.length <= 2 * BEGUN {
            return Err(miette!(
                "--length is more than {:?}: the begin is not measured",
                2 * BEGUN
            ));
        }
        let (stop, begun, program) = (host.stop()?, Begun::now(), program()?);
        let all = scenes().flat_map(|scene| Sender::ALL.map(|sender| (scene, sender)));
        let name =
            |(scene, sender): (Scene, Sender)| format!("{}: {}", scene.name(), sender.name());
        let wanted = |name: &str| flags.only.as_ref().is_none_or(|only| name.contains(only));
        let mut all: Vec<_> = all.collect();
        let names: Vec<String> = all.iter().map(|one| name(*one)).collect();
        all.retain(|one| wanted(&name(*one)));
        if let (true, Some(only)) = (all.is_empty(), &flags.only) {
            return Err(miette!("--only {}", no_row(only, &names)));
        }
        let mut runs: Vec<Vec<Figures>> = vec![Vec::new(); all.len()];
        let has_downloads = all.iter().any(|(scene, _)| !scene.up);
        let enter = || OwnCgroup::enter(&format!("sounding-gandalf-{}", std::process::id()));
        let own = has_downloads.then(enter).transpose().map_err(|error| {
            miette!("a cgroup for the sockets of downloads: {error}: it takes a cgroup v2")
        })?;
        let ground = Ground { program: &program, own: own.as_ref() };
        // In turns: what else the machine does then affects all alike.
        'all: for seed in FIRST_SEED..FIRST_SEED + flags.runs {
            for (&(scene, sender), runs) in all.iter().zip(&mut runs) {
                if stop.load(Ordering::Relaxed) {
                    break 'all;
                }
                let figures = carry(scene, sender, seed, flags.length, &ground)?;
                report(host, format_args!("{}, seed {seed}: {figures:.1?}", name((scene, sender))));
                runs.push(figures);
            }
        }
        let measured = all.iter().zip(&runs).filter(|(_, runs)| !runs.is_empty());
        let mut rows: Vec<Row> = measured.map(|(one, runs)| row(name(*one), runs)).collect();
        compare(&mut rows);
        let expected = FILES.expected().into_diagnostic()?;
        let cell = |value: f64| if value.is_finite() { format!("{value:.2}") } else { "-".into() };
        let table = rows.iter().map(|row| {
            let cells = COLUMNS.iter().map(|head| cell(row.figure(head)));
            (row.name.clone(), cells.collect::<Vec<_>>())
        });
        let mut ours = Ours::new(COLUMNS.iter().copied(), table);
        ours.misses = short(&rows, &expected);
        let evidence = Evidence { figures: rows };
        let result = Report::new(FILES.about, expected, ours, evidence, begun.end());
        Ok(Some(result.outcome()?.ended(!stop.load(Ordering::Relaxed))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(rate: f64, delay: f64) -> Figures {
        vec![(RATE, rate), (MEAN, delay)]
    }

    #[test]
    fn gains_are_over_stock_of_the_same_cell_and_misses_fall_short_of_the_papers() {
        let cell = "LTE UL, static";
        let mut rows = vec![
            row(format!("{cell}: copa"), &[figures(1.0, 30.0), figures(3.0, 34.0)]),
            row(format!("{cell}: copa-gandalf"), &[figures(7.0, 32.0)]),
            row("5G UL, static: copa-gandalf".into(), &[figures(9.0, 32.0)]),
        ];
        compare(&mut rows);
        assert_eq!(rows[0].figure("least"), 1.0);
        assert_eq!(rows[1].figure("× stock"), 3.5);
        assert_eq!(rows[1].figure("× mean delay"), 1.0);
        assert!(rows[2].figure("× stock").is_nan());
        let expected = FILES.expected().unwrap();
        let misses = short(&rows, &expected);
        assert_eq!(misses.len(), 1, "{misses:?}");
        assert!(misses[0].starts_with("LTE UL, static: copa-gandalf, throughput"), "{misses:?}");
    }

    #[test]
    fn its_cells_are_of_both_directions_and_have_a_modem() {
        let cells: Vec<Scene> = scenes().collect();
        assert_eq!((cells.len(), cells.iter().filter(|scene| scene.up).count()), (4, 2));
        for scene in cells {
            let run = flow::cell(scene, FIRST_SEED, Duration::from_secs(20)).unwrap();
            let plan = run.plan.cell.unwrap();
            assert!(plan.devices[0].modem.is_some(), "{}", scene.name());
        }
    }
}
