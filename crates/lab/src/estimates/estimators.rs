//! Correlation of each method's rate with the goodput of a saturating flow, over modelled links,
//! from the bytes of the modelled modem and a sniffer. BISCAY §5.2, CQIC §3.3 and PBE-CC §4.2.1
//! evaluate their estimates in the same way.

mod crowd;
pub(crate) mod experiment;
mod run;
mod scenario;
mod score;

use std::fmt::{self, Write};
use std::time::Duration;

use serde::Serialize;
use sounding_cell::config::InvalidConfig;
use sounding_host::jobs;
use sounding_link::Method;

pub use run::Trial;
pub(crate) use run::{STEP, Series, run as follow};
pub use scenario::{Pace, Scenario};
pub(crate) use score::pearson;
pub use score::{Known, Score};

use crate::table::Table;

/// Part of a transport block of the modelled bearer that is IP, in 1/1000: six bytes per packet and
/// nine per block are headers. Real networks have more headers, 50 by
/// [`Config::ip_share_permille`](sounding_link::Config).
pub(crate) const IP_SHARE_PERMILLE: u32 = 990;

/// A flow for this long at least: the first 22 s are learnt from.
pub const SHORTEST: Duration = Duration::from_secs(30);

/// The measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Over which links.
    pub scenarios: Vec<Scenario>,
    /// The number of places and crowds for each.
    pub seeds: u64,
    /// Duration of each run, at least [`SHORTEST`].
    pub duration: Duration,
    /// Runs at once; they do not disturb each other.
    pub jobs: usize,
}

/// The trials of methods.
pub const TRIALS: [Trial; 10] = {
    const fn trial(method: Method, ms: u64, sniffs: bool) -> Trial {
        Trial { method, window: Duration::from_millis(ms), sniffs }
    }
    [
        trial(Method::Grants, 100, false),
        trial(Method::Formula, 100, false),
        trial(Method::Cqi, 100, false),
        trial(Method::Cqi, 200, false),
        trial(Method::Cqi, 500, false),
        trial(Method::Cell, 100, true),
        trial(Method::Cell, 100, false),
        trial(Method::Prb, 100, false),
        trial(Method::Mcs, 100, false),
        trial(Method::Rsrp, 100, false),
    ]
};

impl Trial {
    /// Its name.
    pub fn name(&self) -> String {
        let method = sounding_link::Source::from(self.method);
        let sniffer = if self.sniffs { "+sniffer" } else { "" };
        format!("{method}{sniffer} {}ms", self.window.as_millis())
    }

    /// The paper's result for the method.
    pub const fn paper(&self) -> &'static str {
        match self.method {
            Method::Grants | Method::Formula => "r over 0.95 (BISCAY 5.2)",
            Method::Cqi => "next: 50 % within 10, 80 % within 20 (CQIC Fig. 4)",
            Method::Cell => "no figure for the whole (PBE-CC 4.2.1)",
            Method::Prb | Method::Mcs | Method::Rsrp => "r barely 0.75 (BISCAY 5.2)",
        }
    }
}

/// One method over one link, all seeds together.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The link.
    pub scenario: String,
    /// The method, its window, and whether it uses a sniffer.
    pub method: String,
    /// Its score; `None` if the method does not support such links.
    pub score: Option<Score>,
    /// Its paper's value.
    pub paper: &'static str,
}

/// Every method over every link.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// One row each.
    pub rows: Vec<Row>,
    /// Goodput of each link in Mbit/s, one for each seed.
    pub goodput_mbit: Vec<(String, Vec<f64>)>,
}

