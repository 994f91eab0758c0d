//! What rates that were kept by cell are worth: the estimate's error in the first second of a visit to a cell that is known.

use std::time::Duration;

use sounding_cell::config::{InvalidConfig, Rat};
use sounding_experiment::metrics::nearest_rank;
use sounding_kpi::Direction;
use sounding_link::{CellRates, Method};

use super::hspa::{self, generate};
use super::work::{Figures, Work};
use super::{Row, mean};
use crate::estimators::{
    IP_SHARE_PERMILLE, Pace, STEP, Scenario, Series, Trial, follow, follow_knowing,
};

const WINDOW: Duration = Duration::from_millis(200);
const TRIAL: Trial = Trial { method: Method::Cqi, window: WINDOW, sniffs: false };
/// The visit from which the cell is known.
const BEFORE: Duration = Duration::from_secs(30);
/// What is judged of the next one; the first window is not full yet.
const FIRST: core::ops::Range<Duration> = Duration::from_millis(200)..Duration::from_secs(1);
const FIRST_SEED: u64 = 1001;
/// What a known cell should leave of the error.
const AIM: f64 = 0.5;

/// The mean error of the estimates of the first second, against the goodput of their own windows, in percent.
fn error(series: &Series) -> f64 {
    let at = |time: Duration| (time.as_nanos() / STEP.as_nanos()) as usize;
    let off = (at(FIRST.start)..at(FIRST.end)).map(|end| {
        let rate = series.estimates[0].get(end).copied().flatten().unwrap_or(f64::NAN);
        let bytes: u64 = series.carried[end + 1 - at(WINDOW)..=end].iter().sum();
        (rate / (bytes as f64 * 8.0 / WINDOW.as_secs_f64()) - 1.0).abs() * 100.0
    });
    mean(off)
}

/// The errors of a visit to a cell without and with what the visit before it taught.
fn visits(link: &Scenario, seed: u64) -> Result<[f64; 2], InvalidConfig> {
    let before = follow(link, &[TRIAL], IP_SHARE_PERMILLE, BEFORE, seed + 1_000)?.rates;
    let visit = |known: &[CellRates]| {
        follow_knowing(known, link, &[TRIAL], IP_SHARE_PERMILLE, FIRST.end, seed)
    };
    Ok([error(&visit(&[])?), error(&visit(&before)?)])
}

/// The same of a vendor's cell of HSPA, whose rates are not the standard's.
fn visits_of_hspa(seed: u64) -> [f64; 2] {
    let before = generate(seed, true, BEFORE).learnt;
    [hspa::first_second(seed, &[]), hspa::first_second(seed, before.as_slice())]
}

/// A link, and its errors by seed.
type Link = (&'static str, fn(u64) -> Result<[f64; 2], InvalidConfig>);

const LINKS: [Link; 3] = [
    ("lte", |seed| visits(&modelled(Rat::Lte), seed)),
    ("nr", |seed| visits(&modelled(Rat::Nr), seed)),
    ("hspa", |seed| Ok(visits_of_hspa(seed))),
];

const fn modelled(rat: Rat) -> Scenario {
    Scenario { rat, direction: Direction::Downlink, pace: Pace::Static, alone: false }
}

/// The rows: each link's error without and with the rates of its cell.
pub(super) fn measure(work: &Work<'_>, seeds: usize) -> miette::Result<Option<Figures>> {
    let mut figures = Figures::default();
    for (name, visits) in LINKS {
        let seeds: Vec<u64> = (FIRST_SEED..).take(seeds).collect();
        let Some(seen) = work.each(&seeds, |seed| visits(*seed))? else { return Ok(None) };
        let mut centres = Vec::new();
        for (at, what) in ["unknown", "known"].into_iter().enumerate() {
            let mut of: Vec<f64> = seen.iter().map(|both| both[at]).collect();
            of.sort_by(f64::total_cmp);
            let (Some(least), Some(most)) = (of.first(), of.last()) else { continue };
            centres.push(nearest_rank(&of, 0.5));
            figures.rows.push(Row::new(
                format!("{name}, a cell that is {what}: error of the first second, %"),
                [
                    ("median", nearest_rank(&of, 0.5)),
                    ("least", *least),
                    ("most", *most),
                    ("values", of.len() as f64),
                ],
            ));
        }
        if let [cold, warm] = centres[..]
            && warm > AIM * cold
        {
            let row = format!("{name}, a cell that is known: error of the first second, %");
            let short = format!("{:.2} of {AIM} of the unknown cell's", warm / cold);
            figures.misses.push((row, format!("{name}, a cell that is known"), short));
        }
    }
    Ok(Some(figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_cell_takes_a_quarter_off_the_error_of_the_first_second() {
        for (name, visits) in LINKS {
            let seen: Vec<_> = (1..=4).map(|seed| visits(seed).expect("a link")).collect();
            let [cold, warm] = [0, 1].map(|at| mean(seen.iter().map(|both| both[at])));
            println!("{name}: {cold:.1} % and {warm:.1} %");
            // The modelled cells' rates are near the standard's: their errors are of the share.
            let most = if name == "hspa" { 0.75 * cold } else { cold + 2.0 };
            assert!(warm < most, "{name}: {cold} {warm}");
        }
    }
}
