//! What GCC compares in a call that fills no queue (Figs. 23 and 24): means of the delay, its
//! gradient, the trend and the threshold.

use std::sync::PoisonError;
use std::time::Duration;

use sounding_experiment::metrics::sorted;
use sounding_testbed::call::queues_before;
use sounding_units::HostInstant;

use super::gcc::{CALL, LOST, QUEUE};
use super::scene::Scene;
use super::table1::BEGUN;
use super::{Figures, Kind, Made, Measure, Row, Short, mean, quantile};

/// Of the delay: its mean, and the standard deviations of means of 500 ms and of packets. Of groups
/// of packets: how the delay changed from one to the next, the trend that GCC compares, each as the
/// 95th percentile of its amount, and the threshold. Overuse is counted by its begins; `no queue`
/// are those in whose second before no queue stood.
pub(super) const COLUMNS: &[&str] = &[
    "mean ms",
    "sd of means ms",
    "sd ms",
    "gradient ms",
    "trend ms",
    "threshold ms",
    "above %",
    "overuse/min",
    "no queue/min",
];

/// §5.3: delays are averaged over so much.
const MEANS: Duration = Duration::from_millis(500);

/// As the registry's, with a record of gradients.
const SENDERS: [(&str, &str); 2] = [("gcc", "graded-gcc"), ("gcc-gandalf", "graded-gcc-gandalf")];

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for scene in Scene::all().filter(|scene| scene.up && !scene.walks) {
        for (shown, lost) in [("call", &[][..]), ("call, 30 % lost", &LOST[..])] {
            for (sender, controller) in SENDERS {
                let mut sets = scene.sets();
                sets.extend(lost.iter().chain(&[CALL]).map(|set| (*set).to_owned()));
                sets.push(format!("flows.flow.controller={controller}"));
                let name = format!("{}, {shown}: {sender}", scene.name());
                kinds.push(Kind { name, sets, measure: Measure::Run(measure) });
            }
        }
    }
    kinds
}

fn measure(_: &Kind, made: &Made) -> Figures {
    let Made { observed, shared } = made;
    let begun = HostInstant::default() + BEGUN;
    let waited = observed.waited();
    let delays: Vec<(HostInstant, f64)> = observed
        .packets
        .arrivals
        .iter()
        .filter(|arrival| arrival.packet.entered >= begun)
        .map(|arrival| (arrival.packet.entered, arrival.delay().as_secs_f64() * 1e3))
        .collect();
    let all: Vec<f64> = delays.iter().map(|(_, delay)| *delay).collect();
    let record = shared.record.lock().unwrap_or_else(PoisonError::into_inner);
    let seen: Vec<_> = record.gradients.iter().filter(|(at, ..)| *at >= begun).collect();
    let begins = seen.windows(2).filter(|two| !two[0].2 && two[1].2).map(|two| two[1].0);
    let overuse = queues_before(begins, &waited);
    let spurious = overuse.iter().filter(|(_, queue)| *queue < QUEUE).count();
    let above = seen.iter().filter(|(_, of, _)| of.trend_ms > of.threshold_ms).count();
    let minutes = (observed.span - BEGUN).as_secs_f64() / 60.0;
    let amounts = |of: fn(&sounding_baselines::gcc::Gradient) -> f64, part| {
        let amounts = sorted(seen.iter().map(|(_, gradient, _)| of(gradient)));
        quantile(&amounts, part)
    };
    vec![
        ("mean ms", mean(&all)),
        ("sd of means ms", deviation(&means(&delays))),
        ("sd ms", deviation(&all)),
        ("gradient ms", amounts(|of| of.raw_ms.abs(), 0.95)),
        ("trend ms", amounts(|of| of.trend_ms.abs(), 0.95)),
        ("threshold ms", amounts(|of| of.threshold_ms, 0.5)),
        ("above %", 100.0 * above as f64 / seen.len() as f64),
        ("overuse/min", overuse.len() as f64 / minutes),
        ("no queue/min", spurious as f64 / minutes),
    ]
}

/// Means of what lies in the same 500 ms, in order of time.
fn means(delays: &[(HostInstant, f64)]) -> Vec<f64> {
    let bucket = |at: HostInstant| (at - HostInstant::default()).as_nanos() / MEANS.as_nanos();
    let chunks = delays.chunk_by(|one, next| bucket(one.0) == bucket(next.0));
    chunks.map(|chunk| mean(chunk.iter().map(|(_, delay)| delay))).collect()
}

pub(super) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / values.len() as f64).sqrt()
}

/// Calls in which stock has no overuse without a queue: the paper's harm is then not there.
pub(super) fn short(rows: &[Row]) -> Short {
    let stock = rows.iter().filter(|row| row.name.ends_with(": gcc"));
    let without = stock.filter(|row| row.figure("no queue/min") == 0.0);
    without.map(|row| (row.name.clone(), vec!["no overuse without a queue".to_owned()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_of_half_seconds_and_steadier_than_packets() {
        let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
        let delays: Vec<_> = (0..1_000).map(|ms| (at(ms), f64::from(ms as u32 % 2))).collect();
        assert_eq!(means(&delays), [0.5, 0.5]);
        let all: Vec<f64> = delays.iter().map(|(_, delay)| *delay).collect();
        assert_eq!((deviation(&means(&delays)), deviation(&all)), (0.0, 0.5));
    }

    #[test]
    fn a_call_without_the_papers_harm_is_a_miss() {
        let row = |name: &str, spurious: f64| Row {
            name: name.to_owned(),
            figures: [("no queue/min".to_owned(), spurious)].into(),
        };
        let short = short(&[row("a: gcc", 0.0), row("a: gcc-gandalf", 0.0), row("b: gcc", 1.0)]);
        assert_eq!(short.len(), 1);
        assert_eq!(short[0].0, "a: gcc");
    }
}
