//! A live sender under the feed's advice: its rise from idleness, a halved capacity, pauses, and a
//! minute over a channel that fades.

pub(crate) mod experiment;

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_cell::config::InvalidConfig;
use sounding_cell::radio::{Between, Level, ScriptConfig};
use sounding_experiment::metrics::quantile;
use sounding_experiment::observe::Arrival;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs;
use sounding_sim::held::Fixed;
use sounding_sim::world::{Flow, Listening};

use super::contender::Contender;
use super::run::{BEGUN, FLOOD, Truth, bytes, run as arrivals, within};
use super::scenario::{Case, Kind, Scenario};
use crate::table::Table;

/// When a sender begins.
const BEGINS: Duration = Duration::from_secs(1);
/// When the capacity halves.
const HALVES: Duration = Duration::from_secs(5);
const SPAN: Duration = Duration::from_secs(8);
/// Time over a channel that fades.
const FADES: Duration = Duration::from_secs(60);
/// A cell that carries nothing of a saturating sender for so long grants nothing.
const SILENCE: Duration = Duration::from_millis(50);
/// A packet that waited for longer is too late for its picture, and a gap of more shows as one that
/// stands still.
const IN_TIME: Duration = Duration::from_millis(200);
/// A packet is under way no longer than this: the queue of a fade is shorter.
const UNDER_WAY: Duration = Duration::from_secs(2);
/// A rate is the mean of this.
const WINDOW: Duration = Duration::from_millis(100);
/// Interval of looks.
const STEP: Duration = Duration::from_millis(10);
/// The part of the capacity that counts as all of it.
const MOST: f64 = 0.9;

/// What a sender did in a cell.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Response {
    /// From its beginning until it has 90 % of the capacity, ms; absent if it never has.
    pub risen_ms: Option<f64>,
    /// From the drop until it sends no more than the new capacity, ms.
    pub fallen_ms: Option<f64>,
    /// The longest time without a packet while the cell would have granted, ms.
    pub pause_ms: f64,
    /// Over a channel that fades: what was carried, as a part of what a saturating sender carries.
    pub carried: f64,
    /// The 95th percentile of what a packet waited there until it had been sent once, ms.
    pub queueing_p95_ms: f64,
    /// Time without a packet that came in time, beyond 200 ms each time, s.
    pub frozen_s: f64,
}

/// A sender over one kind of cells.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Where.
    #[serde(flatten)]
    pub kind: Kind,
    /// The sender.
    pub contender: String,
    /// By seed.
    pub responses: Vec<Response>,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// By kind of cells and sender.
    pub rows: Vec<Row>,
    /// Origin of the figures.
    pub provenance: Provenance,
}

/// Senders, cells and repetitions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The senders.
    pub contenders: Vec<Contender>,
    /// The seeds.
    pub seeds: std::ops::Range<u64>,
    /// Number of parallel runs.
    pub jobs: usize,
}

/// Runs the plan; `progress` receives the number of finished cells and of all cells.
///
/// # Errors
///
/// [`InvalidConfig`] if a cell is none.
pub fn run(plan: &Plan, mut progress: impl FnMut(usize, usize)) -> Result<Outcome, InvalidConfig> {
    let begun = Begun::now();
    let seeds: Vec<u64> = plan.seeds.clone().collect();
    let (mut done, all) = (0, seeds.len() * Kind::ALL.len());
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        let told = |_: &_, _: &_| {
            done += 1;
            progress(done, all);
        };
        let one = |seed: &u64| -> Result<Vec<Response>, InvalidConfig> {
            let cell = Cell::of(kind, *seed)?;
            plan.contenders.iter().map(|contender| cell.judge(contender)).collect()
        };
        let found = jobs::each(&seeds, plan.jobs, one, told)?;
        rows.extend(plan.contenders.iter().enumerate().map(|(at, contender)| Row {
            kind,
            contender: contender.to_string(),
            responses: found.iter().map(|responses| responses[at]).collect(),
        }));
    }
    Ok(Outcome { rows, provenance: begun.end() })
}

