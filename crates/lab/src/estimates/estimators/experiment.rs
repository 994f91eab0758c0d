use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance;

use crate::estimates::estimators;
use crate::experiment::{Card, Experiment, Host, Outcome, report};

/// Every method's rate against the goodput of a saturating flow, over modelled LTE and NR links;
/// needs no rights
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Only links whose name contains this, as `lte`, `uplink` or `nr.downlink.drive`
    #[arg(long, value_name = "TEXT")]
    links: Option<String>,

    /// Runs over each link, each at another place with another crowd
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// Without other users in the cell
    #[arg(long)]
    alone: bool,

    /// Duration of each flow; the raw KPIs learn from the first 22s
    #[arg(long, value_name = "TIME", default_value = "82s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Runs at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,
}

/// See the module.
pub(crate) struct EstimatorsExperiment;

impl Experiment for EstimatorsExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new(
            "estimators",
            "every method's rate against goodput, over modelled LTE and NR links",
        )
        .lasts("5 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let wanted = flags.links.unwrap_or_default();
        let mut scenarios = estimators::Scenario::all();
        scenarios.retain(|scenario| scenario.name().contains(&wanted));
        scenarios.iter_mut().for_each(|scenario| scenario.alone = flags.alone);
        if scenarios.is_empty() {
            let names: Vec<String> =
                estimators::Scenario::all().iter().map(estimators::Scenario::name).collect();
            return Err(miette::miette!(
                "no link is called {wanted:?}; there are {}",
                names.join(", ")
            ));
        }
        if flags.duration < estimators::SHORTEST {
            return Err(miette::miette!("--duration is at least 30s: 22s are learnt from"));
        }
        let plan = estimators::Plan {
            scenarios,
            seeds: flags.seeds,
            duration: flags.duration,
            jobs: flags.jobs.into(),
        };
        let begun = provenance::Begun::now();
        let result = estimators::run(&plan, |line| report(host, line)).into_diagnostic()?;
        let page = format!("{}\n{}", result.to_markdown(), begun.end());
        Outcome::new(result.to_string(), page, &result).map(Some)
    }
}
