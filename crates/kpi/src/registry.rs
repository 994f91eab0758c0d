//! The KPIs by name: unit, range, origin, and where in which record each is.
//!
//! One file per layer, one table per record, one line per KPI. A KPI is a field of a record or a
//! fact from the record's message ([`Source`]); a reader need not know which.
//!
//! A path names the lists on the way to a field and the field itself, as
//! [`Layout::probe`](sounding_diag::layout::Layout::probe) reads it. It holds for every version of
//! the record that has the field: versions differ in bit positions, which the layout tables have.

mod allocation;
mod choices;
mod fact;
mod lte_cell;
mod lte_control;
mod lte_mac;
mod lte_pdcp;
mod lte_phy;
mod lte_rlc;
mod lte_rrc;
mod nr;
mod nr_rrc;
mod table;

use core::fmt;

use sounding_diag::LogCode;
use sounding_diag::layout::{Kind, Layout, Probe, Value};
use sounding_diag::record;
use sounding_rrc::facts::Facts;

pub(crate) use fact::Give;

/// One KPI.
#[derive(Debug)]
pub struct NamedKpi {
    /// Its name: technology, channel or layer, quantity.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// The smallest value it can have, in its unit.
    pub least: f64,
    /// The largest, in its unit.
    pub most: f64,
    /// Its meaning.
    pub what: &'static str,
    /// The section that defines it.
    pub origin: &'static str,
    /// The record that has it.
    pub code: LogCode,
    /// Its place in the record.
    pub source: Source,
}

/// The place of a KPI in its record.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// It is a field.
    Field {
        /// The path.
        path: &'static str,
        /// From the field to the value.
        conversion: Conversion,
    },
    /// A fact from the record's message.
    Fact {
        /// The message, or the member of it, as the specification calls them.
        member: &'static str,
        /// Emits every value in the message.
        read: fn(&Facts, &mut Give<'_>),
    },
}

/// The unit of a KPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Bits.
    Bits,
    /// Resource blocks.
    Prb,
    /// Decibels above a milliwatt.
    Dbm,
    /// Decibels.
    Db,
    /// A share of one.
    Ratio,
    /// Milliseconds.
    Ms,
    /// Kilohertz.
    Khz,
    /// Megahertz.
    Mhz,
    /// Things counted.
    Count,
    /// An identifier or index.
    Index,
    /// 0 or 1.
    Flag,
}

/// The conversion of a field's value to the KPI's.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// `value × times + plus`.
    Linear {
        /// The value of one step.
        times: f64,
        /// The value of zero.
        plus: f64,
    },
    /// By the name of a choice, so that versions which number it differently agree; names not
    /// listed are no value.
    Choice(&'static [(&'static str, f64)]),
    /// By a table of a specification; `None` where it has no entry.
    Table(fn(f64) -> Option<f64>),
}

impl Conversion {
    /// The unchanged value.
    pub const PLAIN: Self = Self::Linear { times: 1.0, plus: 0.0 };

    /// The KPI's value; `None` if the field's value means that there is none.
    #[inline]
    pub fn value(&self, field: Value<'_>) -> Option<f64> {
        let number = match field {
            Value::Uint(number) | Value::Hex(number, _) | Value::Name(number, _) => number as f64,
            Value::Int(number) => number as f64,
            Value::Flag(set) => f64::from(u8::from(set)),
            Value::Scaled(number) => number,
            Value::Bytes(_) | Value::Plmn(_) => return None,
        };
        match *self {
            Self::Linear { times, plus } => Some(number * times + plus),
            Self::Table(table) => table(number),
            Self::Choice(choices) => {
                let Value::Name(_, Some(name)) = field else { return None };
                choices.iter().find(|(found, _)| *found == name).map(|(_, number)| *number)
            }
        }
    }
}

impl NamedKpi {
    /// The layouts of its record that have it; a message can be in every one.
    pub fn layouts(&self) -> impl Iterator<Item = &'static Layout> {
        let layouts = record::layouts(self.code).unwrap_or_default();
        layouts.iter().filter(|layout| match self.source {
            Source::Field { path, .. } => number_at(layout, path).is_some(),
            Source::Fact { .. } => true,
        })
    }

    /// Its place in the record as text: the path of a field, or the specification's name of a
    /// message's member.
    pub fn path(&self) -> &'static str {
        match self.source {
            Source::Field { path, .. } => path,
            Source::Fact { member, .. } => member,
        }
    }
}

