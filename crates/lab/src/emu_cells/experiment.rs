use miette::IntoDiagnostic;

use crate::emu_cells::{self, Plan, Row};
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// See the module.
pub(crate) struct EmuCellsExperiment;

impl Experiment for EmuCellsExperiment {
    type Flags = Plan;

    fn name(&self) -> &'static str {
        "emu-cells"
    }

    fn about(&self) -> &'static str {
        "punctuality and CPU time of modelled cells in real time"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("1 min")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = Plan { program: program()?, ..plan };
        let progress = |row: &Row| {
            report(host, format_args!("{}: {:.1} Mbit/s", row.cell, row.throughput_mbit_per_sec));
        };
        let result = emu_cells::run(&plan, progress).into_diagnostic()?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
