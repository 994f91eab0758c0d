use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::fidelity::agreement::{self, Plan, Row};

/// See the module.
pub(crate) struct AgreementExperiment;

impl Experiment for AgreementExperiment {
    type Flags = Plan;

    fn card(&self) -> Card {
        Card::new("agreement", "the kernel's controllers in real time beside ours in virtual time")
            .needs(Needs::Root)
            .lasts("5 min")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = Plan { program: program()?, ..plan };
        let progress = |row: &Row| {
            let Row { cell, seed, way, controller, .. } = row;
            report(host, format_args!("{cell}, seed {seed}, {way}, {controller}"));
        };
        let result = agreement::run(&plan, progress)?;
        let heading = "# The kernel and virtual time over the same cells";
        let page = format!("{heading}\n\n{}\n{result}", result.provenance);
        Outcome::new(result.to_string(), page, &result).map(Some)
    }
}
