use crate::controllers::baselines;
use crate::experiment::{Card, Experiment, Host, Outcome, jobs, report};

/// Properties of each controller from theory and papers, compared with measurements in virtual
/// time; needs no rights
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Only these controllers, with the parameters that they are published with
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    controllers: Vec<String>,

    /// Controllers at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
}

/// See the module.
pub(crate) struct BaselinesExperiment;

impl Experiment for BaselinesExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("baselines", "what theory and papers say of each controller, and what ours does")
            .lasts("1 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let plan = baselines::Plan { controllers: flags.controllers, jobs: jobs(flags.jobs) };
        let result = baselines::run(&plan, |name| report(host, name))?;
        Outcome::new(result.to_string(), result.to_markdown(), &result).map(Some)
    }
}
