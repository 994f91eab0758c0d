//! The emulator compared with mahimahi: kernel CUBIC and BBR over the same traces, measured by the
//! same definitions.
//!
//! The reference ran `mm-delay 20 mm-link UP DOWN` with an infinite queue and the system's default
//! socket buffers on an idle machine, one flow of iperf3, and measured 60 s from the first full
//! data packet on.

mod compare;
pub(crate) mod experiment;
mod figures;
mod reference;

use std::path::PathBuf;
use std::time::Duration;

use sounding_emu::{Config, Direction, Emulation, Outcome, PacketRecord, monotonic_now};
use sounding_experiment::catalogue;
use sounding_experiment::provenance::Begun;
use sounding_host::jobs;
use sounding_sim::PathConfig;
use sounding_testbed::flow::TcpFlow;
use sounding_trace::Schedule;
use sounding_units::HostInstant;

use crate::experiment::Failed;

pub(crate) use compare::Spread;
pub use compare::{Comparison, Row, Verdict};
pub use figures::{Figures, Passage};
pub use reference::Reference;

/// One-way delay of the reference.
const DELAY: Duration = Duration::from_millis(20);

/// How long before its first byte a flow connects: two round trips and what iperf3 needs between
/// them, 103 to 153 ms in the reference's logs.
const CONNECT_BEFORE: Duration = Duration::from_millis(130);

/// iperf3's first data on a connection, to name its test: 93 bytes in the reference's logs, 56 of
/// them headers.
const COOKIE: usize = 37;

/// The default of the reference's machine. It shows in the CUBIC rows: iperf3 chooses the
/// congestion control of a connected socket, which has begun with BBR and stays paced.
const DEFAULT_CONGESTION: [&str; 2] = ["net.ipv4.tcp_congestion_control", "bbr"];

/// The reference's settings for large buffers: limits that no flow here comes near.
const LARGE_BUFFERS: [[&str; 2]; 2] =
    [["net.ipv4.tcp_wmem", "4096 16384 268435456"], ["net.ipv4.tcp_rmem", "4096 131072 268435456"]];

/// How long a flow continues after the window, so that the window's end is like its middle.
const AFTER: Duration = Duration::from_millis(500);

/// The command.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Folder of the shared data: traces in `traces/mahimahi/traces`, the reference in
    /// `reference`.
    pub data: PathBuf,
    /// Repetitions of each row.
    pub reps: usize,
    /// Only rows whose name (`vz-short.down.cubic`) contains this.
    pub filter: Option<String>,
    /// The window. The reference's is 60 s; with another one the verdicts have no meaning.
    pub window: Duration,
    /// Emulations at once. More than one disturb each other's timing on a small machine.
    pub jobs: usize,
}

/// The files of the six directions, as the reference used them: the T-Mobile driving uplink is not
/// public, so the short one replaces it.
pub(crate) const TRACES: [(&str, &str, &str); 3] = [
    ("vz-short", "Verizon-LTE-short.up", "Verizon-LTE-short.down"),
    ("tm-driving", "TMobile-LTE-short.up", "TMobile-LTE-driving.down"),
    ("att-driving", "ATT-LTE-driving.up", "ATT-LTE-driving.down"),
];

/// One trace, direction and congestion control.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// As `vz-short.down.cubic`.
    pub(crate) name: String,
    pub(crate) direction: Direction,
    pub(crate) congestion: &'static str,
    pub(crate) up: Schedule,
    pub(crate) down: Schedule,
    /// When the first data packet reached the reference's link, from the beginning of the trace,
    /// in each repetition.
    pub(crate) starts: Vec<Duration>,
}

/// Buffers of a flow's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffers {
    /// The kernel's default.
    Default,
    /// So large that they never limit a flow.
    Large,
}

/// Runs the comparison; `progress` is called for each repetition that ended.
pub fn run(plan: &Plan, progress: impl Fn(&str)) -> Result<Comparison, Failed> {
    let begun = Begun::now();
    let shared = Reference::read(&plan.data.join("reference/mahimahi_quiet_machine.json"))?;
    let reference = shared.and(Reference::supplement()?);
    let tasks = tasks(plan, &reference)?;
    let measured = measure(&tasks, plan, Buffers::Default, progress)?;
    let rows = tasks
        .iter()
        .zip(measured)
        .map(|(task, ours)| Row::new(&task.name, reference.row(&task.name).to_vec(), ours))
        .collect();
    let window_s = plan.window.as_secs_f64();
    Ok(Comparison { provenance: begun.end(), window_s, jobs: plan.jobs, rows })
}

