//! The items as experiments.

use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::plan::Text;
use sounding_experiment::provenance::Begun;
use sounding_experiment::simulate::Keep;
use sounding_experiment::study::Study;

use super::place::{FIRST_SEED, PLACES};
use super::{Item, cells, drawn, fig6, fig11, fig21, report, robust, table1};
use crate::experiment::{self, Card, Experiment, Host, Outcome, jobs, report_share};
use crate::paper::{Pictures, PlanFlags, Work};

/// An item of PBE-CC's evaluation in virtual time: the paper's figures, the measured ones, and why
/// they differ
///
/// It runs a modelled cell with its modem and a sniffer. Their estimates reach the sender on
/// acknowledgements. The plan is that of papers/pbe-cc, which `sounding sim` runs too.
#[derive(clap::Args)]
pub(crate) struct ItemFlags {
    #[command(flatten)]
    plan: PlanFlags,

    #[command(flatten)]
    pictures: Pictures,
}

impl ItemFlags {
    /// The item's plan with what the flags set.
    fn text(&self, item: Item) -> miette::Result<Text> {
        let mut text = item.files().text();
        for set in [self.plan.seeds(), self.plan.duration()].into_iter().flatten() {
            text.set(&set).into_diagnostic()?;
        }
        Ok(text)
    }
}

/// A plan whose rows are flows by their controllers.
pub(crate) struct FlowsItem(pub(crate) Item);

impl Experiment for FlowsItem {
    type Flags = ItemFlags;

    fn card(&self) -> Card {
        self.0.files().card()
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let text = flags.text(self.0)?;
        let begun = Begun::now();
        let study = Study::new(text).into_diagnostic()?;
        let jobs = flags.plan.jobs();
        let all: Duration = study.runs().iter().map(|run| run.plan.duration).sum();
        let mut passed = Duration::ZERO;
        let mut tenth = 0;
        let mut progress = |span: Duration| {
            passed += span;
            let done = (passed.as_secs_f64() / all.as_secs_f64() * 10.0) as u32;
            if done > tenth {
                tenth = done;
                experiment::report(host, format_args!("{done}0 % of all runs"));
            }
        };
        let stop = host.stop()?;
        let finished = study.run_on(jobs, &Keep::default(), None, &stop, &mut progress);
        let finished = finished.into_diagnostic()?;
        if finished.outcomes.is_empty() {
            return Ok(None);
        }
        let report = report(self.0, &finished.outcomes, begun.end()).into_diagnostic()?;
        let mut pictures = Vec::new();
        if flags.pictures.are_drawn() {
            let seed = study.runs().first().map(|run| run.seed);
            let runs = study.runs().iter().filter(|run| Some(run.seed) == seed).cloned();
            let runs: Vec<_> = runs.collect();
            let work = Work { most: None, jobs, stop: &stop, host };
            let Some(runs) = work.each(&runs, drawn::measure)? else { return Ok(None) };
            pictures = drawn::pictures(self.0, &report.expected, &runs);
        }
        Ok(Some(flags.pictures.outcome(&report, pictures)?.ended(finished.complete)))
    }
}

/// PBE-CC's 40 places in virtual time: its gains on eight algorithms, Figs. 12 to 15, and its time
/// in the Internet's state
///
/// The places are drawn, each from its own seed: 25 with busy cells and 15 with idle ones, with
/// one, two or three carriers.
#[derive(clap::Args)]
pub(crate) struct Table1Flags {
    /// The first so many of the 40 places
    #[arg(long, value_name = "N", default_value_t = PLACES as u16, value_parser = clap::value_parser!(u16).range(1..=PLACES as i64))]
    places: u16,

    /// The seed that the first place is drawn from; each further place has the next
    #[arg(long, value_name = "SEED", default_value_t = FIRST_SEED)]
    first_seed: u64,

    /// How many seconds each flow sends
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=600))]
    seconds: u16,

    /// How often each flow is repeated at its place, with other lots
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=20))]
    repeats: u8,

    /// These controllers instead of the plan's, as in pbe-cc:slack=100ms
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    controllers: Vec<String>,

    /// Set a key of the plan after what is drawn, as in wire.delay=5ms; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    #[command(flatten)]
    pictures: Pictures,
}

/// Table 1.
pub(crate) struct Table1Item;

impl Experiment for Table1Item {
    type Flags = Table1Flags;

    fn card(&self) -> Card {
        Item::Table1.files().card()
    }

