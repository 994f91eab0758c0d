//! Time between deliveries of one KPI that the modem makes every 10 ms (BISCAY §5.1, Figure 4a),
//! and how old it is when a reader sees it: with the modem's buffer drained every millisecond,
//! without a buffer, with one left to its high-water mark, and sent in batches as the tools of
//! today receive them.
//!
//! The modem is simulated, in this process; `sounding board` reads it in a second one, and this one
//! reads the board.

mod sightings;

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;
use sounding_board::{NameError, OpenError, Place as BoardPlace, Reader};
use sounding_modem::{Behaviour, Place, Script, monotonic_now, prefer_this_thread, uplink_capture};
use sounding_units::ModemInstant;
use thiserror::Error;

use crate::follower::{Follower, FollowerError};
use crate::served::ServedModem;
use sightings::{Sighting, Sightings};

pub use sightings::Spread;

/// The way records leave the modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferPolicy {
    /// Its buffer is drained every millisecond.
    Drained,
    /// It has no buffer.
    AtOnce,
    /// Its buffer is sent when it is full: see [`Plan::full_at`].
    HighWater,
    /// Its buffer is sent once a second, as BISCAY §5.1 found with MobileInsight.
    Batches,
}

impl BufferPolicy {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Drained, "drained"),
        (Self::AtOnce, "at-once"),
        (Self::HighWater, "high-water"),
        (Self::Batches, "batches"),
    ];

    /// Its name on the command line.
    fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(way, _)| *way == self).map_or("", |(_, word)| word)
    }
}

impl FromStr for BufferPolicy {
    type Err = UnknownWay;

    fn from_str(text: &str) -> Result<Self, UnknownWay> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(way, _)| way).ok_or_else(|| UnknownWay(text.into()))
    }
}

/// A word that is no way.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?}: records leave the modem drained, at-once, high-water or batches")]
pub struct UnknownWay(String);

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How records leave the modem.
    pub ways: Vec<BufferPolicy>,
    /// Duration of each measurement.
    pub duration: Duration,
    /// The limit on processors' wake-up time given to `sounding board`.
    pub cpu_latency: Option<Duration>,
    /// Messages that fill the modem's buffer: 70 in LTE and 120 in 5G (Gandalf §4.2.1).
    pub full_at: usize,
    /// The program that reads the modem: `sounding`.
    pub program: PathBuf,
}

/// The result of one way.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// How records left the modem.
    pub way: BufferPolicy,
    /// Deliveries after the first.
    pub deliveries: usize,
    /// Records in one of them, median.
    pub records_each: usize,
    /// Time between deliveries.
    pub interval_ms: Spread,
    /// From the moment a record is made until the process that reads the modem has it.
    pub received_ms: Spread,
    /// From the moment a record is made until its KPI is on the board.
    pub posted_ms: Spread,
    /// From the moment a record is made until a reader in another process that waits for it has
    /// woken and seen it there.
    pub age_ms: Spread,
    /// Lateness of a thread of the same priority that slept for a millisecond: the machine's delay
    /// for any waiting thread.
    pub machine_late_ms: Spread,
}

