use std::path::PathBuf;
use std::time::Duration;

use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::kernel::biscay_vs_kernel;

/// BISCAY, `sounding`, BBR and CUBIC over recorded links and over links made from captures,
/// compared with the oracle
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Runs of each algorithm over each link
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// Algorithms to run: biscay, sounding, biscay-cubic, sounding-cubic, or any congestion
    /// control of this kernel
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values = sounding_testbed::kernel_compare::senders())]
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

    /// Number of simultaneous runs; on a small machine they disturb each other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,

    /// A flag for the daemon, e.g. --daemon=--allowance=30ms; may be given several times
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    daemon: Vec<String>,

    /// Folder with traces and captures
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,
}

/// See the module.
pub(crate) struct BiscayVsKernelExperiment;

impl Experiment for BiscayVsKernelExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("biscay/versus", "our laws, BBR and CUBIC of this kernel over recorded links")
            .alias("biscay")
            .needs(Needs::Root)
            .lasts("45 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = biscay_vs_kernel::Plan {
            data: flags.data,
            filter: flags.links,
            senders: flags.algorithms,
            reps: flags.reps,
            duration: flags.duration,
            jobs: flags.jobs.into(),
            delay: flags.delay,
            flags: flags.daemon,
            program: program()?,
        };
        let comparison = biscay_vs_kernel::run(&plan, |line| report(host, line))?;
        let markdown = comparison.markdown();
        Outcome::of_markdown(markdown, &comparison.provenance, &comparison).map(Some)
    }
}
