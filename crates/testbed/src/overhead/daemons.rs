//! CPU time and memory of `sounding run` with readers of its feed, and with its page open.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use sounding_feed::Line;
use sounding_host::files;
use sounding_modem::{Behaviour, Place, monotonic_now};
use sounding_units::HostInstant;

use super::crowd::{Came, Crowd};
use super::readers::{Stream, stream};
use super::{OverheadError, Plan, begin};
use crate::follower::{Cost, Follower, Resident};
use crate::granularity::{Spread, lateness};
use crate::served::ServedModem;

/// Who looks at the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beside {
    /// One reader of the feed; the daemon has no server.
    Reader,
    /// The same, a page that is open, and a scrape every 5 s.
    Page,
    /// A hundred readers of the feed; the daemon has no server.
    Crowd,
    /// One reader of the feed, ten readers of the port, and one that asks and never reads.
    Port,
}

/// The cost of the daemon, over all of its turns.
#[derive(Clone, Debug, Serialize)]
pub struct DaemonRow {
    /// Who looks at it.
    pub beside: Beside,
    /// Diagnostic data that came.
    pub mbit_per_sec: f64,
    /// CPU time of the daemon, as a part of one core.
    pub cpu_percent: f64,
    /// The kernel's part of it.
    pub system_percent: f64,
    /// Wake-ups of the daemon's threads.
    pub wakes_per_sec: f64,
    /// Memory of the daemon at the end of a turn, the most of all turns.
    pub resident: Resident,
    /// Lines that each reader of the feed had, the fewest of all readers.
    pub lines_per_sec: f64,
    /// Time from the making of a line until a reader has it: what the feed adds to its age.
    pub line_ms: Option<Spread>,
    /// Age of the estimate when the first reader has the line that says it.
    pub age_ms: Option<Spread>,
    /// Readers of the port: the fewest packets that one of them had.
    pub port: Option<Came>,
    /// Delay between the time at which this machine should wake a thread and the time it does.
    pub machine_late_ms: Option<Spread>,
}

/// A machine changes over time. So the daemons that are compared have turns.
const TURNS: [Beside; 10] = [
    Beside::Reader,
    Beside::Page,
    Beside::Port,
    Beside::Reader,
    Beside::Page,
    Beside::Port,
    Beside::Reader,
    Beside::Page,
    Beside::Port,
    Beside::Crowd,
];

/// The daemon starts within this.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two scrapes.
const SCRAPE_EVERY: Duration = Duration::from_secs(5);

/// The page asks for the status this often.
const STATUS_EVERY: Duration = Duration::from_secs(1);

/// A line at its reader.
#[derive(Clone, Copy)]
struct Seen {
    /// How long ago it was made.
    delay: Duration,
    /// The age of its estimate, if that is known.
    age: Option<Duration>,
}

/// One turn.
struct Turn {
    span: Duration,
    bits: f64,
    cost: Cost,
    resident: Resident,
    /// The lines of each reader.
    lines: Vec<Vec<Seen>>,
    port: Option<Came>,
    late: Vec<Duration>,
}

pub(super) fn run(
    plan: &Plan,
    captures: &[Vec<u8>],
    progress: impl Fn(&str),
) -> Result<Vec<DaemonRow>, OverheadError> {
    let mut turns = Vec::new();
    for beside in TURNS {
        let turn = take(plan, stream(plan, captures), beside)?;
        let percent = turn.cost.cpu.as_secs_f64() / turn.span.as_secs_f64() * 100.0;
        progress(&format!("run, {beside}: {percent:.2} % of a core"));
        turns.push((beside, turn));
    }
    let of = |beside| turns.iter().filter(move |(of, _)| *of == beside).map(|(_, turn)| turn);
    let row = |beside| {
        let seconds: f64 = of(beside).map(|turn| turn.span.as_secs_f64()).sum();
        let sum = |part: fn(&Turn) -> f64| of(beside).map(part).sum::<f64>() / seconds;
        let most = |part: fn(&Resident) -> u64| {
            of(beside).map(|turn| part(&turn.resident)).max().unwrap_or_default()
        };
        DaemonRow {
            beside,
            mbit_per_sec: sum(|turn| turn.bits / 1e6),
            cpu_percent: sum(|turn| turn.cost.cpu.as_secs_f64() * 100.0),
            system_percent: sum(|turn| turn.cost.system.as_secs_f64() * 100.0),
            wakes_per_sec: sum(|turn| turn.cost.wakes as f64),
            resident: Resident {
                bytes: most(|resident| resident.bytes),
                anonymous_bytes: most(|resident| resident.anonymous_bytes),
            },
            lines_per_sec: sum(|turn| turn.lines.iter().map(Vec::len).min().unwrap_or(0) as f64),
            line_ms: Spread::of(of(beside).flat_map(Turn::delays).collect()),
            age_ms: Spread::of(of(beside).flat_map(Turn::ages).collect()),
            port: of(beside).filter_map(|turn| turn.port).min_by_key(|came| came.packets),
            machine_late_ms: Spread::of(of(beside).flat_map(|turn| turn.late.clone()).collect()),
        }
    };
    Ok([Beside::Reader, Beside::Page, Beside::Port, Beside::Crowd].map(row).into())
}

