//! The modem's bytes, read as they come, and what they say of the radio's delays as lines for the receiver.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Sounder};
use sounding_rtc::Notices;
use sounding_rtc::line::Line;
use sounding_units::HostInstant;

/// A receiver that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_millis(500);

/// Reads until the modem's bytes end, or until it dies.
#[derive(Debug)]
pub(super) struct Bridge(JoinHandle<Option<HostInstant>>);

impl Bridge {
    pub(super) fn start(
        diag: Receiver<(HostInstant, Vec<u8>)>,
        receiver: &Path,
        dies: Option<HostInstant>,
    ) -> io::Result<Self> {
        let stream = UnixStream::connect(receiver)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let read = move || read(&diag, stream, dies);
        Ok(Self(thread::Builder::new().name("modem".into()).spawn(read)?))
    }

    /// When the modem was last heard.
    pub(super) fn end(self) -> Option<HostInstant> {
        self.0.join().ok().flatten()
    }
}

fn read(
    diag: &Receiver<(HostInstant, Vec<u8>)>,
    mut receiver: UnixStream,
    dies: Option<HostInstant>,
) -> Option<HostInstant> {
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    let (mut notices, mut heard) = (Notices::default(), None);
    for (at, bytes) in diag {
        if dies.is_some_and(|dies| at >= dies) {
            break;
        }
        sounder.handle_bytes(Arrival::At(at), &bytes, |_, _| {});
        let mut lines = String::new();
        while let Some(notice) = notices.poll(&mut sounder) {
            lines += &Line::from(notice).text();
        }
        if !lines.is_empty() {
            heard = Some(at);
            // The receiver is gone when the call is over.
            if receiver.write_all(lines.as_bytes()).is_err() {
                break;
            }
        }
    }
    heard
}
