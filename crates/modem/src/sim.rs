//! A simulated modem: the real protocol on a pty or a socket, from a capture's own records or from
//! such as are made while it runs.

mod answers;
mod feed;
mod mischief;
mod modem;
mod port;
mod records;
mod script;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use sounding_units::HostInstant;

pub(crate) use answers::Answers;
pub use feed::{Fed, Feed, feed};
pub use mischief::Mischief;
pub use modem::{Behaviour, Made, Tally};
use modem::{Output, SimModem};
pub use port::Place;
use port::{Heard, SimPort};
pub use records::Records;
pub use script::Script;

use sounding_host::monotonic_now;

/// A modem and the port that it is found at.
#[derive(Debug)]
pub struct Simulation {
    modem: SimModem,
    place: Place,
    unframed: bool,
    port: Option<SimPort>,
    /// A port that went away comes back then.
    back: HostInstant,
    /// At its own pace a modem loses what its reader does not take. Faster than that the loss
    /// would be the hurry's doing, not the modem's, so it waits instead.
    waits: bool,
    diary: Option<Sender<Made>>,
}

/// A modem's buffer for a reader that does not read. Chosen: a second of all records at 8 Mbit/s.
const MEMORY: usize = 1 << 20;

/// How long a modem takes to restart.
const DOWN: Duration = Duration::from_millis(500);

/// A reader that opens or leaves the port is noticed within this; a request at once.
const MAX_SLEEP: Duration = Duration::from_millis(1);

impl Simulation {
    /// A modem that has just been plugged in.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the place for the port is taken or cannot be made.
    pub fn new(
        records: impl Into<Records>,
        behaviour: Behaviour,
        place: Place,
    ) -> io::Result<Self> {
        let unframed = behaviour.unframed;
        let port = Some(SimPort::open(&place, unframed)?);
        let modem = SimModem::new(records, behaviour);
        let waits = modem.hurries();
        Ok(Self { modem, place, unframed, port, back: HostInstant::default(), waits, diary: None })
    }

    /// The source for a reader.
    pub fn source(&self) -> String {
        let source = self.port.as_ref().map_or(String::new(), |port| port.source(&self.place));
        if self.unframed { format!("non-hdlc:{source}") } else { source }
    }

    /// Counts of the records so far.
    pub fn tally(&self) -> Tally {
        self.modem.tally()
    }

    /// Returns every record from now on when it is made, to measure the delay of records.
    pub fn diary(&mut self) -> Receiver<Made> {
        let (diary, made) = mpsc::channel();
        self.diary = Some(diary);
        made
    }

    /// Serves the port until `stop`, or until everything was sent and the reader has left.
    /// `progress` receives how long records have been made, or how far a capture has come.
    ///
    /// # Errors
    ///
    /// The kernel's error, if the port cannot be read, written or opened again.
    pub fn run(
        &mut self,
        stop: &AtomicBool,
        mut progress: impl FnMut(Duration),
    ) -> io::Result<Tally> {
        while !stop.load(Ordering::Relaxed) {
            let now = monotonic_now();
            let attended = self.serve(now)?;
            for made in self.modem.made() {
                // A closed receiver gets no more.
                let _ = self.diary.as_ref().map(|diary| diary.send(made));
            }
            progress(self.modem.elapsed(now));
            if self.modem.is_over() && !attended {
                break;
            }
            let idle = self.modem.idle(now, MAX_SLEEP);
            match &self.port {
                Some(port) => port.wait(self.modem.awake(), idle)?,
                None => std::thread::sleep(idle),
            }
        }
        Ok(self.modem.tally())
    }

    /// One round. Returns whether a reader has the port open.
    fn serve(&mut self, now: HostInstant) -> io::Result<bool> {
        let port = match &mut self.port {
            Some(port) => port,
            None if now < self.back => {
                self.modem.handle_time(now, false);
                return Ok(true);
            }
            None => self.port.insert(SimPort::open(&self.place, self.unframed)?),
        };
        let attended = port.is_attended()?;
        for heard in port.hear()? {
            match heard {
                Heard::Request(request) => self.modem.handle_request(&request),
                Heard::Drain => self.modem.handle_drain(),
            }
        }
        let full = port.queued() > MEMORY;
        if !(full && self.waits) {
            self.modem.handle_time(now, attended);
        }
        while let Some(output) = self.modem.poll_output(now) {
            match output {
                // A reader that does not read, or is absent, does not delay the modem.
                Output::Packet(_) if full && !self.waits => self.modem.lose(),
                Output::Packet(payload) => port.queue_packet(&payload),
                Output::Noise(bytes) => port.queue_bytes(bytes),
                Output::Reboot => {
                    self.port = None;
                    self.back = now + DOWN;
                    return Ok(true);
                }
            }
        }
        port.flush()?;
        // The modem continues while records wait.
        Ok(attended || port.queued() > 0 && self.waits)
    }
}
