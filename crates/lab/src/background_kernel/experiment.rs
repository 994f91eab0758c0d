use std::time::Duration;

use miette::IntoDiagnostic;

use crate::background_kernel::{self, Plan, Scene};
use crate::experiment::{Experiment, Host, Needs, Outcome, program, report};

/// `background` in this kernel beside virtual time, on the same plan
///
/// A download at a phone in a modelled cell: alone; beside a rival at another phone, which comes after a third of a run and
/// goes after two thirds; and beside short transfers at four other phones, which take 30, 60 or 80 % of the cell.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Runs of each scene in each world
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=99))]
    seeds: u64,

    /// Only these scenes
    #[arg(long, value_name = "SCENE", value_enum, value_delimiter = ',')]
    scenes: Vec<SceneWord>,

    /// How long each run lasts
    #[arg(long, value_name = "TIME", default_value = "36s", value_parser = humantime::parse_duration)]
    duration: Duration,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SceneWord {
    Alone,
    Rival,
    #[value(name = "load-30")]
    Load30,
    #[value(name = "load-60")]
    Load60,
    #[value(name = "load-80")]
    Load80,
}

impl From<SceneWord> for Scene {
    fn from(word: SceneWord) -> Self {
        match word {
            SceneWord::Alone => Self::Alone,
            SceneWord::Rival => Self::Rival,
            SceneWord::Load30 => Self::Load(30),
            SceneWord::Load60 => Self::Load(60),
            SceneWord::Load80 => Self::Load(80),
        }
    }
}

/// See the module.
pub(crate) struct BackgroundKernelExperiment;

impl Experiment for BackgroundKernelExperiment {
    type Flags = Flags;

    fn name(&self) -> &'static str {
        "background-kernel"
    }

    fn about(&self) -> &'static str {
        "background in this kernel beside virtual time: throughput, yield and time in each state"
    }

    fn needs(&self) -> Needs {
        Needs::Root
    }

    fn duration(&self) -> Option<&'static str> {
        Some("17 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < Duration::from_secs(12) {
            return Err(miette::miette!(
                "--duration is at least 12s: the law learns its cell first"
            ));
        }
        let mut scenes: Vec<Scene> = flags.scenes.into_iter().map(Scene::from).collect();
        if scenes.is_empty() {
            scenes = Scene::ALL.to_vec();
        }
        let (seeds, lasts) = (flags.seeds, flags.duration);
        let plan = Plan { seeds, scenes, lasts, program: program()? };
        let compared =
            background_kernel::run(&plan, |line| report(host, line)).into_diagnostic()?;
        Outcome::of_markdown(compared.to_string(), &compared.provenance, &compared).map(Some)
    }
}
