//! `corrected.h` and `copa.h`, which the kernel runs, and `sounding_laws::copa_gandalf` decide
//! alike over the same logs of acknowledgements and delay events.
//!
//! A log is what a small radio link makes of the Rust law's own window: closed loops, so that every
//! phase is reached. In an upload the controller of virtual time and QUIC hears the same, and has
//! the same window and pace.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use sounding_cc::{Ack, Controller, Departure, Loss, Recovery, Start};
use sounding_estimate::wire::RadioDelay;
use sounding_estimate::{DelayKind, DelayUpdate, Direction, RanDelay};
use sounding_laws::CopaGandalf;
use sounding_laws::copa_gandalf::{
    CopaAck, CopaPhase, Corrected, CorrectedBy, DelaySlots, Place, Table,
};
use sounding_units::{Bytes, HostInstant, Rate};

static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("copa_host"));

const US: u64 = 1_000;
const KINDS: [&str; 11] = [
    "begin",
    "ack",
    "elsewhere",
    "loss",
    "timeout",
    "spurious",
    "up",
    "down",
    "heard",
    "said",
    "interval",
];
/// Milliseconds between a device's reports of its buffer, as the modem's reports show them; zero is
/// not known.
const INTERVALS: [u64; 8] = [0, 5, 10, 16, 20, 32, 3, 2_560];

/// Window, pacing, phase, the two RTTs, 1 ÷ δ, which side corrects RTTs, and corrections.
type Answer = [u64; 8];

/// What the link of a log is like.
#[derive(Clone, Copy, Debug)]
struct Scene {
    /// Segments that a grant has room for, and how far grants are apart.
    room: usize,
    grants_ms: u64,
    /// Milliseconds of path besides the radio.
    path_ms: u64,
    /// One of so many blocks is sent again, in each direction; zero is none.
    again: u64,
    /// The modem writes records so often, and of what is so long ago.
    reports_ms: u64,
    lag_ms: u64,
    /// Reports of the buffer are so far apart: one of the list, and the next one in each such
    /// period.
    interval: usize,
    interval_lasts_ms: u64,
    /// It is silent for a third of each such period; zero is never.
    silence_ms: u64,
    /// From then on the path is so much longer.
    longer_at_ms: u64,
    longer_ms: u64,
    /// Another flow keeps a queue of so much from half of the log on.
    rival_ms: u64,
    /// One packet of so many is lost, or followed by a timeout; zero is none.
    lost: u64,
    timeout: u64,
    /// The flow leaves elsewhere in every other period of so long; zero is never.
    elsewhere_ms: u64,
    /// One event of so many is nonsense; zero is none.
    nonsense: u64,
    limited: u64,
    begins_ms: u64,
    /// It is a server's, which reads no modem.
    served: bool,
    /// The device at the other end says other averages so often; zero is never.
    says_ms: u64,
    /// And says these; of none, it makes up what it says.
    says: Option<u16>,
}

prop_compose! {
    fn scene()(
        (room, grants_ms, path_ms) in (1..40usize, 1..12u64, 4..80u64),
        again in prop_oneof![1 => Just(0u64), 3 => 4..40u64],
        (reports_ms, lag_ms) in (5..120u64, prop_oneof![4 => 0..80u64, 1 => 330..420u64]),
        interval in 0..INTERVALS.len(),
        interval_lasts_ms in prop_oneof![2 => Just(1_000_000u64), 2 => 100..2_000u64],
        silence_ms in prop_oneof![2 => Just(0u64), 1 => 300..2000u64],
        (longer_at_ms, longer_ms) in prop_oneof![2 => Just((0u64, 0u64)), 1 => (500..3000u64, 1..60u64)],
        rival_ms in prop_oneof![2 => Just(0u64), 1 => 1..200u64],
        lost in prop_oneof![2 => Just(0u64), 1 => 50..2000u64],
        timeout in prop_oneof![4 => Just(0u64), 1 => 300..3000u64],
        elsewhere_ms in prop_oneof![5 => Just(0u64), 1 => 200..2000u64],
        nonsense in prop_oneof![3 => Just(0u64), 1 => 3..50u64],
        limited in prop_oneof![4 => Just(0u64), 1 => 2..20u64],
        // Numbers of slots wrap after 12 days, tags after 35 minutes.
        (served, says_ms, says) in (
            prop::bool::weighted(0.4),
            prop_oneof![1 => Just(0u64), 2 => 1..400u64],
            prop::option::of(any::<u16>()),
        ),
        begins_ms in prop_oneof![2 => Just(5_000u64), 1 => Just((1u64 << 32) / 4 - 1_000), 1 => Just((1u64 << 23) / 4 - 1_000)],
    ) -> Scene {
        Scene {
            room, grants_ms, path_ms, again, reports_ms, lag_ms, interval, interval_lasts_ms, silence_ms, longer_at_ms, longer_ms, rival_ms, lost,
            timeout, elsewhere_ms, nonsense, limited, begins_ms, served, says_ms, says,
        }
    }
}

