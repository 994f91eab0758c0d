//! A second carrier that comes and goes (§3, Fig. 2), and the users of a busy cell (§4.2.1, Fig.
//! 7): the modelled cell's own figures.

use std::time::Duration;

use sounding_cell::config::InvalidConfig;
use sounding_experiment::provenance::Begun;

use super::Item;
use crate::fidelity::cell::{self, Row};
use crate::paper::{Ours, Report, Rows};

/// The evidence.
pub(super) type Evidence = Rows<Row>;

/// Measures with each seed, the users for so long.
pub(super) fn measure(
    item: Item,
    seeds: &[u64],
    span: Duration,
) -> Result<Vec<Row>, InvalidConfig> {
    match item {
        Item::Fig2 => cell::carriers(seeds),
        _ => cell::users(seeds, span),
    }
}

/// The item's table beside the paper's figures.
pub(super) fn report(
    item: Item,
    figures: Vec<Row>,
    begun: Begun,
) -> Result<Report<Evidence>, toml::de::Error> {
    let mut expected = item.files().expected()?;
    let mut ours = Ours::new(["ours"], []);
    for row in &figures {
        expected.rows.insert(row.what.into(), row.paper.into());
        if !row.agrees {
            ours.misses.push(format!("{}: {}", row.what, row.why));
        }
        ours.rows.push((row.what.into(), vec![cell::ours(row)]));
    }
    Ok(Report::new(item.files().about, expected, ours, Evidence { figures }, begun.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_a_value_beside_the_papers() {
        for (item, most) in [(Item::Fig2, 3), (Item::Fig7, 5)] {
            let rows = measure(item, &[1_001], Duration::from_secs(5)).unwrap();
            let report = report(item, rows, Begun::now()).unwrap();
            assert_eq!(report.rows.len(), most);
            assert!(!report.expected.section.is_empty());
            for (name, cells) in &report.rows {
                assert!(!report.expected.of(name).is_empty(), "{name}");
                assert!(cells[0].starts_with(|first: char| first.is_ascii_digit()), "{cells:?}");
            }
        }
    }
}
