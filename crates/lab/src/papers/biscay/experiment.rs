//! The items of the evaluation as experiments, and their flags.

use std::path::PathBuf;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;

use super::flags::{Links, read};
use super::item::of_links;
use super::{
    Crossing, Item, Methods, Plan, Private, PrivateRun, SHORTEST, Wires, crossings, measure,
    methods, private, private_page, views,
};
use crate::estimates::estimators;
use crate::experiment::{
    Card, Experiment, Host, Needs, Outcome, jobs, program, report, report_share,
};

/// An item of BISCAY's evaluation in virtual time: the paper's figures, the measured ones, and why
/// they differ
///
/// Over public recordings of LTE, over a set that `sounding lab dataset` made, with its Diag logs
/// as the source of estimates, or over your own links. The plan is that of papers/biscay.
#[derive(clap::Args)]
pub(crate) struct ReplayFlags {
    #[command(flatten)]
    links: Links,

    /// Duration of each run; default: as in the plan
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// An item whose flows go over links that are given, in virtual time.
pub(crate) struct Replay(pub(crate) Item);

impl Experiment for Replay {
    type Flags = ReplayFlags;

    fn card(&self) -> Card {
        let card = self.0.files().card();
        if self.0 == Item::Fig9 { card.alias("biscay/table3") } else { card }
    }

    fn run(&self, flags: ReplayFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let mut plan: Plan = self.0.files().plan()?;
        if let Some(duration) = flags.duration {
            plan.duration = duration;
        }
        if plan.duration < SHORTEST {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        let begun = Begun::now();
        let entries = flags.links.entries(host)?;
        let progress = |done, all| report_share(host, done, all, "links");
        let read = |path: &_| read(host, path);
        let figures =
            measure(&plan, &entries, jobs(flags.jobs), &read, progress).into_diagnostic()?;
        let report = of_links(self.0, &plan, figures, begun.end()).into_diagnostic()?;
        report.outcome().map(Some)
    }
}

/// Correlation of rates by BISCAY's methods and by raw KPIs with goodput, over modelled links: the
/// paper's figure, the measured one, and why they differ
#[derive(clap::Args)]
pub(crate) struct MethodsFlags {
    /// Only links whose name contains this, as `sounding lab run estimators` calls them
    #[arg(long, value_name = "TEXT")]
    links: Option<String>,

    /// Runs over each link, each at another place with another crowd
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,

    /// Duration of each flow; the raw KPIs learn from the first 22s
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// Fig. 5.
pub(crate) struct MethodsItem;

impl Experiment for MethodsItem {
    type Flags = MethodsFlags;

    fn card(&self) -> Card {
        Item::Fig5.files().card()
    }

    fn run(&self, flags: MethodsFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan: Methods = Item::Fig5.files().plan()?;
        let plan = Methods {
            links: flags.links.unwrap_or(plan.links),
            seeds: flags.seeds.unwrap_or(plan.seeds),
            duration: flags.duration.unwrap_or(plan.duration),
            ..plan
        };
        if plan.duration < estimators::SHORTEST {
            return Err(miette::miette!("--duration is at least 30s: 22s are learnt from"));
        }
        let progress = |line: &str| report(host, line);
        methods(&plan, jobs(flags.jobs), progress)?.outcome().map(Some)
    }
}

/// Resource blocks as two readers of the modem see them, compared with the truth: the paper's
/// figure, the measured one, and why they differ
#[derive(clap::Args)]
pub(crate) struct ViewsFlags {
    /// Measured time; default: as in the plan
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Seed of the network, if not the plan's
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// Fig. 7.
pub(crate) struct ViewsItem;

impl Experiment for ViewsItem {
    type Flags = ViewsFlags;

    fn card(&self) -> Card {
        Item::Fig7.files().card()
    }

    fn run(&self, flags: ViewsFlags, _host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration.is_some_and(|duration| duration < SHORTEST) {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        views(flags.duration, flags.seed)?.outcome().map(Some)
    }
}

/// A wire behind the radio becomes narrower than the radio and wide again: how soon the laws detect
/// it, in virtual time over a given link and over modelled cells, or in this kernel; the paper's
/// figure, the measured one, and why they differ
///
/// With --kernel the cell is between namespaces, its modem on a pty that a daemon reads, and the
/// flows are this kernel's own, for 70 s each. That needs root. Ctrl-C ends the run, restores all
/// settings and prints the results so far.
#[derive(clap::Args)]
pub(crate) struct CrossingsFlags {
    /// In this kernel, in real time
    #[arg(long)]
    kernel: bool,

