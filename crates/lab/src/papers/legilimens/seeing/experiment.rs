use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;

use super::{Part, Seen};
use crate::experiment::{Card, Experiment, Host, Outcome, report_share};
use crate::paper::plan_item::{RowFlags, rows};

/// A background flow that a sniffer shows all blocks of its cell, beside one that is blind, ideal
/// priority and no background
///
/// Rows name the direction, the load or turns of a foreground flow, the scheduler, and the scheme.
/// A sniffer is perfect (seeing), bad, dead after a minute, or forged.
#[derive(clap::Args)]
pub(crate) struct Flags {
    #[command(flatten)]
    rows: RowFlags,
}

/// See the module.
pub(crate) struct SeeingExperiment;

impl Experiment for SeeingExperiment {
    type Flags = Flags;

    fn card(&self) -> Card {
        Card::new(
            "background-seeing",
            "background where a sniffer shows the cell, under six schedulers and bad sniffers",
        )
        .lasts("1 h")
    }

    fn run(&self, flags: Flags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let settings = flags.rows.settings();
        let begun = Begun::now();
        let mut parts = Vec::new();
        for part in [Part::Turns, Part::Loads] {
            if !part.has(&settings.only) {
                continue;
            }
            let progress = |done, all| report_share(host, done, all, "runs");
            parts.push((part, rows(part, &settings, progress).into_diagnostic()?));
        }
        let seen = Seen::new(parts, begun.end());
        Outcome::of_markdown(seen.to_string(), &seen.provenance, &seen).map(Some)
    }
}
