//! Some KPIs by name, out of every record that has one.

use alloc::vec::Vec;

use sounding_diag::layout::{Item, Layout, Probe};
use sounding_diag::record::{Coverage, RecordCounts, RecordError, Version, layouts};
use sounding_diag::{LogCode, LogRecord};
use sounding_rrc::DecodeError;
use sounding_rrc::facts::facts;
use sounding_units::ModemInstant;

use crate::registry::{self, Conversion, Give, NamedKpi, Source, number_at};

/// KPIs to read from records, with their resolved places.
///
/// The smallest unit is one KPI (BISCAY §3.2.3): the rest of a record is neither decoded nor
/// checked. Only two things allocate memory: a new subscription, and messages. A message is decoded
/// completely, once for all KPIs, and only if one needs it.
#[derive(Clone, Debug)]
pub struct Subscription {
    kpis: Vec<&'static NamedKpi>,
    /// By code, in its order.
    records: Vec<Subscribed>,
    counts: Counts,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The KPI's index in [`Subscription::kpis`].
    pub slot: usize,
    /// In the unit of the KPI.
    pub value: f64,
    /// Its item in the record.
    pub item: Item,
    /// When the modem stamped the record.
    pub at: ModemInstant,
}

/// Counts of a subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records of the subscribed codes.
    pub records: u64,
    /// Values given to the caller.
    pub values: u64,
    /// The same records by how much of them is read. A record whose message does not decode is
    /// corrupt.
    pub by_coverage: RecordCounts,
    /// Whole records of a version that lacks the KPI.
    pub lacking: u64,
}

/// Why a record is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Its version is unknown, or it does not fit its description.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Its message does not decode.
    #[error("log {code}: {message}: {error}")]
    Message {
        /// The log code.
        code: LogCode,
        /// The expected kind of message.
        message: &'static str,
        /// The fault.
        error: DecodeError,
    },
}

/// There is no KPI of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no KPI is called {name:?}: `sounding kpi list` names them all")]
pub struct UnknownKpi {
    /// The requested name.
    pub name: alloc::string::String,
}

#[derive(Clone, Debug)]
struct Subscribed {
    code: LogCode,
    layouts: &'static [Layout],
    /// For each of `layouts`, the subscribed KPIs that it has.
    probes: Vec<Vec<Located>>,
    /// The version of the last record and its layout: a modem always uses the same version.
    last: Option<(u32, usize)>,
    /// Number of subscribed KPIs that are fields.
    fields: usize,
    told: Vec<Told>,
    messages: sounding_rrc::Messages,
}

#[derive(Clone, Debug)]
struct Located {
    slot: usize,
    conversion: Conversion,
    probe: Probe,
}

/// A KPI from messages.
#[derive(Clone, Copy, Debug)]
struct Told {
    slot: usize,
    read: fn(&sounding_rrc::facts::Facts, &mut Give<'_>),
}

impl Subscription {
    /// Subscribes KPIs by these names; a repeated name counts once.
    ///
    /// # Errors
    ///
    /// [`UnknownKpi`] for a name that no KPI has.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, UnknownKpi> {
        let mut kpis = Vec::new();
        for name in names {
            let unknown = || UnknownKpi { name: name.into() };
            kpis.push(registry::find(name).ok_or_else(unknown)?);
        }
        Ok(Self::of(kpis))
    }

    /// Subscribes these KPIs.
    pub fn of(kpis: impl IntoIterator<Item = &'static NamedKpi>) -> Self {
        let mut subscription =
            Self { kpis: Vec::new(), records: Vec::new(), counts: Counts::default() };
        kpis.into_iter().for_each(|kpi| subscription.add(kpi));
        subscription
    }

    fn add(&mut self, kpi: &'static NamedKpi) {
        if self.kpis.iter().any(|known| known.name == kpi.name) {
            return;
        }
        let slot = self.kpis.len();
        self.kpis.push(kpi);
        let index = match self.records.binary_search_by_key(&kpi.code, |record| record.code) {
            Ok(index) => index,
            Err(index) => {
                let layouts = layouts(kpi.code).unwrap_or_default();
                let probes = layouts.iter().map(|_| Vec::new()).collect();
                let record = Subscribed {
                    code: kpi.code,
                    layouts,
                    probes,
                    last: None,
                    fields: 0,
                    told: Vec::new(),
                    messages: sounding_rrc::Messages::default(),
                };
                self.records.insert(index, record);
                index
            }
        };
        let record = &mut self.records[index];
        match kpi.source {
            Source::Field { path, conversion } => {
                record.fields += 1;
                for (layout, probes) in record.layouts.iter().zip(&mut record.probes) {
                    let probe = number_at(layout, path);
                    probes.extend(probe.map(|probe| Located { slot, conversion, probe }));
                }
            }
            Source::Fact { read, .. } => record.told.push(Told { slot, read }),
        }
    }

