//! The rules: which rate CAKE has, and when.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    /// No shaper: the modem's own queue.
    None,
    /// The tenth percentile of the truth.
    FixedP10,
    /// Its median.
    FixedP50,
    /// Its mean.
    FixedMean,
    /// cake-autorate, unmodified, with its defaults.
    Autorate,
    /// The same with a configuration for these cells.
    AutorateTuned,
    /// The truth at once.
    #[serde(rename = "truth-0")]
    Truth0,
    /// The truth 50 ms late.
    #[serde(rename = "truth-50")]
    Truth50,
    /// This project's `sounding shape` in the router.
    Ours,
    /// A part of each estimate, whatever it says of the link.
    Naive,
}

impl Rule {
    /// All, in the order of the table.
    pub(super) const ALL: [Self; 10] = [
        Self::None,
        Self::FixedP10,
        Self::FixedP50,
        Self::FixedMean,
        Self::Autorate,
        Self::AutorateTuned,
        Self::Truth0,
        Self::Truth50,
        Self::Naive,
        Self::Ours,
    ];

    /// Its name in tables, files and flags.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::FixedP10 => "fixed-p10",
            Self::FixedP50 => "fixed-p50",
            Self::FixedMean => "fixed-mean",
            Self::Autorate => "autorate",
            Self::AutorateTuned => "autorate-tuned",
            Self::Truth0 => "truth-0",
            Self::Truth50 => "truth-50",
            Self::Ours => "ours",
            Self::Naive => "naive",
        }
    }

    /// The rule of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// How late the truth reaches CAKE, where it does.
    pub(super) const fn truth_after(self) -> Option<Duration> {
        match self {
            Self::Truth0 => Some(Duration::ZERO),
            Self::Truth50 => Some(Duration::from_millis(50)),
            _ => None,
        }
    }

    /// Whether it runs where none is named: the naive rule does not.
    pub(super) fn is_usual(self) -> bool {
        self != Self::Naive
    }

    /// Whether it runs in the cases too that are not about a radio that moves.
    pub(super) const fn is_everywhere(self) -> bool {
        matches!(self, Self::None | Self::AutorateTuned | Self::Truth50 | Self::Ours)
    }

    /// Whether it needs a checkout of cake-autorate.
    pub(super) const fn needs_autorate(self) -> bool {
        matches!(self, Self::Autorate | Self::AutorateTuned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_and_a_flag_have_the_same_name_of_a_rule() {
        for rule in Rule::ALL {
            assert_eq!(serde_json::to_value(rule).expect("a name"), rule.name());
            assert_eq!(Rule::named(rule.name()), Some(rule));
        }
    }
}
