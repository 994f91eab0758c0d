//! The picture at the head of a page of results: rows of one of its tables, as bars beside the
//! paper's numbers. It has no numbers of its own, so that page and picture cannot differ.

use std::fs;

use sounding_report::{Axis, Bar, Bars, Figure, Kind, Origin, Page, Section};

use super::picture::{STATED, number};
use crate::experiment::Failed;

/// Rows of a table whose columns are: the row, the paper's numbers, and measured ones.
#[derive(Clone, Copy, Debug)]
pub struct Headline<'a> {
    /// The page of results, Markdown.
    pub page: &'a str,
    /// The heading above the table.
    pub section: &'a str,
    /// Of the picture.
    pub title: &'a str,
    /// The quantity and its unit.
    pub quantity: &'a str,
    /// The rows that are drawn, and their names in the picture.
    pub rows: &'a [(&'a str, &'a str)],
    /// The columns that are drawn; each is a group.
    pub columns: &'a [&'a str],
}

impl Headline<'_> {
    /// The cells of the section's first table, line by line.
    fn table(&self) -> Result<Vec<Vec<&str>>, Failed> {
        let heading = format!("\n## {}", self.section);
        let (_, section) = self
            .page
            .split_once(&heading)
            .ok_or_else(|| Failed::from(format!("no heading {:?}", self.section)))?;
        let lines = section.lines().skip_while(|line| !line.starts_with('|'));
        let lines = lines.take_while(|line| line.starts_with('|'));
        let cells = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect());
        Ok(cells.collect())
    }

    fn bars(&self) -> Result<Vec<Bar>, Failed> {
        let table = self.table()?;
        let heads = table.first().ok_or_else(|| Failed::from("the section has no table"))?;
        let mut bars = Vec::new();
        for column in self.columns {
            let at = heads.iter().position(|head| head == column);
            let at = at.ok_or_else(|| Failed::from(format!("no column {column:?}")))?;
            for (row, name) in self.rows {
                let cells = table.iter().find(|cells| cells.first() == Some(row));
                let cells = cells.ok_or_else(|| Failed::from(format!("no row {row:?}")))?;
                let (value, _) = cells
                    .get(at)
                    .and_then(|cell| number(cell))
                    .ok_or_else(|| Failed::from(format!("no number of {row:?} in {column:?}")))?;
                let paper = cells.get(1).zip(at.checked_sub(2));
                let paper = paper.and_then(|(paper, at)| paper.split(',').nth(at));
                let mark = paper.and_then(number).map(|(value, _)| value);
                let (group, name) = ((*column).to_owned(), (*name).to_owned());
                bars.push(Bar { group, name, value, between: None, mark });
            }
        }
        Ok(bars)
    }

    /// The picture as SVG.
    pub fn svg(&self) -> Result<String, Failed> {
        let bars = Bars {
            y: Axis::linear(self.quantity),
            bars: self.bars()?,
            between: String::new(),
            marks: STATED.into(),
        };
        let figure = Figure {
            name: "headline".into(),
            title: self.title.into(),
            caption: format!("The numbers of the section {:?}.", self.section),
            origin: Origin::default(),
            kind: Kind::Bars(bars),
        };
        let section = Section { figures: vec![figure], ..Section::default() };
        let folder = tempfile::tempdir()?;
        Page { sections: vec![section], ..Page::default() }.write(folder.path())?;
        Ok(fs::read_to_string(folder.path().join("figures/headline.svg"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Results\n\n## Places\n\n| | paper | throughput | p95 delay |\n|---|---|--:|--:|\n\
                        | bbr, busy | 1.04 ×, 1.54 × | 0.97 × | 1.82 × |\n| bbr, idle | | 1.01 × | 2.0 × |\n\n## Next\n";

    fn headline<'a>(rows: &'a [(&'a str, &'a str)], columns: &'a [&'a str]) -> Headline<'a> {
        Headline { page: PAGE, section: "Places", title: "", quantity: "×", rows, columns }
    }

    #[test]
    fn a_row_is_a_bar_in_each_group_and_the_papers_numbers_are_marks() {
        let bars =
            headline(&[("bbr, busy", "busy"), ("bbr, idle", "idle")], &["throughput", "p95 delay"]);
        let bars = bars.bars().unwrap();
        let values: Vec<_> = bars.iter().map(|bar| (bar.value, bar.mark)).collect();
        assert_eq!(values, [(0.97, Some(1.04)), (1.01, None), (1.82, Some(1.54)), (2.0, None)]);
    }

    #[test]
    fn a_row_or_column_that_the_page_lacks_is_named() {
        let missing = |headline: Headline<'_>| headline.bars().unwrap_err().to_string();
        assert_eq!(missing(headline(&[("cubic", "cubic")], &["throughput"])), "no row \"cubic\"");
        assert_eq!(missing(headline(&[], &["mean"])), "no column \"mean\"");
    }
}
