use std::time::Duration;

use sounding_experiment::provenance;

use crate::experiment::{Card, Experiment, Host, Needs, Outcome, report};
use crate::kernel::bpf_cost;

/// CPU cost of the laws and of Copa compared with the kernel's own BBR and CUBIC
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Runs of each algorithm
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,

    /// Duration of each run
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = humantime::parse_duration)]
    duration: Duration,
}

/// See the module.
pub(crate) struct BpfCostExperiment;

impl Experiment for BpfCostExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("bpf-cost", "CPU time of our laws and Copa beside the kernel's own BBR and CUBIC")
            .needs(Needs::Root)
            .lasts("16 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = bpf_cost::Plan {
            repetitions: flags.reps,
            span: flags.duration,
            ..bpf_cost::Plan::default()
        };
        let begun = provenance::Begun::now();
        let progress = |_: &bpf_cost::Run| host.progress(format_args!("."));
        let costs = bpf_cost::measure(&plan, progress)?;
        report(host, "");
        Outcome::of_text(costs.to_string(), Some(&begun.end()), &costs).map(Some)
    }
}