/// The place of the number at a path; `None` if the layout has none there, or bytes that are no
/// number.
pub(crate) fn number_at(layout: &Layout, path: &'static str) -> Option<Probe> {
    let probe = layout.probe(path)?;
    let are_bytes = probe.fields().iter().any(|field| matches!(field.kind, Kind::Bytes(_)));
    (!are_bytes).then_some(probe)
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "B",
            Self::Bits => "bit",
            Self::Prb => "RB",
            Self::Dbm => "dBm",
            Self::Db => "dB",
            Self::Ratio => "1",
            Self::Ms => "ms",
            Self::Khz => "kHz",
            Self::Mhz => "MHz",
            Self::Count => "count",
            Self::Index => "index",
            Self::Flag => "flag",
        })
    }
}

/// The tables, by layer.
const TABLES: &[&[NamedKpi]] = &[
    lte_phy::PUSCH,
    lte_phy::PDSCH,
    lte_phy::PDSCH_DECODING,
    lte_phy::PDSCH_DEMAPPER,
    lte_phy::PDCCH,
    lte_phy::PHICH,
    lte_control::PUCCH,
    lte_control::PERIODIC_CSF,
    lte_control::APERIODIC_CSF,
    lte_control::CONTROL_INFORMATION,
    lte_control::TRANSMITTER,
    lte_control::PUSCH_POWER,
    lte_control::PUCCH_POWER,
    lte_mac::UPLINK,
    lte_mac::DOWNLINK,
    lte_mac::BUFFER,
    lte_mac::STATISTICS,
    lte_rlc::DOWNLINK,
    lte_rlc::UPLINK,
    lte_rlc::DOWNLINK_STATISTICS,
    lte_rlc::UPLINK_STATISTICS,
    lte_pdcp::DOWNLINK,
    lte_pdcp::UPLINK,
    lte_cell::SERVING,
    lte_rrc::CONNECTION,
    lte_rrc::TIMERS,
    lte_rrc::CELLS,
    lte_rrc::MEASUREMENTS,
    nr::SCHEDULE,
    nr::DCI,
    nr::PDSCH,
    nr::PDSCH_STATISTICS,
    nr::UPLINK_STATISTICS,
    nr::UPLINK,
    nr::BSR,
    nr::DOWNLINK_STATUS,
    nr::UPLINK_STATUS,
    nr::DOWNLINK_DATA,
    nr::UPLINK_DATA,
    nr::CONTROL_PAYLOADS,
    nr::CONTROL_CONTENTS,
    nr::CSF,
    nr::SEARCHER,
    nr::HANDOVER,
    nr::MIB,
    nr::SERVING,
    nr_rrc::CONNECTION,
    nr_rrc::TIMERS,
    nr_rrc::ALLOCATIONS,
    nr_rrc::ANSWERS,
    nr_rrc::CELLS,
    nr_rrc::MEASUREMENTS,
];

/// Every KPI there is, those of one record together.
pub fn all() -> impl Iterator<Item = &'static NamedKpi> {
    TABLES.iter().copied().flatten()
}

/// The KPI of that name.
pub fn find(name: &str) -> Option<&'static NamedKpi> {
    all().find(|kpi| kpi.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_stands_for_two_kpis() {
        let names: BTreeSet<_> = all().map(|kpi| kpi.name).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn every_path_leads_to_a_field_of_some_version() {
        for kpi in all() {
            assert!(kpi.layouts().next().is_some(), "{}: {} {}", kpi.name, kpi.code, kpi.path());
        }
    }

    #[test]
    fn every_range_has_a_beginning_and_an_end() {
        assert!(all().all(|kpi| kpi.least < kpi.most && kpi.most.is_finite()));
    }

    #[test]
    fn every_integer_of_a_field_is_exact() {
        for kpi in all() {
            let Source::Field { path, .. } = kpi.source else { continue };
            for layout in kpi.layouts() {
                for field in number_at(layout, path).expect("it was found").fields() {
                    // Nine petabytes are enough.
                    let is_exact = field.bits.width() <= 53 || kpi.unit == Unit::Bytes;
                    assert!(is_exact, "{}", kpi.name);
                }
            }
        }
    }
}
