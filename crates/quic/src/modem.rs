//! A modem of this machine, read by a thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use sounding_diag::session::Wanted;
use sounding_host::{monotonic_now, prefer_this_thread};
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Seen, Sounder};
use sounding_modem::{
    Framing, Live, OpenError, READ_SIZE, Read, Sniffer, SnifferSource, Source, Transport,
};
use sounding_units::HostInstant;

use crate::EstimateHandle;

/// How often the thread checks a silent modem, and publishes its state: as the daemon does.
const TICK: Duration = Duration::from_millis(5);

/// A modem that does not take its masks back within this keeps those of this thread.
const PUT_BACK: Duration = Duration::from_secs(2);

/// Reads a modem and keeps a handle set, until it is dropped; then the modem gets its log masks back, and what was said
/// last gets stale.
#[derive(Debug)]
pub struct ModemFeed {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Why a modem is not read.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// Its port does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is no thread to read it.
    #[error("no thread to read the modem: {0}")]
    Thread(io::Error),
}

impl ModemFeed {
    /// Opens the modem's port and begins: `config` says which way, and what the rate is made of.
    pub fn start(
        source: &Source,
        config: Config,
        handle: EstimateHandle,
    ) -> Result<Self, FeedError> {
        Self::start_beside(source, config, &[], handle)
    }

    /// The same beside sniffers of the modem's carriers, in their order, for `Method::Cell`: estimates then have a fair
    /// share. While a sniffer is silent they are the modem's own.
    pub fn start_beside(
        source: &Source,
        config: Config,
        sniffers: &[SnifferSource],
        handle: EstimateHandle,
    ) -> Result<Self, FeedError> {
        Self::begin(source, config, sniffers, handle, false)
    }

    /// The same with the delays that the radio itself makes ([`EstimateHandle::set_delays`]), for `copa-gandalf` and
    /// `vivace-gandalf`. It needs more records of the modem: those of both directions. In an upload the connections over the handle
    /// say what they hand to the modem; waits for grants are exact if nothing else of this device sends.
    pub fn start_with_delays(
        source: &Source,
        config: Config,
        sniffers: &[SnifferSource],
        handle: EstimateHandle,
    ) -> Result<Self, FeedError> {
        Self::begin(source, config, sniffers, handle, true)
    }

    fn begin(
        source: &Source,
        config: Config,
        sniffers: &[SnifferSource],
        handle: EstimateHandle,
        with_delays: bool,
    ) -> Result<Self, FeedError> {
        let port = source.open()?;
        let start = |(cell, sniffer)| Sniffer::start(sniffer, cell, config.direction);
        let sniffers = (0..).zip(sniffers).map(start).collect::<io::Result<_>>();
        let sniffers = sniffers.map_err(FeedError::Thread)?;
        let stop = Arc::new(AtomicBool::new(false));
        if with_delays && config.direction == Direction::Uplink {
            handle.want_entered();
        }
        let (until, source) = (stop.clone(), source.clone());
        let thread = std::thread::Builder::new()
            .name("modem-feed".into())
            .spawn(move || {
                // Without the right to it estimates come a little later.
                let _ = prefer_this_thread();
                let outcome =
                    Reader::new(port, &source, config, sniffers, handle.clone(), with_delays)
                        .run(&until);
                handle.withdraw();
                outcome
            })
            .map_err(FeedError::Thread)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Whether the port has closed or broken: no more estimates will come.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it, and says whether the port broke before.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(outcome) => {
                outcome.unwrap_or_else(|_| Err(io::Error::other("the thread panicked")))
            }
        }
    }
}

impl Drop for ModemFeed {
    fn drop(&mut self) {
        // `stop` returns the error.
        let _ = self.end();
    }
}

struct Reader {
    live: Live,
    sounder: Sounder,
    sniffers: Vec<Sniffer>,
    handle: EstimateHandle,
    said_at: HostInstant,
}

impl Reader {
    fn new(
        port: Box<dyn Transport>,
        source: &Source,
        config: Config,
        sniffers: Vec<Sniffer>,
        handle: EstimateHandle,
        with_delays: bool,
    ) -> Self {
        let other = match config.direction {
            Direction::Uplink => Direction::Downlink,
            Direction::Downlink => Direction::Uplink,
        };
        let needed = sounding_kpi::codes(config.direction).iter();
        let needed = needed.chain(config.method.channel_codes());
        let more = sounding_kpi::codes(other).iter().chain(sounding_kpi::rlc_codes());
        let more = more.filter(|_| with_delays);
        let mut codes: Vec<_> = needed.chain(more).copied().collect();
        let mut seen = std::collections::HashSet::new();
        codes.retain(|code| seen.insert(*code));
        let sounder = Sounder::new(config);
        let wanted = Wanted { codes, ..Wanted::default() };
        Self {
            live: Live::new(port, Some(wanted)).remembering(source),
            sounder: if with_delays { sounder.with_delays() } else { sounder },
            sniffers,
            handle,
            said_at: HostInstant::default(),
        }
    }

    fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut buffer = vec![0; READ_SIZE];
        while !stop.load(Ordering::Relaxed) {
            if self.read(&mut buffer)? == Read::Closed {
                return Ok(());
            }
            self.say();
        }
        let begin = monotonic_now();
        self.live.handle_end(begin);
        while !self.live.is_over() && monotonic_now() - begin < PUT_BACK {
            self.read(&mut buffer)?;
        }
        Ok(())
    }

    /// One wait for bytes, and what was in them.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Read> {
        let Self { live, sounder, handle, .. } = self;
        live.tick(monotonic_now());
        let read = live.read(buffer, TICK)?;
        if let Read::Bytes(count) = read {
            let now = monotonic_now();
            let framing = live.framing();
            handle.take_entered().for_each(|(at, size)| sounder.handle_entered(at, size));
            let watch = |_: &Sounder, seen: Seen<'_>| match seen {
                Seen::Record(record) => live.handle_log(now, record),
                Seen::Other { command, body } => live.handle_other(now, command, body),
                Seen::Next(_) | Seen::Kpi(_) => {}
            };
            let (arrival, bytes) = (Arrival::At(now), &buffer[..count]);
            match framing {
                Framing::Hdlc => sounder.handle_bytes(arrival, bytes, watch),
                Framing::Packet => sounder.handle_payload(arrival, bytes, watch),
            }
        }
        while live.poll_event().is_some() {}
        for sniffer in &mut self.sniffers {
            while let Some((at, heard)) = sniffer.poll() {
                self.sounder.handle_heard(at, &heard);
            }
        }
        Ok(read)
    }

    fn say(&mut self) {
        let now = monotonic_now();
        if now - self.said_at >= TICK {
            self.said_at = now;
            self.handle.set(self.sounder.estimate(now), now);
            self.say_delays();
        }
    }

    fn say_delays(&mut self) {
        if let Some(update) = self.sounder.take_delays() {
            self.handle.set_delays(&update);
        }
    }
}
