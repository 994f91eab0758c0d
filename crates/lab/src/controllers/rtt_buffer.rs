//! The rule by which bonding senders over SRT set their encoder: from the round trip and what is
//! not acknowledged yet.
//!
//! It is built from the documented behaviour of belacoder and ceracoder, whose default it is ("The
//! default `adaptive` algorithm", ceracoder's page on its bitrate control), and not from their
//! programs. Constants have the names of that page.

use std::time::Duration;

use sounding_cc::{Ack, Controller, Departure, Loss, Start};
use sounding_units::{Bytes, HostInstant, Rate};

/// BITRATE_UPDATE_INT.
const STEP: Duration = Duration::from_millis(20);
/// MIN_BITRATE.
const MIN: f64 = 300e3;
/// ABS_MAX_BITRATE. A sender begins with the user's limit, and this is the highest one.
const MAX: f64 = 30e6;
/// DEF_SRT_LATENCY, ms.
const LATENCY: f64 = 2_000.0;
/// A packet's bytes: seven of a transport stream.
const PACKET: f64 = 1_316.0;

const EMA_SLOW: f64 = 0.99;
const EMA_FAST: f64 = 0.01;
const EMA_RTT_DELTA: f64 = 0.8;
const EMA_THROUGHPUT: f64 = 0.97;
const RTT_MIN_DRIFT: f64 = 1.001;
const RTT_INITIAL: f64 = 300.0;
const RTT_MIN_INITIAL: f64 = 200.0;
const BS_TH3_MULT: f64 = 4.0;
const BS_TH2_JITTER_MULT: f64 = 3.0;
const BS_TH1_JITTER_MULT: f64 = 2.5;
const BS_TH_MIN: f64 = 50.0;
const RTT_JITTER_MULT: f64 = 4.0;
const RTT_AVG_PART: f64 = 0.15;
const RTT_STABLE_DELTA: f64 = 0.01;
/// A lowest round trip counts only while the mean rises by less, ms.
const RTT_STEADY_DELTA: f64 = 1.0;
const RTT_MIN_JITTER: f64 = 1.0;
const BITRATE_INCR_MIN: f64 = 30e3;
const BITRATE_INCR_SCALE: f64 = 30.0;
const BITRATE_INCR_INT: Duration = Duration::from_millis(500);
const BITRATE_DECR_MIN: f64 = 100e3;
const BITRATE_DECR_SCALE: f64 = 10.0;
const BITRATE_DECR_INT: Duration = Duration::from_millis(200);
const BITRATE_DECR_FAST_INT: Duration = Duration::from_millis(250);
/// The encoder takes whole steps of this.
const ROUND: f64 = 100e3;

/// SRT smooths its round trip so (RFC 6298's weight).
const SMOOTH: f64 = 0.125;
/// In flight at most, as time at the rate: SRT's buffer for its latency.
const WINDOW: Duration = Duration::from_secs(2);

/// A sender under the rule.
#[derive(Debug)]
pub(crate) struct RttBuffer {
    bitrate: f64,
    next: HostInstant,
    next_incr: HostInstant,
    next_decr: HostInstant,
    rtt: Option<f64>,
    /// Bytes that left, and that were acknowledged or lost.
    sent: f64,
    gone: f64,
    sent_before: f64,
    bs_avg: f64,
    bs_jitter: f64,
    bs_before: f64,
    rtt_avg: f64,
    rtt_min: f64,
    rtt_jitter: f64,
    rtt_avg_delta: f64,
    rtt_before: f64,
    throughput: f64,
    least: Bytes,
}

impl RttBuffer {
    pub(crate) fn new(start: &Start) -> Self {
        Self {
            bitrate: MAX,
            next: start.now + STEP,
            next_incr: start.now,
            next_decr: start.now,
            rtt: None,
            sent: 0.0,
            gone: 0.0,
            sent_before: 0.0,
            bs_avg: 0.0,
            bs_jitter: 0.0,
            bs_before: 0.0,
            rtt_avg: 0.0,
            rtt_min: RTT_MIN_INITIAL,
            rtt_jitter: 0.0,
            rtt_avg_delta: 0.0,
            rtt_before: RTT_INITIAL,
            throughput: 0.0,
            least: Bytes::new(10 * start.mss.count()),
        }
    }

