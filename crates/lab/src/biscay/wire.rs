//! A wire that gets narrower than the radio and wide again: how soon a controller knows (BISCAY §5.3.6, Fig. 10).

use std::time::Duration;

use serde::Serialize;
use sounding_cell::config::{CarrierConfig, DeviceConfig, InvalidConfig};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_sim::world::{Event, Flow, Listening};
use sounding_sim::{Device, PathConfig, Port, Radio, Wired, World};
use sounding_trace::{Steps, Trace};
use sounding_units::HostInstant;

use super::Plan;
use super::course::{self, Course, Entrant, Passage};
use crate::radio::RadioLink;

/// What a controller made of one stretch in which the wire was the narrower.
#[derive(Clone, Debug, Serialize)]
pub struct Crossing {
    /// Who.
    pub controller: String,
    /// The seed of a cell that grants what is asked for; none over a link that is given.
    pub cell: Option<u64>,
    /// What the wire carried, Mbit/s.
    pub wire_mbit_per_sec: f64,
    /// Until it went over to the controller for wires, ms; `None` if it never did.
    pub found_ms: Option<f64>,
    /// From when the wire was wide again until it came back, ms; `None` if it never did.
    pub back_ms: Option<f64>,
    /// What got through meanwhile, over what the wire carried, the first second left out.
    pub used: f64,
    /// The 95th percentile of queueing meanwhile, the first second left out, ms.
    pub queueing_p95_ms: f64,
    /// How often it changed its mind there.
    pub changes: usize,
}

/// What the radio carries: more than any stretch of the wire but the wide ones.
const RADIO_BYTES_PER_MS: u64 = 3_750;

/// Each controller of the plan over both.
pub fn crossings(plan: &Plan, wire: &Steps) -> Result<Vec<Crossing>, InvalidConfig> {
    let mut crossings = Vec::new();
    for controller in &plan.controllers {
        let course = Course {
            delay: plan.delay,
            until: plan.duration,
            every: None,
            wire: Some(wire.clone()),
            seed: 1,
        };
        let entrant = Entrant { controller, begins: Duration::ZERO };
        let given = course::run(&constant(plan.duration), &course, &[entrant]);
        crossings.extend(of(controller, None, wire, &given, plan.duration));
        for seed in 1..=plan.seeds {
            let cell = over_cell(controller, &Course { seed, ..course.clone() })?;
            crossings.extend(of(controller, Some(seed), wire, &cell, plan.duration));
        }
    }
    Ok(crossings)
}

/// A radio that never changes.
fn constant(span: Duration) -> RadioLink {
    let packet = sounding_trace::OPPORTUNITY_PAYLOAD.count();
    let millis = (0..1_000_u64).flat_map(|ms| {
        let count = RADIO_BYTES_PER_MS * (ms + 1) / packet - RADIO_BYTES_PER_MS * ms / packet;
        (0..count).map(move |_| ms as u32 + 1)
    });
    let trace = Trace::from_millis(millis.collect()).expect("times that grow");
    RadioLink::of_trace("constant", trace, span + Duration::from_secs(1))
}

fn over_cell(controller: &str, course: &Course) -> Result<Passage, InvalidConfig> {
    let origin = HostInstant::default();
    let carrier = CarrierConfig { prb: 75, ..CarrierConfig::default() };
    let channel = ModelConfig::Script(ScriptConfig::constant(22.0));
    let device = DeviceConfig { channel, ..DeviceConfig::default() };
    let mut radio = Radio::new(vec![carrier], course.seed)?;
    radio.add_listened(device, ModemConfig::default(), Duration::from_millis(1))?;
    let steps = course.wire.clone().unwrap_or_else(|| Steps::constant(course::WIDE));
    let up = PathConfig { delay: course.delay, ..PathConfig::new(steps) };
    let down = PathConfig { delay: course.delay, ..PathConfig::new(Steps::constant(course::WIDE)) };
    let mut world = World::new(Wired::new(radio, &up, &down, origin), course.seed);
    let port = Port::up(Device(0));
    let listening = Listening { latency: Duration::from_millis(1), ..Listening::new(port) };
    world.listen(listening.told([controller]));
    let make =
        sounding_cc::by_name(controller).unwrap_or(|start| Box::new(sounding_cc::Bbr::new(start)));
    world.add_flow(Flow::bulk(port, make));
    let mut passage = Passage::default();
    world.observe_until(origin + course.until, &mut |now: HostInstant, event: &Event<'_>| {
        passage.handle_event(now, event);
    });
    Ok(passage)
}

