//! Results of others as a folder of results: logs of mahimahi's mm-link and of Pantheon's tunnel,
//! and Pantheon's pantheon_perf.json.
//!
//! Each log is measured as its own tools measure it, so the figures are the published ones: see
//! [`measure`]. Values that a log does not have stay empty.

mod log;
mod measure;
mod perf;
mod series;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use sounding_export::table::TableError;
use sounding_trace::Steps;
use sounding_trace::log::{Problem, Source};
use sounding_units::{Bytes, without_mark};
use thiserror::Error;

pub use log::{MAX_EVENTS, Recorded};
pub use measure::{Question, measure};

use crate::results::{Results, ResultsError};
use crate::simulate::{About, Finished, FlowOutcome, Outcome};

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The sender; by default from the file's name.
    pub name: Option<String>,
    /// Its place.
    pub path: PathBuf,
}

/// Settings of an import.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// The files.
    pub inputs: Vec<Input>,
    /// The link's name, if no log has it.
    pub link: Option<String>,
    /// Which packets count.
    pub question: Question,
    /// Keeps a series of each log in bins of this width.
    pub series: Option<Duration>,
}

/// The result.
#[derive(Debug)]
pub struct Imported {
    /// The outcomes, in the order of the files.
    pub finished: Finished,
    /// Further data about them.
    pub about: About,
    /// Unparsable lines, by file and reason.
    pub bad: Vec<(PathBuf, Problem, u64)>,
}

/// Why a file cannot be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Nothing in it is a packet that left.
    #[error(
        "{path}: no line says that a packet left{}; is it a log of mm-link or of Pantheon's tunnel?",
        first.as_ref().map(|line| format!(" ({line})")).unwrap_or_default(),
        path = path.display()
    )]
    Nothing {
        /// The path.
        path: PathBuf,
        /// The first unparsable line.
        first: Option<String>,
    },
    /// No packet of it counts.
    #[error("{path}: no packet of at least {least} left within the window", path = path.display())]
    NoneCounts {
        /// The path.
        path: PathBuf,
        /// The least size that counts.
        least: Bytes,
    },
    /// It holds more than is read.
    #[error("{path}: more than {MAX_EVENTS} lines; cut it first", path = path.display())]
    Large {
        /// The path.
        path: PathBuf,
    },
    /// An invalid summary.
    #[error("{path} is no pantheon_perf.json: {source}", path = path.display())]
    Perf {
        /// The path.
        path: PathBuf,
        /// The fault.
        source: serde_json::Error,
    },
    /// The results have no place.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A series cannot be written.
    #[error("run {run}: cannot write its series: {source}")]
    Series {
        /// The run.
        run: usize,
        /// Why.
        source: TableError,
    },
}

impl Import {
    /// Reads all files and leaves the results in `out`, a new folder.
    ///
    /// # Errors
    ///
    /// [`ImportError`] if a file cannot be read, has no packets that count or too many, or `out`
    /// has results or cannot be written.
    pub fn run(&self, out: &Path) -> Result<Imported, ImportError> {
        let results = Results::create(out, 1..=self.inputs.len())?;
        let mut outcomes = Vec::new();
        let (mut bad, mut repetitions) = (Vec::new(), BTreeMap::new());
        for input in &self.inputs {
            let number = outcomes.len() + 1;
            let reader = open(&input.path)?;
            if input.path.extension().is_some_and(|end| end == "json") {
                let runs = perf::read(reader, self.link.as_deref().unwrap_or_default())
                    .map_err(|source| ImportError::Perf { path: input.path.clone(), source })?;
                let numbered = runs.into_iter().zip(number..);
                outcomes.extend(numbered.map(|(outcome, run)| Outcome { run, ..outcome }));
                continue;
            }
            let recorded = log::read(reader, &input.path)?;
            let counted = recorded.bad.iter().map(|(&problem, &count)| (problem, count));
            bad.extend(counted.map(|(problem, count)| (input.path.clone(), problem, count)));
            let (controller, run) = named(input);
            let link = recorded.trace.as_deref().map(link_name);
            let link = link.or_else(|| self.link.clone()).unwrap_or_default();
            let seen: &mut u64 = repetitions.entry((link.clone(), controller.clone())).or_default();
            *seen += 1;
            let seed = run.unwrap_or(*seen);
            let flows = self.flows(&recorded, &controller, &input.path)?;
            if let Some(width) = self.series {
                series::write(&results, number, &recorded, &flows, width)
                    .map_err(|source| ImportError::Series { run: number, source })?;
            }
            let flows = flows.into_iter().map(|(_, flow)| flow).collect();
            outcomes.push(outcome(number, seed, &link, &controller, flows));
        }
        let about = self.about();
        let finished = Finished { outcomes, complete: true };
        results.store(&about, &finished)?;
        Ok(Imported { finished, about, bad })
    }

