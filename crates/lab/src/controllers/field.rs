//! Every controller over every recorded link: BISCAY §5.3.3 (Figure 8) with the traces that are
//! public.
//!
//! The plan is an ordinary sweep. This module has the list of files by kind, and the table by kind.

pub(crate) mod experiment;
mod index;
mod page;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use sounding_experiment::inference::{Paired, holm};
use sounding_experiment::plan::{ORACLE, Text};
use sounding_experiment::simulate::Outcome;
use sounding_experiment::sweep::summary::{FIGURES, Row, Summary};
use sounding_laws::{Fallback, RadioController};

pub use index::{Group, Link, links};

/// The choice of runs.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Only files whose name contains this.
    pub filter: String,
    /// Every how many of the links of hundreds of Mbit/s are taken; 1 for all.
    pub thinned: usize,
    /// The controllers; the oracle is added.
    pub controllers: Vec<String>,
    /// Duration of each run.
    pub duration: Duration,
    /// Number of seeds.
    pub seeds: u32,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            filter: String::new(),
            thinned: 4,
            controllers: sounding_baselines::names()
                .filter(is_somebody)
                .map(str::to_owned)
                .collect(),
            duration: Duration::from_secs(20),
            seeds: 3,
        }
    }
}

/// Whether a controller differs from the others here: without a modem, one that falls back to CUBIC
/// is plain CUBIC. One that follows a device's reports is BBR there.
fn is_somebody(name: &&str) -> bool {
    !sounding_baselines::needs(name).is_some_and(|needs| needs.remote && !needs.optional)
        && RadioController::by_name(name)
            .is_none_or(|listener| listener.fallback != Fallback::Cubic)
}

/// The links of a choice, from the folder of shared data.
pub fn chosen(data: &Path, choice: &Choice) -> io::Result<Vec<Link>> {
    let mut fast = 0;
    let mut chosen = links(data)?;
    chosen.retain(|link| {
        if !link.file.contains(&choice.filter) {
            return false;
        }
        fast += usize::from(link.is_fast);
        !link.is_fast || (fast - 1).is_multiple_of(choice.thinned.max(1))
    });
    Ok(chosen)
}

/// The plan of a choice; its files are beside the index of the traces.
///
/// As in BISCAY §5.3.2: the emulator of Pantheon, one flow, an endless queue. Other settings are
/// those of the measurements with mahimahi that the simulator is compared with: 20 ms in each
/// direction, and a sender's buffer of 4 MiB, Linux's `tcp_wmem`. Acknowledgements go over 48
/// Mbit/s, as in Orca and DeepCC.
pub fn plan(data: &Path, links: &[Link], choice: &Choice) -> Text {
    let Choice { duration, seeds, controllers, .. } = choice;
    let mut text = format!(
        "about = \"every controller over every recorded link, as BISCAY 5.3.3\"\n\
         duration = \"{}ms\"\nseeds = \"1..{seeds}\"\n\n\
         [[links]]\nname = \"phone\"\nup = \"48Mbit\"\ndown = \"48Mbit\"\ndelay = \"20ms\"\nfrom = \"lot\"\n\n\
         [[flows]]\nname = \"download\"\ndirection = \"down\"\nbuffer = 4194304\n\n\
         [sweep]\n\"links.phone.down\" = [\n",
        duration.as_millis(),
    );
    for link in links {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "    {:?},", link.file);
    }
    let names: Vec<String> = controllers
        .iter()
        .map(String::as_str)
        // A controller that is named twice would be compared with itself.
        .filter(|name| *name != ORACLE)
        .chain([ORACLE])
        .map(|name| format!("{name:?}"))
        .collect();
    let _ = writeln!(text, "]\n\"flows.download.controller\" = [{}]", names.join(", "));
    Text::new("field.toml", text, data.join("traces"))
}

/// The table of a group, and how each of its controllers compares.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Which links.
    pub group: Group,
    /// Number of links.
    pub links: usize,
    /// A row for each controller, in the order of the registry.
    pub rows: Vec<Beside>,
}

/// One controller.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// Its figures.
    #[serde(flatten)]
    pub row: Row,
    /// Its throughput and BBR's, paired by link.
    pub throughput_over_bbr: Option<Judged>,
    /// Its 95th percentile of the queueing delay and BBR's.
    pub queueing_p95_over_bbr: Option<Judged>,
}

/// A comparison by pairs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Judged {
    /// The result of the test.
    #[serde(flatten)]
    pub paired: Paired,
    /// The likelihood as it counts among those of all controllers of the group.
    pub p_holm: f64,
}

/// The controller that all are compared with: BISCAY's nearest.
const RIVAL: &str = "bbr";

/// Every group with links.
pub fn compare(outcomes: &[Outcome], links: &[Link]) -> Vec<Compared> {
    let mut groups: BTreeMap<Group, Vec<&str>> = BTreeMap::new();
    for link in links {
        groups.entry(link.group).or_default().push(&link.file);
    }
    let groups = groups.into_iter().map(|(group, files)| {
        let is_in = |outcome: &&Outcome| {
            outcome.values.iter().any(|(_, value)| files.contains(&value.as_str()))
        };
        let summary = Summary::of(outcomes.iter().filter(is_in));
        let [throughput, queueing] =
            ["throughput_mbit_per_sec", "queueing_p95_ms"].map(|name| judged(&summary.rows, name));
        let verdicts = throughput.into_iter().zip(queueing);
        let rows = summary.rows.into_iter().zip(verdicts).map(|(row, (throughput, queueing))| {
            Beside { row, throughput_over_bbr: throughput, queueing_p95_over_bbr: queueing }
        });
        Compared { group, links: files.len(), rows: rows.collect() }
    });
    groups.collect()
}

fn judged(rows: &[Row], name: &str) -> Vec<Option<Judged>> {
    let figure = FIGURES.iter().position(|figure| figure.name == name).unwrap_or_default();
    let rival = rows.iter().find(|row| row.controller == RIVAL);
    // The oracle knows the link; it is no competitor.
    let competes = |row: &&Row| row.controller != RIVAL && row.controller != ORACLE;
    let tests: Vec<Option<Paired>> = rows
        .iter()
        .map(|row| {
            Some(row).filter(competes).zip(rival).and_then(|(row, rival)| row.paired(rival, figure))
        })
        .collect();
    let likelihoods: Vec<f64> = tests.iter().flatten().map(|test| test.p).collect();
    let mut corrected = holm(&likelihoods).into_iter();
    let judged = tests.into_iter().map(|test| {
        let paired = test?;
        Some(Judged { paired, p_holm: corrected.next()? })
    });
    judged.collect()
}

pub use page::{markdown, table};

#[cfg(test)]
mod tests;
