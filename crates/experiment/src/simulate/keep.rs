//! The outputs of a run that are kept, where they are written, and their metadata.

use std::io::{self, Write};
use std::time::Duration;

use sounding_export::figures::{Figures, Kind};
use sounding_export::table::TableError;

use crate::plan::{Run, Text};

/// The outputs of a run to keep besides its outcome. The log of a plan's sniffer is kept if any
/// other output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// A time series of each flow, in bins of this width.
    pub series: Option<Duration>,
    /// Each data packet.
    pub packets: bool,
    /// What each modem wrote, as a capture.
    pub captures: bool,
    /// Each flow's deliveries, as a packet-delivery file of mahimahi, from the end of the warm-up
    /// on.
    pub traces: bool,
    /// The times of each packet at the stages of a modelled cell: the truth, for evaluation only.
    pub truth: bool,
    /// The log of the plan's sniffer.
    pub sniffer: bool,
}

impl Keep {
    /// The same outputs, and sniffers' logs if any of the runs has one.
    pub fn with_sniffer_of(self, runs: &[Run]) -> Self {
        let listens = |run: &Run| run.plan.cell.as_ref().is_some_and(|cell| cell.sniffer.is_some());
        Self { sniffer: self.sniffer || runs.iter().any(listens), ..self }
    }

    /// Whether any output is kept.
    pub fn is_anything(&self) -> bool {
        *self != Self::default()
    }
}

/// Where the files of a run go.
pub trait Files {
    /// A new file.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the file cannot be made.
    fn create(&mut self, name: &str) -> io::Result<Output>;
}

/// A file that is being written.
pub type Output = Box<dyn Write + Send>;

/// Keeps nothing.
impl Files for () {
    fn create(&mut self, name: &str) -> io::Result<Output> {
        Err(io::Error::other(format!("there is no place for {name}")))
    }
}

/// The origin of a result: enough to repeat it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct About {
    /// Version of this program.
    pub sounding: String,
    /// The commit it was built from.
    pub commit: String,
    /// The plan, as it was written.
    pub plan: String,
    /// The keys that were set in it.
    pub set: Vec<String>,
}

impl About {
    /// The origin of results that this program makes from a plan.
    pub fn new(text: &Text) -> Self {
        Self {
            sounding: env!("CARGO_PKG_VERSION").into(),
            commit: crate::provenance::commit(),
            plan: text.text().into(),
            set: text.sets(),
        }
    }

    /// Names and values for a table of all runs.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let pairs = [
            ("sounding_version", self.sounding.clone()),
            ("sounding_commit", self.commit.clone()),
            ("sounding_plan", self.plan.clone()),
            ("sounding_set", self.set.join("\n")),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The same for one run.
    pub(super) fn of(&self, run: &Run) -> Vec<(String, String)> {
        let mut pairs = self.pairs();
        let values: Vec<_> =
            run.values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        pairs.push(("sounding_run".into(), run.number.to_string()));
        pairs.push(("sounding_seed".into(), run.seed.to_string()));
        pairs.push(("sounding_values".into(), values.join("\n")));
        pairs
    }
}

/// The name of the file that failed, and the reason.
pub(super) type Failed = (String, TableError);

/// A table in a file of a run.
pub(super) struct Table {
    name: &'static str,
    figures: Figures<Output>,
}

impl Table {
    pub(super) fn create(
        files: &mut dyn Files,
        name: &'static str,
        columns: &[(&str, Kind)],
        about: &[(String, String)],
    ) -> Result<Self, Failed> {
        let about: Vec<_> =
            about.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let figures = files
            .create(name)
            .map_err(TableError::from)
            .and_then(|out| Figures::new(out, columns, &about));
        figures.map(|figures| Self { name, figures }).map_err(|error| (name.into(), error))
    }

    pub(super) fn push(
        &mut self,
        row: impl IntoIterator<Item = Option<sounding_export::figures::Cell>>,
    ) -> Result<(), Failed> {
        self.figures.push(row).map_err(|error| (self.name.into(), error))
    }

    pub(super) fn finish(self) -> Result<(), Failed> {
        self.figures.finish().map_err(|error| (self.name.into(), error))
    }
}
