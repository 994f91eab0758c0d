//! How far a sender believes a rate that the device at the other end reports. The device may lie,
//! and so may a host on the path.
//!
//! Whole numbers only: `crates/bpf/src/bpf/common/trust.h` is the same arithmetic in C, function by
//! function, and a property test runs both over the same sequences. [`Trusting`] puts it before a
//! controller. docs/reference/downlink.md has the rules for users.

mod controller;

pub use controller::Trusting;

use crate::limits::MAX_RTT_US;

/// No claim is believed beyond so many times what was delivered lately.
const GAIN: u64 = 3;
/// In so many rounds of a connection, and after idleness, nothing is known of what the path
/// delivers. The window may then reach what this many segments take, as 27 Mbit/s have under way at
/// 40 ms.
const ROUNDS: u32 = 3;
const SEGMENTS: u64 = 128;
/// As long as BBR's filter: by then no sample is in it but of the application's pace.
const HELD_BACK: u32 = 10;
/// A radio that gets faster is believed after one round or two for each factor of three, so an
/// honest claim is not cut for so long.
const OVERSTATED: u32 = 16;
/// After so many rounds with a cut claim and without a quarter more, only an eighth above the
/// arrivals is used.
const STUCK: u32 = 3;

/// Losses of a round are heavy from so many segments on, if they are a sixteenth of what the round
/// settled.
const HEAVY: u32 = 8;
/// The rounds of a cycle of a claim that heavy losses cut: in the first few what waits drains, in
/// the last few arrivals are measured.
const DRAINED: u32 = 2;
const MEASURED: u32 = 4;
const CYCLE: u32 = 8;
/// The most that is tried above the arrivals, in eighths: a start by doubling has as much.
const MOST_EXCESS: u32 = 8;
/// The most cycles without a try, after tries that showed nothing.
const MOST_PAUSE: u32 = 4;
/// A device whose claim the arrivals bear out for so many rounds is believed again. Each cut adds
/// as many, up to [`STRIKES`] times.
const BORNE: u32 = 8;
const STRIKES: u32 = 8;

/// TCP and IPv4 headers with time stamps.
const HEADERS: u64 = 52;
const MAX_MSS: u32 = 65_535;
const MAX_SEGMENTS: u32 = 1 << 20;
const MAX_RATE: u64 = sounding_estimate::MAX_RATE.bytes_per_sec();

/// What happened in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Not all of it was limited by the application.
    free: bool,
    /// A part of it was.
    limited: bool,
    /// A claim was cut that would have been used.
    cut: bool,
    /// A claim was within what is believed.
    borne: bool,
    /// More than an eighth above what was delivered lately was believed.
    above: bool,
    /// The same of the round before, whose losses show in this one.
    was_above: bool,
    /// A claim was more than the arrivals bear out.
    over: bool,
}

/// What is remembered of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// `None` until the first step.
    seen: Option<Seen>,
    /// Delivered segments that end this round.
    ends_at: u32,
    /// Rounds that count, up to [`ROUNDS`].
    rounds: u32,
    /// Rounds in a row that do not.
    held_back: u32,
    /// Rounds in which the claim was cut, and none in which it was not.
    overstated: u32,
    /// Rounds in a row in which the claim was cut and no more arrived.
    stuck: u32,
    /// The delivery rate when it last was a quarter more.
    arrived: u64,
    began_ns: u64,
    /// Lost segments when this round began.
    lost: u32,
    cap: Option<Cap>,
    /// Cuts so far, up to [`STRIKES`].
    strikes: u32,
}

/// A claim that was cut after heavy losses, until deliveries show more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cap {
    /// What arrives, payload, bytes a second.
    rate: u64,
    /// This was not measured over a round yet.
    is_new: bool,
    /// Round of the cycle.
    round: u32,
    /// What is tried above it, in eighths.
    excess: u32,
    /// Cycles until the next try, and how many there are after one that shows nothing.
    wait: u32,
    pause: u32,
    /// The last cycle left a queue: this one begins with less than arrives.
    drains: bool,
    /// Rounds in a row in which no claim exceeded it.
    borne: u32,
    /// When this cycle's measurement began, and what was delivered and lost by then.
    from_ns: u64,
    from_delivered: u32,
    from_lost: u32,
    /// The application limited a part of the measurement.
    limited: bool,
}

/// The input of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The claim, bytes a second of IP packets.
    pub rate: u64,
    /// The most of the last ten rounds, payload, bytes a second.
    pub delivered_rate: u64,
    /// When.
    pub now_ns: u64,
    /// Segments that were delivered so far; it wraps, as the next two.
    pub delivered: u32,
    /// The same, in segments, when what is now acknowledged left.
    pub prior_delivered: u32,
    /// Segments that were lost so far.
    pub lost: u32,
    /// Payload of a segment in bytes.
    pub mss: u32,
    /// The least RTT.
    pub rtt_us: u32,
    /// The time that a claim's window has room for besides.
    pub queue_us: u32,
    /// Segments in flight before this acknowledgement.
    pub inflight: u32,
    /// The window as set last, in segments.
    pub window: u32,
    /// Data was acknowledged: rounds advance.
    pub acked: bool,
    /// The application limited this sample.
    pub limited: bool,
}

