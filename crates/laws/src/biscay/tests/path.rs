//! A fluid model of a path, in steps of a millisecond: a radio, a wire behind it, and one queue
//! before the narrower of the two. The sender runs the law, with a simple BBR as its shadow. The
//! model is fluid, so that a test depends only on the law.

use std::collections::VecDeque;

use super::super::*;
use super::{Ack, bytes};

const TICK_US: u64 = 1_000;
const MSS: u32 = 1448;
const SEGMENT: u64 = 1500;
/// Rounds BBR's bandwidth filter remembers.
const FILTER: usize = 10;

/// The conditions of the path, which a test changes over time.
#[derive(Clone, Copy)]
pub(super) struct World {
    /// Rate of the radio, kbit/s.
    pub(super) radio: u64,
    /// Rate of the wire behind it, kbit/s.
    pub(super) wire: u64,
    /// The feed's rate, in thousandths of the truth.
    pub(super) told_permille: u64,
    /// Delay of the feed, ms.
    pub(super) told_late: u64,
    /// RTT without queue, ms.
    pub(super) base: u64,
    /// Size of the queue, in segments; packets beyond it are lost.
    pub(super) buffer: u64,
    /// Rate of the application, kbit/s.
    pub(super) app: u64,
    pub(super) bound: Bound,
    pub(super) flows: u32,
    pub(super) feed_lives: bool,
}

impl Default for World {
    fn default() -> Self {
        Self {
            radio: 30_000,
            wire: 1_000_000,
            told_permille: 1000,
            told_late: 40,
            base: 50,
            buffer: 10_000,
            app: u64::MAX / SEGMENT / 8,
            bound: Bound::Capacity,
            flows: 1,
            feed_lives: true,
        }
    }
}

/// A flow on a path.
pub(super) struct Drive {
    pub(super) world: World,
    pub(super) flow: Biscay,
    tick: u64,
    told: VecDeque<u64>,
    sampled_at: HostInstant,
    heartbeat_at: HostInstant,
    estimate: u64,
    agreement: Agreement,
    agreeing: u32,
    command: Command,
    credit: f64,
    app_credit: f64,
    queue: VecDeque<(u64, u32)>,
    served: f64,
    returning: VecDeque<(u64, u64, u32)>,
    pub(super) inflight: u32,
    pub(super) delivered: u32,
    lost: u32,
    limited_until: u32,
    filter: VecDeque<u64>,
    round: (u64, u32),
    e2e: u64,
    rtt_min: Option<u64>,
    pub(super) timeout: Timeout,
}

impl Drive {
    pub(super) fn new(world: World) -> Self {
        Self::with_knobs(world, super::plain())
    }

    pub(super) fn with_knobs(world: World, config: Config) -> Self {
        Self {
            world,
            flow: Biscay::new(config, HostInstant::default(), 0),
            tick: 0,
            told: VecDeque::new(),
            sampled_at: HostInstant::default(),
            heartbeat_at: HostInstant::default(),
            estimate: 0,
            agreement: Agreement::default(),
            agreeing: 0,
            command: Command {
                cwnd: 10,
                pacing: Rate::from_bits_per_sec(10_000_000),
                cut: None,
                longer: None,
            },
            credit: 0.0,
            app_credit: 0.0,
            queue: VecDeque::new(),
            served: 0.0,
            returning: VecDeque::new(),
            inflight: 0,
            delivered: 0,
            lost: 0,
            limited_until: 0,
            filter: VecDeque::new(),
            round: (0, 0),
            e2e: 0,
            rtt_min: None,
            timeout: Timeout::None,
        }
    }

    pub(super) fn now(&self) -> HostInstant {
        HostInstant::from_nanos(self.tick * TICK_US * 1000)
    }

    /// Delay of the queue before the bottleneck.
    pub(super) fn queue_ms(&self) -> u64 {
        let rate = self.world.radio.min(self.world.wire);
        self.queue.len() as u64 * SEGMENT * 8 / rate.max(1)
    }

    /// Runs for `span` ms. Returns the delivered rate in tenths of a Mbit/s.
    pub(super) fn run_ms(&mut self, span: u64) -> u64 {
        let before = self.delivered;
        for _ in 0..span {
            self.step();
        }
        u64::from(self.delivered - before) * SEGMENT * 8 / span / 100
    }

    /// Runs until `wanted` accepts the law's state. Returns the time that it took, or `None` after
    /// `span` ms.
    pub(super) fn run_until(&mut self, span: u64, wanted: impl Fn(State) -> bool) -> Option<u64> {
        for waited in 0..span {
            if wanted(self.flow.state()) {
                return Some(waited);
            }
            self.step();
        }
        None
    }