/// Every way.
#[derive(Clone, Debug, Serialize)]
pub struct Granularity {
    /// One row each.
    pub rows: Vec<Row>,
    /// Whether the measuring threads had a real-time priority; `sounding board` requests its own.
    pub real_time: bool,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum GranularityError {
    /// The modem has no port.
    #[error("the simulated modem: {0}")]
    Modem(#[source] io::Error),
    /// There is no folder for the board.
    #[error("a folder for the board: {0}")]
    Folder(#[source] io::Error),
    /// The modem is not read.
    #[error(transparent)]
    Follower(#[from] FollowerError),
    /// A thread was refused.
    #[error("a thread: {0}")]
    Thread(#[source] io::Error),
    /// The board has no place.
    #[error(transparent)]
    Place(#[from] NameError),
    /// The board does not open.
    #[error(transparent)]
    Board(#[from] OpenError),
    /// The board lacks the KPI.
    #[error("the board has no {KPI}")]
    Lacking,
    /// Too few records arrived for a result.
    #[error("{way}: {deliveries} deliveries are too few: measure for longer, or leave {} out of the ways", way.word())]
    Few {
        /// How records left the modem.
        way: BufferPolicy,
        /// Number of deliveries.
        deliveries: usize,
    },
}

/// One value in each transmission of a report.
const KPI: &str = "lte.pusch.tbs";

/// Time before the measurement, in which ports open and drains find their time.
const WARM_UP: Duration = Duration::from_secs(2);

/// Measures each way.
pub fn run(plan: &Plan, progress: impl Fn(&Row)) -> Result<Granularity, GranularityError> {
    let mut rows = Vec::new();
    for &way in &plan.ways {
        let row = measure(way, plan)?;
        progress(&row);
        rows.push(row);
    }
    let trying = begin(|| prefer_this_thread().is_ok())?;
    Ok(Granularity { rows, real_time: trying.join().unwrap_or(false) })
}

fn begin<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, GranularityError> {
    Builder::new().spawn(work).map_err(GranularityError::Thread)
}

/// A report every 10 ms, of a steady uplink.
fn capture(duration: Duration) -> Vec<u8> {
    // A time in 2026; it has no effect.
    let begin = ModemInstant::from_nanos(1_460_000_000_000_000_000);
    uplink_capture(&vec![2000; duration.as_millis() as usize], begin, 970)
}

fn modem(
    way: BufferPolicy,
    full_at: usize,
    duration: Duration,
) -> Result<ServedModem, GranularityError> {
    let script = Script::of(&capture(duration));
    let full = Behaviour { high_water: usize::MAX, ..Behaviour::default() };
    let name = format!("sounding-granularity-{}", std::process::id());
    let (place, behaviour) = match way {
        BufferPolicy::Drained => (Place::VendorRouter(name), full),
        BufferPolicy::AtOnce => (Place::Pty(None), Behaviour::default()),
        BufferPolicy::HighWater => {
            let report = capture(Duration::from_millis(10)).len();
            let release = Duration::from_secs(3600);
            (Place::Tcp(0), Behaviour { high_water: full_at * report, release, ..full })
        }
        BufferPolicy::Batches => (Place::Tcp(0), full),
    };
    ServedModem::start(script, behaviour, place).map_err(GranularityError::Modem)
}

fn measure(way: BufferPolicy, plan: &Plan) -> Result<Row, GranularityError> {
    // The last records may never be released.
    let lasts = WARM_UP + plan.duration + Duration::from_secs(5);
    let modem = modem(way, plan.full_at, lasts)?;
    let folder = tempfile::tempdir().map_err(GranularityError::Folder)?;
    let stop = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&stop);
    let late = begin(move || lateness(&until))?;
    let mut arguments = vec!["board", &modem.source, "--name", "granularity", "--kpi", KPI];
    let latency = plan.cpu_latency.map(|latency| format!("{}us", latency.as_micros()));
    if let Some(latency) = &latency {
        arguments.extend(["--cpu-latency", latency]);
    }
    let watched = Follower::start(&plan.program, arguments, folder.path())
        .map_err(GranularityError::from)
        .and_then(|mut follower| {
            let place = BoardPlace::new(folder.path(), "granularity")?;
            watch_board(&mut follower, &place, WARM_UP + plan.duration)
        });
    stop.store(true, Ordering::Relaxed);
    let late = late.join().unwrap_or_default();
    let mut sightings = watched?;
    sightings.skip(WARM_UP);
    let made: Vec<_> = modem.made.try_iter().collect();
    let (gaps, records, ages) = (sightings.gaps(), sightings.records(&made), sightings.ages(&made));
    let spread = |times: Vec<Duration>| {
        Spread::of(times).ok_or(GranularityError::Few { way, deliveries: gaps.len() })
    };
    Ok(Row {
        way,
        deliveries: gaps.len(),
        records_each: records.get(records.len() / 2).copied().unwrap_or(0),
        received_ms: spread(sightings.received(&made))?,
        posted_ms: spread(sightings.posted(&made))?,
        age_ms: spread(ages)?,
        machine_late_ms: spread(late)?,
        interval_ms: spread(gaps.clone())?,
    })
}

/// Reads the board for this long, in a thread with its own priority.
fn watch_board(
    follower: &mut Follower,
    place: &BoardPlace,
    duration: Duration,
) -> Result<Sightings, GranularityError> {
    let mut reader = open(follower, place)?;
    let slot = reader.find(KPI).ok_or(GranularityError::Lacking)?;
    let thread = begin(move || {
        let _ = prefer_this_thread();
        let mut sightings = Sightings::default();
        let end = monotonic_now() + duration;
        while monotonic_now() < end {
            let patience = PollTimeout::from(100u8);
            let _ = poll(&mut [PollFd::new(reader.as_fd(), PollFlags::POLLIN)], patience);
            reader.rearm();
            if let (Ok(Some(sample)), Some(life)) = (reader.read(slot), reader.life()) {
                let (latest, received) = (sample.modem_at, sample.received_at);
                let (at, posted) = (monotonic_now(), life.heartbeat);
                sightings.see(Sighting { at, latest, received, posted });
            }
        }
        sightings
    })?;
    let sightings = thread.join().unwrap_or_default();
    follower.check()?;
    Ok(sightings)
}

/// Waits for the board to be there.
fn open(follower: &mut Follower, place: &BoardPlace) -> Result<Reader, GranularityError> {
    let begin = monotonic_now();
    loop {
        follower.check()?;
        match Reader::open(place) {
            Ok(reader) => return Ok(reader),
            Err(error) if monotonic_now() - begin > Duration::from_secs(10) => {
                return Err(error.into());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Measures how late this machine wakes a thread that sleeps for a millisecond.
pub(crate) fn lateness(stop: &AtomicBool) -> Vec<Duration> {
    const SLEEP: Duration = Duration::from_millis(1);
    let _ = prefer_this_thread();
    let mut late = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let before = monotonic_now();
        std::thread::sleep(SLEEP);
        late.push(monotonic_now() - (before + SLEEP));
    }
    late
}

impl fmt::Display for BufferPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drained => "drained every 1 ms",
            Self::AtOnce => "none: sent at once",
            Self::HighWater => "sent when full",
            Self::Batches => "sent once a second",
        })
    }
}
