//! The rows: which plan, and what is set in it.

use serde::Serialize;
use sounding_kpi::Direction;

use crate::paper::{PaperItem, paper_item};

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    /// A foreground flow comes and goes (Fig. 7).
    Turns,
    /// Transfers arrive at three loads (Fig. 8).
    Loads,
}

impl Part {
    pub(super) fn plan(self) -> PaperItem {
        match self {
            Self::Turns => paper_item!("legilimens", "fig2"),
            Self::Loads => paper_item!("legilimens", "fig8"),
        }
    }

    /// The devices of background flows, and those whose messages a forged log leaves out.
    const fn devices(self) -> (&'static str, &'static str) {
        match self {
            Self::Turns => ("first", "[1, 1]"),
            Self::Loads => ("updater", "[0, 3]"),
        }
    }

    const fn foreground(self) -> &'static str {
        match self {
            Self::Turns => "foreground",
            Self::Loads => "readers",
        }
    }
}

/// Of the downlink's resource blocks, and of the uplink's.
const LOADS: [(&str, [&str; 2]); 3] =
    [("30 %", ["9Mbit", "5Mbit"]), ("60 %", ["19Mbit", "10Mbit"]), ("80 %", ["27Mbit", "13Mbit"])];

/// Schedulers, and the averages under them of ideal priority.
const SCHEDULERS: [(&str, &str, u32); 6] = [
    ("PF 20", "{ proportional-fair = { slots = 20 } }", 20),
    ("PF 100", "{ proportional-fair = { slots = 100 } }", 100),
    ("PF 300", "{ proportional-fair = { slots = 300 } }", 300),
    ("PF 1000", "{ proportional-fair = { slots = 1000 } }", 1000),
    ("round robin", "\"round-robin\"", 100),
    ("max C/I", "\"max-rate\"", 100),
];

/// Who sends in the background, and what it knows. A sniffer that dies does so after a third of the
/// shorter run.
const SCHEMES: [(&str, Option<&str>); 7] = [
    ("none", None),
    ("ideal", None),
    ("blind", None),
    ("seeing", Some("true")),
    ("bad", Some("{ missed = 0.02, false_per_sec = 20.0, lag = \"5ms\" }")),
    ("dead", Some("{ dies = \"60s\" }")),
    ("forged", Some("{ hides = HIDDEN }")),
];

/// A row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    part: Part,
    direction: Direction,
    load: Option<(&'static str, [&'static str; 2])>,
    scheduler: (&'static str, &'static str, u32),
    scheme: (&'static str, Option<&'static str>),
}

impl Scene {
    pub(super) fn all(part: Part) -> Vec<Self> {
        let loads: Vec<_> = match part {
            Part::Turns => vec![None],
            Part::Loads => LOADS.into_iter().map(Some).collect(),
        };
        let mut all = Vec::new();
        for direction in [Direction::Downlink, Direction::Uplink] {
            for &load in &loads {
                for scheduler in SCHEDULERS {
                    let row = |scheme| Self { part, direction, load, scheduler, scheme };
                    all.extend(SCHEMES.map(row));
                }
            }
        }
        all
    }

    pub(super) fn name(&self) -> String {
        let direction = if self.direction == Direction::Uplink { "up" } else { "down" };
        let load = self.load.map_or("turns", |load| load.0);
        format!("{direction}, {load}, {}, {}", self.scheduler.0, self.scheme.0)
    }

    /// Whether all of the cell is known.
    pub(super) fn sees(&self) -> bool {
        self.scheme.0 == "seeing"
    }

    /// Whether it is known badly, or no more, or falsely.
    pub(super) fn is_bad(&self) -> bool {
        self.scheme.1.is_some() && !self.sees()
    }

    /// Whether ideal priority differs from the scheduler in the background alone.
    pub(super) fn has_ideal(&self) -> bool {
        self.scheduler.0.starts_with("PF")
    }

    pub(super) fn is_slow(&self) -> bool {
        self.scheduler.2 == 1000
    }

    pub(super) fn is_busy(&self) -> bool {
        self.load.is_some_and(|load| load.0 == "80 %")
    }

    pub(super) fn sets(&self) -> Vec<String> {
        let (device, hidden) = self.part.devices();
        let foreground = self.part.foreground();
        let (_, policy, slots) = self.scheduler;
        let mut sets = vec![format!("cell.carriers.0.policy={policy}")];
        if let Some((_, [down, up])) = self.load {
            let load = if self.direction == Direction::Uplink { up } else { down };
            sets.push(format!("flows.{foreground}.traffic.load={load}"));
        }
        if self.direction == Direction::Uplink {
            sets.push(format!("flows.{foreground}.direction=up"));
            sets.push("flows.background.direction=up".into());
        }
        sets.push("flows.background.controller=background".into());
        match self.scheme {
            ("none", _) => sets.push("flows.background.start=\"3600s\"".into()),
            ("ideal", _) => {
                sets.push(format!("cell.carriers.0.policy={{ priority = {{ slots = {slots} }} }}"));
                sets.push(format!("cell.devices.{device}.background=true"));
                sets.push("flows.background.controller=cubic".into());
            }
            _ => {}
        }
        if let Some(sniffer) = self.scheme.1 {
            sets.push(format!("cell.sniffer={}", sniffer.replace("HIDDEN", hidden)));
            sets.push(format!("cell.devices.{device}.modem={{ sniffer = true }}"));
        }
        sets
    }
}
