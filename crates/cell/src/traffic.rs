//! Traffic of background users, which are not under test: it only takes resource blocks.

use core::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use sounding_units::{Bytes, HostInstant};

use crate::quantity;

/// The traffic of a background user.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// It always has more.
    Full,
    /// It sends at a steady rate while it is on, and is on and off in turns of equal length each
    /// time.
    OnOff {
        /// Rate while on, bits per second.
        bits_per_sec: f64,
        /// Duration of an on period.
        #[serde(deserialize_with = "quantity::duration")]
        on: Duration,
        /// Duration of an off period; the traffic starts with one.
        #[serde(deserialize_with = "quantity::duration")]
        off: Duration,
    },
    /// Objects come independently of each other, with sizes of a Pareto distribution of shape 1.2:
    /// few of them are most of the bytes, as in web traffic.
    Objects {
        /// Objects per second.
        per_sec: f64,
        /// The mean size.
        #[serde(deserialize_with = "quantity::bytes")]
        mean: Bytes,
        /// The largest.
        #[serde(deserialize_with = "quantity::bytes")]
        most: Bytes,
    },
}

/// The state of a background user.
#[derive(Clone, Debug)]
pub(crate) struct TrafficSource {
    traffic: Traffic,
    next: HostInstant,
    /// End of the turn that an on-off user is in.
    until: HostInstant,
    on: bool,
    rng: ChaCha8Rng,
}

impl TrafficSource {
    pub(crate) fn new(traffic: Traffic, origin: HostInstant, rng: ChaCha8Rng) -> Self {
        let mut source = Self { traffic, next: origin, until: origin, on: true, rng };
        if let Traffic::Objects { per_sec, .. } = traffic {
            source.next = origin + source.gap(per_sec);
        }
        source
    }

    /// The next piece that has come by `now`, `backlog` bytes still waiting.
    pub(crate) fn poll(&mut self, now: HostInstant, backlog: u64) -> Option<Bytes> {
        match self.traffic {
            // More than any carrier carries in a slot.
            Traffic::Full => (backlog < 300_000).then_some(Bytes::new(30_000)),
            Traffic::OnOff { bits_per_sec, on, off } => {
                const PIECE: Bytes = Bytes::new(1_500);
                while self.next >= self.until || !self.on {
                    if self.until > now {
                        return None;
                    }
                    self.on = !self.on;
                    self.next = self.until;
                    self.until = self.until + if self.on { on } else { off };
                    if on.is_zero() {
                        return None;
                    }
                }
                if self.next > now {
                    return None;
                }
                let nanos = PIECE.count() as f64 * 8e9 / bits_per_sec.max(1.0);
                self.next = self.next + Duration::from_nanos(nanos as u64);
                Some(PIECE)
            }
            Traffic::Objects { per_sec, mean, most } => {
                if self.next > now {
                    return None;
                }
                self.next = self.next + self.gap(per_sec);
                const SHAPE: f64 = 1.2;
                let least = mean.count() as f64 * (SHAPE - 1.0) / SHAPE;
                let uniform: f64 = 1.0 - self.rng.random::<f64>();
                let size = least * libm::pow(uniform, -1.0 / SHAPE);
                Some(Bytes::new((size as u64).clamp(1, most.count().max(1))))
            }
        }
    }

    /// When to poll it next, if the last poll returned no more data.
    pub(crate) fn wakeup(&self) -> HostInstant {
        match self.traffic {
            // As soon as its backlog gets less.
            Traffic::Full => HostInstant::default(),
            Traffic::OnOff { .. } if self.on => self.next.min(self.until),
            Traffic::OnOff { .. } => self.until,
            Traffic::Objects { .. } => self.next,
        }
    }

    fn gap(&mut self, per_sec: f64) -> Duration {
        let uniform: f64 = self.rng.random();
        let seconds = -libm::log(1.0 - uniform) / per_sec.max(1e-6);
        Duration::from_nanos((seconds * 1e9) as u64)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn bytes_in(traffic: Traffic, seconds: u64) -> std::vec::Vec<u64> {
        let mut source =
            TrafficSource::new(traffic, HostInstant::from_nanos(0), ChaCha8Rng::seed_from_u64(1));
        let mut sums = std::vec::Vec::new();
        for second in 0..seconds {
            let mut sum = 0;
            for ms in 0..1_000 {
                let now = HostInstant::from_nanos((second * 1_000 + ms) * 1_000_000);
                while let Some(piece) = source.poll(now, sum) {
                    sum += piece.count();
                }
            }
            sums.push(sum);
        }
        sums
    }

    #[test]
    fn a_user_that_is_on_every_other_second_sends_in_those() {
        let second = Duration::from_secs(1);
        let sums = bytes_in(Traffic::OnOff { bits_per_sec: 12e6, on: second, off: second }, 6);
        for (at, sum) in sums.iter().enumerate() {
            let expected = if at % 2 == 0 { 0 } else { 1_500_000 };
            assert!(sum.abs_diff(expected) <= 3_000, "{sums:?}");
        }
    }

    #[test]
    fn objects_have_the_configured_mean() {
        let (mean, most) = (Bytes::new(20_000), Bytes::new(50_000_000));
        let sums = bytes_in(Traffic::Objects { per_sec: 50.0, mean, most }, 2_000);
        let rate = sums.iter().sum::<u64>() as f64 / 2_000.0;
        // A shape of 1.2 has no variance: the mean converges slowly, from below because sizes are
        // cut.
        assert!((0.6..1.3).contains(&(rate / 1e6)), "{rate}");
    }
}
