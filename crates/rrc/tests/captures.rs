//! Every RRC message of the real captures decodes, whole.

#[path = "captures/messages.rs"]
mod messages;

use std::collections::BTreeMap;

use messages::for_each_message;
use sounding_diag::record::RrcPdu;
use sounding_rrc::{MAX_DEPTH, MAX_VALUES, Value, decode};
use sounding_testdata::shared;

fn depth(value: &Value<'_>) -> u32 {
    let within = match value {
        Value::Sequence(members) => members.iter().map(|(_, value)| depth(value)).max(),
        Value::List(items) => items.iter().map(depth).max(),
        Value::Choice(_, value) | Value::Contains(value) => Some(depth(value)),
        _ => None,
    };
    1 + within.unwrap_or(0)
}

fn count(value: &Value<'_>) -> u32 {
    let within: u32 = match value {
        Value::Sequence(members) => members.iter().map(|(_, value)| count(value)).sum(),
        Value::List(items) => items.iter().map(count).sum(),
        Value::Choice(_, value) | Value::Contains(value) => count(value),
        _ => 0,
    };
    1 + within
}

/// Broadcast is padded to the size of its transport block, paging and one record of it in a
/// thousand to more.
fn is_padded(pdu: RrcPdu) -> bool {
    use RrcPdu::{LteBcchDlSch, LtePcch, NbBcchDlSch, NrBcchBch};
    matches!(pdu, LteBcchDlSch | LtePcch | NbBcchDlSch | NrBcchBch)
}

#[test]
fn every_message_of_the_captures_decodes() {
    let mut counts: BTreeMap<RrcPdu, u64> = BTreeMap::new();
    let (mut undescribed, mut deepest, mut most) = (0, 0, 0);
    for_each_message(|located| {
        let Some(pdu) = located.pdu else {
            undescribed += 1;
            return;
        };
        let decoded =
            decode(pdu, located.message).unwrap_or_else(|error| panic!("{pdu:?}: {error}"));
        assert_eq!(decoded.unread, 0, "{pdu:?}: {:?}", decoded.value);
        assert!(decoded.left_bits < 8 || is_padded(pdu), "{pdu:?}: {}", decoded.left_bits);
        *counts.entry(pdu).or_default() += 1;
        deepest = deepest.max(depth(&decoded.value));
        most = most.max(count(&decoded.value));
    });
    if shared("captures").is_none() {
        return;
    }
    let counts: Vec<(&str, u64)> = counts.iter().map(|(pdu, n)| (pdu.name(), *n)).collect();
    assert_eq!(
        counts,
        [
            ("lte_bcch_dl_sch", 9980),
            ("lte_pcch", 46478),
            ("lte_dl_ccch", 1394),
            ("lte_dl_dcch", 9905),
            ("lte_ul_ccch", 1396),
            ("lte_ul_dcch", 18881),
            ("nb_bcch_dl_sch", 1),
            ("nb_dl_ccch", 1),
            ("nb_dl_dcch", 6),
            ("nb_ul_ccch", 1),
            ("nb_ul_dcch", 6),
            ("nr_bcch_bch", 256),
            ("nr_ul_dcch", 643),
            ("nr_reconfiguration", 356),
            ("nr_reconfiguration_complete", 353),
            ("nr_radio_bearer_config", 450),
        ]
    );
    assert_eq!(undescribed, 4, "an undescribed number, in NR's records of version 8");
    assert!(deepest < MAX_DEPTH / 2 && most < MAX_VALUES / 10, "{deepest} deep, {most} values");
}
