//! The distance of controllers from the oracle, link by link. The paper's Figure 8 shows it only as
//! a figure, so the target is this project's.

use std::fmt;

use serde::Serialize;
use sounding_experiment::metrics::{nearest_rank, sorted};

use super::Figures;
use super::given_link::ORACLE;
use crate::table::Table;

/// The compared controllers. docs/results/references.md has the distance of senders that know the
/// present.
const CONTROLLERS: [&str; 2] = ["biscay", "sounding"];
/// The aim on the median link: this part of the oracle's throughput, and a 95th percentile of delay
/// at most this much above the oracle's.
const THROUGHPUT_PERCENT: f64 = 98.0;
const BEYOND_MS: f64 = 5.0;
/// Links of the worst tenth that are named; the results have all of them.
const NAMED: usize = 8;

/// One controller compared with the oracle.
#[derive(Clone, Debug, Serialize)]
pub struct Distance {
    /// The controller.
    pub controller: String,
    /// Throughput over the oracle's in percent, of the median link.
    pub throughput_percent: f64,
    /// The 95th percentile of queueing beyond the oracle's, of the median link.
    pub beyond_ms: f64,
    /// All links, the one that is the farthest in delay first.
    pub links: Vec<Beside>,
}

/// The same over one link.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// The link.
    pub link: String,
    /// Throughput over the oracle's, in percent.
    pub throughput_percent: f64,
    /// The 95th percentile of queueing beyond the oracle's.
    pub beyond_ms: f64,
    /// Mean rate of the link.
    pub offered_mbit_per_sec: f64,
    /// Its longest outage.
    pub longest_pause_ms: f64,
    /// Mean change of its rate from one 100 ms to the next, in percent of its mean.
    pub change_percent: f64,
}

fn median(links: &[Beside], of: impl Fn(&Beside) -> f64) -> f64 {
    let values = sorted(links.iter().map(of));
    nearest_rank(&values, 0.5)
}

impl Distance {
    /// For each controller that ran over links that the oracle ran over too.
    pub(super) fn all(figures: &[Figures]) -> Vec<Self> {
        CONTROLLERS.iter().filter_map(|name| Self::of(name, figures)).collect()
    }

    pub(crate) fn of(controller: &str, figures: &[Figures]) -> Option<Self> {
        let oracles = figures.iter().filter(|one| one.controller == ORACLE);
        let beside = oracles.filter_map(|oracle| {
            let one = figures
                .iter()
                .find(|one| one.controller == controller && one.link == oracle.link)?;
            Some(Beside {
                link: one.link.clone(),
                throughput_percent: 100.0 * one.throughput_mbit_per_sec
                    / oracle.throughput_mbit_per_sec,
                beyond_ms: one.p95_ms - oracle.p95_ms,
                offered_mbit_per_sec: one.offered_mbit_per_sec,
                longest_pause_ms: one.longest_pause_ms,
                change_percent: one.change_percent,
            })
        });
        let mut links: Vec<Beside> = beside.collect();
        if links.is_empty() {
            return None;
        }
        links.sort_by(|one, other| other.beyond_ms.total_cmp(&one.beyond_ms));
        Some(Self {
            controller: controller.into(),
            throughput_percent: median(&links, |link| link.throughput_percent),
            beyond_ms: median(&links, |link| link.beyond_ms),
            links,
        })
    }

    /// The links that are the farthest in delay.
    fn worst(&self) -> &[Beside] {
        &self.links[..self.links.len().div_ceil(10)]
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |holds: bool| if holds { "holds" } else { "MISS" };
        let worst = self.worst();
        writeln!(
            f,
            "distance of {} to the oracle, open loop, median of {} links: {:.1} % of its throughput (aim {THROUGHPUT_PERCENT} %: \
             {}), p95 {:.1} ms beyond its own (aim {BEYOND_MS} ms: {})",
            self.controller,
            self.links.len(),
            self.throughput_percent,
            word(self.throughput_percent >= THROUGHPUT_PERCENT),
            self.beyond_ms,
            word(self.beyond_ms <= BEYOND_MS),
        )?;
        let mut table = Table::new()
            .left(["the worst tenth in delay"])
            .right(["throughput %", "p95 beyond ms", "offered Mbit/s", "longest pause ms"])
            .right(["change % in 100 ms"]);
        let mut row = |name: &str, cells: [f64; 5]| {
            let [throughput, beyond, offered, pause, change] = cells;
            table.row([
                name.to_owned(),
                format!("{throughput:.1}"),
                format!("{beyond:.0}"),
                format!("{offered:.2}"),
                format!("{pause:.0}"),
                format!("{change:.0}"),
            ]);
        };
        let medians = |links: &[Beside]| {
            [
                median(links, |link| link.throughput_percent),
                median(links, |link| link.beyond_ms),
                median(links, |link| link.offered_mbit_per_sec),
                median(links, |link| link.longest_pause_ms),
                median(links, |link| link.change_percent),
            ]
        };
        for link in worst.iter().take(NAMED) {
            let own = medians(std::slice::from_ref(link));
            row(&link.link, own);
        }
        row(&format!("medians of these {}", worst.len()), medians(worst));
        row("medians of all", medians(&self.links));
        write!(f, "\n{table}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::biscay::Scenario;

    fn figures(link: &str, controller: &str, throughput: f64, p95_ms: f64) -> Figures {
        Figures {
            link: link.into(),
            scenario: Scenario::Mobile,
            controller: controller.into(),
            flows: 1,
            every_ms: None,
            throughput_mbit_per_sec: throughput,
            utilisation: 1.0,
            mean_ms: p95_ms / 2.0,
            p95_ms,
            jain: 1.0,
            jain_short: 1.0,
            jain_short_p10: 1.0,
            jain_short_most: 1.0,
            offered_mbit_per_sec: 10.0,
            longest_pause_ms: 20.0,
            change_percent: 10.0,
        }
    }

    #[test]
    fn a_link_is_compared_with_its_oracle_and_the_worst_is_named_first() {
        let all = [
            figures("a", "biscay", 9.9, 5.0),
            figures("a", "oracle", 10.0, 1.0),
            figures("b", "biscay", 2.0, 41.0),
            figures("b", "oracle", 4.0, 1.0),
            figures("c", "biscay", 3.0, 9.0),
            figures("c", "oracle", 3.0, 2.0),
        ];
        let distances = Distance::all(&all);
        let [biscay] = &distances[..] else { panic!("{distances:?}") };
        assert_eq!((biscay.throughput_percent, biscay.beyond_ms), (99.0, 7.0));
        assert_eq!((biscay.links[0].link.as_str(), biscay.links[0].beyond_ms), ("b", 40.0));
        let text = biscay.to_string();
        assert!(text.contains("98 %: holds") && text.contains("5 ms: MISS"), "{text}");
        assert_eq!(biscay.worst().len(), 1);
    }
}
