//! Fairness between flows: Jain's index over sliding windows.

use sounding_experiment::metrics::jain;

use super::bins::{Bin, Bins};

/// The index of these flows at the middle of each window; `window` is in seconds. The value is
/// `None` if fewer than two flows send during the whole window.
pub(super) fn sliding(bins: &Bins, numbers: &[i64], window: f64) -> Vec<(f64, Option<f64>)> {
    let flows: Vec<Active<'_>> =
        numbers.iter().filter_map(|number| Active::of(bins.flows.get(number)?)).collect();
    let count = flows.iter().map(|flow| flow.bins.len()).max().unwrap_or(0);
    let width = ((window / bins.width).round() as usize).max(1);
    let at = |begin: usize| {
        let rates: Vec<f64> =
            flows.iter().filter_map(|flow| flow.rate(begin, begin + width)).collect();
        let index = (rates.len() > 1).then(|| jain(&rates)).flatten();
        ((begin as f64 + 0.5 * width as f64) * bins.width, index)
    };
    (0..(count + 1).saturating_sub(width)).map(at).collect()
}

/// A flow, and the range of its bins with data in flight.
struct Active<'a> {
    bins: &'a [Bin],
    first: usize,
    last: usize,
}

impl<'a> Active<'a> {
    fn of(bins: &'a [Bin]) -> Option<Self> {
        let carries = |bin: &Bin| bin.packets > 0.0;
        let first = bins.iter().position(carries)?;
        let last = bins.iter().rposition(carries)?;
        Some(Self { bins, first, last })
    }

    fn rate(&self, from: usize, until: usize) -> Option<f64> {
        let window = self.bins.get(from..until)?;
        let is_active = self.first <= from && until <= self.last + 1;
        is_active
            .then(|| window.iter().map(|bin| bin.throughput).sum::<f64>() / window.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(flows: &[&[f64]]) -> Bins {
        let bin = |(at, throughput): (usize, &f64)| Bin {
            from: at as f64,
            throughput: *throughput,
            packets: *throughput,
            ..Bin::default()
        };
        let flows = flows.iter().map(|rates| rates.iter().enumerate().map(bin).collect());
        Bins { width: 1.0, flows: (0..).zip(flows).collect() }
    }

    #[test]
    fn shares_that_alternate_are_even_in_a_window_that_holds_both() {
        let bins = bins(&[&[1.0, 3.0, 1.0, 3.0], &[3.0, 1.0, 3.0, 1.0]]);
        let narrow: Vec<_> =
            sliding(&bins, &[0, 1], 1.0).into_iter().map(|point| point.1).collect();
        assert_eq!(narrow, [Some(0.8); 4]);
        let wide = sliding(&bins, &[0, 1], 2.0);
        assert_eq!(wide, [(1.0, Some(1.0)), (2.0, Some(1.0)), (3.0, Some(1.0))]);
    }

    #[test]
    fn a_flow_counts_only_where_it_sends_through_the_whole_window() {
        let bins = bins(&[&[2.0, 2.0, 2.0, 2.0], &[0.0, 0.0, 2.0, 2.0]]);
        let index: Vec<_> = sliding(&bins, &[0, 1], 2.0).into_iter().map(|point| point.1).collect();
        assert_eq!(index, [None, None, Some(1.0)]);
    }
}
