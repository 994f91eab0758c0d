use std::fmt;

use super::{Chain, Link};
use crate::fidelity::mahimahi::{Figures, Spread, Verdict};
use crate::table::Table;

impl Chain {
    /// Numbers of rows that agree: of the emulator with mahimahi, and of virtual time with the
    /// emulator.
    pub fn agreed(&self) -> [usize; 2] {
        [|link: &Link| link.emulated, |link: &Link| link.simulated]
            .map(|verdict| self.links.iter().filter(|link| verdict(link).pass).count())
    }

    /// A page for the documentation.
    pub fn to_markdown(&self) -> String {
        let mut out = String::from(
            "# From mahimahi to virtual time\n\n\
             One flow of CUBIC or BBR over recorded links, 20 ms each way, an infinite queue, sockets that hold all: through \
             mahimahi and through the emulator it is this kernel's, in virtual time it is ours. Mean over repetitions ± \
             standard deviation; delays are queueing delays of data packets. Neighbours agree if throughput is within 3 % \
             and p95 within 10 %, or within the earlier one's own spread where that is wider.\n\n",
        );
        out += &format!("{}\n", self.provenance);
        if (self.window_s - 60.0).abs() > 1e-9 {
            out += &format!(
                "**A trial over {} s: the reference ran 60 s, so nothing here is a verdict on the emulator.**\n\n",
                self.window_s
            );
        }
        out += &self.to_string();
        out
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new()
            .left(["row", "runs"])
            .right(["Mbit/s: mahimahi", "emulator", "virtual time"])
            .right(["p95 ms: mahimahi", "emulator", "virtual time"])
            .left(["emulator agrees", "virtual time agrees"]);
        for link in &self.links {
            let columns = [&link.mahimahi, &link.emulator, &link.virtual_time];
            let runs = columns.map(|runs| runs.len().to_string()).join(" / ");
            let rates = columns.map(|runs| cell(runs, 3, |figures| figures.throughput_mbit));
            let delays = columns.map(|runs| cell(runs, 0, |figures| figures.p95_ms as f64));
            let verdicts = [link.emulated, link.simulated].map(word);
            let cells = [link.name.to_string(), runs].into_iter();
            table.row(cells.chain(rates).chain(delays).chain(verdicts));
        }
        let [emulated, simulated] = self.agreed();
        let all = self.links.len();
        table.note(format!(
            "The emulator agrees with mahimahi in {emulated} of {all} rows, virtual time with the emulator in {simulated}."
        ));
        table.fmt(f)
    }
}

fn cell(runs: &[Figures], digits: usize, of: fn(&Figures) -> f64) -> String {
    let Spread { mean, deviation, .. } = Spread::of(runs, of);
    format!("{mean:.digits$} ± {deviation:.digits$}")
}

fn word(verdict: Verdict) -> String {
    let Verdict { throughput_difference, p95_difference, pass, .. } = verdict;
    let word = if pass { "yes" } else { "**no**" };
    let [throughput, p95] = [throughput_difference, p95_difference].map(|share| 100.0 * share);
    format!("{word}: {throughput:+.1} %, {p95:+.1} %")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_experiment::provenance::Begun;

    #[test]
    fn each_figure_is_judged_by_its_neighbour_in_the_chain() {
        let figures = |mbit, p95| vec![Figures::example(mbit, p95)];
        let link = |simulated| {
            Link::new("a.down.bbr", figures(5.0, 100), figures(5.1, 108), figures(5.2, simulated))
        };
        let links = vec![link(115), link(130)];
        let chain = Chain { provenance: Begun::now().end(), window_s: 60.0, jobs: 1, links };
        // 115 is 15 % above mahimahi's, and 6 % above the emulator's.
        assert_eq!(chain.agreed(), [2, 1]);
        let page = chain.to_markdown();
        assert!(page.contains("2 of 2 rows") && page.contains("**no**: +2.0 %, +20.4 %"), "{page}");
        assert!(!page.contains("A trial"), "{page}");
    }
}
