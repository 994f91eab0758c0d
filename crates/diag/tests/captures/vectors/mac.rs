//! Transport blocks and random access of LTE: packets of MAC headers, after a header that Wireshark
//! knows.

use sounding_diag::mac::MacPdu;
use sounding_diag::radio::Tti;
use sounding_diag::record::{MacDownlink, MacUplink};

use super::{Vector, number};

/// Bytes of the packets before the time, which a tag and the MAC header follow.
const HEADER: usize = 38;

/// Time and MAC header of every block the second decoder found.
fn blocks(vector: &Vector) -> Vec<(u16, Vec<u8>)> {
    let block = |bytes: Vec<u8>| {
        let (time, header) = bytes[HEADER..].split_at(2);
        (u16::from_be_bytes([time[0], time[1]]), header[1..].to_vec())
    };
    vector.packets("cp").into_iter().map(block).collect()
}

fn block(tti: Option<Tti>, pdu: &MacPdu<'_>) -> (u16, Vec<u8>) {
    (tti.expect("a block has its time").packed(), pdu.bytes().to_vec())
}

pub(super) fn uplink(vector: &Vector) {
    let uplink = MacUplink::parse(&vector.body).expect("it has blocks");
    let found: Vec<_> = uplink.blocks().map(|found| block(found.tti, &found.pdu)).collect();
    assert_eq!(found, blocks(vector), "sub-packet version {}", vector.body[5]);
}

pub(super) fn downlink(vector: &Vector) {
    if vector.body[0] != 1 {
        return units(vector);
    }
    let downlink = MacDownlink::parse(&vector.body).expect("it has blocks");
    let found: Vec<_> = downlink.blocks().map(|found| block(found.tti, &found.pdu)).collect();
    assert_eq!(found, blocks(vector), "sub-packet version {}", vector.body[5]);
}

/// From version 49 on the second decoder makes up a header for each unit: channel, length, contents
/// of an element.
fn units(vector: &Vector) {
    let tree = vector.decode();
    let mut found = Vec::new();
    for block in tree.list("blocks") {
        let tti = Tti::new(number(block, "frame") as u16, number(block, "subframe") as u8);
        for unit in block.list("units") {
            let len = number(unit, "len_bytes") as u16;
            let mut header = vec![number(unit, "channel") as u8 & 31 | 0x20];
            match len {
                0..0x80 => header.push(len as u8),
                _ => header.extend((len | 0x8000).to_be_bytes()),
            }
            if number(unit, "control_element") == 1 {
                let bytes = unit.bytes("first_bytes").expect("an element is logged");
                header.extend(&bytes[..usize::from(len).min(bytes.len())]);
            } else {
                header.push(0x1F);
            }
            found.push((tti.expect("a block has its time").packed(), header));
        }
    }
    assert_eq!(found, blocks(vector), "version {}", vector.body[0]);
}

/// Of an attempt that succeeds it makes a response of a preamble, a timing advance, the grant and
/// an identity, and a packet of the third message.
pub(super) fn random_access(vector: &Vector) {
    let tree = vector.decode();
    let attempt = &tree.list("sub_packets")[0];
    let succeeded = attempt.number("result") == Some(0) && attempt.number("msg3_sent") != Some(0);
    let packets = vector.packets("cp");
    let [response, message] = packets.as_slice() else {
        assert!(packets.is_empty() && !succeeded, "{attempt:?}");
        return;
    };
    // TS 36.321 §6.1.5: eleven bits of timing advance, twenty of grant, an identity.
    let [.., preamble, a, b, c, d, e, f] = response[..] else { panic!("it is too short") };
    assert_eq!(i64::from(preamble & 63), number(attempt, "preamble"));
    let advance = i64::from(a & 0x7F) << 4 | i64::from(b >> 4);
    assert_eq!(advance, number(attempt, "timing_advance"));
    assert_eq!(i64::from(u16::from_be_bytes([e, f])), number(attempt, "temporary_c_rnti"));
    let grant = u32::from_be_bytes([0, b & 15, c, d]);
    let own = attempt.number("grant").or_else(|| {
        let [_, a, b, c] = attempt.bytes("grant")?.first_chunk()?;
        Some(i64::from(u32::from_be_bytes([0, *a, *b, *c])))
    });
    assert_eq!(own, Some(i64::from(grant)));
    let msg3 = attempt.bytes("msg3").expect("there is a message");
    assert!(message.ends_with(msg3), "{message:02x?} {msg3:02x?}");
}
