//! PDCP of LTE: packets of PDUs, after tags that Wireshark knows.

use super::{Vector, number};

/// What a packet says before its PDU: the plane, the length of sequence numbers and the direction.
struct Tags<'a> {
    plane: u8,
    sn_bits: u8,
    uplink: bool,
    pdu: &'a [u8],
}

fn tags(packet: &[u8]) -> Tags<'_> {
    let tags = packet.strip_prefix(b"pdcp-lte").expect("it is a packet of PDCP");
    // No header of its own, plane, no header compression; length and direction each after their
    // tag.
    let [0, plane, 0, 2, sn_bits, 3, downlink, ref rest @ ..] = *tags else {
        panic!("it begins otherwise: {tags:02x?}")
    };
    // Signalling has its channel, too.
    let pdu = match rest {
        [4, _, 1, pdu @ ..] | [1, pdu @ ..] => pdu,
        _ => panic!("it has no PDU: {rest:02x?}"),
    };
    Tags { plane, sn_bits, uplink: downlink == 0, pdu }
}

const SIGNALLING_PLANE: u8 = 1;

pub(super) fn ciphered(vector: &Vector) {
    let tree = vector.decode();
    let pdus = tree.list("sub_packets")[0].list("pdus");
    let packets = vector.packets("up");
    assert_eq!(pdus.len(), packets.len());
    for (pdu, packet) in pdus.iter().zip(&packets) {
        let tags = tags(packet);
        let sn_bits = [5, 7, 12][number(pdu, "sn_bits") as usize];
        assert_eq!(sn_bits, tags.sn_bits);
        // The signalling bearers are the ones with five bits (TS 36.323 §6.2.2).
        assert_eq!(sn_bits == 5, tags.plane == SIGNALLING_PLANE);
        assert_eq!(vector.code.number() == 0xB0B3, tags.uplink);
        assert_eq!(pdu.bytes("first_bytes"), Some(tags.pdu));
    }
}

pub(super) fn signalling(vector: &Vector) {
    let tree = vector.decode();
    let pdus = tree.list("sub_packets")[0].list("pdus");
    let packets = vector.packets("up");
    assert_eq!(pdus.len(), packets.len());
    for (pdu, packet) in pdus.iter().zip(&packets) {
        let tags = tags(packet);
        assert_eq!((tags.plane, tags.sn_bits, tags.uplink), (SIGNALLING_PLANE, 5, true));
        assert_eq!(pdu.bytes("pdu"), Some(tags.pdu));
    }
}
