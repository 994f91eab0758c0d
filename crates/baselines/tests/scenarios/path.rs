//! The path, and the events as a table.

use std::collections::VecDeque;
use std::fmt::Write;
use std::time::Duration;

use sounding_cc::part::{DeliveryRate, Pacer};
use sounding_cc::{Ack, Controller, Delivered, Departure, Loss, Recovery, Stamp, Start};
use sounding_estimate::{Bound, LinkEstimate};
use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant, Rate};

const MSS: Bytes = Bytes::new(1448);
const BASE_MS: u64 = 40;
const TICKS_PER_MS: u64 = 10;

/// An event, with its start.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    /// Segments the path delivers in ten milliseconds.
    Path(u64),
    /// Room in its queue, in segments.
    Room(usize),
    /// The modem's rate, in Mbit/s of IP; before it there is none.
    Told(u64),
    /// The modem's rate is only a floor, in Mbit/s: the granted rate that the flow requested.
    Floor(u64),
    /// The modem falls silent.
    Silence,
    /// The retransmission timer fires once.
    Timeout,
    /// And should not have.
    Spurious,
    /// One packet of those in flight is lost.
    Loss,
    /// No change.
    Nothing,
}

/// Events: the caption of each scene, its length in ms, and the change at its start.
pub(crate) type Scene = (&'static str, u64, Change);

pub(crate) struct Path {
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

    pub(crate) fn bytes(segments: u64) -> Bytes {
        Bytes::new(segments * MSS.count())
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Path(per_ten_ms) => self.per_ten_ms = per_ten_ms,
            Change::Room(room) => self.room = room,
            Change::Told(mbit) => self.told = Some((mbit, Bound::Capacity)),
            Change::Floor(mbit) => self.told = Some((mbit, Bound::Floor)),
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
            let estimate = LinkEstimate::new(
                Direction::Uplink,
                Rate::from_bits_per_sec(mbit * 1_000_000),
                bound,
            )
            .with_age(Duration::from_millis(10));
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
        // The receiver acknowledges every second segment, or a segment that has waited for two
        // milliseconds.
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
            if self.returning.front().is_some_and(|(at, _)| *at <= self.ticks)
                && let Some((_, sent)) = self.returning.pop_front()
            {
                self.rate.handle_delivered(now, MSS, &sent);
                self.controller.handle_delivered(&Delivered { now, size: MSS, sent });
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
            stamp: Some(Stamp {
                value: (now.as_nanos() / 1_000_000) as u32,
                tick: Duration::from_millis(1),
            }),
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
            if self.controller.not_before().is_some_and(|at| at > now) {
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

pub(crate) fn table(make: impl FnOnce(&Start) -> Box<dyn Controller>, scenes: &[Scene]) -> String {
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

pub(crate) fn named(name: &str) -> fn(&Start) -> Box<dyn Controller> {
    sounding_baselines::by_name(name).expect("a controller")
}
