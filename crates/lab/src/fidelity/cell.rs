//! The modelled cell held against the papers that measured real ones, and against real captures and
//! logs.
//!
//! The modem's figures are read from its Diag bytes, delays are those of packets, and the other
//! users of a cell are those that a sniffer sees. Nothing is read from inside the model, except the
//! moment at which a packet left the modem's buffer.

mod answer;
pub(crate) mod experiment;
mod figures;
mod held;
pub(crate) mod radio;
mod reader;
mod real;
mod retransmission;
mod rig;
mod rtt;
mod sharing;
mod spread;
pub mod stack;
mod table;
pub(crate) mod uplink;
mod walk;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use sounding_cell::config::InvalidConfig;
use sounding_experiment::provenance::{Begun, Provenance};

pub use figures::{FIGURES, Figure};
pub use spread::Spread;
pub(crate) use table::ours;

/// The measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Folder with captures and logs; figures of real networks are left out where it is absent.
    pub data: Option<PathBuf>,
    /// The first seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u32,
    /// Duration of each run, in the model's time.
    pub span: Duration,
}

/// A figure: the paper's, those of real captures, and the model's.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub id: &'static str,
    /// Its meaning.
    pub what: &'static str,
    /// The paper's value.
    pub paper: &'static str,
    /// Its section.
    pub source: &'static str,
    /// Values from captures and logs.
    pub real: Vec<String>,
    /// The model's over the seeds; `None` if the event did not occur.
    pub ours: Option<Spread>,
    /// Number of events behind the model's value, if it is over all seeds together.
    pub events: Option<usize>,
    /// The unit of the model's value.
    pub unit: &'static str,
    /// The range that counts as agreement.
    pub within: [f64; 2],
    /// Whether the median agrees.
    pub agrees: bool,
    /// How the model's value is computed.
    pub why: &'static str,
}

/// The comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// One row a figure.
    pub rows: Vec<Row>,
    /// Seeds that were run.
    pub seeds: Vec<u64>,
    /// Seconds of each run.
    pub span_s: f64,
    /// Origin of the figures.
    pub provenance: Provenance,
}

/// Figures of all seeds.
#[derive(Debug, Default)]
struct Measured {
    /// One value a seed.
    values: BTreeMap<&'static str, Vec<f64>>,
    /// Values that are too rare for a figure of each seed.
    pooled: BTreeMap<&'static str, Vec<f64>>,
    /// Delays by slot, of all seeds.
    slots: Vec<walk::SlotDelay>,
}

/// Takes figures down.
trait Noted {
    /// A seed's value, if it has one.
    fn note(&mut self, figure: &'static str, value: Option<f64>);
    /// Some of all values.
    fn all(&mut self, figures: &'static str, values: Vec<f64>);
    /// The delay of a slot.
    fn slot(&mut self, delay: walk::SlotDelay);
}

impl Noted for Measured {
    fn note(&mut self, figure: &'static str, value: Option<f64>) {
        self.values.entry(figure).or_default().extend(value);
    }

    fn all(&mut self, figures: &'static str, values: Vec<f64>) {
        self.pooled.entry(figures).or_default().extend(values);
    }

    fn slot(&mut self, delay: walk::SlotDelay) {
        self.slots.push(delay);
    }
}

impl Measured {
    /// The pool that a figure is a quantile of, and which.
    fn pool(&self, figure: &Figure) -> Option<(&[f64], &'static str)> {
        let (pool, part) = figure.id.rsplit_once('.')?;
        Some((self.pooled.get(pool)?, part))
    }

    fn spread(&self, figure: &Figure) -> Option<Spread> {
        if let Some((values, part)) = self.pool(figure) {
            let part = match part {
                "few" => 0.1,
                "most" => 0.9,
                _ => 0.5,
            };
            let value = sounding_experiment::metrics::quantile(values, part)?;
            return Some(Spread { least: value, median: value, most: value });
        }
        Spread::of(self.values.get(figure.id)?)
    }
}

/// Runs every experiment with every seed.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Comparison, InvalidConfig> {
    let begun = Begun::now();
    let mut measured = Measured::default();
    let seeds: Vec<u64> = (plan.seed..).take(plan.seeds as usize).collect();
    for &seed in &seeds {
        progress(&format!("seed {seed}: a walk"));
        walk::measure(plan.span, seed, &mut measured)?;
        progress(&format!("seed {seed}: an upload with rough HARQ"));
        held::measure(plan.span, seed, &mut measured)?;
        progress(&format!("seed {seed}: a steady uplink"));
        uplink::measure(plan.span, seed, &mut measured)?;
        progress(&format!("seed {seed}: answers to reports"));
        answer::measure(plan.span, seed, &mut measured)?;
        progress(&format!("seed {seed}: round trips"));
        rtt::measure(plan.span, seed, &mut measured)?;
        progress(&format!("seed {seed}: a real stack's scenes"));
        stack::measure(plan.span, seed, &mut measured)?;
        progress(&format!("seed {seed}: users and carriers"));
        sharing::measure(plan.span, seed, &mut measured)?;
    }
    let real = plan.data.as_deref().map(|data| real::look(data, &progress)).unwrap_or_default();
    let rows = FIGURES.iter().map(|figure| row(figure, &measured, &real)).collect();
    let span_s = plan.span.as_secs_f64();
    Ok(Comparison { rows, seeds, span_s, provenance: begun.end() })
}

/// The users of a busy cell, over this span of the model's time with each seed (PBE-CC Fig. 7).
pub(crate) fn users(seeds: &[u64], span: Duration) -> Result<Vec<Row>, InvalidConfig> {
    part("users.", seeds, |seed, into| sharing::users(span, seed, into))
}

/// How a second carrier comes and goes, with each seed (PBE-CC Fig. 2).
pub(crate) fn carriers(seeds: &[u64]) -> Result<Vec<Row>, InvalidConfig> {
    part("ca.", seeds, sharing::aggregation)
}

/// The figures whose names begin so, by the measurement that has them.
fn part(
    names: &str,
    seeds: &[u64],
    measure: impl Fn(u64, &mut Measured) -> Result<(), InvalidConfig>,
) -> Result<Vec<Row>, InvalidConfig> {
    let mut measured = Measured::default();
    seeds.iter().try_for_each(|&seed| measure(seed, &mut measured))?;
    let figures = FIGURES.iter().filter(|figure| figure.id.starts_with(names));
    Ok(figures.map(|figure| row(figure, &measured, &real::Found::default())).collect())
}

fn row(figure: &Figure, measured: &Measured, real: &real::Found) -> Row {
    let ours = measured.spread(figure);
    let within = figure.least..=figure.most;
    Row {
        id: figure.id,
        what: figure.what,
        paper: figure.paper,
        source: figure.source,
        real: real.get(figure.id).cloned().unwrap_or_default(),
        ours,
        events: measured.pool(figure).map(|(values, _)| values.len()),
        unit: figure.unit,
        within: [figure.least, figure.most],
        agrees: ours.is_some_and(|ours| within.contains(&ours.median)),
        why: figure.why,
    }
}
