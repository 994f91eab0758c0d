//! Messages of TS 38.331.

use sounding_rrc::Value;

use super::timer;
use super::tree::{Tree, choice, contains, list, message, number, octets, sequence};
use crate::config::UplinkConfig;
use crate::modem::cells::Cell;

/// BSR-Config (§6.3.2).
const PERIODIC: &[(u16, &str)] = &[
    (1, "sf1"),
    (5, "sf5"),
    (10, "sf10"),
    (16, "sf16"),
    (20, "sf20"),
    (32, "sf32"),
    (40, "sf40"),
    (64, "sf64"),
    (80, "sf80"),
    (128, "sf128"),
    (160, "sf160"),
    (320, "sf320"),
    (640, "sf640"),
    (1280, "sf1280"),
    (2560, "sf2560"),
    (u16::MAX, "infinity"),
];
const RETX: &[(u16, &str)] = &[
    (10, "sf10"),
    (20, "sf20"),
    (40, "sf40"),
    (80, "sf80"),
    (160, "sf160"),
    (320, "sf320"),
    (640, "sf640"),
    (1280, "sf1280"),
    (2560, "sf2560"),
    (5120, "sf5120"),
    (10240, "sf10240"),
];

/// RRCSetup: timers of the buffer status.
pub(super) fn setup(transaction: u8, scheduling: &UplinkConfig) -> Tree {
    let reports = sequence([
        ("periodicBSR-Timer", timer(scheduling.periodic_bsr, PERIODIC)),
        ("retxBSR-Timer", timer(scheduling.retx_bsr, RETX)),
    ]);
    let mac = sequence([("bsr-Config", reports), ("skipUplinkTxDynamic", Value::Boolean(false))]);
    let group = sequence([("cellGroupId", number(0)), ("mac-CellGroupConfig", mac)]);
    let says =
        sequence([("radioBearerConfig", sequence([])), ("masterCellGroup", contains(group))]);
    message("rrcSetup", transaction, choice("rrcSetup", says))
}

/// RRCReconfiguration of the master group.
fn reconfiguration(transaction: u8, change: (&'static str, Tree)) -> Tree {
    let group = sequence([("cellGroupId", number(0)), change]);
    let later = sequence([("masterCellGroup", contains(group))]);
    let says = sequence([("nonCriticalExtension", later)]);
    message("rrcReconfiguration", transaction, choice("rrcReconfiguration", says))
}

/// Identity and frequency of a cell.
fn common(cell: &Cell) -> Tree {
    let spacing = Value::Name(match cell.config.numerology {
        0 => "kHz15",
        1 => "kHz30",
        2 => "kHz60",
        _ => "kHz120",
    });
    let carrier = sequence([
        ("offsetToCarrier", number(0)),
        ("subcarrierSpacing", spacing),
        ("carrierBandwidth", number(cell.config.prb.clamp(1, 275))),
    ]);
    let frequency = sequence([
        ("absoluteFrequencySSB", number(cell.config.arfcn)),
        ("frequencyBandList", list(number(band(cell.config.arfcn)))),
        ("absoluteFrequencyPointA", number(cell.config.arfcn)),
        ("scs-SpecificCarrierList", list(carrier)),
    ]);
    sequence([
        ("physCellId", number(cell.config.pci)),
        ("downlinkConfigCommon", sequence([("frequencyInfoDL", frequency)])),
        ("dmrs-TypeA-Position", Value::Name("pos2")),
        ("ss-PBCH-BlockPower", number(0)),
    ])
}

/// A band that has this channel (TS 38.101-1 Table 5.4.2.3-1); n78 where it is in none of these.
const fn band(arfcn: u32) -> u8 {
    match arfcn {
        151_600..=160_600 => 28,
        185_000..=192_000 => 8,
        361_000..=376_000 => 3,
        422_000..=434_000 => 1,
        499_200..=537_999 => 41,
        _ => 78,
    }
}

/// RRCReconfiguration that adds a secondary cell.
pub(super) fn addition(transaction: u8, index: u8, cell: &Cell) -> Tree {
    let cell = sequence([("sCellIndex", number(index)), ("sCellConfigCommon", common(cell))]);
    reconfiguration(transaction, ("sCellToAddModList", list(cell)))
}

/// RRCReconfiguration that takes a secondary cell away.
pub(super) fn removal(transaction: u8, index: u8) -> Tree {
    reconfiguration(transaction, ("sCellToReleaseList", list(number(index))))
}

/// RRCReconfiguration that sends the device to another cell.
pub(super) fn handover(transaction: u8, cell: &Cell) -> Tree {
    let sync = sequence([
        ("spCellConfigCommon", common(cell)),
        ("newUE-Identity", number(0x0100)),
        ("t304", Value::Name("ms1000")),
    ]);
    let cell = sequence([("reconfigurationWithSync", sync)]);
    reconfiguration(transaction, ("spCellConfig", cell))
}

/// RRCReconfiguration that LTE carries: a secondary group with this first cell.
pub(super) fn secondary(transaction: u8, cell: &Cell) -> Tree {
    let sync = sequence([
        ("spCellConfigCommon", common(cell)),
        ("newUE-Identity", number(0x0100)),
        ("t304", Value::Name("ms1000")),
    ]);
    let first = sequence([("servCellIndex", number(1)), ("reconfigurationWithSync", sync)]);
    let group = sequence([("cellGroupId", number(1)), ("spCellConfig", first)]);
    let says = sequence([("secondaryCellGroup", contains(group))]);
    sequence([
        ("rrc-TransactionIdentifier", number(transaction)),
        ("criticalExtensions", choice("rrcReconfiguration", says)),
    ])
}

/// MobilityFromNRCommand: to LTE, with this message of LTE in it.
pub(super) fn to_lte(transaction: u8, told: &[u8]) -> Value<'_> {
    let says = sequence([
        ("targetRAT-Type", Value::Name("eutra")),
        ("targetRAT-MessageContainer", octets(told)),
    ]);
    message("mobilityFromNRCommand", transaction, choice("mobilityFromNRCommand", says))
}

/// RRCRelease.
pub(super) fn release(transaction: u8) -> Tree {
    message("rrcRelease", transaction, choice("rrcRelease", sequence([])))
}

/// RRCReconfigurationComplete.
pub(super) fn complete(transaction: u8) -> Tree {
    let extensions = choice("rrcReconfigurationComplete", sequence([]));
    message("rrcReconfigurationComplete", transaction, extensions)
}