    /// Only these controllers, if not all of the plan
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    controllers: Vec<String>,

    /// Seeds of the cell, counted from 1, if not as many as the plan has; 1 with --kernel unless
    /// stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,

    /// Duration of each flow; default: as in the plan
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
}

/// The wire gets narrow after ten seconds.
const FIRST_NARROW: Duration = Duration::from_secs(12);

/// Fig. 10.
pub(crate) struct CrossingsItem;

impl Experiment for CrossingsItem {
    type Flags = CrossingsFlags;

    fn card(&self) -> Card {
        Item::Fig10.files().card().needs(Needs::RootWith("--kernel"))
    }

    fn run(&self, flags: CrossingsFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration.is_some_and(|duration| duration < FIRST_NARROW) {
            return Err(miette::miette!(
                "--duration is at least {FIRST_NARROW:?}: the wire gets narrow after 10s"
            ));
        }
        let stop = host.stop()?;
        let program = program()?;
        let plan = Wires {
            duration: flags.duration,
            seeds: flags.seeds.or(flags.kernel.then_some(1)),
            controllers: flags.controllers,
            in_kernel: flags.kernel.then_some(program),
        };
        let progress = |crossing: &Crossing| {
            if flags.kernel {
                let ms =
                    |span: Option<f64>| span.map_or("never".into(), |ms| format!("{ms:.0} ms"));
                let (found, back) = (ms(crossing.found_ms), ms(crossing.back_ms));
                let Crossing { controller, seed, wire_mbit_per_sec, .. } = crossing;
                report(
                    host,
                    format_args!(
                        "{controller}, seed {seed}, {wire_mbit_per_sec:.0} Mbit/s: found {found}, back {back}"
                    ),
                );
            }
        };
        let (report, complete) = crossings(&plan, &stop, progress)?;
        Ok(Some(report.outcome()?.ended(complete)))
    }
}

/// BISCAY, `sounding`, BBR and CUBIC in this kernel over a private network in real time, with
/// handovers: the paper's figure, the measured one, and why they differ
///
/// The network is a modelled cell with two base stations between namespaces; its modem is on a pty,
/// which a daemon reads for BISCAY. Needs root. Ctrl-C ends the run, restores all settings and
/// prints the results so far.
#[derive(clap::Args)]
pub(crate) struct PrivateFlags {
    /// Runs of each algorithm with each seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// Seeds of the network, counted from 1, if not as many as the plan has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,

    /// Duration of each flow; default: as in the plan; its first 3s are not measured
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Folder for a report page with boxes and distributions
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Fig. 11b.
pub(crate) struct PrivateItem;

impl Experiment for PrivateItem {
    type Flags = PrivateFlags;

    fn card(&self) -> Card {
        Item::Fig11b.files().card().needs(Needs::Root)
    }

    fn run(&self, flags: PrivateFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration.is_some_and(|duration| duration < SHORTEST) {
            return Err(miette::miette!("--duration is at least {SHORTEST:?}"));
        }
        // Before the start of the emulation, so that no signal interrupts its setup.
        let stop = host.stop()?;
        let plan = Private {
            duration: flags.duration,
            seeds: flags.seeds,
            reps: flags.reps,
            program: program()?,
        };
        let progress = |run: &PrivateRun| {
            let PrivateRun { controller, seed, throughput_mbit_per_sec, p95_ms, .. } = run;
            report(
                host,
                format_args!(
                    "{controller}, seed {seed}: {throughput_mbit_per_sec:.2} Mbit/s, p95 {p95_ms:.0} ms"
                ),
            );
        };
        let (report, complete) = private(&plan, &stop, progress)?;
        let page = flags.out.map(|folder| (folder, private_page(&report)));
        Ok(Some(Outcome { page, ..report.outcome()?.ended(complete) }))
    }
}
