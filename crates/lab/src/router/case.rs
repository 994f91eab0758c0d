//! The cases: a radio, the wire behind it, and the traffic of the router's hosts. The rig and
//! virtual time have the same.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use sounding_experiment::plan::{PlanError, Run, Text};
use sounding_kpi::Direction;

/// From the start of the network until the load begins: a program in the guest is slow to start.
pub(super) const LEAD: Duration = Duration::from_secs(6);

/// The load of a burst is silent for this part of its time.
const IDLE: f64 = 0.4;

/// The radio technology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rat {
    /// LTE, 10 MHz.
    Lte,
    /// NR, 40 MHz, TDD.
    Nr,
}

impl Rat {
    /// Both.
    pub(super) const ALL: [Self; 2] = [Self::Lte, Self::Nr];

    /// Its name in tables and files.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Lte => "lte",
            Self::Nr => "nr",
        }
    }

    /// A carrier's keys.
    const fn carrier(self) -> &'static str {
        match self {
            Self::Lte => "prb = 50",
            Self::Nr => {
                "rat = \"nr\"\nnumerology = 1\nprb = 106\nfrequency_mhz = 3500.0\ntdd = \"DDDSUDDSUU\""
            }
        }
    }
}

/// What the hosts behind the router do. The rig's bulk is an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// This many hosts have bulk.
    Bulk(u8),
    /// One has, after a time without traffic.
    Burst,
    /// One sends 5 Mbit/s, less than the link has.
    Steady,
    /// One uploads and another downloads.
    BothWays,
    /// One has bulk, another has a call of 10 kB/s and fetches pages.
    CallAndPages,
}

impl Load {
    /// Of a load of this length, the time without traffic at its beginning.
    pub(super) fn idle(self, lasts: Duration) -> Duration {
        match self {
            Self::Burst => lasts.mul_f64(IDLE),
            _ => Duration::ZERO,
        }
    }

    /// The directions that have data, if the bulk is an upload.
    pub(super) const fn ways(self) -> &'static [Direction] {
        match self {
            Self::BothWays | Self::CallAndPages => &[Direction::Uplink, Direction::Downlink],
            _ => &[Direction::Uplink],
        }
    }
}

/// How a device's radio changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Motion {
    /// Levels of 14 to 26 dB by seed, and a line of sight.
    Still,
    /// 1.4 m/s; another level of 10 to 26 dB every four seconds.
    Walking,
    /// 14 m/s; another level of 6 to 26 dB every 2.5 seconds.
    Driving,
}

/// A case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in tables and files.
    pub(super) name: &'static str,
    motion: Motion,
    /// Whether nothing is decoded for a second.
    is_silent: bool,
    /// Whether there are two cells and the device changes between them.
    hands_over: bool,
    /// The rate of the wire behind the cell, where that is the bottleneck.
    wire: Option<&'static str>,
    pub(super) load: Load,
    /// Whether the far end answers pings.
    pub(super) answers_pings: bool,
}

/// When the silence of a case begins, and ends.
pub(super) const SILENCE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(11)];

/// Nothing is decoded at this level.
const LOST_DB: f32 = -40.0;

/// Other users of a cell that is not still: objects as of web pages.
const OTHER: &str =
    "traffic = { kind = \"objects\", per_sec = 2.0, mean = \"40kB\", most = \"1MB\" }";

/// All cases, in the order of the table.
pub(super) const CASES: [Case; 12] = [
    Case::of("still", Motion::Still),
    Case::of("walking", Motion::Walking),
    Case::of("driving", Motion::Driving),
    Case { hands_over: true, ..Case::of("handovers", Motion::Walking) },
    Case { is_silent: true, ..Case::of("silence", Motion::Walking) },
    Case { load: Load::Burst, ..Case::of("burst", Motion::Still) },
    Case { wire: Some("3Mbit"), ..Case::of("wired", Motion::Still) },
    Case { load: Load::Steady, ..Case::of("steady", Motion::Walking) },
    Case { load: Load::BothWays, ..Case::of("both-ways", Motion::Walking) },
    Case { answers_pings: false, ..Case::of("no-pings", Motion::Walking) },
    Case { load: Load::CallAndPages, ..Case::of("call-and-pages", Motion::Walking) },
    Case { load: Load::Bulk(3), ..Case::of("three-hosts", Motion::Walking) },
];

/// The cases that all rules run in.
const MOBILE: [&str; 3] = ["walking", "driving", "handovers"];

/// The cases of a quick matrix.
pub(super) const QUICK: [&str; 4] = ["still", "driving", "burst", "call-and-pages"];

impl Case {
    const fn of(name: &'static str, motion: Motion) -> Self {
        let load = Load::Bulk(1);
        let (is_silent, hands_over) = (false, false);
        Self { name, motion, is_silent, hands_over, wire: None, load, answers_pings: true }
    }

    /// The cases of virtual time: all but that without pings, which nothing there needs.
    pub fn simulated() -> impl Iterator<Item = Self> {
        CASES.into_iter().filter(|case| case.answers_pings)
    }

    /// The case of this name.
    pub fn named(name: &str) -> Option<Self> {
        CASES.into_iter().find(|case| case.name == name)
    }

