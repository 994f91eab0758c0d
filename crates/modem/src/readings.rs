use std::io;
use std::time::Duration;

use sounding_diag::capture::{self, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::session::{Event, Wanted};
use sounding_kpi::{Counts, Reading, Subscription};
use sounding_units::HostInstant;

use crate::{OpenError, Pump, Source, Transport, Turn};

/// The KPIs of a subscription, from a modem or a capture.
///
/// A modem's log mask is set to the records of the subscription, and its buffers are drained if
/// possible. [`finish`](Self::finish) restores the old mask.
#[derive(Debug)]
pub struct Readings {
    pump: Pump,
    reader: Reader,
    subscription: Subscription,
}

/// The result of one wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// Bytes arrived.
    Bytes,
    /// The wait ran out.
    Idle,
    /// The device is gone and waited for, or nothing more will come.
    Closed,
    /// The device is back.
    Reopened,
}

impl Readings {
    /// Opens the source and requests the records of the subscription.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the source is missing, denied, in use or no modem's port.
    pub fn open(source: Source, subscription: Subscription) -> Result<Self, OpenError> {
        let transport = source.open()?;
        Ok(Self::over(source, transport, subscription))
    }

    /// The same for a source that is already open.
    pub fn over(source: Source, transport: Box<dyn Transport>, subscription: Subscription) -> Self {
        let wanted = Wanted { codes: subscription.codes().collect(), ..Wanted::default() };
        let pump = Pump::over(source, transport, Some(wanted));
        Self { pump, reader: Reader::new(), subscription }
    }

    /// Also sets a log mask that the modem does not tell, if `even_untold`. That mask stays at the
    /// end.
    #[must_use]
    pub fn setting_untold(mut self, even_untold: bool) -> Self {
        self.pump = self.pump.setting_untold(even_untold);
        self
    }

    /// A device that closes is the end.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.pump = self.pump.once();
        self
    }

    /// The source.
    pub fn source(&self) -> &Source {
        self.pump.source()
    }

    /// Whether the device is open.
    pub fn is_open(&self) -> bool {
        self.pump.is_open()
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

    /// Waits up to `patience` for bytes and hands every reading in them to `sink`, with when they
    /// arrived.
    ///
    /// # Errors
    ///
    /// That of the port, if it cannot be read.
    pub fn poll(
        &mut self,
        patience: Duration,
        mut sink: impl FnMut(HostInstant, Reading),
    ) -> io::Result<Polled> {
        let Self { pump, reader, subscription } = self;
        match pump.turn(patience)? {
            Turn::Idle => Ok(Polled::Idle),
            Turn::Reopened => Ok(Polled::Reopened),
            Turn::Closed(_) => {
                while reader.poll_end().is_some() {}
                Ok(Polled::Closed)
            }
            Turn::Bytes(read) => {
                let now = read.now;
                read.find(reader, |found| {
                    if let Ok(Packet::Log(log)) = found.map(|located| located.packet) {
                        // Unreadable records are counted.
                        let _ = subscription.handle(&log, |reading| sink(now, reading));
                    }
                });
                Ok(Polled::Bytes)
            }
        }
    }

    /// The next event of the session with the modem.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.pump.poll_event()
    }

    /// Records that the process that holds the port dropped, because this reader was too slow.
    pub fn lost(&self) -> u64 {
        self.pump.lost()
    }

    /// Restores the old log mask.
    pub fn finish(&mut self) {
        // A port that breaks now cannot be given it.
        let _ = self.pump.put_back();
    }
}
