//! Round trips at 2 Mbit/s, without congestion (Gandalf §3.3): packets at random times, each
//! answered by 40 bytes.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_cell::Direction;
use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig};
use sounding_experiment::metrics::quantile;

use super::rig::{ORIGIN, Packets, Rig};
use super::walk::{PATTERNS, lte, nr, on_lte, standing};
use super::{Measured, Noted};

/// The 95th percentile of the round trips minus their 5th, in ms.
fn range_ms(
    carrier: CarrierConfig,
    device: DeviceConfig,
    span: Duration,
    seed: u64,
) -> Result<Option<f64>, InvalidConfig> {
    const SIZE: u64 = 1_500;
    const ANSWER: u64 = 40;
    const MEAN_GAP_S: f64 = SIZE as f64 * 8.0 / 2e6;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rig = Rig::new(vec![carrier], &[device], seed)?;
    let mut sent = Vec::new();
    let mut at = ORIGIN;
    while at < ORIGIN + span {
        rig.send(Packets { at, up: false, size: SIZE, number: sent.len() as u64 });
        sent.push(at);
        let uniform: f64 = rng.random();
        at = at + Duration::from_secs_f64(-MEAN_GAP_S * (1.0 - uniform).ln());
    }
    let mut round_trips = Vec::new();
    for _ in 0..span.as_millis() as u64 + 1_000 {
        rig.step(
            &mut |came, send| match came.direction {
                Direction::Downlink => send(Packets {
                    at: came.passage.delivered,
                    up: true,
                    size: ANSWER,
                    number: came.number,
                }),
                Direction::Uplink => {
                    let took = came.passage.delivered - sent[came.number as usize];
                    round_trips.push(took.as_secs_f64() * 1e3);
                }
            },
            &mut |_| {},
        );
    }
    let at = |part| quantile(&round_trips, part);
    Ok(at(0.95).zip(at(0.05)).map(|(late, soon)| late - soon))
}

/// Both RATs.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    into.note("rtt.lte", range_ms(lte(), on_lte(standing(seed)), span, seed)?);
    into.note("rtt.nr", range_ms(nr(PATTERNS[1]), standing(seed), span, seed)?);
    Ok(())
}
