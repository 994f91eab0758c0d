//! Reference senders, which know the present of a link without error, and not the future. Controllers are compared with them.
//!
//! Each follows a simple rule: it keeps a queue of rate × `room`, with the rate averaged over its
//! `span`. They are run over a grid of rooms and spans. None is a bound: a rule that uses the same
//! knowledge better is above the curve.

mod curve;
pub(crate) mod experiment;

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use sounding_cell::config::InvalidConfig;
use sounding_experiment::provenance::Provenance;

pub use curve::{Curve, Ground, Point, Reached, There};

use crate::biscay::{self, Distance, Entry, LinksError, ReadCapture};
use crate::closed_loop::{self, Case, Contender, Kind};
use crate::reference::{Hears, Reference};

/// The grid of rooms and spans.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Milliseconds, 10 s at most.
    pub rooms_ms: Vec<u64>,
    /// Milliseconds, from 1 to 10 s.
    pub spans_ms: Vec<u64>,
}

/// Controllers that are compared with references.
pub const BESIDE: [&str; 2] = ["sounding", "biscay"];

/// Their results.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// By kinds of links and cells.
    pub grounds: Vec<Ground>,
    /// Origin of the figures.
    pub provenance: Provenance,
}

impl Grid {
    /// Each reference with this knowledge, with its point.
    fn references(&self, hears: Hears) -> impl Iterator<Item = (u64, u64, Reference)> + '_ {
        let points = self
            .rooms_ms
            .iter()
            .flat_map(|&room| self.spans_ms.iter().map(move |&span| (room, span)));
        points.map(move |(room_ms, span_ms)| {
            let [room, span] = [room_ms, span_ms].map(Duration::from_millis);
            (room_ms, span_ms, Reference { hears, room, span })
        })
    }

    fn all(&self) -> impl Iterator<Item = Reference> + '_ {
        Hears::ALL.into_iter().flat_map(|hears| self.references(hears)).map(|(.., one)| one)
    }

    /// The result of each reference and controller, as a ground.
    fn ground(&self, about: String, reached: impl Fn(&str) -> Option<Reached>) -> Ground {
        let curves = Hears::ALL.into_iter().map(|hears| {
            let points = self.references(hears).filter_map(|(room_ms, span_ms, one)| {
                Some(Point { room_ms, span_ms, reached: reached(&one.to_string())? })
            });
            Curve { reference: hears.name().into(), hears, points: points.collect() }
        });
        let controllers =
            BESIDE.iter().filter_map(|name| Some(((*name).to_owned(), reached(name)?)));
        Ground { about, controllers: controllers.collect(), curves: curves.collect() }
    }
}

/// Settings of flows over given links.
#[derive(Clone, Copy, Debug)]
pub struct OverLinks {
    /// Propagation delay, each way.
    pub delay: Duration,
    /// Duration of each run.
    pub duration: Duration,
    /// Number of parallel runs.
    pub jobs: usize,
}

/// Runs them over given links (an open loop); `progress` is called after each link.
pub fn over_links(
    grid: &Grid,
    entries: &[Entry],
    how: OverLinks,
    read: &ReadCapture<'_>,
    progress: impl FnMut(usize, usize),
) -> Result<Ground, LinksError> {
    let names = grid.all().map(|one| one.to_string());
    let others = ["oracle"].into_iter().chain(BESIDE).map(str::to_owned);
    let plan = biscay::Plan {
        about: String::new(),
        controllers: others.chain(names).collect(),
        flows: vec![1],
        stagger: Duration::ZERO,
        every_ms: Vec::new(),
        once: false,
        delay: how.delay,
        duration: how.duration,
    };
    let figures = biscay::measure(&plan, entries, how.jobs, read, progress)?;
    let reached = |name: &str| {
        let Distance { throughput_percent, beyond_ms, .. } = Distance::of(name, &figures)?;
        Some(Reached { throughput_percent, beyond_ms })
    };
    let about = format!(
        "open loop, medians of {} links: throughput over the oracle's, and the 95th percentile of queueing beyond its own",
        entries.len()
    );
    Ok(grid.ground(about, reached))
}

/// Cells that grant what is asked for.
#[derive(Clone, Debug)]
pub struct OverCells {
    /// The situations.
    pub cases: Vec<Case>,
    /// The first seed.
    pub first: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// Number of parallel runs.
    pub jobs: usize,
}

/// Runs them over cells that grant what is requested (a closed loop); `progress` is called after each cell.
pub fn over_cells(
    grid: &Grid,
    how: &OverCells,
    progress: impl FnMut(usize, usize),
) -> Result<Vec<Ground>, InvalidConfig> {
    let references = grid.all().map(Contender::Reference);
    let plan = closed_loop::Plan {
        contenders: BESIDE
            .iter()
            .map(|name| Contender::by_name(name).expect("a registered contender"))
            .chain(references)
            .collect(),
        cases: how.cases.clone(),
        kinds: Kind::ALL.to_vec(),
        first: how.first,
        seeds: how.seeds,
        jobs: how.jobs,
    };
    let outcome = closed_loop::run(&plan, progress)?;
    let kinds = how.cases.iter().flat_map(|&case| Kind::ALL.map(|kind| (case, kind)));
    let grounds = kinds.map(|(case, kind)| {
        let reached = |name: &str| {
            let is_it = |row: &&closed_loop::Row| {
                (row.case, row.kind, row.contender.as_str()) == (case, kind, name)
            };
            let row = outcome.rows.iter().find(is_it)?;
            Some(Reached {
                throughput_percent: 100.0 * row.quantile(0.5, |score| Some(score.share))?,
                beyond_ms: row.quantile(0.5, |score| Some(score.over_ms()))?,
            })
        };
        let about = format!(
            "closed loop, {case}, {kind}, medians of {} cells from seed {}: part of what the cell could carry, and the 95th \
             percentile of delay beyond the empty cell's",
            how.seeds, how.first
        );
        grid.ground(about, reached)
    });
    Ok(grounds.collect())
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, ground) in self.grounds.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            write!(f, "{ground}")?;
        }
        Ok(())
    }
}
