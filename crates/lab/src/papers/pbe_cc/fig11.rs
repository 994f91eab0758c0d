//! The users of two base stations, and how fast a resource block of theirs is (§6.2, Fig. 11).

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use sounding_cell::{Direction, Event as CellEvent};
use sounding_experiment::metrics::nearest_rank;
use sounding_experiment::observe::Setup as Shows;
use sounding_experiment::plan::{Run, Wrong};
use sounding_experiment::provenance::Provenance;

use super::Item;
use super::rig::{Setup, observe};
use crate::paper::{Ours, Report};

/// The fastest that a resource block can be, bits of a subframe (§6.2).
const FASTEST: f64 = 1_800.0;

/// Ours agrees with the paper's share within this. Chosen.
const WITHIN: f64 = 0.1;

/// The base stations: their resource blocks, how many users plans give them, and the paper's share
/// below half the fastest.
const STATIONS: [(u16, u16, f64); 2] = [(100, 181, 0.719), (50, 97, 0.774)];

/// A base station's users.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Station {
    prb: u16,
    /// Bits of a resource block and subframe, by user.
    bits: Vec<f64>,
}

/// The runs of the plan, each with as many users as its base station had.
pub(super) fn set(run: &mut Run) {
    let Some(cell) = &mut run.plan.cell else { return };
    let station = STATIONS.iter().find(|(prb, ..)| *prb == cell.carriers[0].prb);
    if let Some((_, users, _)) = station {
        cell.devices[0].count = *users;
    }
}

/// Makes one run.
pub(super) fn measure(run: &Run) -> Result<Station, Wrong> {
    let observed = observe(run, Setup::of(Shows { dcis: true, ..Shows::default() }))?;
    let mut users: BTreeMap<u16, (f64, f64)> = BTreeMap::new();
    for event in &observed.cell {
        let CellEvent::Dci(dci) = event else { continue };
        // Repeats say nothing new, and the last user is the probe.
        if dci.direction == Direction::Downlink && !dci.again {
            let (bits, prb) = users.entry(dci.rnti).or_default();
            *bits += f64::from(dci.size) * 8.0;
            *prb += f64::from(dci.prb);
        }
    }
    let prb = run.plan.cell.as_ref().map_or(0, |cell| cell.carriers[0].prb);
    Ok(Station { prb, bits: users.into_values().map(|(bits, prb)| bits / prb.max(1.0)).collect() })
}

/// The base stations.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Evidence {
    stations: Vec<Station>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// The item's table beside the paper's figures.
pub(super) fn report(
    runs: Vec<Station>,
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let expected = Item::Fig11.files().expected()?;
    let mut ours = Ours::new(["ours"], []);
    let mut stations = Vec::new();
    for (prb, users, paper) in STATIONS {
        let of = runs.iter().filter(|run| run.prb == prb);
        let (count, mut bits) =
            (of.clone().count().max(1), of.flat_map(|run| run.bits.clone()).collect::<Vec<_>>());
        if bits.is_empty() {
            continue;
        }
        bits.sort_by(f64::total_cmp);
        let slow = bits.iter().filter(|bits| **bits < FASTEST / 2.0).count();
        let slow = slow as f64 / bits.len() as f64;
        let mhz = prb / 5;
        let name = format!("{mhz} MHz, users");
        let seen = bits.len() / count;
        ours.rows.push((name, vec![format!("{seen} seen of {users}")]));
        let name = format!("{mhz} MHz, below half of the fastest");
        if (slow - paper).abs() > WITHIN {
            ours.misses.push(expected.miss(&name, &["the share"]));
        }
        ours.rows.push((name, vec![format!("{:.1} %", slow * 100.0)]));
        let middle = nearest_rank(&bits, 0.5) / 1e3;
        ours.rows.push((format!("{mhz} MHz, median"), vec![format!("{middle:.2} Mbit/s/PRB")]));
        stations.push(Station { prb, bits });
    }
    Ok(Report::new(Item::Fig11.files().about, expected, ours, Evidence { stations }, provenance))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn users_at_the_edge_have_slower_resource_blocks_than_the_tables_allow() {
        let mut text = Item::Fig11.files().text();
        for set in ["seeds=1", "duration=\"3s\"", "cell.devices.0.traffic.per_sec=2.0"] {
            text.set(set).unwrap();
        }
        let mut run = text.runs().unwrap().remove(1);
        set(&mut run);
        run.plan.cell.as_mut().unwrap().devices[0].count = 20;
        let station = measure(&run).unwrap();
        assert_eq!(station.prb, 50);
        assert!(station.bits.len() >= 18, "{station:?}");
        assert!(station.bits.iter().all(|bits| *bits > 0.0 && *bits < 2_000.0), "{station:?}");
    }
}
