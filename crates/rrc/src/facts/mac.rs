//! The times at which a device asks for grants, and its sleep cycle.

use serde::Serialize;

use super::number;
use crate::Value;

/// The times at which the device may ask for a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SchedulingRequest {
    /// The number of the request configuration. LTE has one.
    pub id: u8,
    /// The time between two opportunities.
    pub period: Period,
    /// Subframes or slots into the period.
    pub offset: u16,
}

/// A length of time in the units of a radio frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// Subframes of a millisecond.
    Subframes(u16),
    /// Slots, which are as long as the subcarrier spacing makes them.
    Slots(u16),
    /// Symbols of a slot. If six and seven alternate, this is six.
    Symbols(u16),
}

impl SchedulingRequest {
    /// TS 36.213 Table 10.1.5-1.
    pub(super) fn of_lte(index: &Value<'_>) -> Option<Self> {
        let index = u16::try_from(index.integer()?).ok()?;
        let (period, first) = match index {
            0..=4 => (5, 0),
            5..=14 => (10, 5),
            15..=34 => (20, 15),
            35..=74 => (40, 35),
            75..=154 => (80, 75),
            155..=156 => (2, 155),
            157 => (1, 157),
            _ => return None,
        };
        Some(Self { id: 0, period: Period::Subframes(period), offset: index - first })
    }

    /// `SchedulingRequestResourceConfig`, TS 38.331 §6.3.2.
    pub(super) fn of_nr(resource: &Value<'_>) -> Option<Self> {
        let id = resource.get("schedulingRequestID")?.integer()?;
        let (name, offset) = resource.get("periodicityAndOffset")?.chosen()?;
        let count = number::of_name(name)? as u16;
        let period =
            if name.starts_with("sym") { Period::Symbols(count) } else { Period::Slots(count) };
        let offset = offset.integer().unwrap_or(0);
        Some(Self { id: id as u8, period, offset: offset as u16 })
    }
}

/// The times for which the device is awake and may sleep. LTE counts only subframes with a control
/// channel. In TDD other subframes are between them, so the device is awake for longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drx {
    /// Awake at the beginning of a cycle, in microseconds.
    pub on_us: u32,
    /// Awake after a grant, in microseconds.
    pub inactivity_us: u32,
    /// A cycle, in milliseconds.
    pub cycle_ms: u32,
    /// Its start within the cycle, in milliseconds.
    pub offset_ms: u32,
    /// A short cycle that comes before long ones, in milliseconds.
    pub short_cycle_ms: Option<u32>,
    /// The number of short cycles.
    pub short_cycles: Option<u8>,
}

/// `DRX-Config` of TS 36.331 and TS 38.331 §6.3.2; `Some(None)` for a release.
pub(super) fn drx(value: &Value<'_>) -> Option<Option<Drx>> {
    let config = match value.chosen()? {
        ("release", _) => return Some(None),
        ("setup", config) => config,
        _ => return None,
    };
    let lte = config.get("onDurationTimer").is_some();
    let cycle =
        config.get(if lte { "longDRX-CycleStartOffset" } else { "drx-LongCycleStartOffset" })?;
    let (cycle, offset) = cycle.chosen()?;
    let on_us = match config.at(&["drx-onDurationTimer", "subMilliSeconds"]) {
        // The unit is 1/32 of a millisecond.
        Some(count) => u32::try_from(count.integer()?).ok()? * 1000 / 32,
        None if lte => number::at(config, &["onDurationTimer"])? * 1000,
        None => number::at(config, &["drx-onDurationTimer", "milliSeconds"])? * 1000,
    };
    let short = config.get("shortDRX");
    let (short_cycle, count) = match lte {
        true => ("shortDRX-Cycle", "drxShortCycleTimer"),
        false => ("drx-ShortCycle", "drx-ShortCycleTimer"),
    };
    Some(Some(Drx {
        on_us,
        inactivity_us: number::at(config, &["drx-InactivityTimer"])? * 1000,
        cycle_ms: number::of_name(cycle)?,
        offset_ms: u32::try_from(offset.integer()?).ok()?,
        short_cycle_ms: short.and_then(|short| number::at(short, &[short_cycle])),
        short_cycles: short.and_then(|short| Some(short.get(count)?.integer()? as u8)),
    }))
}
