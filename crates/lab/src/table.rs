//! A table of words: as Markdown, which terminals show too, or with columns of fixed widths.

use std::fmt;

/// Named columns, rows of cells, and lines that follow them.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

#[derive(Clone, Debug)]
struct Column {
    head: String,
    is_right: bool,
    width: usize,
}

impl Table {
    /// Without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds columns whose cells are flush left, as words are.
    #[must_use]
    pub fn left<H: Into<String>>(self, heads: impl IntoIterator<Item = H>) -> Self {
        self.columns(heads.into_iter().map(|head| (head, 0)), false)
    }

    /// Adds columns whose cells are flush right, as numbers are.
    #[must_use]
    pub fn right<H: Into<String>>(self, heads: impl IntoIterator<Item = H>) -> Self {
        self.columns(heads.into_iter().map(|head| (head, 0)), true)
    }

    /// Adds columns of a width, flush left.
    #[must_use]
    pub fn left_within<H: Into<String>>(self, heads: impl IntoIterator<Item = (H, usize)>) -> Self {
        self.columns(heads, false)
    }

    /// Adds columns of a width, flush right.
    #[must_use]
    pub fn right_within<H: Into<String>>(
        self,
        heads: impl IntoIterator<Item = (H, usize)>,
    ) -> Self {
        self.columns(heads, true)
    }

    fn columns<H: Into<String>>(
        mut self,
        heads: impl IntoIterator<Item = (H, usize)>,
        is_right: bool,
    ) -> Self {
        let column = |(head, width): (H, usize)| Column { head: head.into(), is_right, width };
        self.columns.extend(heads.into_iter().map(column));
        self
    }

    /// Adds a row, with a cell for each column.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "{cells:?}");
        self.rows.push(cells);
    }

    /// Adds a paragraph below the rows.
    pub fn note(&mut self, line: impl Into<String>) {
        self.notes.push(line.into());
    }

    /// With columns of their widths, without lines between them.
    pub fn text(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded = self.columns.iter().zip(cells).map(|(column, cell)| {
                let width = column.width;
                if column.is_right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            padded.chain(["\n".to_owned()]).collect::<String>()
        };
        let heads = line(&mut self.columns.iter().map(|column| column.head.as_str()));
        let rows = self.rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
        let notes = self.notes.iter().map(|note| format!("\n{note}\n"));
        std::iter::once(heads).chain(rows).chain(notes).collect()
    }
}

/// Markdown.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An empty head, or a space, stands between its bars unchanged.
        let heads = self.columns.iter().map(|column| match column.head.as_str() {
            head @ ("" | " ") => head.to_owned(),
            head => format!("{head} "),
        });
        writeln!(f, "| {}|", heads.collect::<Vec<_>>().join("| "))?;
        let rules = self.columns.iter().map(|column| if column.is_right { "--:" } else { "---" });
        writeln!(f, "|{}|", rules.collect::<Vec<_>>().join("|"))?;
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "\n{note}"))
    }
}

/// Whole numbers in one cell.
pub(crate) fn slashed<const N: usize>(values: [f64; N]) -> String {
    values.map(|value| format!("{value:.0}")).join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table =
            Table::new().left_within([("link", 6), ("", 5)]).right_within([("Mbit/s", 8)]);
        table.row(["one", "bbr", "4.53"]);
        table.row(["two", "", "12.00"]);
        table.note("2 of 2 rows agree.");
        table
    }

    #[test]
    fn as_markdown_it_has_its_heads_its_rules_its_rows_and_its_notes() {
        let expected = "| link | | Mbit/s |\n|---|---|--:|\n| one | bbr | 4.53 |\n| two |  | 12.00 |\n\n2 of 2 rows agree.\n";
        assert_eq!(table().to_string(), expected);
    }

    #[test]
    fn as_text_its_columns_are_as_wide_as_they_are_meant() {
        let expected =
            "link         Mbit/s\none   bbr      4.53\ntwo           12.00\n\n2 of 2 rows agree.\n";
        assert_eq!(table().text(), expected);
    }

    #[test]
    fn a_head_of_a_space_keeps_its_room() {
        let table = Table::new().left(["", "paper"]).right(["biscay", " ", "median"]);
        assert_eq!(table.to_string(), "| | paper | biscay |  | median |\n|---|---|--:|--:|--:|\n");
    }
}
