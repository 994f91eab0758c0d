//! Resource blocks as two readers of one modem see them: one drains its buffer, and one waits
//! for the modem's batches (BISCAY §5.2, Fig. 7).

use std::time::Duration;

use serde::Serialize;
use sounding_cell::modem::ClockConfig;
use sounding_experiment::metrics::nearest_rank;
use sounding_experiment::plan::Run;
use sounding_experiment::provenance::Begun;
use sounding_experiment::simulate::{About, capture};
use sounding_kpi::{Direction, Kpi, Layer};
use sounding_link::{Arrival, Config, Seen, Sounder};
use sounding_modem::ReplaySchedule;

use super::item::{Item, Report, text};
use crate::estimates::estimators::pearson;
use crate::experiment::Failed;
use crate::paper::Ours;

/// The readers, and how often records leave the modem: BISCAY §4 and §5.1.
const READERS: [(&str, Duration); 2] = [
    ("drained every 1 ms", Duration::from_millis(1)),
    ("in batches of 1 s", Duration::from_secs(1)),
];

/// Interval at which both are read, and the span whose resource blocks are counted.
const STEP: Duration = Duration::from_millis(10);

/// Results of one reader.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// Its way to read.
    pub reader: String,
    /// Updates per second.
    pub updates_per_sec: f64,
    /// Median age of its newest record.
    pub age_p50_ms: f64,
    /// And at the worst of a hundred moments.
    pub age_p99_ms: f64,
    /// Mean difference between its value and the truth, in percent of the mean.
    pub error_percent: f64,
    /// Pearson's correlation of the two; `None` where one never changes.
    pub pearson_r: Option<f64>,
    /// Resource blocks in a subframe: the truth and the reader's value, a pair for each 10 ms.
    pub series: Vec<(f64, f64)>,
}

const NOTHING: &str = "the modem tells of no resource blocks in the plan's flow: does its device have a modem and send?";

/// The data of the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Views {
    /// For each reader.
    pub views: Vec<View>,
}

/// The item: its plan's first run, so long and with this seed if not as the plan has it.
pub fn views(duration: Option<Duration>, seed: Option<u64>) -> Result<Report<Views>, Failed> {
    let begun = Begun::now();
    let item = Item::Fig7.files();
    let text = text(item, duration, seed.map(|seed| format!("[{seed}]")))?;
    let runs = text.runs()?;
    let run = runs.first().ok_or(NOTHING)?;
    let blocks = blocks(&capture(run, &About::new(&text))?);
    let views: Option<Vec<View>> =
        READERS.iter().map(|(name, every)| View::of(name, *every, &blocks, run)).collect();
    let views = views.ok_or(NOTHING)?;
    let rows = views.iter().map(|view| {
        let cells = vec![
            format!("{:.0}", view.updates_per_sec),
            format!("{:.0}", view.age_p50_ms),
            format!("{:.0}", view.age_p99_ms),
            format!("{:.1}", view.error_percent),
            view.pearson_r.map_or("-".into(), |r| format!("{r:.3}")),
        ];
        (view.reader.clone(), cells)
    });
    let columns = ["updates/s", "age p50 ms", "age p99 ms", "off by % of the mean", "r"];
    let ours = Ours::new(columns, rows);
    let expected = item.expected()?;
    Ok(Report::new(&run.plan.about, expected, ours, Views { views }.into(), begun.end()))
}

/// Resource blocks of one transmission; times since the network began.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    at: Duration,
    /// When the modem wrote the record that has it.
    written: Duration,
    prb: f64,
}

/// In the order in which they are written.
fn blocks(capture: &[u8]) -> Vec<Blocks> {
    let begins = ClockConfig::default().begins;
    let mut sounder = Sounder::new(Config::new(Direction::Uplink));
    let mut blocks = Vec::new();
    for (bytes, written) in ReplaySchedule::since(capture, begins).pieces() {
        sounder.handle_bytes(Arrival::AsStamped, &capture[bytes], |_, seen| {
            if let Seen::Kpi(Kpi::Grant(grant)) = seen
                && grant.direction == Direction::Uplink
                && grant.layer == Layer::Phy
                && let Some(allocation) = grant.allocation
            {
                let prb = f64::from(allocation.prb.count());
                blocks.push(Blocks { at: grant.at - begins, written, prb });
            }
        });
    }
    blocks
}

/// Resource blocks in a subframe, in the mean of the step that ends at `end`.
fn in_step(blocks: &[Blocks], end: Duration) -> f64 {
    let from = end.saturating_sub(STEP);
    let within = blocks.iter().filter(|one| one.at > from && one.at <= end);
    within.map(|one| one.prb).sum::<f64>() / STEP.as_millis() as f64
}

impl View {
    fn of(name: &str, every: Duration, blocks: &[Blocks], run: &Run) -> Option<Self> {
        let mut by_time = blocks.to_vec();
        by_time.sort_by_key(|one| one.at);
        // A window that is wider than any two records are apart.
        let near = |end: Duration| {
            let from = by_time.partition_point(|one| one.at + STEP < end);
            let to = by_time.partition_point(|one| one.at <= end);
            &by_time[from..to]
        };
        let leaves = |one: &Blocks| {
            let times = one.written.as_nanos().div_ceil(every.as_nanos());
            every.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
        };
        let (mut next, mut newest, mut updates) = (0, None::<Duration>, 0_u32);
        let (mut ages, mut series) = (Vec::new(), Vec::new());
        let mut now = run.plan.warmup;
        while now < run.plan.duration {
            now += STEP;
            let before = newest;
            while let Some(one) = blocks.get(next).filter(|one| leaves(one) <= now) {
                newest = newest.max(Some(one.at));
                next += 1;
            }
            let Some(newest) = newest else { continue };
            updates += u32::from(before != Some(newest));
            ages.push((now - newest).as_secs_f64() * 1e3);
            series.push((in_step(near(now), now), in_step(near(newest), newest)));
        }
        ages.sort_by(f64::total_cmp);
        let is: f64 = series.iter().map(|(is, _)| is).sum();
        if ages.is_empty() || is <= 0.0 {
            return None;
        }
        let off: f64 = series.iter().map(|(is, known)| (is - known).abs()).sum();
        Some(Self {
            reader: name.into(),
            updates_per_sec: f64::from(updates) / (STEP * series.len() as u32).as_secs_f64(),
            age_p50_ms: nearest_rank(&ages, 0.5),
            age_p99_ms: nearest_rank(&ages, 0.99),
            error_percent: 100.0 * off / is,
            pearson_r: pearson(&series),
            series,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_of_batches_knows_less_of_the_resource_blocks_than_one_that_drains() {
        let report = views(Some(Duration::from_secs(8)), Some(1)).expect("it runs");
        let Views { views } = &report.evidence.measured;
        let [drained, batches] = &views[..] else { panic!("{report}") };
        assert!(drained.updates_per_sec > 30.0 && batches.updates_per_sec <= 1.3, "{report}");
        assert!(drained.age_p50_ms < 30.0 && batches.age_p50_ms > 300.0, "{report}");
        assert!(drained.error_percent < batches.error_percent, "{report}");
        assert!(drained.pearson_r > batches.pearson_r, "{report}");
    }
}
