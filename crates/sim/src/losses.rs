//! Losses at the entry of a path, as `mm-loss`, `mm-onoff` and `mm-intermittent` make them.

mod text;

use core::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

pub use text::ParseLossesError;

/// Which packets a direction loses before its link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Losses {
    /// None.
    #[default]
    None,
    /// Each with this probability, 0 to 1.
    Share(f64),
    /// All, in outages that begin and end at random: both times have these means and are
    /// exponentially distributed. The direction begins with work.
    Outages {
        /// Mean time of work.
        on: Duration,
        /// Mean time of an outage.
        off: Duration,
    },
    /// All, in outages at fixed times: first work, then an outage, over and over.
    FixedOutages {
        /// Time of work.
        on: Duration,
        /// Time of an outage.
        off: Duration,
    },
}

/// After so many mean cycles without a packet the state at the last one says nothing about now: its
/// share of the probability is below e^-1000. Chosen; it also bounds the steps of one packet.
const FORGOTTEN_CYCLES: u32 = 1000;

/// The losses of a path while it runs.
#[derive(Debug)]
pub(crate) struct Gate {
    losses: Losses,
    rng: ChaCha8Rng,
    origin: HostInstant,
    works: bool,
    /// When random outages begin or end next.
    until: HostInstant,
}

impl Gate {
    /// `None` if nothing is ever lost.
    pub(crate) fn new(losses: Losses, seed: u64, origin: HostInstant) -> Option<Self> {
        if losses == Losses::None {
            return None;
        }
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let mut gate = Self { losses, rng, origin, works: true, until: origin };
        if let Losses::Outages { on, .. } = losses {
            gate.until = origin + gate.time(on);
        }
        Some(gate)
    }

    /// Whether a packet that enters now is lost. Calls are in order of time.
    pub(crate) fn loses(&mut self, now: HostInstant) -> bool {
        match self.losses {
            Losses::None => false,
            Losses::Share(share) => self.rng.random::<f64>() < share,
            Losses::Outages { on, off } => {
                self.follow(now, on, off);
                !self.works
            }
            Losses::FixedOutages { on, off } => {
                let since = now.saturating_since(self.origin).as_nanos();
                let cycle = on.as_nanos().saturating_add(off.as_nanos());
                since.checked_rem(cycle).is_some_and(|inside| inside >= on.as_nanos())
            }
        }
    }

    fn follow(&mut self, now: HostInstant, on: Duration, off: Duration) {
        let cycle = on.saturating_add(off);
        if now.saturating_since(self.until) > cycle.saturating_mul(FORGOTTEN_CYCLES) {
            // Exponential times have no memory, so the state is drawn by its share of all time.
            let share = on.as_secs_f64() / cycle.as_secs_f64().max(f64::MIN_POSITIVE);
            self.works = self.rng.random::<f64>() < share;
            let mean = if self.works { on } else { off };
            self.until = now + self.time(mean);
        }
        // At the end of time there is no later moment.
        while self.until <= now && self.until < HostInstant::from_nanos(u64::MAX) {
            self.works = !self.works;
            let mean = if self.works { on } else { off };
            self.until = self.until + self.time(mean);
        }
    }

    /// An exponential time. It is never zero, so that two zero means end the loop above.
    fn time(&mut self, mean: Duration) -> Duration {
        let share = 1.0 - self.rng.random::<f64>();
        let nanos = mean.as_nanos() as f64 * -libm::log(share);
        // The conversion stops at the largest number: a mean may be without end.
        Duration::from_nanos(nanos as u64).max(Duration::from_micros(1))
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// The milliseconds at which a packet of each is lost.
    fn lost(losses: Losses, seed: u64, millis: u64) -> Vec<u64> {
        let Some(mut gate) = Gate::new(losses, seed, HostInstant::default()) else {
            return Vec::new();
        };
        let at = |millis: &u64| HostInstant::from_nanos(millis * 1_000_000);
        (0..millis).filter(|millis| gate.loses(at(millis))).collect()
    }

    #[test]
    fn a_share_of_the_packets_is_lost() {
        let count = lost(Losses::Share(0.1), 1, 100_000).len();
        assert!((9_600..10_400).contains(&count), "{count}");
        assert_eq!(lost(Losses::Share(1.0), 1, 1_000).len(), 1_000);
        assert_eq!(lost(Losses::Share(0.0), 1, 1_000), []);
    }

    #[test]
    fn a_seed_gives_the_same_losses_again_and_another_gives_others() {
        let first = lost(Losses::Share(0.3), 7, 200);
        assert_eq!(first, lost(Losses::Share(0.3), 7, 200));
        assert_ne!(first, lost(Losses::Share(0.3), 8, 200));
    }

    #[test]
    fn an_outage_loses_all_packets_and_has_its_mean_time() {
        let (on, off) = (Duration::from_millis(300), Duration::from_millis(100));
        let lost = lost(Losses::Outages { on, off }, 1, 100_000);
        let outages = 1 + lost.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
        let mean = lost.len() as f64 / outages as f64;
        assert!((85.0..115.0).contains(&mean), "{mean} ms");
        assert!((200..300).contains(&outages), "{outages}");
    }

    #[test]
    fn fixed_outages_begin_with_work_and_repeat() {
        let (on, off) = (Duration::from_millis(3), Duration::from_millis(2));
        assert_eq!(lost(Losses::FixedOutages { on, off }, 1, 11), [3, 4, 8, 9]);
        let never = Losses::FixedOutages { on: Duration::ZERO, off };
        assert_eq!(lost(never, 1, 3), [0, 1, 2]);
        let none = Losses::FixedOutages { on: Duration::ZERO, off: Duration::ZERO };
        assert_eq!(lost(none, 1, 3), []);
    }

    #[test]
    fn after_days_without_a_packet_an_outage_is_as_likely_as_ever() {
        let (on, off) = (Duration::from_micros(600), Duration::from_micros(400));
        let hour = 3_600_000_000_000;
        let mut gate =
            Gate::new(Losses::Outages { on, off }, 1, HostInstant::default()).expect("losses");
        let at = |hours: &u64| HostInstant::from_nanos(hours * hour);
        let count = (1..=2_000).filter(|hours| gate.loses(at(hours))).count();
        // Four in ten, within three standard deviations.
        assert!((734..866).contains(&count), "{count}");
    }
}
