//! PCC: rates are tried in monitor intervals, a utility function rates each outcome, and the next
//! rate follows from that. Allegro (Dong et al., "PCC: Re-architecting Congestion Control for
//! Consistent High Performance", NSDI 2015) and Vivace (Dong et al., "PCC Vivace: Online-Learning
//! Congestion Control", NSDI 2018) differ in the function and in how they learn; intervals and the
//! doubling at the start are the same.
//!
//! A step waits for the outcome of the previous one. The papers assume that the outcome is known
//! when an interval ends. This is wrong if the queue, and so the RTT, has grown since the interval
//! began.
//!
//! Neither has a window. Here the window is twice rate × RTT, which limits the data sent into a
//! stalled path.

mod allegro;
mod interval;
pub(crate) mod proteus;
mod usual;
mod vivace;

use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sounding_cc::part::RttEstimator;
use sounding_cc::{Ack, Controller, Delivered, Departure, Loss, Start};
use sounding_estimate::MAX_RATE;
use sounding_units::{Bytes, HostInstant, Rate};

pub use allegro::{AllegroLaw, Config as AllegroConfig};
pub use interval::Outcome;
use interval::{Intervals, SURE};
pub use vivace::{Config as VivaceConfig, VivaceLaw};

/// Packets in an interval at least (Allegro).
const MIN_PACKETS: u64 = 10;
/// Before the first RTT sample; chosen.
const NOMINAL_RTT: Duration = Duration::from_millis(100);

/// Allegro: by loss alone, which it does not mind below 5 %.
pub type Allegro = Pcc<AllegroLaw>;
/// Vivace: by loss and by how the RTT changes.
pub type Vivace = Pcc<VivaceLaw>;

/// Chooses the next rates from the outcomes of earlier ones.
pub trait Law: core::fmt::Debug + Send {
    /// The purpose of an interval's rate.
    type Purpose: Copy + core::fmt::Debug + Send;

    /// Its parameters.
    type Config: Copy + core::fmt::Debug + Default;

    /// Begins from this rate.
    fn new(rate: Rate, config: Self::Config, lots: &mut ChaCha8Rng) -> Self;

    /// Standard errors from which on a slope of the RTT counts.
    fn sure(_config: &Self::Config) -> f64 {
        SURE
    }

    /// Length of the next interval in RTTs.
    fn interval(&self, lots: &mut ChaCha8Rng) -> f64;

    /// The rate of the next interval, and why.
    fn next(&mut self) -> (Rate, Self::Purpose);

    /// An interval's packets are all accounted for; no outcome if it does not describe its rate.
    /// Returns whether the rate changes at once, in the middle of an interval (Allegro).
    fn judge(
        &mut self,
        purpose: Self::Purpose,
        outcome: Option<&Outcome>,
        lots: &mut ChaCha8Rng,
    ) -> bool;

    /// Everything in flight was lost: starts again from this rate.
    fn restart(&mut self, rate: Rate);

    /// The state of its machine in a word or two.
    fn state(&self) -> &'static str;
}

/// One flow under PCC.
#[derive(Clone, Debug)]
pub struct Pcc<L: Law> {
    mss: Bytes,
    initial_cwnd: Bytes,
    lots: ChaCha8Rng,
    law: L,
    intervals: Intervals<L::Purpose>,
    rtt: RttEstimator,
    rate: Rate,
    before_timeout: Option<Rate>,
    /// No packet has arrived since the timeout: one segment probes whether the path works.
    asking: bool,
}

impl<L: Law> Pcc<L> {
    /// A flow at two segments per round (both papers).
    pub fn new(start: &Start) -> Self {
        Self::with(start, L::Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: L::Config) -> Self {
        let mut rtt = RttEstimator::default();
        if let Some(sample) = start.rtt.filter(|rtt| !rtt.is_zero()) {
            rtt.handle_sample(sample);
        }
        let mut lots = ChaCha8Rng::seed_from_u64(start.seed);
        let rate = start.segments(2).per(rtt.smoothed().unwrap_or(NOMINAL_RTT));
        Self {
            mss: Bytes::new(start.mss.count().max(1)),
            initial_cwnd: start.initial_cwnd(),
            law: L::new(rate, config, &mut lots),
            lots,
            intervals: Intervals::new(L::sure(&config)),
            rtt,
            rate,
            before_timeout: None,
            asking: false,
        }
    }

    fn round(&self) -> Duration {
        self.rtt.smoothed().unwrap_or(NOMINAL_RTT)
    }

    /// Limits the rate to at least two segments per RTT and two per second.
    fn bounded(&self, rate: Rate) -> Rate {
        let two = Bytes::new(self.mss.count() * 2);
        let least = two.per(self.round()).min(two.per(Duration::from_millis(100)));
        rate.max(least).max(two.per(Duration::from_secs(1))).min(MAX_RATE)
    }

    fn begin_interval(&mut self, now: HostInstant) {
        let (rate, purpose) = self.law.next();
        self.rate = self.bounded(rate);
        let rounds = self.law.interval(&mut self.lots);
        let packets = Bytes::new(self.mss.count() * MIN_PACKETS);
        let filled = packets.time_at(self.rate).unwrap_or_default();
        let length = Duration::from_secs_f64(self.round().as_secs_f64() * rounds).max(filled);
        self.intervals.begin(now, length, self.rate, purpose);
    }

    fn judge(&mut self, now: HostInstant) {
        while let Some((purpose, outcome)) = self.intervals.poll() {
            if self.law.judge(purpose, outcome.as_ref(), &mut self.lots) {
                self.intervals.cut(now);
            }
        }
    }
}

/// A random boolean.
fn coin(lots: &mut ChaCha8Rng) -> bool {
    lots.next_u32().is_multiple_of(2)
}

/// A random number between these.
fn between(lots: &mut ChaCha8Rng, least: f64, most: f64) -> f64 {
    least + (most - least) * f64::from(lots.next_u32()) / f64::from(u32::MAX)
}

/// A rate times this.
fn scaled(rate: Rate, by: f64) -> Rate {
    Rate::from_bits_per_sec((rate.bits_per_sec() as f64 * by) as u64)
}

impl<L: Law> Controller for Pcc<L> {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        if self.intervals.is_over(sent.at) {
            self.begin_interval(sent.at);
        }
        self.intervals.handle_sent(size, sent.app_limited);
    }

    fn handle_delivered(&mut self, delivered: &Delivered) {
        self.intervals.handle_delivered(delivered.sent.at, delivered.size);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.asking = false;
        if ack.recovery != sounding_cc::Recovery::Timeout {
            self.before_timeout = None;
        }
        self.rtt.handle_ack(ack);
        self.intervals.handle_rtt(ack);
        self.judge(ack.now);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.intervals.handle_loss(loss);
        self.judge(loss.now);
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.asking = true;
        self.before_timeout.get_or_insert(self.rate);
        // Packets in flight belong to no interval, and are not waited for.
        self.intervals.clear();
        self.rate = self.bounded(self.initial_cwnd.per(self.round()));
        self.law.restart(self.rate);
    }

    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        self.asking = false;
        if let Some(rate) = self.before_timeout.take() {
            self.intervals.clear();
            self.rate = self.rate.max(rate);
            self.law.restart(self.rate);
        }
    }

    fn cwnd(&self) -> Bytes {
        if self.asking {
            return self.mss;
        }
        let under_way = Bytes::new((self.rate * self.round()).count().saturating_mul(2));
        under_way.max(self.initial_cwnd)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.rate)
    }

    fn state(&self) -> &'static str {
        self.law.state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn lots() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(1)
    }
}
