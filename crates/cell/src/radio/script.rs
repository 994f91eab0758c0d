//! A channel whose mean follows a list of levels: for experiments that want this SINR at that time.

use alloc::vec::Vec;

use serde::Deserialize;

use super::fading::FadingConfig;
use super::interference::InterferenceConfig;
use super::invalid::InvalidConfig;

/// Levels over time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptConfig {
    /// At least one, in the order of their times.
    pub levels: Vec<Level>,
    /// The level between two points.
    #[serde(default)]
    pub between: Between,
    /// Begin again at the time of the last level, which is then the length of the script and its
    /// value unused; it must be above zero.
    #[serde(default)]
    pub repeat: bool,
    /// Fading on top, none unless stated. Its mean power is one: the levels stay the means.
    #[serde(default = "no_fading")]
    pub fading: FadingConfig,
    /// The level that the script is relative to, dB above thermal noise; range 0..=60. In cities,
    /// neighbours are some 15 dB stronger than noise (chosen). A device at 16 dB is then as
    /// near as one at 31 dB without neighbours, and its uplink is as good.
    #[serde(default = "city_floor_db")]
    pub floor_db: f32,
    /// Interference on top, none unless stated: the levels are those without it.
    #[serde(default = "InterferenceConfig::none")]
    pub interference: InterferenceConfig,
}

/// A level from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Seconds, not negative.
    pub at_s: f64,
    /// Downlink SINR, dB; range -50..=60.
    pub sinr_db: f32,
}

/// Interpolation between a script's levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Between {
    /// The earlier one stays.
    #[default]
    Hold,
    /// The dB go linearly from one to the next.
    Linear,
}

fn city_floor_db() -> f32 {
    15.0
}

fn no_fading() -> FadingConfig {
    FadingConfig::NONE
}

impl ScriptConfig {
    /// A constant level.
    pub fn constant(sinr_db: f32) -> Self {
        Self {
            levels: alloc::vec![Level { at_s: 0.0, sinr_db }],
            between: Between::Hold,
            repeat: false,
            fading: FadingConfig::NONE,
            floor_db: city_floor_db(),
            interference: InterferenceConfig::none(),
        }
    }

    fn check(&self) -> Result<(), InvalidConfig> {
        InvalidConfig::unless(
            (0.0..=60.0).contains(&self.floor_db),
            "model.floor_db",
            "is between 0 and 60",
        )?;
        InvalidConfig::unless(!self.levels.is_empty(), "model.levels", "has at least one level")?;
        InvalidConfig::unless(
            self.levels.iter().all(|level| level.at_s.is_finite() && level.at_s >= 0.0),
            "model.levels.at_s",
            "is a number of seconds, not negative",
        )?;
        InvalidConfig::unless(
            self.levels.iter().all(|level| (-50.0..=60.0).contains(&level.sinr_db)),
            "model.levels.sinr_db",
            "is between -50 and 60",
        )?;
        InvalidConfig::unless(
            self.levels.is_sorted_by(|a, b| a.at_s < b.at_s),
            "model.levels.at_s",
            "grows from level to level",
        )?;
        InvalidConfig::unless(
            !self.repeat || self.levels.last().is_some_and(|last| last.at_s > 0.0),
            "model.repeat",
            "needs a last level after time zero",
        )
    }
}

/// A script at a time.
#[derive(Clone, Debug)]
pub(super) struct Script {
    levels: Vec<Level>,
    between: Between,
    repeat: bool,
    floor_db: f32,
}

impl Script {
    pub(super) fn new(config: &ScriptConfig) -> Result<Self, InvalidConfig> {
        config.check()?;
        let &ScriptConfig { ref levels, between, repeat, floor_db, .. } = config;
        Ok(Self { levels: levels.clone(), between, repeat, floor_db })
    }

    /// The reference of the levels, dB above thermal noise.
    pub(super) fn floor_db(&self) -> f32 {
        self.floor_db
    }

    /// The SINR without interference, dB. Before the first level it is the first.
    pub(super) fn sinr_db(&self, secs: f64) -> f32 {
        let [first, .., last] = self.levels.as_slice() else {
            return self.levels.first().map_or(0.0, |only| only.sinr_db);
        };
        let secs = if self.repeat { libm::fmod(secs, last.at_s) } else { secs };
        let next = self.levels.partition_point(|level| level.at_s <= secs);
        let (Some(before), Some(after)) =
            (self.levels.get(next.wrapping_sub(1)), self.levels.get(next))
        else {
            return if next == 0 { first.sinr_db } else { last.sinr_db };
        };
        match self.between {
            Between::Hold => before.sinr_db,
            Between::Linear => {
                let share = (secs - before.at_s) / (after.at_s - before.at_s);
                before.sinr_db + (after.sinr_db - before.sinr_db) * share as f32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> Script {
        Script::new(&toml::from_str(text).expect("a script")).expect("a possible script")
    }

    const LEVELS: &str = "levels = [{at_s = 1.0, sinr_db = 10}, {at_s = 3.0, sinr_db = 20.0}, {at_s = 4.0, sinr_db = 0}]";

    #[test]
    fn held_levels_change_at_their_times_only() {
        let script = script(LEVELS);
        for (secs, want) in [
            (0.0, 10.0),
            (1.0, 10.0),
            (2.999, 10.0),
            (3.0, 20.0),
            (3.999, 20.0),
            (4.0, 0.0),
            (99.0, 0.0),
        ] {
            assert_eq!(script.sinr_db(secs), want, "at {secs} s");
        }
    }

    #[test]
    fn linear_levels_go_from_one_to_the_next() {
        let script = script(&std::format!("{LEVELS}\nbetween = 'linear'"));
        for (secs, want) in [(0.0, 10.0), (2.0, 15.0), (3.5, 10.0), (5.0, 0.0)] {
            assert!((script.sinr_db(secs) - want).abs() < 1e-5, "at {secs} s");
        }
    }

    #[test]
    fn a_repeated_script_begins_again_at_its_last_time() {
        let script = script(&std::format!("{LEVELS}\nrepeat = true"));
        for secs in [0.5, 2.0, 3.5] {
            assert_eq!(script.sinr_db(secs), script.sinr_db(secs + 8.0), "at {secs} s");
        }
    }

    #[test]
    fn impossible_scripts_are_refused() {
        for (text, complaint) in [
            ("levels = []", "at least one"),
            ("levels = [{at_s = -1.0, sinr_db = 0.0}]", "not negative"),
            ("levels = [{at_s = 0.0, sinr_db = nan}]", "between -50 and 60"),
            ("levels = [{at_s = 2.0, sinr_db = 0.0}, {at_s = 2.0, sinr_db = 1.0}]", "grows"),
            ("levels = [{at_s = 0.0, sinr_db = 0.0}]\nrepeat = true", "after time zero"),
        ] {
            let config: ScriptConfig = toml::from_str(text).expect(text);
            let error = Script::new(&config).expect_err(text);
            assert!(std::format!("{error}").contains(complaint), "{text}: {error}");
        }
    }
}
