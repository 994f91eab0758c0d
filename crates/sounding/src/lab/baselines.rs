use std::process::ExitCode;

use miette::IntoDiagnostic;
use sounding_lab::baselines;

use super::Output;
use crate::sim::processors;

/// What theory and papers say of each controller, and what ours does, in virtual time; needs no rights
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only these controllers
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    controllers: Vec<String>,

    /// Controllers at once; as many as this machine has processors unless stated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,

    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: Args) -> miette::Result<ExitCode> {
    let plan = baselines::Plan {
        controllers: args.controllers,
        jobs: args.jobs.map_or_else(processors, usize::from),
    };
    let result = baselines::run(&plan, |name| eprintln!("{name}")).into_diagnostic()?;
    args.output.write(&result.to_string(), &result.to_markdown(), &result)?;
    Ok(ExitCode::SUCCESS)
}