const MSS: u64 = 1448;

/// One flow of the Rust law, the input of the C law, and the answers of the Rust law.
struct Log {
    flow: Corrected,
    /// In an upload, while nothing was told that a controller cannot hear.
    controller: Option<CopaGandalf>,
    slots: DelaySlots,
    table: Table,
    said: RadioDelay,
    told: Told,
    answers: Vec<Answer>,
}

impl Log {
    fn begin(scene: &Scene) -> Self {
        let begins = HostInstant::from_nanos(scene.begins_ms * 1_000 * US);
        // A controller has one way out, and hears of a device by its events alone.
        let hears = scene.elsewhere_ms == 0 && scene.says_ms == 0;
        let mut log = Self {
            flow: Corrected::new(0),
            controller: hears.then(|| CopaGandalf::new(&Start::tcp(begins, None, 1))),
            slots: DelaySlots::default(),
            table: Table::default(),
            said: RadioDelay::default(),
            told: Told::default(),
            answers: Vec::new(),
        };
        tell(&mut log.told, "begin", [0; 2], &CopaAck::default());
        log
    }

    fn record(&mut self, kind: &str, ack: &CopaAck) {
        tell(&mut self.told, kind, [0; 2], ack);
        let copa = self.flow.copa();
        if let Some(controller) = &mut self.controller {
            match kind {
                "ack" => controller.handle_ack(&as_ack(ack)),
                "loss" => controller.handle_loss(&Loss {
                    now: ack.now,
                    size: Bytes::new(MSS),
                    in_flight: Bytes::ZERO,
                    sent: Departure::default(),
                    begins_recovery: true,
                }),
                "timeout" => controller.handle_timeout(ack.now),
                "spurious" => controller.handle_spurious_timeout(ack.now),
                _ => {}
            }
            let pace = controller.pacing_rate().map(Rate::bytes_per_sec);
            let theirs = (controller.cwnd().count() / MSS, pace);
            assert_eq!(theirs, (copa.cwnd().into(), copa.pacing(MSS as u32)), "{kind} {ack:?}");
        }
        let phase = CopaPhase::ALL.iter().position(|phase| *phase == copa.phase()).unwrap();
        let (least, standing) = copa.rtts().unwrap_or_default();
        self.answers.push([
            copa.cwnd().into(),
            copa.pacing(MSS as u32).unwrap_or_default(),
            phase as u64,
            least.into(),
            standing.into(),
            copa.inverse_delta(),
            match self.flow.by() {
                None => 0,
                Some(CorrectedBy::Modem) => 1,
                Some(CorrectedBy::Peer) => 2,
            },
            self.flow.corrections().into(),
        ]);
    }

    fn say(&mut self, code: u16) {
        self.said = RadioDelay::of_code(code);
        tell(&mut self.told, "said", [0, code.into()], &CopaAck::default());
    }

