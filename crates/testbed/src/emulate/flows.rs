//! A plan's flows as the kernel's own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use socket2::{Domain, Socket, Type};
use sounding_emu::{Direction, Flow, monotonic_now};
use sounding_experiment::plan::{Acknowledged, Actors, FlowPlan, Run, TrafficPlan};
use sounding_laws::RadioController;
use sounding_sim::Port;
use sounding_sim::world::Traffic;
use sounding_units::{HostInstant, Rate};

use super::{EmulateError, Emulated, Wrong};
use crate::flow::{FlowError, TcpFlow, UdpFlow};

/// One flow, in terms of the kernel.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    name: String,
    port: Port,
    direction: Direction,
    sends: Sends,
    controller: Option<String>,
    /// After the beginning of the network.
    start: Duration,
    stop: Duration,
}

#[derive(Clone, Copy, Debug)]
enum Sends {
    Stream(Traffic),
    Datagrams(Rate),
}

/// The result of a flow.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Its name in tables.
    pub name: String,
    /// Where.
    pub port: Port,
    /// The plan's name of its controller; `None` of datagrams.
    pub controller: Option<String>,
    /// Ports of its packets; `None` if it never sent.
    pub flow: Option<Flow>,
    /// Segments that TCP sent again.
    pub retransmitted: u32,
    /// Mean of the round-trip time that the kernel smoothed, of a stream.
    pub mean_rtt: Option<Duration>,
}

/// The plan's flows, as far as a kernel can send them; fails where it cannot.
pub(super) fn shapes(run: &Run, actors: &Actors) -> Result<Vec<Shape>, Wrong> {
    let plan = &run.plan;
    for (at, flow) in plan.flows.iter().enumerate() {
        possible(flow).map_err(|(key, why)| Wrong::new(format!("flows.{at}.{key}"), why))?;
    }
    let shapes = actors.flows.iter().map(|actor| {
        let flow = &plan.flows[actor.plan];
        let count = actors.flows.iter().filter(|other| other.plan == actor.plan).count();
        let name = match count {
            1 => flow.label().to_owned(),
            _ => format!("{}-{}", flow.label(), actor.number),
        };
        let (sends, controller) = match flow.traffic.stream() {
            Ok(traffic) => (Sends::Stream(traffic), Some(flow.controller.name().to_owned())),
            Err(rate) => (Sends::Datagrams(rate), None),
        };
        let direction = if actor.port == Port::up(actor.port.device) {
            Direction::Uplink
        } else {
            Direction::Downlink
        };
        let start = flow.start.saturating_add(flow.stagger.saturating_mul(actor.number));
        let stop = flow.stop.min(plan.duration);
        Shape { name, port: actor.port, direction, sends, controller, start, stop }
    });
    Ok(shapes.collect())
}

/// Refuses keys that work only in virtual time.
fn possible(flow: &FlowPlan) -> Result<(), (&'static str, String)> {
    if let Ok(Traffic::Responses { .. }) = flow.traffic.stream() {
        return Err(("traffic", "responses are for virtual time: `sounding sim`".into()));
    }
    if matches!(flow.traffic, TrafficPlan::Arrivals { .. }) {
        return Err(("traffic", "arrivals are for virtual time: `sounding sim`".into()));
    }
    if !flow.delay.is_zero() {
        let why = "a flow's own delay is for virtual time: leave it out, or use `sounding sim`";
        return Err(("delay", why.into()));
    }
    if flow.acks == Acknowledged::EveryPacket {
        let why = "a kernel acknowledges as it sees fit: leave it out, or use `sounding sim`";
        return Err(("acks", why.into()));
    }
    if flow.limit().is_some() {
        let why = "a kernel's buffers are its own: leave it out, or use `sounding sim`";
        return Err(("buffer", why.into()));
    }
    let is_stream = flow.traffic.stream().is_ok();
    if is_stream && !flow.controller.is_plain() {
        let why = format!(
            "a kernel's controllers take no parameters, and {} has some: leave them out, or use `sounding sim`",
            flow.controller
        );
        return Err(("controller", why));
    }
    match flow.controller.name() {
        name if is_stream && RadioController::by_name(name).is_none() => known_to_kernel(name)
            .map_err(|why| ("controller", format!("this kernel does not take {name:?}: {why}"))),
        _ => Ok(()),
    }
}

