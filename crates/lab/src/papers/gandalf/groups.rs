//! How many messages a modem sends together, and how late a reader has them (Figs. 11 and 12).

use std::time::Duration;

use miette::IntoDiagnostic;
use sounding_experiment::provenance::Begun;
use sounding_testbed::granularity::{self, BufferPolicy, Plan};

use super::{Evidence, Row};
use crate::experiment::{Card, Experiment, Host, Outcome, program, report};
use crate::paper::{Ours, PaperItem, Report, paper_item};

/// Figs. 11 and 12: messages in a group with and without draining of the modem's buffer, and how
/// late they reach a reader
///
/// A simulated modem makes a message of its uplink every 10 ms, and a second process reads it. Its
/// buffer is as large as the paper found: 70 messages over LTE, and 120 over 5G.
#[derive(clap::Args)]
pub(crate) struct GroupFlags {
    /// Duration of each measurement
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = humantime::parse_duration)]
    duration: Duration,
}

/// The item.
pub(crate) struct GroupsItem;

const FILES: PaperItem = paper_item!("gandalf", "table1")
    .called("gandalf/groups", "groups")
    .about("messages that a modem sends together, and how late a reader has them")
    .lasts("2 min");

const COLUMNS: &[&str] = &["messages", "received ms", "on the board ms", "seen ms"];

/// The networks of Fig. 11, and messages that fill a modem's buffer there.
const NETWORKS: [(&str, usize); 2] = [("LTE", 70), ("5G", 120)];
/// The buffer unchanged, drained, and none: only the reader's own time is left then.
const WAYS: [(&str, BufferPolicy); 3] = [
    ("sent when full", BufferPolicy::HighWater),
    ("drained", BufferPolicy::Drained),
    ("no buffer", BufferPolicy::AtOnce),
];

fn line(name: String, row: &granularity::Row) -> Row {
    let values =
        [row.records_each as f64, row.received_ms.median, row.posted_ms.median, row.age_ms.median];
    let heads = COLUMNS.iter().map(|head| (*head).to_owned());
    Row { name, figures: heads.zip(values).collect() }
}

/// Rows in which draining does not make groups of one.
fn short(rows: &[Row]) -> Vec<&Row> {
    let drained = rows.iter().filter(|row| row.name.ends_with(": drained"));
    drained.filter(|row| row.figure("messages") != 1.0).collect()
}

impl Experiment for GroupsItem {
    type Flags = GroupFlags;

    fn card(&self) -> Card {
        FILES.card()
    }

    fn run(&self, flags: GroupFlags, host: &dyn Host) -> miette::Result<Option<Outcome>> {
        let (begun, program) = (Begun::now(), program()?);
        let mut rows = Vec::new();
        for (network, full_at) in NETWORKS {
            for (way, policy) in WAYS {
                let plan = Plan {
                    ways: vec![policy],
                    duration: flags.duration,
                    cpu_latency: None,
                    full_at,
                    program: program.clone(),
                };
                let result = granularity::run(&plan, |_| {}).into_diagnostic()?;
                let name = format!("{network}: {way}");
                report(host, &name);
                rows.extend(result.rows.iter().map(|row| line(name.clone(), row)));
            }
        }
        let expected = FILES.expected().into_diagnostic()?;
        let table = rows.iter().map(|row| {
            let cells = COLUMNS.iter().map(|head| format!("{:.3}", row.figure(head)));
            (row.name.clone(), cells.collect::<Vec<_>>())
        });
        let mut ours = Ours::new(COLUMNS.iter().copied(), table);
        ours.misses =
            short(&rows).iter().map(|row| expected.miss(&row.name, &["larger groups"])).collect();
        let evidence = Evidence { figures: rows };
        Report::new(FILES.about, expected, ours, evidence, begun.end()).outcome().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drained_modem_that_sends_groups_is_a_miss() {
        let row = |name: &str, messages: f64| Row {
            name: name.to_owned(),
            figures: [("messages".to_owned(), messages)].into(),
        };
        let rows =
            [row("LTE: sent when full", 70.0), row("LTE: drained", 1.0), row("5G: drained", 2.0)];
        let short = short(&rows);
        assert_eq!(short.len(), 1);
        assert_eq!(short[0].name, "5G: drained");
    }
}
