//! A record as a line of JSON.

use serde_json::{Map, Value as Json, json};
use sounding_diag::LogRecord;
use sounding_diag::layout::{Sink, Value};
use sounding_diag::record::{self, Coverage};

use crate::messages::Messages;
use crate::privacy::{self, Privacy};

/// The line of a record that was found at `offset` of its capture.
///
/// An unreadable record keeps its bytes, so that its format can be described later. A hidden record
/// keeps only its kind, time and length, and the parts of its message that do not identify a
/// person.
pub fn line(
    offset: u64,
    record: &LogRecord<'_>,
    privacy: Privacy,
    messages: &mut Messages,
) -> Json {
    let mut line = Map::new();
    line.insert("offset".into(), offset.into());
    line.insert("code".into(), record.code.to_string().into());
    if let Some(name) = record.code.name() {
        line.insert("name".into(), name.into());
    }
    line.insert("stamp".into(), record.stamp.into());
    line.insert("unix_ns".into(), record.at.known_unix_nanos().into());
    if let Some(radio) = record.radio {
        line.insert("radio".into(), radio.into());
    }
    if let Some(decoded) = messages.read(record, privacy) {
        line.insert("decoded".into(), decoded);
    }
    if privacy == Privacy::Redact && privacy::identifies(record) {
        line.insert("redacted".into(), true.into());
        line.insert("len_bytes".into(), record.body.len().into());
        return Json::Object(line);
    }
    let mut fields = Fields::default();
    match record::decode(record, &mut fields) {
        Ok(()) => {
            line.insert("fields".into(), Json::Object(fields.root));
            if let Ok(Coverage::Longer(unread)) = record::check(record) {
                line.insert("unread_bytes".into(), unread.into());
            }
        }
        Err(error) => {
            line.insert("unread".into(), error.to_string().into());
            let raw: String = record.body.iter().map(|byte| format!("{byte:02x}")).collect();
            line.insert("raw".into(), raw.into());
        }
    }
    Json::Object(line)
}

/// Collects the fields of a record as JSON.
#[derive(Default)]
struct Fields {
    root: Map<String, Json>,
    /// Lists and items that are open, innermost last.
    open: Vec<Open>,
}

enum Open {
    List(&'static str, Vec<Json>),
    Item(Map<String, Json>),
}

impl Fields {
    fn object(&mut self) -> &mut Map<String, Json> {
        match self.open.last_mut() {
            Some(Open::Item(item)) => item,
            _ => &mut self.root,
        }
    }
}

impl Sink for Fields {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        let json = match value {
            Value::Uint(number) => number.into(),
            Value::Int(number) => number.into(),
            Value::Flag(set) => set.into(),
            Value::Scaled(number) => json!(number),
            Value::Name(number, None) => number.into(),
            Value::Hex(..) | Value::Name(_, Some(_)) | Value::Bytes(_) | Value::Plmn(_) => {
                value.to_string().into()
            }
        };
        self.object().insert(name.into(), json);
    }

    fn begin_list(&mut self, name: &'static str) {
        self.open.push(Open::List(name, Vec::new()));
    }

    fn begin_item(&mut self) {
        self.open.push(Open::Item(Map::new()));
    }

    fn end_item(&mut self) {
        let item = self.open.pop();
        if let (Some(Open::Item(item)), Some(Open::List(_, items))) = (item, self.open.last_mut()) {
            items.push(Json::Object(item));
        }
    }

    fn end_list(&mut self) {
        if let Some(Open::List(name, items)) = self.open.pop() {
            self.object().insert(name.into(), Json::Array(items));
        }
    }
}
