//! The target, and which parts of it are missed and why.

use std::fmt;

use serde::Serialize;

use super::late::{BEARABLE, Late};
use super::{Case, Kind, Row, Score};
use crate::controllers::reference::Reference;

/// The controller with the target.
const WHOSE: &str = "sounding";
/// The controller that it must not be worse than.
const BESIDE: &str = "biscay";
/// Share of the capacity.
const SHARE: f64 = 0.95;
/// RTTs of a climb, and until a flow is back after a handover.
const CLIMB: f64 = 10.0;
const BACK: f64 = 5.0;

/// A row that misses the target: its medians, those of the references, and the causes of late
/// packets.
#[derive(Clone, Debug, Serialize)]
pub struct Miss {
    /// The situation.
    pub case: Case,
    /// Where.
    #[serde(flatten)]
    pub kind: Kind,
    /// The missed parts of the target, as text.
    pub what: Vec<String>,
    /// For each reference: name, share of the capacity, and the 95th percentile beyond the empty
    /// cell's, ms.
    pub beside: Vec<(String, f64, f64)>,
    /// The figures of the row.
    pub share: f64,
    /// See [`share`](Self::share).
    pub over_ms: f64,
    /// Causes of late packets.
    pub late: Late,
}

/// The misses of all rows.
pub(super) fn misses(rows: &[Row]) -> Vec<Miss> {
    let ours = rows.iter().filter(|row| row.contender == WHOSE && row.case != Case::BesideCubic);
    ours.filter_map(|row| miss(row, rows)).collect()
}

fn miss(row: &Row, rows: &[Row]) -> Option<Miss> {
    let of = |row: &Row, of: fn(&Score) -> f64| row.quantile(0.5, |score| Some(of(score)));
    let (share, over) = (of(row, |score| score.share)?, of(row, Score::over_ms)?);
    let here = |other: &&Row| (other.case, other.kind) == (row.case, row.kind);
    let tells = |other: &Row| {
        let medians = (of(other, |score| score.share)?, of(other, Score::over_ms)?);
        Some((other.contender.clone(), medians.0, medians.1))
    };
    let compared =
        |name: &str| ["oracle", BESIDE].contains(&name) || Reference::by_name(name).is_some();
    let beside: Vec<(String, f64, f64)> = rows
        .iter()
        .filter(here)
        .filter(|other| compared(&other.contender))
        .filter_map(tells)
        .collect();
    let mut what = Vec::new();
    if share < SHARE {
        what.push(format!("{:.1} % of {:.0} %", share * 100.0, SHARE * 100.0));
    }
    let bearable = BEARABLE.as_secs_f64() * 1e3;
    if over > bearable {
        what.push(format!("{over:.1} ms over the empty cell's p95 instead of {bearable:.0}"));
    }
    let most = row.quantile(1.0, |score| score.round_trips);
    let aimed = if row.case == Case::Climb { CLIMB } else { BACK };
    if let Some(most) = most.filter(|most| *most > aimed) {
        what.push(format!("{most:.1} RTTs at most instead of {aimed:.0}"));
    }
    let is_worse = |(name, theirs, late): &(String, f64, f64)| {
        name == BESIDE && *theirs > share && *late < over
    };
    if beside.iter().any(is_worse) {
        what.push(format!("{BESIDE} carries more and waits less"));
    }
    let median = |of: fn(&Late) -> f64| row.quantile(0.5, |score| Some(of(&score.late)));
    let late = Late {
        part: median(|late| late.part)?,
        repeated: median(|late| late.repeated)?,
        faded: median(|late| late.faded)?,
        aged: median(|late| late.aged)?,
        queued: median(|late| late.queued)?,
    };
    let (case, kind) = (row.case, row.kind);
    (!what.is_empty()).then_some(Miss { case, kind, what, beside, share, over_ms: over, late })
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, kind, late, .. } = self;
        write!(f, "MISS {case}, {kind}: {}", self.what.join("; "))?;
        for (name, share, over) in &self.beside {
            let beyond = self.over_ms - over;
            write!(f, "; {name} has {:.1} % and {over:.1} ms ({beyond:+.1})", share * 100.0)?;
        }
        let percent = |part: f64| part * 100.0;
        write!(
            f,
            ". Late are {:.0} % of packets: {:.0} % because the link slowed down after they had left, {:.0} % because it just had \
             and the mean did not show it yet, {:.0} % by repetitions, {:.0} % behind more than that",
            percent(late.part),
            percent(late.faded),
            percent(late.aged),
            percent(late.repeated),
            percent(late.queued),
        )
    }
}
