//! `background.h`, which the kernel runs, and `sounding_laws::Background`, which simulations run,
//! decide alike over the same logs of acknowledgements.
//!
//! A log is what a small cell makes of the Rust law's own window: closed loops, so that every phase
//! is reached.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use proptest::prelude::*;
use sounding_cc::{Ack, Controller, Departure, Loss, Recovery, Stamp, Start};
use sounding_laws::Background;
use sounding_units::{Bytes, HostInstant};

static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("background_host"));

const MSS: u64 = 1448;
const INTERVAL_NS: u64 = 250_000_000;
const MS: u64 = 1_000_000;
/// What a look costs, and how often that is waited besides.
const CHEAP_NS: u64 = 300 * MS;
const LONGEST_NS: u64 = 3_000 * MS;
const DEAR: u64 = 10;
/// As `enum background_phase` numbers them.
const STATES: [&str; 5] = ["opening", "waiting", "probing", "sending", "by delay"];
const KINDS: [&str; 6] = ["begin", "ack", "loss", "timeout", "spurious", "time"];

/// State, window and the end of a wait.
type Answer = [u64; 3];

/// What the cell of a log is like.
#[derive(Clone, Copy, Debug)]
struct Scene {
    /// Segments that it carries in a millisecond.
    per_ms: u64,
    /// The cell's other users, who take turns with the flow.
    rivals: u64,
    /// They are there during this part of each period, in milliseconds.
    period_ms: u64,
    present_ms: u64,
    /// Milliseconds to the receiver, and back.
    way_ms: u64,
    /// Of the receiver's clock; zero has none.
    tick_us: u32,
    /// Arrivals of so many milliseconds are acknowledged together.
    batch_ms: u64,
    /// One packet of so many is lost, marked, or followed by a timeout; zero is none.
    lost: u64,
    marked: u64,
    timeout: u64,
    /// The clock is lost and found with this period; zero is never.
    flips_ms: u64,
    /// The clock is stepped by so many ticks with this period; zero is never. Each second step
    /// goes back.
    steps_ms: u64,
    step: u32,
    first_stamp: u32,
}

prop_compose! {
    fn scene()(
        (per_ms, rivals, period_ms, present) in (1..8u64, 0..4u64, 1_000..6_000u64, 0..100u64),
        (way_ms, batch_ms) in (2..60u64, prop_oneof![3 => Just(1u64), 1 => 2..6u64]),
        tick_us in prop_oneof![
            6 => Just(1000u32), 1 => Just(2000u32), 1 => Just(4000u32), 1 => Just(10_000u32), 2 => Just(0u32),
        ],
        lost in prop_oneof![3 => Just(0u64), 1 => 200..3000u64],
        marked in prop_oneof![5 => Just(0u64), 1 => 200..3000u64],
        timeout in prop_oneof![5 => Just(0u64), 1 => 500..5000u64],
        flips_ms in prop_oneof![8 => Just(0u64), 1 => 500..4000u64],
        (steps_ms, step) in prop_oneof![4 => Just((0u64, 0u32)), 1 => (500..6000u64, any::<u32>())],
        first_stamp in prop_oneof![1 => Just(u32::MAX - 700), 1 => any::<u32>()],
    ) -> Scene {
        let present_ms = period_ms * present / 100;
        Scene {
            per_ms, rivals, period_ms, present_ms, way_ms, tick_us, batch_ms, lost, marked, timeout, flips_ms, steps_ms,
            step, first_stamp,
        }
    }
}

/// One flow of the Rust law, the input of the C law, and the answers of the Rust law.
struct Log {
    flow: Background,
    told: Told,
    answers: Vec<Answer>,
    waits_until: Option<HostInstant>,
    /// The newest burst.
    began: u64,
}

/// One call, as `struct background_ack` has it.
#[derive(Clone, Copy, Default)]
struct Call {
    now: u64,
    acked: u64,
    sent: u64,
    tick_ns: u64,
    stamp: u32,
    rtt_us: u32,
    recovery: u32,
    limited: u32,
    marked: u32,
    sent_delivered: u32,
    delivered: u32,
}

impl Log {
    fn begin(now: u64) -> Self {
        let start = Start::tcp(HostInstant::from_nanos(now), None, 7);
        let mut log = Self {
            flow: Background::new(&start),
            told: Told::default(),
            answers: Vec::new(),
            waits_until: None,
            began: now,
        };
        log.tell(0, &Call { now, ..Call::default() }, 0);
        log
    }

