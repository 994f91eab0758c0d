use std::path::PathBuf;
use std::time::Duration;

use miette::{Context, IntoDiagnostic};
use sounding_experiment::provenance::Begun;
use sounding_testbed::uml::Image;

use super::case::{CASES, Case, QUICK, Rat};
use super::job::jobs;
use super::matrix::{Made, make};
use super::page::page;
use super::rule::Rule;
use super::run::Setting;
use super::{autorate, table, verdict};
use crate::experiment::{Card, End, Experiment, Host, Needs, Outcome, program, report};

/// Shapers of a router beside a modelled cell: rules for CAKE's rate, in User-Mode Linux
///
/// The router is a guest with real CAKE; `scripts/setup uml` unpacks it. cake-autorate runs
/// unmodified from a checkout. A finished run is a file in the folder of --out, and the same
/// command goes on where it was stopped.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// A few cases and rules, LTE, one seed
    #[arg(long)]
    quick: bool,

    /// Only these cases
    #[arg(long, value_name = "CASE,…", value_delimiter = ',', value_parser = CASES.map(|case| case.name))]
    cases: Vec<String>,

    /// Only this radio
    #[arg(long, value_name = "RADIO,…", value_delimiter = ',', value_parser = Rat::ALL.map(Rat::name))]
    radio: Vec<String>,

    /// Only these rules [default: all but naive while the radio moves and with --quick; in other
    /// cases none, autorate-tuned, truth-50 and ours]
    #[arg(long, value_name = "RULE,…", value_delimiter = ',', value_parser = Rule::ALL.map(Rule::name))]
    rules: Vec<String>,

    /// Seeds of each case, from the first on [default: 10 while the radio moves, 3 in other cases,
    /// and 1 with --quick]. Configurations are tuned on seeds 1 to 99
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=99))]
    seeds: Option<u64>,

    /// The first seed; those from 101 on are held back from tuning
    #[arg(long, value_name = "SEED", default_value_t = 101)]
    first_seed: u64,

    /// How long there is load in each run [default: 18s, and 15s with --quick]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// CAKE's interval, its `rtt`, under every rule [default: 200ms in the uplink under ours, as
    /// `sounding shape --manage` makes it, otherwise CAKE's own 100ms]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    interval: Option<Duration>,

    /// A checkout of cake-autorate; without it its rules are left out
    #[arg(long, value_name = "DIR")]
    cake_autorate: Option<PathBuf>,

    /// What the rule autorate-tuned changes of cake-autorate's defaults, as lines of its
    /// configuration [default: this project's, which the report shows]
    #[arg(long, value_name = "FILE")]
    autorate_config: Option<PathBuf>,

    /// Keep the runs here, and continue with missing ones
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// See the module.
pub(crate) struct RouterExperiment;

impl Experiment for RouterExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        let about = "rules for the rate of a router's CAKE beside a modelled cell";
        Card::new("router", about).needs(Needs::Root).lasts("6 h, 15 min with --quick")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let begun = Begun::now();
        let image = Image::find().into_diagnostic()?;
        let checkout = match &flags.cake_autorate {
            Some(folder) => {
                Some(autorate::checkout(folder).map_err(|what| miette::miette!("{what}"))?)
            }
            None => None,
        };
        let quick = if flags.quick { Duration::from_secs(15) } else { Duration::from_secs(18) };
        let lasts = flags.duration.unwrap_or(quick);
        if lasts < Duration::from_secs(5) {
            return Err(miette::miette!(
                "--duration is at least 5s: below it a flow has not settled"
            ));
        }
        let tuned = match &flags.autorate_config {
            Some(file) => std::fs::read_to_string(file)
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot read {}", host.shown(file)))?,
            None => autorate::TUNED.to_owned(),
        };
        let interval = flags.interval;
        let setting =
            Setting { image, program: program()?, autorate: checkout, tuned, lasts, interval };
        let mut missing = Vec::new();
        let rules = rules(&flags, &setting, &mut missing);
        for line in &missing {
            report(host, line);
        }
        let jobs = jobs(&cases(&flags), &radios(&flags), &rules, |case, rule, number| {
            let (all, seeds) = match (flags.quick, case.is_mobile()) {
                (true, _) => (true, 1),
                (false, true) => (true, 10),
                (false, false) => (false, 3),
            };
            let runs = all || !flags.rules.is_empty() || rule.is_everywhere();
            (runs && number < flags.seeds.unwrap_or(seeds)).then_some(flags.first_seed + number)
        });
        let scratch = tempfile::tempdir().into_diagnostic()?;
        let folder = flags.out.clone().unwrap_or_else(|| scratch.path().join("router"));
        sounding_host::files::make_folder(&folder)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot make {}", host.shown(&folder)))?;
        let stop = host.stop()?;
        let made = make(&setting, &jobs, &folder, &stop, host).map_err(miette::Report::from)?;
        let provenance = begun.end();
        let Made { runs, failed, stopped } = made;
        let mut table = table::table(&runs);
        missing.iter().chain(&failed).for_each(|line| table.note(line.clone()));
        let text = format!("{}\n{table}", verdict::verdict(&runs));
        let mut outcome = Outcome::of_markdown(text, &provenance, &runs)?;
        if flags.out.is_some() {
            outcome.page = Some((folder.join("report"), page(&runs, &setting.tuned, &provenance)));
        }
        outcome.end = match (stopped, failed.is_empty()) {
            (true, _) => End::Interrupted,
            (false, true) => End::Complete,
            (false, false) => End::Failed,
        };
        Ok(Some(outcome))
    }
}

fn cases(flags: &Flags) -> Vec<&'static Case> {
    let chosen = |name: &str| match (flags.cases.is_empty(), flags.quick) {
        (false, _) => flags.cases.iter().any(|case| case == name),
        (true, quick) => !quick || QUICK.contains(&name),
    };
    CASES.iter().filter(|case| chosen(case.name)).collect()
}

fn radios(flags: &Flags) -> Vec<Rat> {
    let chosen = |rat: &Rat| match (flags.radio.is_empty(), flags.quick) {
        (false, _) => flags.radio.iter().any(|name| name == rat.name()),
        (true, quick) => !quick || *rat == Rat::Lte,
    };
    Rat::ALL.into_iter().filter(chosen).collect()
}

/// The rules that can run here; says which cannot.
fn rules(flags: &Flags, setting: &Setting, missing: &mut Vec<String>) -> Vec<Rule> {
    let wanted: Vec<Rule> = match flags.rules.is_empty() {
        false => flags.rules.iter().filter_map(|name| Rule::named(name)).collect(),
        true => Rule::ALL.into_iter().filter(|rule| rule.is_usual()).collect(),
    };
    let has_shape = shapes(setting);
    wanted
        .into_iter()
        .filter(|rule| {
            let why = match rule {
                rule if rule.needs_autorate() && setting.autorate.is_none() => {
                    "it takes a checkout of cake-autorate: --cake-autorate DIR"
                }
                Rule::Ours if !has_shape => "this program has no `shape`",
                _ => return true,
            };
            missing.push(format!("MISSING: rule {}: {why}", rule.name()));
            false
        })
        .collect()
}

/// Whether this program has the verb that the guest runs.
fn shapes(setting: &Setting) -> bool {
    let help = std::process::Command::new(&setting.program).args(["shape", "--help"]).output();
    help.is_ok_and(|output| output.status.success())
}