    fn step(&mut self, now: HostInstant, rtt: f64) {
        let bs = ((self.sent - self.gone) / PACKET).max(0.0);
        self.bs_avg = EMA_SLOW * self.bs_avg + EMA_FAST * bs;
        self.bs_jitter = (EMA_SLOW * self.bs_jitter).max(bs - self.bs_before);
        self.bs_before = bs;
        self.rtt_avg = match self.rtt_avg {
            0.0 => rtt,
            avg => EMA_SLOW * avg + EMA_FAST * rtt,
        };
        let delta = rtt - self.rtt_before;
        self.rtt_avg_delta = EMA_RTT_DELTA * self.rtt_avg_delta + (1.0 - EMA_RTT_DELTA) * delta;
        self.rtt_before = rtt;
        self.rtt_min *= RTT_MIN_DRIFT;
        if self.rtt_avg_delta < RTT_STEADY_DELTA {
            self.rtt_min = self.rtt_min.min(rtt);
        }
        self.rtt_jitter = (EMA_SLOW * self.rtt_jitter).max(delta);
        let rate = (self.sent - self.sent_before) * 8.0 / STEP.as_secs_f64();
        self.sent_before = self.sent;
        self.throughput = EMA_THROUGHPUT * self.throughput + (1.0 - EMA_THROUGHPUT) * rate;
        self.decide(now, rtt, bs);
    }

    fn decide(&mut self, now: HostInstant, rtt: f64, bs: f64) {
        let packets = |ms: f64| self.throughput / 8.0 * ms / 1e3 / PACKET;
        let bs_th3 = (self.bs_avg + self.bs_jitter) * BS_TH3_MULT;
        let bs_th2 = self.bs_avg + (self.bs_jitter * BS_TH2_JITTER_MULT).max(self.bs_avg);
        let bs_th2 = bs_th2.max(BS_TH_MIN).min(packets(LATENCY / 2.0));
        let bs_th1 = (self.bs_avg + self.bs_jitter * BS_TH1_JITTER_MULT).max(BS_TH_MIN);
        let rtt_th_max =
            self.rtt_avg + (self.rtt_jitter * RTT_JITTER_MULT).max(self.rtt_avg * RTT_AVG_PART);
        let rtt_th_min = self.rtt_min + (self.rtt_jitter * 2.0).max(RTT_MIN_JITTER);
        if self.bitrate > MIN && (rtt >= LATENCY / 3.0 || bs > bs_th3) {
            self.bitrate = MIN;
            self.next_decr = now + BITRATE_DECR_INT;
        } else if now > self.next_decr && (rtt > LATENCY / 5.0 || bs > bs_th2) {
            self.bitrate -= BITRATE_DECR_MIN + self.bitrate / BITRATE_DECR_SCALE;
            self.next_decr = now + BITRATE_DECR_FAST_INT;
        } else if now > self.next_decr && (rtt > rtt_th_max || bs > bs_th1) {
            self.bitrate -= BITRATE_DECR_MIN;
            self.next_decr = now + BITRATE_DECR_INT;
        } else if now > self.next_incr && rtt < rtt_th_min && self.rtt_avg_delta < RTT_STABLE_DELTA
        {
            self.bitrate += BITRATE_INCR_MIN + self.bitrate / BITRATE_INCR_SCALE;
            self.next_incr = now + BITRATE_INCR_INT;
        }
        self.bitrate = self.bitrate.clamp(MIN, MAX);
    }

    fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(((self.bitrate / ROUND).floor() * ROUND) as u64)
    }
}

impl Controller for RttBuffer {
    fn handle_sent(&mut self, _sent: &Departure, size: Bytes) {
        self.sent += size.count() as f64;
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.gone += ack.acked.count() as f64;
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_secs_f64() * 1e3;
            self.rtt = Some(self.rtt.map_or(rtt, |before| before + SMOOTH * (rtt - before)));
        }
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.gone += loss.size.count() as f64;
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.gone = self.sent;
    }

    fn handle_time(&mut self, now: HostInstant) {
        while self.next <= now {
            self.next = self.next + STEP;
            // SRT's statistics are read in whole milliseconds.
            if let Some(rtt) = self.rtt {
                self.step(now, rtt.floor());
            }
        }
    }

    fn wakeup(&self) -> Option<HostInstant> {
        Some(self.next)
    }

    fn cwnd(&self) -> Bytes {
        (self.rate() * WINDOW).max(self.least)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.rate())
    }

    fn state(&self) -> &'static str {
        "rtt-buffer"
    }
}
