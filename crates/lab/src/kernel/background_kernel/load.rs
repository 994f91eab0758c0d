//! A load of short transfers, which begin at the same times in both worlds.

use std::time::Duration;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use sounding_experiment::metrics::nearest_rank;
use sounding_units::Bytes;

use super::Scene;

/// They are at so many devices.
pub(super) const DEVICES: u16 = 4;

/// What the cell carries, IP: one of 10 MHz at 20 dB.
const CELL_BITS_PER_SEC: f64 = 40.8e6;

/// Sizes, and their part of the load. The paper's third one, 32 MB, lasts longer than these runs:
/// its part is given to the second.
const SIZES: [(u64, f64); 2] = [(64_000, 0.1), (1_000_000, 0.9)];

/// One transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    /// When it begins.
    pub(super) at: Duration,
    /// Its device, from 1.
    pub(super) device: u16,
    pub(super) size: Bytes,
}

impl Transfer {
    /// Whether its duration shows what a user waits for.
    pub(super) fn is_short(self) -> bool {
        self.size.count() == SIZES[0].0
    }
}

/// The transfers of a run, in order of time: a Poisson process for each size.
pub(super) fn transfers(scene: Scene, lasts: Duration, seed: u64) -> Vec<Transfer> {
    let Scene::Load(percent) = scene else { return Vec::new() };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    for (size, part) in SIZES {
        let per_sec = CELL_BITS_PER_SEC * f64::from(percent) / 100.0 * part / (8.0 * size as f64);
        let mut at = 0.0;
        loop {
            at -= (1.0 - rng.random::<f64>()).ln() / per_sec;
            if at >= lasts.as_secs_f64() {
                break;
            }
            let at = Duration::from_millis((at * 1e3) as u64);
            let device = rng.random_range(1..=DEVICES);
            all.push(Transfer { at, device, size: Bytes::new(size) });
        }
    }
    all.sort_by_key(|transfer| transfer.at);
    all
}

/// A transfer at each device of a load: a device of an emulation has a host only if the plan has a
/// flow there.
pub(super) fn at_each_device(scene: Scene) -> Vec<Transfer> {
    let devices = matches!(scene, Scene::Load(_)).then_some(1..=DEVICES);
    let transfer = |device| Transfer { at: Duration::ZERO, device, size: Bytes::new(SIZES[0].0) };
    devices.into_iter().flatten().map(transfer).collect()
}

/// Half, and 95 of 100, of what transfers took, in milliseconds; `None` of none.
pub(super) fn spread(mut took: Vec<Duration>) -> Option<[f64; 2]> {
    if took.is_empty() {
        return None;
    }
    took.sort_unstable();
    let millis: Vec<f64> = took.iter().map(|span| span.as_secs_f64() * 1e3).collect();
    Some([0.5, 0.95].map(|part| nearest_rank(&millis, part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_what_it_is_called_and_the_same_for_the_same_seed() {
        let lasts = Duration::from_secs(1000);
        for percent in [30, 80] {
            let all = transfers(Scene::Load(percent), lasts, 3);
            let bits: u64 = all.iter().map(|transfer| transfer.size.count() * 8).sum();
            let share = bits as f64 / lasts.as_secs_f64() / CELL_BITS_PER_SEC;
            assert!((share * 100.0 - f64::from(percent)).abs() < 3.0, "{share}");
            assert!(all.is_sorted_by_key(|transfer| transfer.at));
            assert!(all.iter().any(|transfer| transfer.is_short()));
            let again = transfers(Scene::Load(percent), lasts, 3);
            assert_eq!((again.len(), again[7].at), (all.len(), all[7].at));
        }
        assert!(transfers(Scene::Alone, lasts, 3).is_empty());
    }

    #[test]
    fn half_and_nearly_all_of_what_they_took() {
        let took = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(spread(took), Some([50.0, 95.0]));
        assert_eq!(spread(Vec::new()), None);
    }
}
