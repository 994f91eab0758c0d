//! The tables of real captures: rows, times, sums, and hidden records.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::{BTreeMap, BTreeSet};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value as Json;
use sounding_diag::capture::{Capture, Located};
use sounding_diag::packet::Packet;
use sounding_diag::{LogCode, LogRecord};
use sounding_export::privacy::{self, Privacy};
use sounding_export::table::Tables;
use sounding_kpi::registry::{self, Source, Unit};
use sounding_kpi::{Extractor, Kpi, Subscription};
use sounding_testdata::{shared, shared_files};

fn for_each(bytes: &[u8], mut each: impl FnMut(u64, &LogRecord<'_>)) {
    let mut capture = Capture::new(bytes).unwrap();
    while let Some(found) = capture.poll_packet() {
        if let Ok(Located { offset, packet: Packet::Log(record) }) = found {
            each(offset, &record);
        }
    }
}

type Row = BTreeMap<String, Field>;

/// The files of a capture's tables.
fn files(bytes: &[u8], privacy: Privacy) -> BTreeMap<String, Vec<u8>> {
    let mut tables = Tables::new(privacy, |_: &str| Ok(Vec::new()));
    for_each(bytes, |offset, record| tables.handle_record(offset, record).unwrap());
    tables.finish().unwrap().into_iter().collect()
}

/// The rows of a table: of each the columns that are not empty.
fn rows(file: &[u8]) -> Vec<Row> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(file.to_vec())).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let columns = row.unwrap().into_columns().into_iter();
        columns.filter(|(_, field)| *field != Field::Null).collect()
    });
    rows.collect()
}

fn int(row: &Row, name: &str) -> u64 {
    match row[name] {
        Field::Long(number) | Field::TimestampMicros(number) => number.cast_unsigned(),
        ref other => panic!("{name}: {other:?}"),
    }
}

fn capture(path: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(shared(&format!("captures/{path}"))?).unwrap())
}

const BLOCKS: &str = "lgs96__mobileinsight_core/diag_log_20211220_003916.mi2log";
const ATTACH: &str = "mobile-insight__mobileinsight-core/attach_sample.mi2log";

#[test]
fn a_row_is_a_block_with_the_time_at_which_it_was_sent() {
    let Some(bytes) = capture(BLOCKS) else { return };
    let code = LogCode::new(0xB139);
    let mut expected = Vec::new();
    let mut extractor = Extractor::default();
    for_each(&bytes, |offset, record| {
        let read = extractor.extract(record, |kpi| {
            let Kpi::Grant(grant) = kpi else { return };
            if grant.code == code {
                let (nanos, sent) = (record.at.unix_nanos(), grant.at.unix_nanos());
                expected.push((offset, nanos / 1000, sent / 1000, grant.size.count()));
            }
        });
        let _unread = read;
    });
    let files = files(&bytes, Privacy::Expose);
    // Dropped blocks are rows too.
    let sent = rows(&files["0xB139.parquet"]);
    let sent = sent.iter().filter(|row| row["transmissions.dropped"] != Field::Bool(true));
    let found: Vec<_> = sent
        .map(|row| {
            let size = int(row, "transmissions.tb_bytes");
            (int(row, "offset"), int(row, "record_time"), int(row, "time"), size)
        })
        .collect();
    assert_eq!(found, expected);
    let distinct =
        |of: fn(&(u64, u64, u64, u64)) -> u64| found.iter().map(of).collect::<BTreeSet<_>>();
    let (records, blocks) = (distinct(|row| row.1).len(), distinct(|row| row.2).len());
    assert!(blocks > 3 * records, "{records} times of records, {blocks} of {} blocks", found.len());
}

