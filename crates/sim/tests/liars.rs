//! The cost of a device that reports a rate that its path does not have, for a sender under each
//! law; and that a device that reports what its path has is followed.
//!
//! `cargo test -p sounding-sim --test liars -- --nocapture` shows the figures.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

mod common;

use std::io::Write as _;
use std::ops::RangeInclusive;
use std::time::Duration;

use common::{UP, at_secs, mbit, millis, named};
use sounding_cc::{Ack, Controller, Start, forward};
use sounding_kpi::Direction;
use sounding_laws::trust::Trusting;
use sounding_link::{Bound, FairShare, LinkEstimate};
use sounding_sim::world::{Flow, FlowId, Report, Segment, Tcp, Traffic, Transport};
use sounding_sim::{Links, Path, PathConfig, QueueLimit, World};
use sounding_trace::{Step, Steps};
use sounding_units::{HostInstant, Rate};

/// The path in Mbit/s, and its queue in packets.
const PATH: u64 = 20;
const QUEUE: u64 = 120;
/// The lie, in Mbit/s.
const LIE: u64 = 1000;
const LASTS: u64 = 15;
/// From this second on a lie costs nothing.
const SETTLED: u64 = 2;
const LAWS: [&str; 4] = ["biscay", "cqic", "pbe-cc", "sounding"];
/// The seeds that judge. Others were used while the rule was made.
const SEEDS: RangeInclusive<u64> = 1001..=1020;

/// What a device reports, in Mbit/s, by the time since the beginning of the world.
type Says = fn(Duration) -> u64;

/// A sender's view of a device that reports a rate on each acknowledgement.
#[derive(Debug)]
struct Told {
    inner: Box<dyn Controller>,
    says: Says,
    knows_share: bool,
}

impl Controller for Told {
    forward!(inner; but handle_ack);

    fn handle_ack(&mut self, ack: &Ack) {
        let rate = mbit((self.says)(Duration::from_nanos(ack.now.as_nanos())));
        let estimate = LinkEstimate::new(Direction::Downlink, rate, Bound::Capacity)
            .with_fair(self.knows_share.then_some(FairShare::new(rate, 1, 1)));
        self.inner.handle_report(ack.now, &estimate, 1);
        self.inner.handle_ack(ack);
    }
}

/// Random numbers of a seed (SplitMix64).
struct Lots(u64);

impl Lots {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most
    }
}

/// How the machine between both ends keeps time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    /// Pauses of a millisecond at most.
    Calm,
    /// Some ten times a second it stands still, for 30 ms at most, and then does what it left
    /// undone at once.
    Jittery,
}

/// A flow and its path.
#[derive(Clone, Copy)]
struct Scene {
    law: &'static str,
    machine: Machine,
    /// Mbit/s in each second.
    carries: fn(u64) -> u64,
    says: Says,
    /// It reports a fair share too.
    knows_share: bool,
    /// The sender limits what it believes.
    doubts: bool,
    traffic: Traffic,
}

impl Scene {
    fn new(law: &'static str, says: Says) -> Self {
        let carries = |_| PATH;
        let traffic = Traffic::Bulk;
        Self {
            law,
            machine: Machine::Calm,
            carries,
            says,
            knows_share: false,
            doubts: true,
            traffic,
        }
    }

    /// Both directions: data, and the way back.
    fn directions(&self, lots: &mut Lots) -> (PathConfig, PathConfig) {
        let (every_us, pause_us) = match self.machine {
            Machine::Calm => (20_000, 900),
            Machine::Jittery => (200_000, 30_000),
        };
        let way_back = mbit(1000);
        let (mut data, mut acks) = (Vec::new(), Vec::new());
        let mut put = |at_us: u64, [back, out]: [Rate; 2]| {
            let at = Duration::from_micros(at_us);
            acks.push(Step { at, rate: back });
            data.push(Step { at, rate: out });
        };
        put(0, [way_back, mbit((self.carries)(0))]);
        let mut at_us = 1;
        while at_us < LASTS * 1_000_000 {
            at_us += 1 + lots.below(every_us);
            let lasts = 100 + lots.below(pause_us);
            let carries = (self.carries)(at_us / 1_000_000);
            put(at_us, [Rate::ZERO; 2]);
            at_us += lasts;
            // All of it in a tenth of a millisecond.
            put(at_us, [way_back, mbit(carries * (lasts + 100) / 100)]);
            at_us += 100;
            put(at_us, [way_back, mbit(carries)]);
        }
        let way = |steps, queue| PathConfig {
            delay: millis(20),
            queue,
            ..PathConfig::new(Steps::new(steps).unwrap())
        };
        (way(data, QueueLimit::packets(QUEUE)), way(acks, QueueLimit::INFINITE))
    }

    /// What is measured by each of these seconds.
    fn run<const N: usize>(&self, seed: u64, until: [u64; N]) -> [Report; N] {
        let mut lots = Lots(seed);
        let (data, acks) = self.directions(&mut lots);
        let links = Links::one(&data, &acks, HostInstant::default());
        let mut world: World<Links<Path<Segment>>> = World::new(links, seed);
        let Self { law, says, knows_share, doubts, traffic, .. } = *self;
        let mut flow = Flow::bulk(UP, move |start: &Start| {
            let mut inner = named(law)(start);
            if doubts {
                inner = Box::new(Trusting::new(start, inner));
            }
            Box::new(Told { inner, says, knows_share })
        });
        flow.begins = HostInstant::from_nanos(lots.below(100_000_000));
        if let Transport::Tcp(Tcp { traffic: of, .. }) = &mut flow.transport {
            *of = traffic;
        }
        let flow: FlowId = world.add_flow(flow);
        until.map(|second| {
            world.run_until(at_secs(second));
            world.report(flow).clone()
        })
    }

