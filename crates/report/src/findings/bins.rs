//! The series of a run: the values of each flow in bins of time, and the radio events of the same
//! time.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use sounding_export::figures;

use super::read::{int, real, text};
use super::{Findings, ReadError};

/// The values of a flow in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bin {
    /// When it begins, in seconds.
    pub(super) from: f64,
    pub(super) throughput: f64,
    pub(super) packets: f64,
    /// Mean over its packets, in milliseconds; `None` without packets.
    pub(super) delay: Option<f64>,
    pub(super) capacity: Option<f64>,
}

/// The bins of a run by the number of the flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bins {
    /// Width of each, in seconds.
    pub(super) width: f64,
    pub(super) flows: BTreeMap<i64, Vec<Bin>>,
}

impl Bins {
    /// Bins of a run, if its series is kept.
    pub(super) fn read(results: &Findings, run: i64) -> Result<Option<Self>, ReadError> {
        let Some(path) = results.of_run(run, "series.parquet") else { return Ok(None) };
        let columns = [
            "flow",
            "from_s",
            "throughput_mbit_per_sec",
            "packets",
            "one_way_mean_ms",
            "capacity_mbit_per_sec",
        ];
        let mut flows: BTreeMap<i64, Vec<Bin>> = BTreeMap::new();
        rows(&path, &columns, |cells| {
            let (Some(flow), Some(from)) = (int(&cells[0]), real(&cells[1])) else { return };
            flows.entry(flow).or_default().push(Bin {
                from,
                throughput: real(&cells[2]).unwrap_or(0.0),
                packets: int(&cells[3]).unwrap_or(0) as f64,
                delay: real(&cells[4]),
                capacity: real(&cells[5]),
            });
        })?;
        let width = flows.values().find_map(|bins| Some(bins.get(1)?.from - bins.first()?.from));
        match width {
            Some(width) if width > 0.0 => Ok(Some(Self { width, flows })),
            _ => Err(ReadError::Wrong { path, why: "it has no two bins of any flow".into() }),
        }
    }

    /// The sum over several flows.
    pub(super) fn sum(&self, numbers: &[i64]) -> Vec<Bin> {
        let mut sum: Vec<Bin> = Vec::new();
        for bins in numbers.iter().filter_map(|number| self.flows.get(number)) {
            if sum.is_empty() {
                sum.clone_from(bins);
                continue;
            }
            for (to, bin) in sum.iter_mut().zip(bins) {
                *to = merged(&[*to, *bin], 1.0);
            }
        }
        sum
    }

    /// When the last of them ends, in seconds.
    pub(super) fn end(&self) -> f64 {
        let last = self.flows.values().filter_map(|bins| bins.last());
        last.map(|bin| bin.from).fold(0.0, f64::max) + self.width
    }

    /// From a moment on.
    pub(super) fn since(bins: &[Bin], from: f64) -> &[Bin] {
        let begin = bins.iter().position(|bin| bin.from >= from - 1e-9);
        &bins[begin.unwrap_or(bins.len())..]
    }
}

/// Merges several bins of the same time (`share` 1) or of consecutive times (`share` is one over
/// their number).
fn merged(bins: &[Bin], share: f64) -> Bin {
    let packets: f64 = bins.iter().map(|bin| bin.packets).sum();
    let weighted = |bin: &Bin| bin.delay.map(|delay| delay * bin.packets.max(1.0));
    let weights: f64 =
        bins.iter().filter(|bin| bin.delay.is_some()).map(|bin| bin.packets.max(1.0)).sum();
    let delay = bins.iter().filter_map(weighted).sum::<f64>() / weights;
    let capacities: Vec<f64> = bins.iter().filter_map(|bin| bin.capacity).collect();
    Bin {
        from: bins.first().map_or(0.0, |bin| bin.from),
        throughput: share * bins.iter().map(|bin| bin.throughput).sum::<f64>(),
        packets,
        delay: (weights > 0.0).then_some(delay),
        capacity: (!capacities.is_empty())
            .then(|| capacities.iter().sum::<f64>() / capacities.len() as f64),
    }
}

/// Merges bins if there are more than `most`. Returns the new bins, and how many old bins make one
/// new bin.
pub(super) fn coarser(bins: &[Bin], most: usize) -> (Vec<Bin>, usize) {
    let factor = bins.len().div_ceil(most).max(1);
    let bins = bins.chunks(factor).map(|chunk| merged(chunk, 1.0 / chunk.len() as f64)).collect();
    (bins, factor)
}

/// A radio event of a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Happened {
    pub(super) device: String,
    pub(super) direction: String,
    pub(super) kind: String,
    pub(super) span: (f64, f64),
}

impl Happened {
    /// The radio's events in a run, if they are kept.
    pub(super) fn read(results: &Findings, run: i64) -> Result<Vec<Self>, ReadError> {
        let Some(path) = results.of_run(run, "events.parquet") else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        rows(&path, &["device", "direction", "kind", "from_s", "until_s"], |cells| {
            let (Some(from), Some(until)) = (real(&cells[3]), real(&cells[4])) else { return };
            let [device, direction, kind] = [0, 1, 2].map(|at| text(&cells[at]));
            all.push(Self { device, direction, kind, span: (from, until) });
        })?;
        Ok(all)
    }
}

fn rows(
    path: &Path,
    columns: &[&str],
    each: impl FnMut(&[Option<figures::Cell>]),
) -> Result<(), ReadError> {
    let wrong = |why: String| ReadError::Wrong { path: path.into(), why };
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    figures::read(file, columns, each).map_err(|error| wrong(error.to_string()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(from: f64, throughput: f64, packets: f64, delay: Option<f64>) -> Bin {
        Bin { from, throughput, packets, delay, capacity: Some(10.0) }
    }

    #[test]
    fn flows_together_carry_their_sum_and_their_delay_is_that_of_all_packets() {
        let flows = [
            (0, vec![bin(0.0, 3.0, 30.0, Some(20.0))]),
            (1, vec![bin(0.0, 1.0, 10.0, Some(60.0))]),
        ];
        let bins = Bins { width: 0.1, flows: flows.into_iter().collect() };
        assert_eq!(bins.sum(&[0, 1]), [bin(0.0, 4.0, 40.0, Some(30.0))]);
    }

    #[test]
    fn coarser_bins_have_the_mean_rate_and_skip_those_without_packets() {
        let bins =
            [bin(0.0, 4.0, 10.0, Some(20.0)), bin(0.1, 0.0, 0.0, None), bin(0.2, 2.0, 5.0, None)];
        let (coarse, factor) = coarser(&bins, 2);
        assert_eq!(factor, 2);
        assert_eq!(coarse, [bin(0.0, 2.0, 10.0, Some(20.0)), bin(0.2, 2.0, 5.0, None)]);
    }

    #[test]
    fn what_is_before_the_warm_up_ends_is_left_out() {
        let bins: Vec<Bin> = (0..5).map(|at| bin(0.1 * f64::from(at), 1.0, 1.0, None)).collect();
        assert_eq!(Bins::since(&bins, 0.3).len(), 2);
        assert!(Bins::since(&bins, 9.0).is_empty());
    }
}