    /// The KPIs, in the order of [`Reading::slot`].
    pub fn kpis(&self) -> &[&'static NamedKpi] {
        &self.kpis
    }

    /// The codes of their records: the smallest log mask.
    pub fn codes(&self) -> impl Iterator<Item = LogCode> {
        self.records.iter().map(|record| record.code)
    }

    /// The counts so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Gives every subscribed value of a record to `sink`, KPI by KPI. Returns whether its code is
    /// subscribed.
    ///
    /// # Errors
    ///
    /// [`Unread`] for an unknown version, or for bytes that do not fit their description. It is
    /// counted.
    pub fn handle(
        &mut self,
        log: &LogRecord<'_>,
        mut sink: impl FnMut(Reading),
    ) -> Result<bool, Unread> {
        let Ok(index) = self.records.binary_search_by_key(&log.code, |record| record.code) else {
            return Ok(false);
        };
        self.counts.records += 1;
        let read = self.records[index].read(log, |reading| {
            self.counts.values += 1;
            sink(reading);
        });
        let counts = &mut self.counts.by_coverage;
        match read {
            Ok(Seen { coverage: Ok(coverage), has_all }) => {
                counts.handle(Ok(coverage));
                self.counts.lacking += u64::from(coverage == Coverage::Whole && !has_all);
            }
            Ok(Seen { coverage: Err(_), .. }) => counts.unsupported += 1,
            Err(error) => {
                match &error {
                    Unread::Message { .. } => counts.corrupt += 1,
                    Unread::Record(error) => counts.handle(Err(error)),
                }
                return Err(error);
            }
        }
        Ok(true)
    }
}

/// How a record without an error was read.
struct Seen {
    /// An error if none of its sub-packets is described.
    coverage: Result<Coverage, Version>,
    /// Every KPI is in this version.
    has_all: bool,
}

impl Subscribed {
    #[inline]
    fn read(&mut self, log: &LogRecord<'_>, mut sink: impl FnMut(Reading)) -> Result<Seen, Unread> {
        if !self.told.is_empty() {
            self.listen(log, &mut sink)?;
        }
        let (code, body, at) = (log.code, log.body, log.at);
        let Some(version) = code.version_of(body) else {
            let (need, have) = (code.version_size(), body.len());
            let version = Version::Packet(0);
            return Err(RecordError::Corrupt { code, version, need, at: 0, have }.into());
        };
        let index = match self.last {
            Some((last, index)) if last == version => index,
            _ => {
                let found = self.layouts.iter().position(|layout| layout.describes(version));
                let version = Version::Packet(version);
                found.ok_or(RecordError::Unsupported { code, version, len: body.len() })?
            }
        };
        self.last = Some((version, index));
        let probes = &self.probes[index];
        for Located { slot, conversion, probe } in probes {
            let met = probe.read(body, |item, field| {
                if let Some(value) = conversion.value(field) {
                    sink(Reading { slot: *slot, value, item, at });
                }
            });
            met.map_err(|short| RecordError::Corrupt {
                code,
                version: Version::Packet(version),
                need: short.need,
                at: short.at,
                have: short.have,
            })?;
        }
        // Bytes outside the paths may not fit the description; the values do not depend on them.
        let survey = self.layouts[index].survey(body).unwrap_or_default();
        Ok(Seen { coverage: Coverage::of(&survey, version), has_all: probes.len() == self.fields })
    }

    /// Reads the facts in the message of a record, if the record has or completes one.
    #[cold]
    fn listen(&mut self, log: &LogRecord<'_>, sink: &mut dyn FnMut(Reading)) -> Result<(), Unread> {
        let Some(message) = self.messages.handle_record(log)? else { return Ok(()) };
        let decoded = sounding_rrc::decode(message.pdu, message.bytes).map_err(|error| {
            Unread::Message { code: log.code, message: message.pdu.name(), error }
        })?;
        let facts = facts(message.pdu.into(), &decoded.value);
        for told in &self.told {
            (told.read)(&facts, &mut |item, value| {
                sink(Reading { slot: told.slot, value, item, at: log.at });
            });
        }
        Ok(())
    }
}
