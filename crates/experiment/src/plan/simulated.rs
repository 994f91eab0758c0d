//! The network of a plan in virtual time, with the shapers of its device.

use sounding_cell::Event;
use sounding_kpi::Direction;
use sounding_sim::shaper::{Behind, Shaped};
use sounding_sim::world::Segment;
use sounding_sim::{Device, Diag, Network, Output, Port};
use sounding_trace::dci::Heard;
use sounding_units::{Bytes, HostInstant};

use super::network::network;
use super::shape::{ShapePlan, SidePlan};
use super::{Actors, Built, Plan, Run, Wrong};

/// The network of a plan in virtual time.
#[derive(Debug)]
pub enum Simulated {
    /// As in the plan.
    Plain(Box<Built<Segment>>),
    /// With the shapers of its device.
    Shaped(Box<Shaped<Built<Behind<Segment>>, Segment>>),
}

/// The device of a plan with shapers, if there is one: its index among the plan's entries.
fn shaped(plan: &Plan) -> Result<Option<(usize, ShapePlan)>, Wrong> {
    let devices = plan.cell.iter().flat_map(|cell| &cell.devices).enumerate();
    let mut found = devices.filter_map(|(at, device)| Some((at, device.shape?, device.count)));
    let Some((at, shape, count)) = found.next() else { return Ok(None) };
    let more = found.next().map(|(at, ..)| at).or((count > 1).then_some(at));
    match more {
        Some(at) => Err(Wrong::new(
            format!("cell.devices.{at}.shape"),
            "one device of a plan has shapers, and no others do",
        )),
        None => Ok(Some((at, shape))),
    }
}

/// Refuses a plan whose shapers would be real ones.
///
/// # Errors
///
/// [`Wrong`] if a device has shapers.
pub fn refuse_shapers(plan: &Plan) -> Result<(), Wrong> {
    shaped(plan)?.map_or(Ok(()), |(at, _)| {
        let key = format!("cell.devices.{at}.shape");
        Err(Wrong::new(key, "is for virtual time: in real time run `sounding shape` on the device"))
    })
}

/// The network of a run in virtual time, without flows.
///
/// # Errors
///
/// As [`network()`], and [`Wrong`] if its shapers have wrong limits or several devices have some.
pub fn simulated(run: &Run, actors: &Actors) -> Result<Simulated, Wrong> {
    let Run { plan, folder, seed, .. } = run;
    let Some((at, shape)) = shaped(plan)? else {
        return Ok(Simulated::Plain(Box::new(network(plan, folder, *seed)?)));
    };
    let side = |side: Option<SidePlan>, direction, name| {
        let key = format!("cell.devices.{at}.shape.{name}");
        side.map(|side| side.shaper(direction, &key)).transpose()
    };
    let up = side(shape.uplink, Direction::Uplink, "uplink")?;
    let down = side(shape.downlink, Direction::Downlink, "downlink")?;
    let device = Device(actors.groups.get(at).map_or(0, |group| group.devices.start));
    let network = network(plan, folder, *seed)?;
    Ok(Simulated::Shaped(Box::new(Shaped::new(network, device, up, down))))
}

/// The same call of whichever it is.
macro_rules! either {
    ($simulated:expr, $network:ident => $call:expr) => {
        match $simulated {
            Simulated::Plain($network) => $call,
            Simulated::Shaped($network) => $call,
        }
    };
}

impl Simulated {
    /// Keeps what happens in a modelled cell: see [`Built::show`].
    pub fn show(&mut self, devices: &[Device], sniffed: bool) {
        match self {
            Self::Plain(built) => built.show(devices, sniffed),
            Self::Shaped(shaped) => shaped.network_mut().show(devices, sniffed),
        }
    }

    /// Collects how each slot of every carrier is used: see [`Built::show_use`].
    pub fn show_use(&mut self) {
        match self {
            Self::Plain(built) => built.show_use(),
            Self::Shaped(shaped) => shaped.network_mut().show_use(),
        }
    }

    /// Moves what happened to the end of `into`: see [`Built::drain_events`].
    pub fn drain_events(&mut self, into: &mut Vec<Event>) {
        match self {
            Self::Plain(built) => built.drain_events(into),
            Self::Shaped(shaped) => shaped.network_mut().drain_events(into),
        }
    }
}

impl Network<Segment> for Simulated {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Segment) {
        either!(self, network => network.handle_packet(now, port, size, payload));
    }

    fn handle_time(&mut self, now: HostInstant) {
        either!(self, network => network.handle_time(now));
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Segment>)> {
        either!(self, network => network.poll_output())
    }

    fn wakeup(&self) -> Option<HostInstant> {
        either!(self, network => network.wakeup())
    }

    fn poll_heard(&mut self) -> Option<(HostInstant, Heard)> {
        either!(self, network => network.poll_heard())
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        either!(self, network => network.poll_diag())
    }

    fn is_finished(&self, now: HostInstant) -> bool {
        either!(self, network => network.is_finished(now))
    }
}
