//! Listens to a modem: which records it sends, in which versions, and whether they are readable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use miette::{IntoDiagnostic, Result};
use sounding_diag::capture::{Located, Reader};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Version};
use sounding_diag::session::{Beside, Event, Wanted};
use sounding_diag::{LogCode, LogRecord};
use sounding_host::monotonic_now;
use sounding_kpi::{Direction, Extractor, Kpi, RlcPdu};
use sounding_modem::{Pump, Source, Turn};

use super::beside::{self, Opened};
use crate::kinds::Kind;
use crate::{rights, session_report};

/// The longest single wait for the port.
const PATIENCE: Duration = Duration::from_millis(20);

/// Limit on the modem's output, the same as that of `sounding run`.
const BUDGET_BYTES_PER_SEC: u64 = 500_000;

/// Most kinds that are counted. A modem's versions are a few for each code; a port that sends
/// nonsense has more.
const MAX_KINDS: usize = 256;

/// The records of a modem while it was listened to.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) kinds: BTreeMap<(LogCode, Option<u32>), Kind>,
    extractor: Extractor,
    /// Codes of records with grants, and whether any had its resource blocks.
    grants: BTreeMap<(LogCode, Direction), bool>,
    channel: BTreeSet<LogCode>,
    signal: BTreeSet<LogCode>,
    pdus: BTreeSet<LogCode>,
    /// Codes that the modem does not know.
    pub(super) unknown: Vec<LogCode>,
    /// Codes that are switched off because the modem sent more than the budget.
    pub(super) switched_off: Vec<LogCode>,
    /// Codes that do not fit into the budget of the daemon that holds the port.
    left_out: Vec<LogCode>,
    /// Whether the modem took a log mask.
    pub(super) is_set: bool,
}

/// A quantity that a method is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Grants(Direction),
    /// Grants with their resource blocks.
    Blocks(Direction),
    /// Uplink grants that are marked as repeats or not.
    Repeats,
    /// Channel reports.
    Channel,
    /// Signal levels.
    Signal,
    /// PDUs of RLC.
    Pdus,
}

/// Every log record that a method needs, the most important first.
pub(super) fn codes() -> Vec<LogCode> {
    let mut codes: Vec<LogCode> = Vec::new();
    let ways = [Direction::Uplink, Direction::Downlink].map(sounding_kpi::codes);
    let lists = [ways[0], ways[1], sounding_kpi::channel_codes(), sounding_kpi::rlc_codes()];
    for code in lists.into_iter().flatten() {
        if !codes.contains(code) {
            codes.push(*code);
        }
    }
    codes
}

/// Asks the modem for those records, and counts them for this long, or until `stop`. The log mask
/// goes back at the end; after a kill, at the next start of a reader.
pub(super) fn listen(source: &Source, span: Duration, stop: &AtomicBool) -> Result<Heard> {
    let wanted = Wanted { codes: codes(), budget_bytes_per_sec: Some(BUDGET_BYTES_PER_SEC) };
    let Opened { port, .. } = beside::open(source, Some(&wanted.codes))?;
    let mut pump = Pump::over(source.clone(), port, Some(wanted)).once();
    rights::drop_for_reading()?;
    let mut heard = Heard::default();
    let mut reader = Reader::new();
    let mut until = monotonic_now() + span;
    let mut is_ending = false;
    while pump.is_open() && !pump.is_over() {
        if !is_ending && (stop.load(Ordering::Relaxed) || monotonic_now() >= until) {
            heard.switched_off = [pump.switched_off(), &heard.left_out].concat();
            pump.handle_end();
            is_ending = true;
        }
        if let Turn::Bytes(read) = pump.turn(PATIENCE).into_diagnostic()? {
            read.find(&mut reader, |found| {
                if let Ok(Located { packet: Packet::Log(record), .. }) = found {
                    heard.handle_record(&record);
                }
            });
        }
        while let Some(event) = pump.poll_event() {
            match &event {
                Event::Ready { codes, missing, .. } => {
                    // Requests took a part of the time.
                    until = monotonic_now() + span;
                    heard.is_set = *codes > 0;
                    heard.unknown.clone_from(missing);
                }
                Event::Beside(Beside::Lacks { budget, unknown, kept }) => {
                    heard.is_set = kept.is_empty();
                    heard.unknown.clone_from(unknown);
                    heard.left_out.clone_from(budget);
                }
                _ => {}
            }
            eprintln!("sounding: {}", session_report::sentence(&event));
        }
    }
    session_report::tell(|| pump.poll_event());
    beside::tell_lost(source, pump.lost());
    Ok(heard)
}

impl Heard {
    fn handle_record(&mut self, record: &LogRecord<'_>) {
        let key = (record.code, record::version_of(record));
        let is_ours = sounding_kpi::is_read(record.code) || Extractor::holds_pdus(record.code);
        if !is_ours || (self.kinds.len() >= MAX_KINDS && !self.kinds.contains_key(&key)) {
            return;
        }
        let outcome = record::check(record);
        self.kinds.entry(key).or_default().handle_record(record, outcome.as_ref().copied());
        let Self { extractor, grants, channel, signal, pdus, .. } = self;
        let take: &mut dyn FnMut(Kpi) = &mut |kpi| match kpi {
            Kpi::Grant(grant) => {
                let has_blocks = grants.entry((record.code, grant.direction)).or_default();
                *has_blocks |= grant.allocation.is_some();
            }
            Kpi::Channel(_) => {
                channel.insert(record.code);
            }
            Kpi::Signal(_) => {
                signal.insert(record.code);
            }
            Kpi::Backlog(_) | Kpi::Connection(_) | Kpi::Carriers(_) => {}
        };
        // A record that cannot be read was counted above.
        let _ = extractor.extract(record, take);
        let take: &mut dyn FnMut(RlcPdu) = &mut |_| {
            pdus.insert(record.code);
        };
        let _ = extractor.pdus(record, take);
    }

    /// Whether records of this code had the quantity.
    pub(super) fn has(&self, code: LogCode, quantity: Quantity) -> bool {
        match quantity {
            Quantity::Grants(direction) => self.grants.contains_key(&(code, direction)),
            Quantity::Repeats => self.grants.contains_key(&(code, Direction::Uplink)),
            Quantity::Blocks(direction) => self.grants.get(&(code, direction)) == Some(&true),
            Quantity::Channel => self.channel.contains(&code),
            Quantity::Signal => self.signal.contains(&code),
            Quantity::Pdus => self.pdus.contains(&code),
        }
    }

    /// The code with its versions that came, and whether a record of it was read.
    pub(super) fn came(&self, code: LogCode) -> Option<(String, bool)> {
        let kinds = self.kinds.range((code, None)..=(code, Some(u32::MAX)));
        let mut versions = Vec::new();
        let mut is_read = false;
        for ((_, version), kind) in kinds {
            versions.push(named(code, *version));
            is_read |= kind.counts.read() > 0;
        }
        (!versions.is_empty()).then(|| (versions.join(", "), is_read))
    }
}

/// The name of a kind of record in a check.
pub(super) fn named(code: LogCode, version: Option<u32>) -> String {
    match version {
        Some(version) => format!("{code} v{}", Version::Packet(version)),
        None => code.to_string(),
    }
}
