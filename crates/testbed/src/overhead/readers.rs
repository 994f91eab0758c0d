//! CPU time of the process that reads a modem.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use sounding_diag::capture::Reader;
use sounding_modem::{Behaviour, Place, Script, monotonic_now};

use super::{OverheadError, Plan};
use crate::follower::{Cost, Follower};
use crate::served::ServedModem;

/// The reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// `sounding record`: every record described, into a file.
    Record,
    /// `sounding board`: every KPI there is, for readers in shared memory.
    Board,
}

/// The port it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Port {
    /// A pty, on which the modem sends each record at once.
    Pty,
    /// A vendor's router: the modem buffers, and is drained at the reader's interval.
    Drained,
}

/// The cost of one way to read.
#[derive(Clone, Debug, Serialize)]
pub struct CpuRow {
    /// The reader.
    pub reads: Reads,
    /// From where.
    pub port: Port,
    /// Diagnostic data that came.
    pub mbit_per_sec: f64,
    /// Records that came.
    pub records_per_sec: f64,
    /// CPU time of the reading process, as a part of one core.
    pub cpu_percent: f64,
    /// The kernel's part of it.
    pub system_percent: f64,
    /// Wake-ups of the process's threads.
    pub wakes_per_sec: f64,
}

/// A modem that sends records faster than in the capture, at the requested rate.
pub(super) struct Stream {
    pub(super) script: Script,
    pub(super) bytes: u64,
    pub(super) speed: f64,
}

pub(super) fn run(
    plan: &Plan,
    captures: &[Vec<u8>],
    progress: impl Fn(&str),
) -> Result<Vec<CpuRow>, OverheadError> {
    let mut rows = Vec::new();
    for port in [Port::Pty, Port::Drained] {
        for reads in [Reads::Board, Reads::Record] {
            let row = measure(plan, stream(plan, captures), reads, port)?;
            progress(&format!("{reads}, {port}: {:.2} % of a core", row.cpu_percent));
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The captures, one after the other and repeated, for the duration.
pub(super) fn stream(plan: &Plan, captures: &[Vec<u8>]) -> Stream {
    let wanted = plan.rate.bytes_per_sec() as f64 * plan.duration.as_secs_f64();
    let mut bytes = Vec::new();
    for capture in captures.iter().cycle() {
        if bytes.len() as f64 >= wanted {
            break;
        }
        bytes.extend_from_slice(capture);
    }
    bytes.truncate(wanted as usize);
    let script = Script::of(&bytes);
    let mut reader = Reader::new();
    let mut input = bytes.as_slice();
    while reader.poll_packet(&mut input).is_some() {}
    let bytes = reader.counts().frames.bytes;
    let at_pace = bytes as f64 / script.duration().as_secs_f64().max(1e-3);
    Stream { script, bytes, speed: plan.rate.bytes_per_sec() as f64 / at_pace }
}

fn measure(plan: &Plan, stream: Stream, reads: Reads, port: Port) -> Result<CpuRow, OverheadError> {
    let (length, records) = (stream.script.duration(), stream.script.len());
    let name = format!("sounding-overhead-{}", std::process::id());
    let buffered = if port == Port::Drained { usize::MAX } else { 0 };
    let behaviour = Behaviour { speed: stream.speed, high_water: buffered, ..Behaviour::default() };
    let place = match port {
        Port::Pty => Place::Pty(None),
        Port::Drained => Place::VendorRouter(name),
    };
    let modem =
        ServedModem::start(stream.script, behaviour, place).map_err(OverheadError::Modem)?;
    let folder = tempfile::tempdir().map_err(OverheadError::Folder)?;
    let arguments = reads.arguments(&modem.source, folder.path());
    let mut follower = Follower::start(&plan.program, arguments, folder.path())?;
    let (cost, span) = spent(&mut follower, &modem, length, plan.duration)?;
    let per_sec = |count: f64| count / span.as_secs_f64();
    Ok(CpuRow {
        reads,
        port,
        mbit_per_sec: per_sec(stream.bytes as f64 * 8.0 / 1e6),
        records_per_sec: per_sec(records as f64),
        cpu_percent: per_sec(cost.cpu.as_secs_f64() * 100.0),
        system_percent: per_sec(cost.system.as_secs_f64() * 100.0),
        wakes_per_sec: per_sec(cost.wakes as f64),
    })
}

/// CPU time of the follower from the first record to the last, and the elapsed time.
fn spent(
    follower: &mut Follower,
    modem: &ServedModem,
    length: Duration,
    expected: Duration,
) -> Result<(Cost, Duration), OverheadError> {
    const LOOK_EVERY: Duration = Duration::from_millis(2);
    let patience = expected * 2 + Duration::from_secs(10);
    let start = monotonic_now();
    let mut begin = None;
    while modem.elapsed() < length {
        follower.check()?;
        if begin.is_none() && !modem.elapsed().is_zero() {
            begin = Some((monotonic_now(), follower.cost()?));
        }
        if monotonic_now() - start > patience {
            return Err(OverheadError::Stuck(modem.elapsed()));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let (at, before) = begin.unwrap_or((start, Cost::default()));
    Ok((follower.cost()?.since(&before), monotonic_now() - at))
}

impl Reads {
    fn arguments(self, source: &str, folder: &Path) -> Vec<String> {
        let file = folder.join("overhead.qmdl").display().to_string();
        let words: &[&str] = match self {
            Self::Record => &["record", source, &file],
            Self::Board => &["board", source, "--name", "overhead", "--kpi", "all"],
        };
        words.iter().map(ToString::to_string).collect()
    }
}

impl fmt::Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Record => "record",
            Self::Board => "board, every KPI",
        })
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pty => "pty, sent at once",
            Self::Drained => "router, drained",
        })
    }
}