    /// Whether the radio changes all the time, and a bulk flow is all that is sent.
    pub(super) fn is_mobile(&self) -> bool {
        MOBILE.contains(&self.name)
    }

    /// Whether nothing is decoded for a second of it.
    pub(super) const fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// The cell without a bottleneck behind it.
    #[must_use]
    pub(super) fn alone(self) -> Self {
        Self { wire: None, ..self }
    }

    /// The cell as a plan of one run, with a flow in each of these directions.
    pub(super) fn run(
        &self,
        rat: Rat,
        lasts: Duration,
        seed: u64,
        ways: &[Direction],
    ) -> Result<Run, PlanError> {
        let mut lots = ChaCha8Rng::seed_from_u64(seed);
        let carrier = |pci: u8| format!("[[cell.carriers]]\npci = {pci}\n{}\n", rat.carrier());
        let (carriers, cells) = match self.hands_over {
            true => (carrier(1) + &carrier(2), "cells = [[0], [1]]\n"),
            false => (carrier(1), ""),
        };
        // Every six seconds, the first a while after the load's beginning.
        let times: Vec<String> =
            (1..=lasts.as_secs() / 6).map(|number| format!("\"{}s\"", 6 * number)).collect();
        let handover = match self.hands_over {
            true => format!("handover = {{ at = [{}] }}\n", times.join(", ")),
            false => String::new(),
        };
        // Times of the rest of the path: 15 ms each way.
        let wire = |rate| format!(", up = \"{rate}\", down = \"{rate}\", queue = \"100kB\"");
        let wire = self.wire.map_or(String::new(), wire);
        let channel = self.channel(LEAD + lasts, &mut lots);
        let others: String = match self.motion {
            Motion::Still => String::new(),
            _ => (0..lots.random_range(0..3_u32))
                .map(|_| format!("[[cell.devices]]\n{OTHER}\n{}", still(&mut lots)))
                .collect(),
        };
        let flows: String = ways
            .iter()
            .map(|way| match way {
                Direction::Uplink => "[[flows]]\nname = \"up\"\ndirection = \"up\"\n",
                Direction::Downlink => "[[flows]]\nname = \"down\"\ndirection = \"down\"\n",
            })
            .collect();
        let text = format!(
            "duration = \"{}ms\"\nseeds = [{seed}]\nwire = {{ delay = \"15ms\"{wire} }}\n{carriers}\
             [[cell.devices]]\nname = \"modem\"\nmodem = {{}}\n{cells}{handover}{channel}{others}{flows}",
            (LEAD + lasts).as_millis(),
        );
        let runs = Text::new(self.name, text, PathBuf::new()).runs()?;
        Ok(runs.into_iter().next().unwrap_or_else(|| unreachable!("a plan has a run")))
    }

    /// The channel of the device for so long.
    fn channel(&self, lasts: Duration, lots: &mut ChaCha8Rng) -> String {
        let (every, range, fading) = match self.motion {
            Motion::Still => return still(lots),
            Motion::Walking => (4.0, 10.0..26.0_f32, "epa\", surroundings_mps = 1.4"),
            Motion::Driving => (2.5, 6.0..26.0_f32, "eva\", surroundings_mps = 14.0"),
        };
        let count = (lasts.as_secs_f64() / every) as u32 + 2;
        let mut levels: Vec<(f64, f32)> = (0..count)
            .map(|at| (f64::from(at) * every, lots.random_range(range.clone())))
            .collect();
        if self.is_silent {
            let [from, until] = SILENCE.map(|at| at.as_secs_f64());
            levels.retain(|(at, _)| !(from - 0.1..until + 0.1).contains(at));
            let around = lots.random_range(range);
            levels.extend([(from, around), (from + 0.001, LOST_DB)]);
            levels.extend([(until - 0.001, LOST_DB), (until, around)]);
            levels.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        let levels: Vec<String> =
            levels.iter().map(|(at, db)| format!("{{ at_s = {at}, sinr_db = {db} }}")).collect();
        let levels = levels.join(", ");
        format!(
            "[cell.devices.channel]\nkind = \"script\"\nbetween = \"linear\"\nlevels = [{levels}]\n\
             fading = {{ profile = \"{fading} }}\n"
        )
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Serialize for Case {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name)
    }
}

fn still(lots: &mut ChaCha8Rng) -> String {
    let db: f32 = lots.random_range(14.0..26.0);
    format!(
        "[cell.devices.channel]\nkind = \"script\"\nlevels = [{{ at_s = 0.0, sinr_db = {db} }}]\n\
         fading = {{ profile = \"epa\", rician_k_db = 13.0 }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_plan_and_a_quick_one_is_a_case() {
        for case in &CASES {
            for rat in Rat::ALL {
                let run = case.run(rat, Duration::from_secs(25), 3, &[Direction::Uplink]);
                let run = run.expect(case.name);
                assert_eq!((run.seed, run.plan.duration), (3, LEAD + Duration::from_secs(25)));
                assert_eq!(run.plan.flows.len(), 1);
            }
        }
        assert!(QUICK.iter().chain(&MOBILE).all(|name| Case::named(name).is_some()));
    }
}
