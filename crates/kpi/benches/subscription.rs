//! How fast KPIs are extracted from a capture, including framing and checks: one KPI from each of
//! some records, compared with every field of all of them (BISCAY Figure 4b).
//!
//! Reads the largest shared capture of mixed LTE records. If there is none, it makes one of every
//! described record and prints that. Before the times it prints how many bytes of a record a KPI
//! depends on.

#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod ways;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use sounding_diag::hdlc::encode;
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::registry::{self, NamedKpi, Source};
use sounding_kpi::{Reading, Subscription};

fn main() {
    say_what_is_touched(&INPUT.bytes);
    divan::main();
}

struct Input {
    bytes: Vec<u8>,
    logs: u64,
    /// One KPI of each record that the input has, the most frequent record first.
    kpis: Vec<&'static NamedKpi>,
}

static INPUT: LazyLock<Input> = LazyLock::new(|| {
    let largest = sounding_testdata::shared_files("captures/lgs96__mobileinsight_core")
        .into_iter()
        .max_by_key(|file| file.metadata().map_or(0, |metadata| metadata.len()));
    let bytes = match &largest {
        Some(file) => std::fs::read(file).expect("a shared file is readable"),
        None => synthetic_stream(),
    };
    let seen = ways::codes(&bytes);
    let kpis = ways::one_of_each(&seen);
    let logs = seen.values().sum();
    let name = largest.map_or("synthetic records".into(), |file| file.display().to_string());
    println!("{} bytes, {logs} log records of {} codes: {name}", bytes.len(), seen.len());
    Input { bytes, logs, kpis }
});

fn synthetic_stream() -> Vec<u8> {
    let mut stream = Vec::new();
    for seed in 0.. {
        for (code, body) in synthetic::bodies(seed) {
            let mut payload = Vec::new();
            synthetic::record(code, &body).emit(&mut payload).expect("bodies are short");
            encode(&payload, &mut stream);
        }
        if stream.len() > 4_000_000 {
            break;
        }
    }
    stream
}

/// A byte is touched if another value of it gives other readings.
fn say_what_is_touched(bytes: &[u8]) {
    const EXAMPLES: u32 = 20;
    let mut per_code: BTreeMap<LogCode, (u32, usize, usize, &str)> = BTreeMap::new();
    ways::each_log(bytes, |log| {
        let Some(kpi) = INPUT.kpis.iter().find(|kpi| kpi.code == log.code) else { return };
        let (records, touched, len, _) = per_code.entry(log.code).or_insert((0, 0, 0, kpi.name));
        if *records == EXAMPLES {
            return;
        }
        *records += 1;
        *len += log.body.len();
        let whole = readings(kpi, log);
        let mut body = log.body.to_vec();
        for at in 0..body.len() {
            let is_touched = (0..8).any(|bit| {
                body[at] ^= 1 << bit;
                let is_touched = readings(kpi, &LogRecord { body: &body, ..*log }) != whole;
                body[at] ^= 1 << bit;
                is_touched
            });
            *touched += usize::from(is_touched);
        }
    });
    println!("bytes that one KPI depends on, of the bytes of its record, on average:");
    for (code, (records, touched, len, name)) in per_code {
        let per = |sum: usize| sum as f64 / f64::from(records);
        println!("  {code} {name:28} {:7.1} of {:7.1}", per(touched), per(len));
    }
}

fn readings(kpi: &'static NamedKpi, log: &LogRecord<'_>) -> Option<Vec<Reading>> {
    let mut readings = Vec::new();
    Subscription::of([kpi]).handle(log, |reading| readings.push(reading)).ok()?;
    Some(readings)
}

fn counted(bencher: Bencher<'_, '_>, read: impl Fn(&[u8]) -> f64 + Sync) {
    let input = &*INPUT;
    bencher
        .counter(BytesCount::of_slice(&input.bytes))
        .counter(ItemsCount::new(input.logs))
        .bench(|| read(divan::black_box(&input.bytes)));
}

/// One KPI from each of the most frequent records; all of them at last.
#[divan::bench(args = [1, 2, 4, 8, 64])]
fn one_kpi_of_each_record(bencher: Bencher<'_, '_>, records: usize) {
    let subscription = Subscription::of(INPUT.kpis.iter().copied().take(records));
    counted(bencher, |bytes| ways::kpis(bytes, subscription.clone()));
}

/// Every KPI that is a field.
#[divan::bench]
fn every_field_kpi(bencher: Bencher<'_, '_>) {
    counted(bencher, |bytes| ways::kpis(bytes, Subscription::of(ways::fields())));
}

/// Every KPI from messages: messages are decoded completely, and records without any are skipped.
#[divan::bench]
fn every_kpi_of_messages(bencher: Bencher<'_, '_>) {
    let told = || registry::all().filter(|kpi| matches!(kpi.source, Source::Fact { .. }));
    counted(bencher, |bytes| ways::kpis(bytes, Subscription::of(told())));
}

/// Every field of every described record.
#[divan::bench]
fn every_field(bencher: Bencher<'_, '_>) {
    counted(bencher, ways::every_field);
}
