//! A live modem that is read until the user stops it, and then given back what it had.

use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use sounding_diag::LogCode;
use sounding_diag::session::Wanted;
use sounding_modem::{Bytes, Pump, Source, Turn};

use super::Stopped;
use crate::cli_types::UntoldMask;
use crate::doctor::{self, Opened};
use crate::{rights, session_report, signals};

/// The longest single wait for a live port.
const PATIENCE: Duration = Duration::from_millis(20);

/// Something to do with what a modem says.
pub(super) trait Reader {
    /// The port is open.
    fn begin(&mut self) -> Result<(), Stopped>;

    /// Whether something is detached at the end that takes rights.
    fn ends_by_rights(&self) -> bool {
        false
    }

    /// Bytes came, or for a while none. After an error nothing more is written, and reading ends.
    fn handle(&mut self, read: Option<Bytes<'_>>) -> Result<(), Stopped>;
}

/// Reads until an interrupt, an error of the reader or the final end of the source. Returns how
/// many records a daemon that holds the port dropped for this reader.
pub(super) fn read(
    source: &Source,
    untold: UntoldMask,
    codes: impl IntoIterator<Item = LogCode>,
    reader: &mut impl Reader,
) -> Result<u64, Stopped> {
    fn failed<T>(result: Result<T, impl Into<miette::Report>>) -> Result<T, Stopped> {
        result.map_err(|error| Stopped::Input(error.into()))
    }
    let stop = failed(signals::stop_flag().into_diagnostic())?;
    let wanted = Wanted { codes: codes.into_iter().collect(), ..Wanted::default() };
    let Opened { port, is_beside } = failed(doctor::open(source, Some(&wanted.codes)))?;
    let pump = Pump::over(source.clone(), port, Some(wanted));
    let mut pump = pump.setting_untold(untold.set_untold_mask).once();
    reader.begin()?;
    failed(if reader.ends_by_rights() {
        rights::drop_for_detaching()
    } else {
        rights::drop_for_reading()
    })?;
    let mut outcome = Ok(());
    let mut ending = false;
    while pump.is_open() && !pump.is_over() {
        if !ending && (stop.load(Ordering::Relaxed) || outcome.is_err()) {
            pump.handle_end();
            ending = true;
        }
        let handled = match failed(pump.turn(PATIENCE).into_diagnostic())? {
            Turn::Bytes(read) => reader.handle(Some(read)),
            Turn::Idle => reader.handle(None),
            Turn::Closed(_) | Turn::Reopened => Ok(()),
        };
        session_report::tell(|| pump.poll_event());
        outcome = outcome.and(handled);
    }
    session_report::tell(|| pump.poll_event());
    if is_beside && !ending {
        doctor::tell_end(source);
    }
    outcome.map(|()| pump.lost())
}
