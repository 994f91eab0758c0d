use miette::IntoDiagnostic;
use sounding_experiment::provenance;

use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};
use crate::granularity::{self, Plan, Row};

/// See the module.
pub(crate) struct GranularityExperiment;

impl Experiment for GranularityExperiment {
    type Flags = Plan;

    fn name(&self) -> &'static str {
        "granularity"
    }

    fn about(&self) -> &'static str {
        "time between deliveries of a KPI and its age at a reader"
    }

    fn needs(&self) -> Needs {
        Needs::RootWith("--cpu-latency")
    }

    fn duration(&self) -> Option<&'static str> {
        Some("2 min")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let begun = provenance::Begun::now();
        let progress = |row: &Row| {
            report(host, format_args!("{}: {} deliveries", row.way, row.deliveries));
        };
        let plan = Plan { program: program()?, ..plan };
        let result = granularity::run(&plan, progress).into_diagnostic()?;
        Outcome::of_markdown(result.to_string(), &begun.end(), &result).map(Some)
    }
}
