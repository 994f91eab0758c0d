use std::ffi::c_char;

use sounding_kpi::board;
use sounding_kpi::registry::NamedKpi;
use sounding_units::HostInstant;

/// `OD_STALE`.
pub(crate) const STALE: u32 = 1;

/// `OD_NAME_MAX`.
pub(crate) const NAME_MAX: usize = 64;
/// `OD_UNIT_MAX`.
pub(crate) const UNIT_MAX: usize = 16;

/// `struct od_sample`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// In the unit of the KPI.
    pub value: f64,
    /// All values so far added up, in the same unit.
    pub total: f64,
    /// The number of values until now.
    pub sequence: u64,
    /// The position of the item in its record, packed.
    pub item: u64,
    /// Nanoseconds since 1970 by the modem's clock; 0 if it stamped no time.
    pub modem_unix_ns: u64,
    /// Nanoseconds of CLOCK_MONOTONIC; 0 in a capture.
    pub received_ns: u64,
    /// Nanoseconds since then; 0 in a capture.
    pub age_ns: u64,
    /// Number of the subscription.
    pub kpi: u32,
    /// `OD_STALE` or 0.
    pub flags: u32,
}

/// `struct od_kpi`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpiInfo {
    /// Its name, zero-terminated.
    pub name: [c_char; NAME_MAX],
    /// Its unit, zero-terminated.
    pub unit: [c_char; UNIT_MAX],
    /// The smallest value, in its unit.
    pub least: f64,
    /// The largest, in its unit.
    pub most: f64,
    /// Log code of its record.
    pub code: u32,
    /// Zero.
    pub reserved: u32,
}

impl Sample {
    /// A sample of a board.
    pub(crate) fn of(kpi: usize, sample: &board::Sample, now: HostInstant, stale: bool) -> Self {
        let age = now - sample.received_at;
        Self {
            value: sample.value,
            total: sample.total,
            sequence: sample.sequence,
            item: sample.item,
            modem_unix_ns: sample.modem_at.known_unix_nanos().unwrap_or(0),
            received_ns: sample.received_at.as_nanos(),
            age_ns: u64::try_from(age.as_nanos()).unwrap_or(u64::MAX),
            kpi: kpi as u32,
            flags: if stale { STALE } else { 0 },
        }
    }
}

impl KpiInfo {
    pub(crate) fn of(kpi: &NamedKpi) -> Self {
        Self {
            name: padded(kpi.name),
            unit: padded(&kpi.unit.to_string()),
            least: kpi.least,
            most: kpi.most,
            code: u32::from(kpi.code.number()),
            reserved: 0,
        }
    }
}

/// With at least one zero at the end.
pub(crate) fn padded<const N: usize>(text: &str) -> [c_char; N] {
    let mut padded = [0; N];
    for (to, byte) in padded[..N - 1].iter_mut().zip(text.bytes()) {
        *to = byte.cast_signed() as c_char;
    }
    padded
}
