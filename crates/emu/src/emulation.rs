use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_host::monotonic_now;
use sounding_sim::{Device, Duplex, Links, Network, Order, Path as LinkPath, PathConfig};
use sounding_units::HostInstant;

use crate::collector::{self, Collected};
use crate::counts::LiveCounts;
use crate::device::tun_name;
use crate::ends::{Ends, address_of, check};
use crate::engine::{Engine, Finished};
use crate::error::system;
use crate::log;
use crate::outside::Outside;
use crate::wait::StopSignal;
use crate::{
    Between, Config, Counts, DeviceReport, Direction, DirectionReport, Far, InnerLink, KernelDrops,
    Netns, Report, Scheduling, Slot, StartError, StopError, counters, realtime, refuse_inside,
};

/// A running emulation. Dropping it ends it, as [`stop`](Self::stop) does, but without a report.
#[derive(Debug)]
pub struct Emulation {
    devices: Vec<Device>,
    /// One for each device.
    nears: Vec<Netns>,
    far: Netns,
    /// If the far end is this machine.
    outside: Option<Outside>,
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
        if config.far == Far::Namespace {
            refuse_inside()?;
        }
        check(&config)?;
        let ends = Ends::make(&config)?;
        Self::begin(config, ends)
    }

    /// Starts moving packets over a link that the emulator around this one has made. It needs no
    /// rights. [`near`](Self::near) and the other namespaces of devices are the other's.
    ///
    /// # Errors
    ///
    /// [`StartError`] if a setting is outside its range, or the kernel refuses a thread.
    pub fn start_inside(config: Config, link: InnerLink) -> Result<Self, StartError> {
        check(&config)?;
        let InnerLink { near_tun, far_tun, near, far } = link;
        let ends = Ends {
            nears: Vec::new(),
            far: Netns::current().map_err(system("open this network namespace"))?,
            outside: None,
            tuns: vec![near_tun, far_tun],
            addresses: (near, far),
        };
        Self::begin(config, ends)
    }

    fn begin(config: Config, ends: Ends) -> Result<Self, StartError> {
        let Ends { nears, far, outside, tuns, addresses: (near_address, far_address) } = ends;
        let Config { mtu, realtime, record, .. } = config;
        let devices = config.devices.clone();
        let logs =
            [log::open(&config, Direction::Uplink)?, log::open(&config, Direction::Downlink)?];
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
            outside,
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

    /// The device at this machine's end, if the far end is this machine.
    pub fn device_of_machine(&self) -> Option<&str> {
        self.outside.as_ref().map(|outside| outside.device.as_str())
    }

    /// Whether this machine's firewall keeps the near end from the networks behind the machine.
    pub fn is_shut_in(&self) -> bool {
        self.outside.as_ref().is_some_and(|outside| !outside.is_open)
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
    pub fn stop(self) -> Result<Report, StopError> {
        // Before the devices are removed, because their counters are removed with them.
        let kernel = self.kernel_drops();
        self.stop_with(kernel)
    }

    /// The same for a link inside another, whose counters the emulator outside has read: up and
    /// down.
    ///
    /// # Errors
    ///
    /// As [`stop`](Self::stop).
    pub fn stop_inside(self, drops: [KernelDrops; 2]) -> Result<Report, StopError> {
        self.stop_with(Ok(drops.into()))
    }

    fn stop_with(mut self, kernel: io::Result<Vec<KernelDrops>>) -> Result<Report, StopError> {
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
            let outside = self.outside.as_ref().map(|outside| outside.device.clone());
            let far = counters::read(&self.far, &outside.unwrap_or_else(|| tun_name(place)))?;
            for (from, to) in [(near, far), (far, near)] {
                let (before_link, after_link) = (from.before_link, to.after_link);
                drops.push(KernelDrops { before_link, after_link });
            }
        }
        Ok(drops)
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
