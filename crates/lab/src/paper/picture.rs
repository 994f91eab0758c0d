//! Pictures of an item: the measured numbers as bars, with the numbers that the paper states in its
//! text as marks. Nothing is traced from a paper's own pictures.
//!
//! The picture of a table is drawn for every item. An item adds what its table cannot show, such as
//! series over time: [`Pictures::outcome`] takes them as [`Picture`]s.

use std::fmt::Display;
use std::path::PathBuf;

use serde::Serialize;
use sounding_report::{
    Axis, Bar, Bars, Figure, Kind, Line, Mark, Origin, Page, Panel, Plane, Section, Series, Shade,
    Spread,
};

use super::{Expected, Report};
use crate::experiment::Outcome;

/// The meaning of a mark.
pub(super) const STATED: &str = "line across a bar: stated in the paper's text";

/// The name of what the paper states of a controller, in pictures whose marks have names.
fn papers(name: &str) -> String {
    format!("{name}, paper")
}

// Without a line of documentation: clap would take it for that of the command.
#[derive(clap::Args)]
#[allow(missing_docs)]
pub(crate) struct Pictures {
    /// Draws the result into this folder: SVG, PNG and a page, with the paper's numbers as marks
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A picture before it knows its origin.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Of its files: letters, digits and hyphens.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) kind: Kind,
}

impl Pictures {
    /// Whether pictures are drawn: an item need not make what they alone need.
    pub(crate) fn are_drawn(&self) -> bool {
        self.out.is_some()
    }

    /// The outcome of an item; where a folder is named, with the pictures of its table and these
    /// before them.
    pub(crate) fn outcome<E: Display + Serialize>(
        self,
        report: &Report<E>,
        pictures: Vec<Picture>,
    ) -> miette::Result<Outcome> {
        let outcome = report.outcome()?;
        let page = self.out.map(|folder| (folder, page(report, pictures)));
        Ok(Outcome { page, ..outcome })
    }
}

/// All pictures of an item on a page.
fn page<E>(report: &Report<E>, pictures: Vec<Picture>) -> Page {
    let origin = Origin::of(&report.provenance, "");
    let figures = pictures.into_iter().chain(tables(report)).map(|picture| Figure {
        name: picture.name,
        title: picture.title,
        caption: picture.caption,
        origin: origin.clone(),
        kind: picture.kind,
    });
    Page {
        title: report.about.clone(),
        subtitle: report.expected.section.clone(),
        sections: vec![Section {
            heading: "Measured, and stated by the paper".into(),
            text: report.expected.why.join(". "),
            figures: figures.collect(),
        }],
        origin: report.provenance.pairs(),
    }
}

/// The number that a text begins with, and its unit.
pub(super) fn number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let ends = text.find(|c| !digits(c)).unwrap_or(text.len());
    let value = text[..ends].parse().ok()?;
    let rest = text[ends..].trim_start();
    // The least and the most of seeds stand between a value and its unit.
    let rest = match rest.strip_prefix('[') {
        Some(range) => range.split_once(']').map_or("", |(_, unit)| unit),
        None => rest,
    };
    let unit = rest.split([',', ';']).next().unwrap_or_default().trim();
    Some((value, unit))
}

/// The numbers that the paper states of a row, in the order of our columns.
pub(crate) fn stated(expected: &Expected, row: &str) -> Vec<Option<f64>> {
    let text = expected.of(row);
    text.split(',').map(|part| number(part).map(|(value, _)| value)).collect()
}

/// As part of a file's name.
fn file_name(text: &str) -> String {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// A row's group and its name in it: `bbr, busy` is `busy` of `bbr`, where all rows have two parts.
fn grouped(row: &str, all: bool) -> (String, String) {
    match row.rsplit_once(", ").filter(|_| all) {
        Some((group, name)) => (group.into(), name.into()),
        None => (row.into(), "measured".into()),
    }
}

/// One number of a table.
struct Number<'a> {
    row: &'a str,
    value: f64,
    unit: &'a str,
    mark: Option<f64>,
}

/// The table, as bars for each column and unit.
fn tables<E>(report: &Report<E>) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (at, column) in report.columns.iter().enumerate() {
        let numbers = report.rows.iter().filter_map(|(row, cells)| {
            let (value, unit) = number(cells.get(at)?)?;
            let mark = stated(&report.expected, row).get(at).copied().flatten();
            Some(Number { row, value, unit, mark })
        });
        let numbers: Vec<Number<'_>> = numbers.collect();
        for unit in sounding_report::distinct(numbers.iter().map(|number| number.unit)) {
            let those: Vec<_> = numbers.iter().filter(|number| number.unit == unit).collect();
            let label = match unit {
                "" => column.clone(),
                _ => format!("{column} ({unit})"),
            };
            pictures.push(Picture {
                name: file_name(&format!("table {column} {}", unit.replace('%', "percent"))),
                title: format!("{}: {label}", report.about),
                caption: String::new(),
                kind: bars(&label, &those),
            });
        }
    }
    pictures
}

fn bars(label: &str, numbers: &[&Number<'_>]) -> Kind {
    let all = numbers.iter().all(|number| number.row.contains(", "));
    let bars = numbers.iter().map(|number| {
        let (group, name) = grouped(number.row, all);
        Bar { group, name, value: number.value, between: None, mark: number.mark }
    });
    let is_marked = numbers.iter().any(|number| number.mark.is_some());
    Kind::Bars(Bars {
        y: Axis::linear(label),
        bars: bars.collect(),
        between: String::new(),
        marks: if is_marked { STATED.into() } else { String::new() },
    })
}

/// A line's name and its points in order; `None` where it is unknown.
pub(crate) type Course = (String, Vec<(f64, Option<f64>)>);

/// A quantity over time: its label, the lines by their names, and the paper's mean of each where
/// its text states one.
pub(crate) struct OverTime<'a> {
    pub(crate) label: &'a str,
    pub(crate) lines: Vec<Course>,
    pub(crate) stated: Vec<(String, f64)>,
}

