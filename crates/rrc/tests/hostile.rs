//! Any bits decode or are an error, within bounds.

mod targets;

use proptest::collection::vec;
use proptest::prelude::*;
use sounding_diag::record::RrcPdu;
use sounding_rrc::{Fault, Pdu, decode};

proptest! {
    #[test]
    fn random_messages_do_no_harm(data in vec(any::<u8>(), 0..600)) {
        targets::rrc(&data);
    }

    #[test]
    fn messages_of_few_bits_do_no_harm(kind: u8, data in vec(prop::sample::select(vec![0u8, 0, 0, 1, 4, 0x40, 0xFF]), 0..600)) {
        targets::rrc(&[&[kind], data.as_slice()].concat());
    }
}

/// A message decodes from exactly its bits: bits after it do not matter, missing bits do.
#[test]
fn a_message_ends_where_its_last_value_does() {
    for (kind, &pdu) in Pdu::ALL.iter().enumerate() {
        let path = format!("{}/../../fuzz/corpus/rrc/kind-{kind:02}", env!("CARGO_MANIFEST_DIR"));
        let seed = std::fs::read(path).expect("the corpus is part of the repository");
        let decoded = decode(pdu, &seed[1..]).expect("a seed decodes");
        let (message, _) = seed[1..].split_at(seed.len() - 1 - decoded.left_bits / 8);
        assert_eq!(decode(pdu, message).map(|cut| cut.value), Ok(decoded.value.clone()), "{pdu:?}");
        let padded = [message, &[0xA5; 20]].concat();
        assert_eq!(decode(pdu, &padded).map(|cut| cut.value), Ok(decoded.value), "{pdu:?}");
    }
}

/// A reconfiguration of NR that contains another, and so on.
fn nested(times: usize) -> Vec<u8> {
    // Transaction and extensions, then which members are there: to the fourth version's group of
    // secondary cells.
    const HEADER: &str = "00 0 00001 00000001 01 1000 1 0 0";
    let mut message = vec![0];
    for _ in 0..times {
        let mut bits: Vec<u8> =
            HEADER.bytes().filter(|digit| *digit != b' ').map(|digit| digit - b'0').collect();
        assert!(message.len() < 128, "the length is one byte");
        for byte in [&[message.len() as u8], message.as_slice()].concat() {
            bits.extend((0..8).rev().map(|at| byte >> at & 1));
        }
        bits.resize(bits.len().next_multiple_of(8), 0);
        message =
            bits.chunks(8).map(|byte| byte.iter().fold(0, |all, bit| all << 1 | bit)).collect();
    }
    message
}

/// The deepest message fits a quarter of a megabyte of stack, an eighth of a thread's stack.
#[test]
fn messages_within_messages_end_at_the_limit_and_not_at_the_stack() {
    let check = || {
        let fine = nested(15);
        let decoded = decode(RrcPdu::NrReconfiguration, &fine).expect("it is not that deep");
        assert_eq!(decoded.unread, 0);
        let deep = nested(24);
        let fault = decode(RrcPdu::NrReconfiguration, &deep).map_err(|error| error.fault);
        assert_eq!(fault.err(), Some(Fault::Deep));
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(check);
    thread.expect("a thread starts").join().expect("it ends");
}

/// The list of band combinations has one to 65536, and a length that is not counted from one.
#[test]
fn a_list_of_fewer_than_its_least_is_no_list() {
    let decoded = decode(RrcPdu::MrdcCapability, &[0x92, 0x9C, 0x50, 0, 0]);
    assert_eq!(decoded.map_err(|error| error.fault).err(), Some(Fault::OutOfRange));
}
