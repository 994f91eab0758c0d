use std::fs::File;
use std::io::{self, BufWriter};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use sounding_host::monotonic_now;
use sounding_sim::{DropFrom, Order, Path as LinkPath, Pipe, QueueLimit};
use sounding_units::HostInstant;

use crate::collector::{self, Collected};
use crate::counts::LiveCounts;
use crate::device::{self, Settings};
use crate::engine::{Engine, Finished};
use crate::log::{Header, LinkLog};
use crate::wait::StopSignal;
use crate::{
    Config, Counts, Direction, KernelDrops, Netns, Report, Scheduling, Slot, StartError, StopError,
    Way, counters, realtime,
};

/// A running emulation. Dropping it ends it, as [`stop`](Self::stop) does, but without a report.
#[derive(Debug)]
pub struct Emulation {
    near: Netns,
    far: Netns,
    near_address: Ipv4Addr,
    far_address: Ipv4Addr,
    started: HostInstant,
    scheduling: Scheduling,
    stop: StopHandle,
    finished: Arc<AtomicBool>,
    counts: Arc<LiveCounts>,
    engine: Option<JoinHandle<Finished>>,
    collector: Option<JoinHandle<Collected>>,
}

struct StopHandle(StopSignal);

impl std::fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StopHandle {{ raised: {} }}", self.0.is_raised())
    }
}

impl Emulation {
    /// Makes the namespaces and starts moving packets.
    pub fn start(config: Config) -> Result<Self, StartError> {
        if !(576..=9000).contains(&config.mtu) {
            return Err(StartError::Mtu { mtu: config.mtu });
        }
        let Config { near_address, far_address, mtu, realtime, record, .. } = config;
        let near = new_netns()?;
        let far = new_netns()?;
        let settings =
            |side, address, peer| Settings { side, address, peer, mtu, sysctls: &config.sysctls };
        let devices = [
            device::create(&near, &settings("near", near_address, far_address))?,
            device::create(&far, &settings("far", far_address, near_address))?,
        ];

        let started = monotonic_now();
        let logs = [
            open_log(&config, Direction::Up, started)?,
            open_log(&config, Direction::Down, started)?,
        ];
        let logged = [logs[0].is_some(), logs[1].is_some()];
        let pipes = [
            make_pipe(config.up, Order::LinkThenDelay, started, logged[0]),
            make_pipe(config.down, Order::DelayThenLink, started, logged[1]),
        ];
        let (sender, collector) = collector::pair(logs, record, started);
        let stop = StopSignal::new().map_err(system("make an event descriptor"))?;
        let finished = Arc::new(AtomicBool::new(false));
        let counts = Arc::new(LiveCounts::default());
        let engine = Engine {
            devices,
            pipes,
            mtu,
            realtime,
            sender,
            stop: stop.clone(),
            finished: finished.clone(),
            counts: counts.clone(),
        };
        let collector = thread::Builder::new()
            .name("emu-collector".into())
            .spawn(|| collector.run())
            .map_err(system("start the collector thread"))?;
        let (told, scheduling) = std::sync::mpsc::channel();
        let engine = thread::Builder::new()
            .name("emu-engine".into())
            .spawn(move || {
                // Nobody waits for this if the start has failed meanwhile.
                let _ = told.send(realtime::prepare_this_thread(realtime));
                engine.run()
            })
            .map_err(system("start the thread that moves packets"))?;
        let scheduling = scheduling.recv().map_err(|_| {
            system("prepare the thread that moves packets")(io::Error::other("it ended"))
        })?;
        if let Scheduling::Normal { why } = &scheduling
            && realtime.priority.is_some()
        {
            tracing::warn!(
                why,
                "the emulation runs at normal priority: its timing depends on the load"
            );
        }
        Ok(Self {
            near,
            far,
            near_address,
            far_address,
            started,
            scheduling,
            stop: StopHandle(stop),
            finished,
            counts,
            engine: Some(engine),
            collector: Some(collector),
        })
    }

    /// The namespace of the device: its packets go up.
    pub fn near(&self) -> &Netns {
        &self.near
    }

    /// The namespace of the server: its packets go down.
    pub fn far(&self) -> &Netns {
        &self.far
    }

    /// The address inside [`near`](Self::near).
    pub fn near_address(&self) -> Ipv4Addr {
        self.near_address
    }

    /// The address inside [`far`](Self::far).
    pub fn far_address(&self) -> Ipv4Addr {
        self.far_address
    }

    /// When the links began: the zero of their schedules, on CLOCK_MONOTONIC.
    pub fn started(&self) -> HostInstant {
        self.started
    }

    /// How the thread that moves packets is scheduled.
    pub fn scheduling(&self) -> &Scheduling {
        &self.scheduling
    }