/// Quantities over the same time, one panel each; `shade` is behind the first of them.
pub(crate) fn over_time(panels: Vec<OverTime<'_>>, mut shade: Option<Shade>) -> Kind {
    let panels = panels.into_iter().map(|OverTime { label, lines, stated }| {
        let ends = lines.iter().flat_map(|(_, points)| points.last()).map(|(at, _)| *at);
        let end = ends.fold(0.0, f64::max);
        let mean = |(name, value): (String, f64)| Line {
            name: papers(&name),
            points: vec![(0.0, Some(value)), (end, Some(value))],
        };
        let lines = lines.into_iter().map(|(name, points)| Line { name, points });
        Panel {
            y: Axis::linear(label),
            shade: shade.take(),
            lines: lines.chain(stated.into_iter().map(mean)).collect(),
        }
    });
    let panels = panels.collect();
    Kind::Series(Series { x: Axis::linear("time (s)"), panels, happenings: Vec::new() })
}

/// Delay and throughput of each name as 10th, 25th, 50th, 75th and 90th percentile, and the points
/// that the paper's text states.
pub(crate) fn plane(
    spreads: impl IntoIterator<Item = (String, [f64; 5], [f64; 5])>,
    points: &[(String, f64, f64)],
) -> Kind {
    let spread =
        |of: [f64; 5]| Spread { middle: of[2], inner: (of[1], of[3]), outer: (of[0], of[4]) };
    let measured = spreads.into_iter().map(|(name, delays, rates)| Mark {
        name,
        x: spread(delays),
        y: spread(rates),
    });
    let said = points.iter().map(|(name, delay, rate)| Mark {
        name: papers(name),
        x: spread([*delay; 5]),
        y: spread([*rate; 5]),
    });
    Kind::Plane(Plane {
        x: Axis::logarithmic("one-way delay (ms)"),
        reversed: true,
        y: Axis::linear("throughput (Mbit/s)"),
        marks: measured.chain(said).collect(),
        spread: sounding_report::QUARTILES.into(),
    })
}

#[cfg(test)]
mod tests {
    use sounding_experiment::provenance::Begun;

    use super::*;
    use crate::paper::{Ours, Rows};

    fn report() -> Report<Rows<u32>> {
        let rows = [("pbe-cc".to_owned(), "57 Mbit/s, -, 71 ms".to_owned())];
        let expected = Expected { rows: rows.into(), ..Expected::default() };
        let cells = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let table = [
            ("pbe-cc".to_owned(), cells(["60.3", "34.2", "51.8"])),
            ("bbr".to_owned(), cells(["57.4", "-", "246.1"])),
            ("share".to_owned(), cells(["0.4 %", "", ""])),
        ];
        let ours = Ours::new(["Mbit/s", "mean ms", "p95 ms"], table);
        Report::new("a download", expected, ours, Rows { figures: Vec::new() }, Begun::now().end())
    }

    #[test]
    fn a_table_is_bars_by_column_and_unit_and_the_papers_numbers_are_marks() {
        let pictures = tables(&report());
        let names: Vec<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
        assert_eq!(
            names,
            ["table-mbit-s", "table-mbit-s-percent", "table-mean-ms", "table-p95-ms"]
        );
        let of = |at: usize| match &pictures[at].kind {
            Kind::Bars(bars) => bars.bars.iter().map(|bar| (bar.value, bar.mark)).collect(),
            _ => Vec::new(),
        };
        assert_eq!(of(0), [(60.3, Some(57.0)), (57.4, None)]);
        assert_eq!(of(2), [(34.2, None)]);
        assert_eq!(of(3), [(51.8, Some(71.0)), (246.1, None)]);
    }

    #[test]
    fn a_number_has_its_unit_behind_it_and_behind_its_range() {
        assert_eq!(number("0.14 [0.13, 0.15] s"), Some((0.14, "s")));
        assert_eq!(number("-10 % at most"), Some((-10.0, "% at most")));
        assert_eq!(number("-"), None);
        assert_eq!(number("within 1 s"), None);
    }

    #[test]
    fn what_the_paper_states_is_a_line_over_all_of_the_time() {
        let panel = OverTime {
            label: "Mbit/s",
            lines: vec![("bbr".into(), vec![(0.0, Some(1.0)), (8.0, Some(2.0))])],
            stated: vec![("bbr".into(), 62.0)],
        };
        let Kind::Series(series) = over_time(vec![panel], None) else { panic!("a series") };
        let mean = &series.panels[0].lines[1];
        assert_eq!(mean.name, "bbr, paper");
        assert_eq!(mean.points, [(0.0, Some(62.0)), (8.0, Some(62.0))]);
    }

    #[test]
    fn a_folder_that_is_named_gets_the_pictures_and_none_else_is_made() {
        let page = |out| {
            let pictures = Pictures { out };
            pictures.outcome(&report(), Vec::new()).unwrap().page
        };
        assert!(page(None).is_none());
        let folder = tempfile::tempdir().unwrap();
        let (path, page) = page(Some(folder.path().to_owned())).unwrap();
        page.write(&path).unwrap();
        let svg = std::fs::read_to_string(path.join("figures/table-mbit-s.svg")).unwrap();
        assert!(svg.contains(STATED), "{svg}");
    }
}