fn is_wired(state: &str) -> bool {
    matches!(state, "fallback: narrow" | "elsewhere")
}

fn of(
    controller: &str,
    cell: Option<u64>,
    wire: &Steps,
    passage: &Passage,
    until: Duration,
) -> Vec<Crossing> {
    const WIDE_FROM: f64 = 100.0;
    const SETTLED: Duration = Duration::from_secs(1);
    let steps = wire.steps();
    let ms = |span: Duration| span.as_secs_f64() * 1e3;
    let mut crossings = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let rate = step.rate.mbit_per_sec();
        if rate >= WIDE_FROM {
            continue;
        }
        let wide = steps.get(at + 1).map_or(until, |next| next.at);
        let ends = steps.get(at + 2).map_or(until, |next| next.at);
        let within = |from: Duration, to: Duration| {
            passage.states.iter().filter(move |(at, _)| (from..to).contains(at))
        };
        let found = within(step.at, wide).find(|(_, state)| is_wired(state));
        let was = passage.states.iter().rev().find(|(at, _)| *at < wide);
        let back = was
            .filter(|(_, state)| is_wired(state))
            .and_then(|_| within(wide, ends).find(|(_, state)| !is_wired(state)));
        let from = step.at + SETTLED;
        let packets = passage.arrivals.iter().filter(|packet| (from..wide).contains(&packet.at));
        let mut queueing: Vec<f64> = packets.clone().map(|packet| ms(packet.queueing)).collect();
        queueing.sort_by(f64::total_cmp);
        if queueing.is_empty() {
            continue;
        }
        let bytes: u64 = packets.map(|packet| packet.size).sum();
        crossings.push(Crossing {
            controller: controller.into(),
            cell,
            wire_mbit_per_sec: rate,
            found_ms: found.map(|(at, _)| ms(*at - step.at)),
            back_ms: back.map(|(at, _)| ms(*at - wide)),
            used: bytes as f64 * 8e-6 / (wide - from).as_secs_f64() / rate,
            queueing_p95_ms: crate::metrics::nearest_rank(&queueing, 0.95),
            changes: within(step.at, wide).filter(|(_, state)| is_wired(state)).count(),
        });
    }
    crossings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sounding_finds_a_wire_within_a_second_and_is_back_within_one_once_it_is_wide_again() {
        let wire: Steps =
            "0s 1000Mbit, 5s 5Mbit, 11s 1000Mbit, 14s 10Mbit, 20s 1000Mbit".parse().unwrap();
        let until = Duration::from_secs(23);
        let delay = Duration::from_millis(20);
        for seed in 1..=3 {
            let course = Course { delay, until, every: None, wire: Some(wire.clone()), seed };
            let passage = over_cell("sounding", &course).unwrap();
            let crossings = of("sounding", Some(seed), &wire, &passage, until);
            assert_eq!(crossings.len(), 2);
            for crossing in crossings {
                assert!(crossing.found_ms.is_some_and(|ms| ms <= 1_000.0), "{crossing:?}");
                assert!(crossing.back_ms.is_some_and(|ms| ms <= 1_000.0), "{crossing:?}");
                assert!(crossing.used >= 0.9 && crossing.changes <= 2, "{crossing:?}");
            }
        }
    }
}
