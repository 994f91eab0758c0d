//! A run of this kernel's flows over the same cell in real time.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use sounding_bpf::{Background, BackgroundConfig, BackgroundFlow, BackgroundPhase};
use sounding_emu::{Direction, Emulation, monotonic_now};
use sounding_experiment::plan::Text;
use sounding_sim::Device;
use sounding_sim::world::Traffic;
use sounding_testbed::emulate::{Emulated, Settings};
use sounding_testbed::flow::{FlowError, RunningTcp, TcpFlow, TcpResult};
use sounding_units::HostInstant;

use super::load::{Transfer, at_each_device, spread, transfers};
use super::{Plan, Scene, Seen, only, text};
use crate::experiment::Failed;

/// A connection that is made late takes its first segments with it.
const SAMPLES: Duration = Duration::from_millis(20);

pub(super) fn run(scene: Scene, plan: &Plan, seed: u64) -> Result<Seen, Failed> {
    let name = format!("bk_{}_{seed}", std::process::id());
    let loaded =
        Background::load(&BackgroundConfig { name: name.clone(), ..BackgroundConfig::default() })?;
    // The flows are this function's: the plan's are only there to have hosts.
    let lasting = plan.lasts + Duration::from_secs(60);
    let transfers = transfers(scene, plan.lasts, seed);
    let text = text(scene, lasting, "cubic", &at_each_device(scene));
    let text = Text::new("background", text, PathBuf::new());
    let settings = Settings::flows(&plan.program);
    let cell = Emulated::start(&only(text, seed)?, &settings)?;
    let download = |device, congestion: &str| {
        let flow = TcpFlow {
            device: Device(device),
            congestion: Some(congestion.into()),
            sample_every: SAMPLES,
            ..TcpFlow::new(Direction::Downlink)
        };
        flow.start(cell.emulation())
    };
    let third = plan.lasts / 3;
    let begun = monotonic_now();
    let background = download(0, &name)?;
    let running = start_all(&transfers, cell.emulation(), begun)?;
    sleep((begun + third) - monotonic_now());
    let rival = match scene {
        Scene::Rival => {
            let rival = download(1, "cubic")?;
            sleep(third);
            Some(rival.abort()?)
        }
        Scene::Alone => {
            sleep(third);
            None
        }
        Scene::Load(_) => None,
    };
    sleep((begun + plan.lasts) - monotonic_now());
    // SAFETY: the socket is open until the transfer is waited for.
    let socket = unsafe { BorrowedFd::borrow_raw(background.sender_socket()) };
    let flow =
        loaded.flow(socket).ok().flatten().ok_or("the flow does not run under background")?;
    let states = occupancy(&flow, monotonic_now());
    let background = background.stop()?;
    let short = short(running)?;
    cell.stop()?;
    let at = |number: u32| begun + third * number;
    let thirds = [0, 1, 2].map(|number| rate(&background, at(number), at(number + 1)));
    let rival = rival.map(|rival| rate(&rival, at(1) + Duration::from_secs(2), at(2)));
    Ok(Seen { rate: rate(&background, at(0), at(3)), thirds, rival, short, states })
}

/// A transfer that has begun at this time.
struct Running {
    transfer: Transfer,
    asked: HostInstant,
    flow: RunningTcp,
}

/// Starts each at its time. Returns after the last.
fn start_all(
    transfers: &[Transfer],
    emulation: &Emulation,
    begun: HostInstant,
) -> Result<Vec<Running>, FlowError> {
    let start = |&transfer: &Transfer| {
        sleep((begun + transfer.at) - monotonic_now());
        let asked = monotonic_now();
        let flow = TcpFlow {
            device: Device(transfer.device),
            congestion: Some("cubic".into()),
            traffic: Traffic::Finite(transfer.size),
            ..TcpFlow::new(Direction::Downlink)
        };
        Ok(Running { transfer, asked, flow: flow.start(emulation)? })
    };
    transfers.iter().map(start).collect()
}

/// What the short ones took that have ended; the rest are given up.
fn short(running: Vec<Running>) -> Result<Option<[f64; 2]>, FlowError> {
    let mut took = Vec::new();
    for Running { transfer, asked, flow } in running {
        let has_ended = flow.has_ended();
        let result = if has_ended { flow.wait()? } else { flow.abort()? };
        if has_ended && transfer.is_short() {
            took.push(result.ended - asked);
        }
    }
    Ok(spread(took))
}

fn occupancy(flow: &BackgroundFlow, now: HostInstant) -> [f64; 5] {
    let mut spent = flow.spent.map(|span| span.as_secs_f64());
    let current = BackgroundPhase::ALL.iter().position(|phase| *phase == flow.phase);
    spent[current.unwrap_or_default()] += (now - flow.since).as_secs_f64();
    let all: f64 = spent.iter().sum();
    spent.map(|spent| 100.0 * spent / all.max(f64::MIN_POSITIVE))
}

/// IP bytes in Mbit/s that were acknowledged between two times: a segment's headers are a part of
/// what the cell carried.
fn rate(result: &TcpResult, from: HostInstant, to: HostInstant) -> f64 {
    const WITH_HEADERS: f64 = 1500.0 / 1448.0;
    let acked = |time| {
        let before = result.samples.iter().take_while(|sample| sample.at <= time).last();
        before.map_or(0, |sample| sample.info.acked.count())
    };
    (acked(to) - acked(from)) as f64 * WITH_HEADERS * 8e-6 / (to - from).as_secs_f64()
}