    fn run(&self, flags: Table1Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = table1::Plan {
            places: flags.places.into(),
            first_seed: flags.first_seed,
            repeats: flags.repeats.into(),
            span: Duration::from_secs(flags.seconds.into()),
            jobs: jobs(flags.jobs),
            controllers: flags.controllers,
            sets: flags.sets,
        };
        let begun = Begun::now();
        let stop = host.stop()?;
        let progress = |done, all| report_share(host, done, all, "flows");
        let places = table1::measure(&plan, &stop, progress).into_diagnostic()?;
        if places.is_empty() {
            return Ok(None);
        }
        let complete = places.len() == plan.places;
        let report = table1::report(places, begun.end()).into_diagnostic()?;
        let pictures = report.evidence.pictures();
        Ok(Some(flags.pictures.outcome(&report, pictures)?.ended(complete)))
    }
}

/// A plan whose runs are looked into deeper than `sounding sim` does: Figs. 6, 11 and 21.
pub(crate) struct DeepItem(pub(crate) Item);

impl Experiment for DeepItem {
    type Flags = ItemFlags;

    fn card(&self) -> Card {
        self.0.files().card()
    }

    fn run(&self, flags: ItemFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let mut runs = flags.text(self.0)?.runs().into_diagnostic()?;
        let (begun, jobs, stop) = (Begun::now(), flags.plan.jobs(), host.stop()?);
        let work = Work { most: None, jobs, stop: &stop, host };
        let outcome = match self.0 {
            Item::Fig11 => {
                runs.iter_mut().for_each(fig11::set);
                let stations = work.each(&runs, fig11::measure)?;
                let Some(stations) = stations else { return Ok(None) };
                flags
                    .pictures
                    .outcome(&fig11::report(stations, begun.end()).into_diagnostic()?, vec![])
            }
            Item::Fig21 => {
                let shares = work.each(&runs, fig21::measure)?;
                let Some(shares) = shares else { return Ok(None) };
                let pictures = fig21::pictures(&shares);
                let report = fig21::report(&shares, begun.end()).into_diagnostic()?;
                flags.pictures.outcome(&report, pictures)
            }
            _ => {
                let loads = work.each(&runs, fig6::measure)?;
                let Some(loads) = loads else { return Ok(None) };
                flags.pictures.outcome(&fig6::report(loads, begun.end()).into_diagnostic()?, vec![])
            }
        };
        outcome.map(Some)
    }
}

/// Figures of the modelled cell itself: when a second carrier comes and goes, and how many users a
/// busy cell has
#[derive(clap::Args)]
pub(crate) struct CellFlags {
    /// Number of seeds, from 1001
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// For how long users are counted with each seed, in the model's time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    #[command(flatten)]
    pictures: Pictures,
}

/// The first of the seeds with which no constant was chosen.
const HELD: u64 = 1_001;

/// Figs. 2 and 7.
pub(crate) struct CellItem(pub(crate) Item);

impl Experiment for CellItem {
    type Flags = CellFlags;

    fn card(&self) -> Card {
        self.0.files().card()
    }

    fn run(&self, flags: CellFlags, _: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < Duration::from_secs(1) {
            return Err(miette::miette!("--duration is at least 1s"));
        }
        let begun = Begun::now();
        let seeds: Vec<u64> = (HELD..HELD + flags.seeds).collect();
        let rows = cells::measure(self.0, &seeds, flags.duration).into_diagnostic()?;
        let report = cells::report(self.0, rows, begun).into_diagnostic()?;
        flags.pictures.outcome(&report, Vec::new()).map(Some)
    }
}

/// PBE-CC where its inputs are bad, missing or false: what must hold, and what does
#[derive(clap::Args)]
pub(crate) struct RobustFlags {
    /// Seeds of each check
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// Runs of honest devices. None may be taken for a liar
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    honest: u64,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    #[command(flatten)]
    pictures: Pictures,
}

/// Beyond the paper.
pub(crate) struct RobustItem;

impl Experiment for RobustItem {
    type Flags = RobustFlags;

    fn card(&self) -> Card {
        Item::Robust.files().card()
    }

    fn run(&self, flags: RobustFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let RobustFlags { seeds, honest, jobs: at_once, pictures } = flags;
        let plan = robust::Plan { seeds, honest, jobs: jobs(at_once) };
        let begun = Begun::now();
        let progress = |what: &str| experiment::report(host, what);
        let checks = robust::measure(&plan, progress).into_diagnostic()?;
        let report = robust::report(checks, begun.end()).into_diagnostic()?;
        pictures.outcome(&report, Vec::new()).map(Some)
    }
}
