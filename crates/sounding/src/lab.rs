mod baselines;
mod biscay;
mod closed_loop;
mod downlink;
mod field;
mod head_to_head;
mod import;
mod report;
mod soak;
mod sweep;
mod validation;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use miette::{Context, IntoDiagnostic};
use serde::Serialize;
use sounding_lab::biscay::Item;
use sounding_lab::{
    agreement, bound, bpf_cost, ceiling, cell, cell_pace, estimators, granularity, mahimahi,
    overhead, provenance, versus,
};
use sounding_units::Rate;

use crate::dataset;

/// Experiments that compare this project with others and with itself.
///
/// Most of `run` send real flows through emulated links, so they need the rights of `sounding emu`: run them with sudo.
/// Figures are only as good as the machine is quiet; each result says how busy it was. `dataset`, `sweep` and
/// `report` need neither.
#[derive(clap::Args)]
#[command(arg_required_else_help = true, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  sounding lab list
  sudo sounding lab run mahimahi --reps 3 --markdown docs/emulator-vs-mahimahi.md
  sudo sounding lab run mahimahi --traces vz-short.down --duration 20s --reps 1
  sudo sounding lab run emu-ceiling --json ceiling.json
  sounding lab run bound --seeds 1000
  sounding lab dataset traces --traces 20 --duration 30s
  sounding lab run field --out field
  sounding lab sweep examples/plans/biscay.toml --out results
  sounding lab report results --out report";

#[derive(Subcommand)]
enum Verb {
    /// Name the experiments
    List {
        /// One JSON object an experiment
        #[arg(long)]
        json: bool,
    },
    /// Run an experiment
    Run {
        #[command(subcommand)]
        experiment: Experiment,
    },
    Dataset(dataset::Args),
    Sweep(Box<sweep::Args>),
    Import(import::Args),
    Report(report::Args),
}

#[derive(Subcommand)]
enum Experiment {
    Mahimahi(MahimahiArgs),
    EmuCeiling(CeilingArgs),
    EmuCells(CellsArgs),
    Agreement(AgreementArgs),
    Baselines(baselines::Args),
    #[command(name = "biscay/versus", alias = "biscay")]
    Biscay(BiscayArgs),
    #[command(name = "biscay/table1")]
    BiscayTable1(biscay::Args),
    #[command(name = "biscay/fig5")]
    BiscayFig5(biscay::Fig5Args),
    #[command(name = "biscay/fig6")]
    BiscayFig6(biscay::Args),
    #[command(name = "biscay/fig7")]
    BiscayFig7(biscay::Fig7Args),
    #[command(name = "biscay/fig8")]
    BiscayFig8(biscay::Args),
    #[command(name = "biscay/table2")]
    BiscayTable2(biscay::Args),
    #[command(name = "biscay/fig9", alias = "biscay/table3")]
    BiscayFig9(biscay::Args),
    #[command(name = "biscay/fig10")]
    BiscayFig10(biscay::Args),
    #[command(name = "biscay/fig11b")]
    BiscayFig11b(biscay::Fig11bArgs),
    ClosedLoop(closed_loop::Args),
    Downlink(downlink::Args),
    Bound(BoundArgs),
    Field(field::Args),
    BpfCost(BpfCostArgs),
    Granularity(GranularityArgs),
    HeadToHead(head_to_head::Args),
    Overhead(OverheadArgs),
    Estimators(EstimatorsArgs),
    Cell(CellArgs),
    Validation(validation::Args),
    Soak(soak::Args),
}

/// Kernel CUBIC and BBR through the emulator against the same through mahimahi, over the same traces
#[derive(clap::Args)]
struct MahimahiArgs {
    /// Repetitions of each row; the reference has three
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    reps: u8,

    /// Only rows whose name contains this, as `vz-short`, `down` or `vz-short.down.cubic`
    #[arg(long, value_name = "TEXT")]
    traces: Option<String>,

    /// How long to look at each flow; the reference looked for 60s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Emulations at once; more than one disturb each other on a small machine
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,

    /// Folder with mahimahi's traces and results
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// How many packets the emulator moves, how punctually, and for how much CPU time
#[derive(clap::Args)]
struct CeilingArgs {
    /// Rates of the link
    #[arg(
        long,
        value_name = "RATE,…",
        value_delimiter = ',',
        default_value = "12Mbit,100Mbit,500Mbit,1000Mbit,1200Mbit,1500Mbit"
    )]
    rates: Vec<Rate>,

    /// Delay each way
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    delay: Duration,

    /// How long to send at each rate
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Percent of a core for punctuality
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100))]
    punctuality: u8,

    #[command(flatten)]
    output: Output,
}

