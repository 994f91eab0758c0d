//! A device that moves through a street with saturated uplink and downlink (Gandalf §3.1.3), and
//! one at rest.

use std::time::Duration;

use sounding_cell::Direction;
use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig, Rat};
use sounding_cell::radio::{
    InterferenceConfig, ModelConfig, Position, PropagationConfig, TrajectoryConfig,
};
use sounding_experiment::metrics::{mean, quantile};
use sounding_units::HostInstant;

use super::reader::Heard;
use super::retransmission::{downlink_rlc_ms, error_percent, repeat_delays, uplink_rlc_ms};
use super::rig::{ORIGIN, Packets, Rig, saturate};
use super::{Measured, Noted};

/// Band 3, 20 MHz.
pub(super) fn lte() -> CarrierConfig {
    CarrierConfig { qam256: true, ..CarrierConfig::default() }
}

/// As most LTE networks in captures of 2016 to 2021 set a device up: requests every 20 or 40 ms,
/// where NR's default is 10, and P0 of -87 dBm with an α of 0.8, which at 95 dB of loss is 7 dB
/// over a base station's noise.
pub(super) fn on_lte(mut device: DeviceConfig) -> DeviceConfig {
    device.scheduling.sr_period = Duration::from_millis(20);
    device.power.target_snr_db = 7.0;
    device
}

/// The timers of RLC in those captures that show uplink repetitions and the configuration.
fn with_long_timers(mut device: DeviceConfig) -> DeviceConfig {
    for bearer in [&mut device.downlink, &mut device.uplink] {
        bearer.t_reordering = Duration::from_millis(60);
        bearer.t_status_prohibit = Duration::from_millis(40);
        bearer.t_poll_retransmit = Duration::from_millis(65);
    }
    device
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
        qam256: true,
        ..CarrierConfig::default()
    }
}

/// Gandalf §B.3.3.
pub(super) const PATTERNS: [&str; 2] = ["DDDSUDDSUU", "DDDDDDDSUU"];

/// A street in a city, where the cells around are louder than at a cell's middle.
fn channel() -> ModelConfig {
    let interference = InterferenceConfig { over_noise_db: 15.0, ..InterferenceConfig::default() };
    ModelConfig::Propagation(PropagationConfig { interference, ..PropagationConfig::default() })
}

/// A device that is walked about within a few hundred metres of a site.
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

/// A device that stays in one place, given by the seed.
pub(super) fn standing(seed: u64) -> DeviceConfig {
    let place = |salt: u64| {
        (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(salt as u32) % 180) as f64
    };
    let at = Position::new(60.0 + place(7), 40.0 + place(31));
    DeviceConfig {
        trajectory: TrajectoryConfig::Static { at },
        channel: channel(),
        ..DeviceConfig::default()
    }
}

/// An upload, or a download whose every second packet is confirmed, as TCP's receivers do.
fn heard(
    carrier: CarrierConfig,
    device: DeviceConfig,
    direction: Direction,
    span: Duration,
    seed: u64,
) -> Result<Heard, InvalidConfig> {
    const CONFIRMS: u64 = 52;
    let mut rig = Rig::new(vec![carrier], &[device], seed)?;
    let mut heard = Heard::default();
    let mut count = 0_u64;
    let mut now: HostInstant = ORIGIN;
    while now < ORIGIN + span {
        saturate(&mut rig, direction, now);
        let up = direction == Direction::Downlink;
        rig.step(
            &mut |came, send| {
                if came.direction == direction {
                    count += 1;
                    if count.is_multiple_of(2) {
                        let at = came.passage.delivered;
                        send(Packets { at, up, size: CONFIRMS, number: 0 });
                    }
                }
            },
            &mut |log| heard.handle_log(log),
        );
        now = now + Duration::from_millis(1);
    }
    Ok(heard)
}

/// Seconds in which a walker is at one place, some seven metres.
const PLACE: usize = 5;

