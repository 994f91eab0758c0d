//! What each controller does with the same story, as tables: a change of its behaviour is a readable diff here.
//!
//! The path delivers a segment a millisecond, has 40 ms without a queue, and acknowledges every second segment; time
//! goes on in tenths of a millisecond. Nothing here depends on a simulator.

use std::collections::VecDeque;
use std::fmt::Write;
use std::time::Duration;

use sounding_cc::part::{DeliveryRate, Pacer};
use sounding_cc::{Ack, Controller, Departure, Loss, Oracle, Recovery, Start};
use sounding_kpi::Direction;
use sounding_link::{Bound, Cause, LinkEstimate, State};
use sounding_units::{Bytes, HostInstant, Rate};

const MSS: Bytes = Bytes::new(1448);
const BASE_MS: u64 = 40;
const TICKS_PER_MS: u64 = 10;

/// What happens, from when on.
#[derive(Clone, Copy)]
enum Change {
    /// Segments the path delivers in ten milliseconds.
    Path(u64),
    /// Room in its queue, in segments.
    Room(usize),
    /// What a modem says of it, in Mbit/s of IP; it says nothing before.
    Told(u64),
    /// What it says now is only what was asked for.
    Floor(u64),
    /// The modem falls silent.
    Silence,
    /// The retransmission timer fires once.
    Timeout,
    /// And should not have.
    Spurious,
    /// One packet of those in flight is lost.
    Loss,
    /// Nothing.
    Nothing,
}

