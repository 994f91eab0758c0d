//! Tables of figures, read back.

use std::fs::File;

use parquet::basic::Type as Physical;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use super::Cell;
use crate::table::TableError;

/// The metadata of a table: names and values.
pub type About = Vec<(String, String)>;

/// Reads the `wanted` columns and calls `each` for every row. `each` receives one cell for each
/// wanted column, in their order. The cell is `None` if it is empty or the table lacks the column.
/// A column whose type no table of figures has counts as missing.
///
/// # Errors
///
/// [`TableError`] if the file cannot be read, or is no Parquet of flat rows.
pub fn read(
    file: File,
    wanted: &[&str],
    mut each: impl FnMut(&[Option<Cell>]),
) -> Result<About, TableError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let about = metadata.key_value_metadata().map_or(Vec::new(), |pairs| {
        pairs.iter().map(|p| (p.key.clone(), p.value.clone().unwrap_or_default())).collect()
    });
    let schema = metadata.schema();
    let fields = schema.get_fields().iter();
    let kept = fields.filter(|field| wanted.contains(&field.name()) && is_readable(field));
    let kept: Vec<_> = kept.cloned().collect();
    let places: Vec<Option<usize>> =
        wanted.iter().map(|name| kept.iter().position(|field| field.name() == *name)).collect();
    let projection = Type::group_type_builder(schema.name()).with_fields(kept).build()?;
    let mut cells = vec![None; wanted.len()];
    for row in reader.get_row_iter(Some(projection))? {
        let row = row?;
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        for (cell, place) in cells.iter_mut().zip(&places) {
            *cell = place.and_then(|place| of(fields.get(place)?));
        }
        each(&cells);
    }
    Ok(about)
}

fn is_readable(field: &Type) -> bool {
    let known = [Physical::BYTE_ARRAY, Physical::INT64, Physical::DOUBLE];
    field.is_primitive() && known.contains(&field.get_physical_type())
}

fn of(field: &Field) -> Option<Cell> {
    match field {
        Field::Str(text) => Some(Cell::Text(text.clone())),
        Field::Long(number) => Some(Cell::Int(*number)),
        Field::Double(number) => Some(Cell::Real(*number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Figures, Kind};
    use super::*;

    fn table() -> File {
        let file = tempfile::tempfile().expect("a file");
        let columns = [("name", Kind::Text), ("count", Kind::Int), ("rate", Kind::Real)];
        let out = file.try_clone().expect("the same file");
        let mut figures = Figures::new(out, &columns, &[("what", "a test")]).expect("a table");
        figures.push([Some("bbr".into()), Some(3_u64.into()), Some(1.5.into())]).expect("room");
        figures.push([Some("cubic".into()), None, Some(2.5.into())]).expect("room");
        figures.finish().expect("room");
        file
    }

    #[test]
    fn columns_come_in_the_order_that_was_asked_for_and_a_missing_one_is_empty() {
        let mut rows = Vec::new();
        let wanted = ["rate", "colour", "name", "count"];
        let about = read(table(), &wanted, |row| rows.push(row.to_vec())).expect("a table");
        let first = [Some(1.5.into()), None, Some("bbr".into()), Some(3_u64.into())];
        let second = [Some(2.5.into()), None, Some("cubic".into()), None];
        assert_eq!(rows, [first, second]);
        assert!(about.contains(&("what".into(), "a test".into())));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let file = tempfile::tempfile().expect("a file");
        std::io::Write::write_all(&mut &file, b"not a table at all").expect("room");
        assert!(read(file, &["rate"], |_| {}).is_err());
    }
}
