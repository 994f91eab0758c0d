use std::collections::BTreeSet;
use std::vec;

use super::*;
use crate::schema::{Field, Type, all_fields, fields, range, type_at};

/// Parts of names that stand for a person's identity or location, or for a network.
const TELLING: &[&str] = &[
    "plmn",
    "mcc",
    "mnc",
    "imsi",
    "tmsi",
    "i-rnti",
    "cellidentity",
    "cellglobal",
    "cgi",
    "tracking",
    "areacode",
    "location",
    "coordinate",
    "latitude",
    "longitude",
    "altitude",
    "ellips",
    "ssid",
    "wlan",
    "bt-",
    "registered",
    "gummei",
    "guami",
    "trace",
    "mme",
    "amf",
    "nas",
    "identitylist",
    "csg",
    "npn",
    "nid",
    "ue-id",
    "digit",
    "velocity",
    "mobilityhistory",
    "visited",
    "utc",
    "time-",
    "timeinfo",
    "epoch",
    "ephemeris",
    "position",
];

/// Names that contain such a part but mean something else, mostly positions in time and frequency.
const OTHERWISE: &[&str] = &[
    "ai-RNTI-r16",
    "availabilityCombinationId-r16",
    "availabilityCombinationId-r17",
    "beamFailure-r17",
    "beamFailureRecoveryConfig",
    "beamFailureRecoverySCellConfig-r16",
    "beamFailureRecoverySpCellConfig-r17",
    "beamformed-r13",
    "beamformed-v1430",
    "beamformed-v1480",
    "beamformedK1a-r13",
    "beamformedKN-r13",
    "cellForWhichToReportCGI",
    "ci-RNTI-r16",
    "csi-ProcessId-r11",
    "dormancyGroupOutsideActiveTime-r16",
    "dormancyGroupWithinActiveTime-r16",
    "drb-IdentityList",
    "freqDomainPosition",
    "freqDomainPosition-r13",
    "freqDomainPositionAp-r10",
    "freqDomainPositionAp-r13",
    "freqLocation-r15",
    "gp-ncsg0-r14",
    "gp-ncsg1-r14",
    "gp-ncsg2-r14",
    "gp-ncsg3-r14",
    "hysteresisLocation-r17",
    "includeBT-Meas-r15",
    "includeBT-Meas-r16",
    "includeWLAN-Meas-r15",
    "includeWLAN-Meas-r16",
    "intraCellGuardBands-r16",
    "intraCellGuardBandsDL-List-r16",
    "intraCellGuardBandsUL-List-r16",
    "lbt-Config-r14",
    "lbt-FailureRecoveryConfig-r16",
    "locationAndBandwidth",
    "locationAndBandwidthMulticast-r17",
    "locationCE-ModeB-r15",
    "phaseTrackingRS",
    "positionInDCI",
    "positionInDCI-AI-RBGroups-v1720",
    "positionInDCI-AI-r16",
    "positionInDCI-ForSUL-r16",
    "positionInDCI-r16",
    "positionInDCI-r17",
    "ps-PositionDCI-2-6-r16",
    "quantityConfigWLAN-r13",
    "ra-PrioritizationForAccessIdentity-r16",
    "ra-PrioritizationForAccessIdentityTwoStep-r16",
    "rateMatchPatternId",
    "reportCGI",
    "reportQuantityWLAN-r13",
    "ri-Ref-CSI-ProcessId-r11",
    "schedulingRequestID-LBT-SCell-r16",
    "searchSpaceMCCH-r17",
    "sfi-RNTI",
    "slotFormatCombinationId",
    "sp-CSI-RNTI",
    "ssb-PositionsInBurst",
    "ssb-PositionsInBurst-r17",
    "startPosition",
    "startPosition-r16",
    "startPosition-r17",
    "symbolLocation-p0",
    "symbolLocation-p1",
    "txDirectCurrentLocation",
    "ue-TransmitAntennaSelection",
];

