//! Ways to read the numbers of a capture, framing and checks included.

use std::collections::BTreeMap;

use sounding_diag::capture::Reader;
use sounding_diag::layout::{Sink, Value};
use sounding_diag::packet::Packet;
use sounding_diag::{LogCode, LogRecord, record};
use sounding_kpi::Subscription;
use sounding_kpi::registry::{self, NamedKpi, Source};

/// Hands every log record to `read`.
pub(crate) fn each_log(mut input: &[u8], mut read: impl FnMut(&LogRecord<'_>)) {
    let mut reader = Reader::new();
    while let Some(found) = reader.poll_packet(&mut input) {
        if let Ok(located) = found
            && let Packet::Log(log) = located.packet
        {
            read(&log);
        }
    }
}

/// The number of records of each code.
pub(crate) fn codes(bytes: &[u8]) -> BTreeMap<LogCode, u64> {
    let mut seen = BTreeMap::new();
    each_log(bytes, |log| *seen.entry(log.code).or_default() += 1);
    seen
}

/// The KPIs that are fields of records.
pub(crate) fn fields() -> impl Iterator<Item = &'static NamedKpi> {
    registry::all().filter(|kpi| matches!(kpi.source, Source::Field { .. }))
}

/// One KPI of each record that has any, the most frequent record first.
pub(crate) fn one_of_each(seen: &BTreeMap<LogCode, u64>) -> Vec<&'static NamedKpi> {
    let mut kpis: Vec<_> =
        seen.keys().filter_map(|code| fields().find(|kpi| kpi.code == *code)).collect();
    kpis.sort_by_key(|kpi| std::cmp::Reverse(seen[&kpi.code]));
    kpis
}

/// The KPIs of a subscription, added up.
pub(crate) fn kpis(bytes: &[u8], mut subscription: Subscription) -> f64 {
    let mut sum = 0.0;
    each_log(bytes, |log| {
        let _ = subscription.handle(log, |reading| sum += reading.value);
    });
    sum
}

/// Every field of every described record, added up.
pub(crate) fn every_field(bytes: &[u8]) -> f64 {
    let mut fields = Sum(0.0);
    each_log(bytes, |log| {
        let _ = record::decode(log, &mut fields);
    });
    fields.0
}

struct Sum(f64);

impl Sink for Sum {
    fn field(&mut self, _: &'static str, value: Value<'_>) {
        self.0 += match value {
            Value::Uint(number) | Value::Hex(number, _) | Value::Name(number, _) => number as f64,
            Value::Int(number) => number as f64,
            Value::Flag(set) => f64::from(u8::from(set)),
            Value::Scaled(number) => number,
            Value::Bytes(bytes) => bytes.len() as f64,
            Value::Plmn(_) => 1.0,
        };
    }
    fn begin_list(&mut self, _: &'static str) {}
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {}
    fn end_list(&mut self) {}
}
