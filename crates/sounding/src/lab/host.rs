//! What this program provides to an experiment: its terminal, its signals, and functions that read
//! captures and make sweeps.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use miette::IntoDiagnostic;
use sounding_experiment::simulate::{Finished, Keep};
use sounding_experiment::sweep::Part;
use sounding_lab::experiment::{CaptureError, Host, Sweep};

use super::sweep::SweepSetup;
use crate::{input, say, screen, signals};

/// See the module.
pub(super) struct Terminal;

impl Host for Terminal {
    fn progress(&self, text: fmt::Arguments<'_>) {
        say::say_aside(text);
    }

    fn shown(&self, path: &Path) -> String {
        screen::path(path).to_string()
    }

    fn stop(&self) -> miette::Result<Arc<AtomicBool>> {
        signals::stop_flag().into_diagnostic()
    }

    fn capture(&self, path: &Path) -> Result<Vec<u8>, CaptureError> {
        let (bytes, skipped) = input::capture(path).map_err(|error| match error {
            input::CaptureError::Other { .. } => CaptureError::Other(error.into()),
            _ => CaptureError::Unreadable(error.into()),
        })?;
        skipped.tell();
        Ok(bytes)
    }

    fn sweep(&self, sweep: &Sweep<'_>) -> miette::Result<Option<Finished>> {
        let Sweep { text, about, out, jobs, stays } = *sweep;
        let setup = SweepSetup {
            out,
            part: Part::default(),
            jobs,
            merge: &[],
            wait: false,
            keep: Keep::default(),
            stays,
        };
        setup.run(text, about)
    }
}