impl Input {
    fn mss(&self) -> u64 {
        self.mss.clamp(1, MAX_MSS).into()
    }

    /// A rate of payload as one of IP packets.
    fn whole(&self, payload: u64) -> u64 {
        payload * (self.mss() + HEADERS) / self.mss()
    }

    fn delivers(&self) -> u64 {
        self.delivered_rate.min(MAX_RATE)
    }

    /// The mean rate of payload since then.
    fn mean(&self, from_ns: u64, from_delivered: u32) -> u64 {
        let segments = u64::from(self.delivered.wrapping_sub(from_delivered).min(MAX_SEGMENTS));
        let span_us = (self.now_ns.saturating_sub(from_ns) / 1000).max(1);
        (segments * self.mss() * 1_000_000 / span_us).min(MAX_RATE)
    }

    /// Whether a quarter more is in flight than a path of this rate holds: then the rate is all
    /// that it carries.
    fn queues(&self, rate: u64) -> bool {
        let inflight = u64::from(self.inflight.min(MAX_SEGMENTS)) * self.mss();
        inflight * 4_000_000 >= rate * u64::from(self.rtt_us).min(MAX_RTT_US) * 5
    }

    /// Whether a claim that is cut would have been used; a slow reader does not show the path's
    /// limit.
    fn lacks(&self) -> bool {
        self.acked && !self.limited && u64::from(self.inflight) * 2 >= u64::from(self.window)
    }
}

/// Whether a counter that wraps has reached `goal`.
fn has_reached(seen: u32, goal: u32) -> bool {
    seen.wrapping_sub(goal) as i32 >= 0
}

impl Trust {
    /// The connection was idle: nothing is known of its path, except what heavy losses taught.
    pub fn forget(&mut self, delivered: u32) {
        *self = Self {
            seen: Some(Seen::default()),
            ends_at: delivered,
            began_ns: self.began_ns,
            lost: self.lost,
            cap: self.cap,
            strikes: self.strikes,
            ..Self::default()
        };
    }

    /// Rounds that count so far, up to three.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Rounds in which the claim was cut, since the last in which it was not.
    pub fn overstated(&self) -> u32 {
        self.overstated
    }

    /// At an acknowledgement or a restart from idle: the usable part of the claim, payload, bytes a
    /// second.
    pub fn step(&mut self, input: &Input) -> u64 {
        if self.seen.is_none() {
            self.forget(input.delivered);
            (self.began_ns, self.lost) = (input.now_ns, input.lost);
        }
        let mut seen = self.seen.unwrap_or_default();
        if input.acked {
            if has_reached(input.prior_delivered, self.ends_at) {
                seen = self.end_round(seen, input);
            }
            seen.free |= !input.limited;
            seen.limited |= input.limited;
            if self.loses_much(input) {
                match self.cap {
                    None if seen.above || seen.was_above => self.cut(input),
                    Some(cap) if seen.over && cap.tries() => {
                        self.cap = Some(cap.failed(self, input));
                    }
                    _ => {}
                }
            }
        }
        let most = self.most(input);
        let used = input.rate.min(most);
        let believed = self.cap.is_none_or(|cap| input.rate <= input.whole(cap.rate));
        seen.borne |= input.rate > 0 && input.rate <= most && believed;
        seen.cut |= input.rate > most && input.lacks();
        seen.over |= !believed;
        let arrives = input.whole(input.delivers());
        seen.above |= used > arrives + arrives / 8;
        self.seen = Some(seen);
        used
    }

    /// What is believed of another rate that comes with the claim, after that step, bytes a second.
    pub fn within(&self, input: &Input, rate: u64) -> u64 {
        rate.min(self.most(input))
    }

    /// Whether losses of this round are heavy so far.
    fn loses_much(&self, input: &Input) -> bool {
        let lost = input.lost.wrapping_sub(self.lost).min(MAX_SEGMENTS);
        let delivered = input.delivered.wrapping_sub(self.ends_at).min(MAX_SEGMENTS);
        lost >= HEAVY && lost * 16 >= lost + delivered
    }

    fn cut(&mut self, input: &Input) {
        self.strikes = (self.strikes + 1).min(STRIKES);
        let cap = Cap { pause: 1, ..Cap::default() };
        self.cap = Some(Cap { wait: 0, ..cap.failed(self, input) });
    }

    fn end_round(&mut self, seen: Seen, input: &Input) -> Seen {
        self.cap = self.cap.and_then(|cap| self.next_cap(cap, seen, input));
        self.grow(seen, input.delivers());
        if seen.free {
            self.held_back = 0;
            self.rounds = (self.rounds + 1).min(ROUNDS);
        } else {
            self.held_back += 1;
            if self.held_back >= HELD_BACK {
                (self.held_back, self.rounds, self.stuck, self.arrived) = (0, 0, 0, 0);
            }
        }
        // A round in which the window was not used shows nothing, for example with a slow reader.
        if seen.borne || !seen.free {
            self.overstated = 0;
        } else if seen.cut && self.rounds >= ROUNDS {
            self.overstated = (self.overstated + 1).min(OVERSTATED);
        }
        self.ends_at = input.delivered;
        self.began_ns = input.now_ns;
        self.lost = input.lost;
        Seen { was_above: seen.above, ..Seen::default() }
    }