    fn flows(
        &self,
        recorded: &Recorded,
        controller: &str,
        path: &Path,
    ) -> Result<Vec<(u32, FlowOutcome)>, ImportError> {
        let named = |flow| FlowOutcome { controller: controller.into(), ..flow };
        let flows: Vec<_> = measure(recorded, &self.question)
            .into_iter()
            .map(|(number, flow)| (number, named(flow)))
            .collect();
        if flows.is_empty() {
            let least = self.question.least;
            return Err(ImportError::NoneCounts { path: path.into(), least });
        }
        Ok(flows)
    }

    fn about(&self) -> About {
        let lines = self.inputs.iter().map(|Input { name, path }| {
            let name = name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
            format!("# imported {name}{}\n", path.display())
        });
        About {
            sounding: env!("CARGO_PKG_VERSION").into(),
            commit: crate::provenance::commit(),
            plan: lines.collect(),
            set: Vec::new(),
        }
    }
}

/// A run from elsewhere: its link and its sender distinguish it from others.
fn outcome(
    run: usize,
    seed: u64,
    link: &str,
    controller: &str,
    flows: Vec<FlowOutcome>,
) -> Outcome {
    let values = vec![
        ("link".to_owned(), link.to_owned()),
        ("flows.0.controller".to_owned(), controller.to_owned()),
    ];
    Outcome { run, seed, values, digest: String::new(), flows }
}

/// A link by the name of its trace's file. The same trace lies in other folders elsewhere.
fn link_name(trace: &str) -> String {
    let name = match trace.parse::<Steps>() {
        // `12 Mbit/s` is no file.
        Ok(_) => trace,
        Err(_) => trace.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(trace),
    };
    name.to_owned()
}

/// Sender and repetition: as given, or from Pantheon's file names: `bbr_datalink_run3.log`.
fn named(input: &Input) -> (String, Option<u64>) {
    let name = input.path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.strip_suffix(".log").unwrap_or(stem);
    let (scheme, run) = match stem.rsplit_once("_run") {
        Some((scheme, run)) => (scheme, run.parse().ok()),
        None => (stem, None),
    };
    let link = ["_mm_datalink", "_datalink", "_mm_acklink", "_acklink"];
    let scheme = link.iter().find_map(|link| scheme.strip_suffix(link)).unwrap_or(scheme);
    (input.name.clone().unwrap_or_else(|| scheme.to_owned()), run)
}

/// A file, unpacked if it is packed.
fn open(path: &Path) -> Result<Box<dyn BufRead>, ImportError> {
    let failed = |source| ImportError::Read { path: path.into(), source };
    let mut file = File::open(path).map_err(failed)?;
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start).map_err(failed)?;
    let is_packed = start == [0x1F, 0x8B];
    let whole = io::Cursor::new(start).chain(file);
    let mut text: Box<dyn Read> = match is_packed {
        true => Box::new(MultiGzDecoder::new(BufReader::new(whole))),
        false => Box::new(whole),
    };
    let mut start = Vec::new();
    text.by_ref().take(3).read_to_end(&mut start).map_err(failed)?;
    let start = io::Cursor::new(without_mark(&start).to_vec());
    Ok(Box::new(BufReader::new(start.chain(text))))
}

impl Recorded {
    /// The log's tool: mm-link names itself in its first line, and its opportunities count the
    /// header of a TUN device.
    pub fn source(&self) -> Source {
        let full = Bytes::new(1504);
        let is_mm_link =
            self.is_mm_link || self.opportunities.iter().any(|&(_, size)| size == full);
        if is_mm_link { Source::MmLink } else { Source::Pantheon }
    }
}

#[cfg(test)]
mod tests;
