//! A controller that follows the radio's rate, over a link with a modem. The test covers the whole
//! chain: bytes, records, KPIs, estimate, window.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use common::{BDP, UP, at_secs, links, millis, named};
use sounding_cc::{Controller, Start, forward};
use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::Packet;
use sounding_kpi::Direction;
use sounding_link::DelayUpdate;
use sounding_sim::world::{Event, Flow, FlowId, Listening, Report, Segment};
use sounding_sim::{Device, Diag, Links, Network, Output, Path, Port, World};
use sounding_trace::{Schedule, Steps};
use sounding_units::{Bytes, HostInstant, ModemInstant};

const EPOCH: ModemInstant = ModemInstant::from_nanos(1 << 60);

/// A link and the Diag bytes of a modem that is granted all of it.
struct Radio {
    links: Links<Path<Segment>>,
    chunks: VecDeque<(HostInstant, Vec<u8>)>,
    now: HostInstant,
}

impl Radio {
    /// Each record reaches the host 5 ms after the modem stamped it.
    fn new(steps: &str, secs: u64) -> Self {
        let schedule: Schedule = steps.parse::<Steps>().unwrap().into();
        let per_ms: Vec<u64> = (0..secs * 1000)
            .map(|ms| schedule.capacity(millis(ms), millis(ms + 1)).count())
            .collect();
        let share = sounding_link::Config::new(UP.direction).ip_share_permille;
        let capture = sounding_modem::uplink_capture(&per_ms, EPOCH, share);
        let (mut chunks, mut deframer) = (VecDeque::new(), Deframer::new());
        let (mut input, mut begin) = (capture.as_slice(), 0);
        while let Some(frame) = deframer.poll_frame(&mut input) {
            let Ok(Packet::Log(record)) = Packet::parse(frame.unwrap().payload) else { continue };
            let at = HostInstant::default() + (record.at - EPOCH) + millis(5);
            let end = capture.len() - input.len();
            chunks.push_back((at, capture[begin..end].to_vec()));
            begin = end;
        }
        Self {
            links: links(schedule, 20 * BDP, HostInstant::default()),
            chunks,
            now: HostInstant::default(),
        }
    }
}

impl Network<Segment> for Radio {
    fn handle_packet(&mut self, now: HostInstant, port: Port, size: Bytes, payload: Segment) {
        self.links.handle_packet(now, port, size, payload);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.now = now;
        self.links.handle_time(now);
    }

    fn poll_output(&mut self) -> Option<(Port, Output<Segment>)> {
        self.links.poll_output()
    }

    fn wakeup(&self) -> Option<HostInstant> {
        let diag = self.chunks.front().map(|(at, _)| *at);
        [self.links.wakeup(), diag].into_iter().flatten().min()
    }

    fn poll_diag(&mut self) -> Option<Diag> {
        let (at, bytes) = self.chunks.pop_front_if(|(at, _)| *at <= self.now)?;
        Some(Diag { device: Device(0), at, bytes })
    }
}

const STEPS: &str = "0s 20Mbit, 10s 6Mbit, 20s 30Mbit, 30s 12Mbit";

fn race(controller: &str, latency: Option<Duration>) -> (Report, BTreeMap<&'static str, u32>) {
    let mut world = World::new(Radio::new(STEPS, 40), 1);
    if let Some(latency) = latency {
        world.listen(Listening { latency, ..Listening::new(UP) });
    }
    let flow = world.add_flow(Flow::bulk(UP, named(controller)));
    let mut states = BTreeMap::new();
    world.observe_until(at_secs(40), &mut |_: HostInstant, event: &Event<'_>| {
        if let Event::Acked { controller, .. } = event {
            *states.entry(controller.state()).or_default() += 1;
        }
    });
    (world.report(flow).clone(), states)
}

fn used(report: &Report) -> f64 {
    let schedule: Schedule = STEPS.parse::<Steps>().unwrap().into();
    report.utilisation(schedule.capacity(millis(0), millis(40_000)))
}