    /// What a cut claim is cut to in the next round; `None` if the device is believed again.
    fn next_cap(&self, mut cap: Cap, seen: Seen, input: &Input) -> Option<Cap> {
        cap.borne = if seen.over { 0 } else { cap.borne + u32::from(seen.borne) };
        if cap.borne >= BORNE * self.strikes {
            return None;
        }
        cap.round += 1;
        cap.limited |= seen.limited;
        let round = input.mean(self.began_ns, self.ends_at);
        if cap.is_new {
            // Lost packets found the queue full. So the link was never without work in this round.
            cap.rate = cap.rate.min(round);
            cap.is_new = false;
        } else if self.loses_much(input) && !seen.limited && round * 8 < cap.rate * 7 {
            // The path is narrower than it was. Losses that come at any rate do not reduce the
            // cut's rate again and again.
            cap = Cap { rate: round.max(cap.rate / 2), round: 0, excess: 1, drains: true, ..cap };
        }
        if cap.round == MEASURED {
            (cap.from_ns, cap.from_delivered, cap.from_lost, cap.limited) =
                (input.now_ns, input.delivered, input.lost, false);
        } else if cap.round >= CYCLE {
            cap = Self::judge(cap, input);
        }
        Some(cap)
    }

    /// A cycle ends: do deliveries show more?
    fn judge(mut cap: Cap, input: &Input) -> Cap {
        let mean = input.mean(cap.from_ns, cap.from_delivered);
        let delivered = input.delivered.wrapping_sub(cap.from_delivered).min(MAX_SEGMENTS);
        let lost = input.lost.wrapping_sub(cap.from_lost).min(MAX_SEGMENTS);
        let is_lossy = lost > 0 && lost * 32 >= delivered;
        let tried = cap.wait == 0;
        cap.round = 0;
        cap.drains = tried || is_lossy;
        if !tried {
            cap.wait -= 1;
        } else if cap.limited {
            // It shows nothing.
        } else if !is_lossy && mean * 16 >= cap.rate * u64::from(16 + cap.excess) {
            cap.rate = mean;
            cap.excess = (cap.excess * 2).min(MOST_EXCESS);
            cap.pause = 1;
        } else {
            if is_lossy || input.queues(mean) {
                cap.rate = cap.rate.min(mean.max(cap.rate * 7 / 8));
            }
            cap.rest();
        }
        cap
    }

    /// The round that ends delivered `rate` at most.
    fn grow(&mut self, seen: Seen, rate: u64) {
        if rate * 4 >= self.arrived * 5 || seen.borne {
            self.arrived = rate;
            self.stuck = 0;
        } else if seen.cut {
            self.stuck = (self.stuck + 1).min(STUCK);
        }
    }

    /// What may be believed at most, whatever is claimed.
    fn most(&self, input: &Input) -> u64 {
        let packet = input.mss() + HEADERS;
        let arrives = input.whole(input.delivers());
        let mut most = arrives * GAIN;
        if self.rounds < ROUNDS || arrives == 0 {
            let [rtt_us, queue_us] =
                [input.rtt_us, input.queue_us].map(|us| u64::from(us).min(MAX_RTT_US));
            most = most.max(SEGMENTS * packet * 1_000_000 / (rtt_us + queue_us).max(1));
        }
        match self.cap {
            Some(cap) => most.min(input.whole(cap.used(input))),
            None if self.stuck >= STUCK && arrives > 0 => arrives + arrives / 8,
            None => most,
        }
    }
}

impl Cap {
    /// Whether more than arrives is tried.
    fn tries(&self) -> bool {
        self.wait == 0 && !(self.drains && self.round < DRAINED)
    }

    /// No try until some cycles later.
    fn rest(&mut self) {
        self.excess = 1;
        self.wait = self.pause;
        self.pause = (self.pause * 2).min(MOST_PAUSE);
    }

    /// Losses were heavy: this round measures anew what arrives.
    fn failed(mut self, trust: &Trust, input: &Input) -> Self {
        self.rate = input.delivers();
        self.is_new = true;
        self.round = 0;
        self.drains = true;
        self.rest();
        (self.from_ns, self.from_delivered, self.from_lost) =
            (trust.began_ns, trust.ends_at, input.lost);
        self.limited = false;
        self
    }

    /// What is used of a claim, payload. A claim that the arrivals confirm is used whole.
    fn used(&self, input: &Input) -> u64 {
        if input.rate <= input.whole(self.rate) {
            self.rate
        } else if self.tries() {
            self.rate + self.rate * u64::from(self.excess) / 8
        } else if self.drains && self.round < DRAINED {
            self.rate / 2
        } else {
            self.rate
        }
    }
}
