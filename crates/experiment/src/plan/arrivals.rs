//! Transfers that arrive at random, each a separate flow.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_sim::{Device, Port};
use sounding_units::Bytes;

use super::flow::per_sec;
use super::{Actor, Actors, Run, TrafficPlan};

/// One stream of lots for each flow of the plan, apart from those of places.
const ARRIVALS: u64 = 1 << 61;

/// A transfer of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it begins.
    pub at: Duration,
    /// Where.
    pub port: Port,
    /// How long it is.
    pub size: Bytes,
}

impl Arrival {
    /// Those of an actor, in order of time: a Poisson process, each at a device of the group that
    /// is drawn by lot. They follow from the seed and are the same whatever else the plan has.
    /// `None` of an actor with another traffic.
    pub fn all(run: &Run, actors: &Actors, actor: &Actor) -> Option<Vec<Self>> {
        let stated = &run.plan.flows[actor.plan];
        let TrafficPlan::Arrivals { load, sizes } = &stated.traffic else { return None };
        let portion = *sizes.get(actor.number as usize)?;
        let devices = actors.group(actor.port.device)?.devices.clone();
        let mut lots = ChaCha8Rng::seed_from_u64(run.seed);
        lots.set_stream(ARRIVALS + ((actor.plan as u64) << 8) + u64::from(actor.number));
        let per_sec = per_sec(*load, portion);
        let ends = stated.stop.min(run.plan.duration);
        let (mut all, mut at) = (Vec::new(), stated.start);
        if per_sec <= 0.0 {
            return Some(all);
        }
        loop {
            let wait = -libm::log(1.0 - lots.random::<f64>()) / per_sec;
            at = at.saturating_add(Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX));
            if at >= ends {
                break;
            }
            let port = Port { device: Device(lots.random_range(devices.clone())), ..actor.port };
            all.push(Self { at, port, size: portion.0 });
        }
        Some(all)
    }
}