/// A story: what is said of each scene, its length in ms, and what changes at its start.
type Scene = (&'static str, u64, Change);

struct Path {
    controller: Box<dyn Controller>,
    ticks: u64,
    per_ten_ms: u64,
    room: usize,
    told: Option<(u64, Bound)>,
    rate: DeliveryRate,
    pacer: Pacer,
    queue: VecDeque<Departure>,
    returning: VecDeque<(u64, Departure)>,
    in_flight: u64,
    service: u64,
    recovering_until: Option<Bytes>,
    timed_out: bool,
    blocked: bool,
}

impl Path {
    fn new(make: impl FnOnce(&Start) -> Box<dyn Controller>) -> Self {
        let start = Start::tcp(HostInstant::default(), Some(Duration::from_millis(BASE_MS)), 3);
        Self {
            controller: make(&start),
            ticks: 0,
            per_ten_ms: 10,
            room: 1000,
            told: None,
            rate: DeliveryRate::default(),
            pacer: Pacer::default(),
            queue: VecDeque::new(),
            returning: VecDeque::new(),
            in_flight: 0,
            service: 0,
            recovering_until: None,
            timed_out: false,
            blocked: false,
        }
    }

    fn now(&self) -> HostInstant {
        HostInstant::from_nanos(self.ticks * 1_000_000 / TICKS_PER_MS)
    }

    fn bytes(segments: u64) -> Bytes {
        Bytes::new(segments * MSS.count())
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Path(per_ten_ms) => self.per_ten_ms = per_ten_ms,
            Change::Room(room) => self.room = room,
            Change::Told(mbit) => self.told = Some((mbit, Bound::Capacity)),
            Change::Floor(mbit) => self.told = Some((mbit, Bound::Served)),
            Change::Silence => self.told = None,
            Change::Timeout => {
                self.timed_out = true;
                self.recovering_until = Some(self.rate.delivered() + Self::bytes(self.in_flight));
                self.controller.handle_timeout(self.now());
            }
            Change::Spurious => {
                (self.timed_out, self.recovering_until) = (false, None);
                self.controller.handle_spurious_timeout(self.now());
            }
            Change::Loss => {
                if let Some(sent) = self.queue.pop_front() {
                    self.lose(sent);
                }
            }
            Change::Nothing => {}
        }
    }

    fn lose(&mut self, sent: Departure) {
        self.in_flight -= 1;
        self.rate.handle_lost(MSS);
        let begins_recovery = self.recovering_until.is_none();
        let in_flight = Self::bytes(self.in_flight);
        if begins_recovery {
            self.recovering_until = Some(self.rate.delivered() + in_flight);
        }
        let loss = Loss { now: self.now(), size: MSS, in_flight, sent, begins_recovery };
        self.controller.handle_loss(&loss);
    }

    fn tick(&mut self) {
        self.ticks += 1;
        let now = self.now();
        if let Some((mbit, bound)) =
            self.told.filter(|_| self.ticks.is_multiple_of(10 * TICKS_PER_MS))
        {
            let estimate = LinkEstimate {
                direction: Direction::Uplink,
                rate: Rate::from_bits_per_sec(mbit * 1_000_000),
                bound,
                age: Duration::from_millis(10),
                valid_for: Duration::from_millis(300),
                backlog: None,
                state: State::Active,
                cause: Cause::Grants,
            };
            self.controller.handle_estimate(now, &estimate, 1);
        }
        if self.controller.wakeup().is_some_and(|at| at <= now) {
            self.controller.handle_time(now);
        }
        self.service += self.per_ten_ms;
        while self.service >= 10 * TICKS_PER_MS {
            let Some(sent) = self.queue.pop_front() else {
                self.service = 0;
                break;
            };
            self.service -= 10 * TICKS_PER_MS;
            self.returning.push_back((self.ticks + (BASE_MS - 1) * TICKS_PER_MS, sent));
        }
        let due = self.returning.iter().take_while(|(at, _)| *at <= self.ticks).count();
        // Every second segment is acknowledged, or what has waited two milliseconds.
        let late =
            self.returning.front().is_some_and(|(at, _)| at + 2 * TICKS_PER_MS <= self.ticks);
        if due >= 2 || late {
            self.acknowledge(now);
        }
        self.send(now);
    }

    fn acknowledge(&mut self, now: HostInstant) {
        let prior_in_flight = Self::bytes(self.in_flight);
        let mut acked = Bytes::ZERO;
        for _ in 0..2 {
            if let Some((_, sent)) = self.returning.pop_front_if(|(at, _)| *at <= self.ticks) {
                self.rate.handle_delivered(now, MSS, &sent);
                acked += MSS;
                self.in_flight -= 1;
            }
        }
        let least = Some(Duration::from_millis(BASE_MS));
        let Some((sent, rate)) = self.rate.finish(now, least) else { return };
        if self.recovering_until.is_some_and(|until| self.rate.delivered() >= until) {
            (self.recovering_until, self.timed_out) = (None, false);
        }
        let recovery = match (self.recovering_until, self.timed_out) {
            (None, _) => Recovery::None,
            (Some(_), false) => Recovery::Fast,
            (Some(_), true) => Recovery::Timeout,
        };
        self.controller.handle_ack(&Ack {
            now,
            acked,
            rtt: Some(now - sent.at),
            rate,
            delivered: self.rate.delivered(),
            lost: self.rate.lost(),
            prior_in_flight,
            in_flight: Self::bytes(self.in_flight),
            cwnd_limited: self.blocked,
            recovery,
            sent,
            ..Ack::default()
        });
    }

    fn send(&mut self, now: HostInstant) {
        loop {
            self.blocked = Self::bytes(self.in_flight + 1) > self.controller.cwnd();
            if self.blocked && self.in_flight > 0 {
                return;
            }
            if let Some(rate) = self.controller.pacing_rate() {
                if self.pacer.next(now) > now {
                    return;
                }
                self.pacer.handle_sent(now, MSS, rate, MSS);
            }
            self.in_flight += 1;
            let sent = self.rate.handle_sent(now, MSS, Self::bytes(self.in_flight));
            self.controller.handle_sent(&sent, MSS);
            if self.queue.len() < self.room {
                self.queue.push_back(sent);
            } else {
                self.lose(sent);
            }
        }
    }
}

fn table(make: impl FnOnce(&Start) -> Box<dyn Controller>, scenes: &[Scene]) -> String {
    let mut path = Path::new(make);
    let mut table = String::from("   ms  cwnd  Mbit/s  queue  state\n");
    for &(scene, span, change) in scenes {
        path.change(change);
        for slice in 0..4 {
            (0..span * TICKS_PER_MS / 4).for_each(|_| path.tick());
            let pacing = path.controller.pacing_rate();
            let pacing = pacing.map_or("-".into(), |rate| format!("{:.2}", rate.mbit_per_sec()));
            let row = format!(
                "{:>5}  {:>4}  {:>6}  {:>5}  {:<22}{}",
                path.ticks / TICKS_PER_MS,
                path.controller.cwnd().count() / MSS.count(),
                pacing,
                path.queue.len(),
                path.controller.state(),
                if slice == 0 { scene } else { "" },
            );
            writeln!(table, "{}", row.trim_end()).expect("a string takes it");
        }
    }
    table
}