/// The names of all members within a type that are numbers, or may have some within.
fn names_within(place: u16, met: &mut BTreeSet<u16>, names: &mut BTreeSet<&'static str>) {
    if !met.insert(place) {
        return;
    }
    match type_at(place) {
        Type::Sequence { first, root, added, .. } | Type::Choice { first, root, added, .. } => {
            for field in fields(first, root + added) {
                let is_shown = !matches!(
                    type_at(field.ty),
                    Type::BitString { .. }
                        | Type::OctetString { .. }
                        | Type::Enumerated { .. }
                        | Type::Boolean
                        | Type::Null
                );
                if is_shown && !CLOSED.contains(&field.name()) {
                    names.insert(field.name());
                    names_within(field.ty, met, names);
                }
            }
        }
        Type::SequenceOf { element, .. } => names_within(element, met, names),
        _ => {}
    }
}

#[test]
fn no_number_within_a_room_identifies_a_person_or_a_place() {
    let (mut met, mut names) = (BTreeSet::new(), BTreeSet::new());
    for field in all_fields().iter().filter(|field| ROOMS.contains(&field.name())) {
        names_within(field.ty, &mut met, &mut names);
    }
    assert!(names.len() > 1000, "{}", names.len());
    names.retain(|name| {
        let lower = name.to_lowercase().replace("allocation", "");
        TELLING.iter().any(|word| lower.contains(word)) && !OTHERWISE.contains(name)
    });
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn every_room_and_every_open_value_is_the_name_of_something() {
    let names: BTreeSet<_> = all_fields().iter().map(Field::name).collect();
    let unknown: Vec<_> = ROOMS.iter().chain(OPEN).filter(|name| !names.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn no_open_value_is_long_enough_for_an_identity() {
    let mut integers = 0;
    for field in all_fields().iter().filter(|field| OPEN.contains(&field.name())) {
        if let Type::Integer { lo, steps, shift } = type_at(field.ty) {
            let (lo, hi) = range(lo, steps, shift);
            // An ARFCN of NR has 22 bits, a temporary identity 32, a cell's 28.
            assert!(hi.abs_diff(lo) < 1 << 22, "{}: {lo}..={hi}", field.name());
            integers += 1;
        }
    }
    assert!(integers > 0, "no open field is an integer");
}

#[test]
fn nothing_of_a_paging_is_shown_but_its_domain() {
    let octets = Value::Octets(crate::BitStr::new(crate::bits::Reader::new(b"\x12\x34")));
    let identity = Value::Choice("imsi", Box::new(Value::List(vec![Value::Integer(2); 15])));
    let record = Value::Sequence(vec![
        ("ue-Identity", identity),
        ("cn-Domain", Value::Name("ps")),
        ("later_addition", octets),
    ]);
    let shown = Value::List(vec![record]).redacted();
    let expected = Value::Sequence(vec![
        ("ue-Identity", REDACTED),
        ("cn-Domain", Value::Name("ps")),
        ("later_addition", REDACTED),
    ]);
    assert_eq!(shown, Value::List(vec![expected]));
}

#[test]
fn a_hidden_part_does_not_show_its_contents() {
    let capability = Value::Sequence(vec![("ue-Category", Value::Integer(4))]);
    let message = Value::Choice("ueCapabilityInformation", Box::new(capability));
    assert_eq!(message.redacted(), REDACTED);
}

#[test]
fn strings_are_not_shown_even_where_numbers_are() {
    let octets = Value::Octets(crate::BitStr::new(crate::bits::Reader::new(b"\x12\x34")));
    let room = Value::Sequence(vec![
        ("key", octets),
        ("count", Value::Integer(3)),
        ("new", Value::Later(9)),
    ]);
    let message = Value::Sequence(vec![("tdd-Config", room)]);
    let expected =
        Value::Sequence(vec![("key", REDACTED), ("count", Value::Integer(3)), ("new", REDACTED)]);
    assert_eq!(message.redacted(), Value::Sequence(vec![("tdd-Config", expected)]));
}

#[test]
fn a_message_within_a_room_has_its_own_rooms() {
    let within =
        Value::Sequence(vec![("digit", Value::Integer(7)), ("waitTime", Value::Integer(3))]);
    let room = Value::Sequence(vec![("container", Value::Contains(Box::new(within)))]);
    let shown = Value::Sequence(vec![("tdd-Config", room)]).redacted();
    let container = shown.at(&["tdd-Config", "container"]);
    assert_eq!(container.and_then(|within| within.get("digit")), Some(&REDACTED));
    assert_eq!(container.and_then(|within| within.get("waitTime")), Some(&Value::Integer(3)));
}
