//! The modem's bytes, read as they come, and what they say of the radio's delays: as lines for a
//! receiver, or for a program in the device's kernel.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_bpf::{Arrivals, ArrivalsConfig, ArrivalsError, CorrectedArrival};
use sounding_emu::{EnterError, Netns};
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, DelayUpdate, Sounder};
use sounding_rtc::line::Line;
use sounding_units::HostInstant;

use super::CallError;

/// A receiver that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_millis(500);

/// The device's end of its link.
const DEVICE: &str = "radio0";
/// Packets that are kept: an hour at 1 000 a second.
const KEPT: usize = 3_600_000;

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
    let mut modem = Modem::new(Direction::Uplink);
    for (at, bytes) in diag {
        if dies.is_some_and(|dies| at >= dies) {
            break;
        }
        let lines = modem.read(at, &bytes).map_or_else(String::new, |update| Line::of(&update));
        // The receiver is gone when the call is over.
        if receiver.write_all(lines.as_bytes()).is_err() {
            break;
        }
    }
    modem.heard
}

/// A modem's bytes become news of its radio's delays.
struct Modem {
    sounder: Sounder,
    /// When there last were any.
    heard: Option<HostInstant>,
}

impl Modem {
    fn new(direction: Direction) -> Self {
        let sounder = Sounder::new(Config::new(direction)).with_delays();
        Self { sounder, heard: None }
    }

    fn read(&mut self, at: HostInstant, bytes: &[u8]) -> Option<DelayUpdate> {
        self.sounder.handle_bytes(Arrival::At(at), bytes, |_, _| {});
        let update = self.sounder.poll_delays()?;
        self.heard = Some(at);
        Some(update)
    }
}

/// What became of a downlink's packets at its device.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) packets: Vec<CorrectedArrival>,
    /// When the modem was last heard.
    pub(super) heard: Option<HostInstant>,
}

/// Corrects the device's arrivals until the modem's bytes end. When it dies, packets are still
/// noted.
#[derive(Debug)]
pub(super) struct Corrector(JoinHandle<Result<Result<Noted, ArrivalsError>, EnterError>>);

impl Corrector {
    pub(super) fn start(
        diag: Receiver<(HostInstant, Vec<u8>)>,
        device: &Netns,
        dies: Option<HostInstant>,
    ) -> Result<Self, EnterError> {
        let correct = move || correct(&diag, dies);
        Ok(Self(device.spawn_thread("modem", correct)?))
    }

    pub(super) fn end(self) -> Result<Noted, CallError> {
        let ended = self.0.join().unwrap_or(Err(EnterError::Panicked))?;
        ended.map_err(CallError::Arrivals)
    }
}

fn correct(
    diag: &Receiver<(HostInstant, Vec<u8>)>,
    dies: Option<HostInstant>,
) -> Result<Noted, ArrivalsError> {
    let config = ArrivalsConfig { device: DEVICE.into(), by_discipline: false };
    let mut arrivals = Arrivals::load(&config)?;
    let mut modem = Modem::new(Direction::Downlink);
    let mut packets = Vec::new();
    for (at, bytes) in diag {
        let lives = dies.is_none_or(|dies| at < dies);
        if lives && let Some(update) = modem.read(at, &bytes) {
            arrivals.handle_update(&update)?;
        }
        while let Some(packet) = arrivals.poll_packet() {
            if packets.len() < KEPT {
                packets.push(packet);
            }
        }
    }
    Ok(Noted { packets, heard: modem.heard })
}
