//! The columns of tables for their readers: Parquet's schema, Arrow's, the types of pandas, and
//! JSON.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::schema::types::Type;
use serde_json::{Map, Value as Json, json};
use sounding_diag::LogCode;

use super::arrow;
use super::kind::Kind;
use super::plan::{Column, Plan};

impl Kind {
    /// Its names in Arrow, and in pandas where a column may have empty cells.
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Flag => ("bool", "bool", "boolean"),
            Self::Int => ("int64", "int64", "Int64"),
            Self::Word => ("uint64", "uint64", "UInt64"),
            Self::Real => ("double", "float64", "float64"),
            Self::Text => ("string", "unicode", "object"),
            Self::Bytes => ("binary", "bytes", "object"),
            Self::Time => ("timestamp[us, tz=UTC]", "datetimetz", "datetime64[us]"),
        }
    }
}

/// The schema as Parquet has it.
pub(super) fn parquet_schema(columns: &[&Column]) -> Result<Arc<Type>, ParquetError> {
    let field = |column: &&Column| {
        let (physical, logical) = match column.kind {
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Int => (Physical::INT64, None),
            Kind::Word => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Bytes => (Physical::BYTE_ARRAY, None),
            Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        };
        let repetition = if column.is_full { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        Type::primitive_type_builder(&column.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
            .map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("row").with_fields(fields).build().map(Arc::new)
}

/// What a file says of its columns beyond their types.
pub(super) fn metadata(columns: &[&Column]) -> Vec<KeyValue> {
    const PANDAS: &str = "pandas";
    let pandas = pandas(columns);
    vec![
        // Arrow's readers take no other metadata where there is a schema.
        KeyValue::new("ARROW:schema".into(), arrow::schema(columns, (PANDAS, &pandas))),
        KeyValue::new(PANDAS.into(), pandas),
    ]
}

/// Without this pandas reads whole numbers with gaps as floats. A column is text at once, because
/// thousands of objects take megabytes.
fn pandas(columns: &[&Column]) -> String {
    let column = |column: &&Column| {
        let (_, pandas_type, numpy_type) = column.kind.names();
        // Without gaps the plain type does.
        let numpy_type = if column.is_full { pandas_type } else { numpy_type };
        let numpy_type = if column.kind == Kind::Text { "object" } else { numpy_type };
        let metadata = (column.kind == Kind::Time).then(|| json!({"timezone": "UTC"}));
        json!({
            "name": column.name,
            "field_name": column.name,
            "pandas_type": pandas_type,
            "numpy_type": numpy_type,
            "metadata": metadata,
        })
    };
    let columns: Vec<String> = columns.iter().map(|one| column(one).to_string()).collect();
    let creator = json!({"library": "sounding", "version": env!("CARGO_PKG_VERSION")});
    format!(
        r#"{{"index_columns": [], "column_indexes": [], "columns": [{}], "creator": {creator}, "pandas_version": "2.2.0"}}"#,
        columns.join(", ")
    )
}

/// The unit of a column, as its files and the schema have it; `None` without one.
pub fn unit_of(code: LogCode, column: &str) -> Option<String> {
    let plan = Plan::of(code);
    let mut columns = plan.tables.iter().flat_map(|table| &table.columns);
    columns.find(|known| known.name == column)?.unit()
}

/// Writes each of these tables with its columns, and the places of each KPI. A line is a table.
pub(super) fn write_schema<'p>(
    tables: impl Iterator<Item = (String, &'p Plan, usize)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut kpis: Map<String, Json> = Map::new();
    let mut before = "{\"tables\": {";
    for (table, plan, number) in tables {
        let mut columns = Map::new();
        for column in &plan.tables[number].columns {
            let mut about = Map::new();
            about.insert("type".into(), column.kind.names().0.into());
            for (name, value) in arrow::of_column(column) {
                about.insert(name.into(), value.into());
            }
            columns.insert(column.name.clone(), Json::Object(about));
            for kpi in &column.kpis {
                let place = json!({"table": table, "column": column.name});
                let places = kpis.entry(kpi.name).or_insert_with(|| json!([]));
                places.as_array_mut().into_iter().for_each(|places| places.push(place.clone()));
            }
        }
        let code = plan.code;
        let about = json!({"code": code.to_string(), "name": code.name(), "columns": columns});
        write!(out, "{before}\n{}: {about}", Json::from(table))?;
        before = ",";
    }
    writeln!(out, "\n}},\n\"kpis\": {}}}", Json::Object(kpis))
}
