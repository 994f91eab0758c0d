//! The definition of an experiment: its name, its requirements, and how it runs; and what the
//! program provides to it.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{ArgMatches, Command};
use miette::IntoDiagnostic;
use serde::Serialize;
use sounding_experiment::plan::Text;
use sounding_experiment::provenance::Provenance;
use sounding_experiment::simulate::{About, Finished};
use sounding_report::Page;

/// An experiment.
pub trait Experiment: Sync {
    /// Its flags. Their documentation is the help of the command.
    type Flags: clap::Args;

    /// What a list says of it.
    fn card(&self) -> Card;

    /// Runs it. `None` if it was stopped, which was reported, and has no result.
    fn run(&self, flags: Self::Flags, host: &dyn Host) -> miette::Result<Option<Outcome>>;
}

/// What a list says of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// After `sounding lab run`.
    pub name: &'static str,
    /// Another name of it.
    pub alias: Option<&'static str>,
    /// Its subject, in a line.
    pub about: &'static str,
    /// Its required rights; none unless it says so.
    pub needs: Needs,
    /// Its duration with the default flags; `None` if that depends on the data.
    pub lasts: Option<&'static str>,
}

impl Card {
    /// Of an experiment without rights, whose duration depends on the data.
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, alias: None, about, needs: Needs::Nothing, lasts: None }
    }

    /// With another name.
    pub(crate) const fn alias(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// With these rights.
    pub(crate) const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// With this duration.
    pub(crate) const fn lasts(self, lasts: &'static str) -> Self {
        Self { lasts: Some(lasts), ..self }
    }
}

/// The rights that an experiment needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "rights", content = "flag", rename_all = "kebab-case")]
pub enum Needs {
    /// No rights.
    Nothing,
    /// The rights of `sounding emu`.
    Root,
    /// No rights, except with this flag, with which it needs those of `sounding emu`.
    RootWith(&'static str),
}

/// The result of an experiment.
#[derive(Debug)]
pub struct Outcome {
    /// For a terminal.
    pub text: String,
    /// The result as a page of Markdown, with its provenance.
    pub markdown: String,
    /// The result as JSON.
    pub json: String,
    /// A page with figures, and the folder for it.
    pub page: Option<(PathBuf, Page)>,
    /// Lines for standard error that follow the result.
    pub notes: Vec<String>,
    /// How it ended.
    pub end: End,
}

/// How an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As planned.
    Complete,
    /// As planned, with a finding that is a failure.
    Failed,
    /// It was interrupted, and has the results until then.
    Interrupted,
}

impl Outcome {
    /// With a text for the terminal, one for the page, and the result that is written as JSON.
    pub fn new(text: String, markdown: String, result: &impl Serialize) -> miette::Result<Self> {
        let json = serde_json::to_string_pretty(result).into_diagnostic()?;
        Ok(Self { text, markdown, json, page: None, notes: Vec::new(), end: End::Complete })
    }

    /// Says whether it ended as planned, or was interrupted.
    #[must_use]
    pub(crate) fn ended(self, complete: bool) -> Self {
        Self { end: if complete { End::Complete } else { End::Interrupted }, ..self }
    }

    /// The page is the text, which is Markdown, and where it comes from.
    pub fn of_markdown(
        text: String,
        provenance: &Provenance,
        result: &impl Serialize,
    ) -> miette::Result<Self> {
        let markdown = format!("{text}\n{provenance}");
        Self::new(text, markdown, result)
    }

    /// Makes a page from the text for a terminal and its provenance.
    pub fn of_text(
        text: String,
        provenance: Option<&Provenance>,
        result: &impl Serialize,
    ) -> miette::Result<Self> {
        let provenance = provenance.map(ToString::to_string).unwrap_or_default();
        let markdown = format!("```\n{text}```\n\n{provenance}");
        Self::new(text, markdown, result)
    }
}

/// Why an experiment has no result: the error of one of its parts, or a text.
#[derive(Debug)]
pub struct Failed(Box<dyn Error + Send + Sync>);

impl Failed {
    /// An error and where it arose.
    pub(crate) fn at(place: impl fmt::Display, error: impl fmt::Display) -> Self {
        format!("{place}: {error}").into()
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Failed> for miette::Report {
    fn from(failed: Failed) -> Self {
        Self::new_boxed(failed.0.into())
    }
}

/// Services of the program for an experiment.
pub trait Host: Sync {
    /// Writes progress unchanged, with its line breaks.
    fn progress(&self, text: fmt::Arguments<'_>);

    /// A file's name as part of a line.
    fn shown(&self, path: &Path) -> String;

    /// A flag that rises when the user interrupts.
    fn stop(&self) -> miette::Result<Arc<AtomicBool>>;

    /// The bytes of a capture; those that are skipped are reported.
    fn capture(&self, path: &Path) -> Result<Vec<u8>, CaptureError>;

    /// Makes all runs of a plan, with as much progress as a sweep reports. `None` if it was
    /// stopped.
    fn sweep(&self, sweep: &Sweep<'_>) -> miette::Result<Option<Finished>>;
}

/// A line of progress.
pub(crate) fn report(host: &dyn Host, line: impl fmt::Display) {
    host.progress(format_args!("{line}\n"));
}

/// Reports how many of all are done, twenty times at most.
pub(crate) fn report_share(host: &dyn Host, done: usize, all: usize, what: &str) {
    if done.is_multiple_of(all.div_ceil(20)) {
        report(host, format_args!("{done} of {all} {what}"));
    }
}

/// This program, which is also the daemon and the readers of an experiment.
pub(crate) fn program() -> miette::Result<PathBuf> {
    std::env::current_exe().into_diagnostic()
}

/// The given number of jobs; default: one for each processor.
pub(crate) fn jobs<N: Into<usize>>(stated: Option<N>) -> usize {
    stated.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), Into::into)
}

/// Why a file is no use as a capture.
#[derive(Debug)]
pub enum CaptureError {
    /// An error of another kind.
    Other(miette::Report),
    /// It cannot be read.
    Unreadable(miette::Report),
}

/// All runs of a plan, and where they are kept.
#[derive(Debug)]
pub struct Sweep<'a> {
    /// The plan,
    pub text: &'a Text,
    /// and what is written about it.
    pub about: &'a About,
    /// The folder of the runs.
    pub out: &'a Path,
    /// Number of parallel runs.
    pub jobs: usize,
    /// Whether the folder remains, so that the same command can continue.
    pub stays: bool,
}

/// An experiment whose flags are parsed when it runs, so that all fit one list.
pub trait Registered: Sync {
    /// See [`Experiment::card`].
    fn card(&self) -> Card;
    /// Its command with its flags.
    fn command(&self) -> Command;
    /// Runs it with the flags that were given.
    fn run(&self, given: &ArgMatches, host: &dyn Host) -> miette::Result<Option<Outcome>>;
}

impl<E: Experiment> Registered for E {
    fn card(&self) -> Card {
        Experiment::card(self)
    }

    fn command(&self) -> Command {
        let Card { name, alias, .. } = Experiment::card(self);
        let command = Command::new(name).aliases(alias);
        <E::Flags as clap::Args>::augment_args(command)
    }

    fn run(&self, given: &ArgMatches, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let flags = <E::Flags as clap::FromArgMatches>::from_arg_matches(given);
        // The command was parsed with these flags, so invalid values were refused there.
        Experiment::run(self, flags.into_diagnostic()?, host)
    }
}
