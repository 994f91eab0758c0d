//! The runs of an item, and what they come to.

use std::sync::atomic::AtomicBool;

use sounding_experiment::jobs::{self, Job, Told};

use super::Row;
use crate::experiment::{Host, report_share};

/// What an item measured.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) rows: Vec<Row>,
    /// The row, the key of the cause, and what falls short.
    pub(super) misses: Vec<(String, String, String)>,
}

/// How the runs of an item are made.
pub(super) struct Work<'a> {
    /// Only the first so many of each kind.
    pub(super) most: Option<usize>,
    pub(super) jobs: usize,
    pub(super) stop: &'a AtomicBool,
    pub(super) host: &'a dyn Host,
}

impl Work<'_> {
    /// So many runs, or as many as were asked for.
    pub(super) fn most(&self, paper: usize) -> usize {
        self.most.map_or(paper, |most| most.min(paper))
    }

    /// The same measurement of each; `None` if it was stopped.
    pub(super) fn each<T: Sync, R: Send, E: Send + std::fmt::Display>(
        &self,
        items: &[T],
        measure: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> miette::Result<Option<Vec<R>>> {
        let mut done = 0;
        let work = |item: &T, _: &Job<'_, (), R, E>| measure(item).map(Some);
        let results = jobs::until(items, self.jobs, self.stop, work, |told| {
            if let Told::Done(..) = told {
                done += 1;
                report_share(self.host, done, items.len(), "runs");
            }
        });
        let results = results.map_err(|(_, error)| miette::miette!("{error}"))?;
        Ok(results.into_iter().collect())
    }
}
