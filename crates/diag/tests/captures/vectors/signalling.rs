//! Messages as packets of GSMTAP (a header, then the message), and the state of NR's registration.

use sounding_diag::record::{LteRrc, RrcPdu, Segment};

use super::{Vector, number, plmn};

/// The contents of GSMTAP's header of version 2, four words long, for a message.
struct Packet {
    kind: u8,
    carrier: u16,
    frame: u32,
    channel: u8,
    message: Vec<u8>,
}

fn packet(vector: &Vector) -> Packet {
    let packets = vector.packets("cp");
    let [packet] = packets.as_slice() else { panic!("there are {} packets", packets.len()) };
    let (header, message) = packet.split_at(16);
    assert_eq!(header[..2], [2, 4], "version 2, four words of header");
    Packet {
        kind: header[2],
        carrier: u16::from_be_bytes([header[4], header[5]]),
        frame: u32::from_be_bytes([header[8], header[9], header[10], header[11]]),
        channel: header[12],
        message: message.to_vec(),
    }
}

/// GSMTAP's number for a channel of LTE.
fn lte_channel(pdu: RrcPdu) -> u8 {
    match pdu {
        RrcPdu::LteDlCcch => 0,
        RrcPdu::LteDlDcch => 1,
        RrcPdu::LteUlCcch => 2,
        RrcPdu::LteUlDcch => 3,
        RrcPdu::LteBcchBch => 4,
        RrcPdu::LteBcchDlSch => 5,
        RrcPdu::LtePcch => 6,
        RrcPdu::LteMcch => 7,
        RrcPdu::NbUlCcch => 16,
        other => panic!("no vector has {other:?}"),
    }
}

pub(super) fn lte(vector: &Vector) {
    let found = LteRrc::parse(&vector.body).expect("it is a message");
    let (tree, packet, version) = (vector.decode(), packet(vector), vector.body[0]);
    assert_eq!(packet.kind, 13, "RRC of LTE");
    assert_eq!(found.message, packet.message, "version {version}");
    assert_eq!(found.earfcn, u32::from(packet.carrier), "version {version}");
    assert_eq!(found.pdu.map(lte_channel), Some(packet.channel), "version {version}");
    assert_eq!(found.segment, Some(Segment::Whole), "version {version}");
    let frame = number(&tree, "above_frame") << 10 | number(&tree, "frame");
    assert_eq!(frame, i64::from(packet.frame), "version {version}");
}

pub(super) fn wcdma(vector: &Vector) {
    let (tree, packet) = (vector.decode(), packet(vector));
    assert_eq!(packet.kind, 12, "RRC of WCDMA");
    assert_eq!(tree.bytes("message"), Some(packet.message.as_slice()));
    assert_eq!(number(&tree, "uarfcn"), i64::from(packet.carrier));
    // GSMTAP has a number for the channel, and one for each block of system information on it.
    let channel = match (number(&tree, "channel"), tree.number("sib")) {
        (0x84, None) => 8,
        (0x89, Some(67)) => 54,
        other => panic!("no vector has {other:?}"),
    };
    assert_eq!(packet.channel, channel);
}

/// The carrier is in an earlier record; this one has only the direction.
pub(super) fn gsm(vector: &Vector) {
    let (tree, packet) = (vector.decode(), packet(vector));
    assert_eq!(packet.kind, 1, "the air interface of GSM");
    assert_eq!(tree.bytes("message"), Some(packet.message.as_slice()));
    let uplink = number(&tree, "direction") == 0;
    assert_eq!(packet.carrier, u16::from(uplink) << 14);
    let channel = match number(&tree, "channel") {
        1 => 1,
        3 => 2,
        other => panic!("no vector has channel {other}"),
    };
    assert_eq!(packet.channel, channel);
}

pub(super) fn registration(vector: &Vector) {
    let tree = vector.decode();
    let state = |name| number(&tree, name);
    let octets = tree.bytes("tac").expect("there is an area");
    let tac = octets.iter().fold(0, |tac, byte| tac << 8 | u32::from(*byte));
    let found = format!(
        "5GMM State: {}/{}/{}, MCC/MNC: {}, TAC: {tac:6x}, GUTI: {}-{:02x}-{:03x}-{:02x}-{:08x}",
        state("mm5g_state"),
        state("mm5g_substate"),
        state("update_status"),
        plmn(&tree, "plmn"),
        plmn(&tree, "guti_plmn").replace('/', "-"),
        state("guti_amf_region"),
        state("guti_amf_set"),
        state("guti_amf_pointer"),
        state("guti_5g_tmsi"),
    );
    assert_eq!(found, vector.printed());
}