    /// What has happened in a direction so far.
    pub fn counts(&self, direction: Direction) -> Counts {
        self.counts.read(direction)
    }

    /// Whether a trace that is not repeated is used up.
    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Relaxed)
    }

    /// Whether the thread that moves packets has ended by itself: [`stop`](Self::stop) tells why.
    pub fn has_failed(&self) -> bool {
        self.engine.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Ends the emulation. What is still inside is counted as queued.
    pub fn stop(mut self) -> Result<Report, StopError> {
        // Before the devices go: the counters go with them.
        let kernel = [counters::read(&self.near), counters::read(&self.far)];
        self.stop.0.raise();
        let engine = self.engine.take().ok_or(StopError::Panicked)?;
        let collector = self.collector.take().ok_or(StopError::Panicked)?;
        let engine = engine.join().map_err(|_| StopError::Panicked)?;
        let collected = collector.join().map_err(|_| StopError::Panicked)?;
        engine.result.map_err(|source| StopError::Engine { source })?;

        let log_error = |source| StopError::Log { source };
        collected.result.map_err(log_error)?;
        for log in collected.logs.into_iter().flatten() {
            log.finish(engine.ended).map_err(log_error)?;
        }
        let [near, far] =
            kernel.map(|counts| counts.map_err(|source| StopError::Counters { source }));
        let (near, far) = (near?, far?);
        let [mut up, mut down] = engine.ways;
        up.kernel = KernelDrops { before_link: near.before_link, after_link: far.after_link };
        down.kernel = KernelDrops { before_link: far.before_link, after_link: near.after_link };
        Ok(Report {
            started: self.started,
            ran: engine.ended - self.started,
            up,
            down,
            scheduling: self.scheduling.clone(),
            cpu: engine.cpu,
            sleeps: engine.sleeps,
            records: collected.records,
            records_lost: collected.lost,
        })
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        self.stop.0.raise();
        if let Some(engine) = self.engine.take() {
            let _ = engine.join();
        }
        if let Some(collector) = self.collector.take() {
            let _ = collector.join();
        }
    }
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> StartError {
    move |source| StartError::System { doing, source }
}

fn new_netns() -> Result<Netns, StartError> {
    Netns::new().map_err(|source| match source.raw_os_error() {
        Some(libc::EPERM) => StartError::NotPermitted,
        Some(libc::EINVAL | libc::ENOSYS) => StartError::NoNamespaces { source },
        _ => system("make a network namespace")(source),
    })
}

fn make_pipe(
    way: Way,
    order: Order,
    origin: HostInstant,
    logged: bool,
) -> Box<dyn Pipe<Slot> + Send> {
    match way {
        Way::Path(config) => {
            let path = LinkPath::new(&config, order, origin);
            Box::new(if logged { path.logged() } else { path })
        }
        Way::Custom(custom) => (custom.make)(origin),
    }
}

fn open_log(
    config: &Config,
    direction: Direction,
    origin: HostInstant,
) -> Result<Option<LinkLog<BufWriter<File>>>, StartError> {
    let logs = &config.logs;
    let (path, way, trace, name) = match direction {
        Direction::Up => (&logs.up, &config.up, &logs.up_name, "Uplink"),
        Direction::Down => (&logs.down, &config.down, &logs.down_name, "Downlink"),
    };
    let Some(path) = path else { return Ok(None) };
    let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let (queue, delay) = match way {
        Way::Path(path) => (queue_name(path.queue), path.delay),
        Way::Custom(_) => ("infinite".to_owned(), Duration::ZERO),
    };
    let header = Header {
        direction: name,
        trace,
        file: &path.display().to_string(),
        command_line: &logs.command_line,
        queue: &queue,
        unix_millis: unix.map_or(0, |since| since.as_millis()),
        delay,
    };
    let create = |path: &Path| -> io::Result<LinkLog<BufWriter<File>>> {
        LinkLog::new(BufWriter::new(File::create(path)?), &header, way.schedule(), origin)
    };
    create(path).map(Some).map_err(|source| StartError::Log { path: path.clone(), source })
}

fn queue_name(limit: QueueLimit) -> String {
    let kind = match limit.drop {
        DropFrom::Tail => "droptail",
        DropFrom::Head => "drophead",
    };
    match (limit.packets, limit.bytes) {
        (None, None) => "infinite".to_owned(),
        (Some(packets), None) => format!("{kind} [packets={packets}]"),
        (None, Some(bytes)) => format!("{kind} [bytes={}]", bytes.count()),
        (Some(packets), Some(bytes)) => {
            format!("{kind} [packets={packets}, bytes={}]", bytes.count())
        }
    }
}
