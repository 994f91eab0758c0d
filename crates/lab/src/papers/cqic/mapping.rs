//! Fig. 2: what a CQI stands for.

use std::time::Duration;

use sounding_cell::config::Rat;
use sounding_kpi::Direction;
use sounding_link::{CellRates, Method};
use sounding_phy::{hspa, lte, nr};

use super::hspa::{Generated, TABLE, generate};
use super::{Figures, Row, mean};
use crate::estimates::estimators::{IP_SHARE_PERMILLE, Pace, Scenario, Trial, follow};
use crate::paper::Work;

/// §3.2: twelve static runs, eight walks and four drives, 60 s at least each.
const PACES: [(Pace, usize); 3] = [(Pace::Static, 12), (Pace::Walk, 8), (Pace::Drive, 4)];
const SPAN: Duration = Duration::from_secs(60);
const FIRST_SEED: u64 = 1001;
/// A CQI with fewer blocks in a run has no mean worth comparing.
const ENOUGH: u32 = 200;

/// The rows: HSPA by CQI, then LTE and NR by CQI.
pub(super) fn measure(work: &Work<'_>) -> miette::Result<Option<Figures>> {
    let mut runs = Vec::new();
    for (pace, count) in PACES {
        runs.extend((0..work.most(count)).map(|run| (pace, FIRST_SEED + run as u64)));
    }
    let made = work.each(&runs, |(pace, seed)| {
        Ok::<_, String>(generate(*seed, *pace != Pace::Static, SPAN))
    })?;
    let Some(generated) = made else { return Ok(None) };
    let mut figures = Figures { rows: of_hspa(&generated), ..Figures::default() };
    for rat in [Rat::Lte, Rat::Nr] {
        let learnt = work.each(&runs, |(pace, seed)| {
            let link = Scenario::new(rat, Direction::Downlink, *pace);
            let trial =
                Trial { method: Method::Cqi, window: Duration::from_millis(200), sniffs: false };
            follow(&link, &[trial], IP_SHARE_PERMILLE, SPAN, *seed).map(|series| series.rates)
        })?;
        let Some(learnt) = learnt else { return Ok(None) };
        figures.rows.extend(of_cells(rat, &learnt.concat()));
    }
    Ok(Some(figures))
}

fn of_hspa(generated: &[Generated]) -> Vec<Row> {
    let mut rows = Vec::new();
    for cqi in [1_u8, 5, 10, 15, 20, 25, 28, 29, 30] {
        let place = usize::from(cqi);
        let standard = hspa::cqi(TABLE, cqi).map_or(f64::NAN, |block| f64::from(block.tbs_bits));
        let (mut sent, mut off) = (Vec::new(), Vec::new());
        for run in generated {
            let (bits, count) = run.sent[place];
            if count < ENOUGH {
                continue;
            }
            sent.push(bits);
            let learnt = run.learnt.iter().flat_map(CellRates::learnt);
            let learnt = learnt.filter(|(_, of, _)| *of == place).map(|(.., bits)| bits).next();
            off.push((learnt.unwrap_or(standard) / bits - 1.0).abs());
        }
        let per_sec = 1.0 / hspa::TTI.as_secs_f64();
        let mbit = |bits: f64| bits * per_sec * 1e-6;
        let least = sent.iter().copied().fold(f64::NAN, f64::min);
        let most = sent.iter().copied().fold(f64::NAN, f64::max);
        rows.push(Row::new(
            format!("hspa, {cqi} of 30"),
            [
                ("standard", mbit(standard)),
                ("in use", mbit(mean(sent.iter().copied()))),
                ("least", mbit(least)),
                ("most", mbit(most)),
                ("learnt is off by, %", mean(off) * 100.0),
                ("runs", sent.len() as f64),
            ],
        ));
    }
    rows
}

/// Of one layer, in Mbit/s of a resource block in every subframe of LTE, or in both slots of a
/// millisecond of NR.
fn of_cells(rat: Rat, learnt: &[CellRates]) -> Vec<Row> {
    let mut rows = Vec::new();
    for cqi in [3_u8, 5, 7, 9, 11, 13, 15] {
        let scheme = match rat {
            Rat::Lte => lte::cqi(lte::CqiTable::Qam64, cqi),
            Rat::Nr => nr::cqi(nr::CqiTable::Table1, cqi),
        };
        let standard = scheme.map_or(f64::NAN, |scheme| 120.0 * f64::from(scheme.efficiency()));
        let bits = learnt.iter().flat_map(CellRates::learnt);
        let bits: Vec<f64> = bits
            .filter(|(_, of, _)| *of == usize::from(cqi))
            .map(|(rank, _, bits)| bits / rank as f64)
            .collect();
        let slots = if rat == Rat::Lte { 1e-3 } else { 2e-3 };
        rows.push(Row::new(
            format!(
                "{}, {cqi} of 15, a resource block",
                if rat == Rat::Lte { "lte" } else { "nr" }
            ),
            [
                ("standard", standard * slots),
                ("in use", mean(bits.iter().copied()) * slots),
                ("least", bits.iter().copied().fold(f64::NAN, f64::min) * slots),
                ("most", bits.iter().copied().fold(f64::NAN, f64::max) * slots),
                ("learnt is off by, %", f64::NAN),
                ("runs", bits.len() as f64),
            ],
        ));
    }
    rows
}