/// How punctual modelled cells are in real time, and for how much CPU time
#[derive(clap::Args)]
struct CellsArgs {
    /// How long to run each cell
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Percent of a core for punctuality
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100))]
    punctuality: u8,

    #[command(flatten)]
    output: Output,
}

/// This kernel's controllers in real time beside ours in virtual time, over the same modelled cells
#[derive(clap::Args)]
struct AgreementArgs {
    /// How long each flow sends; the first fifth is not measured
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Seeds of each cell, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,

    #[command(flatten)]
    output: Output,
}

/// BISCAY, BBR and CUBIC over recorded links and over links made from captures, beside the oracle
#[derive(clap::Args)]
struct BiscayArgs {
    /// Runs of each algorithm over each link
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// Who runs: biscay, or any congestion control of this kernel
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values = sounding_lab::duel::RUNNERS)]
    algorithms: Vec<String>,

    /// Only links whose name contains this
    #[arg(long, value_name = "TEXT")]
    links: Option<String>,

    /// The longest that a flow sends; links from captures are shorter
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Propagation delay each way
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = humantime::parse_duration)]
    delay: Duration,

    /// Runs at once; more than one disturb each other on a small machine
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,

    /// A flag for the daemon, e.g. --daemon=--allowance=30ms; may be given several times
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    daemon: Vec<String>,

    /// Folder with traces and captures
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// How often an estimate is right that says whether the radio or the sender sets the limit, in modelled cells
#[derive(clap::Args)]
struct BoundArgs {
    /// Runs, each with a cell, a load and a flow of its own
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,

    /// The first run's seed; the others follow
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 40))]
    first: u64,

    /// Runs at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    #[command(flatten)]
    output: Output,
}

/// What BISCAY costs in CPU time, beside the kernel's own BBR and CUBIC
#[derive(clap::Args)]
struct BpfCostArgs {
    /// Runs of each algorithm
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// How long each run sends
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = humantime::parse_duration)]
    duration: Duration,

    #[command(flatten)]
    output: Output,
}

/// Time between deliveries of a KPI that a simulated modem makes every 10 ms, and its age when a reader sees it
#[derive(clap::Args)]
struct GranularityArgs {
    /// How records leave the modem
    #[arg(
        long,
        value_name = "WAY,…",
        value_delimiter = ',',
        default_values = granularity::Way::ALL.map(|(_, name)| name)
    )]
    ways: Vec<granularity::Way>,

    /// How long to measure each way
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// What `sounding board` is told of how long a processor may take to wake, as 0us
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    cpu_latency: Option<Duration>,

    #[command(flatten)]
    output: Output,
}

/// What a modem sends by log mask, and the CPU time of the process that reads it
#[derive(clap::Args)]
struct OverheadArgs {
    /// Captures of mixed records; without any, the LTE captures of the shared data
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    captures: Vec<PathBuf>,

    /// How fast diagnostic data comes while CPU time is measured
    #[arg(long, value_name = "RATE", default_value = "5Mbit")]
    rate: Rate,

    /// How long to measure CPU time, each way
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with captures
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// Every method's rate against the goodput of a saturating flow, over modelled LTE and NR links; needs no rights
#[derive(clap::Args)]
struct EstimatorsArgs {
    /// Only links whose name contains this, as `lte`, `uplink` or `nr.downlink.drive`
    #[arg(long, value_name = "TEXT")]
    links: Option<String>,

    /// Runs over each link, each at another place with another crowd
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// With nobody else in the cell
    #[arg(long)]
    alone: bool,

    /// How long each flow sends, of which 22s are learnt from
    #[arg(long, value_name = "TIME", default_value = "82s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Runs at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,

    #[command(flatten)]
    output: Output,
}

/// The modelled cell beside the papers that measured real ones, and beside real captures and logs
#[derive(clap::Args)]
struct CellArgs {
    /// How many seeds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,

