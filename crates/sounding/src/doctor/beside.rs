//! Opens a modem's port, or reads it beside the daemon that holds it.

use std::os::unix::fs::FileTypeExt as _;

use miette::{Diagnostic, IntoDiagnostic, Result};
use sounding_diag::LogCode;
use sounding_modem::beside::{BesideError, Client, Greeting};
use sounding_modem::{Source, Transport};
use thiserror::Error;

use super::held::{held_by, refuse};
use super::holders::Holder;
use crate::screen;
use crate::skipped::counted;

/// A way to a modem.
pub(crate) struct Opened {
    pub(crate) port: Box<dyn Transport>,
    /// Whether another process has the port. Then that process decides on the log mask, and there
    /// is nothing to come back to once it ends.
    pub(crate) is_beside: bool,
}

/// A socket that is not read.
#[derive(Debug, Error, Diagnostic)]
#[error("{error}")]
struct NotRead {
    error: BesideError,
    #[help]
    help: Option<String>,
}

/// Opens a source for these codes, the most important first, or for everything that comes. If a
/// daemon holds it, the records come from there, and a line on standard error says so.
pub(crate) fn open(source: &Source, codes: Option<&[LogCode]>) -> Result<Opened> {
    let holders = held_by(source)?;
    if let Some(client) = daemon(source, &holders, codes)? {
        let said = said(source, client.process(), client.greeting());
        eprintln!("sounding: {}", screen::inline(&said));
        return Ok(Opened { port: Box::new(client), is_beside: true });
    }
    refuse(source, &holders)?;
    Ok(Opened { port: source.open().into_diagnostic()?, is_beside: false })
}

/// The daemon that holds a source, if one does and serves readers.
pub(super) fn daemon(
    source: &Source,
    holders: &[Holder],
    codes: Option<&[LogCode]>,
) -> Result<Option<Client>> {
    if !may_be_held(source) {
        return Ok(None);
    }
    let processes: Vec<u32> = holders.iter().map(|holder| holder.pid).collect();
    match Client::open(source, &processes, codes) {
        Ok(client) => Ok(client),
        Err(error) => {
            let help = holders.first().map(|holder| {
                format!(
                    "{} (process {}) holds the port: end it to read the port itself",
                    holder.name, holder.pid
                )
            });
            Err(NotRead { error, help }.into())
        }
    }
}

/// Whether a daemon may hold it: a capture and standard input are read by everybody.
fn may_be_held(source: &Source) -> bool {
    match source.place() {
        Source::Stdin => false,
        Source::Path(path) => path.metadata().is_ok_and(|about| about.file_type().is_char_device()),
        _ => true,
    }
}

fn said(source: &Source, process: u32, greeting: &Greeting) -> String {
    let modem = greeting.build.as_deref().map(|build| format!(", its software is {build}"));
    format!(
        "{source} is read beside the daemon that holds it (process {process}){}",
        modem.unwrap_or_default()
    )
}

/// Says at a reader's end how many records it missed, if it missed any.
pub(crate) fn tell_lost(source: &Source, lost: u64) {
    if lost > 0 {
        let source = source.to_string();
        eprintln!(
            "sounding: {}: not read: {}, which the daemon dropped because this reader was too slow",
            screen::inline(&source),
            counted(lost, "record", "records")
        );
    }
}

/// Says that the daemon beside which a port was read has ended.
pub(crate) fn tell_end(source: &Source) {
    let source = source.to_string();
    eprintln!("sounding: the daemon that held {} has ended", screen::inline(&source));
}
