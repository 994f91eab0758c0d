use std::fs::File;
use std::io::{self, BufWriter};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use sounding_host::files::grow;
use sounding_host::monotonic_now;
use sounding_sim::{
    Device, DropFrom, Duplex, Links, Network, Order, Path as LinkPath, PathConfig, QueueLimit,
};
use sounding_units::HostInstant;

use crate::collector::{self, Collected};
use crate::counts::LiveCounts;
use crate::device::{self, Settings, tun_name};
use crate::engine::{Engine, Finished};
use crate::log::{Header, LinkLog};
use crate::wait::StopSignal;
use crate::{
    Between, Config, Counts, DeviceReport, Direction, DirectionReport, KernelDrops, Netns, Report,
    Scheduling, Slot, StartError, StopError, counters, realtime, refuse_inside,
};

/// A running emulation. Dropping it ends it, as [`stop`](Self::stop) does, but without a report.
#[derive(Debug)]
pub struct Emulation {
    devices: Vec<Device>,
    /// One for each device.
    nears: Vec<Netns>,
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
    /// Makes the namespaces and starts moving packets; not [inside](crate::refuse_inside) another
    /// emulation.
    ///
    /// # Errors
    ///
    /// [`StartError`] if this is inside another emulation, a setting is outside its range, or the
    /// kernel refuses a namespace, a device or a thread.
    pub fn start(config: Config) -> Result<Self, StartError> {
        refuse_inside()?;
        if !(576..=9000).contains(&config.mtu) {
            return Err(StartError::Mtu { mtu: config.mtu });
        }
        let count = config.devices.len();
        if !(1..=MAX_DEVICES).contains(&count) {
            return Err(StartError::Devices { count });
        }
        let logged = config.logs.up.is_some() || config.logs.down.is_some();
        if logged && matches!(config.between, Between::Network(_)) {
            return Err(StartError::NoLink);
        }
        let Config { near_address, far_address, mtu, realtime, record, .. } = config;
        let devices = config.devices.clone();
        let nears = (0..count).map(|_| new_netns()).collect::<Result<Vec<_>, StartError>>()?;
        let far = new_netns()?;
        let mut tuns = Vec::new();
        for (place, near) in nears.iter().enumerate() {
            let address = address_of(near_address, place);
            let sysctls = &config.sysctls;
            let ends = [
                (near, "near", tun_name(0), address, far_address),
                (&far, "far", tun_name(place), far_address, address),
            ];
            for (netns, side, name, address, peer) in ends {
                let is_default = side == "near" || place == 0;
                let name = &name;
                let settings = Settings { side, name, is_default, address, peer, mtu, sysctls };
                tuns.push(device::create(netns, &settings)?);
            }
        }

        let logs = [open_log(&config, Direction::Uplink)?, open_log(&config, Direction::Downlink)?];
        let logged = [logs[0].is_some(), logs[1].is_some()];
        let network = make_network(config.between, logged);
        let started = monotonic_now();
        let (sender, collector) = collector::pair(logs, record, started);
        let stop = StopSignal::new().map_err(system("make an event descriptor"))?;
        let finished = Arc::new(AtomicBool::new(false));
        let counts = Arc::new(LiveCounts::default());
        let engine = Engine {
            devices: devices.clone(),
            tuns,
            network,
            started,
            tap: config.tap,
            sniffer: config.sniffer,
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
                // If the start has failed meanwhile, the receiver does not exist any more.
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
            devices,
            nears,
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

    /// The namespace of the first device: its packets go up.
    pub fn near(&self) -> &Netns {
        &self.nears[0]
    }

    /// The namespace of a device; `None` for a device without a host.
    pub fn host(&self, device: Device) -> Option<&Netns> {
        self.place_of(device).and_then(|place| self.nears.get(place))
    }

    fn place_of(&self, device: Device) -> Option<usize> {
        self.devices.iter().position(|known| *known == device)
    }

    /// The namespace of the server: its packets go down.
    pub fn far(&self) -> &Netns {
        &self.far
    }

    /// The address inside [`near`](Self::near).
    pub fn near_address(&self) -> Ipv4Addr {
        self.near_address
    }

    /// The address of a device inside its namespace; `None` for a device without a host.
    pub fn address(&self, device: Device) -> Option<Ipv4Addr> {
        self.place_of(device).map(|place| address_of(self.near_address, place))
    }

    /// The address inside [`far`](Self::far).
    pub fn far_address(&self) -> Ipv4Addr {
        self.far_address
    }

    /// The start of the network's time, on CLOCK_MONOTONIC.
    pub fn started(&self) -> HostInstant {
        self.started
    }

    /// How the thread that moves packets is scheduled.
    pub fn scheduling(&self) -> &Scheduling {
        &self.scheduling
    }

    /// Counts of a direction so far.
    pub fn counts(&self, direction: Direction) -> Counts {
        self.counts.read(direction)
    }

    /// How late the network's last step was computed.
    pub fn lag(&self) -> Duration {
        self.counts.lag()
    }

    /// How often the network has fallen behind the clock so far: see [`ClockLag`](crate::ClockLag).
    pub fn times_behind(&self) -> u64 {
        self.counts.times_behind()
    }

    /// Whether a trace that is not repeated has ended.
    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Relaxed)
    }