    fn report(&mut self, now: u64, until: u64, interval: u64, events: &mut Vec<RanDelay>) {
        let events = events.extract_if(.., |event| event.to.as_nanos() <= until).collect();
        let Self { slots, table, told, .. } = self;
        let known = Some(HostInstant::from_nanos(until));
        let heard_at = HostInstant::from_nanos(now);
        let interval = Some(interval).filter(|interval| *interval > 0).map(Duration::from_millis);
        let update = DelayUpdate::new(heard_at, events)
            .with_up_until(known)
            .with_down_until(known)
            .with_report_interval(interval);
        if let Some(controller) = &mut self.controller {
            controller.handle_delays(heard_at, Direction::Uplink, &update);
        }
        slots.handle_update(&update, |place, word| {
            table.put(place, word);
            let (kind, index) = match place {
                Place::Up(index) => ("up", index),
                Place::Down(index) => ("down", index),
            };
            tell(told, kind, [index as u64, word], &CopaAck::default());
        });
        table.set_interval(interval);
        let micros = interval.unwrap_or_default().as_micros() as u64;
        tell(told, "interval", [0, micros], &CopaAck::default());
        table.set_heard(heard_at);
        tell(told, "heard", [0, now], &CopaAck::default());
    }
}

/// What a controller hears of an acknowledgement.
fn as_ack(ack: &CopaAck) -> Ack {
    let bytes = |segments: u32| Bytes::new(u64::from(segments) * MSS);
    Ack {
        now: ack.now,
        acked: bytes(ack.acked),
        rtt: (ack.rtt_us > 0).then(|| Duration::from_micros(ack.rtt_us.into())),
        recovery: if ack.timed_out { Recovery::Timeout } else { Recovery::default() },
        delivered: bytes(ack.delivered),
        sent: Departure {
            at: ack.sent,
            delivered: bytes(ack.sent_delivered),
            app_limited: ack.app_limited,
            ..Departure::default()
        },
        ..Ack::default()
    }
}

fn tell(told: &mut Told, kind: &str, [index, word]: [u64; 2], ack: &CopaAck) {
    let kind = KINDS.iter().position(|known| *known == kind).unwrap() as u64;
    told.longs(&[kind, index, word, ack.now.as_nanos(), ack.sent.as_nanos()]);
    told.ints(&[ack.rtt_us, ack.acked, ack.app_limited.into(), ack.timed_out.into()]);
    told.ints(&[ack.sent_delivered, ack.delivered]);
}

#[derive(Clone, Copy)]
struct Packet {
    sent: u64,
    delivered: u32,
    number: u64,
}

fn event(kind: DelayKind, direction: Direction, [from, to, amount]: [u64; 3]) -> RanDelay {
    RanDelay::new(direction, kind, HostInstant::from_nanos(from), HostInstant::from_nanos(to))
        .with_amount(Duration::from_nanos(amount))
}

