//! What the modems' threads give the server. Giving it never waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};

use nix::sys::eventfd::EventFd;
use serde::Serialize;
use sounding_feed::Line;
use sounding_units::HostInstant;

/// Something new.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum News {
    /// A line of the rate feed, and its text with the line's end.
    Line(Arc<Line>, Arc<[u8]>),
    /// The modems that are read. Others are forgotten.
    Modems(Vec<Modem>),
    /// What a modem's radio does.
    Radio(Radio),
    /// A shaper's rate was decided.
    Shaped(Shaped),
    /// Something happened.
    Event(Event),
}

/// A modem that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modem {
    /// Its place among the modems.
    pub place: usize,
    /// Its name in the configuration.
    pub name: String,
    /// Its network devices.
    pub devices: Vec<String>,
}

/// What the radio of the modem at a place does. An unknown value is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Radio {
    /// The modem's place.
    #[serde(skip)]
    pub place: usize,
    /// Log records that came.
    pub records: u64,
    /// Reference signal received power of the serving cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rsrp_dbm: Option<f64>,
    /// Reference signal received quality of the serving cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rsrq_db: Option<f64>,
    /// Signal to interference and noise at the first antenna.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sinr_db: Option<f64>,
    /// The channel quality that the device reports, 0 to 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cqi: Option<f64>,
    /// What is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink: Option<RadioSide>,
    /// What is received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downlink: Option<RadioSide>,
}

/// Counts of a direction since the daemon began with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RadioSide {
    /// Resource blocks of all transport blocks.
    pub resource_blocks: u64,
    /// Transport blocks.
    pub blocks: u64,
    /// Of these: uplink blocks that were sent again, and downlink blocks that failed their
    /// checksum.
    pub retransmitted: u64,
}

/// A decision about a shaper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shaped {
    /// The modem's name.
    pub modem: String,
    /// `uplink` or `downlink`.
    pub direction: &'static str,
    /// When it was decided.
    pub at: HostInstant,
    /// The rate.
    pub rate_bits_per_sec: u64,
    /// Why.
    pub reason: String,
    /// What waits in the shaper, if it can be read.
    pub waiting_bytes: Option<u64>,
    /// What left the shaper since it was made, if it can be read.
    pub sent_bytes: Option<u64>,
}

/// An event of the daemon, as its JSON line has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its kind; one of few.
    pub kind: String,
    /// When it was.
    pub at: HostInstant,
    /// The modem that it is about.
    pub modem: Option<String>,
    /// The JSON line.
    pub text: String,
}

/// The way of news to a server.
#[derive(Clone, Debug)]
pub struct Feeder {
    pub(crate) news: SyncSender<News>,
    pub(crate) wake: Arc<Wake>,
    pub(crate) lost: Arc<AtomicU64>,
}

/// What ends the wait of the server's thread.
#[derive(Debug)]
pub(crate) struct Wake {
    pub(crate) event: EventFd,
    /// Whether a client waits for lines.
    pub(crate) for_lines: AtomicBool,
}

impl Wake {
    pub(crate) fn now(&self) {
        // It fails where it is set already.
        let _ = self.event.write(1);
    }
}

impl Feeder {
    /// Gives news to the server, or drops and counts it where too much waits. It never waits.
    pub fn give(&self, news: News) {
        let is_line = matches!(news, News::Line(..));
        match self.news.try_send(news) {
            Ok(()) if is_line && self.wake.for_lines.load(Ordering::Relaxed) => self.wake.now(),
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
