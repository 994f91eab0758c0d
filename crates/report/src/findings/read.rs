//! The files of a folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sounding_experiment::plan::{Text, names_controller};
use sounding_export::figures::{self, Cell};

use super::{Figures, Flow, ReadError};
use crate::Origin;

/// The whole document `result.json`; it may contain more.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    sounding: String,
    #[serde(default)]
    commit: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    machine: String,
    plan: String,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default = "yes")]
    complete: bool,
    runs: Vec<RunDocument>,
}

fn yes() -> bool {
    true
}

/// A run in it; the figures of its flows are in the table.
#[derive(Deserialize)]
struct RunDocument {
    run: i64,
    seed: i64,
    #[serde(default)]
    values: Vec<(String, String)>,
}

/// Maps each scenario to its group.
pub const GROUPS: &str = "groups.json";

/// The contents of a folder of results.
#[derive(Debug)]
pub struct Findings {
    pub(super) folder: PathBuf,
    /// The plan's description.
    pub(super) about: String,
    /// How long runs last before they are measured, in seconds.
    pub(super) warmup: f64,
    pub(super) complete: bool,
    pub(super) origin: Origin,
    pub(super) version: String,
    pub(super) set: Vec<String>,
    pub(super) flows: Vec<Flow>,
    pub(super) runs: usize,
}

const COLUMNS: [&str; 22] = [
    "run",
    "flow",
    "device",
    "direction",
    "controller",
    "throughput_mbit_per_sec",
    "utilisation",
    "one_way_mean_ms",
    "one_way_p95_ms",
    "one_way_p99_ms",
    "queueing_p95_ms",
    "loss",
    "oracle_throughput_share",
    "oracle_queueing_p95_ms",
    "jain_mean",
    "jain_least",
    "convergence_ms",
    "stalled_ms",
    "longest_gap_ms",
    "completion_p50_ms",
    "completion_p99_ms",
    "completion_p999_ms",
];

impl Findings {
    /// Reads the folder that `--out` named.
    ///
    /// # Errors
    ///
    /// [`ReadError::Missing`] if a file is not there; [`ReadError::Wrong`] if one is no such
    /// result; [`ReadError::Empty`] if there is no flow.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        let open = |name: &'static str| {
            let path = folder.join(name);
            let file = File::open(&path);
            file.map(|file| (path, file))
                .map_err(|_| ReadError::Missing { folder: folder.into(), name })
        };
        let (path, file) = open("result.json")?;
        let document: Document = serde_json::from_reader(BufReader::new(file))
            .map_err(|error| ReadError::Wrong { path, why: error.to_string() })?;
        let groups = groups(&folder.join(GROUPS))?;
        let (path, file) = open("flows.parquet")?;
        let runs: BTreeMap<i64, &RunDocument> =
            document.runs.iter().map(|run| (run.run, run)).collect();
        let mut flows = Vec::new();
        let mut stranger = None;
        figures::read(file, &COLUMNS, |cells| {
            let number = int(&cells[0]);
            match number.and_then(|number| runs.get(&number)) {
                Some(run) => flows.extend(flow(run, cells, &groups)),
                None => stranger = stranger.or(Some(number)),
            }
        })
        .map_err(|error| ReadError::Wrong { path: path.clone(), why: error.to_string() })?;
        if let Some(number) = stranger {
            let why = number.map_or("it has no column `run`".to_owned(), |number| {
                format!("it has a run {number}, which is not in result.json")
            });
            return Err(ReadError::Wrong { path, why });
        }
        if flows.is_empty() {
            return Err(ReadError::Empty { folder: folder.into() });
        }
        let (about, warmup) = plan(&document);
        Ok(Self {
            folder: folder.into(),
            about,
            warmup,
            complete: document.complete,
            origin: origin(&document, folder),
            version: document.sounding,
            set: document.set,
            flows,
            runs: document.runs.len(),
        })
    }

    /// The file of a run, if it is kept.
    pub(super) fn of_run(&self, run: i64, name: &str) -> Option<PathBuf> {
        let path = of_run(&self.folder, run, name);
        path.is_file().then_some(path)
    }
}

