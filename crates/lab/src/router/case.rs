//! The cases: a radio, the wire behind it, and the traffic of the router's hosts.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_experiment::plan::{PlanError, Run, Text};

/// From the start of the network until the load begins.
pub(super) const LEAD: Duration = Duration::from_secs(2);

/// The load of a burst is silent for this part of its time.
pub(super) const IDLE: f64 = 0.4;

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

/// What the hosts behind the router do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// This many hosts upload.
    Uploads(u8),
    /// One uploads, after a time without traffic.
    Burst,
    /// One uploads 5 Mbit/s, less than the link has.
    Steady,
    /// One uploads and another downloads.
    BothWays,
    /// One uploads, another has a call of 10 kB/s and fetches pages.
    CallAndPages,
}

impl Load {
    /// Whether there are downloads.
    pub(super) const fn fetches(self) -> bool {
        matches!(self, Self::BothWays | Self::CallAndPages)
    }
}

/// A case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// Its name in tables and files.
    pub(super) name: &'static str,
    /// The channel of the device, with the key `levels` and others.
    channel: &'static str,
    /// Whether there are two cells and the device changes between them.
    hands_over: bool,
    /// The rate of the wire behind the cell, where that is the bottleneck.
    wire: Option<&'static str>,
    pub(super) load: Load,
    /// Whether the far end answers pings.
    pub(super) answers_pings: bool,
}

const STILL: &str =
    "levels = [{ at_s = 0.0, sinr_db = 25.0 }]\nfading = { profile = \"epa\", rician_k_db = 13.0 }";
const WALKING: &str = "between = \"linear\"\nrepeat = true\nlevels = [{ at_s = 0.0, sinr_db = 26.0 }, { at_s = 8.0, sinr_db = 14.0 }, \
     { at_s = 16.0, sinr_db = 26.0 }]\nfading = { profile = \"epa\", surroundings_mps = 1.4 }";
const DRIVING: &str = "between = \"linear\"\nrepeat = true\nlevels = [{ at_s = 0.0, sinr_db = 22.0 }, { at_s = 3.0, sinr_db = 10.0 }, \
     { at_s = 5.0, sinr_db = 18.0 }, { at_s = 8.0, sinr_db = 26.0 }, { at_s = 11.0, sinr_db = 14.0 }, { at_s = 13.0, sinr_db = 22.0 }]\n\
     fading = { profile = \"eva\", surroundings_mps = 14.0 }";
/// Nothing is decoded at this level; the silence begins after the load.
const SILENCE: &str = "levels = [{ at_s = 0.0, sinr_db = 25.0 }, { at_s = 10.0, sinr_db = -40.0 }, { at_s = 11.0, sinr_db = 25.0 }]\n\
     fading = { profile = \"epa\", rician_k_db = 13.0 }";

/// All cases, in the order of the table.
pub(super) const CASES: [Case; 12] = [
    Case::of("still", STILL),
    Case::of("walking", WALKING),
    Case::of("driving", DRIVING),
    Case { hands_over: true, ..Case::of("handovers", WALKING) },
    Case::of("silence", SILENCE),
    Case { load: Load::Burst, ..Case::of("burst", STILL) },
    Case { wire: Some("8Mbit"), ..Case::of("wired", STILL) },
    Case { load: Load::Steady, ..Case::of("steady", WALKING) },
    Case { load: Load::BothWays, ..Case::of("both-ways", WALKING) },
    Case { answers_pings: false, ..Case::of("no-pings", WALKING) },
    Case { load: Load::CallAndPages, ..Case::of("call-and-pages", WALKING) },
    Case { load: Load::Uploads(3), ..Case::of("three-hosts", WALKING) },
];

/// The cases of a quick matrix.
pub(super) const QUICK: [&str; 4] = ["still", "driving", "burst", "call-and-pages"];

impl Case {
    const fn of(name: &'static str, channel: &'static str) -> Self {
        let load = Load::Uploads(1);
        Self { name, channel, hands_over: false, wire: None, load, answers_pings: true }
    }

    /// The cell as a plan of one run, whose flows are those that the truth is computed of.
    pub(super) fn run(&self, rat: Rat, lasts: Duration, seed: u64) -> Result<Run, PlanError> {
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
        let wire = self.wire.map_or(String::new(), |rate| format!(", up = \"{rate}\""));
        let down = match self.load.fetches() {
            true => "[[flows]]\nname = \"down\"\ndirection = \"down\"\n",
            false => "",
        };
        let text = format!(
            "duration = \"{}ms\"\nseeds = [{seed}]\nwire = {{ delay = \"15ms\"{wire} }}\n{carriers}\
             [[cell.devices]]\nname = \"modem\"\nmodem = {{}}\n{cells}{handover}\
             [cell.devices.channel]\nkind = \"script\"\n{}\n\
             [[flows]]\nname = \"up\"\ndirection = \"up\"\n{down}",
            (LEAD + lasts).as_millis(),
            self.channel,
        );
        let runs = Text::new(self.name, text, PathBuf::new()).runs()?;
        Ok(runs.into_iter().next().unwrap_or_else(|| unreachable!("a plan has a run")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_plan_and_a_quick_one_is_a_case() {
        for case in &CASES {
            for rat in Rat::ALL {
                let run = case.run(rat, Duration::from_secs(25), 3).expect(case.name);
                assert_eq!((run.seed, run.plan.duration), (3, Duration::from_secs(27)));
            }
        }
        assert!(QUICK.iter().all(|name| CASES.iter().any(|case| case.name == *name)));
    }
}
