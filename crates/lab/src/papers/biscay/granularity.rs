//! How old a KPI is at its reader (BISCAY §5.1, Figure 4a). `sounding_testbed::granularity`
//! measures it.

use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;
use sounding_testbed::granularity::{self, BufferPolicy, Granularity, Plan, Row};

use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::table::Table;

/// Time between deliveries of a KPI that a simulated modem makes every 10 ms, and its age when a
/// reader sees it
#[derive(clap::Args)]
pub(crate) struct GranularityFlags {
    /// How records leave the modem
    #[arg(
        long,
        value_name = "WAY,…",
        value_delimiter = ',',
        default_values = BufferPolicy::ALL.map(|(_, name)| name)
    )]
    ways: Vec<BufferPolicy>,

    /// Duration of each measurement
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,

    /// The limit on processors' wake-up time given to `sounding board`, as 0us
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    cpu_latency: Option<Duration>,
}

/// Fig. 4a.
pub(crate) struct GranularityExperiment;

impl Experiment for GranularityExperiment {
    type Flags = GranularityFlags;

    fn card(&self) -> Card {
        Card::new("granularity", "time between deliveries of a KPI and its age at a reader")
            .needs(Needs::RootWith("--cpu-latency"))
            .lasts("2 min")
    }

    fn run(&self, flags: GranularityFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let GranularityFlags { ways, duration, cpu_latency } = flags;
        let plan = Plan { ways, duration, cpu_latency, full_at: 70, program: program()? };
        let begun = Begun::now();
        let progress = |row: &Row| {
            report(host, format_args!("{}: {} deliveries", row.way, row.deliveries));
        };
        let result = granularity::run(&plan, progress).into_diagnostic()?;
        Outcome::of_markdown(table(&result).to_string(), &begun.end(), &result).map(Some)
    }
}

fn table(result: &Granularity) -> Table {
    let mut table = Table::new()
        .left(["the modem's buffer"])
        .right(["deliveries", "records each", "interval ms: median", "p99", "max"])
        .right(["received ms: median", "on the board ms: median", "p99"])
        .right(["age ms: median", "p99", "max", "machine late ms: p99", "max"]);
    for row in &result.rows {
        let (gap, age, late) = (&row.interval_ms, &row.age_ms, &row.machine_late_ms);
        let gaps = [gap.median, gap.p99, gap.max].map(|ms| format!("{ms:.2}"));
        let posted = [row.received_ms.median, row.posted_ms.median, row.posted_ms.p99];
        let ages = [age.median, age.p99, age.max, late.p99, late.max];
        let delays = posted.into_iter().chain(ages).map(|ms| format!("{ms:.3}"));
        let cells = [row.way.to_string(), row.deliveries.to_string(), row.records_each.to_string()];
        table.row(cells.into_iter().chain(gaps).chain(delays));
    }
    let priority = if result.real_time { "had" } else { "had no" };
    table.note(format!("The threads that measure {priority} real-time priority."));
    table
}
