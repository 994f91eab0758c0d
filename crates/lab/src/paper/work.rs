//! The runs of an item, several at once, until the user stops them.

use std::sync::atomic::AtomicBool;

use sounding_host::jobs::{self, Job, Told};

use crate::experiment::{Host, report_share};

/// How the runs of an item are made.
pub(crate) struct Work<'a> {
    /// Only the first so many of each kind.
    pub(crate) most: Option<usize>,
    pub(crate) jobs: usize,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) host: &'a dyn Host,
}

impl Work<'_> {
    /// So many runs, or as many as were asked for.
    pub(crate) fn most(&self, paper: usize) -> usize {
        self.most.map_or(paper, |most| most.min(paper))
    }

    /// The same measurement of each; `None` if it was stopped.
    pub(crate) fn each<T: Sync, R: Send, E: Send + std::fmt::Display>(
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
