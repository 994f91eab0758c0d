//! The rate that the cell of a run grants a sender that always has data, computed in virtual time.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_experiment::metrics::{mean, quantile};
use sounding_experiment::plan::{Run, Wrong};
use sounding_sim::{Device, Port};
use sounding_testbed::emulate;
use sounding_units::Rate;

use super::case::LEAD;

/// Resolution of the truth.
pub(super) const STEP: Duration = Duration::from_millis(10);

/// Steps of a mean: 100 ms.
const MEAN: usize = 10;

/// The rate of one direction, at each step the mean of the 100 ms around it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Truth {
    mbit: Vec<f64>,
}

impl Truth {
    /// Upwards in this run.
    pub(super) fn up(run: &Run) -> Result<Self, Wrong> {
        Self::of(run, Port::up(Device(0)))
    }

    /// Downwards.
    pub(super) fn down(run: &Run) -> Result<Self, Wrong> {
        Self::of(run, Port::down(Device(0)))
    }

    fn of(run: &Run, port: Port) -> Result<Self, Wrong> {
        let granted = emulate::granted(run, port, STEP)?;
        let steps: Vec<f64> = granted.iter().map(|rate| rate.mbit_per_sec()).collect();
        let around = |at: usize| {
            let from = at.saturating_sub(MEAN / 2);
            mean(&steps[from..(at + MEAN / 2).min(steps.len())])
        };
        Ok(Self { mbit: (0..steps.len()).map(around).collect() })
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
