//! What the radio alone does to packets (Gandalf §3 and Appendix B): the table's figures of it,
//! distributions, and delays by slot.

use std::collections::BTreeMap;
use std::time::Duration;

use sounding_cell::config::InvalidConfig;
use sounding_experiment::metrics::quantile;
use sounding_host::jobs;

pub(crate) use super::walk::SlotDelay;
use super::{FIGURES, Measured, Noted, Row, answer, row, rtt, uplink, walk};

/// What was found over all seeds.
pub(crate) struct Found {
    /// Those figures whose source is Gandalf.
    pub(crate) figures: Vec<Row>,
    /// By slot, the shortest over all seeds.
    pub(crate) slots: Vec<SlotDelay>,
    measured: Measured,
}

impl Found {
    /// The first, fifth and ninth decile of a distribution; `None` without values.
    pub(crate) fn deciles(&self, of: &str) -> Option<[f64; 3]> {
        let values = self.measured.pooled.get(of)?;
        Some([quantile(values, 0.1)?, quantile(values, 0.5)?, quantile(values, 0.9)?])
    }
}

/// One part of the measurement, with a seed.
type Part = fn(Duration, u64, &mut Measured) -> Result<(), InvalidConfig>;

/// Makes all runs. `traces` is the number of traces of round trips, which Fig. 9c has the
/// distribution of.
pub(crate) fn find(
    seeds: &[u64],
    traces: u64,
    span: Duration,
    at_once: usize,
    mut progress: impl FnMut(usize, usize),
) -> Result<Found, InvalidConfig> {
    let parts: [Part; 3] = [walk::measure, uplink::measure, answer::measure];
    let mut runs: Vec<(Part, u64)> = Vec::new();
    for &seed in seeds {
        runs.extend(parts.map(|part| (part, seed)));
    }
    let first = seeds.first().copied().unwrap_or(1);
    runs.extend((first..first + traces).map(|seed| (rtt::measure as Part, seed)));
    let mut done = 0;
    let all = runs.len();
    let found = jobs::each(
        &runs,
        at_once,
        |(part, seed)| {
            let mut measured = Measured::default();
            part(span, *seed, &mut measured).map(|()| measured)
        },
        |_, _| {
            done += 1;
            progress(done, all);
        },
    )?;
    let mut measured = Measured::default();
    let mut slots: BTreeMap<(usize, bool, u8), SlotDelay> = BTreeMap::new();
    for part in found {
        for (figure, values) in part.values {
            values.into_iter().for_each(|value| measured.note(figure, Some(value)));
        }
        part.pooled.into_iter().for_each(|(name, values)| measured.all(name, values));
        for delay in part.slots {
            let of = slots.entry((delay.pattern, delay.up, delay.slot)).or_insert(delay);
            of.ours = of.ours.into_iter().chain(delay.ours).min_by(f64::total_cmp);
        }
    }
    for (figure, traces) in [("rtt.lte", "traces.lte"), ("rtt.nr", "traces.nr")] {
        let of = measured.values.get(figure).cloned().unwrap_or_default();
        measured.all(traces, of);
    }
    let none = BTreeMap::new();
    let ours = FIGURES.iter().filter(|figure| figure.source.contains("Gandalf"));
    let figures = ours.map(|figure| row(figure, &measured, &none)).collect();
    Ok(Found { figures, slots: slots.into_values().collect(), measured })
}