fn of_run(folder: &Path, run: i64, name: &str) -> PathBuf {
    folder.join(format!("run-{run:04}")).join(name)
}

/// The plan's description and warm-up. A plan of another version of this program may be unreadable,
/// but its results can still be read.
fn plan(document: &Document) -> (String, f64) {
    let mut text = Text::new("result.json", document.plan.as_str(), PathBuf::new());
    let set = document.set.iter().try_for_each(|set| text.set(set));
    let run = set.and_then(|()| text.runs()).ok().and_then(|runs| runs.into_iter().next());
    run.map_or((String::new(), 0.0), |run| (run.plan.about, run.plan.warmup.as_secs_f64()))
}

fn origin(document: &Document, folder: &Path) -> Origin {
    let mut seeds: Vec<i64> = document.runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let is_row = seeds.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let seeds = match &seeds[..] {
        [first, .., last] if is_row && seeds.len() > 2 => format!("{first}–{last}"),
        all => all.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
    };
    let set: String = document.set.iter().map(|set| format!(" --set {set}")).collect();
    let is_kept = |run: &RunDocument| of_run(folder, run.run, "series.parquet").is_file();
    let series = if document.runs.iter().any(is_kept) { " --series BIN" } else { "" };
    let command = format!("sounding sim PLAN{set} --out DIR{series}");
    let or = |stated: &str, otherwise: String| {
        if stated.is_empty() { otherwise } else { stated.to_owned() }
    };
    Origin {
        command: or(&document.command, command),
        commit: document.commit.clone(),
        seeds,
        machine: or(&document.machine, "any: virtual time, the same bytes on each".into()),
    }
}

fn groups(path: &Path) -> Result<BTreeMap<String, String>, ReadError> {
    let Ok(file) = File::open(path) else { return Ok(BTreeMap::new()) };
    serde_json::from_reader(BufReader::new(file))
        .map_err(|error| ReadError::Wrong { path: path.into(), why: error.to_string() })
}

/// A row of the table, if a controller controls the flow.
fn flow(
    run: &RunDocument,
    cells: &[Option<Cell>],
    groups: &BTreeMap<String, String>,
) -> Option<Flow> {
    let controller = text(&cells[4]);
    if controller.is_empty() {
        return None;
    }
    let is_other = |key: &str| key != "controller" && !names_controller(key);
    let values = run.values.iter().filter(|(key, _)| is_other(key));
    let values: Vec<_> = values.map(|(_, value)| value.trim_matches('"')).collect();
    let scenario = values.join(" · ");
    Some(Flow {
        folder: 0,
        run: run.run,
        seed: run.seed,
        group: groups.get(&scenario).unwrap_or(&scenario).clone(),
        scenario,
        number: int(&cells[1]).unwrap_or(0),
        device: text(&cells[2]),
        direction: text(&cells[3]),
        name: controller,
        figures: Figures {
            throughput: real(&cells[5]),
            utilisation: real(&cells[6]),
            delay_mean: real(&cells[7]),
            delay_p95: real(&cells[8]),
            delay_p99: real(&cells[9]),
            queue_p95: real(&cells[10]),
            loss: real(&cells[11]),
            oracle_share: real(&cells[12]),
            oracle_queue_p95: real(&cells[13]),
            jain_mean: real(&cells[14]),
            jain_least: real(&cells[15]),
            convergence: real(&cells[16]),
            stalled: real(&cells[17]),
            longest_gap: real(&cells[18]),
            completion_p50: real(&cells[19]),
            completion_p99: real(&cells[20]),
            completion_p999: real(&cells[21]),
        },
    })
}

pub(super) fn int(cell: &Option<Cell>) -> Option<i64> {
    match cell {
        Some(Cell::Int(number)) => Some(*number),
        _ => None,
    }
}

pub(super) fn real(cell: &Option<Cell>) -> Option<f64> {
    match cell {
        Some(Cell::Real(number)) if number.is_finite() => Some(*number),
        _ => None,
    }
}

pub(super) fn text(cell: &Option<Cell>) -> String {
    match cell {
        Some(Cell::Text(text)) => text.clone(),
        _ => String::new(),
    }
}