    fn tell(&mut self, kind: u64, call: &Call, random: u32) {
        self.told.longs(&[kind, call.now, call.acked, call.sent, call.tick_ns]);
        self.told.ints(&[call.stamp, call.rtt_us, call.recovery, call.limited, call.marked]);
        self.told.ints(&[call.sent_delivered, call.delivered, random, MSS as u32, 0]);
    }

    /// After a call of the Rust law: its answer, and the random number that the C law needs to draw
    /// the same wait.
    fn record(&mut self, kind: &str, call: Call) {
        let kind = KINDS.iter().position(|known| *known == kind).unwrap() as u64;
        let until = self.flow.not_before();
        let mut random = 0;
        let before = self.answers.last().map(|[state, ..]| STATES[*state as usize]);
        if let Some(until) = until.filter(|_| until != self.waits_until) {
            // What a look cost is waited besides: an acknowledgement ended it.
            let is_look = before == Some("probing") && KINDS[kind as usize] == "ack";
            let cost = if is_look { call.now - self.began } else { 0 };
            let dear = cost.min(LONGEST_NS).saturating_sub(CHEAP_NS) * DEAR;
            let wait = until.as_nanos() - call.now;
            // One interval is not drawn.
            let drawn = if wait == INTERVAL_NS { wait } else { wait - dear };
            let drawn = drawn * 1000 / INTERVAL_NS;
            let half = (0..8).map(|power| 1000 << power).find(|half| drawn < 2 * half).unwrap();
            random = (drawn - half) as u32;
        }
        self.waits_until = until;
        if before == Some("waiting") && until.is_none() {
            self.began = call.now;
        }
        self.tell(kind, &call, random);
        // The C has phases, and not what the flow believes meanwhile.
        let phase =
            Some(self.flow.state()).filter(|state| *state != "proving").unwrap_or("probing");
        let state = STATES.iter().position(|state| *state == phase).unwrap();
        let until = until.map_or(0, HostInstant::as_nanos);
        self.answers.push([state as u64, self.flow.cwnd().count(), until]);
    }
}

#[derive(Clone, Copy)]
struct Packet {
    sent: u64,
    delivered: u32,
    number: u64,
}

