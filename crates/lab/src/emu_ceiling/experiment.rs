use miette::IntoDiagnostic;

use crate::emu_ceiling::{self, Plan, Row};
use crate::experiment::{Experiment, Host, Needs, Outcome, report};

/// See the module.
pub(crate) struct EmuCeilingExperiment;

impl Experiment for EmuCeilingExperiment {
    type Flags = Plan;

    fn name(&self) -> &'static str {
        "emu-ceiling"
    }

    fn about(&self) -> &'static str {
        "packet rate, punctuality and CPU time of the emulator"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("1 min")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let progress = |row: &Row| {
            let Row { rate_mbit, delivered_percent, .. } = row;
            report(host, format_args!("{rate_mbit:.0} Mbit/s: {delivered_percent:.1} % delivered"));
        };
        let result = emu_ceiling::run(&plan, progress).into_diagnostic()?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
