//! The law before a bottleneck with a queue, packet by packet: rounds get as long as the queue
//! makes them.

use std::collections::VecDeque;

use super::*;

const MSS: u64 = 1448;
/// Where nothing is claimed: BBR's highest gain of ProbeBW.
const PROBES: f64 = 1.25;

/// A packet on the way, as BBR's rate samples need it (draft-cheng-iccrg-delivery-rate-estimation).
struct Packet {
    sent_us: f64,
    acked_us: f64,
    delivered: u64,
    delivered_us: f64,
    first_sent_us: f64,
}

/// A path of [`RTT`] with one bottleneck and an unlimited queue before it.
struct Path {
    law: Law,
    now_us: f64,
    carries: Rate,
    claims: FeedUpdate,
    /// When the bottleneck has sent what waits.
    free_us: f64,
    next_us: f64,
    flight: VecDeque<Packet>,
    delivered: u64,
    delivered_us: f64,
    first_sent_us: f64,
    samples: VecDeque<(f64, f64)>,
    /// Packet-timed rounds since the claims began.
    rounds: u32,
    round_ends_at: u64,
}

impl Path {
    fn new(claims: FeedUpdate, carries: Rate) -> Self {
        Self {
            law: Law::new(Config::default(), &Start::tcp(ms(1_000), Some(RTT), 1), 0),
            now_us: 1e6,
            carries,
            claims,
            free_us: 1e6,
            next_us: 1e6,
            flight: VecDeque::new(),
            delivered: 0,
            delivered_us: 1e6,
            first_sent_us: 1e6,
            samples: VecDeque::new(),
            rounds: 0,
            round_ends_at: 0,
        }
    }

    fn now(&self) -> HostInstant {
        HostInstant::from_nanos((self.now_us * 1e3) as u64)
    }

    fn bandwidth(&self) -> f64 {
        self.samples.front().map_or(0.0, |(_, rate)| *rate)
    }

    /// Payload bytes a second that are sent, and the window.
    fn sends(&self) -> (f64, f64) {
        let ten = (10 * MSS) as f64;
        if self.law.law_controls() {
            return (self.law.pacing().bytes_per_sec() as f64, self.law.cwnd().count() as f64);
        }
        let first = ten / RTT.as_secs_f64();
        let most = self.law.limit().map_or(f64::INFINITY, |rate| rate.bytes_per_sec() as f64);
        let window = 2.0 * self.bandwidth() * RTT.as_secs_f64();
        ((self.bandwidth() * PROBES).max(first).min(most), window.max(ten))
    }

    fn rtt_us() -> f64 {
        RTT.as_secs_f64() * 1e6
    }

    /// Sends what pace and window allow.
    fn send(&mut self) {
        loop {
            let (rate, window) = self.sends();
            let fits = ((self.flight.len() as u64 + 1) * MSS) as f64 <= window;
            if !fits || self.next_us > self.now_us {
                return;
            }
            self.next_us = self.next_us.max(self.now_us - 1e3) + MSS as f64 / rate * 1e6;
            if self.flight.is_empty() {
                (self.first_sent_us, self.delivered_us) = (self.now_us, self.now_us);
            }
            let takes = MSS as f64 / self.carries.bytes_per_sec() as f64 * 1e6;
            self.free_us = self.free_us.max(self.now_us) + takes;
            self.flight.push_back(Packet {
                sent_us: self.now_us,
                acked_us: self.free_us + Self::rtt_us(),
                delivered: self.delivered,
                delivered_us: self.delivered_us,
                first_sent_us: self.first_sent_us,
            });
        }
    }

    fn ack(&mut self, packet: &Packet) {
        self.delivered += MSS;
        self.delivered_us = self.now_us;
        let sent = packet.sent_us - packet.first_sent_us;
        let span = sent.max(self.now_us - packet.delivered_us);
        self.first_sent_us = packet.sent_us;
        let rate = (self.delivered - packet.delivered) as f64 / span.max(1.0) * 1e6;
        // A rate below the newest will never be the maximum.
        while self.samples.pop_back_if(|(_, before)| *before <= rate).is_some() {}
        self.samples.push_back((self.now_us, rate));
        while self.samples.front().is_some_and(|(at, _)| self.now_us - at > 10.0 * Self::rtt_us()) {
            self.samples.pop_front();
        }
        if packet.delivered >= self.round_ends_at {
            self.round_ends_at = self.delivered;
            self.rounds += 1;
        }
        let now = self.now();
        self.law.handle_feed(now, self.claims);
        let rtt = Duration::from_micros((self.now_us - packet.sent_us) as u64);
        let ack = Ack {
            now,
            rtt: Some(rtt),
            delay: Some(rtt),
            rate: Some(Rate::from_bytes_per_sec(rate as u64)),
            acked: Bytes::new(MSS),
            delivered: Bytes::new(self.delivered),
            prior_delivered: Bytes::new(packet.delivered),
            ..Ack::default()
        };
        self.law.handle_ack(&ack, Rate::from_bytes_per_sec(self.bandwidth() as u64));
    }