fn take(plan: &Plan, stream: Stream, beside: Beside) -> Result<Turn, OverheadError> {
    let length = stream.script.duration();
    // The mask stays: every record of the stream comes.
    let behaviour = Behaviour { speed: stream.speed, all_on: true, ..Behaviour::default() };
    let folder = tempfile::tempdir().map_err(OverheadError::Folder)?;
    let modem = ServedModem::start(stream.script, behaviour, Place::Pty(None));
    let modem = modem.map_err(OverheadError::Modem)?;
    let address = free_address().map_err(OverheadError::Watcher)?;
    let file = folder.path().join("overhead.toml");
    files::write_unsynced(&file, configuration(&modem.source, beside, address).as_bytes())
        .map_err(OverheadError::Folder)?;
    let file = file.display().to_string();
    let mut daemon =
        Follower::start(&plan.program, ["run", "--json", "--config", &file], folder.path())?;
    let watchers = Watchers::start(&mut daemon, folder.path(), beside, address)?;

    let stop = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&stop);
    let machine = begin("lateness", move || lateness(&until))?;
    let (from, begun, before) = (modem.elapsed(), monotonic_now(), daemon.cost()?);
    let ended = wait_for_end(&mut daemon, &modem, length, plan.duration * 2 + PATIENCE);
    let (after, span) = (daemon.cost(), monotonic_now() - begun);
    stop.store(true, Ordering::Relaxed);
    let late = machine.join().unwrap_or_default();
    ended?;
    let cost = after?.since(&before);
    let resident = daemon.resident()?;
    // A client that asks while the daemon ends has no answer, which is no fault.
    watchers.stop.store(true, Ordering::Relaxed);
    drop(daemon);
    let part = (length - from).as_secs_f64() / length.as_secs_f64().max(1e-3);
    let bits = stream.bytes as f64 * 8.0 * part;
    let (lines, port) = watchers.join()?;
    Ok(Turn { span, bits, cost, resident, lines, port, late })
}

impl Turn {
    fn delays(&self) -> impl Iterator<Item = Duration> {
        self.lines.iter().flatten().map(|line| line.delay)
    }

    /// All readers have the same lines.
    fn ages(&self) -> impl Iterator<Item = Duration> {
        self.lines.iter().take(1).flatten().filter_map(|line| line.age)
    }
}

