use std::time::Duration;

use miette::IntoDiagnostic;

use crate::emu_cells;
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// How punctual modelled cells are in real time, and for how much CPU time
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// How long to run each cell
    #[arg(long, value_name = "TIME", default_value = "8s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// Percent of a core for punctuality
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=100))]
    punctuality: u8,
}

/// See the module.
pub(crate) struct EmuCellsExperiment;

impl Experiment for EmuCellsExperiment {
    type Flags = Flags;

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

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let program = program()?;
        let plan = emu_cells::Plan {
            duration: flags.duration,
            overhead_percent: flags.punctuality,
            program,
        };
        let progress = |row: &emu_cells::Row| {
            report(host, format_args!("{}: {:.1} Mbit/s", row.cell, row.throughput_mbit_per_sec));
        };
        let result = emu_cells::run(&plan, progress).into_diagnostic()?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
