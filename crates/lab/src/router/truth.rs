//! The rate that the cell of a case grants a sender that always has data, computed in virtual time.

use std::ops::Range;
use std::time::Duration;

use sounding_experiment::metrics::{mean, quantile};
use sounding_kpi::Direction;
use sounding_shape::Limits;
use sounding_sim::{Device, Port};
use sounding_testbed::emulate;
use sounding_units::Rate;

use super::case::{Case, LEAD, Rat};
use crate::experiment::Failed;

/// Seeds for the limits of all shapers; none of them is judged, and none tunes.
const OTHERS: Range<u64> = 9_001..9_004;

/// Resolution of the truth.
pub(super) const STEP: Duration = Duration::from_millis(10);

/// Steps of a mean: 100 ms.
const MEAN: usize = 10;

/// The rate of one direction, at each step the mean of the 100 ms around it.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    mbit: Vec<f64>,
}

impl Truth {
    /// In a direction of a case's cell.
    pub(super) fn of(
        (case, rat): (Case, Rat),
        lasts: Duration,
        seed: u64,
        direction: Direction,
    ) -> Result<Self, Failed> {
        let run = case.alone().run(rat, lasts, seed, &[direction])?;
        let port = Port { device: Device(0), direction };
        let granted = emulate::granted(&run, port, STEP)?;
        let steps: Vec<f64> = granted.iter().map(|rate| rate.mbit_per_sec()).collect();
        let around = |at: usize| {
            let from = at.saturating_sub(MEAN / 2);
            mean(&steps[from..(at + MEAN / 2).min(steps.len())])
        };
        Ok(Self { mbit: (0..steps.len()).map(around).collect() })
    }

    /// The limits of shapers in a direction of a case, from seeds that are not judged: half of the
    /// tenth percentile of the rates, their median, and 1.2 times their 99th percentile. Moments
    /// without a grant do not count.
    pub(super) fn limits(
        of: (Case, Rat),
        lasts: Duration,
        direction: Direction,
    ) -> Result<Limits, Failed> {
        let mut rates = Vec::new();
        for seed in OTHERS {
            let truth = Self::of(of, lasts, seed, direction)?;
            rates.extend(truth.loaded().iter().copied().filter(|mbit| *mbit > 0.0));
        }
        let at = |part| rate(quantile(&rates, part).unwrap_or(0.0));
        let min = at(0.1).scaled(1, 2).max(Limits::LEAST);
        let base = at(0.5).max(min);
        let limits = Limits::new(min, base, at(0.99).scaled(6, 5).max(base));
        Ok(limits.unwrap_or_else(|error| unreachable!("they are sorted: {error}")))
    }

    /// The steps: the time of each, and its rate.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Duration, Rate)> {
        self.mbit.iter().zip(0..).map(|(mbit, at)| (STEP * at, rate(*mbit)))
    }

    /// At this time of the network, Mbit/s; `None` after its end.
    pub(super) fn at(&self, time: Duration) -> Option<f64> {
        let step = time.as_nanos() / STEP.as_nanos();
        self.mbit.get(usize::try_from(step).ok()?).copied()
    }

    /// While there is load.
    fn loaded(&self) -> &[f64] {
        let first = (LEAD.as_nanos() / STEP.as_nanos()) as usize;
        self.mbit.get(first..).unwrap_or_default()
    }

    /// Mean while there is load, in Mbit/s.
    pub(super) fn mean(&self) -> f64 {
        mean(self.loaded())
    }

    /// Mean between two times of the network.
    pub(super) fn mean_between(&self, [from, until]: [Duration; 2]) -> f64 {
        let step = |time: Duration| (time.as_nanos() / STEP.as_nanos()) as usize;
        let until = step(until).min(self.mbit.len());
        mean(&self.mbit[step(from).min(until)..until])
    }

    /// This quantile of the steps.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        quantile(self.loaded(), part).unwrap_or(0.0)
    }
}

/// A rate of CAKE: never zero, which is none.
pub(super) fn rate(mbit: f64) -> Rate {
    Rate::from_bits_per_sec((mbit * 1e6).max(64e3) as u64)
}
