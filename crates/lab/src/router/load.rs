//! What the router's hosts send and fetch in a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, thread};

use sounding_emu::{Direction, EnterError, monotonic_now};
use sounding_sim::world::Traffic;
use sounding_testbed::flow::{
    Ends, FlowError, RunningTcp, RunningUdp, TcpFlow, TcpResult, UdpFlow, UdpResult,
};
use sounding_testbed::router::Router;
use sounding_units::{Bytes, HostInstant, Rate};

use super::case::Load;

/// Interval of samples of a connection.
const SAMPLES: Duration = Duration::from_millis(100);

/// The rate of a steady upload.
pub(super) const STEADY: Rate = Rate::from_bits_per_sec(5_000_000);

/// A call: 10 kB/s each way, a packet every 20 ms.
pub(super) const CALL: Rate = Rate::from_bits_per_sec(80_000);
pub(super) const CALL_PACKET: u16 = 200;

/// A page: this many objects of this size at once, over fresh connections.
pub(super) const OBJECTS: usize = 4;
pub(super) const OBJECT: Bytes = Bytes::new(100_000);

/// The time between a page and the next.
pub(super) const READING: Duration = Duration::from_secs(1);

/// Bytes of a request.
const REQUEST: usize = 400;

/// What the flows of a run did.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) uploads: Vec<TcpResult>,
    pub(super) downloads: Vec<TcpResult>,
    /// Both ways, upwards first.
    pub(super) call: Option<[UdpResult; 2]>,
    /// How long each page took.
    pub(super) pages: Option<Vec<Duration>>,
    pub(super) pages_open: u64,
}

/// Runs a load until this time, or until `stop` rises.
pub(super) fn run(
    load: Load,
    router: &Router,
    [from, until]: [HostInstant; 2],
    stop: &AtomicBool,
) -> Result<Done, FlowError> {
    let wait = |until: HostInstant| {
        while monotonic_now() < until && !stop.load(Ordering::Relaxed) {
            thread::sleep((until - monotonic_now()).min(Duration::from_millis(20)));
        }
    };
    wait(from);
    let bulk = |number, direction, traffic| start(router.ends(number), direction, traffic);
    let mut done = Done::default();
    let finish = |flows: Vec<RunningTcp>| -> Result<Vec<TcpResult>, FlowError> {
        flows.into_iter().map(RunningTcp::abort).collect()
    };
    match load {
        Load::Bulk(hosts) => {
            let flows = (0..hosts).map(|host| bulk(host, Direction::Uplink, Traffic::Bulk));
            let flows = flows.collect::<Result<Vec<_>, _>>()?;
            wait(until);
            done.uploads = finish(flows)?;
        }
        Load::Burst => {
            wait(from + load.idle(until - from));
            let flow = bulk(0, Direction::Uplink, Traffic::Bulk)?;
            wait(until);
            done.uploads = finish(vec![flow])?;
        }
        Load::Steady => {
            let flow = bulk(0, Direction::Uplink, Traffic::Steady(STEADY))?;
            wait(until);
            done.uploads = finish(vec![flow])?;
        }
        Load::BothWays => {
            let up = bulk(0, Direction::Uplink, Traffic::Bulk)?;
            let down = bulk(1, Direction::Downlink, Traffic::Bulk)?;
            wait(until);
            done.uploads = finish(vec![up])?;
            done.downloads = finish(vec![down])?;
        }
        Load::CallAndPages => {
            let up = bulk(0, Direction::Uplink, Traffic::Bulk)?;
            let call = [Direction::Uplink, Direction::Downlink]
                .map(|direction| call(router.ends(1), direction, until - monotonic_now()));
            let [up_call, down_call] = call;
            let (up_call, down_call) = (up_call?, down_call?);
            let mut pages = Vec::new();
            while monotonic_now() < until && !stop.load(Ordering::Relaxed) {
                match page(router.ends(2), until, stop)? {
                    Some(took) => pages.push(took),
                    None => done.pages_open += 1,
                }
                wait(until.min(monotonic_now() + READING));
            }
            done.pages = Some(pages);
            done.uploads = finish(vec![up])?;
            done.call = Some([up_call.stop()?, down_call.stop()?]);
        }
    }
    Ok(done)
}

fn start(ends: Ends<'_>, direction: Direction, traffic: Traffic) -> Result<RunningTcp, FlowError> {
    let flow = TcpFlow {
        congestion: Some("cubic".into()),
        traffic,
        sample_every: SAMPLES,
        ..TcpFlow::new(direction)
    };
    flow.start_between(ends)
}

fn call(ends: Ends<'_>, direction: Direction, lasts: Duration) -> Result<RunningUdp, FlowError> {
    let flow = UdpFlow { packet_size: CALL_PACKET, ..UdpFlow::new(direction, CALL, lasts) };
    flow.start_between(ends)
}

/// Fetches a page; `None` if it was not complete at the end.
fn page(
    ends: Ends<'_>,
    until: HostInstant,
    stop: &AtomicBool,
) -> Result<Option<Duration>, FlowError> {
    let began = monotonic_now();
    let object = || {
        let flow = TcpFlow {
            congestion: Some("cubic".into()),
            traffic: Traffic::Finite(OBJECT),
            greeting: REQUEST,
            ..TcpFlow::new(Direction::Downlink)
        };
        let flow = flow.start_between(ends)?;
        while !flow.has_ended() && monotonic_now() < until && !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(2));
        }
        match flow.has_ended() {
            true => Ok(Some(flow.wait()?.ended)),
            false => flow.abort().map(|_| None),
        }
    };
    let ended: Vec<Result<Option<HostInstant>, FlowError>> = thread::scope(|scope| {
        let spawn = || thread::Builder::new().spawn_scoped(scope, object);
        let objects: Vec<_> = (0..OBJECTS).map(|_| spawn()).collect();
        let join = |object: io::Result<thread::ScopedJoinHandle<'_, _>>| {
            let object = object.map_err(|error| FlowError::Enter(EnterError::Thread(error)))?;
            object.join().unwrap_or(Err(FlowError::Panicked))
        };
        objects.into_iter().map(join).collect()
    });
    let mut last = Some(began);
    for ended in ended {
        last = last.zip(ended?).map(|(last, ended)| last.max(ended));
    }
    Ok(last.map(|last| last - began))
}
