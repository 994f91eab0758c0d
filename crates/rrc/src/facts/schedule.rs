//! The slots and symbols of uplink and downlink.

use alloc::vec::Vec;

use serde::Serialize;

use super::number;
use crate::Value;

/// One of the time-domain allocations that a grant can choose. TS 38.214 §5.1.2.1 and §6.1.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimeAllocation {
    /// Slots from the grant to the granted transmission, K0 or K2. `None`: K0 is 0, and K2 depends
    /// on the subcarrier spacing: 1 up to 30 kHz, 2 at 60 kHz, 3 at 120 kHz.
    pub slots: Option<u8>,
    /// Whether it starts at the beginning of a slot, mapping type A; anywhere in it otherwise.
    pub slot_based: bool,
    /// The first symbol, 0..=13.
    pub start: u8,
    /// Symbols, 1..=14.
    pub symbols: u8,
}

/// The allocations of a plain list or of a setup; `None` for a release.
pub(super) fn time_allocations(list: &Value<'_>, slots: &str) -> Option<Vec<TimeAllocation>> {
    let list = list.get("setup").unwrap_or(list);
    let allocation = |item: &Value<'_>| {
        let coded = u32::try_from(item.get("startSymbolAndLength")?.integer()?).ok()?;
        let (start, symbols) = number::start_and_length(coded, 14);
        Some(TimeAllocation {
            slots: item.get(slots).and_then(Value::integer).map(|slots| slots as u8),
            slot_based: item.get("mappingType")?.name()? == "typeA",
            start: start as u8,
            symbols: symbols as u8,
        })
    };
    let found: Option<Vec<_>> = list.items().iter().map(allocation).collect();
    found.filter(|found| !found.is_empty())
}

/// `dl-DataToUL-ACK` of `PUCCH-Config`, TS 38.331 §6.3.2.
pub(super) fn answer_offsets(list: &Value<'_>) -> Option<Vec<u8>> {
    let slots = |item: &Value<'_>| u8::try_from(item.integer()?).ok();
    let found: Option<Vec<u8>> = list.items().iter().map(slots).collect();
    found.filter(|found| !found.is_empty())
}

/// The uplink and downlink subframes of a cell: TS 36.211 Tables 4.2-1 and 4.2-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LteTdd {
    /// Uplink-downlink configuration, 0..=6.
    pub assignment: u8,
    /// Special subframe configuration, 0..=9.
    pub special: u8,
}

impl LteTdd {
    /// `TDD-Config`, TS 36.331 §6.3.2.
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        Some(Self {
            assignment: number::at(value, &["subframeAssignment"])? as u8,
            special: number::at(value, &["specialSubframePatterns"])? as u8,
        })
    }
}

/// The uplink and downlink slots of a cell. If there are two patterns, they alternate. TS 38.213
/// §11.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NrTdd {
    /// The subcarrier spacing whose slots are counted, in kHz.
    pub reference_khz: u16,
    /// The pattern.
    pub first: SlotPattern,
    /// The one after it.
    pub second: Option<SlotPattern>,
}

/// Slots down, then symbols down, a gap, symbols up, and slots up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SlotPattern {
    /// Its length in microseconds.
    pub period_us: u32,
    /// Whole slots down.
    pub down_slots: u16,
    /// Symbols down in the slot after them.
    pub down_symbols: u8,
    /// Whole slots up.
    pub up_slots: u16,
    /// Symbols up in the slot before them.
    pub up_symbols: u8,
}

impl NrTdd {
    /// `TDD-UL-DL-ConfigCommon`, TS 38.331 §6.3.2.
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        Some(Self {
            reference_khz: number::at(value, &["referenceSubcarrierSpacing"])? as u16,
            first: SlotPattern::of(value.get("pattern1")?)?,
            second: value.get("pattern2").and_then(SlotPattern::of),
        })
    }
}

impl SlotPattern {
    fn of(value: &Value<'_>) -> Option<Self> {
        let count = |name| value.get(name)?.integer();
        // A later release added periods in a separate field. The old field then holds the nearest
        // old period.
        let later = value.get("dl-UL-TransmissionPeriodicity-v1530");
        let period = later.or(value.get("dl-UL-TransmissionPeriodicity"))?;
        Some(Self {
            period_us: number::micros_of_name(period.name()?)?,
            down_slots: count("nrofDownlinkSlots")? as u16,
            down_symbols: count("nrofDownlinkSymbols")? as u8,
            up_slots: count("nrofUplinkSlots")? as u16,
            up_symbols: count("nrofUplinkSymbols")? as u8,
        })
    }
}
