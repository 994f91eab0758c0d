//! The scenes of the stack's runs in the model: 25 resource blocks, a request every 20 ms, a device
//! that stands still, and a channel without losses.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_cell::Direction;
use sounding_cell::Passage;
use sounding_cell::config::{
    CarrierConfig, DeviceConfig, HarqConfig, InvalidConfig, NetworkKind, PowerConfig, UplinkConfig,
};
use sounding_cell::radio::{AdaptConfig, ModelConfig, ScriptConfig};
use sounding_units::HostInstant;

use super::{Phase, Run};
use crate::fidelity::cell::reader::Heard;
use crate::fidelity::cell::rig::{ORIGIN, Packets, Rig, saturate};

/// At this level the largest block has about the stack's 1,335 bytes: it grants 20 of the 25
/// resource blocks at most.
const SNR_DB: f32 = 17.0;

/// Adaptation stays so far below the level: no block is lost, as in the stack's runs.
const MARGIN_DB: f32 = -3.0;

/// From the beginning of a block's TTI to the packets in it; the stack's air is simulated, and its
/// log counts TTIs alone.
const DECODED: Duration = Duration::from_micros(2_500);

/// The stack's network, with this periodicBSR-Timer.
pub(super) fn device(network: NetworkKind, timer_ms: u64) -> DeviceConfig {
    DeviceConfig {
        channel: ModelConfig::Script(ScriptConfig::constant(30.0)),
        power: PowerConfig { target_snr_db: SNR_DB, ..PowerConfig::default() },
        adapt_downlink: AdaptConfig {
            step_db: 0.0,
            initial_offset_db: MARGIN_DB,
            ..AdaptConfig::DOWNLINK
        },
        adapt_uplink: AdaptConfig {
            step_db: 0.0,
            initial_offset_db: MARGIN_DB,
            ..AdaptConfig::UPLINK
        },
        scheduling: UplinkConfig {
            network,
            sr_period: Duration::from_millis(20),
            periodic_bsr: Duration::from_millis(timer_ms),
            retx_bsr: Duration::from_millis(2_560),
            ..UplinkConfig::default()
        },
        harq: HarqConfig { misheard: 0.0, ..HarqConfig::default() },
        ..DeviceConfig::default()
    }
}

fn rig(network: NetworkKind, timer_ms: u64, seed: u64) -> Result<Rig, InvalidConfig> {
    let carrier = CarrierConfig { prb: 25, layers: 1, ..CarrierConfig::default() };
    Rig::new(vec![carrier], &[device(network, timer_ms)], seed)
}

/// All scenes of one run.
pub fn run(
    network: NetworkKind,
    timer_ms: u64,
    span: Duration,
    seed: u64,
) -> Result<Run, InvalidConfig> {
    Ok(Run {
        stream: stream(network, timer_ms, span, seed)?,
        acks: acks(network, timer_ms, span, seed)?,
        pings: pings(network, timer_ms, span, seed)?,
    })
}

/// The time between the stream's packets in the stack's TTIs, µs: it ran slower than real time, and
/// not equally slow in both runs. For any other timer the mean of both.
fn gap_us(timer_ms: u64) -> u64 {
    match timer_ms {
        5 => 4_670,
        20 => 5_200,
        _ => 4_935,
    }
}

/// The TTIs do not pass evenly beside the stream's clock: gaps between packets are 0 to 12 of them.
const JITTER_US: u64 = 5_000;

/// Packets of 1,250 bytes at the stack's rate.
fn stream(
    network: NetworkKind,
    timer_ms: u64,
    span: Duration,
    seed: u64,
) -> Result<Phase, InvalidConfig> {
    const SIZE: u64 = 1_250;
    let mut rig = rig(network, timer_ms, seed)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let gap = gap_us(timer_ms);
    let mut at = Duration::ZERO;
    for number in 0..span.as_micros() as u64 / gap {
        let due = Duration::from_micros(gap * number + rng.random_range(0..JITTER_US));
        // A late packet holds up those behind it.
        at = at.max(due);
        rig.send(Packets { at: ORIGIN + at, up: true, size: SIZE, number });
    }
    let mut phase = Phase::default();
    let mut heard = Heard::default();
    for _ in 0..span.as_millis() as u64 {
        rig.step(
            &mut |came, _| {
                phase.delays_ms.push(ttis(&came.passage));
            },
            &mut |log| heard.handle_log(log),
        );
    }
    Ok(with_reports(phase, &heard, &rig))
}

/// A download with all that the carrier has; every second packet is confirmed.
fn acks(
    network: NetworkKind,
    timer_ms: u64,
    span: Duration,
    seed: u64,
) -> Result<Phase, InvalidConfig> {
    const CONFIRMS: u64 = 52;
    let mut rig = rig(network, timer_ms, seed)?;
    let (mut phase, mut heard) = (Phase::default(), Heard::default());
    let mut count = 0_u64;
    for ms in 0..span.as_millis() as u64 {
        saturate(&mut rig, Direction::Downlink, ORIGIN + Duration::from_millis(ms));
        rig.step(
            &mut |came, send| {
                if came.direction == Direction::Uplink {
                    phase.delays_ms.push(ttis(&came.passage));
                    return;
                }
                count += 1;
                if count.is_multiple_of(2) {
                    let at = came.passage.delivered;
                    send(Packets { at, up: true, size: CONFIRMS, number: 0 });
                }
            },
            &mut |log| heard.handle_log(log),
        );
    }
    Ok(with_reports(phase, &heard, &rig))
}

/// A ping each 100 ms of the stack's clock.
fn pings(
    network: NetworkKind,
    timer_ms: u64,
    span: Duration,
    seed: u64,
) -> Result<Phase, InvalidConfig> {
    const SIZE: u64 = 84;
    /// No multiple of the period of requests.
    const EVERY_US: u64 = 90_370;
    let mut rig = rig(network, timer_ms, seed)?;
    let at = |number| ORIGIN + Duration::from_micros(EVERY_US * number);
    for number in 0..span.as_micros() as u64 / EVERY_US {
        rig.send(Packets { at: at(number), up: true, size: SIZE, number });
    }
    let (mut phase, mut heard) = (Phase::default(), Heard::default());
    for _ in 0..span.as_millis() as u64 {
        rig.step(
            &mut |came, send| {
                let (number, back) = (came.number, came.passage.delivered);
                if came.direction == Direction::Uplink {
                    send(Packets { at: back, up: false, size: SIZE, number });
                } else {
                    phase.delays_ms.push((back - at(number)).as_secs_f64() * 1e3);
                }
            },
            &mut |log| heard.handle_log(log),
        );
    }
    Ok(with_reports(phase, &heard, &rig))
}

/// A packet's delay as the stack's logs have it: from the TTI in which it enters to that of the
/// block that completes it.
fn ttis(passage: &Passage) -> f64 {
    let tti = |at: HostInstant| at.as_nanos() / 1_000_000;
    (tti(passage.delivered.saturating_before(DECODED)) - tti(passage.entered)) as f64
}

fn with_reports(mut phase: Phase, heard: &Heard, rig: &Rig) -> Phase {
    phase.reports = heard.reports.len();
    phase.empty = heard.reports.iter().filter(|(_, told)| *told == 0).count();
    phase.answers_ms = rig.answers.iter().map(|slots| *slots as f64).collect();
    phase
}
