//! Lines about the radio's own delays, for the receiver of a call.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::time::Duration;

use miette::{IntoDiagnostic, Result, miette};
use sounding_host::{Capabilities, spawn_with_only};
use sounding_kpi::Direction;
use sounding_link::DelayUpdate;
use sounding_rtc::line::Line;
use sounding_units::HostInstant;

use crate::run::events::Events;
use crate::run::output::{Needs, Output, Section};
use crate::screen;

/// `[calls]`.
#[derive(Clone, Debug)]
pub(in crate::run) struct CallsSection {
    /// The receiver's socket.
    pub(in crate::run) socket: PathBuf,
}

/// Records of the radio's own delays, those of one direction first. Repeats of RLC come last.
pub(in crate::run) fn delay_codes(first: Direction) -> Vec<sounding_diag::LogCode> {
    let other = match first {
        Direction::Uplink => Direction::Downlink,
        Direction::Downlink => Direction::Uplink,
    };
    let codes = [first, other].into_iter().flat_map(sounding_kpi::codes);
    codes.chain(sounding_kpi::rlc_codes()).copied().collect()
}

/// Reports that wait at most: some two seconds of them. Older ones would be of no use to a call.
const WAITING: usize = 256;
/// A receiver that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_millis(500);

impl Section for CallsSection {
    fn name(&self) -> String {
        format!("calls {}", screen::path(&self.socket))
    }

    fn needs(&self) -> Needs {
        Needs { delays: true, codes: delay_codes(Direction::Uplink), ..Needs::default() }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let mut stream = UnixStream::connect(&self.socket).map_err(|error| {
            miette!(
                help = "start the receiver: sounding-rtc-peer --socket PATH",
                "no receiver at {}: {error}",
                screen::path(&self.socket)
            )
        })?;
        stream.set_write_timeout(Some(PATIENCE)).into_diagnostic()?;
        let (lines, to_write) = mpsc::sync_channel::<String>(WAITING);
        // The receiver may be slow, and the daemon's own thread must not wait for it.
        spawn_with_only(Capabilities::empty(), "calls", move || {
            for line in to_write {
                if stream.write_all(line.as_bytes()).is_err() {
                    return;
                }
            }
        })
        .into_diagnostic()?;
        Ok(Box::new(CallsOutput { lines, socket: self.socket.clone() }))
    }

    fn may_fail(&self) -> bool {
        true
    }
}

struct CallsOutput {
    lines: SyncSender<String>,
    socket: PathBuf,
}

impl Output for CallsOutput {
    fn handle_delays(&mut self, update: &DelayUpdate) -> Result<()> {
        match self.lines.try_send(Line::of(update)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                Err(miette!("{}: the receiver is gone", screen::path(&self.socket)))
            }
        }
    }

    fn attend(&mut self, _now: HostInstant, _events: &mut Events) -> Result<()> {
        Ok(())
    }
}
