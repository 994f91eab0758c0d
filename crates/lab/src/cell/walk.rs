//! A device carried through a street while it sends and receives all it can (Gandalf §3.1.3), and one that stands.

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig, Rat};
use sounding_cell::radio::{ModelConfig, Position, PropagationConfig, TrajectoryConfig};
use sounding_units::HostInstant;

use super::reader::Heard;
use super::retransmission::{
    downlink_rlc_ms, error_percent, repeat_delays, uplink_rlc_ms,
};
use super::rig::{ORIGIN, Rig, saturate};
use super::spread::quantile;
use super::{Measured, Noted};

/// Band 3, 20 MHz.
pub(super) fn lte() -> CarrierConfig {
    CarrierConfig::default()
}

/// Band n78, 40 MHz at 30 kHz, by one of the two patterns that Gandalf met.
pub(super) fn nr(pattern: &str) -> CarrierConfig {
    CarrierConfig {
        rat: Rat::Nr,
        numerology: 1,
        prb: 106,
        tdd: Some(pattern.into()),
        arfcn: 636_666,
        pci: 700,
        frequency_mhz: 3_550.0,
        ..CarrierConfig::default()
    }
}

/// Gandalf §B.3.3.
pub(super) const PATTERNS: [&str; 2] = ["DDDSUDDSUU", "DDDDDDDSUU"];

fn channel() -> ModelConfig {
    ModelConfig::Propagation(PropagationConfig::default())
}

/// Someone who walks about within a few hundred metres of a site.
fn walking() -> DeviceConfig {
    let trajectory = TrajectoryConfig::RandomWaypoint {
        corner: Position::new(60.0, 40.0),
        opposite: Position::new(320.0, 280.0),
        slowest_mps: 1.0,
        fastest_mps: 1.6,
        pause_s: 0.0,
    };
    DeviceConfig { trajectory, channel: channel(), ..DeviceConfig::default() }
}

/// Someone who sits there; where, the seed says.
pub(super) fn standing(seed: u64) -> DeviceConfig {
    let place = |salt: u64| (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(salt as u32) % 180) as f64;
    let at = Position::new(60.0 + place(7), 40.0 + place(31));
    DeviceConfig {
        trajectory: TrajectoryConfig::Static { at },
        channel: channel(),
        ..DeviceConfig::default()
    }
}

fn heard(carrier: CarrierConfig, span: Duration, seed: u64) -> Result<Heard, InvalidConfig> {
    let mut rig = Rig::new(vec![carrier], &[walking()], seed)?;
    let mut heard = Heard::default();
    let mut now: HostInstant = ORIGIN;
    while now < ORIGIN + span {
        saturate(&mut rig, now);
        rig.step(&mut |_, _| {}, &mut |log| heard.handle_log(log));
        now = now + Duration::from_millis(1);
    }
    Ok(heard)
}

/// What a modem's records tell of blocks that are lost and repeated.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    let lte = heard(lte(), span, seed)?;
    let five_g = heard(nr(PATTERNS[1]), span, seed)?;
    let median = |values: &[f64]| quantile(values, 0.5);
    into.note("mper.down", median(&error_percent(&five_g.down)));
    into.note("mper.up", median(&error_percent(&five_g.up)));
    into.note("mper.lte.down", median(&error_percent(&lte.down)));
    into.note("mper.lte.up", median(&error_percent(&lte.up)));
    for (name, blocks) in [("harq.lte.down", &lte.down), ("harq.lte.up", &lte.grants)] {
        let delays: Vec<f64> =
            repeat_delays(blocks).into_iter().map(|(_, nanos)| nanos as f64 / 1e6).collect();
        into.note(name, median(&delays));
    }
    let other = heard(nr(PATTERNS[0]), span, seed)?;
    into.note("harq.nr.a", Some(agreement(&other, &TABLES[0])));
    into.note("harq.nr.b", Some(agreement(&five_g, &TABLES[1])));
    for (name, delays) in [
        ("rlc.lte", [downlink_rlc_ms(&lte), uplink_rlc_ms(&lte)].concat()),
        ("rlc.nr", [downlink_rlc_ms(&five_g), uplink_rlc_ms(&five_g)].concat()),
    ] {
        into.all(name, delays);
    }
    Ok(())
}

/// Gandalf Tables 4 to 6: slot of the pattern, and slots until the repeat.
struct Table {
    down: &'static [(u8, u64)],
    up: &'static [(u8, u64)],
}

const TABLES: [Table; 2] = [
    Table {
        down: &[(0, 10), (1, 14), (2, 13), (3, 12), (5, 10), (6, 14), (7, 13)],
        up: &[(4, 10), (9, 10)],
    },
    Table {
        down: &[(0, 13), (1, 12), (2, 12), (3, 11), (4, 10), (5, 9), (6, 17), (7, 16)],
        up: &[(8, 10), (9, 9)],
    },
];

/// The share of the table's slots whose blocks come again after just so many slots, in percent: by the median, since a
/// repeat waits where others are sent.
fn agreement(heard: &Heard, table: &Table) -> f64 {
    const SLOT: f64 = 500_000.0;
    let (mut slots, mut agree) = (0.0, 0.0);
    for (blocks, rows) in [(&heard.down, table.down), (&heard.up, table.up)] {
        let delays = repeat_delays(blocks);
        for &(slot, after) in rows {
            let of: Vec<f64> = delays
                .iter()
                .filter(|(from, _)| from % 10 == slot)
                .map(|(_, nanos)| *nanos as f64 / SLOT)
                .collect();
            slots += 1.0;
            agree += f64::from(u8::from(quantile(&of, 0.5) == Some(after as f64)));
        }
    }
    100.0 * agree / slots
}