    /// Lets so much time pass; `each` receives the path after each step of 0.1 ms.
    fn run(&mut self, span: Duration, mut each: impl FnMut(&Self)) {
        let ends = self.now_us + span.as_secs_f64() * 1e6;
        while self.now_us < ends {
            self.now_us += 100.0;
            while let Some(packet) = self.flight.pop_front_if(|first| first.acked_us <= self.now_us)
            {
                self.ack(&packet);
            }
            let now = self.now();
            self.law.handle_time(now);
            self.send();
            each(self);
        }
    }

    /// Payload sent in a second over what the bottleneck carries.
    fn excess(&self) -> f64 {
        self.sends().0 / self.carries.bytes_per_sec() as f64
    }
}

/// Since when a claim was used, as the time and the number of the round.
fn begins(path: &Path, begun: &mut Option<(f64, u32)>) -> f64 {
    if path.law.state() == State::NoEstimate {
        return 0.0;
    }
    let (at, _) = *begun.get_or_insert((path.now_us, path.rounds));
    (path.now_us - at) / Path::rtt_us()
}

#[test]
fn a_liar_gets_at_most_a_quarter_above_the_arrivals_after_three_rounds() {
    for (carries, factor) in [(10, 2), (10, 10), (70, 2), (70, 3), (70, 5), (70, 10), (150, 2)] {
        let lie = claim(carries * factor, carries * factor, 1);
        let mut path = Path::new(lie, mbit(carries));
        let (mut begun, mut started, mut exceeds) = (None, None, 0);
        path.run(Duration::from_millis(1_500), |path| {
            // The start is the ramp of three round trips without a queue.
            if begins(path, &mut begun) >= 3.0 {
                let started = *started.get_or_insert(path.rounds);
                if path.excess() > 1.26 {
                    exceeds = path.rounds + 1 - started;
                }
            }
        });
        assert!(started.is_some() && exceeds <= 3, "{carries} times {factor}: {exceeds} rounds");
        assert!(!path.law.law_controls(), "{carries} times {factor}: {:?}", path.law.state());
    }
}

#[test]
fn a_liars_ramp_ends_with_it_where_the_claim_is_absurd() {
    let mut path = Path::new(claim(200, 200, 1), mbit(20));
    let (mut begun, mut ended, mut longest) = (None, None, 0.0_f64);
    path.run(Duration::from_millis(1_500), |path| {
        let passed = begins(path, &mut begun);
        if matches!(path.law.state(), State::Drain { .. }) {
            ended.get_or_insert(passed);
        }
        longest = longest.max((path.free_us - path.now_us) / Path::rtt_us());
    });
    assert!(ended.is_some_and(|passed| passed < 3.0), "{ended:?}");
    assert!(longest < 11.0, "{longest} round trips of queue");
}

#[test]
fn an_honest_flow_has_its_ramp_in_three_round_trips_and_is_not_held_back_later() {
    let shares = [(90, 90), (100, 50), (100, 100), (110, 110), (115, 60)];
    for ((rate, fair), carries) in shares.into_iter().flat_map(|of| [(of, 10), (of, 70)]) {
        let of = |percent: u64| carries * percent / 100;
        let mut path = Path::new(claim(of(rate), of(fair), 1), mbit(carries));
        let (mut begun, mut ended) = (None, None);
        path.run(Duration::from_millis(1_500), |path| {
            let passed = begins(path, &mut begun);
            if path.law.state() == State::RadioLimited {
                ended.get_or_insert(passed);
            }
            assert_ne!(path.law.state(), State::EstimateTooHigh);
        });
        assert!(ended.is_some_and(|passed| passed < 3.1), "{carries} {rate} {fair}: {ended:?}");
        assert_eq!(path.law.state(), State::RadioLimited, "{carries} {rate} {fair}");
    }
}
