//! Encoding and decoding give the same value: messages of the captures, and random bits that happen
//! to decode.

#[path = "captures/messages.rs"]
mod messages;

use messages::{for_each_message, published};
use proptest::prelude::*;
use sounding_diag::record::RrcPdu;
use sounding_rrc::{BitStr, EncodeError, Pdu, Value, decode, encode};
use sounding_testdata::shared;

/// Whether the tables know all of it.
fn is_known(value: &Value<'_>) -> bool {
    match value {
        Value::Later(_) => false,
        Value::Sequence(members) => members.iter().all(|(name, value)| {
            !matches!(*name, "later_addition" | "unread_addition") && is_known(value)
        }),
        Value::List(items) => items.iter().all(is_known),
        Value::Choice(_, value) | Value::Contains(value) => is_known(value),
        _ => true,
    }
}

#[test]
fn messages_of_the_captures_come_back() {
    let (mut same, mut longer, mut unknown) = (0_u32, 0_u32, 0_u32);
    for_each_message(|located| {
        let Some(pdu) = located.pdu else { return };
        let value = decode(pdu, located.message).expect("they all decode").value;
        if !is_known(&value) {
            unknown += 1;
            return;
        }
        let written = encode(pdu, &value).unwrap_or_else(|error| panic!("{pdu:?}: {error}"));
        assert_eq!(decode(pdu, &written).expect("it decodes").value, value, "{pdu:?}");
        if located.message.starts_with(&written) {
            same += 1;
        } else {
            longer += 1;
        }
    });
    if shared("captures").is_some() {
        // Networks of later releases also count additions that are absent.
        assert_eq!((same, longer, unknown), (82_544, 7_563, 0));
    }
}

#[test]
fn published_messages_come_back_bit_by_bit() {
    for (pdu, file) in [
        (RrcPdu::LteDlDcch.into(), "lte_DL-DCCH_RRCConnectionReconfiguration_hampi_103B.hex"),
        (Pdu::NrCellGroupConfig, "nr_CellGroupConfig_tdd_392B.hex"),
    ] {
        let Some(message) = published(file) else { continue };
        let value = decode(pdu, &message).expect("it decodes").value;
        let written = encode(pdu, &value).expect("it encodes");
        assert_eq!(decode(pdu, &written).expect("it decodes").value, value, "{file}");
    }
}

#[test]
fn what_is_no_message_is_refused_with_the_member_that_is_wrong() {
    let request = |cause: &'static str| {
        let identity = Value::Choice("randomValue", Box::new(Value::Bits(BitStr::of(&[1; 5]))));
        let request = Value::Sequence(vec![
            ("ue-Identity", identity),
            ("establishmentCause", Value::Name(cause)),
            ("spare", Value::Bits(BitStr::first(&[0], 1).expect("a bit"))),
        ]);
        let version = Value::Choice("rrcConnectionRequest-r8", Box::new(request));
        let request = Value::Sequence(vec![("criticalExtensions", version)]);
        let choice = Value::Choice("rrcConnectionRequest", Box::new(request));
        Value::Sequence(vec![("message", Value::Choice("c1", Box::new(choice)))])
    };
    // TS 36.331 §6.2.2: 5 bits of choices, 40 of identity, 3 of cause.
    let written = encode(RrcPdu::LteUlCcch, &request("mo-Data"));
    assert_eq!(written.as_deref(), Ok(&[0x50, 0x10, 0x10, 0x10, 0x10, 0x18][..]));
    let unknown = encode(RrcPdu::LteUlCcch, &request("boredom"));
    assert_eq!(unknown, Err(EncodeError::Unknown { name: "boredom" }));
    let empty = encode(RrcPdu::LteUlCcch, &Value::Sequence(vec![]));
    assert_eq!(empty, Err(EncodeError::Missing { name: "message" }));
    let null = encode(RrcPdu::LteUlCcch, &Value::Null);
    assert_eq!(null, Err(EncodeError::Type { name: "message" }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_decodes_is_encoded_so_that_it_decodes_the_same(
        kind in 0..Pdu::ALL.len(), message in proptest::collection::vec(any::<u8>(), 1..200),
    ) {
        let pdu = Pdu::ALL[kind];
        // Bytes that should be an encoding and are not stay bytes, and no value of its type is
        // bytes.
        if let Ok(decoded) = decode(pdu, &message)
            && decoded.unread == 0
            && is_known(&decoded.value)
        {
            let written = encode(pdu, &decoded.value);
            let written = written.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(decode(pdu, &written).unwrap().value, decoded.value);
        }
    }
}