/// Lost and repeated blocks in a modem's records.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    use Direction::{Downlink, Uplink};
    let device = |carrier: &CarrierConfig| match carrier.rat {
        Rat::Lte => on_lte(walking()),
        Rat::Nr => walking(),
    };
    let heard_on = |carrier: CarrierConfig, direction| {
        let device = device(&carrier);
        heard(carrier, device, direction, span, seed)
    };
    let ms = |delays: Vec<(u8, u64)>| -> Vec<f64> {
        delays.into_iter().map(|(_, nanos)| nanos as f64 / 1e6).collect()
    };
    let median = |values: &[f64]| quantile(values, 0.5);

    let (down, up) = (heard_on(lte(), Downlink)?, heard_on(lte(), Uplink)?);
    for (figure, seconds, blocks) in [
        ("mper.lte.down", "seconds.lte.down", &down.down),
        ("mper.lte.up", "seconds.lte.up", &up.up),
    ] {
        let errors = error_percent(blocks);
        into.note(figure, median(&errors));
        into.all(seconds, errors);
    }
    into.note("harq.lte.down", median(&ms(repeat_delays(&down.down))));
    into.note("harq.lte.up", median(&ms(repeat_delays(&up.grants))));
    into.all("rlc.lte", [downlink_rlc_ms(&down), uplink_rlc_ms(&up)].concat());

    let (down, up) = (heard_on(nr(PATTERNS[1]), Downlink)?, heard_on(nr(PATTERNS[1]), Uplink)?);
    let repeats = [downlink_rlc_ms(&down), uplink_rlc_ms(&up)];
    for (figure, pools, blocks, repeats) in [
        (
            "mper.down",
            ["seconds.nr.down", "places.nr.down", "marks.nr.down"],
            &down.down,
            &repeats[0],
        ),
        ("mper.up", ["seconds.nr.up", "places.nr.up", "marks.nr.up"], &up.up, &repeats[1]),
    ] {
        let errors = error_percent(blocks);
        let [seconds, places, marks] = pools;
        into.note(figure, median(&errors));
        into.all(places, errors.chunks_exact(PLACE).map(mean).collect::<Vec<_>>());
        into.all(marks, vec![repeats.len() as f64 * 60.0 / span.as_secs_f64()]);
        into.all(seconds, errors);
    }
    into.all("rlc.nr", repeats.concat());
    let slots = by_slot(&down, &up, 1);
    into.note("harq.nr.b", Some(agreement(&slots)));
    slots.into_iter().for_each(|slot| into.slot(slot));
    let (down, up) = (heard_on(nr(PATTERNS[0]), Downlink)?, heard_on(nr(PATTERNS[0]), Uplink)?);
    let slots = by_slot(&down, &up, 0);
    into.note("harq.nr.a", Some(agreement(&slots)));
    slots.into_iter().for_each(|slot| into.slot(slot));

    for (carrier, name) in [(lte(), "rlc.lte.long"), (nr(PATTERNS[1]), "rlc.nr.long")] {
        let long = |direction| {
            heard(carrier.clone(), with_long_timers(device(&carrier)), direction, span, seed)
        };
        let (down, up) = (long(Downlink)?, long(Uplink)?);
        into.all(name, [downlink_rlc_ms(&down), uplink_rlc_ms(&up)].concat());
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

/// A slot of a pattern, and after how many slots its lost blocks are sent again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SlotDelay {
    /// The pattern's place in [`PATTERNS`].
    pub(crate) pattern: usize,
    pub(crate) up: bool,
    pub(crate) slot: u8,
    /// The paper's.
    pub(crate) paper: u64,
    /// The shortest; `None` if nothing was lost in this slot.
    pub(crate) ours: Option<f64>,
}

/// All slots of a pattern. A retransmission may be later than the shortest: a device gets one block
/// in a slot, and two lost blocks may be due in the same slot.
fn by_slot(down: &Heard, up: &Heard, pattern: usize) -> Vec<SlotDelay> {
    const SLOT: f64 = 500_000.0;
    let table = &TABLES[pattern];
    let ways = [(false, &down.down, table.down), (true, &up.up, table.up)];
    let mut found = Vec::new();
    for (up, blocks, rows) in ways {
        let delays = repeat_delays(blocks);
        for &(slot, paper) in rows {
            let of: Vec<f64> = delays
                .iter()
                .filter(|(from, _)| from % 10 == slot)
                .map(|(_, nanos)| *nanos as f64 / SLOT)
                .collect();
            let ours = quantile(&of, 0.0);
            found.push(SlotDelay { pattern, up, slot, paper, ours });
        }
    }
    found
}

/// The part of these slots whose blocks are retransmitted after exactly the paper's number of slots
/// and never sooner, in percent.
fn agreement(slots: &[SlotDelay]) -> f64 {
    let agree = slots.iter().filter(|slot| slot.ours == Some(slot.paper as f64)).count();
    100.0 * agree as f64 / slots.len() as f64
}
