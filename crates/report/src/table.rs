//! Rows and columns.

use std::fmt::Write as _;

use sounding_experiment::columns::WIDEST;
use sounding_export::figures::{Cell as Stored, Kind};

use super::palette::Styles;
use super::{Data, escape, plain};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, and the number of significant decimals.
    Number(f64, usize),
    /// No value: it is unknown.
    Unknown,
}

impl Cell {
    /// A number that may not be known.
    pub fn number(value: Option<f64>, decimals: usize) -> Self {
        value.map_or(Self::Unknown, |value| Self::Number(value, decimals))
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value, decimals) => format!("{value:.decimals$}"),
            Self::Unknown => "–".into(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

/// A table; the first column has the names that have colours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Headings of the columns, with units.
    pub columns: Vec<String>,
    /// The column of the names that have colours in the figures.
    pub named: usize,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A table with more rows is in a scrolling frame, so that the text after it is found. Chosen: a
/// desktop screen.
const LONG: usize = 24;

impl Table {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter_map(|row| match row.get(self.named) {
            Some(Cell::Text(text)) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether a column has words. Words are aligned left.
    fn is_words(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.all(|cell| matches!(cell, Cell::Text(_)))
    }

    pub(super) fn data(&self) -> Data {
        let kind = |column| if self.is_words(column) { Kind::Text } else { Kind::Real };
        let columns = self.columns.iter().enumerate();
        let columns = columns.map(|(at, name)| {
            let name = if name.is_empty() { "name" } else { name };
            // Under one heading a reader of Parquet finds one column only.
            let before = self.columns[..at].iter().filter(|other| *other == name).count();
            let number = if before > 0 { format!(" ({})", before + 1) } else { String::new() };
            (format!("{name}{number}"), kind(at))
        });
        let mut data = Data::new(columns);
        data.rows.extend(self.rows.iter().map(|row| {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => Some(Stored::from(text.as_str())),
                Cell::Number(value, _) => Some(Stored::from(*value)),
                Cell::Unknown => None,
            });
            cells.collect()
        }));
        data
    }

    /// For a page.
    pub(super) fn html(&self, styles: &Styles) -> String {
        let align = |column| if self.is_words(column) { " class=\"words\"" } else { "" };
        let long = if self.rows.len() > LONG { " long" } else { "" };
        // Without a pointer it is scrolled by keys.
        let mut html = format!("<div class=\"scroll{long}\" tabindex=\"0\"><table><thead><tr>");
        for (at, column) in self.columns.iter().enumerate() {
            // Writing into a string cannot fail, here and below.
            let _ = write!(html, "<th{}>{}</th>", align(at), escape(column));
        }
        html.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            html.push_str("<tr>");
            for (at, cell) in row.iter().enumerate() {
                let text = escape(&cell.text());
                let class = styles.class(&cell.text()).filter(|_| at == self.named);
                let swatch = class.map_or(String::new(), |class| {
                    format!(
                        "<svg class=\"swatch\" viewBox=\"0 0 10 10\"><path class=\"f {class}\" \
                         d=\"M0 0h10v10H0z\"/></svg>"
                    )
                });
                let _ = write!(html, "<td{}>{swatch}{text}</td>", align(at));
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table></div>");
        html
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.map(|cell| plain(&cell).replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        };
        line(&mut self.columns.iter().cloned());
        let rule = |column| if self.is_words(column) { "---" } else { "--:" };
        line(&mut (0..self.columns.len()).map(|column| rule(column).to_owned()));
        for row in &self.rows {
            line(&mut row.iter().map(Cell::text));
        }
        text
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let head = self.columns.clone();
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::text).collect::<Vec<_>>());
        let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
        };
        let mut text = String::new();
        for line in &lines {
            let mut written = String::new();
            for (column, cell) in line.iter().enumerate() {
                let width = width(column).unwrap_or(0).min(WIDEST);
                let between = if column == 0 { "" } else { "  " };
                let _ = if self.is_words(column) {
                    write!(written, "{between}{cell:<width$}")
                } else {
                    write!(written, "{between}{cell:>width$}")
                };
            }
            text.push_str(written.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            columns: vec!["run".into(), "Mbit/s".into()],
            named: 0,
            rows: vec![
                vec!["bbr".into(), Cell::Number(4.526, 2)],
                vec!["a|b".into(), Cell::Unknown],
            ],
        }
    }

    #[test]
    fn numbers_stand_at_the_right_in_markdown_and_a_bar_is_no_border() {
        let expected = "| run | Mbit/s |\n| --- | --: |\n| bbr | 4.53 |\n| a\\|b | – |\n";
        assert_eq!(table().markdown(), expected);
    }

    #[test]
    fn a_table_longer_than_a_screen_has_a_frame_of_its_own() {
        let styles = Styles::default();
        assert!(!table().html(&styles).contains("scroll long"));
        let rows = (0..LONG + 1).map(|_| table().rows[0].clone()).collect();
        let html = Table { rows, ..table() }.html(&styles);
        assert!(html.contains("scroll long") && html.matches("<tr>").count() == LONG + 2);
    }

    #[test]
    fn a_terminal_gets_columns_that_line_up() {
        assert_eq!(table().text(), "run  Mbit/s\nbbr    4.53\na|b       –\n");
    }

    #[test]
    fn columns_of_one_heading_have_names_of_their_own_in_the_data() {
        let columns = vec!["run".into(), "p95".into(), "p95".into()];
        let table = Table { columns, ..Table::default() };
        let names: Vec<_> = table.data().columns.into_iter().map(|column| column.0).collect();
        assert_eq!(names, ["run", "p95", "p95 (2)"]);
    }

    #[test]
    fn the_data_of_a_table_keeps_what_is_not_written() {
        assert_eq!(table().data().rows[0][1], Some(Stored::Real(4.526)));
        assert_eq!(table().data().rows[1][1], None);
    }
}
