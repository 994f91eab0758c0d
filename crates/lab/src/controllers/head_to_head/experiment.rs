use std::path::PathBuf;
use std::time::Duration;

use crate::controllers::head_to_head::{self, PEERS};
use crate::experiment::{Card, Experiment, Host, Needs, Outcome, report};

/// Other implementations of the controllers through the emulator, compared with this project's in
/// virtual time
///
/// Name the folder of each built program; docs/results/baselines-references.md has the revisions
/// and how they were built.
#[derive(clap::Args)]
pub(crate) struct Flags {
    #[command(flatten)]
    peers: Peers,

    /// Only links whose name contains this: vz-short.down, tm-driving.down or att-driving.down
    #[arg(long, value_name = "TEXT")]
    traces: Option<String>,

    /// Repetitions of each row
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    reps: u64,

    /// Measured time of each flow
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Folder with mahimahi's traces
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,
}

/// The folders of those that are built here.
#[derive(clap::Args)]
#[group(id = "peers", required = true, multiple = true, args = ["copa", "libutp", "vivace", "sprout", "verus"])]
pub(crate) struct Peers {
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
}

/// See the module.
pub(crate) struct HeadToHeadExperiment;

impl Experiment for HeadToHeadExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new(
            "head-to-head",
            "other implementations of our controllers, which somebody has built, beside ours",
        )
        .needs(Needs::Root)
        .lasts("9 min each")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let Peers { copa, libutp, vivace, sprout, verus } = flags.peers;
        let folders = [copa, libutp, vivace, sprout, verus];
        let peers = PEERS.iter().zip(folders).filter_map(|(peer, folder)| Some((peer, folder?)));
        let plan = head_to_head::Plan {
            data: flags.data,
            peers: peers.collect(),
            filter: flags.traces,
            reps: flags.reps,
            duration: flags.duration,
        };
        let result = head_to_head::run(&plan, |line| report(host, line))?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