/// The repetitions of each row, through the emulator.
pub(crate) fn measure(
    tasks: &[Task],
    plan: &Plan,
    buffers: Buffers,
    progress: impl Fn(&str),
) -> Result<Vec<Vec<Figures>>, Failed> {
    let queue: Vec<(usize, usize)> =
        (0..plan.reps).flat_map(|rep| (0..tasks.len()).map(move |task| (task, rep))).collect();
    let one = |&(index, rep): &(usize, usize)| {
        let task: &Task = &tasks[index];
        // Another start in the trace gives other results, so the start times are the reference's.
        repeat(task, task.starts[rep % task.starts.len()], plan.window, buffers)
    };
    let told = |&(index, rep): &(usize, usize), figures: &Figures| {
        let (name, rep, reps) = (&tasks[index].name, rep + 1, plan.reps);
        let Figures { throughput_mbit, p95_ms, .. } = figures;
        progress(&format!("{name} {rep}/{reps}: {throughput_mbit:.3} Mbit/s, p95 {p95_ms} ms"));
    };
    let all = jobs::each(&queue, plan.jobs, one, told)?;
    let mut measured = vec![Vec::new(); tasks.len()];
    for (&(index, _), figures) in queue.iter().zip(all) {
        measured[index].push(figures);
    }
    Ok(measured)
}

/// The rows of a plan.
pub(crate) fn tasks(plan: &Plan, reference: &Reference) -> Result<Vec<Task>, Failed> {
    let mut tasks = Vec::new();
    for (trace, up, down) in TRACES {
        for (direction, way) in [(Direction::Downlink, "down"), (Direction::Uplink, "up")] {
            for congestion in ["cubic", "bbr"] {
                let name = format!("{trace}.{way}.{congestion}");
                if plan.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
                    continue;
                }
                let folder = plan.data.join("traces/mahimahi/traces");
                let read = |name| catalogue::trace(&folder.join(name)).map(Schedule::from);
                let (up, down) = (read(up)?, read(down)?);
                let starts = reference.starts(&name)?;
                tasks.push(Task { name, direction, congestion, up, down, starts });
            }
        }
    }
    match &plan.filter {
        Some(filter) if tasks.is_empty() => Err(Failed::from(format!(
            "no row's name contains {filter:?}; rows are named as vz-short.down.cubic"
        ))),
        _ => Ok(tasks),
    }
}

fn repeat(
    task: &Task,
    start: Duration,
    window: Duration,
    buffers: Buffers,
) -> Result<Figures, Failed> {
    let way =
        |schedule: &Schedule| PathConfig { delay: DELAY, ..PathConfig::new(schedule.clone()) };
    let large = LARGE_BUFFERS.iter().filter(|_| buffers == Buffers::Large);
    let sysctls =
        large.chain([&DEFAULT_CONGESTION]).map(|pair| pair.map(str::to_owned).into()).collect();
    let config = Config { record: true, sysctls, ..Config::new(way(&task.up), way(&task.down)) };
    let emulation = Emulation::start(config)?;
    let started = emulation.started();
    // The downlink's data meets the delay first, so it has to leave that much earlier to be in
    // time.
    let before_link = match task.direction {
        Direction::Uplink => Duration::ZERO,
        Direction::Downlink => DELAY,
    };
    let send_at = started + start.saturating_sub(before_link);
    let flow = TcpFlow {
        congestion: Some(task.congestion.into()),
        choose_late: true,
        greeting: COOKIE,
        connect_at: Some(send_at.saturating_before(CONNECT_BEFORE)),
        send_at: Some(send_at),
        ..TcpFlow::new(task.direction)
    };
    let running = flow.start(&emulation)?;
    let end = send_at + before_link + window + AFTER;
    std::thread::sleep(end - monotonic_now());
    running.stop()?;
    let report = emulation.stop()?;
    if report.has_foreign_loss() {
        tracing::warn!(row = task.name, "packets were lost outside the emulated queue: {report:?}");
    }
    let schedule = match task.direction {
        Direction::Uplink => &task.up,
        Direction::Downlink => &task.down,
    };
    let passages = passages(&report.records, task.direction, started);
    Figures::of(&passages, window, |from, to| opportunities(schedule, from, to))
        .ok_or_else(|| Failed::at(&task.name, "no full packet was delivered in the window"))
}

/// mm-link's log of a direction's packets, without those that still waited at the end.
fn passages(records: &[PacketRecord], direction: Direction, started: HostInstant) -> Vec<Passage> {
    let millis = |at: HostInstant| u64::try_from((at - started).as_millis()).unwrap_or(u64::MAX);
    records
        .iter()
        .filter(|record| record.direction == direction)
        .filter_map(|record| match record.outcome {
            Outcome::Delivered { joined, left, .. } => Some(Passage {
                arrived_ms: millis(joined),
                departed_ms: millis(left),
                size: record.size,
            }),
            Outcome::Dropped { .. } | Outcome::Refused { .. } => None,
        })
        .collect()
}

/// Opportunities in milliseconds `from..=to` of a schedule.
pub(crate) fn opportunities(schedule: &Schedule, from: u64, to: u64) -> u64 {
    let capacity = schedule.capacity(Duration::from_millis(from), Duration::from_millis(to + 1));
    capacity.count() / sounding_trace::OPPORTUNITY_PAYLOAD.count()
}
