//! A live modem that is read until the user stops it, and then given back what it had.

use std::sync::atomic::Ordering;
use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use sounding_diag::LogCode;
use sounding_diag::session::Wanted;
use sounding_host::monotonic_now;
use sounding_modem::{Live, READ_SIZE, Read, Source};

use super::Stopped;
use crate::cli_types::UntoldMask;
use crate::doctor::refuse_held;
use crate::{session_report, signals};

/// The longest single wait for a live port.
const PATIENCE: Duration = Duration::from_millis(20);

/// The time limit for restoring the modem's masks. After it, the modem keeps the masks of this program.
const PUT_BACK: Duration = Duration::from_secs(1);

/// Something to do with what a modem says.
pub(super) trait Reader {
    /// The port is open.
    fn begin(&mut self) -> Result<(), Stopped>;

    /// Bytes came, or for a while none. After an error nothing more is written, and reading ends.
    fn handle(&mut self, live: &mut Live, bytes: Option<&[u8]>) -> Result<(), Stopped>;
}

/// Reads until an interrupt, an error of the reader or the final end of the source.
pub(super) fn read(
    source: &Source,
    untold: UntoldMask,
    codes: impl IntoIterator<Item = LogCode>,
    reader: &mut impl Reader,
) -> Result<(), Stopped> {
    fn failed<T>(result: Result<T, impl Into<miette::Report>>) -> Result<T, Stopped> {
        result.map_err(|error| Stopped::Input(error.into()))
    }
    let stop = failed(signals::stop_flag().into_diagnostic())?;
    failed(refuse_held(source))?;
    let port = failed(source.open().into_diagnostic())?;
    reader.begin()?;
    let wanted = Wanted { codes: codes.into_iter().collect(), ..Wanted::default() };
    let live = Live::new(port, Some(wanted)).remembering(source);
    let mut live = live.setting_untold(untold.set_untold_mask);
    let mut buffer = vec![0; READ_SIZE];
    let mut outcome = Ok(());
    let mut ending = None;
    loop {
        let now = monotonic_now();
        live.tick(now);
        if ending.is_none() && (stop.load(Ordering::Relaxed) || outcome.is_err()) {
            live.handle_end(now);
            ending = Some(now);
        }
        if ending.is_some_and(|since| live.is_over() || now - since > PUT_BACK) {
            break;
        }
        let bytes = match failed(live.read(&mut buffer, PATIENCE).into_diagnostic())? {
            Read::Bytes(count) => Some(&buffer[..count]),
            Read::Idle => None,
            Read::Closed => break,
        };
        let handled = reader.handle(&mut live, bytes);
        session_report::tell(|| live.poll_event());
        outcome = outcome.and(handled);
    }
    session_report::tell(|| live.poll_event());
    outcome
}
