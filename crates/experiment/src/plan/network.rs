//! Makes the network of a plan.

use std::path::Path;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_cell::config::{DeviceConfig, InvalidConfig};
use sounding_cell::modem::{ClockConfig, ModemConfig};
use sounding_cell::radio::{Position, TrajectoryConfig};
use sounding_cell::{Event, Ran};
use sounding_kpi::Direction;
use sounding_sim::{
    Device, Diag, Duplex, Links, Network, Order, Output, Path as Pipe, PathConfig, Port, Radio,
    Reading, Through, Wired,
};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use super::cell::{Cell, DevicePlan};
use super::{Plan, Run, Wrong};

/// The network of a plan, which begins at time zero.
#[derive(Debug)]
pub enum Built<P> {
    /// A modelled cell.
    Cell(Box<Radio<P>>),
    /// The same with a wired segment at its far end.
    WiredCell(Box<Wired<Radio<Through<P>>, P>>),
    /// Links that are given.
    Links(Links<Pipe<P>>),
    /// The same with a wired segment at their far end.
    WiredLinks(Box<WiredLinks<P>>),
}

/// Links that are given, and a wired segment at their far end.
type WiredLinks<P> = Wired<Links<Pipe<Through<P>>>, P>;

/// The network of a plan, without flows; its devices are those of [`Actors`](super::Actors). Traces
/// that the plan names are relative to `folder`.
///
/// # Errors
///
/// [`Wrong`] if a trace cannot be read, or a setting is outside its range.
pub fn network<P>(plan: &Plan, folder: &Path, seed: u64) -> Result<Built<P>, Wrong> {
    let wire =
        plan.wire.as_ref().map(|wire| wire.paths(folder, seed, plan.duration)).transpose()?;
    let origin = HostInstant::default();
    Ok(match (&plan.cell, wire) {
        (Some(cell), None) => Built::Cell(Box::new(radio(cell, seed)?)),
        (Some(cell), Some([up, down])) => {
            Built::WiredCell(Box::new(Wired::new(radio(cell, seed)?, &up, &down, origin)))
        }
        (None, None) => Built::Links(links(plan, folder, seed)?),
        (None, Some([up, down])) => {
            Built::WiredLinks(Box::new(Wired::new(links(plan, folder, seed)?, &up, &down, origin)))
        }
    })
}

fn links<P>(plan: &Plan, folder: &Path, seed: u64) -> Result<Links<Pipe<P>>, Wrong> {
    let origin = HostInstant::default();
    let devices = plan.links.iter().enumerate().map(|(at, link)| {
        let [up, down] = link.paths(at, folder, seed, plan.duration)?;
        Ok(Duplex {
            up: Pipe::new(&up, Order::LinkThenDelay, origin),
            down: Pipe::new(&down, Order::DelayThenLink, origin),
        })
    });
    Ok(Links::new(devices.collect::<Result<_, Wrong>>()?))
}

/// A random stream for the places of devices, separate from those of the network.
const PLACES: u64 = 1 << 60;

fn radio<P>(cell: &Cell, seed: u64) -> Result<Radio<P>, Wrong> {
    for (at, carrier) in cell.carriers.iter().enumerate() {
        let carrier = std::slice::from_ref(carrier);
        Ran::<()>::new(carrier, HostInstant::default(), seed)
            .map_err(|error| wrong(&format!("cell.carriers.{at}"), "carrier.", &error))?;
    }
    let mut radio = Radio::new(cell.carriers.clone(), seed)
        .map_err(|error| wrong("cell.carriers", "carrier.", &error))?;
    let mut lots = ChaCha8Rng::seed_from_u64(seed);
    lots.set_stream(PLACES);
    let site = cell.carriers.first().map_or(Position::default(), |first| first.site.position);
    let mut places: Vec<Vec<TrajectoryConfig>> = Vec::new();
    for (at, device) in cell.devices.iter().enumerate() {
        let key = format!("cell.devices.{at}");
        let beside = device.beside.as_ref().map(|name| {
            let named = |other: &DevicePlan| other.name.as_ref() == Some(name);
            let found = cell.devices[..at].iter().position(named).map(|at| &places[at]);
            found.filter(|places| places.len() >= usize::from(device.count)).cloned().ok_or_else(
                || Wrong::new(format!("{key}.beside"), "names as many devices before it"),
            )
        });
        let beside = beside.transpose()?;
        places.push(Vec::new());
        for number in 0..device.count {
            let mut config = placed(device, site, &mut lots, &key)?;
            if let Some(beside) = &beside {
                config.trajectory = beside[usize::from(number)].clone();
            }
            places[at].push(config.trajectory.clone());
            add(&mut radio, device, config).map_err(|error| wrong(&key, "device.", &error))?;
        }
    }
    let listens = |device: &DevicePlan| device.modem.is_some_and(|modem| modem.on && modem.sniffer);
    if let Some(at) = cell.devices.iter().position(listens) {
        let Some(sniffer) = cell.sniffer else {
            let key = format!("cell.devices.{at}.modem.sniffer");
            return Err(Wrong::new(key, "needs a sniffer: set cell.sniffer"));
        };
        radio.sniff_with(sniffer, seed);
    }
    Ok(radio)
}

fn add<P>(
    radio: &mut Radio<P>,
    device: &DevicePlan,
    config: DeviceConfig,
) -> Result<Device, InvalidConfig> {
    let Some(plan) = device.modem.filter(|modem| modem.on) else {
        return radio.add_device(config);
    };
    let clock = ClockConfig {
        drift_ppm: plan.drift_ppm,
        unset_for: plan.unset_for,
        ..ClockConfig::default()
    };
    let modem = ModemConfig { clock, ..ModemConfig::default() };
    radio.add_listened(config, modem, plan.drain.max(Duration::from_micros(1)))
}

