//! Facts from messages: published ones, ones from another encoder, and those of the captures.

#[path = "captures/messages.rs"]
mod messages;

use std::collections::BTreeMap;

use messages::{for_each_message, published};
use sounding_diag::record::RrcPdu;
use sounding_rrc::facts::{
    BandwidthPart, Carrier, Drx, Event, Fact, Facts, Known, LteTdd, MasterInformation, Network,
    NrTdd, Period, Place, Rat, SchedulingRequest, SlotPattern, SystemInformation, Target,
    TimeAllocation, facts,
};
use sounding_rrc::{Pdu, decode};
use sounding_testdata::shared;

fn read(pdu: impl Into<Pdu>, message: &[u8]) -> Facts {
    let pdu = pdu.into();
    let decoded = decode(pdu, message).expect("the message decodes");
    facts(pdu, &decoded.value)
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("messages are written in hex");
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn known(facts: &Facts) -> Vec<&Known> {
    facts.facts.iter().map(|fact| &fact.known).collect()
}

/// From another encoder, with made-up values.
#[test]
fn broadcast_of_a_standalone_cell_of_nr() {
    let message = "44000820020100c0de12345678984213400000008c88d6d8d1806ab62424020a80d8028c80";
    let facts = read(RrcPdu::NrBcchDlSch, &bytes(message));
    assert_eq!((facts.message, facts.event), ("systemInformationBlockType1", None));
    let allocation =
        |slots, slot_based, start, symbols| TimeAllocation { slots, slot_based, start, symbols };
    let pattern =
        SlotPattern { period_us: 2500, down_slots: 3, down_symbols: 6, up_slots: 1, up_symbols: 4 };
    assert_eq!(
        known(&facts),
        [
            &Known::SystemInformation(SystemInformation {
                networks: vec![Network { mcc: Some("001".into()), mnc: "01".into() }],
                tac: Some(0xC0DE),
                cell_identity: 0x1_2345_6789,
                band: None,
            }),
            &Known::Carrier(Carrier { spacing_khz: 30, bandwidth_prb: 51 }),
            &Known::BandwidthPart(BandwidthPart {
                spacing_khz: 30,
                start_prb: 0,
                bandwidth_prb: 51
            }),
            // 53 = 14 · (14 − L + 1) + 14 − 1 − S, 54 likewise: TS 38.214 §5.1.2.1.
            &Known::PdschTimeAllocations(vec![
                allocation(Some(0), true, 2, 12),
                allocation(None, false, 1, 12),
            ]),
            &Known::NrTdd(NrTdd { reference_khz: 30, first: pattern, second: None }),
        ]
    );
}

#[test]
fn the_master_information_block_of_lte() {
    let facts = read(RrcPdu::LteBcchBch, &bytes("6a9400"));
    let block = MasterInformation { bandwidth_prb: Some(50), spacing_khz: None, frame_high: 0xA5 };
    assert_eq!(known(&facts), [&Known::MasterInformation(block)]);
    assert_eq!(facts.message, "masterInformationBlock");
}

#[test]
fn a_release_that_suspends_is_not_an_end() {
    let facts = read(RrcPdu::NrDlDcch, &bytes("122055e6f091a2d5e6f7ac"));
    assert_eq!((facts.message, facts.event), ("rrcRelease", Some(Event::Suspend)));
}

#[test]
fn secondary_cells_of_nr_come_and_go() {
    let message = "020c00a8988004260009a925d7800984b8fc00001349e00800";
    let facts = read(RrcPdu::NrDlDcch, &bytes(message));
    assert_eq!(facts.event, Some(Event::Reconfiguration));
    let target = Target {
        pci: Some(77),
        arfcn: Some(620_000),
        band: Some(77),
        bandwidth_prb: Some(106),
        timeout_ms: None,
    };
    let group = Place { nr: true, ..Place::default() };
    let cell = Place { scell: Some(3), ..group };
    let carrier = Carrier { spacing_khz: 30, bandwidth_prb: 106 };
    assert_eq!(
        facts.facts,
        [
            Fact { place: group, known: Known::Drx(None) },
            Fact { place: cell, known: Known::ScellAdded(target) },
            Fact { place: cell, known: Known::Carrier(carrier) },
            Fact { place: group, known: Known::ScellReleased(5) },
        ]
    );
}

#[test]
fn a_published_handover_command_of_lte() {
    let file = "lte_DL-DCCH_RRCConnectionReconfiguration_hampi_103B.hex";
    let Some(message) = published(file) else { return };
    let facts = read(RrcPdu::LteDlDcch, &message);
    assert_eq!(facts.event, Some(Event::Handover));
    let request = SchedulingRequest { id: 0, period: Period::Subframes(10), offset: 0 };
    let target = Target { pci: Some(215), timeout_ms: Some(1000), ..Target::default() };
    let found = known(&facts);
    assert!(found.contains(&&Known::Handover(target)), "{found:?}");
    assert!(found.contains(&&Known::SchedulingRequest(request)), "{found:?}");
}

#[test]
fn a_published_cell_group_of_nr() {
    let Some(message) = published("nr_CellGroupConfig_tdd_392B.hex") else { return };
    let facts = read(Pdu::NrCellGroupConfig, &message);
    let found = known(&facts);
    assert!(found.contains(&&Known::PeriodicBsrTimer(Some(20))), "{found:?}");
    assert!(found.contains(&&Known::RetxBsrTimer(Some(320))), "{found:?}");
    let request = SchedulingRequest { id: 0, period: Period::Slots(40), offset: 8 };
    assert!(found.contains(&&Known::SchedulingRequest(request)), "{found:?}");
    let uplink = found.iter().find_map(|known| match known {
        Known::PuschTimeAllocations(list) => Some(list),
        _ => None,
    });
    // Another decoder, pycrate, reads the same.
    assert!(found.contains(&&Known::AnswerOffsets(vec![8, 7, 6, 5, 4, 12, 11])), "{found:?}");
    // 27 = 14 · (14 − L + 1) + 14 − 1 − S.
    let offsets: Vec<_> = uplink.expect("it has some").iter().map(|one| one.slots).collect();
    assert_eq!(offsets, [Some(4), Some(5)]);
    let whole = |one: &TimeAllocation| (one.start, one.symbols) == (0, 14);
    assert!(uplink.expect("it has some").iter().all(whole), "{uplink:?}");
}

/// The facts of the captures, counted: a change here is a change of what is found.
#[test]
fn facts_of_the_captures() {
    let mut events: BTreeMap<Event, u64> = BTreeMap::new();
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for_each_message(|located| {
        let Some(pdu) = located.pdu else { return };
        let facts = read(pdu, located.message);
        assert!(!facts.message.is_empty(), "{pdu:?}");
        if let Some(event) = facts.event {
            *events.entry(event).or_default() += 1;
        }
        for Fact { place, known } in &facts.facts {
            plausible(known);
            let known = format!("{known:?}");
            let kind = known.split('(').next().unwrap_or_default();
            *kinds.entry(format!("{kind} {}", if place.nr { "nr" } else { "lte" })).or_default() +=
                1;
        }
    });
    if shared("captures").is_none() {
        return;
    }
    let text: Vec<String> = events.iter().map(|(event, n)| format!("{event:?} {n}")).collect();
    assert_eq!(text.join(", "), EVENTS);
    let text: Vec<String> = kinds.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    assert_eq!(text.join(", "), KINDS);
}

const EVENTS: &str = "Paging 46478, Request 1318, Setup 1318, SetupComplete 1282, Reject 3, \
    Reconfiguration 5576, Handover 714, ReconfigurationComplete 6228, ReestablishmentRequest 79, \
    Reestablishment 64, ReestablishmentComplete 61, ReestablishmentReject 10, Release 1180, \
    SecurityMode 1102, MeasurementReport 8416, SecondaryFailure 22";
const KINDS: &str = "AnswerOffsets nr 709, BandwidthPart nr 1022, Carrier nr 1022, Drx lte 1734, Drx nr 181, \
    Handover lte 714, Handover nr 511, LteTdd lte 1820, MasterInformation nr 256, McsTable nr 1418, \
    Measurement lte 7773, Measurement nr 1279, NrTdd nr 511, PdschTimeAllocations nr 1220, \
    PeriodicBsrTimer lte 2168, PeriodicBsrTimer nr 666, PuschTimeAllocations nr 1220, \
    RetxBsrTimer lte 2170, RetxBsrTimer nr 666, ScellAdded lte 180, ScellReleased lte 43, \
    SchedulingRequest lte 2378, SchedulingRequest nr 709, SystemInformation lte 3954";

/// Checks that numbers are within the range of the specifications. Numbers from a wrong field would
/// be outside.
fn plausible(known: &Known) {
    match known {
        Known::Measurement(report) => {
            for cell in &report.cells {
                let lowest = if cell.rat == Rat::Nr { -157.0 } else { -141.0 };
                assert!(
                    cell.rsrp_dbm.is_none_or(|dbm| (lowest..=-30.0).contains(&dbm)),
                    "{cell:?}"
                );
                assert!(cell.rsrq_db.is_none_or(|db| (-43.5..=20.0).contains(&db)), "{cell:?}");
            }
        }
        Known::Drx(Some(Drx { cycle_ms, offset_ms, .. })) => assert!(offset_ms < cycle_ms),
        Known::SchedulingRequest(SchedulingRequest { period, offset, .. }) => match period {
            Period::Subframes(period) | Period::Slots(period) => assert!(offset < period),
            Period::Symbols(_) => {}
        },
        Known::LteTdd(LteTdd { assignment, special }) => assert!(*assignment < 7 && *special < 11),
        Known::PdschTimeAllocations(list) | Known::PuschTimeAllocations(list) => {
            assert!(list.iter().all(|one| one.start + one.symbols <= 14), "{list:?}");
        }
        Known::BandwidthPart(part) => assert!(part.start_prb + part.bandwidth_prb <= 275),
        Known::NrTdd(NrTdd { reference_khz, first, .. }) => {
            let slots = first.period_us * u32::from(*reference_khz) / 15 / 1000;
            assert!(u32::from(first.down_slots + first.up_slots) <= slots, "{first:?}");
        }
        _ => {}
    }
}

/// The modem says through which cell a message came, and the command through which it shall.
#[test]
fn devices_answer_through_the_cell_they_were_handed_to() {
    let mut awaited: Option<(String, Target)> = None;
    let (mut same, mut elsewhere) = (0, 0);
    for_each_message(|located| {
        let Some(pdu @ (RrcPdu::LteDlDcch | RrcPdu::LteUlDcch | RrcPdu::LteUlCcch)) = located.pdu
        else {
            return;
        };
        let facts = read(pdu, located.message);
        let target = facts.facts.iter().find_map(|fact| match fact.known {
            Known::Handover(target) if !fact.place.nr => Some(target),
            _ => None,
        });
        if let Some(target) = target {
            awaited = Some((located.file.to_owned(), target));
        } else if facts.event == Some(Event::ReconfigurationComplete)
            && let Some((file, target)) = awaited.take()
            && file == located.file
        {
            let arfcn = target.arfcn.unwrap_or(located.arfcn);
            if (Some(located.pci), located.arfcn) == (target.pci, arfcn) {
                same += 1;
            } else {
                elsewhere += 1;
            }
        } else if matches!(facts.event, Some(Event::Request | Event::ReestablishmentRequest)) {
            // The handover failed.
            awaited = None;
        }
    });
    if shared("captures").is_some() {
        assert_eq!((same, elsewhere), (699, 0));
    }
}
