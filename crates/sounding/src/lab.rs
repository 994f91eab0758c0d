mod agreement;
mod baselines;
mod biscay;
mod biscay_vs_kernel;
mod bound;
mod bpf_cost;
mod cell;
mod closed_loop;
mod downlink;
mod emu_ceiling;
mod emu_cells;
mod estimators;
mod field;
mod granularity;
mod head_to_head;
mod import;
mod links;
mod mahimahi;
mod overhead;
mod references;
mod report;
mod soak;
mod sweep;
mod validation;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use miette::{Context, IntoDiagnostic};
use serde::Serialize;
use sounding_lab::biscay::Item;

use crate::dataset;
use crate::screen;

/// Experiments that compare this project with others and with itself.
///
/// Those of `run` that send this kernel's own flows through emulated links need the rights of `sounding emu`: run them with
/// sudo. The others need no rights, `list` says which. Figures in real time are only as good as the machine is quiet; each
/// result says how busy it was. `dataset`, `sweep`, `import` and `report` need neither.
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
    Mahimahi(mahimahi::Args),
    EmuCeiling(emu_ceiling::Args),
    EmuCells(emu_cells::Args),
    Agreement(agreement::Args),
    Baselines(baselines::Args),
    #[command(name = "biscay/versus", alias = "biscay")]
    Biscay(biscay_vs_kernel::Args),
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
    BiscayFig10(biscay::Fig10Args),
    #[command(name = "biscay/fig11b")]
    BiscayFig11b(biscay::Fig11bArgs),
    ClosedLoop(closed_loop::Args),
    References(references::Args),
    Downlink(downlink::Args),
    Bound(bound::Args),
    Field(field::Args),
    BpfCost(bpf_cost::Args),
    Granularity(granularity::Args),
    HeadToHead(head_to_head::Args),
    Overhead(overhead::Args),
    Estimators(estimators::Args),
    Cell(cell::Args),
    Validation(validation::Args),
    Soak(soak::Args),
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
        .wrap_err_with(|| format!("cannot write {}", screen::path(path)))
}

/// Runs the verb.
pub(crate) fn run(args: Args) -> miette::Result<ExitCode> {
    match args.verb {
        Verb::List { json } => list(json),
        Verb::Run { experiment } => experiment.run(),
        Verb::Dataset(args) => dataset::run(args),
        Verb::Sweep(args) => sweep::run(&args),
        Verb::Import(args) => import::run(args),
        Verb::Report(args) => report::run(args),
    }
}

impl Experiment {
    fn run(self) -> miette::Result<ExitCode> {
        match self {
            Self::Mahimahi(args) => mahimahi::run(args),
            Self::EmuCeiling(args) => emu_ceiling::run(args),
            Self::EmuCells(args) => emu_cells::run(args),
            Self::Agreement(args) => agreement::run(args),
            Self::Baselines(args) => baselines::run(args),
            Self::Biscay(args) => biscay_vs_kernel::run(args),
            Self::BiscayTable1(args) => biscay::run(Item::Table1, args),
            Self::BiscayFig5(args) => biscay::fig5(args),
            Self::BiscayFig6(args) => biscay::run(Item::Fig6, args),
            Self::BiscayFig7(args) => biscay::fig7(args),
            Self::BiscayFig8(args) => biscay::run(Item::Fig8, args),
            Self::BiscayTable2(args) => biscay::run(Item::Table2, args),
            Self::BiscayFig9(args) => biscay::run(Item::Fig9, args),
            Self::BiscayFig10(args) => biscay::fig10(args),
            Self::BiscayFig11b(args) => biscay::fig11b(args),
            Self::ClosedLoop(args) => closed_loop::run(args),
            Self::References(args) => references::run(args),
            Self::Downlink(args) => downlink::run(args),
            Self::Bound(args) => bound::run(args),
            Self::Field(args) => field::run(args),
            Self::BpfCost(args) => bpf_cost::run(args),
            Self::Granularity(args) => granularity::run(args),
            Self::HeadToHead(args) => head_to_head::run(args),
            Self::Overhead(args) => overhead::run(args),
            Self::Estimators(args) => estimators::run(args),
            Self::Cell(args) => cell::run(args),
            Self::Validation(args) => validation::run(args),
            Self::Soak(args) => soak::run(args),
        }
    }
}

const EXPERIMENTS: &[(&str, &str)] = &[
    (
        "baselines",
        "what theory and papers say of each controller, and what ours does; no rights needed; 1 min",
    ),
    ("biscay/versus", "our laws, BBR and CUBIC of this kernel over recorded links; 45 min"),
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
    (
        "biscay/fig10",
        "a bottleneck that moves to the wire and back; no rights needed, root with --kernel",
    ),
    (
        "biscay/fig11b",
        "our laws, BBR and CUBIC in this kernel over a private network with handovers; 9 min",
    ),
    ("closed-loop", "controllers on modelled cells that grant what is asked for; no rights needed"),
    (
        "references",
        "senders that know the present of a link, by what they keep waiting; no rights needed",
    ),
    (
        "downlink",
        "a download whose sender is held by its receive window, or told by an option; 6 min",
    ),
    ("bound", "labels of link estimates against what modelled cells know; no rights needed; 1 min"),
    ("field", "the controllers and the oracle over recorded links; no rights needed; 10 min"),
    (
        "mahimahi",
        "kernel CUBIC and BBR through the emulator against the same through mahimahi; 40 min",
    ),
    ("emu-ceiling", "packet rate, punctuality and CPU time of the emulator; 1 min"),
    ("emu-cells", "punctuality and CPU time of modelled cells in real time; 1 min"),
    ("agreement", "the kernel's controllers in real time beside ours in virtual time; 5 min"),
    ("bpf-cost", "CPU time of our laws beside the kernel's own BBR and CUBIC; 9 min"),
    (
        "granularity",
        "time between deliveries of a KPI and its age at a reader; no rights needed, root with --cpu-latency; 2 min",
    ),
    (
        "head-to-head",
        "other implementations of our controllers, which somebody has built, beside ours; 9 min each",
    ),
    (
        "estimators",
        "every method's rate against goodput, over modelled LTE and NR links; no rights needed; 5 min",
    ),
    (
        "overhead",
        "what a modem sends by log mask, and CPU time of its reader; no rights needed; 4 min",
    ),
    (
        "validation",
        "mahimahi, the emulator and virtual time, each beside the next; 13 min a repetition",
    ),
    ("soak", "links, flows and daemons that come and go, and what they leave behind; 1 h"),
    (
        "cell",
        "the modelled cell beside the papers, real captures and a real stack's logs; no rights needed; 3 min",
    ),
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
