use miette::IntoDiagnostic;

use crate::experiment::{End, Experiment, Host, Needs, Outcome, program, report};
use crate::soak::{self, Plan};

/// See the module.
pub(crate) struct SoakExperiment;

impl Experiment for SoakExperiment {
    type Flags = Plan;

    fn name(&self) -> &'static str {
        "soak"
    }

    fn about(&self) -> &'static str {
        "links, flows and daemons that come and go, and what they leave behind"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("1 h")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = Plan { program: program()?, ..plan };
        let summary = soak::run(&plan, |line| report(host, line)).into_diagnostic()?;
        let outcome = Outcome::of_text(summary.to_string(), summary.provenance.as_ref(), &summary)?;
        let end = if summary.is_clean() { End::Complete } else { End::Failed };
        Ok(Some(Outcome { end, ..outcome }))
    }
}