/// Runs every flow. The same plan gives the same figures.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Comparison, InvalidConfig> {
    let span = plan.duration.max(SHORTEST);
    let work: Vec<(usize, u64)> = (0..plan.scenarios.len())
        .flat_map(|scenario| (1..=plan.seeds).map(move |seed| (scenario, seed)))
        .collect();
    let one = |&(at, seed): &(usize, u64)| {
        run::run(&plan.scenarios[at], &TRIALS, IP_SHARE_PERMILLE, span, seed)
    };
    let told = |&(at, seed): &(usize, u64), _: &_| {
        progress(&format!("{}, seed {seed}", plan.scenarios[at].name()));
    };
    let all = jobs::each(&work, plan.jobs, one, told)?;
    let mut by_scenario: Vec<Vec<Series>> = vec![Vec::new(); plan.scenarios.len()];
    for (&(at, _), series) in work.iter().zip(all) {
        by_scenario[at].push(series);
    }
    let mut comparison = Comparison { rows: Vec::new(), goodput_mbit: Vec::new() };
    for (scenario, series) in plan.scenarios.iter().zip(&by_scenario) {
        comparison.add(&scenario.name(), series);
    }
    Ok(comparison)
}

/// The columns of a score.
const SCORES: [&str; 9] =
    ["r", "error p50", "p80", "next p50", "next p80", "bias", "capacity", "its p50", "its p80"];

impl Comparison {
    fn add(&mut self, scenario: &str, series: &[Series]) {
        // The delay of the goodput after the records is the same for all methods.
        let late: Vec<isize> = series.iter().map(|one| one.lateness(0, TRIALS[0].window)).collect();
        for (at, trial) in TRIALS.iter().enumerate() {
            self.rows.push(Row {
                scenario: scenario.into(),
                method: trial.name(),
                score: Score::of(series, at, trial.window, &late),
                paper: trial.paper(),
            });
        }
        let goodput = series.iter().map(Series::mean_mbit).collect();
        self.goodput_mbit.push((scenario.into(), goodput));
    }

    /// The score of a method over a link.
    pub fn score(&self, scenario: &str, trial: &Trial) -> Option<Score> {
        let name = trial.name();
        let row = self.rows.iter().find(|row| row.scenario == scenario && row.method == name)?;
        row.score
    }

    /// As a page.
    pub fn to_markdown(&self) -> String {
        let mut table = Table::new().left(["link", "method"]).left(SCORES).left(["paper"]);
        for row in &self.rows {
            let names = [row.scenario.clone(), row.method.to_string()].into_iter();
            table.row(names.chain(row.cells()).chain([row.paper.to_string()]));
        }
        let mut page = table.to_string();
        let _ = writeln!(page, "\nGoodput in Mbit/s, one run after the other:\n");
        for (scenario, goodput) in &self.goodput_mbit {
            let all: Vec<String> = goodput.iter().map(|mbit| format!("{mbit:.1}")).collect();
            let _ = writeln!(page, "* {scenario}: {}", all.join(", "));
        }
        page
    }
}

impl Row {
    fn cells(&self) -> [String; 9] {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let known = |pick: fn(&Known) -> f64| {
            let capacity = self.score.and_then(|score| score.capacity);
            capacity.map_or("-".into(), |capacity| percent(pick(&capacity)))
        };
        match &self.score {
            None => core::array::from_fn(|_| "-".into()),
            Some(score) => [
                score.pearson_r.map_or("-".into(), |r| format!("{r:.3}")),
                percent(score.error_p50),
                percent(score.error_p80),
                percent(score.next_error_p50),
                percent(score.next_error_p80),
                format!("{:+.1} %", 100.0 * score.bias),
                known(|known| known.share),
                known(|known| known.error_p50),
                known(|known| known.error_p80),
            ],
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut scenario = "";
        for row in &self.rows {
            if row.scenario != scenario {
                scenario = &row.scenario;
                write!(f, "{scenario:<22}")?;
                SCORES.iter().try_for_each(|cell| write!(f, "{cell:>11}"))?;
                writeln!(f, "  paper")?;
            }
            write!(f, "  {:<20}", row.method)?;
            row.cells().iter().try_for_each(|cell| write!(f, "{cell:>11}"))?;
            writeln!(f, "  {}", row.paper)?;
        }
        Ok(())
    }
}