/// The random place of a device, if the plan has one.
fn placed(
    device: &DevicePlan,
    site: Position,
    lots: &mut ChaCha8Rng,
    key: &str,
) -> Result<DeviceConfig, Wrong> {
    let mut config = device.config.clone();
    if let Some(scatter) = device.scatter {
        if !(scatter.radius_m > 0.0 && scatter.radius_m <= 100_000.0) {
            let key = format!("{key}.scatter.radius_m");
            return Err(Wrong::new(key, "is above zero and at most 100000"));
        }
        // Alike over the area, not over the radius.
        let radius_m = scatter.radius_m * lots.random::<f64>().sqrt();
        let (sin, cos) = libm::sincos(lots.random::<f64>() * core::f64::consts::TAU);
        let at = Position::new(site.x_m + radius_m * cos, site.y_m + radius_m * sin);
        config.trajectory = TrajectoryConfig::Static { at };
    }
    Ok(config)
}

/// The scenario's own names begin with the part they are about, which the plan calls by its place.
fn wrong(key: &str, part: &str, error: &InvalidConfig) -> Wrong {
    let text = error.to_string();
    let (name, message) = text.split_once(": ").unwrap_or(("", &text));
    let name = name.strip_prefix(part).unwrap_or(name);
    let name =
        name.strip_prefix("model.").map_or(name.to_owned(), |rest| format!("channel.{rest}"));
    let key = if name.is_empty() { key.to_owned() } else { format!("{key}.{name}") };
    Wrong::new(key, message)
}

impl<P> Built<P> {
    /// Keeps what happens in a modelled cell, for a judge to see: see [`Radio::show`].
    pub fn show(&mut self, devices: &[Device], sniffed: bool) {
        match self {
            Self::Cell(radio) => radio.show(devices.iter().copied(), sniffed),
            Self::WiredCell(wired) => wired.network_mut().show(devices.iter().copied(), sniffed),
            Self::Links(_) | Self::WiredLinks(_) => {}
        }
    }

    /// Collects how each slot of every carrier is used: see [`Radio::show_use`].
    pub fn show_use(&mut self) {
        match self {
            Self::Cell(radio) => radio.show_use(),
            Self::WiredCell(wired) => wired.network_mut().show_use(),
            Self::Links(_) | Self::WiredLinks(_) => {}
        }
    }

    /// Moves what happened to the end of `into`: see [`Radio::drain_events`].
    pub fn drain_events(&mut self, into: &mut Vec<Event>) {
        match self {
            Self::Cell(radio) => radio.drain_events(into),
            Self::WiredCell(wired) => wired.network_mut().drain_events(into),
            Self::Links(_) | Self::WiredLinks(_) => {}
        }
    }
}

impl<P> Built<P> {
    /// Reads all modems like this, instead of as in the plan: see [`Radio::read_modems`].
    pub fn read_modems(&mut self, reading: Reading) {
        match self {
            Self::Cell(radio) => radio.read_modems(reading),
            Self::WiredCell(wired) => wired.network_mut().read_modems(reading),
            Self::Links(_) | Self::WiredLinks(_) => {}
        }
    }

    /// The devices whose modems are read.
    pub fn listened(&self) -> Vec<Device> {
        match self {
            Self::Cell(radio) => radio.listened().collect(),
            Self::WiredCell(wired) => wired.network().listened().collect(),
            Self::Links(_) | Self::WiredLinks(_) => Vec::new(),
        }
    }
}

/// The same call of whichever network it is.
macro_rules! each {
    ($built:expr, $network:ident => $call:expr) => {
        match $built {
            Built::Cell($network) => $call,
            Built::WiredCell($network) => $call,
            Built::Links($network) => $call,
            Built::WiredLinks($network) => $call,
        }
    };
}

impl<P> Network<P> for Built<P> {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: P) {
        each!(self, network => network.handle_packet(now, port, size, payload));
    }

    fn handle_time(&mut self, now: HostInstant) {
        each!(self, network => network.handle_time(now));
    }

    fn poll_output(&mut self) -> Option<(Port, Output<P>)> {
        each!(self, network => network.poll_output())
    }

    fn wakeup(&self) -> Option<HostInstant> {
        each!(self, network => network.wakeup())
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        each!(self, network => network.poll_heard())
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        each!(self, network => network.poll_diag())
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        each!(self, network => network.is_finished(now))
    }
}

/// A device's link over time, where it is known: links are given, and a modelled cell is not.
/// Behind a wired segment there are two.
///
/// # Errors
///
/// [`Wrong`] if a trace cannot be read, or a setting is outside its range.
pub fn given(run: &Run, port: Port) -> Result<Vec<PathConfig>, Wrong> {
    let Run { plan, folder, seed, .. } = run;
    let at = usize::from(port.device.0);
    let Some(link) = plan.links.get(at) else { return Ok(Vec::new()) };
    let mut paths = vec![link.paths(at, folder, *seed, plan.duration)?];
    if let Some(wire) = &plan.wire {
        paths.push(wire.paths(folder, *seed, plan.duration)?);
    }
    Ok(paths
        .into_iter()
        .map(|[up, down]| if port.direction == Direction::Uplink { up } else { down })
        .collect())
}

/// The bytes that `given` could have carried in a span of time: the minimum over its links.
pub fn offered(given: &[PathConfig], (from, to): (Duration, Duration)) -> Option<Bytes> {
    given.iter().map(|path| path.schedule.capacity(from, to)).min()
}