    /// Drops in all, those after it should have settled, and the used part of the path; medians
    /// over the seeds.
    fn medians(&self) -> (u64, u64, f64) {
        let ran = SEEDS.map(|seed| {
            let [first, all] = self.run(seed, [SETTLED, LASTS]);
            let used = all.throughput().mbit_per_sec() / PATH as f64;
            (all.dropped, all.dropped - first.dropped, used)
        });
        let ran: Vec<(u64, u64, f64)> = ran.collect();
        let most = ran.iter().map(|ran| ran.0).max().unwrap();
        let [dropped, later] = [|ran: &(u64, u64, f64)| ran.0, |ran: &(u64, u64, f64)| ran.1]
            .map(|of| median(ran.iter().map(of)));
        let used = median(ran.iter().map(|ran| ran.2));
        let _ = writeln!(
            std::io::stderr(),
            "{:?} {}{}: says {} Mbit/s, {dropped} drops (most {most}), {later} after second {SETTLED}, uses {used:.2}",
            self.machine,
            self.law,
            if self.knows_share { " with shares" } else { "" },
            (self.says)(Duration::ZERO),
        );
        (dropped, later, used)
    }
}

fn median<T: PartialOrd>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_by(|one, other| one.partial_cmp(other).unwrap());
    let middle = values.len() / 2;
    values.swap_remove(middle)
}

/// Judges lies to a law's sender.
fn judge(law: &'static str) {
    for machine in [Machine::Calm, Machine::Jittery] {
        for knows_share in [false, true].into_iter().filter(|knows| !knows || law == "pbe-cc") {
            let scene = |says| Scene { machine, knows_share, ..Scene::new(law, says) };
            let truth = scene(|_| PATH).medians();
            let lies: [Says; 3] = [|_| 2 * PATH, |_| 10 * PATH, |_| LIE];
            for says in lies {
                let lie = scene(says).medians();
                let case = format!("{machine:?} {law} {}", says(Duration::ZERO));
                assert!(lie.0 <= truth.0 + 300, "{case}: {lie:?} beside {truth:?}");
                assert!(lie.2 > 0.9 * truth.2, "{case}: {lie:?} beside {truth:?}");
                // Twice its rate a path seems to have for as long as its queue holds it.
                if says(Duration::ZERO) > 3 * PATH {
                    assert!(lie.1 <= truth.1, "{case}: {lie:?} beside {truth:?}");
                }
            }
        }
    }
}

#[test]
fn a_lie_to_biscay_costs_at_most_300_drops_and_none_after_two_seconds() {
    judge("biscay");
}

#[test]
fn a_lie_to_cqic_costs_at_most_300_drops_and_none_after_two_seconds() {
    judge("cqic");
}

#[test]
fn a_lie_to_pbe_cc_costs_at_most_300_drops_and_none_after_two_seconds() {
    judge("pbe-cc");
}

#[test]
fn a_lie_to_sounding_costs_at_most_300_drops_and_none_after_two_seconds() {
    judge("sounding");
}

#[test]
fn a_lie_stays_found_out_while_the_application_pauses() {
    let traffic = Traffic::OnOff { on: millis(2_500), off: millis(1_500) };
    for law in LAWS {
        let scene = Scene { traffic, ..Scene::new(law, |_| LIE) };
        let later = SEEDS.take(5).map(|seed| {
            let [first, all] = scene.run(seed, [SETTLED, LASTS]);
            all.dropped - first.dropped
        });
        let later = median(later);
        assert!(later < 20, "{law}: {later} drops");
    }
}

#[test]
fn a_device_that_lies_in_turns_gains_no_belief() {
    // Half the path for 0.6 s, and then a second of lies.
    let says: Says = |at| if at.as_millis() % 1_600 < 600 { PATH / 2 } else { LIE };
    for law in LAWS {
        let scene = Scene::new(law, says);
        let all = median(SEEDS.take(5).map(|seed| scene.run(seed, [LASTS])[0].dropped));
        assert!(all < 600, "{law}: {all} drops");
    }
}

/// Mbit/s between two seconds.
fn rate([from, to]: &[Report; 2], seconds: u64) -> f64 {
    (to.carried.count() - from.carried.count()) as f64 * 8e-6 / seconds as f64
}

#[test]
fn a_true_report_of_a_path_that_got_wider_is_followed_as_fast_as_without_doubts() {
    for law in LAWS {
        let says: Says = |at| if at.as_secs() < 5 { 10 } else { 80 };
        let carries = |second| if second < 5 { 10 } else { 80 };
        let scene = Scene { carries, ..Scene::new(law, says) };
        for seed in SEEDS.take(5) {
            let doubted = rate(&scene.run(seed, [5, 7]), 2);
            let trusted = rate(&Scene { doubts: false, ..scene }.run(seed, [5, 7]), 2);
            assert!(doubted > 0.95 * trusted, "{law}: {doubted} and not {trusted} Mbit/s");
        }
    }
}

#[test]
fn a_path_that_got_wider_under_a_lie_is_found() {
    for law in LAWS {
        let carries = |second| if second < 5 { PATH } else { 4 * PATH };
        let scene = Scene { carries, ..Scene::new(law, |_| LIE) };
        let used = median(SEEDS.take(5).map(|seed| rate(&scene.run(seed, [11, 15]), 4)));
        assert!(used > 2.0 * PATH as f64, "{law}: {used} Mbit/s");
    }
}
