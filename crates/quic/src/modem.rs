//! A modem of this machine, read by a thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use sounding_cc::{ChoiceError, Needs};
use sounding_diag::session::Wanted;
use sounding_host::{monotonic_now, prefer_this_thread};
use sounding_link::{Arrival, Config, Sounder};
use sounding_modem::{Bytes, OpenError, Pump, Sniffer, Transport, Turn};
use sounding_units::HostInstant;

pub use sounding_modem::{SnifferSource, Source, SourceError};

use crate::{Direction, EstimateHandle, Factory};

/// How often the thread checks a silent modem, and publishes its state: as the daemon does.
const TICK: Duration = Duration::from_millis(5);

/// Reads a modem and keeps a handle set, until it is dropped; then the modem gets its log masks
/// back, and what was said last gets stale.
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
    /// The text names no port.
    #[error(transparent)]
    Port(#[from] SourceError),
    /// The text names no controller, or one with a wrong parameter.
    #[error(transparent)]
    Controller(#[from] ChoiceError),
}

impl ModemFeed {
    /// All that a program with an upload needs: a factory of this controller for the stack's
    /// transport configuration, and the feed that reads the modem at this port for it. The feed has
    /// to live as long as the connections.
    ///
    /// ```no_run
    /// use sounding_quic::ModemFeed;
    ///
    /// let mut transport = quinn::TransportConfig::default();
    /// let (factory, feed) = ModemFeed::for_upload("sounding", "/dev/ttyUSB0")?;
    /// transport.congestion_controller_factory(factory);
    /// # Ok::<(), sounding_quic::modem::FeedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no such controller or port, or no thread to read the port.
    pub fn for_upload(controller: &str, port: &str) -> Result<(Arc<Factory>, Self), FeedError> {
        let factory = Factory::new(controller, EstimateHandle::new())?;
        let feed = Self::start_for(&factory, &port.parse()?, Direction::Uplink)?;
        Ok((Arc::new(factory), feed))
    }

    /// Opens the modem's port and begins, with what the controllers of this factory need, into its
    /// handle. Their data goes over the link in this direction.
    ///
    /// # Errors
    ///
    /// If the port does not open, or there is no thread to read it.
    pub fn start_for(
        factory: &Factory,
        source: &Source,
        direction: Direction,
    ) -> Result<Self, FeedError> {
        let needs = factory.needs().unwrap_or_default();
        Self::start_needing(needs, source, direction, &[], factory.handle().clone())
    }

    /// The same into any handle, for a controller with these needs: at the device of a download it
    /// is the sender's.
    ///
    /// Beside sniffers of the modem's carriers, in their order, the estimates of `pbe-cc` have a
    /// fair share. While a sniffer is silent they are the modem's own.
    ///
    /// Delays ([`EstimateHandle::set_delays`]) need more records of the modem: those of both
    /// directions. In an upload the connections over the handle say what they hand to the
    /// modem. Waits for grants are exact if nothing else of this device sends.
    ///
    /// # Errors
    ///
    /// If the port does not open, or there is no thread to read it.
    pub fn start_needing(
        needs: Needs,
        source: &Source,
        direction: Direction,
        sniffers: &[SnifferSource],
        handle: EstimateHandle,
    ) -> Result<Self, FeedError> {
        Self::begin(source, configured(needs, direction), sniffers, handle, needs)
    }

    /// The same by hand, without sniffers and delays: `config` says which way, and what the rate is
    /// made of.
    ///
    /// # Errors
    ///
    /// If the port does not open, or there is no thread to read it.
    pub fn start(
        source: &Source,
        config: Config,
        handle: EstimateHandle,
    ) -> Result<Self, FeedError> {
        Self::begin(source, config, &[], handle, Needs::ESTIMATES)
    }

    fn begin(
        source: &Source,
        config: Config,
        sniffers: &[SnifferSource],
        handle: EstimateHandle,
        needs: Needs,
    ) -> Result<Self, FeedError> {
        let port = source.open()?;
        let start = |(cell, sniffer)| Sniffer::start(sniffer, cell, config.direction);
        let sniffers = (0..).zip(sniffers).map(start).collect::<io::Result<_>>();
        let sniffers = sniffers.map_err(FeedError::Thread)?;
        let stop = Arc::new(AtomicBool::new(false));
        if needs.delays && config.direction == Direction::Uplink {
            handle.want_entered();
        }
        let (until, source) = (stop.clone(), source.clone());
        let thread = std::thread::Builder::new()
            .name("modem-feed".into())
            .spawn(move || {
                // Without the right to it estimates come a little later.
                let _ = prefer_this_thread();
                let outcome =
                    Reader::new(port, &source, config, sniffers, handle.clone(), needs).run(&until);
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
    ///
    /// # Errors
    ///
    /// The kernel's error, if the port broke: from then on the handle was not set.
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

/// How estimates are made for a controller with these needs.
fn configured(needs: Needs, direction: Direction) -> Config {
    Config::new(direction).over(needs.span).by(needs.method)
}

struct Reader {
    pump: Pump,
    sounder: Sounder,
    sniffers: Vec<Sniffer>,
    handle: EstimateHandle,
    /// How often the handle is set.
    every: Duration,
    said_at: HostInstant,
}

impl Reader {
    fn new(
        port: Box<dyn Transport>,
        source: &Source,
        config: Config,
        sniffers: Vec<Sniffer>,
        handle: EstimateHandle,
        needs: Needs,
    ) -> Self {
        let other = match config.direction {
            Direction::Uplink => Direction::Downlink,
            Direction::Downlink => Direction::Uplink,
        };
        let needed = sounding_kpi::codes(config.direction).iter();
        let needed = needed.chain(config.method.channel_codes());
        let more = sounding_kpi::codes(other).iter().chain(sounding_kpi::rlc_codes());
        let more = more.filter(|_| needs.delays);
        let mut codes: Vec<_> = needed.chain(more).copied().collect();
        let mut seen = std::collections::HashSet::new();
        codes.retain(|code| seen.insert(*code));
        let sounder = Sounder::new(config);
        let wanted = Wanted { codes, ..Wanted::default() };
        Self {
            pump: Pump::over(source.clone(), port, Some(wanted)).once(),
            sounder: if needs.delays { sounder.with_delays() } else { sounder },
            sniffers,
            handle,
            // Delays are wanted as soon as they are known.
            every: needs.every.filter(|_| !needs.delays).unwrap_or(TICK),
            said_at: HostInstant::default(),
        }
    }

    fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            self.read()?;
            if !self.pump.is_open() {
                return Ok(());
            }
            self.say();
        }
        self.pump.handle_end();
        while !self.pump.is_over() {
            self.read()?;
        }
        Ok(())
    }

    /// One wait for bytes, and what was in them.
    fn read(&mut self) -> io::Result<()> {
        let Self { pump, sounder, handle, .. } = self;
        if let Turn::Bytes(Bytes { now, framing, bytes, mut session }) = pump.turn(TICK)? {
            handle.take_entered().for_each(|(at, size)| sounder.handle_entered(at, size));
            sounder.handle_read(framing, Arrival::At(now), bytes, |_, seen| {
                seen.packet().iter().for_each(|packet| session.handle(packet));
            });
        }
        while pump.poll_event().is_some() {}
        for sniffer in &mut self.sniffers {
            while let Some((at, heard)) = sniffer.poll() {
                self.sounder.handle_heard(at, &heard);
            }
        }
        Ok(())
    }

    fn say(&mut self) {
        let now = monotonic_now();
        if now - self.said_at >= self.every {
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use sounding_link::Method;
    use sounding_units::Bytes;

    use super::*;
    use crate::handle::HandleReader;

    #[test]
    fn a_modem_is_read_over_the_span_and_by_the_method_of_the_controller() {
        let told = [
            ("sounding:max_silence=100ms", 30, Method::Grants),
            ("copa", 100, Method::Grants),
            ("pbe-cc", 100, Method::Cell),
            ("cqic", 200, Method::Cqi),
        ];
        for (name, span, method) in told {
            let needs = Factory::new(name, EstimateHandle::new()).unwrap().needs();
            let config = configured(needs.unwrap_or_default(), Direction::Downlink);
            assert_eq!(config.window, Duration::from_millis(span), "{name}");
            assert_eq!((config.method, config.direction), (method, Direction::Downlink), "{name}");
        }
    }

    #[test]
    fn an_upload_takes_a_controller_and_a_port_by_name() {
        let mute = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = format!("tcp:{}", mute.local_addr().unwrap());
        let (factory, feed) = ModemFeed::for_upload("copa-gandalf", &port).unwrap();
        let now = monotonic_now();
        // The feed is the factory's: it wants to know what this controller's connections send.
        HandleReader::new(factory.handle(), now).handle_entered(now, Bytes::new(1200));
        assert_eq!(factory.handle().take_entered().count(), 1);
        feed.stop().unwrap();

        let refused =
            |controller: &str, port: &str| ModemFeed::for_upload(controller, port).unwrap_err();
        assert!(matches!(refused("no-such", &port), FeedError::Controller(_)));
        assert!(matches!(refused("sounding", "tcp:x"), FeedError::Port(_)));
        assert!(matches!(refused("sounding", "/no/such/port"), FeedError::Open(_)));
    }

    #[test]
    fn packets_are_kept_for_a_controller_that_needs_the_delays_of_the_radio() {
        let mute = TcpListener::bind("127.0.0.1:0").unwrap();
        let source = format!("tcp:{}", mute.local_addr().unwrap()).parse().unwrap();
        for (name, kept) in [("copa-gandalf", 1), ("sounding", 0)] {
            let factory = Factory::new(name, EstimateHandle::new()).unwrap();
            ModemFeed::start_for(&factory, &source, Direction::Uplink).unwrap().stop().unwrap();
            let now = monotonic_now();
            HandleReader::new(factory.handle(), now).handle_entered(now, Bytes::new(1200));
            assert_eq!(factory.handle().take_entered().count(), kept, "{name}");
        }
    }
}
