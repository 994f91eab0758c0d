//! A schema of columns as Arrow writes it into a file's metadata, so that its readers have the
//! units (format/Message.fbs and format/Schema.fbs of Apache Arrow).

use base64::prelude::{BASE64_STANDARD, Engine as _};
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, VOffsetT, WIPOffset};

use super::kind::Kind;
use super::plan::Column;

/// The place of the field of that number in its table.
const fn slot(number: VOffsetT) -> VOffsetT {
    4 + 2 * number
}

const VERSION_5: i16 = 4;
const HEADER_SCHEMA: u8 = 1;
const DOUBLE: i16 = 2;
const MICROSECOND: i16 = 2;

type Offset = WIPOffset<UnionWIPOffset>;

/// The message of the schema with a pair of metadata, in base64.
pub(super) fn schema(columns: &[&Column], about: (&str, &str)) -> String {
    let mut builder = FlatBufferBuilder::new();
    let about = pair(&mut builder, about);
    let about = builder.create_vector(&[about]);
    let fields: Vec<_> = columns.iter().map(|column| field(&mut builder, column)).collect();
    let fields = builder.create_vector(&fields);
    let begin = builder.start_table();
    builder.push_slot_always(slot(1), fields);
    builder.push_slot_always(slot(2), about);
    let schema = builder.end_table(begin);
    let begin = builder.start_table();
    builder.push_slot_always(slot(0), VERSION_5);
    builder.push_slot_always(slot(1), HEADER_SCHEMA);
    builder.push_slot_always(slot(2), schema);
    let message = builder.end_table(begin);
    builder.finish_minimal(message);
    let message = builder.finished_data();
    let len = message.len().next_multiple_of(8);
    let mut bytes = Vec::with_capacity(8 + len);
    bytes.extend(u32::MAX.to_le_bytes());
    bytes.extend((len as u32).to_le_bytes());
    bytes.extend(message);
    bytes.resize(8 + len, 0);
    BASE64_STANDARD.encode(bytes)
}

/// What Arrow's readers show of a column.
pub(super) fn of_column(column: &Column) -> Vec<(&'static str, String)> {
    let unit = column.unit().map(|unit| ("unit", unit));
    let kpis: Vec<&str> = column.kpis.iter().map(|kpi| kpi.name).collect();
    let kpi = (!kpis.is_empty()).then(|| ("kpi", kpis.join(",")));
    let what: Vec<&str> = column.kpis.iter().map(|kpi| kpi.what).collect();
    let what = (!what.is_empty()).then(|| ("what", what.join("; ")));
    unit.into_iter().chain(kpi).chain(what).collect()
}

fn field(builder: &mut FlatBufferBuilder<'_>, column: &Column) -> Offset {
    let name = builder.create_string(&column.name);
    let (kind, about) = kind(builder, column.kind);
    let no_children = builder.create_vector::<Offset>(&[]);
    let pairs: Vec<_> =
        of_column(column).iter().map(|(key, value)| pair(builder, (key, value))).collect();
    let pairs = builder.create_vector(&pairs);
    let begin = builder.start_table();
    builder.push_slot_always(slot(0), name);
    builder.push_slot_always(slot(1), !column.is_full);
    builder.push_slot_always(slot(2), kind);
    builder.push_slot_always(slot(3), about);
    builder.push_slot_always(slot(5), no_children);
    builder.push_slot_always(slot(6), pairs);
    WIPOffset::new(builder.end_table(begin).value())
}

/// A key with its value.
fn pair(builder: &mut FlatBufferBuilder<'_>, (key, value): (&str, &str)) -> Offset {
    let (key, value) = (builder.create_string(key), builder.create_string(value));
    let begin = builder.start_table();
    builder.push_slot_always(slot(0), key);
    builder.push_slot_always(slot(1), value);
    WIPOffset::new(builder.end_table(begin).value())
}

/// The number of a type, and its table.
fn kind(builder: &mut FlatBufferBuilder<'_>, kind: Kind) -> (u8, Offset) {
    let utc = (kind == Kind::Time).then(|| builder.create_string("UTC"));
    let begin = builder.start_table();
    let number = match kind {
        Kind::Int | Kind::Word => {
            builder.push_slot_always(slot(0), 64_i32);
            builder.push_slot_always(slot(1), kind == Kind::Int);
            2
        }
        Kind::Real => {
            builder.push_slot_always(slot(0), DOUBLE);
            3
        }
        Kind::Bytes => 4,
        Kind::Text => 5,
        Kind::Flag => 6,
        Kind::Time => {
            builder.push_slot_always(slot(0), MICROSECOND);
            if let Some(utc) = utc {
                builder.push_slot_always(slot(1), utc);
            }
            10
        }
    };
    (number, WIPOffset::new(builder.end_table(begin).value()))
}