/// A still cell, the same with a capacity that halves, and one whose channel fades.
struct Cell {
    still: Truth,
    fading: Truth,
    halved: Scenario,
    /// Bytes a second, before and after.
    capacity: [f64; 2],
}

impl Cell {
    fn of(kind: Kind, seed: u64) -> Result<Self, InvalidConfig> {
        let still = Truth::of(kind, Case::Still, seed)?;
        let whole = bytes(&still.full, SPAN / 2, SPAN) / (SPAN / 2).as_secs_f64();
        let level = still.scenario.level_db();
        // The level that carries half: found by halving, to a tenth of a decibel.
        let (mut low, mut high) = (level - 20.0, level);
        for _ in 0..8 {
            let middle = (low + high) / 2.0;
            let scenario = still.scenario.with_channel(ScriptConfig::constant(middle));
            if flood(&scenario, Duration::from_secs(2))? > whole / 2.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        let at = |at_s: f64, sinr_db: f32| Level { at_s, sinr_db };
        let levels = vec![at(0.0, level), at(HALVES.as_secs_f64(), low)];
        let script =
            ScriptConfig { levels, between: Between::Hold, ..ScriptConfig::constant(level) };
        let halved = still.scenario.with_channel(script);
        let fading = Truth::lasting(kind, Case::Alone, seed, FADES)?;
        Ok(Self { still, fading, halved, capacity: [whole, whole / 2.0] })
    }

    fn judge(&self, contender: &Contender) -> Result<Response, InvalidConfig> {
        let port = self.still.scenario.kind.port();
        let flow = Flow::bulk(port, contender.make(self.still.knows(1)));
        let flow = flow.begins(sounding_units::HostInstant::default() + BEGINS);
        let came = arrivals(&self.halved, SPAN, contender.listening(port), vec![flow])?;
        let mut sent: Vec<(Duration, u64)> =
            came.iter().map(|packet| (packet.sent(), packet.size())).collect();
        sent.sort_unstable();
        let rate = |from: Duration| {
            let [first, last] =
                [from, from + WINDOW].map(|at| sent.partition_point(|(sent, _)| *sent < at));
            sent[first..last].iter().map(|(_, size)| *size).sum::<u64>() as f64
                / WINDOW.as_secs_f64()
        };
        let [whole, half] = self.capacity;
        let first = |from: Duration, until: Duration, is: &dyn Fn(Duration) -> bool| {
            let looks = (0_u32..).map(|number| from + STEP * number);
            let found = looks.take_while(|at| *at + WINDOW <= until).find(|at| is(*at));
            found.map(|at| (at - from).as_secs_f64() * 1e3)
        };
        let carried = |at: Duration| bytes(&came, at, at + WINDOW) / WINDOW.as_secs_f64();
        let faded = {
            let flow = Flow::bulk(port, contender.make(self.fading.knows(1)));
            arrivals(&self.fading.scenario, FADES, contender.listening(port), vec![flow])?
        };
        let waits: Vec<f64> = within(&faded, BEGUN, FADES)
            .map(|packet| packet.queueing().as_secs_f64() * 1e3)
            .collect();
        let pause = longest_pause(&came, SPAN, &[]);
        let pause = pause.max(longest_pause(&faded, FADES, &self.fading.full));
        Ok(Response {
            risen_ms: first(BEGINS, HALVES, &|at| carried(at) >= MOST * whole),
            fallen_ms: first(HALVES, SPAN, &|at| rate(at) <= half),
            pause_ms: pause.as_secs_f64() * 1e3,
            carried: bytes(&faded, BEGUN, FADES) / bytes(&self.fading.full, BEGUN, FADES).max(1.0),
            queueing_p95_ms: quantile(&waits, 0.95).unwrap_or(f64::INFINITY),
            frozen_s: frozen(&faded).as_secs_f64(),
        })
    }
}

/// The time in which a picture stands still, from [`BEGUN`] to the end.
fn frozen(came: &[Arrival]) -> Duration {
    let in_time = within(came, BEGUN, FADES).filter(|packet| packet.queueing() <= IN_TIME);
    let times = in_time.map(Arrival::at).chain([FADES]);
    let mut last = BEGUN;
    times.map(|at| (at - core::mem::replace(&mut last, at)).saturating_sub(IN_TIME)).sum()
}

/// The longest time without a packet, if a saturating sender has none as long in its course. The
/// packets of the last seconds may be under way at the end, so that no gap counts there.
fn longest_pause(came: &[Arrival], span: Duration, full: &[Arrival]) -> Duration {
    let mut sent: Vec<Duration> = came.iter().map(Arrival::sent).collect();
    sent.sort_unstable();
    sent.push(span);
    let granted = |from: Duration, to: Duration| {
        let carried = full.iter().map(Arrival::left).filter(|at| (from..to).contains(at));
        let mut times: Vec<Duration> = carried.chain([from, to]).collect();
        times.sort_unstable();
        full.is_empty() || times.windows(2).all(|pair| pair[1] - pair[0] < SILENCE)
    };
    let gaps = sent.windows(2).map(|pair| (pair[1] - pair[0], pair[0], pair[1]));
    let mut gaps: Vec<_> = gaps.filter(|(_, from, _)| *from + UNDER_WAY < span).collect();
    gaps.sort_unstable_by(|one, other| other.cmp(one));
    let found = gaps.into_iter().find(|(_, from, to)| granted(*from, *to));
    found.map_or(span, |(gap, ..)| gap)
}

/// What a saturating flow carries, bytes a second.
fn flood(scenario: &Scenario, span: Duration) -> Result<f64, InvalidConfig> {
    let port = scenario.kind.port();
    let flow = Flow::bulk(port, |_| Box::new(Fixed(FLOOD)));
    let came: Vec<Arrival> = arrivals(scenario, span, Listening::new(port), vec![flow])?;
    Ok(bytes(&came, span / 2, span) / (span / 2).as_secs_f64())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new().left(["cell", "sender"]).right([
            "risen, ms",
            "p95",
            "most",
            "never",
            "fallen, ms",
            "p95",
            "most",
            "never",
            "longest pause, ms",
            "carried",
            "queueing p95, ms",
            "frozen, s/min",
        ]);
        for Row { kind, contender, responses } in &self.rows {
            let of = |value: fn(&Response) -> Option<f64>| {
                let known: Vec<f64> = responses.iter().filter_map(value).collect();
                let at = |part| quantile(&known, part).map_or("-".into(), |ms| format!("{ms:.0}"));
                [at(0.5), at(0.95), at(1.0), (responses.len() - known.len()).to_string()]
            };
            let pauses: Vec<f64> = responses.iter().map(|response| response.pause_ms).collect();
            let pause = quantile(&pauses, 1.0).map_or("-".into(), |ms| format!("{ms:.0}"));
            let cells = [kind.to_string(), contender.clone()].into_iter();
            let cells = cells.chain(of(|response| response.risen_ms));
            let middle = |value: fn(&Response) -> f64| {
                let values: Vec<f64> = responses.iter().map(value).collect();
                quantile(&values, 0.5).unwrap_or(f64::NAN)
            };
            let carried = format!("{:.3}", middle(|response| response.carried));
            let queueing = format!("{:.0}", middle(|response| response.queueing_p95_ms));
            let cells = cells.chain(of(|response| response.fallen_ms));
            let frozen: f64 = responses.iter().map(|response| response.frozen_s).sum();
            let frozen = frozen / responses.len().max(1) as f64;
            let frozen = format!("{:.1}", frozen / (FADES - BEGUN).as_secs_f64() * 60.0);
            table.row(cells.chain([pause, carried, queueing, frozen]));
        }
        write!(f, "{table}")
    }
}
