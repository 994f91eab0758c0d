//! The table of laws. Whatever lists laws, names them or treats them differently follows it.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use sounding_cc::Needs;
use sounding_cc::parameter::{Parameter, Values};
use sounding_cc::{Controller, Start};
use sounding_estimate::Source;

use crate::biscay::{self, BiscayController};
use crate::cqic::{self, Cqic};
use crate::pbe_cc::{self, PbeCc};
use crate::phase::Phase;
use crate::sounding::{self, Sounding};
use crate::stock::Fallback;

/// A law as everything sees it that does not look into it.
struct Row {
    name: &'static str,
    summary: &'static str,
    needs: Needs,
    has_settings: bool,
    phases: &'static [Phase],
    controllers: &'static [Named],
    make: fn(Fallback, &Start, Duration, &Values) -> Box<dyn Controller>,
}

/// A law with an algorithm to fall back to, as a controller of plans.
pub struct Named {
    /// Its name in plans.
    pub name: &'static str,
    /// What controls its flows while there is no estimate.
    pub fallback: Fallback,
    /// What plans can set.
    pub parameters: &'static [Parameter],
    /// For a flow that receives an estimate every few milliseconds.
    pub tune: fn(&Start, &Values) -> Box<dyn Controller>,
    /// The same with the law's own parameters.
    pub make: fn(&Start) -> Box<dyn Controller>,
}

