//! The other users of a cell (PBE-CC §4.2.1, Fig. 7), and when a second cell is added (PBE-CC §3,
//! Fig. 2).

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_cell::Direction;
use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig};
use sounding_cell::radio::{DelayProfile, FadingConfig, ModelConfig, ScriptConfig};
use sounding_cell::traffic::Traffic;
use sounding_trace::dci::Dci;
use sounding_units::Bytes;

use super::reader::{Heard, TURN};
use super::rig::{ORIGIN, Packets, Rig};
use super::walk::lte;
use super::{Measured, Noted};

/// A user of a span of 40 ms, as a sniffer counts it.
#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    subframes: u32,
    prb: u32,
}

/// PBE-CC's busy tower: many users that only receive parameters, and a handful that stand still and
/// sometimes download, as in the busy places of `papers/pbe-cc/table1.toml`.
fn tower() -> (CarrierConfig, Vec<DeviceConfig>) {
    const CONTROL_USERS_PER_SEC: f64 = 360.0;
    let carrier = CarrierConfig { control_users_per_sec: CONTROL_USERS_PER_SEC, ..lte() };
    let fading = FadingConfig {
        profile: DelayProfile::Epa,
        rician_k_db: Some(13.0),
        ..FadingConfig::default()
    };
    let good = ModelConfig::Script(ScriptConfig { fading, ..ScriptConfig::constant(14.0) });
    let (mean, most) = (Bytes::new(25_000), Bytes::new(500_000));
    let user = |_| DeviceConfig {
        channel: good.clone(),
        traffic: Some(Traffic::Objects { per_sec: 4.2, mean, most }),
        ..DeviceConfig::default()
    };
    (carrier, (0..10).map(user).collect())
}

/// Users in 40 ms.
pub(super) fn users(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    let (carrier, devices) = tower();
    let mut rig = Rig::new(vec![carrier], &devices, seed)?;
    rig.sniff();
    for _ in 0..span.as_millis() {
        rig.step(&mut |_, _| {}, &mut |_| {});
    }
    let windows = windows(&rig.dcis.take().unwrap_or_default(), span);
    let count = |passes: fn(&Activity) -> bool| -> Vec<usize> {
        windows.iter().map(|users| users.values().filter(|user| passes(user)).count()).collect()
    };
    let mean = |counts: &[usize]| counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64;
    let most = |counts: &[usize]| counts.iter().max().map(|&most| most as f64);
    let all = count(|_| true);
    let usual = count(|user| (user.subframes, user.prb) == (1, 4));
    let with_data = count(|user| user.subframes > 1 && user.prb > 4 * user.subframes);
    into.note("users.mean", Some(mean(&all)));
    into.note("users.most", most(&all));
    into.note("users.usual", Some(100.0 * mean(&usual) / mean(&all)));
    into.note("users.data.mean", Some(mean(&with_data)));
    into.note("users.data.most", most(&with_data));
    Ok(())
}

/// Users of each 40 ms by their RNTI.
fn windows(dcis: &[Dci], span: Duration) -> Vec<BTreeMap<u16, Activity>> {
    const WINDOW: Duration = Duration::from_millis(40);
    let count = (span.as_millis() / WINDOW.as_millis()) as usize;
    let mut windows = vec![BTreeMap::<u16, Activity>::new(); count];
    for dci in dcis {
        let at = (dci.moment.time.as_millis() / WINDOW.as_millis()) as usize;
        if let Some(users) = windows.get_mut(at) {
            let user = users.entry(dci.rnti).or_default();
            user.subframes += 1;
            user.prb += u32::from(dci.prb);
        }
    }
    windows
}

/// 40 Mbit/s for two seconds over a carrier that holds less, then 6 (PBE-CC Fig. 2).
pub(super) fn aggregation(seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    const HIGH_S: f64 = 2.0;
    const SIZE: u64 = 1_500;
    let carrier = CarrierConfig { prb: 50, layers: 1, ..lte() };
    let second = CarrierConfig { uplink: false, pci: 2, ..carrier.clone() };
    let device = DeviceConfig {
        cells: vec![vec![0, 1]],
        channel: ModelConfig::Script(ScriptConfig::constant(16.0)),
        ..DeviceConfig::default()
    };
    let mut rig = Rig::new(vec![carrier, second], &[device], seed)?;
    let mut at = 0.0;
    while at < 2.0 * HIGH_S {
        let mbit = if at < HIGH_S { 40.0 } else { 6.0 };
        let at_s = Duration::from_secs_f64(at);
        rig.send(Packets { at: ORIGIN + at_s, up: false, size: SIZE, number: 0 });
        at += SIZE as f64 * 8.0 / (mbit * 1e6);
    }
    let mut heard = Heard::default();
    let mut delays = Vec::new();
    for _ in 0..(2_000.0 * HIGH_S) as u64 {
        rig.step(
            &mut |came, _| {
                if came.direction == Direction::Downlink {
                    let passage = came.passage;
                    let entered = passage.entered - ORIGIN;
                    delays.push((entered.as_secs_f64(), passage.delivered - passage.entered));
                }
            },
            &mut |log| heard.handle_log(log),
        );
    }
    let on_second = heard.down.iter().filter(|block| block.process.is_some_and(|p| p >> 8 == 1));
    let at = |nanos: u64| nanos.saturating_sub(TURN) as f64 / 1e9;
    let used: Vec<f64> = on_second.map(|block| at(block.at)).collect();
    into.note("ca.first", used.iter().copied().reduce(f64::min));
    into.note("ca.last", used.iter().copied().reduce(f64::max).map(|last| last - HIGH_S));
    // The queue of one carrier is empty when no packet is late by more than one or two repetitions.
    const QUEUED: Duration = Duration::from_millis(30);
    let late = delays.iter().filter(|(entered, delay)| *entered < HIGH_S && *delay > QUEUED);
    into.note(
        "ca.drained",
        late.map(|(entered, delay)| entered + delay.as_secs_f64()).reduce(f64::max),
    );
    Ok(())
}

/// Both figures.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    users(span, seed, into)?;
    aggregation(seed, into)
}