/// Plays a log of so many milliseconds.
fn play(scene: &Scene, lasts_ms: u64) -> Log {
    let begins = scene.begins_ms * 1_000 * US;
    let ms_ns = 1_000 * US;
    let mut log = Log::begin(scene);
    let mut events: Vec<RanDelay> = Vec::new();
    let (mut number, mut delivered, mut out, mut blocks) = (0u64, 0u32, 0u64, 0u64);
    let mut waiting: VecDeque<Packet> = VecDeque::new();
    let mut acks: VecDeque<(u64, Packet, u32)> = VecDeque::new();
    let (mut recover_until, mut timed_out_until, mut held_until) = (0u64, 0u64, 0u64);
    for ms in 0..lasts_ms {
        let now = begins + ms * ms_ns + ms * 37 % 900 * US;
        let at = HostInstant::from_nanos(now);
        while acks.front().is_some_and(|(arrives, ..)| *arrives <= now) {
            let (_, newest, count) = acks.pop_front().unwrap();
            let is = |every: u64| every > 0 && newest.number % every == every - 1;
            out -= u64::from(count);
            if is(scene.lost) && recover_until <= newest.number {
                recover_until = number;
                log.flow.handle_loss();
                log.record("loss", &CopaAck::default());
            }
            delivered = delivered.wrapping_add(count);
            let ack = CopaAck {
                now: at,
                sent: HostInstant::from_nanos(newest.sent),
                rtt_us: if newest.number % 97 == 96 {
                    0
                } else {
                    ((now - newest.sent) / US) as u32
                },
                acked: count,
                app_limited: is(scene.limited),
                timed_out: newest.number < timed_out_until,
                sent_delivered: newest.delivered,
                delivered,
            };
            let elsewhere =
                ms.checked_div(scene.elsewhere_ms).is_some_and(|period| period % 2 == 1);
            log.flow.handle_ack((!elsewhere).then_some(&log.table), log.said, &ack);
            log.record(if elsewhere { "elsewhere" } else { "ack" }, &ack);
            if is(scene.timeout) {
                timed_out_until = number;
                log.flow.handle_timeout();
                log.record("timeout", &CopaAck::default());
                if newest.number.is_multiple_of(3) {
                    log.flow.handle_spurious_timeout();
                    log.record("spurious", &CopaAck::default());
                }
            }
        }
        while out < log.flow.copa().cwnd().min(3_000).into() {
            waiting.push_back(Packet { sent: now, delivered, number });
            number += 1;
            out += 1;
        }
        if ms % scene.grants_ms == 0 && !waiting.is_empty() {
            grant(
                scene,
                [now, ms, begins],
                &mut blocks,
                &mut held_until,
                &mut waiting,
                &mut acks,
                &mut events,
            );
        }
        let silent = scene.silence_ms > 0 && ms % scene.silence_ms < scene.silence_ms / 3;
        if scene.says_ms > 0 && ms % scene.says_ms == 0 {
            // Nothing in one of four.
            let made_up = (now.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u16;
            let says = scene.says.unwrap_or(made_up);
            log.say(if ms / scene.says_ms % 4 == 3 { 0 } else { says });
        }
        if ms % scene.reports_ms == 0 && !silent && !scene.served {
            let place = scene.interval + (ms / scene.interval_lasts_ms) as usize;
            let interval = INTERVALS[place % INTERVALS.len()];
            log.report(now, now.saturating_sub(scene.lag_ms * ms_ns), interval, &mut events);
        }
    }
    log
}

/// A block leaves, and what is acknowledged of it.
fn grant(
    scene: &Scene,
    [now, ms, begins]: [u64; 3],
    blocks: &mut u64,
    held_until: &mut u64,
    waiting: &mut VecDeque<Packet>,
    acks: &mut VecDeque<(u64, Packet, u32)>,
    events: &mut Vec<RanDelay>,
) {
    let ms_ns = 1_000 * US;
    *blocks += 1;
    let packets: Vec<Packet> = waiting.drain(..scene.room.min(waiting.len())).collect();
    let first = packets[0].sent;
    let usual = scene.grants_ms * ms_ns;
    events.push(event(
        DelayKind::Scheduling,
        Direction::Uplink,
        [first, now, (now - first).min(usual)],
    ));
    let mut left = now;
    if scene.again > 0 && blocks.is_multiple_of(scene.again) {
        left += 8 * ms_ns;
        events.push(event(DelayKind::Harq, Direction::Uplink, [now, left, left - now]));
    }
    let longer =
        if scene.longer_at_ms > 0 && ms >= scene.longer_at_ms { scene.longer_ms } else { 0 };
    let rival = if ms > 2_000 { scene.rival_ms } else { 0 };
    // In order, however long something was held: before it, this is not sent at all.
    let mut back = (left + (scene.path_ms + longer + rival) * ms_ns).max(*held_until);
    if scene.again > 0 && blocks.is_multiple_of(scene.again + 3) {
        let from = back;
        back += 10 * ms_ns;
        events.push(event(DelayKind::Harq, Direction::Downlink, [from, back, back - from]));
    }
    if scene.nonsense > 0 && blocks.is_multiple_of(scene.nonsense) {
        let wild = now.wrapping_mul(0x9e37_79b9) % 3_000_000_000;
        let kind = if blocks.is_multiple_of(2) { DelayKind::Scheduling } else { DelayKind::Harq };
        let direction =
            if blocks.is_multiple_of(3) { Direction::Uplink } else { Direction::Downlink };
        events.push(event(kind, direction, [begins.saturating_sub(wild), now, wild]));
    }
    *held_until = back;
    for pair in packets.chunks(2) {
        acks.push_back((back, pair[pair.len() - 1], pair.len() as u32));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 320,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_sides_decide_alike(scene in scene()) {
        let log = play(&scene, 4_000);
        FILTER.agrees((log.told, log.answers), |answer: Answer| answer)?;
    }
}

const LINK: Scene = Scene {
    room: 12,
    grants_ms: 5,
    path_ms: 30,
    again: 9,
    reports_ms: 40,
    lag_ms: 20,
    interval: 0,
    interval_lasts_ms: 1_000_000,
    silence_ms: 0,
    longer_at_ms: 0,
    longer_ms: 0,
    rival_ms: 0,
    lost: 0,
    timeout: 0,
    elsewhere_ms: 0,
    nonsense: 0,
    limited: 0,
    begins_ms: 5_000,
    served: false,
    says_ms: 0,
    says: None,
};

/// Waits for grants and retransmissions, and room for more than Copa asks for.
const JITTER: Scene = Scene { room: 12, grants_ms: 10, ..LINK };

#[test]
fn the_logs_reach_every_phase_with_and_without_a_modem() {
    let log = play(&LINK, 8_000);
    let count =
        |is: &dyn Fn(&Answer) -> bool| log.answers.iter().filter(|answer| is(answer)).count();
    for phase in 0..3 {
        assert!(count(&|answer| answer[2] == phase) > 10, "{phase}");
    }
    assert!(count(&|answer| answer[6] == 1) > 1_000);
    assert!(log.answers.last().unwrap()[7] > 500, "{:?}", log.answers.last());
    let silent = play(&Scene { silence_ms: 1_200, ..LINK }, 8_000);
    let switches = silent.answers.windows(2).filter(|two| two[0][6] != two[1][6]).count();
    assert!(switches >= 8, "{switches}");
    let rival = play(&Scene { rival_ms: 120, ..LINK }, 8_000);
    assert!(rival.answers.iter().any(|answer| answer[5] > 3 * 65_536));
}

/// Corrections never make the path seem shorter than the truth, however waits and retransmissions
/// coincide.
#[test]
fn the_rtt_that_copa_remembers_is_the_paths() {
    let log = play(&JITTER, 12_000);
    let late = &log.answers[log.answers.len() / 2..];
    assert!(late.iter().all(|answer| answer[6] == 1));
    let least = late.iter().map(|answer| answer[3]).min();
    assert!(least >= Some(30_000), "{least:?}");
}

/// What a device takes from its server's means, in 250 µs; the second code is a usual wait's.
const fn says(retransmitted: u16, longer: u16) -> Option<u16> {
    Some((retransmitted + 1) << 8 | (longer + 1))
}

/// A server, to whose downloads the radio adds what its device says.
const SERVED: Scene = Scene { served: true, says_ms: 1_000, says: says(8, 16), ..JITTER };

#[test]
fn a_device_that_says_what_its_radio_adds_has_its_downloads_corrected() {
    let log = play(&SERVED, 16_000);
    let by = |who: u64| log.answers.iter().filter(|answer| answer[6] == who).count();
    // It says nothing a quarter of the time.
    assert!(by(2) > by(0) && by(0) > 100 && by(1) == 0, "{} and {}", by(2), by(0));
    let least = log.answers[log.answers.len() / 2..].iter().map(|answer| answer[3]).min();
    assert!(least >= Some(30_000), "{least:?}");
}

/// What is believed at most of a device hides a quarter of the smallest RTT: the flow's queue is
/// longer by no more.
#[test]
fn a_device_that_lies_hides_no_more_than_a_quarter_of_the_smallest_rtt() {
    let wide = Scene { again: 0, grants_ms: 1, room: 4, path_ms: 40, ..SERVED };
    let largest = |says: Option<u16>, says_ms: u64| {
        let log = play(&Scene { says, says_ms, ..wide }, 45_000);
        let late = &log.answers[log.answers.len() / 20..];
        let mut windows: Vec<u64> = late.iter().map(|answer| answer[0]).collect();
        windows.sort_unstable();
        [50, 75, 95].map(|percent| windows[windows.len() * percent / 100])
    };
    // Four segments a millisecond: a window is so many milliseconds long.
    let honest = largest(None, 0);
    for (says, says_ms) in
        [(Some(u16::MAX), 5), (Some(u16::MAX), 20_000), (Some(0xFF00), 7), (None, 3)]
    {
        let lie = largest(says, says_ms);
        println!("{says:?} {says_ms}: {lie:?} and {honest:?}");
        let longer = lie.iter().zip(&honest).map(|(lie, honest)| lie.saturating_sub(*honest));
        assert!(longer.max() <= Some(40 * 4 / 4), "{says:?} {says_ms}: {lie:?} and {honest:?}");
    }
}

/// Each of these changes of the C alone is noticed.
#[test]
fn another_law_does_not_agree() {
    let changes = [
        ("copa.h", ["c->velocity * 2, COPA_MAX_VELOCITY", "c->velocity * 3, COPA_MAX_VELOCITY"]),
        ("copa.h", ["law_max(c->standing.best[0], least_us)", "least_us"]),
        (
            "copa.h",
            [
                "c->inverse_delta / 2, COPA_INVERSE_DELTA",
                "c->inverse_delta / 3, COPA_INVERSE_DELTA",
            ],
        ),
        ("corrected.h", ["#define CORRECTED_PATIENCE\t1600U", "#define CORRECTED_PATIENCE\t1400U"]),
        ("corrected.h", ["#define USUAL_STEP_US\t\t20U", "#define USUAL_STEP_US\t\t19U"]),
        ("corrected.h", ["#define UNSURE_US\t\t2500U", "#define UNSURE_US\t\t2400U"]),
        ("copa.h", ["#define COPA_CORRECTED_RISE\t16U", "#define COPA_CORRECTED_RISE\t15U"]),
        (
            "corrected.h",
            ["#define USUAL_OVER_SHORTEST_US\t1000U", "#define USUAL_OVER_SHORTEST_US\t0U"],
        ),
        ("corrected.h", ["UNSURE_US * s->interval_us / DELAY_USUAL_INTERVAL_US", "UNSURE_US"]),
        ("corrected.h", ["MEAN_SHOWN_US + s->interval_us - 1", "MEAN_SHOWN_US"]),
        ("corrected.h", ["s->interval_us + USUAL_OVER_SHORTEST_US", "6000U"]),
        (
            "corrected.h",
            ["by == CORRECTED_BY_MODEM ? delay_interval(table)", "table ? delay_interval(table)"],
        ),
        ("delays.h", ["|| us > DELAY_LONGEST_INTERVAL_US", ""]),
        ("corrected.h", ["#define CORRECTED_PEER_PART\t8U", "#define CORRECTED_PEER_PART\t7U"]),
        ("corrected.h", ["if (s->is_active)\n\t\twanted = CORRECTED_NOT;", ""]),
        ("corrected.h", ["= wire_delay_us(delays, WIRE_LONGER);", "= 0;"]),
        (
            "corrected.h",
            [
                "#define CORRECTED_PEER_PAUSE_NS\t1000000000ULL",
                "#define CORRECTED_PEER_PAUSE_NS\t900000000ULL",
            ],
        ),
        (
            "copa.h",
            [
                "if (c->trend == COPA_UP)\n\t\tc->velocity",
                "if (c->trend == COPA_DOWN)\n\t\tc->velocity",
            ],
        ),
        ("corrected.h", ["mean_of(&s->raw), held)", "rtt_us, held)"]),
        ("corrected.h", ["delay_waited(up_word));", "delay_held(up_word));"]),
        (
            "delays.h",
            ["#define DELAY_SILENT_NS\t\t100000000ULL", "#define DELAY_SILENT_NS\t\t110000000ULL"],
        ),
    ];
    let mut runner = TestRunner::deterministic();
    let scenes: Vec<Scene> =
        (0..100).map(|_| scene().new_tree(&mut runner).unwrap().current()).collect();
    for (header, change) in changes {
        let changed = Filter::compile_changed("copa_host", &format!("copa/{header}"), change);
        let differs = scenes.iter().any(|scene| {
            let log = play(scene, 4_000);
            changed.agrees((log.told, log.answers), |answer: Answer| answer).is_err()
        });
        assert!(differs, "{header}: {change:?}");
    }
}
