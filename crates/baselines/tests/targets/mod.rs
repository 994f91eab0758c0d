//! The code of the fuzz target. The test `model` runs it with random operations and with seeds.

mod flow;

use std::time::Duration;

use flow::Flow;
use sounding_cc::Start;
use sounding_estimate::{Bound, LinkEstimate, State};
use sounding_kpi::Direction;
use sounding_units::{HostInstant, Rate};

/// An event of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// This number of tenths of a millisecond passes.
    Pass(u16),
    /// The machine sleeps for this many seconds.
    Sleep(u16),
    /// The application offers this number of segments, and then no more.
    Send { segments: u8, app_limited: bool },
    /// This number of segments is lost, and an acknowledgement of other segments shows the loss.
    Acknowledge { lost: u8, acked: u8, marked: bool },
    /// The retransmission timer fires.
    TimeOut { spurious: bool },
    /// The modem's host publishes a rate, in units of 10 kbit/s.
    Tell { rate: u16, served: bool, flows: u8 },
    /// The modem's host publishes that the rate is unknown.
    Fall { silent: Silence },
}

/// Why an estimate is not usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// No record came.
    Stale,
    /// No grants.
    Idle,
    /// Another cell.
    Handover,
}

/// The initial state of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The clock shows this many seconds.
    pub(crate) clock_s: u32,
    /// Round trip without queue.
    pub(crate) rtt_ms: u8,
    /// The handshake measured it.
    pub(crate) rtt_known: bool,
    pub(crate) seed: u64,
}

/// Runs the operations with every controller of the registry. Panics if a controller breaks a
/// promise.
pub(crate) fn run(setting: Setting, operations: &[Operation]) {
    let now = HostInstant::from_nanos(u64::from(setting.clock_s) * 1_000_000_000);
    let base_rtt = Duration::from_millis(setting.rtt_ms.into());
    let start = Start::tcp(now, setting.rtt_known.then_some(base_rtt), setting.seed);
    for name in sounding_baselines::names() {
        let mut flow = Flow::new(name, start, base_rtt);
        operations.iter().for_each(|&operation| perform(&mut flow, operation));
    }
}

fn perform(flow: &mut Flow, operation: Operation) {
    match operation {
        Operation::Pass(tenths) => flow.pass(Duration::from_micros(100 * u64::from(tenths))),
        Operation::Sleep(seconds) => flow.sleep(Duration::from_secs(seconds.into())),
        Operation::Send { segments, app_limited } => flow.send(segments.into(), app_limited),
        Operation::Acknowledge { lost, acked, marked } => {
            flow.acknowledge(lost.into(), acked.into(), marked);
        }
        Operation::TimeOut { spurious } => flow.time_out(spurious),
        Operation::Tell { rate, served, flows } => {
            let bound = if served { Bound::Floor } else { Bound::Capacity };
            let rate = Rate::from_bits_per_sec(10_000 * u64::from(rate));
            let estimate = estimate(rate, bound, State::Active, Duration::from_millis(3));
            flow.hear(&estimate, u32::from(flows).max(1));
        }
        Operation::Fall { silent } => {
            let (state, age) = match silent {
                Silence::Stale => (State::Stale, 5_000),
                Silence::Idle => (State::Idle, 250),
                Silence::Handover => (State::Handover, 40),
            };
            let age = Duration::from_millis(age);
            flow.hear(&estimate(Rate::ZERO, Bound::Floor, state, age), 1);
        }
    }
}

fn estimate(rate: Rate, bound: Bound, state: State, age: Duration) -> LinkEstimate {
    LinkEstimate::new(Direction::Uplink, rate, bound).with_age(age).with_state(state)
}

/// The largest number of operations of the fuzz target. Longer inputs only repeat.
const MOST: usize = 400;

/// Five bytes of setting, then three for each operation.
pub(crate) fn controllers(data: &[u8]) {
    let Some((&[clock, clock_low, rtt_ms, flags, seed], rest)) = data.split_first_chunk() else {
        return;
    };
    let setting = Setting {
        clock_s: u32::from(clock) << 16 | u32::from(clock_low),
        rtt_ms,
        rtt_known: flags & 1 != 0,
        seed: seed.into(),
    };
    let (chunks, _) = rest.as_chunks();
    let operations: Vec<_> = chunks.iter().take(MOST).map(|&chunk| decode(chunk)).collect();
    run(setting, &operations);
}

fn decode([kind, a, b]: [u8; 3]) -> Operation {
    let number = u16::from_le_bytes([a, b]);
    match kind % 16 {
        0..3 => Operation::Pass(number % 20_000),
        3 => Operation::Sleep(number),
        4..7 => Operation::Send { segments: a, app_limited: b & 1 != 0 },
        7..11 => Operation::Acknowledge { lost: b >> 4, acked: a, marked: b & 1 != 0 },
        11 => Operation::TimeOut { spurious: a & 1 != 0 },
        12..15 => Operation::Tell { rate: number, served: kind & 0x10 != 0, flows: kind >> 5 },
        _ => Operation::Fall {
            silent: [Silence::Stale, Silence::Idle, Silence::Handover][usize::from(a) % 3],
        },
    }
}