#[test]
fn biscay_carries_as_much_as_bbr_with_a_fraction_of_its_queue() {
    let (biscay, states) = race("biscay", Some(millis(2)));
    let (bbr, _) = race("bbr", None);
    let driven = f64::from(states["radio-limited"]) / f64::from(states.values().sum::<u32>());
    assert!(driven >= 0.98, "{states:?}");
    assert!(used(&biscay) >= 0.96, "{}", used(&biscay));
    assert!(used(&biscay) >= used(&bbr) - 0.01, "{} {}", used(&biscay), used(&bbr));
    let [ours, theirs] = [&biscay, &bbr].map(|report| report.queueing.quantile(0.95).unwrap());
    assert!(ours * 2 < theirs, "{ours:?} {theirs:?}");
}

#[test]
fn nothing_is_known_of_a_modem_that_is_not_read() {
    let (deaf, states) = race("biscay", None);
    let (bbr, _) = race("bbr", None);
    assert_eq!(states.keys().copied().collect::<Vec<_>>(), ["no-estimate"]);
    // The shadow controls the flow.
    assert_eq!((deaf.carried, deaf.one_way), (bbr.carried, bbr.one_way));
}

#[test]
fn a_host_that_reads_late_queues_longer() {
    let mean = |latency| race("biscay", Some(millis(latency))).0.queueing.mean().unwrap();
    let delays = [0, 100].map(mean);
    assert!(delays[0] < delays[1], "{delays:?}");
}

#[test]
fn two_flows_are_counted_as_two() {
    let mut world = World::new(Radio::new("20Mbit", 20), 1);
    world.listen(Listening::new(UP));
    let flows: Vec<FlowId> =
        [0, 5].map(|at| world.add_flow(Flow::bulk(UP, named("biscay")).begins(at_secs(at)))).into();
    world.run_until(at_secs(8));
    world.measure_afresh();
    world.run_until(at_secs(20));
    for flow in flows {
        let rate = world.report(flow).throughput().mbit_per_sec();
        assert!((9.0..=11.0).contains(&rate), "{rate}");
    }
}

#[test]
fn an_estimate_has_its_age_when_it_is_delivered() {
    let latency = millis(30);
    let mut world = World::new(Radio::new("20Mbit", 5), 1);
    world.listen(Listening { latency, ..Listening::new(UP) });
    world.add_flow(Flow::bulk(UP, named("biscay")));
    let mut told = Vec::new();
    world.observe_until(at_secs(5), &mut |at: HostInstant, event: &Event<'_>| {
        if let Event::Told { estimate, .. } = event
            && estimate.is_usable()
        {
            told.push((at, estimate.age));
        }
    });
    assert!((400..=500).contains(&told.len()), "{}", told.len());
    // Records come every 10 ms; one may just have been missed.
    assert!(told.iter().all(|(_, age)| (latency..=latency + millis(20)).contains(age)), "{told:?}");
}

/// Keeps how long ago a modem was heard, whenever it hears of its delays.
#[derive(Debug)]
struct Ages {
    inner: Box<dyn Controller>,
    ages: Sender<Duration>,
}

impl Controller for Ages {
    forward!(inner; but handle_delays);

    fn handle_delays(&mut self, now: HostInstant, _: Direction, delays: &DelayUpdate) {
        self.ages.send(now - delays.heard_at).unwrap();
    }
}

#[test]
fn a_modem_that_is_far_from_the_controller_is_not_silent() {
    let (ages, heard) = channel();
    let mut world = World::new(Radio::new("20Mbit", 5), 1);
    world.listen(Listening { latency: millis(300), delays: true, ..Listening::new(UP) });
    let cubic = named("cubic");
    world.add_flow(Flow::bulk(UP, move |start: &Start| -> Box<dyn Controller> {
        Box::new(Ages { inner: cubic(start), ages: ages.clone() })
    }));
    world.run_until(at_secs(5));
    let ages: Vec<Duration> = heard.try_iter().skip(10).collect();
    assert!(ages.len() > 400 && ages.iter().all(|age| *age <= millis(20)), "{ages:?}");
}
