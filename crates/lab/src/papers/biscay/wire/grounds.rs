use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_emu::{Direction, Outcome};
use sounding_experiment::observe::{Arrival, Setup, observe};
use sounding_experiment::plan::{Run, Wrong};
use sounding_laws::Phase;
use sounding_sim::Carried;
use sounding_sim::world::FlowId;
use sounding_testbed::emulate::{self, PUNCTUALITY_PERCENT};
use sounding_testbed::radio::RadioLink;
use sounding_trace::{Steps, Trace};
use sounding_units::HostInstant;

use crate::experiment::Failed;
use crate::papers::biscay::given_link::{self, FlowStart, Observed, PathSetup};
use crate::papers::biscay::item::{controller, failed};

/// Observations of a flow.
#[derive(Debug)]
pub(super) struct Seen {
    /// Ordered by time.
    pub(super) arrivals: Vec<Arrival>,
    /// When its controller changed its state, and whether it then took the path for the narrower.
    pub(super) changes: Vec<(Duration, bool)>,
    pub(super) times_behind: u64,
}

impl From<Observed> for Seen {
    fn from(observed: Observed) -> Self {
        let is_wired = |state: &str| state == Phase::BottleneckElsewhere.name();
        let changes = observed.1.of(0).iter().map(|(at, state)| (*at, is_wired(state)));
        Self { changes: changes.collect(), arrivals: observed.0.arrivals, times_behind: 0 }
    }
}

/// Over a radio that never changes and carries more than any stretch of the wire but the wide ones.
pub(super) fn given(run: &Run, wire: &Steps) -> Seen {
    let until = run.plan.duration;
    let delay = run.plan.wire.as_ref().map_or(Duration::ZERO, |wire| wire.delay);
    let setup = PathSetup { delay, until, every: None, wire: Some(wire.clone()) };
    let start = FlowStart { controller: controller(run), begins: Duration::ZERO };
    given_link::run(&constant(until), &setup, &[start]).into()
}

fn constant(span: Duration) -> RadioLink {
    const BYTES_PER_MS: u64 = 3_750;
    let packet = sounding_trace::OPPORTUNITY_PAYLOAD.count();
    let millis = (0..1_000_u64).flat_map(|ms| {
        let count = BYTES_PER_MS * (ms + 1) / packet - BYTES_PER_MS * ms / packet;
        (0..count).map(move |_| ms as u32 + 1)
    });
    let trace = Trace::from_millis(millis.collect()).expect("times that grow");
    RadioLink::of_trace("constant", trace, span + Duration::from_secs(1))
}

/// Over the plan's cell in virtual time.
pub(super) fn over_cell(run: &Run) -> Result<Seen, Wrong> {
    Ok(observe(run, Setup::default(), Observed::default())?.into())
}

/// Over the plan's cell in real time, `program` as daemon.
pub(super) fn in_kernel(run: &Run, program: PathBuf, stop: &AtomicBool) -> Result<Seen, Failed> {
    let (_, ended) = emulate::whole(run, program, PUNCTUALITY_PERCENT, stop)
        .map_err(|error| failed(run, error))?;
    let report = &ended.report;
    let arrivals = report.records.iter().filter(|record| record.direction == Direction::Uplink);
    let arrivals = arrivals.filter_map(|record| match record.outcome {
        Outcome::Delivered { joined, left, due, .. } => {
            let [joined, left, exits] =
                [joined, left, due].map(|at| HostInstant::default() + (at - report.started));
            let (payload, size, entered) = ((), record.size, joined);
            let packet = Carried { payload, size, entered, joined, left, exits };
            Some(Arrival { flow: FlowId(0), packet })
        }
        _ => None,
    });
    let changes = ended.daemons.first().map(|(_, said)| changes(said, report.started).collect());
    Ok(Seen {
        arrivals: arrivals.collect(),
        changes: changes.unwrap_or_default(),
        times_behind: report.pace.times_behind,
    })
}

/// The changes of state that a daemon reported since `started`, and whether each blames the path.
pub(super) fn changes(
    said: &[Json],
    started: HostInstant,
) -> impl Iterator<Item = (Duration, bool)> + '_ {
    said.iter().filter(|event| event["event"] == "transition").map(move |change| {
        let at = HostInstant::from_nanos(change["at_ns"].as_u64().unwrap_or_default());
        (at - started, change["to"] == Phase::BottleneckElsewhere.name())
    })
}
