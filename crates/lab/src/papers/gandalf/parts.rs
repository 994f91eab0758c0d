//! What each part of Gandalf brings (Figs. 19 and 22), and what Copa and Vivace take for a queue
//! without it (Figs. 17 and 20).

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

use sounding_units::HostInstant;

use super::controls::PARTS;
use super::scene::Scene;
use super::table1::{BEGUN, rate_and_delay};
use super::{Figures, Kind, Made, Measure, Row, Short, quantile};

/// `standing` is the median of what Copa takes for a queue: the least RTT of half an RTT over that
/// of ten seconds.
pub(super) const COLUMNS: &[&str] =
    &["Mbit/s", "mean ms", "p95 ms", "× stock", "× mean delay", "standing ms"];

/// The senders of an algorithm, stock first: how they are shown, and their names.
fn senders(of: &str) -> Vec<(String, String)> {
    let stock = match of {
        "vivace" => ("vivace-published".to_owned(), "vivace-published".to_owned()),
        _ => (of.to_owned(), format!("recorded-{of}")),
    };
    let parts = PARTS
        .iter()
        .map(|part| (format!("{of}, {}", part.name), format!("{of}-{}-gandalf", part.word)));
    let all = (format!("{of}-gandalf"), format!("{of}-gandalf"));
    std::iter::once(stock).chain(parts).chain(std::iter::once(all)).collect()
}

pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for scene in Scene::all().filter(|scene| scene.nr && !scene.walks) {
        for of in ["copa", "vivace"] {
            for (shown, controller) in senders(of) {
                let mut sets = scene.sets();
                sets.push(format!("flows.flow.controller={controller}"));
                kinds.push(Kind {
                    name: format!("{}: {shown}", scene.name()),
                    sets,
                    measure: Measure::Run(measure),
                });
            }
        }
    }
    kinds
}

fn measure(_: &Kind, made: &Made) -> Figures {
    let Made { observed, shared } = made;
    let mut figures = rate_and_delay(observed);
    let record = shared.record.lock().unwrap_or_else(PoisonError::into_inner);
    if !record.seen.is_empty() {
        figures.push(("standing ms", standing_ms(&record.seen)));
    }
    figures
}

/// The least of a window that slides.
struct Least {
    window: Duration,
    values: VecDeque<(HostInstant, Duration)>,
}

impl Least {
    fn new(window: Duration) -> Self {
        Self { window, values: VecDeque::new() }
    }

    fn push(&mut self, at: HostInstant, value: Duration) -> Duration {
        while self.values.back().is_some_and(|(_, last)| *last >= value) {
            self.values.pop_back();
        }
        self.values.push_back((at, value));
        while self.values.front().is_some_and(|(of, _)| at - *of > self.window) {
            self.values.pop_front();
        }
        self.values.front().map_or(value, |(_, least)| *least)
    }
}

/// The median of the standing queue that these RTTs show, after the begin.
fn standing_ms(seen: &[(HostInstant, Duration)]) -> f64 {
    let (mut usual, begun) = (Duration::ZERO, HostInstant::default() + BEGUN);
    let mut all = Least::new(Duration::from_secs(10));
    let mut recent = Least::new(Duration::ZERO);
    let mut queues = Vec::new();
    for &(at, rtt) in seen {
        usual = if usual.is_zero() { rtt } else { (usual * 7 + rtt) / 8 };
        recent.window = usual / 2;
        let queue = recent.push(at, rtt) - all.push(at, rtt);
        if at >= begun {
            queues.push(queue.as_secs_f64() * 1e3);
        }
    }
    queues.sort_by(f64::total_cmp);
    quantile(&queues, 0.5)
}

/// Rows in which another part brings more than the filter, which the paper names as the one that
/// matters to Copa.
pub(super) fn short(rows: &[Row]) -> Short {
    let mut all = Vec::new();
    for row in rows {
        let Some((scene, "copa, filter alone")) = row.name.split_once(": ") else { continue };
        let rate = |of: &str| {
            let name = format!("{scene}: copa, {of}");
            rows.iter().find(|row| row.name == name).map_or(f64::NAN, |row| row.figure("Mbit/s"))
        };
        let most = rate("DL-reTx alone").max(rate("UL-reTx alone"));
        if row.figure("Mbit/s") < most {
            all.push((row.name.clone(), vec!["another part brings more".to_owned()]));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use sounding_kpi::Direction;
    use sounding_link::{DelayKind, RanDelay};

    use super::*;

    #[test]
    fn a_delay_that_never_ends_within_half_an_rtt_is_what_copa_takes_for_a_queue() {
        let at = |ms: u64| HostInstant::default() + Duration::from_millis(ms);
        let rtt = |ms: u64| Duration::from_millis(if ms == 100 { 30 } else { 36 + ms % 3 });
        let seen: Vec<_> = (0..4_000).map(|ms| (at(ms), rtt(ms))).collect();
        assert!((standing_ms(&seen) - 6.0).abs() < 1e-9);
    }

    #[test]
    fn every_part_keeps_which_block_took_a_packet() {
        let from = HostInstant::default();
        let event = RanDelay::new(
            Direction::Uplink,
            DelayKind::Scheduling,
            from,
            from + Duration::from_millis(8),
        )
        .with_confidence(sounding_link::Confidence::Inferred);
        for part in PARTS {
            let kept = (part.keep)(&event).expect("it is kept");
            assert_eq!(kept.amount.is_zero(), part.word != "filter");
        }
    }
}