    /// Whether the thread that moves packets has ended by itself: [`stop`](Self::stop) returns the
    /// reason.
    pub fn has_failed(&self) -> bool {
        self.engine.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Ends the emulation. Packets that are still inside count as queued.
    ///
    /// # Errors
    ///
    /// [`StopError`] if a thread ended early, a log cannot be written, or the kernel's counters
    /// cannot be read.
    pub fn stop(mut self) -> Result<Report, StopError> {
        // Before the devices are removed, because their counters are removed with them.
        let kernel = self.kernel_drops();
        self.stop.0.raise();
        let engine = self.engine.take().ok_or(StopError::Panicked)?;
        let collector = self.collector.take().ok_or(StopError::Panicked)?;
        let engine = engine.join().map_err(|_| StopError::Panicked)?;
        let collected = collector.join().map_err(|_| StopError::Panicked)?;
        engine.result.map_err(|source| StopError::Engine { source })?;

        let log_error = |source| StopError::Log { source };
        let ran = engine.ended - self.started;
        collected.result.map_err(log_error)?;
        for log in collected.logs.into_iter().flatten() {
            log.finish(HostInstant::default() + ran).map_err(log_error)?;
        }
        let kernel = kernel.map_err(|source| StopError::Counters { source })?;
        let mut ways = engine.ways;
        ways.iter_mut().zip(kernel).for_each(|(way, kernel)| way.kernel = kernel);
        let [mut up, mut down] = [DirectionReport::default(), DirectionReport::default()];
        let mut devices = Vec::new();
        let mut ways = ways.into_iter();
        for &device in &self.devices {
            let (Some(from), Some(to)) = (ways.next(), ways.next()) else { break };
            up.add(&from);
            down.add(&to);
            devices.push(DeviceReport { device, up: from, down: to });
        }
        Ok(Report {
            started: self.started,
            ran,
            up,
            down,
            devices,
            pace: engine.pace,
            diag_lost: engine.diag_lost,
            scheduling: self.scheduling.clone(),
            cpu: engine.cpu,
            sleeps: engine.sleeps,
            records: collected.records,
            records_lost: collected.lost,
        })
    }

    /// The kernel's drops on the way up and down, by device.
    fn kernel_drops(&self) -> io::Result<Vec<KernelDrops>> {
        let mut drops = Vec::new();
        for (place, near) in self.nears.iter().enumerate() {
            let near = counters::read(near, &tun_name(0))?;
            let far = counters::read(&self.far, &tun_name(place))?;
            for (from, to) in [(near, far), (far, near)] {
                let (before_link, after_link) = (from.before_link, to.after_link);
                drops.push(KernelDrops { before_link, after_link });
            }
        }
        Ok(drops)
    }
}

/// Limit: each device needs a namespace, and a unique number in the third byte of its address.
const MAX_DEVICES: usize = 64;

fn address_of(near: Ipv4Addr, place: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(near.to_bits().wrapping_add((place as u32) << 8))
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

fn make_network(between: Between, logged: [bool; 2]) -> Box<dyn Network<Slot> + Send> {
    match between {
        Between::Links { up, down } => {
            let path = |config: &PathConfig, order, logged| {
                let path = LinkPath::new(config, order, HostInstant::default());
                if logged { path.logged() } else { path }
            };
            let up = path(&up, Order::LinkThenDelay, logged[0]);
            let down = path(&down, Order::DelayThenLink, logged[1]);
            Box::new(Links::new(vec![Duplex { up, down }]).awaited())
        }
        Between::Network(network) => network,
    }
}

fn open_log(
    config: &Config,
    direction: Direction,
) -> Result<Option<LinkLog<BufWriter<File>>>, StartError> {
    let logs = &config.logs;
    let (path, trace, name) = match direction {
        Direction::Uplink => (&logs.up, &logs.up_name, "Uplink"),
        Direction::Downlink => (&logs.down, &logs.down_name, "Downlink"),
    };
    let (Some(path), Some(link)) = (path, config.between.link(direction)) else { return Ok(None) };
    let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let header = Header {
        direction: name,
        trace,
        file: &path.display().to_string(),
        command_line: &logs.command_line,
        queue: &queue_name(link.queue),
        unix_millis: unix.map_or(0, |since| since.as_millis()),
        delay: link.delay,
    };
    let create = |path: &Path| -> io::Result<LinkLog<BufWriter<File>>> {
        let origin = HostInstant::default();
        LinkLog::new(BufWriter::new(grow(path)?), &header, Some(&link.schedule), origin)
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
