//! Messages of TS 36.331.

use sounding_rrc::Value;

use super::timer;
use super::tree::{Tree, choice, contains, identity, list, message, number, octets, sequence};
use crate::config::UplinkConfig;
use crate::modem::cells::Cell;

/// PeriodicBSR-Timer-r12 and RetxBSR-Timer-r12 (§6.3.2).
const PERIODIC: &[(u16, &str)] = &[
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
    (320, "sf320"),
    (640, "sf640"),
    (1280, "sf1280"),
    (2560, "sf2560"),
    (5120, "sf5120"),
    (10240, "sf10240"),
];

/// The first sr-ConfigIndex of each period (TS 36.213 Table 10.1.5-1).
const SR: &[(u16, u8)] = &[(1, 157), (2, 155), (5, 0), (10, 5), (20, 15), (40, 35), (80, 75)];

/// RRCConnectionSetup: timers of the buffer status, and when requests may be sent.
pub(super) fn setup(transaction: u8, scheduling: &UplinkConfig) -> Tree {
    let period = scheduling.sr_period.as_millis();
    let sr = SR.iter().find(|(length, _)| u128::from(*length) >= period).or(SR.last());
    let uplink = sequence([
        ("periodicBSR-Timer", timer(scheduling.periodic_bsr, PERIODIC)),
        ("retxBSR-Timer", timer(scheduling.retx_bsr, RETX)),
        ("ttiBundling", Value::Boolean(false)),
    ]);
    let mac = sequence([
        ("ul-SCH-Config", uplink),
        ("timeAlignmentTimerDedicated", Value::Name("infinity")),
    ]);
    let request = sequence([
        ("sr-PUCCH-ResourceIndex", number(0)),
        ("sr-ConfigIndex", number(sr.map_or(5, |(_, index)| *index))),
        ("dsr-TransMax", Value::Name("n64")),
    ]);
    let physical = sequence([("schedulingRequestConfig", choice("setup", request))]);
    let dedicated = sequence([
        ("mac-MainConfig", choice("explicitValue", mac)),
        ("physicalConfigDedicated", physical),
    ]);
    let setup = sequence([("radioResourceConfigDedicated", dedicated)]);
    let extensions = choice("c1", choice("rrcConnectionSetup-r8", setup));
    message("rrcConnectionSetup", transaction, extensions)
}

fn reconfiguration(transaction: u8, says: Tree) -> Tree {
    let extensions = choice("c1", choice("rrcConnectionReconfiguration-r8", says));
    message("rrcConnectionReconfiguration", transaction, extensions)
}

/// The part that release 10 added to the message, after that of releases 8 and 9.
fn of_release_10(transaction: u8, says: Tree) -> Tree {
    let within = |says| sequence([("nonCriticalExtension", says)]);
    reconfiguration(transaction, within(within(within(says))))
}

fn bandwidth(cell: &Cell) -> Tree {
    Value::Name(match cell.config.prb {
        ..=6 => "n6",
        7..=15 => "n15",
        16..=25 => "n25",
        26..=50 => "n50",
        51..=75 => "n75",
        _ => "n100",
    })
}

/// TDD-Config, of a cell that has one (§6.3.2).
fn tdd(cell: &Cell) -> Option<Tree> {
    const ASSIGNMENTS: [&str; 7] = ["sa0", "sa1", "sa2", "sa3", "sa4", "sa5", "sa6"];
    let config = cell.config.lte_tdd()?;
    let assignment = Value::Name(ASSIGNMENTS[usize::from(config.number())]);
    Some(sequence([
        ("subframeAssignment", assignment),
        ("specialSubframePatterns", Value::Name("ssp7")),
    ]))
}

/// The carrier's number. A number too large for the field is in a later field, and this field has
/// its highest value.
fn carrier_number(cell: &Cell) -> (u16, Option<u32>) {
    match u16::try_from(cell.config.arfcn) {
        Ok(fits) if fits < u16::MAX => (fits, None),
        _ => (u16::MAX, Some(cell.config.arfcn)),
    }
}

/// RRCConnectionReconfiguration that adds a secondary cell.
pub(super) fn addition(transaction: u8, index: u8, cell: &Cell) -> Tree {
    let (carrier, later) = carrier_number(cell);
    let identification = sequence([
        ("physCellId-r10", number(cell.config.pci)),
        ("dl-CarrierFreq-r10", number(carrier)),
    ]);
    let mut downlink = alloc::vec![
        ("dl-Bandwidth-r10", bandwidth(cell)),
        ("antennaInfoCommon-r10", sequence([("antennaPortsCount", Value::Name("an2"))])),
        (
            "phich-Config-r10",
            sequence([
                ("phich-Duration", Value::Name("normal")),
                ("phich-Resource", Value::Name("one")),
            ]),
        ),
        (
            "pdsch-ConfigCommon-r10",
            sequence([("referenceSignalPower", number(15)), ("p-b", number(1))]),
        ),
    ];
    downlink.extend(tdd(cell).map(|tdd| ("tdd-Config-r10", tdd)));
    let downlink = Value::Sequence(downlink);
    let mut cell = alloc::vec![
        ("sCellIndex-r10", number(index)),
        ("cellIdentification-r10", identification),
        ("radioResourceConfigCommonSCell-r10", sequence([("nonUL-Configuration-r10", downlink)]),),
    ];
    if let Some(later) = later {
        cell.push(("dl-CarrierFreq-v1090", number(later)));
    }
    let cells = list(Value::Sequence(cell));
    of_release_10(transaction, sequence([("sCellToAddModList-r10", cells)]))
}