    /// The first of them
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// How long each run lasts, in the model's time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with captures and logs
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

/// Where a result goes besides the table on standard output.
#[derive(clap::Args)]
struct Output {
    /// Write the result as a page of Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write the result as JSON; `-` is standard output, instead of the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

impl Output {
    fn write(&self, table: &str, markdown: &str, result: &impl Serialize) -> miette::Result<()> {
        let json = || serde_json::to_string_pretty(result).into_diagnostic();
        match &self.json {
            Some(path) if path == Path::new("-") => println!("{}", json()?),
            Some(path) => {
                write(path, &format!("{}\n", json()?))?;
                print!("{table}");
            }
            None => print!("{table}"),
        }
        self.markdown.as_ref().map_or(Ok(()), |path| write(path, markdown))
    }
}

fn write(path: &Path, text: &str) -> miette::Result<()> {
    fs::write(path, text)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", path.display()))
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    match args.verb {
        Verb::List { json } => list(json),
        Verb::Dataset(args) => dataset::run(args),
        Verb::Sweep(args) => sweep::run(&args),
        Verb::Import(args) => import::run(args),
        Verb::Run { experiment: Experiment::Field(args) } => field::run(args),
        Verb::Report(args) => report::run(args),
        Verb::Run { experiment: Experiment::Mahimahi(args) } => mahimahi(args),
        Verb::Run { experiment: Experiment::Validation(args) } => validation::run(args),
        Verb::Run { experiment: Experiment::EmuCeiling(args) } => ceiling(args),
        Verb::Run { experiment: Experiment::EmuCells(args) } => cells(args),
        Verb::Run { experiment: Experiment::Agreement(args) } => agree(args),
        Verb::Run { experiment: Experiment::Baselines(args) } => baselines::run(args),
        Verb::Run { experiment: Experiment::Biscay(args) } => versus(args),
        Verb::Run { experiment: Experiment::BiscayTable1(args) } => {
            biscay::execute(Item::Table1, args)
        }
        Verb::Run { experiment: Experiment::BiscayFig5(args) } => biscay::fig5(args),
        Verb::Run { experiment: Experiment::BiscayFig6(args) } => biscay::execute(Item::Fig6, args),
        Verb::Run { experiment: Experiment::BiscayFig7(args) } => biscay::fig7(args),
        Verb::Run { experiment: Experiment::BiscayFig8(args) } => biscay::execute(Item::Fig8, args),
        Verb::Run { experiment: Experiment::BiscayTable2(args) } => {
            biscay::execute(Item::Table2, args)
        }
        Verb::Run { experiment: Experiment::BiscayFig9(args) } => biscay::execute(Item::Fig9, args),
        Verb::Run { experiment: Experiment::BiscayFig10(args) } => {
            biscay::execute(Item::Fig10, args)
        }
        Verb::Run { experiment: Experiment::BiscayFig11b(args) } => biscay::fig11b(args),
        Verb::Run { experiment: Experiment::ClosedLoop(args) } => closed_loop::execute(args),
        Verb::Run { experiment: Experiment::Downlink(args) } => downlink::execute(args),
        Verb::Run { experiment: Experiment::Bound(args) } => bound(args),
        Verb::Run { experiment: Experiment::BpfCost(args) } => cost(args),
        Verb::Run { experiment: Experiment::Granularity(args) } => granularity(args),
        Verb::Run { experiment: Experiment::HeadToHead(args) } => head_to_head::run(args),
        Verb::Run { experiment: Experiment::Overhead(args) } => overhead(args),
        Verb::Run { experiment: Experiment::Estimators(args) } => estimators(args),
        Verb::Run { experiment: Experiment::Cell(args) } => modelled_cell(args),
        Verb::Run { experiment: Experiment::Soak(args) } => soak::run(args),
    }
}

const EXPERIMENTS: &[(&str, &str)] = &[
    ("baselines", "what theory and papers say of each controller, and what ours does; 1 min"),
    ("biscay/versus", "BISCAY against BBR and CUBIC of this kernel over recorded links; 45 min"),
    (
        "biscay/table1",
        "what BISCAY gains on eight algorithms over recorded links; no rights needed",
    ),
    (
        "biscay/fig5",
        "rates by BISCAY's methods and by raw KPIs beside goodput; no rights needed; 1 min",
    ),
    ("biscay/fig6", "how often a link has to be sampled; no rights needed"),
    ("biscay/fig7", "resource blocks as two readers of a modem know them; no rights needed"),
    ("biscay/fig8", "throughput and delay of all algorithms by scenario; no rights needed"),
    ("biscay/table2", "one to three flows on a device; no rights needed"),
    ("biscay/fig9", "fairness over short windows; no rights needed"),
    ("biscay/fig10", "a bottleneck that moves to the wire and back; no rights needed"),
    (
        "biscay/fig11b",
        "BISCAY, BBR and CUBIC of this kernel over a private network with handovers; 7 min",
    ),
    ("closed-loop", "controllers on modelled cells that grant what is asked for; no rights needed"),
    (
        "downlink",
        "a download whose sender is held by its receive window, or told by an option; 4 min",
    ),
    ("bound", "labels of link estimates against what modelled cells know; no rights needed; 1 min"),
    ("field", "every controller and the oracle over every recorded link; no rights needed; 10 min"),
    (
        "mahimahi",
        "kernel CUBIC and BBR through the emulator against the same through mahimahi; 40 min",
    ),
    ("emu-ceiling", "packet rate, punctuality and CPU time of the emulator; 1 min"),
    ("emu-cells", "punctuality and CPU time of modelled cells in real time; 1 min"),
    ("agreement", "the kernel's controllers in real time beside ours in virtual time; 5 min"),
    ("bpf-cost", "CPU time of BISCAY beside the kernel's own BBR and CUBIC; 3 min"),
    ("granularity", "time between deliveries of a KPI and its age at a reader; 2 min"),
    (
        "head-to-head",
        "other implementations of our controllers, which somebody has built, beside ours; 8 min each",
    ),
    ("estimators", "every method's rate against goodput, over modelled LTE and NR links; 5 min"),
    ("overhead", "what a modem sends by log mask, and CPU time of its reader; 4 min"),
    (
        "validation",
        "mahimahi, the emulator and virtual time, each beside the next; 13 min a repetition",
    ),
    ("soak", "links, flows and daemons that come and go, and what they leave behind; 1 h"),
    ("cell", "the modelled cell beside the papers, real captures and a real stack's logs; 3 min"),
];

fn list(json: bool) -> miette::Result<ExitCode> {
    for (name, about) in EXPERIMENTS {
        if json {
            println!("{}", serde_json::json!({ "name": name, "about": about }));
        } else {
            println!("{name:<15}{about}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl MahimahiArgs {
    fn plan(self) -> (mahimahi::Plan, Output) {
        let Self { reps, traces, duration, jobs, data, output } = self;
        let (reps, jobs) = (reps.into(), jobs.into());
        (mahimahi::Plan { data, reps, filter: traces, window: duration, jobs }, output)
    }
}

fn mahimahi(args: MahimahiArgs) -> miette::Result<ExitCode> {
    let (plan, output) = args.plan();
    let comparison = mahimahi::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    output.write(&comparison.to_string(), &comparison.to_markdown(), &comparison)?;
    Ok(ExitCode::SUCCESS)
}

fn ceiling(args: CeilingArgs) -> miette::Result<ExitCode> {
    let plan = ceiling::Plan {
        rates: args.rates,
        delay: args.delay,
        duration: args.duration,
        overhead_percent: args.punctuality,
    };
    let progress = |row: &ceiling::Row| {
        eprintln!("{:.0} Mbit/s: {:.1} % delivered", row.rate_mbit, row.delivered_percent);
    };
    let result = ceiling::run(&plan, progress).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}

fn cells(args: CellsArgs) -> miette::Result<ExitCode> {
    let program = std::env::current_exe().into_diagnostic()?;
    let plan =
        cell_pace::Plan { duration: args.duration, overhead_percent: args.punctuality, program };
    let progress = |row: &cell_pace::Row| {
        eprintln!("{}: {:.1} Mbit/s", row.cell, row.throughput_mbit_per_sec);
    };
    let result = cell_pace::run(&plan, progress).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}

fn agree(args: AgreementArgs) -> miette::Result<ExitCode> {
    let program = std::env::current_exe().into_diagnostic()?;
    let plan = agreement::Plan { duration: args.duration, seeds: args.seeds, program };
    let progress = |row: &agreement::Row| {
        eprintln!("{}, seed {}, {}, {}", row.cell, row.seed, row.way, row.controller);
    };
    let result = agreement::run(&plan, progress).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}

fn versus(args: BiscayArgs) -> miette::Result<ExitCode> {
    let plan = versus::Plan {
        data: args.data,
        filter: args.links,
        runners: args.algorithms,
        reps: args.reps,
        duration: args.duration,
        jobs: args.jobs.into(),
        delay: args.delay,
        flags: args.daemon,
        program: std::env::current_exe().into_diagnostic()?,
    };
    let comparison = versus::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    let markdown = comparison.markdown();
    let page = format!("{markdown}\n{}", comparison.provenance);
    args.output.write(&markdown, &page, &comparison)?;
    Ok(ExitCode::SUCCESS)
}

fn bound(args: BoundArgs) -> miette::Result<ExitCode> {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let plan = bound::Plan {
        first: args.first,
        seeds: args.seeds,
        jobs: args.jobs.map_or_else(processors, usize::from),
    };
    let step = (plan.seeds / 20).max(1);
    let progress = |done: u64| {
        if done.is_multiple_of(step) {
            eprintln!("{done} of {} runs", plan.seeds);
        }
    };
    let outcome = bound::run(&plan, progress).into_diagnostic()?;
    let text = outcome.to_string();
    let page = format!("```\n{text}```\n\n{}", outcome.provenance);
    args.output.write(&text, &page, &outcome)?;
    Ok(ExitCode::SUCCESS)
}

fn cost(args: BpfCostArgs) -> miette::Result<ExitCode> {
    let plan =
        bpf_cost::Plan { repetitions: args.reps, span: args.duration, ..bpf_cost::Plan::default() };
    let begun = provenance::Begun::now();
    let progress = |_: &bpf_cost::Run| eprint!(".");
    let report = bpf_cost::measure(&plan, progress).map_err(|error| miette::miette!("{error}"))?;
    eprintln!();
    let text = report.to_string();
    args.output.write(&text, &format!("```\n{text}```\n\n{}", begun.end()), &report)?;
    Ok(ExitCode::SUCCESS)
}

fn granularity(args: GranularityArgs) -> miette::Result<ExitCode> {
    let begun = provenance::Begun::now();
    let progress = |row: &granularity::Row| eprintln!("{}: {} deliveries", row.way, row.deliveries);
    let program = std::env::current_exe().into_diagnostic()?;
    let GranularityArgs { ways, duration, cpu_latency, output } = args;
    let plan = granularity::Plan { ways, duration, program, cpu_latency };
    let result = granularity::run(&plan, progress).into_diagnostic()?;
    let text = result.to_string();
    output.write(&text, &format!("{text}\n{}", begun.end()), &result)?;
    Ok(ExitCode::SUCCESS)
}

fn estimators(args: EstimatorsArgs) -> miette::Result<ExitCode> {
    let wanted = args.links.unwrap_or_default();
    let mut scenarios = estimators::Scenario::all();
    scenarios.retain(|scenario| scenario.name().contains(&wanted));
    scenarios.iter_mut().for_each(|scenario| scenario.alone = args.alone);
    if scenarios.is_empty() {
        let names: Vec<String> =
            estimators::Scenario::all().iter().map(estimators::Scenario::name).collect();
        return Err(miette::miette!(
            "no link is called {wanted:?}; there are {}",
            names.join(", ")
        ));
    }
    if args.duration < estimators::SHORTEST {
        return Err(miette::miette!("--duration is at least 30s: 22s are learnt from"));
    }
    let plan = estimators::Plan {
        scenarios,
        seeds: args.seeds,
        duration: args.duration,
        jobs: args.jobs.into(),
    };
    let begun = provenance::Begun::now();
    let result = estimators::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    let page = format!("{}\n{}", result.to_markdown(), begun.end());
    args.output.write(&result.to_string(), &page, &result)?;
    Ok(ExitCode::SUCCESS)
}

fn modelled_cell(args: CellArgs) -> miette::Result<ExitCode> {
    let plan = cell::Plan {
        data: args.data.exists().then_some(args.data),
        seed: args.seed,
        seeds: args.seeds,
        span: args.duration,
    };
    let result = cell::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}

/// LTE captures of mixed records, in the shared data.
const MIXED: &str = "captures/lgs96__mobileinsight_core";

fn overhead(args: OverheadArgs) -> miette::Result<ExitCode> {
    let mut captures = args.captures;
    if captures.is_empty() {
        let folder = fs::read_dir(args.data.join(MIXED)).into_iter().flatten().flatten();
        captures.extend(folder.map(|entry| entry.path()));
        captures.sort();
    }
    let program = std::env::current_exe().into_diagnostic()?;
    let plan = overhead::Plan { captures, rate: args.rate, duration: args.duration, program };
    let begun = provenance::Begun::now();
    let result = overhead::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    let text = result.to_string();
    args.output.write(&text, &format!("{text}\n{}", begun.end()), &result)?;
    Ok(ExitCode::SUCCESS)
}
