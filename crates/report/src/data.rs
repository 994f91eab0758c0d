//! The numbers behind a figure, as they go into its Parquet file.

use std::io::Write;

use sounding_export::figures::{Cell, Figures, Kind};
use sounding_export::table::TableError;

use super::Origin;

/// Rows of a table whose columns are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Names and kinds of the columns. A name includes the unit.
    pub columns: Vec<(String, Kind)>,
    /// The rows.
    pub rows: Vec<Vec<Option<Cell>>>,
}

impl Data {
    pub(super) fn new(columns: impl IntoIterator<Item = (String, Kind)>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// As Parquet, with the figure's title and origin in the metadata.
    ///
    /// # Errors
    ///
    /// [`TableError`] if `out` cannot be written, or the writer refuses a column.
    pub fn write(
        &self,
        out: impl Write + Send,
        title: &str,
        origin: &Origin,
    ) -> Result<(), TableError> {
        let columns: Vec<_> =
            self.columns.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let mut about = vec![("sounding_figure".to_owned(), title)];
        about.extend(origin.pairs().map(|(name, value)| (format!("sounding_{name}"), value)));
        let about: Vec<_> = about.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let mut figures = Figures::new(out, &columns, &about)?;
        for row in &self.rows {
            figures.push(row.iter().cloned())?;
        }
        figures.finish()
    }
}
