//! Messages that others published with their own decoders, against the values that those print.

use sounding_diag::record::RrcPdu;
#[path = "captures/messages.rs"]
#[allow(dead_code, reason = "captures have a test of their own")]
mod messages;

use messages::published;
use sounding_rrc::{Decoded, Pdu, Value, decode};

fn whole(pdu: Pdu, message: &[u8]) -> Decoded<'_> {
    let decoded = decode(pdu, message).expect("a published message decodes");
    assert_eq!(decoded.unread, 0);
    decoded
}

fn integer(value: &Value<'_>, name: &str) -> i64 {
    value.find(name).and_then(Value::integer).unwrap_or_else(|| panic!("there is no {name}"))
}

fn name(value: &Value<'_>, name: &str) -> &'static str {
    value.find(name).and_then(Value::name).unwrap_or_else(|| panic!("there is no {name}"))
}

#[test]
fn a_handover_command_of_lte() {
    let file = "lte_DL-DCCH_RRCConnectionReconfiguration_hampi_103B.hex";
    let Some(bytes) = published(file) else { return };
    let value = whole(RrcPdu::LteDlDcch.into(), &bytes).value;
    assert_eq!(integer(&value, "targetPhysCellId"), 215);
    assert_eq!(name(&value, "t304"), "ms1000");
    assert_eq!(integer(&value, "sr-ConfigIndex"), 5);
}

#[test]
fn system_information_of_lte() {
    let Some(bytes) = published("lte_BCCH-DL-SCH_SIB1_hampi_32B.hex") else { return };
    let value = whole(RrcPdu::LteBcchDlSch.into(), &bytes).value;
    let digits = |name: &str| -> Vec<_> {
        value.find(name).map_or(&[][..], Value::items).iter().filter_map(Value::integer).collect()
    };
    assert_eq!((digits("mcc"), digits("mnc")), (vec![3, 1, 0], vec![4, 1, 0]));
    assert_eq!(value.find("trackingAreaCode").and_then(Value::number), Some(0x1207));
    assert_eq!(value.find("cellIdentity").and_then(Value::number), Some(0x9FB_5E16));
}

#[test]
fn cell_groups_of_nr() {
    let Some(bytes) = published("nr_CellGroupConfig_tdd_392B.hex") else { return };
    let value = whole(Pdu::NrCellGroupConfig, &bytes).value;
    assert_eq!(name(&value, "periodicBSR-Timer"), "sf20");
    assert_eq!(name(&value, "retxBSR-Timer"), "sf320");
    assert_eq!(integer(&value, "physCellId"), 500);
    assert_eq!(integer(&value, "absoluteFrequencySSB"), 632_640);
    assert_eq!(integer(&value, "k2"), 4);

    let Some(bytes) = published("nr_CellGroupConfig_srsran_test_298B.hex") else { return };
    let value = whole(Pdu::NrCellGroupConfig, &bytes).value;
    assert_eq!(name(&value, "periodicBSR-Timer"), "sf10");
    assert_eq!(name(&value, "retxBSR-Timer"), "sf80");
}