/// Whether sockets of this kernel may have a congestion control; it loads the module if there is
/// one.
fn known_to_kernel(name: &str) -> Result<(), String> {
    let choose =
        || Socket::new(Domain::IPV4, Type::STREAM, None)?.set_tcp_congestion(name.as_bytes());
    choose().map_err(|error: io::Error| {
        let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let known = std::fs::read_to_string(list).unwrap_or_default();
        format!(
            "{error}; it has {}, and {} by our daemon",
            known.trim().replace(' ', ", "),
            RadioController::all().map(|listener| listener.name).collect::<Vec<_>>().join(", ")
        )
    })
}

/// Runs all flows, each at its time.
pub(super) fn run(emulated: &Emulated, stop: &AtomicBool) -> Result<Vec<Sent>, EmulateError> {
    let broken = &AtomicBool::new(false);
    thread::scope(|scope| {
        let begin = |shape| {
            let flow = thread::Builder::new().name("flow".into()).spawn_scoped(scope, move || {
                let sent = one(emulated, shape, &|| {
                    stop.load(Ordering::Relaxed) || broken.load(Ordering::Relaxed)
                });
                // Without this flow the others are not a result of the plan.
                broken.fetch_or(sent.is_err(), Ordering::Relaxed);
                sent
            });
            broken.fetch_or(flow.is_err(), Ordering::Relaxed);
            flow
        };
        let flows: Vec<_> =
            emulated.shapes.iter().map(|shape| (&shape.name, begin(shape))).collect();
        let ended = flows.into_iter().map(|(name, flow)| {
            let fail = |source| EmulateError::Flow { name: name.clone(), source };
            let thread = flow.map_err(FlowError::socket("start a thread")).map_err(fail)?;
            thread.join().unwrap_or(Err(FlowError::Panicked)).map_err(fail)
        });
        // Waits for all of them, also after a failure, so that none is left running.
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Interval at which a flow checks whether it should end.
const LOOK: Duration = Duration::from_millis(10);

fn one(emulated: &Emulated, shape: &Shape, is_over: &dyn Fn() -> bool) -> Result<Sent, FlowError> {
    let mut sent = Sent {
        name: shape.name.clone(),
        port: shape.port,
        controller: shape.controller.clone(),
        flow: None,
        retransmitted: 0,
        mean_rtt: None,
    };
    let emulation = &emulated.emulation;
    let (start, stop) = (emulation.started() + shape.start, emulation.started() + shape.stop);
    if !wait_until(start, is_over) || start >= stop {
        return Ok(sent);
    }
    let (device, direction) = (shape.port.device, shape.direction);
    match shape.sends {
        Sends::Stream(traffic) => {
            let listener = shape.controller.as_deref().and_then(RadioController::by_name);
            let fed = listener.and_then(|listener| emulated.daemons.name_for(shape.port, listener));
            let congestion = fed.map(str::to_owned).or_else(|| shape.controller.clone());
            let flow = TcpFlow { device, traffic, congestion, ..TcpFlow::new(direction) };
            let running = flow.start(emulation)?;
            sent.flow = Some(running.flow());
            while !running.has_ended() && !is_over() && monotonic_now() < stop {
                thread::sleep(LOOK);
            }
            let result = running.stop()?;
            sent.retransmitted = result.last.retransmitted_segments;
            sent.mean_rtt = Some(result.mean_rtt);
        }
        Sends::Datagrams(rate) => {
            let left = stop - monotonic_now();
            let flow = UdpFlow { device, ..UdpFlow::new(direction, rate, left) };
            let running = flow.start(emulation)?;
            sent.flow = Some(running.flow());
            while !running.has_ended() && !is_over() {
                thread::sleep(LOOK);
            }
            running.stop()?;
        }
    }
    Ok(sent)
}

/// Waits. Returns whether the time was reached before the end of the run.
fn wait_until(at: HostInstant, is_over: &dyn Fn() -> bool) -> bool {
    while monotonic_now() < at {
        if is_over() {
            return false;
        }
        thread::sleep((at - monotonic_now()).min(LOOK));
    }
    !is_over()
}