    fn step(&mut self) {
        self.tick += 1;
        let world = self.world;
        self.report(world);
        self.send(world);
        self.serve(world);
        while let Some(&(due, sent_at, prior)) = self.returning.front() {
            if due > self.tick {
                break;
            }
            self.returning.pop_front();
            self.handle_ack(sent_at, prior);
        }
    }

    fn report(&mut self, world: World) {
        self.told.push_back(world.radio);
        let told = if self.told.len() as u64 > world.told_late {
            self.told.pop_front().unwrap()
        } else {
            return;
        };
        if world.feed_lives && self.tick.is_multiple_of(10) {
            self.heartbeat_at = self.now();
            self.sampled_at = HostInstant::from_nanos((self.tick - world.told_late) * 1_000_000);
            self.estimate = told * world.told_permille / 1000;
            self.agreeing = self.agreement.handle_estimate(&self.estimate());
        }
    }

    fn estimate(&self) -> FeedEstimate {
        FeedEstimate {
            rate: Rate::from_bits_per_sec(self.estimate * 1000),
            sampled_at: self.sampled_at,
            bound: self.world.bound,
            other_flows: 0,
        }
    }

    fn send(&mut self, world: World) {
        // Pacing counts payload, the path carries packets.
        let pacing = self.command.pacing.bits_per_sec() as f64 / f64::from(MSS) / 8e3;
        self.credit = (self.credit + pacing).min(2.0 * pacing + 1.0);
        self.app_credit = (self.app_credit + world.app as f64 / 8.0 / SEGMENT as f64).min(1e9);
        while self.inflight < self.command.cwnd && self.credit >= 1.0 {
            if self.app_credit < 1.0 {
                self.limited_until = self.delivered + self.inflight.max(1);
                break;
            }
            self.credit -= 1.0;
            self.app_credit -= 1.0;
            if self.queue.len() as u64 >= world.buffer {
                self.lost += 1;
                continue;
            }
            self.inflight += 1;
            self.queue.push_back((self.tick, self.delivered));
        }
        if world.app < 1_000_000 {
            // An application that waits for the network produces no data meanwhile.
            self.app_credit = self.app_credit.min(2.0);
        }
    }

    fn serve(&mut self, world: World) {
        self.served += world.radio.min(world.wire) as f64 / 8.0 / SEGMENT as f64;
        while self.served >= 1.0 {
            let Some((sent_at, prior)) = self.queue.pop_front() else {
                self.served = self.served.min(1.0);
                break;
            };
            self.served -= 1.0;
            self.returning.push_back((self.tick + world.base, sent_at, prior));
        }
    }

    fn handle_ack(&mut self, sent_at: u64, prior: u32) {
        let inflight = self.inflight;
        self.inflight -= 1;
        self.delivered += 1;
        let rtt = (self.tick - sent_at).max(1);
        self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        let limited = prior < self.limited_until;
        if prior >= self.round.1 {
            let span = (self.tick - self.round.0).max(1);
            let rate = u64::from(self.delivered - self.round.1) * u64::from(MSS) * 1000 / span;
            if !limited || rate > self.e2e {
                self.filter.push_back(rate);
            }
            if self.filter.len() > FILTER {
                self.filter.pop_front();
            }
            self.e2e = self.filter.iter().copied().max().unwrap_or(0);
            self.round = (self.tick, self.delivered);
        }
        let base_us = self.rtt_min.unwrap_or(1) * TICK_US;
        let path = PathSample {
            rtt_min: Some(Duration::from_micros(base_us)),
            mss: MSS,
            e2e: Rate::from_bytes_per_sec(self.e2e),
            flows: world_flows(&self.world),
            link: None,
            shadow_cwnd: (2 * self.e2e * base_us / 1_000_000 / u64::from(MSS)).max(10) as u32 + 6,
            shadow_pacing: Rate::from_bytes_per_sec((self.e2e * 5 / 4).max(250_000)),
        };
        let ack = Ack {
            rtt: Some(Duration::from_millis(rtt)),
            delivered: bytes(self.delivered),
            prior_delivered: bytes(prior),
            acked: bytes(1),
            lost: bytes(core::mem::take(&mut self.lost)),
            in_flight: bytes(inflight),
            is_limited: limited,
            ..Ack::default()
        };
        let feed = Snapshot {
            estimate: (self.agreeing > 0).then(|| self.estimate()),
            agreeing: self.agreeing,
            heartbeat_at: self.heartbeat_at,
        };
        let timeout = core::mem::take(&mut self.timeout);
        self.command = self.flow.handle_ack(self.now(), &feed, &path, timeout, &ack);
        if let Some(cut) = self.command.cut {
            self.filter.iter_mut().for_each(|rate| *rate = cut.bytes_per_sec().min(*rate));
            self.e2e = self.e2e.min(cut.bytes_per_sec());
        }
    }

    pub(super) fn command(&self) -> Command {
        self.command
    }
}

fn world_flows(world: &World) -> u32 {
    world.flows
}
