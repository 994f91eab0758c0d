use miette::IntoDiagnostic;

use crate::agreement::{self, Plan, Row};
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// See the module.
pub(crate) struct AgreementExperiment;

impl Experiment for AgreementExperiment {
    type Flags = Plan;

    fn name(&self) -> &'static str {
        "agreement"
    }

    fn about(&self) -> &'static str {
        "the kernel's controllers in real time beside ours in virtual time"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("5 min")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = Plan { program: program()?, ..plan };
        let progress = |row: &Row| {
            let Row { cell, seed, way, controller, .. } = row;
            report(host, format_args!("{cell}, seed {seed}, {way}, {controller}"));
        };
        let result = agreement::run(&plan, progress).into_diagnostic()?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
