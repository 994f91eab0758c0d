//! Transmissions of other cells on this carrier: each is on while it has data and nearly silent
//! otherwise.

use alloc::vec::Vec;

use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::decibel::power;
use super::invalid::InvalidConfig;
use super::random::{exponential, uniform};

/// Most interfering cells: more of them are one steady level.
const MAX_CELLS: u8 = 16;

/// Other cells on this carrier.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InterferenceConfig {
    /// Interference over thermal noise with every cell sending, dB; range -30..=40. 6 dB is a
    /// place well inside an urban cell (chosen; a device between two macro cells sees up to
    /// 20).
    pub over_noise_db: f32,
    /// Interfering cells, all equally loud; range 0..=16, none is no interference.
    pub cells: u8,
    /// Share of time that each of them sends, 0..=1.
    pub load: f32,
    /// Seconds after which a cell's activity is independent of the earlier one: the length of a
    /// burst of traffic; above zero.
    pub time_constant_s: f32,
    /// The share of full power that a cell without traffic still sends: pilots and broadcast;
    /// 0..=1. LTE's cell-specific reference signals on two ports are 16 of 168 resource
    /// elements (TS 36.211 §6.10.1).
    pub idle_share: f32,
}

impl Default for InterferenceConfig {
    fn default() -> Self {
        Self { over_noise_db: 6.0, cells: 3, load: 0.4, time_constant_s: 0.2, idle_share: 0.1 }
    }
}

impl InterferenceConfig {
    /// Noise alone.
    pub fn none() -> Self {
        Self { cells: 0, ..Self::default() }
    }

    fn check(&self) -> Result<(), InvalidConfig> {
        let share = 0.0..=1.0;
        InvalidConfig::unless(
            (-30.0..=40.0).contains(&self.over_noise_db),
            "interference.over_noise_db",
            "is between -30 and 40",
        )?;
        InvalidConfig::unless(self.cells <= MAX_CELLS, "interference.cells", "is at most 16")?;
        InvalidConfig::unless(
            share.contains(&self.load),
            "interference.load",
            "is a share, 0 to 1",
        )?;
        InvalidConfig::unless(
            share.contains(&self.idle_share),
            "interference.idle_share",
            "is a share, 0 to 1",
        )?;
        InvalidConfig::unless(
            self.time_constant_s.is_finite() && self.time_constant_s >= 1e-4,
            "interference.time_constant_s",
            "is at least 0.0001",
        )
    }
}

/// The interfering cells over time.
#[derive(Clone, Debug)]
pub(super) struct Interference {
    cells: Vec<Cell>,
    /// Power over the noise of a cell that sends, and of one that does not.
    sending: f32,
    idle: f32,
    /// Seconds a cell is on, and off, on average.
    mean_on_s: f64,
    mean_off_s: f64,
    next_secs: f64,
    over_noise: f32,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    on: bool,
    until_secs: f64,
}

impl Interference {
    pub(super) fn new(
        config: &InterferenceConfig,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, InvalidConfig> {
        config.check()?;
        let load = f64::from(config.load);
        let time_constant = f64::from(config.time_constant_s);
        // A two-state chain that is on for `load` of the time and has this time constant leaves its
        // states at rates that add up to one per time constant. A load of 0 or 1 makes one
        // of the mean durations infinite.
        let mean_on_s = time_constant / (1.0 - load);
        let mean_off_s = time_constant / load;
        let sending = power(config.over_noise_db) / f32::from(config.cells.max(1));
        let mut interference = Self {
            cells: Vec::new(),
            sending,
            idle: sending * config.idle_share,
            mean_on_s,
            mean_off_s,
            next_secs: f64::INFINITY,
            over_noise: 0.0,
        };
        for _ in 0..config.cells {
            let on = uniform(rng) < load;
            let until_secs = interference.stay(on, rng);
            interference.cells.push(Cell { on, until_secs });
        }
        interference.add_up();
        Ok(interference)
    }

    /// Interference over thermal noise; true if it may have changed.
    #[inline]
    pub(super) fn advance(&mut self, secs: f64, rng: &mut ChaCha8Rng) -> bool {
        if secs < self.next_secs {
            return false;
        }
        for at in 0..self.cells.len() {
            let mut cell = self.cells[at];
            // After a leap of many changes only whether the cell sends now matters.
            if secs - cell.until_secs > 50.0 * (self.mean_on_s + self.mean_off_s) {
                let load = self.mean_on_s / (self.mean_on_s + self.mean_off_s);
                let on = uniform(rng) < load;
                cell = Cell { on, until_secs: secs + self.stay(on, rng) };
            }
            while cell.until_secs <= secs {
                cell.on = !cell.on;
                cell.until_secs += self.stay(cell.on, rng);
            }
            self.cells[at] = cell;
        }
        self.add_up();
        true
    }

    pub(super) fn over_noise(&self) -> f32 {
        self.over_noise
    }

    fn stay(&self, on: bool, rng: &mut ChaCha8Rng) -> f64 {
        exponential(rng, if on { self.mean_on_s } else { self.mean_off_s })
    }

    fn add_up(&mut self) {
        self.over_noise = 0.0;
        self.next_secs = f64::INFINITY;
        for cell in &self.cells {
            self.over_noise += if cell.on { self.sending } else { self.idle };
            self.next_secs = self.next_secs.min(cell.until_secs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::vec::Vec;

    fn levels(config: &InterferenceConfig, count: u32) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(31);
        let mut interference = Interference::new(config, &mut rng).expect("possible");
        (0..count)
            .map(|step| {
                interference.advance(f64::from(step) / 100.0, &mut rng);
                f64::from(interference.over_noise())
            })
            .collect()
    }

    #[test]
    fn one_cell_sends_for_its_share_of_time_and_forgets_in_its_time_constant() {
        let config = InterferenceConfig {
            over_noise_db: 10.0,
            cells: 1,
            load: 0.3,
            time_constant_s: 0.5,
            idle_share: 0.1,
        };
        let levels = levels(&config, 1_000_000);
        let count = levels.len() as f64;
        let mean = levels.iter().sum::<f64>() / count;
        assert!((mean - (0.3 * 10.0 + 0.7 * 1.0)).abs() < 0.1, "{mean}");
        let covariance = |lag: usize| {
            let product = levels.iter().zip(&levels[lag..]).map(|(a, b)| a * b).sum::<f64>();
            product / count - mean * mean
        };
        let after = covariance(50) / covariance(0);
        assert!((after - 0.368).abs() < 0.03, "half a second later: {after}");
    }

    #[test]
    fn cells_that_always_or_never_send_are_a_steady_level() {
        for (load, want) in [(0.0, 0.4), (1.0, 4.0)] {
            let config = InterferenceConfig { over_noise_db: 6.0206, load, ..Default::default() };
            for level in levels(&config, 1_000) {
                assert!((level - want).abs() < 1e-3, "load {load}: {level}");
            }
        }
    }

    #[test]
    fn no_cells_are_no_interference() {
        let config = InterferenceConfig { cells: 0, ..Default::default() };
        assert!(levels(&config, 100).iter().all(|level| *level == 0.0));
    }

    #[test]
    fn a_leap_of_years_takes_no_longer_than_a_step() {
        let mut rng = ChaCha8Rng::seed_from_u64(32);
        let mut interference =
            Interference::new(&InterferenceConfig::default(), &mut rng).expect("possible");
        assert!(interference.advance(1e10, &mut rng));
        assert!(interference.next_secs > 1e10);
    }
}