fn wait_for_end(
    daemon: &mut Follower,
    modem: &ServedModem,
    length: Duration,
    patience: Duration,
) -> Result<(), OverheadError> {
    let begun = monotonic_now();
    while modem.elapsed() < length {
        daemon.check()?;
        if monotonic_now() - begun > patience {
            return Err(OverheadError::Stuck(modem.elapsed()));
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

fn configuration(device: &str, beside: Beside, address: SocketAddr) -> String {
    let serve = match beside {
        Beside::Page => format!("[serve]\naddress = '{address}'\nopen = true\n"),
        Beside::Reader | Beside::Crowd | Beside::Port => String::new(),
    };
    format!(
        "[modem]\ndevice = '{device}'\nmask = false\n[cc]\nlaw = 'none'\n\
         [feed]\nname = 'overhead'\n{serve}"
    )
}

/// A port of this machine alone that nothing uses now.
fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// Threads that read what the daemon says, until it ends.
struct Watchers {
    feed: Vec<JoinHandle<Vec<Seen>>>,
    port: Option<Crowd>,
    page: Vec<JoinHandle<std::io::Result<()>>>,
    stop: Arc<AtomicBool>,
}

impl Watchers {
    fn start(
        daemon: &mut Follower,
        folder: &Path,
        beside: Beside,
        address: SocketAddr,
    ) -> Result<Self, OverheadError> {
        let socket = folder.join("overhead.rate");
        let until = Instant::now() + PATIENCE;
        let is_open = || beside != Beside::Page || TcpStream::connect(address).is_ok();
        while !socket.exists() || !is_open() {
            daemon.check()?;
            if Instant::now() > until {
                return Err(OverheadError::Stuck(Duration::ZERO));
            }
            thread::sleep(Duration::from_millis(20));
        }
        let readers = if beside == Beside::Crowd { 100 } else { 1 };
        let feed = (0..readers).map(|_| reader(&socket)).collect::<Result<_, _>>()?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut page = Vec::new();
        if beside == Beside::Page {
            for path in ["/", "/history.json?span=minute"] {
                get(address, path).map_err(OverheadError::Watcher)?;
            }
            page.push(begin("page", move || follow(address))?);
            for (path, every) in [("/status.json", STATUS_EVERY), ("/metrics", SCRAPE_EVERY)] {
                let stop = Arc::clone(&stop);
                page.push(begin("client", move || ask(address, path, every, &stop))?);
            }
        }
        let port = (beside == Beside::Port).then(|| Crowd::start(folder)).transpose()?;
        Ok(Self { feed, port, page, stop })
    }

    /// The lines of each reader, and the port's reader that had the fewest packets, once the daemon
    /// is gone.
    fn join(self) -> Result<(Vec<Vec<Seen>>, Option<Came>), OverheadError> {
        for client in self.page {
            if let Ok(done) = client.join() {
                done.map_err(OverheadError::Watcher)?;
            }
        }
        let lines = self.feed.into_iter().map(|reader| reader.join().unwrap_or_default());
        let port = self.port.map_or(Vec::new(), Crowd::join);
        Ok((lines.collect(), port.into_iter().min_by_key(|came| came.packets)))
    }
}

fn reader(socket: &Path) -> Result<JoinHandle<Vec<Seen>>, OverheadError> {
    let reader = sounding_feed::Reader::open(socket).map_err(OverheadError::Feed)?;
    let seen = |line: Line| {
        let delay = monotonic_now() - HostInstant::from_nanos(line.made_at_ns);
        let age =
            line.age_ms.map(|ms| delay + Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default());
        Seen { delay, age }
    };
    begin("reader", move || reader.map_while(Result::ok).map(seen).collect())
}

/// Reads events, as a browser does, until the daemon ends.
fn follow(address: SocketAddr) -> std::io::Result<()> {
    let stream = request(address, "/feed")?;
    BufReader::new(stream).lines().map_while(Result::ok).for_each(drop);
    Ok(())
}

/// Asks again and again, until it is stopped.
fn ask(address: SocketAddr, path: &str, every: Duration, stop: &AtomicBool) -> std::io::Result<()> {
    let mut next = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if Instant::now() >= next {
            next += every;
            if let Err(error) = get(address, path) {
                return if stop.load(Ordering::Relaxed) { Ok(()) } else { Err(error) };
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn get(address: SocketAddr, path: &str) -> std::io::Result<()> {
    let mut answer = Vec::new();
    request(address, path)?.read_to_end(&mut answer)?;
    let is_well = answer.starts_with(b"HTTP/1.1 200 ");
    let refused = || std::io::Error::other(format!("{path} is not served"));
    if is_well { Ok(()) } else { Err(refused()) }
}

fn request(address: SocketAddr, path: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    Ok(stream)
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reader => "a reader of the feed",
            Self::Page => "a reader, a page, a scrape every 5 s",
            Self::Crowd => "100 readers of the feed",
            Self::Port => "a reader, 10 readers of the port, one that never reads",
        })
    }
}
