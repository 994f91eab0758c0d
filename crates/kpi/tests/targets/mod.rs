//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_diag::record::RecordError;
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::registry::{self, NamedKpi, Source};
use sounding_kpi::{Subscription, extract};
use sounding_units::ModemInstant;

use crate::decoded::{At, decoded, subscribed};

/// The input is a set of KPIs in eight bytes, a code in two bytes, and a body. The values of any
/// set of KPIs must equal those of the decoded record. Returns the number of values.
///
/// If the record does not decode, each KPI must give the same as when it is subscribed alone: a
/// value or an error.
pub(crate) fn kpi(data: &[u8]) -> Option<usize> {
    let (chosen, data) = data.split_first_chunk::<8>()?;
    let (code, body) = data.split_first_chunk::<2>()?;
    let (chosen, code) = (u64::from_le_bytes(*chosen), LogCode::new(u16::from_le_bytes(*code)));
    let log = LogRecord { code, at: ModemInstant::default(), stamp: 0, radio: None, body };
    let _ = extract(&log, |kpi| drop(format!("{kpi:?}")));

    // The bits repeat, so that one of them selects each KPI. KPIs of other records have no effect,
    // so a few of them are enough.
    let kpis = fields()
        .enumerate()
        .filter(|(at, kpi)| (kpi.code == code || at % 32 == 0) && chosen >> (at % 64) & 1 != 0);
    let kpis: Vec<&NamedKpi> = kpis.map(|(_, kpi)| kpi).collect();
    let mut subscription = Subscription::of(kpis.iter().copied());
    let mut found: Vec<Vec<At>> = vec![Vec::new(); kpis.len()];
    let outcome = subscription.handle(&log, |reading| {
        found[reading.slot].push((reading.item.levels().to_vec(), reading.value));
    });
    let values: usize = found.iter().map(Vec::len).sum();
    assert_eq!(subscription.counts().values, values as u64);

    let own = kpis.iter().zip(&found).filter(|(kpi, _)| kpi.code == code);
    let mut failed = None;
    for (kpi, found) in own {
        if failed.is_some() {
            assert!(found.is_empty(), "{}: what comes after an error", kpi.name);
            continue;
        }
        match (subscribed(kpi, &log), decoded(kpi, &log)) {
            (Ok(alone), whole) => {
                assert!(is_equal(found, &alone), "{}: {found:?}, alone {alone:?}", kpi.name);
                match whole {
                    Ok(whole) => {
                        assert!(is_equal(found, &whole), "{}: {found:?}, {whole:?}", kpi.name);
                    }
                    // A later part of the record does not fit; the KPI does.
                    Err(error) => assert!(matches!(error, RecordError::Corrupt { .. }), "{error}"),
                }
            }
            (Err(alone), whole) => {
                assert!(whole.is_err(), "{}: {alone}, but it decodes", kpi.name);
                assert!(found.is_empty(), "{}: {found:?} of {alone}", kpi.name);
                failed = Some(alone);
            }
        }
    }
    match (&outcome, failed) {
        (Ok(_), None) => {}
        (Err(error), Some(failed)) => assert_eq!(*error, failed),
        (outcome, failed) => panic!("{outcome:?}, one by one {failed:?}"),
    }
    Some(values)
}

/// The KPIs that are fields. Those from messages need decoding, which has its own target.
pub(crate) fn fields() -> impl Iterator<Item = &'static NamedKpi> {
    registry::all().filter(|kpi| matches!(kpi.source, Source::Field { .. }))
}

/// Compares items and bits, so that NaN equals NaN.
fn is_equal(one: &[At], other: &[At]) -> bool {
    let bits = |(at, value): &At| (at.clone(), value.to_bits());
    one.len() == other.len() && one.iter().map(bits).eq(other.iter().map(bits))
}
