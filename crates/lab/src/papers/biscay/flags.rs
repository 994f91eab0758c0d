//! The links of an experiment.

use std::path::{Path, PathBuf};

use miette::IntoDiagnostic;

use sounding_testbed::radio::{Entry, chosen, dataset, own_capture, own_trace, real};

use crate::experiment::{CaptureError, Host};

/// Public recordings, a set that `sounding lab dataset` made, or own links.
#[derive(clap::Args)]
pub(crate) struct Links {
    /// Folder of a set of traces instead of the recordings
    #[arg(long, value_name = "DIR")]
    dataset: Option<PathBuf>,

    /// Your own mahimahi trace or modem log instead of the recordings; may be given several times
    ///
    /// Each own link has separate rows; others are grouped by scenario. A log makes a link for
    /// each direction with enough grants, not counting acknowledgements. The link's rate is
    /// the grants averaged over 100 ms. It is run twice: once with the log's records, and once
    /// with a modelled modem that reports the link's rate. A log of a sender that did not keep
    /// the link full shows bursts that this link does not have.
    #[arg(long, value_name = "FILE", conflicts_with = "dataset")]
    own: Vec<PathBuf>,

    /// Only links whose name contains this
    #[arg(long, value_name = "TEXT")]
    links: Option<String>,

    /// At most this many links, evenly over the list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    most: Option<u16>,

    /// Folder with traces
    #[arg(long, value_name = "DIR", env = "SOUNDING_DATA", default_value = "../shared/data")]
    data: PathBuf,
}

impl Links {
    /// The requested links.
    pub(crate) fn entries(&self, host: &dyn Host) -> miette::Result<Vec<Entry>> {
        let (entries, folder) = match (&self.dataset, self.own.first()) {
            (_, Some(first)) => {
                let entries: Result<Vec<_>, _> =
                    self.own.iter().map(|file| own(host, file)).collect();
                (Ok(entries?.concat()), first)
            }
            (Some(folder), None) => (dataset(folder), folder),
            (None, None) => (real(&self.data), &self.data),
        };
        let most = self.most.map(usize::from);
        chosen(entries.into_diagnostic()?, folder, self.links.as_deref(), most).into_diagnostic()
    }
}

/// The modem's log of a link of a set.
pub(crate) fn read(host: &dyn Host, path: &Path) -> Result<Vec<u8>, String> {
    // A modelled modem wrote it. Missing parts are reported and do not end the item.
    host.capture(path).map_err(|error| match error {
        CaptureError::Other(error) | CaptureError::Unreadable(error) => error.to_string(),
    })
}

/// The links of a file.
fn own(host: &dyn Host, file: &Path) -> miette::Result<Vec<Entry>> {
    match host.capture(file) {
        Ok(bytes) => own_capture(file, &bytes).into_diagnostic(),
        Err(CaptureError::Other(error)) => match own_trace(file) {
            Ok(entry) => Ok(vec![entry]),
            Err(other) => {
                Err(miette::miette!("neither a modem's log nor a trace: {error}; {other}"))
            }
        },
        Err(CaptureError::Unreadable(error)) => Err(error),
    }
}