/// RRCConnectionReconfiguration that takes a secondary cell away.
pub(super) fn removal(transaction: u8, index: u8) -> Tree {
    of_release_10(transaction, sequence([("sCellToReleaseList-r10", list(number(index)))]))
}

/// RRCConnectionReconfiguration that sends the device to another cell.
pub(super) fn handover(transaction: u8, cell: &Cell) -> Tree {
    let (carrier, later) = carrier_number(cell);
    let basic = sequence([
        ("n-SB", number(1)),
        ("hoppingMode", Value::Name("interSubFrame")),
        ("pusch-HoppingOffset", number(0)),
        ("enable64QAM", Value::Boolean(true)),
    ]);
    let signals = sequence([
        ("groupHoppingEnabled", Value::Boolean(false)),
        ("groupAssignmentPUSCH", number(0)),
        ("sequenceHoppingEnabled", Value::Boolean(false)),
        ("cyclicShift", number(0)),
    ]);
    let mut common = alloc::vec![
        ("prach-Config", sequence([("rootSequenceIndex", number(0))])),
        (
            "pusch-ConfigCommon",
            sequence([("pusch-ConfigBasic", basic), ("ul-ReferenceSignalsPUSCH", signals)]),
        ),
        ("ul-CyclicPrefixLength", Value::Name("len1")),
    ];
    common.extend(tdd(cell).map(|tdd| ("tdd-Config", tdd)));
    let mut target = alloc::vec![
        ("targetPhysCellId", number(cell.config.pci)),
        ("carrierFreq", sequence([("dl-CarrierFreq", number(carrier))])),
        ("carrierBandwidth", sequence([("dl-Bandwidth", bandwidth(cell))])),
        ("t304", Value::Name("ms1000")),
        ("newUE-Identity", identity()),
        ("radioResourceConfigCommon", Value::Sequence(common)),
    ];
    if let Some(later) = later {
        target.push(("carrierFreq-v9e0", sequence([("dl-CarrierFreq-v9e0", number(later))])));
    }
    reconfiguration(transaction, sequence([("mobilityControlInfo", Value::Sequence(target))]))
}

/// Wraps a member of release 15: RRCConnectionReconfiguration-v1510-IEs is inside eight nested
/// extensions.
fn of_release_15(transaction: u8, says: Tree) -> Tree {
    let within = |says, _| sequence([("nonCriticalExtension", says)]);
    reconfiguration(transaction, (0..8).fold(says, within))
}

/// RRCConnectionReconfiguration that adds a secondary group of NR, by a message of NR.
pub(super) fn secondary(transaction: u8, of_nr: Tree) -> Tree {
    let setup = sequence([
        ("endc-ReleaseAndAdd-r15", Value::Boolean(false)),
        ("nr-SecondaryCellGroupConfig-r15", contains(of_nr)),
    ]);
    of_release_15(transaction, sequence([("nr-Config-r15", choice("setup", setup))]))
}

/// RRCConnectionReconfiguration that releases it.
pub(super) fn no_secondary(transaction: u8) -> Tree {
    let release = sequence([("nr-Config-r15", choice("release", Value::Null))]);
    of_release_15(transaction, release)
}

/// SCGFailureInformationNR: the device has lost the secondary group.
pub(super) fn secondary_failed() -> Tree {
    const KIND: &str = "scgFailureInformationNR-r15";
    let report = sequence([("failureType-r15", Value::Name("t310-Expiry"))]);
    let says = sequence([("failureReportSCG-NR-r15", report)]);
    let body = sequence([("criticalExtensions", choice("c1", choice(KIND, says)))]);
    let kind = choice("c2", choice(KIND, body));
    sequence([("message", choice("messageClassExtension", kind))])
}

/// MobilityFromEUTRACommand: to NR, with this message of NR in it.
pub(super) fn to_nr(transaction: u8, told: &[u8]) -> Value<'_> {
    let handover = sequence([
        ("targetRAT-Type", Value::Name("nr")),
        ("targetRAT-MessageContainer", octets(told)),
    ]);
    let says = sequence([
        ("cs-FallbackIndicator", Value::Boolean(false)),
        ("purpose", choice("handover", handover)),
    ]);
    let extensions = choice("c1", choice("mobilityFromEUTRACommand-r8", says));
    message("mobilityFromEUTRACommand", transaction, extensions)
}

/// RRCConnectionRelease.
pub(super) fn release(transaction: u8) -> Tree {
    let says = sequence([("releaseCause", Value::Name("other"))]);
    let extensions = choice("c1", choice("rrcConnectionRelease-r8", says));
    message("rrcConnectionRelease", transaction, extensions)
}

/// RRCConnectionReconfigurationComplete.
pub(super) fn complete(transaction: u8) -> Tree {
    let extensions = choice("rrcConnectionReconfigurationComplete-r8", sequence([]));
    message("rrcConnectionReconfigurationComplete", transaction, extensions)
}
