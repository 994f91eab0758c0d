use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::head_to_head::{self, PEERS};

use super::Output;

/// Other implementations of our controllers through the emulator, beside ours in virtual time
///
/// Name the folder of each that is built here; docs/baselines-references.md says which revisions were, and how.
#[derive(clap::Args)]
#[group(id = "peers", required = true, multiple = true, args = ["copa", "libutp", "vivace", "sprout", "verus"])]
pub(super) struct Args {
    /// genericCC's `sender` and `receiver`, beside `copa`
    #[arg(long, value_name = "DIR")]
    copa: Option<PathBuf>,

    /// libutp's `ucat-static`, beside `ledbat`
    #[arg(long, value_name = "DIR")]
    libutp: Option<PathBuf>,

    /// PCC-Uspace's `src`, beside `vivace`
    #[arg(long, value_name = "DIR")]
    vivace: Option<PathBuf>,

    /// Sprout's repository, beside `sprout`
    #[arg(long, value_name = "DIR")]
    sprout: Option<PathBuf>,

    /// Verus's repository, beside `verus`
    #[arg(long, value_name = "DIR")]
    verus: Option<PathBuf>,

    /// Only links whose name contains this: vz-short.down, tm-driving.down or att-driving.down
    #[arg(long, value_name = "TEXT")]
    traces: Option<String>,

    /// Repetitions of each row
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    reps: u64,

    /// How long to look at each flow
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with mahimahi's traces
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,

    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let folders = [args.copa, args.libutp, args.vivace, args.sprout, args.verus];
    let peers = PEERS.iter().zip(folders).filter_map(|(peer, folder)| Some((peer, folder?)));
    let plan = head_to_head::Plan {
        data: args.data,
        peers: peers.collect(),
        filter: args.traces,
        reps: args.reps,
        duration: args.duration,
    };
    let result = head_to_head::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}
