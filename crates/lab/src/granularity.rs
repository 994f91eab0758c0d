//! Time between deliveries of one KPI that the modem makes every 10 ms (BISCAY §5.1, Figure 4a): with the modem's buffer
//! drained every millisecond, left to its high-water mark, and sent in batches as the tools of today receive them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use sounding_diag::capture::Reader;
use sounding_diag::packet::Packet;
use sounding_diag::record::PuschTxReport;
use sounding_diag::session::Wanted;
use sounding_modem::{
    Behaviour, Live, OpenError, Place, READ_SIZE, Read, Script, Simulation, Source, SourceError,
    monotonic_now, uplink_capture,
};
use sounding_units::{HostInstant, ModemInstant};
use thiserror::Error;

/// How records leave the modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Its buffer is drained every millisecond.
    Drained,
    /// Its buffer is sent when it is full: 70 messages, as Gandalf §4.2.1 found in LTE.
    HighWater,
    /// Its buffer is sent once a second, as BISCAY §5.1 found with MobileInsight.
    Batches,
}

/// What came of one way.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// How records left the modem.
    pub way: Way,
    /// Deliveries after the first.
    pub deliveries: usize,
    /// Records in one of them, median.
    pub records_each: usize,
    /// Time between deliveries, median, in milliseconds.
    pub median_ms: f64,
    /// The same, 99th percentile.
    pub p99_ms: f64,
    /// The same, longest.
    pub max_ms: f64,
}

/// Every way.
#[derive(Clone, Debug, Serialize)]
pub struct Granularity {
    /// One row each.
    pub rows: Vec<Row>,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum GranularityError {
    /// The modem has no port.
    #[error("the simulated modem: {0}")]
    Modem(#[source] std::io::Error),
    /// Its port has no name.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Its port does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its port broke.
    #[error("reading the simulated modem: {0}")]
    Read(#[source] std::io::Error),
    /// Too little came to say anything.
    #[error("{0} deliveries are too few: measure for longer")]
    Few(usize),
}

/// Measures each way for `duration`.
pub fn run(duration: Duration, progress: impl Fn(&Row)) -> Result<Granularity, GranularityError> {
    let mut rows = Vec::new();
    for way in [Way::Drained, Way::HighWater, Way::Batches] {
        let row = measure(way, duration)?;
        progress(&row);
        rows.push(row);
    }
    Ok(Granularity { rows })
}

/// A report every 10 ms, of a steady uplink.
fn capture(duration: Duration) -> Vec<u8> {
    // Some time in 2026; nothing depends on it.
    let begin = ModemInstant::from_nanos(1_460_000_000_000_000_000);
    uplink_capture(&vec![2000; duration.as_millis() as usize], begin, 970)
}

fn measure(way: Way, duration: Duration) -> Result<Row, GranularityError> {
    let script = Script::of(&capture(duration));
    let full = Behaviour { high_water: usize::MAX, ..Behaviour::default() };
    let name = format!("sounding-granularity-{}", std::process::id());
    let (place, behaviour) = match way {
        Way::Drained => (Place::VendorRouter(name), full),
        Way::HighWater => {
            let report = capture(Duration::from_millis(10)).len();
            let release = Duration::from_secs(3600);
            (Place::Tcp(0), Behaviour { high_water: 70 * report, release, ..full })
        }
        Way::Batches => (Place::Tcp(0), full),
    };
    let mut modem = Simulation::new(script, behaviour, place).map_err(GranularityError::Modem)?;
    let source: Source = modem.source().parse()?;
    let stop = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&stop);
    let thread = std::thread::spawn(move || modem.run(&until, |_| {}));
    let deliveries = deliveries(&source, duration);
    stop.store(true, Ordering::Relaxed);
    let _ = thread.join();
    row(way, &deliveries?)
}

/// Reads this close together are one delivery. Chosen; a fifth of the time between records.
const ONE_BATCH: Duration = Duration::from_millis(2);

/// When records came, and how many.
fn deliveries(
    source: &Source,
    duration: Duration,
) -> Result<Vec<(HostInstant, usize)>, GranularityError> {
    let wanted = Wanted { codes: vec![PuschTxReport::CODE], budget_bytes_per_sec: None };
    let mut live = Live::new(source.open()?, Some(wanted));
    let mut reader = Reader::new();
    let mut buffer = vec![0; READ_SIZE];
    let mut deliveries = Vec::new();
    let end = monotonic_now() + duration;
    while monotonic_now() < end {
        live.tick(monotonic_now());
        let patience = Duration::from_millis(5);
        let read = live.read(&mut buffer, patience).map_err(GranularityError::Read)?;
        if let Read::Bytes(count) = read {
            let now = monotonic_now();
            let mut records = 0;
            live.handle_bytes(now, &mut reader, &buffer[..count], |packet| {
                records += usize::from(matches!(packet, Packet::Log(_)));
            });
            match deliveries.last_mut() {
                _ if records == 0 => {}
                // A batch comes in as many reads as it takes; it is one delivery.
                Some((at, group)) if now - *at < ONE_BATCH => {
                    *group += records;
                    *at = now;
                }
                _ => deliveries.push((now, records)),
            }
        }
    }
    Ok(deliveries)
}

fn row(way: Way, deliveries: &[(HostInstant, usize)]) -> Result<Row, GranularityError> {
    let mut gaps: Vec<f64> =
        deliveries.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_secs_f64() * 1e3).collect();
    let mut records: Vec<usize> = deliveries.iter().map(|(_, records)| *records).collect();
    if gaps.len() < 3 {
        return Err(GranularityError::Few(deliveries.len()));
    }
    gaps.sort_by(f64::total_cmp);
    records.sort_unstable();
    let at = |permille: usize| gaps[(gaps.len() - 1) * permille / 1000];
    Ok(Row {
        way,
        deliveries: gaps.len(),
        records_each: records[records.len() / 2],
        median_ms: at(500),
        p99_ms: at(990),
        max_ms: at(1000),
    })
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drained => "drained every 1 ms",
            Self::HighWater => "sent when full",
            Self::Batches => "sent once a second",
        })
    }
}

impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| the modem's buffer | deliveries | records each | median ms | p99 ms | max ms |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        for row in &self.rows {
            writeln!(
                f,
                "| {} | {} | {} | {:.2} | {:.2} | {:.2} |",
                row.way, row.deliveries, row.records_each, row.median_ms, row.p99_ms, row.max_ms
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_groups_are_those_of_the_deliveries() {
        let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
        let found = row(Way::Drained, &[(at(0), 1), (at(10), 1), (at(20), 2), (at(50), 1)]);
        let row = found.expect("enough");
        assert_eq!((row.deliveries, row.records_each), (3, 1));
        assert_eq!((row.median_ms, row.max_ms), (10.0, 30.0));
        assert!(matches!(super::row(Way::Drained, &[(at(0), 1)]), Err(GranularityError::Few(1))));
    }

    #[test]
    fn a_drained_modem_delivers_single_records_and_one_that_is_not_delivers_groups() {
        let drained = measure(Way::Drained, Duration::from_secs(1)).expect("measured");
        assert_eq!(drained.records_each, 1, "{drained:?}");
        let full = measure(Way::HighWater, Duration::from_secs(4)).expect("measured");
        assert!(full.records_each > 30, "{full:?}");
    }
}
