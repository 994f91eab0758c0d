//! The flags of experiments that make the runs of a paper's plan.

use std::time::Duration;

// Without a line of documentation: clap would take it for that of the command.
#[derive(clap::Args)]
#[allow(missing_docs)]
pub(crate) struct PlanFlags {
    /// Seeds, such as 1 or "1..20"; default: those of the plan
    #[arg(long, value_name = "SEEDS")]
    seeds: Option<String>,

    /// Duration of each run; default: as in the plan
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// Runs at once; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

impl PlanFlags {
    /// The seeds, as `--set` has them.
    pub(crate) fn seeds(&self) -> Option<String> {
        let seeds = self.seeds.as_ref()?;
        // A number, or a range in quotes.
        let is_one = seeds.parse::<u64>().is_ok();
        Some(if is_one { format!("seeds={seeds}") } else { format!("seeds={seeds:?}") })
    }

    /// The duration, as `--set` has it.
    pub(crate) fn duration(&self) -> Option<String> {
        let duration = self.duration?;
        Some(format!("duration=\"{}ms\"", duration.as_millis()))
    }

    /// The number of jobs.
    pub(crate) fn jobs(&self) -> usize {
        crate::experiment::jobs(self.jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_settings_of_the_plan() {
        let flags = |seeds: Option<&str>| PlanFlags {
            seeds: seeds.map(Into::into),
            duration: Some(Duration::from_millis(1_500)),
            jobs: None,
        };
        assert_eq!(flags(Some("7")).seeds().as_deref(), Some("seeds=7"));
        assert_eq!(flags(Some("1..20")).seeds().as_deref(), Some("seeds=\"1..20\""));
        assert_eq!(flags(None).seeds(), None);
        assert_eq!(flags(None).duration().as_deref(), Some("duration=\"1500ms\""));
    }
}
