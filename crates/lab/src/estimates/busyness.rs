//! Whether a background flow knows that its cell is busy: its label beside the cell's own account
//! of its resource blocks.
//!
//! A window of 100 ms in which the flow sent is judged. The label is that of its last departure:
//! "free" while the law sends freely (`sending`, `normal`) or proves what it believes (`proving`),
//! and "busy" otherwise. It has to be "busy" in a window in which another device was backlogged,
//! and "free" in one in which others had less than a twentieth of the resource blocks. Windows
//! between are counted apart: a rival that has all that it asks for is there, and is not harmed.
//! The first five seconds are not judged, because the laws learn the cell in them.

pub(crate) mod experiment;
mod scene;

use std::fmt;
use std::ops::AddAssign;

use serde::Serialize;
use sounding_experiment::plan::Wrong;
use sounding_experiment::provenance::{Begun, Provenance};
use sounding_host::jobs;

use crate::table::Table;
pub use scene::{Network, Receiver, Scene, Scheduler};

/// The laws that are judged.
pub const LAWS: [&str; 2] = ["background", "legilimens-published"];

/// Beside a rival that is backlogged throughout, so many windows are called busy; alone, no more
/// than one less this. Of the cell of 20 MHz with ticks of 1 ms, at every speed.
const RIGHT: f64 = 0.95;

/// Which runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The first seed.
    pub first: u64,
    /// How many for each scene.
    pub seeds: u64,
    /// How long each run lasts, in seconds.
    pub secs: u64,
    /// Scenes.
    pub scenes: Vec<Scene>,
    /// Runs at once.
    pub jobs: usize,
}

/// Windows by truth and label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Windows in which another device was backlogged, and of these those called busy.
    pub busy: [u64; 2],
    /// Windows in which the flow was alone, and of these those called busy.
    pub alone: [u64; 2],
    /// Windows in which others had all that they asked for, and of these those called busy.
    pub between: [u64; 2],
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        for at in 0..2 {
            self.busy[at] += other.busy[at];
            self.alone[at] += other.alone[at];
            self.between[at] += other.between[at];
        }
    }
}

impl Counts {
    /// The part of windows beside a backlogged rival, or alone, that were called busy; `None`
    /// without any.
    pub fn called_busy(&self, beside: bool) -> Option<f64> {
        let [all, called] = if beside { self.busy } else { self.alone };
        (all > 0).then(|| called as f64 / all as f64)
    }

    /// The part of windows that are between.
    pub fn between(&self) -> Option<f64> {
        let all = self.busy[0] + self.alone[0] + self.between[0];
        (all > 0).then(|| self.between[0] as f64 / all as f64)
    }

    /// The part of windows with a truth whose label is right.
    pub fn right(&self) -> Option<f64> {
        let all = self.busy[0] + self.alone[0];
        let right = self.busy[1] + self.alone[0] - self.alone[1];
        (all > 0).then(|| right as f64 / all as f64)
    }
}

/// A row: a scene, and what each law called it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Where.
    pub scene: Scene,
    /// In the order of [`LAWS`].
    pub laws: [Counts; 2],
}

impl Row {
    /// Whether the law's label is one that has to be right, and is not.
    pub fn misses(&self, law: usize) -> bool {
        let beside = self.scene.rivals > 0;
        let Some(called) = self.laws[law].called_busy(beside) else { return true };
        if beside { called < RIGHT } else { called > 1.0 - RIGHT }
    }

    /// Whether it belongs to those that have to be right.
    pub fn is_required(&self) -> bool {
        self.scene.is_required()
    }
}

/// All that was judged.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// By scene.
    pub rows: Vec<Row>,
    /// Where the figures come from.
    pub provenance: Provenance,
}

/// Makes all runs; `progress` is called for each that has ended.
pub fn run(plan: &Plan, mut progress: impl FnMut(usize, usize)) -> Result<Judged, Wrong> {
    let begun = Begun::now();
    let seeds = plan.first..plan.first + plan.seeds;
    let all: Vec<(usize, usize, u64)> = (0..plan.scenes.len())
        .flat_map(|scene| (0..LAWS.len()).map(move |law| (scene, law)))
        .flat_map(|(scene, law)| seeds.clone().map(move |seed| (scene, law, seed)))
        .collect();
    let mut done = 0;
    let counts = jobs::each(
        &all,
        plan.jobs,
        |&(scene, law, seed)| scene::judge(&plan.scenes[scene], LAWS[law], seed, plan.secs),
        |_, _| {
            done += 1;
            progress(done, all.len());
        },
    )?;
    let row = |scene: &Scene| Row { scene: *scene, laws: [Counts::default(); 2] };
    let mut rows: Vec<Row> = plan.scenes.iter().map(row).collect();
    for (&(scene, law, _), counts) in all.iter().zip(counts) {
        rows[scene].laws[law] += counts;
    }
    Ok(Judged { rows, provenance: begun.end() })
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent =
            |part: Option<f64>| part.map_or("-".into(), |part| format!("{:.1}", part * 1e2));
        let mut table = Table::new()
            .left(["network", "scheduler", "receiver"])
            .right(["m/s", "rivals"])
            .right(LAWS.map(|law| format!("{law}: busy %")))
            .right(LAWS.map(|law| format!("{law}: between %")))
            .left([""]);
        for row in &self.rows {
            let Scene { network, scheduler, receiver, speed_mps, rivals } = row.scene;
            let missed = match (row.misses(0), row.is_required()) {
                (false, _) => "",
                (true, true) => "MISSED",
                (true, false) => "missed",
            };
            let words = [network.to_string(), scheduler.to_string(), receiver.to_string()];
            let numbers = [speed_mps.to_string(), rivals.to_string()];
            let called = row.laws.map(|counts| percent(counts.called_busy(rivals > 0)));
            let between = row.laws.map(|counts| percent(counts.between()));
            let cells = words.into_iter().chain(numbers).chain(called).chain(between);
            table.row(cells.chain([missed.into()]));
        }
        table.fmt(f)?;
        let missed = |required: bool| {
            let missed = self.rows.iter().filter(|row| row.misses(0));
            missed.filter(|row| row.is_required() == required).count()
        };
        let required = self.rows.iter().filter(|row| row.is_required()).count();
        writeln!(
            f,
            "\nmissed by background: {} of {required} rows that have to be right (20 MHz, ticks of 1 ms), {} of {} others",
            missed(true),
            missed(false),
            self.rows.len() - required,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_a_rival_the_cell_is_busy_and_alone_it_is_not() {
        let base = Scene::default();
        let scenes = vec![base, Scene { rivals: 1, ..base }];
        let plan = Plan { first: 1, seeds: 1, secs: 40, scenes, jobs: 2 };
        let judged = run(&plan, |_, _| {}).unwrap();
        assert!(!judged.rows.iter().any(|row| row.misses(0)), "{judged}");
        // The truth is the cell's own: what a rival has is never the flow's.
        let [alone, beside] = [0, 1].map(|row| judged.rows[row].laws[0]);
        assert_eq!(alone.busy[0], 0, "{judged}");
        assert!(beside.busy[0] > 9 * beside.alone[0], "{judged}");
    }

    #[test]
    fn the_literal_law_calls_its_own_cell_busy() {
        let plan = Plan { first: 1, seeds: 1, secs: 15, scenes: vec![Scene::default()], jobs: 1 };
        let judged = run(&plan, |_, _| {}).unwrap();
        assert!(judged.rows[0].laws[1].called_busy(false).unwrap() > 0.5, "{judged}");
    }
}
