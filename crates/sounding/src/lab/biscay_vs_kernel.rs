use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_lab::biscay_vs_kernel;

use super::Output;

/// Our laws, BBR and CUBIC over recorded links and over links made from captures, beside the oracle
#[derive(clap::Args)]
pub(super) struct Args {
    /// Runs of each algorithm over each link
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// Who runs: biscay, sounding, biscay-cubic, sounding-cubic, or any congestion control of this kernel
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values = sounding_testbed::kernel_compare::SENDERS)]
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

/// Runs the experiment.
pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let plan = biscay_vs_kernel::Plan {
        data: args.data,
        filter: args.links,
        senders: args.algorithms,
        reps: args.reps,
        duration: args.duration,
        jobs: args.jobs.into(),
        delay: args.delay,
        flags: args.daemon,
        program: std::env::current_exe().into_diagnostic()?,
    };
    let comparison = biscay_vs_kernel::run(&plan, |line| eprintln!("{line}")).into_diagnostic()?;
    let markdown = comparison.markdown();
    let page = format!("{markdown}\n{}", comparison.provenance);
    args.output.write(&markdown, &page, &comparison)?;
    Ok(ExitCode::SUCCESS)
}