fn named(name: &str) -> fn(&Start) -> Box<dyn Controller> {
    sounding_cc::by_name(name).expect("a controller")
}

const LOSSES: [Scene; 5] = [
    ("connects, room for 40", 800, Change::Room(40)),
    ("goes on", 2000, Change::Nothing),
    ("one packet lost", 400, Change::Loss),
    ("a timeout", 20, Change::Timeout),
    ("that was a mistake", 400, Change::Spurious),
];

#[test]
fn reno() {
    insta::assert_snapshot!(table(named("reno"), &LOSSES), @r"
      ms  cwnd  Mbit/s  queue  state
     200    40       -      1  avoidance             connects, room for 40
     400    43       -      4  avoidance
     600    48       -      9  avoidance
     800    52       -     13  avoidance
    1300    61       -     22  avoidance             goes on
    1800    68       -     29  avoidance
    2300    75       -     36  avoidance
    2800    42       -      3  avoidance
    2900    22       -      0  avoidance             one packet lost
    3000    24       -      2  avoidance
    3100    27       -      0  avoidance
    3200    29       -      1  avoidance
    3205     7       -      0  slow start            a timeout
    3210    11       -      0  slow start
    3215    14       -      0  avoidance
    3220    14       -      0  avoidance
    3320    31       -      2  avoidance             that was a mistake
    3420    33       -      0  avoidance
    3520    35       -      2  avoidance
    3620    38       -      3  avoidance
    ");
}

#[test]
fn cubic() {
    insta::assert_snapshot!(table(named("cubic"), &LOSSES), @r"
      ms  cwnd  Mbit/s  queue  state
     200    56       -     17  cut                   connects, room for 40
     400    58       -     19  concave
     600    61       -     22  concave
     800    64       -     25  concave
    1300    70       -     31  concave               goes on
    1800    74       -     35  concave
    2300    77       -     38  concave
    2800    78       -     39  concave
    2900    55       -     16  concave               one packet lost
    3000    56       -     17  concave
    3100    57       -     18  concave
    3200    58       -     19  concave
    3205     5       -     14  slow start            a timeout
    3210    11       -      9  slow start
    3215    15       -      4  slow start
    3220    21       -      0  slow start
    3320    59       -     19  reno-friendly         that was a mistake
    3420    60       -     20  reno-friendly
    3520    61       -     21  reno-friendly
    3620    61       -     21  reno-friendly
    ");
}

#[test]
fn bbr() {
    let scenes: [Scene; 7] = [
        ("connects", 800, Change::Nothing),
        ("the path slows to a half", 800, Change::Path(5)),
        ("and doubles twice", 2000, Change::Path(20)),
        ("and stays so", 1600, Change::Nothing),
        ("one packet lost", 80, Change::Loss),
        ("a timeout", 20, Change::Timeout),
        ("that was a mistake", 200, Change::Spurious),
    ];
    insta::assert_snapshot!(table(named("bbr"), &scenes), @r"
      ms  cwnd  Mbit/s  queue  state
     200   114   33.09     73  startup               connects
     400   122   33.09     83  startup
     600    90   14.34     11  probe up
     800    88   11.47      0  cruise
    1000    88    8.60     68  probe down            the path slows to a half
    1200    88   11.47     68  cruise
    1400    88   11.47     68  cruise
    1600    88   11.47     68  cruise
    2100   192   22.54      0  probe up              and doubles twice
    2600   170   28.67     12  probe up
    3100   168   17.20      8  probe down
    3600   168   22.94      0  cruise
    4000   168   22.94      0  cruise                and stays so
    4400   168   22.94      0  cruise
    4800   168   22.94      1  cruise
    5200   168   22.94      1  cruise
    5220    73   22.94      0  cruise                one packet lost
    5240   166   22.94      0  cruise
    5260   166   22.94      0  cruise
    5280   166   22.94      1  cruise
    5285    12   22.94      0  cruise                a timeout
    5290    20   22.94      0  cruise
    5295    30   22.94      0  cruise
    5300    38   22.94      0  cruise
    5350   168   28.67      3  probe up              that was a mistake
    5400   168   28.67     15  probe up
    5450   168   28.67     25  probe up
    5500   166   22.94      5  cruise
    ");
}

#[test]
fn biscay() {
    let scenes: [Scene; 6] = [
        ("connects, knows nothing", 400, Change::Nothing),
        ("is told 12 Mbit/s", 400, Change::Told(12)),
        ("is told 6", 400, Change::Told(6)),
        ("and the path falls", 800, Change::Path(5)),
        ("hears nothing more", 400, Change::Silence),
        ("a timeout", 80, Change::Timeout),
    ];
    insta::assert_snapshot!(table(named("biscay"), &scenes), @r"
      ms  cwnd  Mbit/s  queue  state
     100    34    9.96      0  startup               connects, knows nothing
     200   114   33.09     73  startup
     300   122   33.09     83  startup
     400   122   33.09     83  startup
     500    61   14.48     22  biscay                is told 12 Mbit/s
     600    61   14.48     22  biscay
     700    61   14.48     22  biscay
     800    61   14.48     22  biscay
     900    34    7.24      0  biscay                is told 6
    1000    34    7.24      0  biscay
    1100    34    7.24      0  biscay
    1200    34    7.24      1  biscay
    1400    34    7.24     13  biscay                and the path falls
    1600    34    7.24     13  biscay
    1800    34    7.24     13  biscay
    2000    34    7.24     13  biscay
    2100    48    5.73     13  fallback: silent      hears nothing more
    2200    48    5.73     11  fallback: silent
    2300    50    7.17     13  fallback: silent
    2400    48    5.73      9  fallback: silent
    2420    12    5.73      0  fallback: silent      a timeout
    2440    22    5.73      0  fallback: silent
    2460    48    5.73      0  fallback: silent
    2480    48    5.73      1  fallback: silent
    ");
}

#[test]
fn sounding() {
    let scenes: [Scene; 6] = [
        ("connects, is told 12 Mbit/s", 400, Change::Told(12)),
        ("the path doubles, unseen", 400, Change::Path(20)),
        ("12 is but a floor", 400, Change::Floor(12)),
        ("is told 24", 400, Change::Told(24)),
        ("24 is but a floor", 400, Change::Floor(24)),
        ("hears nothing more", 200, Change::Silence),
    ];
    insta::assert_snapshot!(table(named("sounding"), &scenes), @r"
      ms  cwnd  Mbit/s  queue  state
     100    61   14.48     15  biscay                connects, is told 12 Mbit/s
     200    61   14.48     22  biscay
     300    61   14.48     22  biscay
     400    61   14.48     22  biscay
     500    61   14.48      0  biscay                the path doubles, unseen
     600    61   14.48      1  biscay
     700    61   14.48      0  biscay
     800    61   14.48      1  biscay
     900   178   39.81     31  probing               12 is but a floor
    1000   223   82.87    176  probing, held
    1100   223   82.87    145  probing, held
    1200   183   68.05    105  probing, held
    1300   115   28.96     37  biscay                is told 24
    1400   115   28.96     37  biscay
    1500   115   28.96     37  biscay
    1600   115   28.96     37  biscay
    1700   166   40.40     88  probing, held         24 is but a floor
    1800   166   39.05     88  probing, held
    1900   166   28.96     88  probing, held
    2000   166   28.96     88  probing, held
    2050   166   28.96     88  probing, held         hears nothing more
    2100   168   28.67     88  fallback: silent
    2150   166   17.20     70  fallback: silent
    2200   166   22.94     58  fallback: silent
    ");
}

#[test]
fn oracle() {
    // Knows that the path delivers a segment each millisecond for 400 ms, and then one in two.
    let capacity = |until: HostInstant| {
        let ms = until.as_nanos() / 1_000_000;
        Path::bytes(ms.min(400) + ms.saturating_sub(400) / 2)
    };
    let make = move |start: &Start| -> Box<dyn Controller> {
        Box::new(Oracle::new(start, Duration::from_millis(1), capacity))
    };
    let scenes: [Scene; 2] =
        [("connects", 400, Change::Nothing), ("the path slows to a half", 400, Change::Path(5))];
    insta::assert_snapshot!(table(make, &scenes), @r"
     ms  cwnd  Mbit/s  queue  state
    100    40       -      1  oracle                connects
    200    40       -      1  oracle
    300    40       -      1  oracle
    400    39       -      0  oracle
    500    21       -      0  oracle                the path slows to a half
    600    21       -      0  oracle
    700    21       -      0  oracle
    800    21       -      0  oracle
    ");
}