/// Plays a log of so many seconds.
fn play(scene: &Scene, secs: u64) -> Log {
    let begins = 3_000 * MS;
    let mut log = Log::begin(begins);
    let (mut number, mut delivered, mut out) = (0u64, 0u32, 0u64);
    let mut cell: VecDeque<Packet> = VecDeque::new();
    let mut batch: Vec<Packet> = Vec::new();
    let mut acks: VecDeque<(u64, u32, Vec<Packet>)> = VecDeque::new();
    let mut recover_until = 0u64;
    let (mut turn, mut credit) = (0u64, 0u64);
    for ms in 0..secs * 1000 {
        let now = begins + ms * MS;
        let at = HostInstant::from_nanos(now);
        if log.flow.wakeup().is_some_and(|wakeup| wakeup <= at) {
            log.flow.handle_time(at);
            log.record("time", Call { now, ..Call::default() });
        }
        while acks.front().is_some_and(|(arrives, ..)| *arrives <= now) {
            let (_, stamp, packets) = acks.pop_front().unwrap();
            let newest = packets[packets.len() - 1];
            let is = |every: u64| {
                every > 0 && packets.iter().any(|packet| packet.number % every == every - 1)
            };
            out = out.saturating_sub(packets.len() as u64);
            if is(scene.lost) && recover_until <= newest.number {
                recover_until = number;
                let loss = Loss {
                    now: at,
                    size: Bytes::new(MSS),
                    in_flight: Bytes::new(out * MSS),
                    sent: Departure::default(),
                    begins_recovery: true,
                };
                log.flow.handle_loss(&loss);
                log.record("loss", Call { now, ..Call::default() });
            }
            delivered += packets.len() as u32;
            let has_clock = scene.tick_us > 0
                && (scene.flips_ms == 0 || (ms / scene.flips_ms).is_multiple_of(2));
            let call = Call {
                now,
                acked: packets.len() as u64 * MSS,
                sent: newest.sent,
                tick_ns: if has_clock { u64::from(scene.tick_us) * 1000 } else { 0 },
                stamp: if has_clock { stamp } else { 0 },
                rtt_us: ((now - newest.sent) / 1000) as u32,
                recovery: u32::from(newest.number < recover_until),
                limited: u32::from(out * MSS + 2 * MSS >= log.flow.cwnd().count() / 2),
                marked: u32::from(is(scene.marked)),
                sent_delivered: newest.delivered,
                delivered,
            };
            log.flow.handle_ack(&Ack {
                now: at,
                acked: Bytes::new(call.acked),
                stamp: has_clock.then(|| Stamp {
                    value: stamp,
                    tick: Duration::from_micros(scene.tick_us.into()),
                }),
                rtt: Some(at - HostInstant::from_nanos(newest.sent)),
                delivered: Bytes::new(u64::from(delivered) * MSS),
                ce: Bytes::new(u64::from(call.marked)),
                cwnd_limited: call.limited > 0,
                recovery: if call.recovery > 0 { Recovery::Fast } else { Recovery::None },
                sent: Departure {
                    at: HostInstant::from_nanos(newest.sent),
                    delivered: Bytes::new(u64::from(newest.delivered) * MSS),
                    ..Departure::default()
                },
                ..Ack::default()
            });
            log.record("ack", call);
            if is(scene.timeout) {
                log.flow.handle_timeout(at);
                log.record("timeout", Call { now, ..Call::default() });
                if newest.number.is_multiple_of(3) {
                    log.flow.handle_spurious_timeout(at);
                    log.record("spurious", Call { now, ..Call::default() });
                }
            }
        }
        // The sender: a burst arrives at the cell at once, and waits there.
        if log.flow.not_before().is_none_or(|until| until <= at) {
            while (out + 1) * MSS <= log.flow.cwnd().count().max(MSS) && out < 4000 {
                cell.push_back(Packet { sent: now, delivered, number });
                number += 1;
                out += 1;
            }
        }
        // The cell: turns of a millisecond, in which the flow has its part.
        let beside = ms % scene.period_ms < scene.present_ms;
        turn = (turn + 1) % (scene.rivals + 1);
        if !beside || turn == 0 {
            credit += scene.per_ms;
        }
        while credit > 0
            && cell.front().is_some_and(|packet| packet.sent + scene.way_ms / 2 * MS <= now)
        {
            credit -= 1;
            batch.extend(cell.pop_front());
        }
        credit = 0;
        if ms % scene.batch_ms == 0 && !batch.is_empty() {
            let ticks = now / 1000 / u64::from(scene.tick_us.max(1));
            let is_stepped = ms.checked_div(scene.steps_ms).is_some_and(|steps| steps % 2 == 1);
            let step = if is_stepped { scene.step } else { 0 };
            let stamp = scene.first_stamp.wrapping_add(ticks as u32).wrapping_add(step);
            let arrived = std::mem::take(&mut batch);
            // An acknowledgement for two segments, and at times one for all.
            let each = if ms.is_multiple_of(5) { arrived.len() } else { 2 };
            acks.extend(
                arrived.chunks(each).map(|two| (now + scene.way_ms * MS, stamp, two.to_vec())),
            );
        }
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_sides_decide_alike(scene in scene()) {
        let log = play(&scene, 20);
        FILTER.agrees((log.told, log.answers), |answer: Answer| answer)?;
    }
}

const CELL: Scene = Scene {
    per_ms: 3,
    rivals: 1,
    period_ms: 12_000,
    present_ms: 6_000,
    way_ms: 30,
    tick_us: 1000,
    batch_ms: 1,
    lost: 0,
    marked: 0,
    timeout: 0,
    flips_ms: 0,
    steps_ms: 0,
    step: 0,
    first_stamp: 1,
};

/// How often each state was answered.
fn states(log: &Log) -> BTreeMap<&'static str, usize> {
    let mut states = BTreeMap::new();
    for answer in &log.answers {
        *states.entry(STATES[answer[0] as usize]).or_default() += 1;
    }
    states
}

#[test]
fn the_logs_reach_every_state() {
    let log = play(&CELL, 40);
    let seen = states(&log);
    for state in ["opening", "waiting", "probing", "sending"] {
        assert!(seen.get(state).is_some_and(|count| *count > 20), "{state}: {seen:?}");
    }
    FILTER.agrees((log.told, log.answers), |answer: Answer| answer).unwrap();
    for tick_us in [0, 4000] {
        let log = play(&Scene { tick_us, ..CELL }, 40);
        let seen = states(&log);
        assert_eq!(seen.keys().collect::<Vec<_>>(), [&"by delay"], "{tick_us}");
        FILTER.agrees((log.told, log.answers), |answer: Answer| answer).unwrap();
    }
}
