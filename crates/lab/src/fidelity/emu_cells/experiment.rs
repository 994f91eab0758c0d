use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::fidelity::emu_cells::{self, Plan, Row};

/// See the module.
pub(crate) struct EmuCellsExperiment;

impl Experiment for EmuCellsExperiment {
    type Flags = Plan;

    fn card(&self) -> Card {
        Card::new("emu-cells", "punctuality and CPU time of modelled cells in real time")
            .needs(Needs::Root)
            .lasts("1 min")
    }

    fn run(&self, plan: Plan, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = Plan { program: program()?, ..plan };
        let progress = |row: &Row| {
            report(host, format_args!("{}: {:.1} Mbit/s", row.cell, row.throughput_mbit_per_sec));
        };
        let result = emu_cells::run(&plan, progress)?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