macro_rules! laws {
    ($(
        $(#[$on:meta])*
        $law:ident {
            name: $name:literal,
            summary: $summary:literal,
            needs: $needs:expr,
            has_settings: $has_settings:literal,
            phases: $phases:expr,
            controllers: [$($controller:literal over $fallback:ident),+ $(,)?],
            parameters: $parameters:expr,
            make: $make:path,
        }
    )+) => {
        /// What sets the window of a flow from the estimate of its link.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Law {
            $(
                $(#[$on])*
                #[doc = $summary]
                $law,
            )+
        }

        impl Law {
            /// Every law, in the order of the table.
            pub const ALL: &[Self] = &[$($(#[$on])* Self::$law),+];

            const fn row(self) -> &'static Row {
                match self {
                    $(
                        $(#[$on])*
                        Self::$law => {
                            const ROW: Row = Row {
                                name: $name,
                                summary: $summary,
                                needs: $needs,
                                has_settings: $has_settings,
                                phases: $phases,
                                controllers: &[$(Named {
                                    name: $controller,
                                    fallback: Fallback::$fallback,
                                    parameters: $parameters,
                                    tune: |start, values| {
                                        let every = Duration::ZERO;
                                        Box::new($make(Fallback::$fallback, start, every, values))
                                    },
                                    make: |start| {
                                        let (every, values) = (Duration::ZERO, Values::default());
                                        Box::new($make(Fallback::$fallback, start, every, &values))
                                    },
                                }),+],
                                make: |fallback, start, every, values| {
                                    Box::new($make(fallback, start, every, values))
                                },
                            };
                            &ROW
                        }
                    )+
                }
            }
        }
    };
}

// The first is the default. Of its controllers the first has the law's name, and the fallback that
// the law has by itself.
laws! {
    Biscay {
        name: "biscay",
        summary: "As published: what the modem says is what the link carries",
        needs: Needs::ESTIMATES,
        has_settings: true,
        phases: &[Phase::NoEstimate, Phase::RadioLimited, Phase::BottleneckElsewhere],
        controllers: ["biscay" over Bbr, "biscay-cubic" over Cubic],
        parameters: biscay::Config::PARAMETERS,
        make: BiscayController::tuned,
    }
    Sounding {
        name: "sounding",
        summary: "This project's own: probes above what was only asked for, and finds how much has to wait at the radio",
        needs: Needs::ESTIMATES.over(sounding::SPAN),
        has_settings: false,
        phases: Phase::OF_SOUNDING,
        controllers: ["sounding" over Bbr, "sounding-cubic" over Cubic],
        parameters: Sounding::PARAMETERS,
        make: Sounding::tuned,
    }
    PbeCc {
        name: "pbe-cc",
        summary: "PBE-CC's sender: ramps up to the fair share that the receiving device reports, then sends its capacity",
        needs: Needs::ESTIMATES.reported(Source::Cell),
        has_settings: false,
        phases: Phase::OF_PBE_CC,
        controllers: ["pbe-cc" over Bbr],
        parameters: pbe_cc::Config::PARAMETERS,
        make: PbeCc::tuned,
    }
    Cqic {
        name: "cqic",
        summary: "CQIC's sender: sends what the receiving device's channel reports and its served share say, from the first packet on",
        needs: Needs::ESTIMATES.reported(Source::Cqi).over(cqic::SPAN).every(cqic::REPORTS_EVERY),
        has_settings: false,
        phases: &[Phase::NoEstimate, Phase::RadioLimited, Phase::Hold, Phase::Handover],
        controllers: ["cqic" over Cubic],
        parameters: cqic::Config::PARAMETERS,
        make: Cqic::tuned,
    }
    #[cfg(feature = "third-law")]
    Steady {
        name: "steady",
        summary: "For tests: sends at exactly the rate of the estimate",
        needs: Needs::ESTIMATES,
        has_settings: false,
        phases: &[Phase::NoEstimate, Phase::RadioLimited],
        controllers: ["steady" over Bbr],
        parameters: &[],
        make: crate::steady::Steady::tuned,
    }
}

impl Law {
    /// Its name on the command line, in plans and in this kernel.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Its default name in a kernel, which takes no hyphen.
    pub fn kernel_name(self) -> String {
        self.name().replace('-', "_")
    }

    /// What it makes of an estimate, in a line.
    pub const fn summary(self) -> &'static str {
        self.row().summary
    }

    /// What it asks of those who read the modem for it.
    pub const fn needs(self) -> Needs {
        self.row().needs
    }

    /// Whether it uses the allowance and the pacing gain of
    /// [`biscay::Config`](crate::biscay::Config).
    pub const fn has_settings(self) -> bool {
        self.row().has_settings
    }

    /// The phases that its flows can have.
    pub const fn phases(self) -> &'static [Phase] {
        self.row().phases
    }

    /// Whether it looks for more than a floor by itself. The others send what they are given, and
    /// leave that to the fallback.
    pub fn probes(self) -> bool {
        self.phases().contains(&Phase::Probing)
    }

    /// What controls its flows while it does not, unless another algorithm is chosen.
    pub const fn fallback(self) -> Fallback {
        self.row().controllers[0].fallback
    }

    /// The law of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|law| law.name() == name)
    }

    /// It with each algorithm that plans have it fall back to.
    pub const fn controllers(self) -> &'static [Named] {
        self.row().controllers
    }

    /// A flow under it that receives an estimate only so often, zero where that is every few
    /// milliseconds.
    pub(crate) fn make(
        self,
        fallback: Fallback,
        start: &Start,
        every: Duration,
        values: &Values,
    ) -> Box<dyn Controller> {
        (self.row().make)(fallback, start, every, values)
    }
}

impl Default for Law {
    fn default() -> Self {
        Self::ALL[0]
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_law_has_names_of_its_own() {
        let mut seen = BTreeSet::new();
        for &law in Law::ALL {
            assert_eq!(Law::by_name(law.name()), Some(law));
            assert_eq!(law.controllers()[0].name, law.name());
            // So long may a name in the kernel be.
            assert!(law.name().len() <= 15, "{law}");
            for named in law.controllers() {
                assert!(seen.insert(named.name), "{}", named.name);
                assert!(named.name.starts_with(law.name()), "{}", named.name);
            }
        }
        assert_eq!(Law::by_name("bbr"), None);
    }

    #[test]
    fn a_law_begins_without_an_estimate_and_controls_some_phase() {
        for &law in Law::ALL {
            assert_eq!(law.phases()[0], Phase::NoEstimate, "{law}");
            assert!(law.phases().iter().any(|phase| phase.law_controls()), "{law}");
        }
    }
}