/// The plain sums of the columns of KPIs, by the schema's word for where they are.
fn sums(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, f64> {
    let schema: Json = serde_json::from_slice(&files["_schema.json"]).unwrap();
    let mut sums = BTreeMap::new();
    for (table, file) in files.iter().filter(|(name, _)| name.starts_with("0x")) {
        let all = schema["kpis"].as_object().unwrap().iter();
        let all = all.flat_map(|(kpi, places)| {
            places.as_array().unwrap().iter().map(move |place| (kpi, place))
        });
        let here: Vec<_> = all.filter(|(_, place)| place["table"] == table.as_str()).collect();
        for row in rows(file) {
            for (kpi, place) in &here {
                let number = match row.get(place["column"].as_str().unwrap()) {
                    Some(Field::Long(number)) => *number as f64,
                    Some(Field::ULong(number)) => *number as f64,
                    Some(Field::Double(number)) => *number,
                    Some(Field::Bool(set)) => f64::from(u8::from(*set)),
                    Some(other) => panic!("{kpi}: {other:?}"),
                    None => continue,
                };
                *sums.entry((*kpi).clone()).or_default() += number;
            }
        }
    }
    sums
}

#[test]
fn the_sum_of_a_column_is_the_sum_of_its_kpi() {
    let files = shared_files("captures");
    if files.is_empty() {
        return;
    }
    let captures: Vec<_> = files
        .into_iter()
        .filter_map(|path| Some((std::fs::read(&path).ok()?, path)))
        .filter(|(bytes, _)| Capture::new(bytes).is_ok())
        .collect();
    let summed = |kpi: &&registry::NamedKpi| {
        matches!(kpi.unit, Unit::Bytes | Unit::Bits | Unit::Prb | Unit::Count)
            && matches!(kpi.source, Source::Field { .. })
    };
    let mut wrong = Vec::new();
    let mut met = BTreeSet::new();
    for (bytes, path) in &captures {
        let mut subscription = Subscription::of(registry::all().filter(summed));
        let kpis = subscription.kpis().to_vec();
        let mut expected: BTreeMap<String, f64> = BTreeMap::new();
        for_each(bytes, |_, record| {
            let _unread = subscription.handle(record, |reading| {
                *expected.entry(kpis[reading.slot].name.into()).or_default() += reading.value;
            });
        });
        let mut found = sums(&self::files(bytes, Privacy::Expose));
        found.retain(|name, _| kpis.iter().any(|kpi| kpi.name == name));
        for name in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
            let (ours, theirs) = (found.get(name), expected.get(name));
            if ours != theirs {
                wrong.push(format!("{}: {name}: {ours:?}, not {theirs:?}", path.display()));
            }
            met.insert(name.clone());
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(captures.len() > 60 && met.len() > 60, "{} captures, {met:?}", captures.len());
}

#[test]
fn every_record_is_in_a_table_whatever_is_hidden() {
    let Some(bytes) = capture(ATTACH) else { return };
    let mut offsets: BTreeMap<LogCode, Vec<u64>> = BTreeMap::new();
    for_each(&bytes, |offset, record| offsets.entry(record.code).or_default().push(offset));
    for privacy in [Privacy::Redact, Privacy::Expose] {
        let files = files(&bytes, privacy);
        for (code, expected) in &offsets {
            let table = rows(&files[&format!("{code}.parquet")]);
            let mut found: Vec<u64> = table.iter().map(|row| int(row, "offset")).collect();
            found.dedup();
            assert_eq!(&found, expected, "{code}");
        }
    }
}

#[test]
fn a_hidden_record_is_a_row_without_contents() {
    let Some(bytes) = capture(ATTACH) else { return };
    let mut expected = 0;
    for_each(&bytes, |_, record| expected += usize::from(privacy::identifies(record)));
    let allowed = ["code", "offset", "record_time", "stamp", "radio", "redacted", "hidden_bytes"];
    let files = files(&bytes, Privacy::Redact);
    let tables = files.iter().filter(|(name, _)| name.ends_with(".parquet"));
    let all = tables.flat_map(|(_, file)| rows(file));
    let hidden: Vec<_> = all.filter(|row| row.contains_key("redacted")).collect();
    assert_eq!(hidden.len(), expected);
    assert!(expected > 1000);
    for row in hidden {
        assert!(row.keys().all(|name| allowed.contains(&name.as_str())), "{row:?}");
    }
}
