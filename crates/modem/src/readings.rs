use std::io;
use std::time::Duration;

use sounding_diag::capture::{self, Located, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::session::{Event, Wanted};
use sounding_host::monotonic_now;
use sounding_kpi::{Counts, Reading, Subscription};
use sounding_units::HostInstant;

use crate::{Framing, Live, OpenError, READ_SIZE, Read, Source, Transport};

/// The KPIs of a subscription, from a modem or a capture.
///
/// A modem's log mask is set to the records of the subscription, and its buffers are drained if possible.
/// [`finish`](Self::finish) restores the old mask.
#[derive(Debug)]
pub struct Readings {
    source: Source,
    live: Live,
    reader: Reader,
    subscription: Subscription,
    buffer: Vec<u8>,
}

/// The result of one wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// Bytes arrived.
    Bytes,
    /// The wait ran out.
    Idle,
    /// The device is gone, or the file is at its end.
    Closed,
}

/// The longest wait for a modem to take its old masks back.
const FAREWELL: Duration = Duration::from_secs(1);

impl Readings {
    /// Opens the source and requests the records of the subscription.
    pub fn open(source: Source, subscription: Subscription) -> Result<Self, OpenError> {
        let transport = source.open()?;
        Ok(Self::over(source, transport, subscription))
    }

    /// The same for a source that is already open.
    pub fn over(source: Source, transport: Box<dyn Transport>, subscription: Subscription) -> Self {
        let wanted = Wanted { codes: subscription.codes().collect(), ..Wanted::default() };
        Self {
            live: Live::new(transport, Some(wanted)).remembering(&source),
            source,
            reader: Reader::new(),
            subscription,
            buffer: vec![0; READ_SIZE],
        }
    }

    /// Also sets a log mask that the modem does not tell, if `even_untold`. That mask stays at the end.
    #[must_use]
    pub fn setting_untold(mut self, even_untold: bool) -> Self {
        self.live = self.live.setting_untold(even_untold);
        self
    }

    /// The source.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The subscription.
    pub fn subscription(&self) -> &Subscription {
        &self.subscription
    }

    /// The counts of the subscription.
    pub fn counts(&self) -> Counts {
        self.subscription.counts()
    }

    /// Bytes, frames and packets, good and bad.
    pub fn stream(&self) -> capture::Counts {
        self.reader.counts()
    }

    /// Waits up to `patience` for bytes and hands every reading in them to `sink`, with when they arrived.
    pub fn poll(
        &mut self,
        patience: Duration,
        mut sink: impl FnMut(HostInstant, Reading),
    ) -> io::Result<Polled> {
        let Self { live, reader, subscription, buffer, .. } = self;
        live.tick(monotonic_now());
        let count = match live.read(buffer, patience)? {
            Read::Bytes(count) => count,
            Read::Idle => return Ok(Polled::Idle),
            Read::Closed => {
                while reader.poll_end().is_some() {}
                return Ok(Polled::Closed);
            }
        };
        let now = monotonic_now();
        let framing = live.framing();
        let mut handle = |located: Located<'_>| match located.packet {
            Packet::Log(log) => {
                live.handle_log(now, &log);
                // Unreadable records are counted.
                let _ = subscription.handle(&log, |reading| sink(now, reading));
            }
            Packet::Other { command, body, .. } => live.handle_other(now, command, body),
        };
        let mut bytes = buffer.get(..count).unwrap_or_default();
        match framing {
            Framing::Hdlc => {
                while let Some(packet) = reader.poll_packet(&mut bytes) {
                    let _ = packet.map(&mut handle);
                }
            }
            Framing::Packet => drop(reader.handle_payload(bytes).map(&mut handle)),
        }
        live.tick(now);
        Ok(Polled::Bytes)
    }

    /// The next event of the session with the modem.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.live.poll_event()
    }

    /// Tries to open a source that has closed.
    pub fn reopen(&mut self) -> Result<(), OpenError> {
        self.live.reopen(self.source.open()?);
        Ok(())
    }

    /// Restores the old log mask.
    pub fn finish(&mut self) {
        let start = monotonic_now();
        self.live.handle_end(start);
        while !self.live.is_over() && monotonic_now() - start < FAREWELL {
            match self.poll(Duration::from_millis(5), |_, _| {}) {
                Ok(Polled::Bytes | Polled::Idle) => {}
                Ok(Polled::Closed) | Err(_) => return,
            }
        }
    }
}
