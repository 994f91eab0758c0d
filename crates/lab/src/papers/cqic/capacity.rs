//! Figs. 3 and 4: the estimate of a saturated downlink beside what it carried, as `sounding lab run
//! estimators` measures it.

use std::time::Duration;

use sounding_cell::config::Rat;
use sounding_kpi::Direction;
use sounding_link::Method;

use super::{Figures, Item, Row};
use crate::estimates::estimators::{
    IP_SHARE_PERMILLE, Pace, STEP, Scenario, Score, Series, Trial, follow,
};
use crate::paper::Work;

/// §3.2: 24 experiments of at least 60 s, after what the raw methods learn from.
const PACES: [(Pace, usize); 3] = [(Pace::Static, 12), (Pace::Walk, 8), (Pace::Drive, 4)];
const SPAN: Duration = Duration::from_secs(82);
/// The first run's seed. Seeds below were used while the estimate was made.
const FIRST_SEED: u64 = 1001;

const WINDOWS: [u64; 3] = [200, 100, 500];

fn trials() -> [Trial; 4] {
    let trial = |method, ms| Trial { method, window: Duration::from_millis(ms), sniffs: false };
    let [first, second, third] = WINDOWS.map(|ms| trial(Method::Cqi, ms));
    // The grants show how late the goodput is behind its records.
    [trial(Method::Grants, 100), first, second, third]
}

struct Ran {
    rat: Rat,
    pace: Pace,
    series: Series,
}

fn name(rat: Rat) -> &'static str {
    match rat {
        Rat::Lte => "lte",
        Rat::Nr => "nr",
    }
}

/// The rows of an item.
pub(super) fn measure(item: Item, work: &Work<'_>) -> miette::Result<Option<Figures>> {
    let rats: &[Rat] = if item == Item::Fig3 { &[Rat::Lte] } else { &[Rat::Lte, Rat::Nr] };
    let mut runs = Vec::new();
    for &rat in rats {
        for (pace, count) in PACES {
            let scenario = Scenario::new(rat, Direction::Downlink, pace);
            runs.extend((0..work.most(count)).map(|run| (scenario, FIRST_SEED + run as u64)));
        }
    }
    let series = work.each(&runs, |(scenario, seed)| {
        let Scenario { rat, pace, .. } = *scenario;
        follow(scenario, &trials(), IP_SHARE_PERMILLE, SPAN, *seed).map(|series| Ran {
            rat,
            pace,
            series,
        })
    })?;
    let Some(ran) = series else { return Ok(None) };
    Ok(Some(if item == Item::Fig3 { shares(&ran) } else { errors(&ran) }))
}

/// The score of a trial over these runs.
fn score<'a>(ran: impl Iterator<Item = &'a Ran>, trial: usize, window: Duration) -> Option<Score> {
    let series: Vec<Series> = ran.map(|ran| ran.series.clone()).collect();
    let late: Vec<isize> = series.iter().map(|one| one.lateness(0, trials()[0].window)).collect();
    Score::of(&series, trial, window, &late)
}

fn shares(ran: &[Ran]) -> Figures {
    let mut figures = Figures::default();
    let window = Duration::from_millis(WINDOWS[0]);
    let row = |name: &str, score: Option<Score>| {
        let value = |of: fn(&Score) -> f64| score.as_ref().map_or(f64::NAN, of);
        Row::new(
            name,
            [
                ("over the capacity", value(|score| 1.0 + score.bias)),
                ("error p50 %", value(|score| score.error_p50 * 100.0)),
                ("p80", value(|score| score.error_p80 * 100.0)),
                ("r", value(|score| score.pearson_r.unwrap_or(f64::NAN))),
            ],
        )
    };
    figures.rows.push(row("with the served share", score(ran.iter(), 1, window)));
    figures.rows.push(row("CQI alone", score(ran.iter(), trials().len(), window)));
    figures
}

/// What the goodput of a window says of the next: how much of the error is the network's.
fn present<'a>(ran: impl Iterator<Item = &'a Ran>, window: Duration) -> Option<Score> {
    let width = (window.as_nanos() / STEP.as_nanos()) as usize;
    let known = ran.map(|ran| {
        let mut series = ran.series.clone();
        let rates = (0..series.carried.len()).map(|end| {
            let begin = (end + 1).checked_sub(width)?;
            let bytes: u64 = series.carried[begin..=end].iter().sum();
            Some(bytes as f64 * 8.0 / window.as_secs_f64())
        });
        series.estimates = vec![rates.collect()];
        series
    });
    let known: Vec<Series> = known.collect();
    Score::of(&known, 0, window, &vec![0; known.len()])
}

fn errors(ran: &[Ran]) -> Figures {
    let mut figures = Figures::default();
    for rat in [Rat::Lte, Rat::Nr] {
        for (at, ms) in (1..).zip(WINDOWS) {
            let window = Duration::from_millis(ms);
            let of_rat = || ran.iter().filter(|ran| ran.rat == rat);
            let mut add = |what: &str, score: Option<Score>| {
                let Some(score) = score else { return };
                let name = format!("{}, {what}, {ms} ms", name(rat));
                let parts = [score.next_error_p50, score.next_error_p80, score.next_error_p90];
                let [p50, p80, p90] = parts.map(|part| part * 100.0);
                let short: Vec<String> =
                    [("p50", p50, 8.0), ("p80", p80, 20.0), ("p90", p90, 30.0)]
                        .into_iter()
                        .filter(|(_, ours, wanted)| ours > wanted)
                        .map(|(head, ours, wanted)| format!("{head} {ours:.1} of {wanted} %"))
                        .collect();
                if what == "all" && !short.is_empty() {
                    let cause = format!("{}, all, 200 ms", self::name(rat));
                    figures.misses.push((name.clone(), cause, short.join(", ")));
                }
                figures.rows.push(Row::new(
                    name,
                    [
                        ("next p50 %", p50),
                        ("p80", p80),
                        ("p90", p90),
                        ("overall %", score.bias.abs() * 100.0),
                        ("same p50", score.error_p50 * 100.0),
                    ],
                ));
            };
            add("all", score(of_rat(), at, window));
            if ms == WINDOWS[0] {
                add("the present repeated", present(of_rat(), window));
                for (pace, _) in PACES {
                    let of_pace = of_rat().filter(|ran| ran.pace == pace);
                    add(pace.name(), score(of_pace, at, window));
                }
            }
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_served_share_the_estimate_is_far_too_high_and_with_it_it_is_right() {
        let pace = Pace::Static;
        let link = Scenario::new(Rat::Lte, Direction::Downlink, pace);
        let series = follow(&link, &trials(), IP_SHARE_PERMILLE, SPAN, FIRST_SEED).unwrap();
        let ran = [Ran { rat: Rat::Lte, pace, series }];
        let bias = |trial| {
            let score = score(ran.iter(), trial, Duration::from_millis(200));
            score.expect("there are rates").bias
        };
        let (with, without) = (bias(1), bias(trials().len()));
        assert!(with.abs() < 0.05 && without > 0.3, "{with} {without}");
    }
}
