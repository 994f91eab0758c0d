use std::time::Duration;

use crate::experiment::{Card, Experiment, Host, Needs, Outcome, program, report};
use crate::kernel::background_kernel::{self, Plan, Scene};

/// `background` in this kernel beside virtual time, on the same plan
///
/// A download at a phone in a modelled cell: alone; beside a rival at another phone, which comes
/// after a third of a run and goes after two thirds; and beside short transfers at four other
/// phones, which take 30, 60 or 80 % of the cell.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Runs of each scene in each world
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=99))]
    seeds: u64,

    /// Only these scenes
    #[arg(long, value_name = "SCENE", value_parser = WORDS, value_delimiter = ',')]
    scenes: Vec<String>,

    /// How long each run lasts
    #[arg(long, value_name = "TIME", default_value = "36s", value_parser = humantime::parse_duration)]
    duration: Duration,
}

const WORDS: [&str; 5] = ["alone", "rival", "load-30", "load-60", "load-80"];

/// The scene of one of these words.
fn scene(word: &str) -> Scene {
    WORDS.iter().zip(Scene::ALL).find(|(of, _)| **of == word).map_or(Scene::Alone, |of| of.1)
}

/// See the module.
pub(crate) struct BackgroundKernelExperiment;

impl Experiment for BackgroundKernelExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new("background-kernel", "background in this kernel beside virtual time: throughput, yield and time in each state").needs(Needs::Root).lasts("17 min")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        if flags.duration < Duration::from_secs(12) {
            return Err(miette::miette!(
                "--duration is at least 12s: the law learns its cell first"
            ));
        }
        let mut scenes: Vec<Scene> = flags.scenes.iter().map(|word| scene(word)).collect();
        if scenes.is_empty() {
            scenes = Scene::ALL.to_vec();
        }
        let (seeds, lasts) = (flags.seeds, flags.duration);
        let plan = Plan { seeds, scenes, lasts, program: program()? };
        let compared = background_kernel::run(&plan, |line| report(host, line))?;
        Outcome::of_markdown(compared.to_string(), &compared.provenance, &compared).map(Some)
    }
}
