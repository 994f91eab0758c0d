//! The bytes of a packet: a message behind the header that tells a reader its kind.

use std::io;

use etherparse::PacketBuilder;

use crate::message::{Channel, Message};

/// UDP port of GSMTAP.
const PORT: u16 = 4729;
/// The largest number of a carrier that GSMTAP version 2 has room for.
pub(super) const MOST_CARRIER: u32 = 0x3FFF;
/// The beginning of the names of NR's dissectors of RRC.
const NR_RRC: &str = "nr-rrc.";

/// A message with a header of GSMTAP version 2, in UDP, in IP.
pub(super) fn v2(message: &Message<'_>, (kind, sub): (u8, u8)) -> io::Result<Vec<u8>> {
    const UPLINK: u16 = 0x4000;
    let fits = u16::try_from(message.carrier).ok().filter(|_| message.carrier <= MOST_CARRIER);
    let carrier = fits.unwrap_or(0) | if message.uplink { UPLINK } else { 0 };
    let (frame, subframe) = message.tti.map_or((0, 0), |tti| (tti.sfn(), tti.subframe()));
    // A header of four words.
    let mut header = vec![2, 4, kind, 0];
    header.extend(carrier.to_be_bytes());
    // Signal and noise are not in the record.
    header.extend([0, 0]);
    header.extend(u32::from(frame).to_be_bytes());
    header.extend([sub, 0, subframe, 0]);
    datagram(header, message)
}

/// A message with a header of GSMTAP version 3, in UDP, in IP. Unknown facts have no tag.
pub(super) fn v3(message: &Message<'_>, (kind, sub): (u16, u16)) -> io::Result<Vec<u8>> {
    const CHANNEL_NUMBER: u16 = 2;
    const CELL: u16 = 5;
    const FRAME: u16 = 8;
    const SUBFRAME: u16 = 9;
    const END: u16 = 0xFFFE;
    const UPLINK: u32 = 1 << 31;
    let mut tags = Vec::new();
    let mut tag = |tag: u16, value: &[u8]| {
        tags.extend(tag.to_be_bytes());
        tags.extend((value.len() as u16).to_be_bytes());
        tags.extend(value);
    };
    // The direction has no other place.
    let carrier = if message.carrier < UPLINK { message.carrier } else { 0 };
    let channel = carrier | if message.uplink { UPLINK } else { 0 };
    if channel > 0 {
        tag(CHANNEL_NUMBER, &channel.to_be_bytes());
    }
    if let Some(cell) = message.cell {
        tag(CELL, &cell.to_be_bytes());
    }
    if let Some(tti) = message.tti {
        tag(FRAME, &u32::from(tti.sfn()).to_be_bytes());
        tag(SUBFRAME, &u16::from(tti.subframe()).to_be_bytes());
    }
    tags.extend(END.to_be_bytes());
    tags.resize(tags.len().next_multiple_of(4), 0);
    // The length counts words, with the header's own two.
    let words = 2 + tags.len() as u16 / 4;
    let mut header = vec![3, 0];
    for number in [words, kind, sub] {
        header.extend(number.to_be_bytes());
    }
    header.extend(tags);
    datagram(header, message)
}

fn datagram(mut payload: Vec<u8>, message: &Message<'_>) -> io::Result<Vec<u8>> {
    if message.channel == Channel::GprsMac {
        // The header of a control block without optional octets (TS 44.060 §10.4.7), which the
        // record leaves out.
        payload.push(0x40);
    }
    payload.extend(message.bytes);
    let here = [127, 0, 0, 1];
    let mut packet = Vec::new();
    PacketBuilder::ipv4(here, here, 64)
        .udp(PORT, PORT)
        .write(&mut packet, &payload)
        .map_err(io::Error::other)?;
    Ok(packet)
}

/// A message with the name of its dissector before it, as Wireshark exports PDUs.
pub(super) fn exported(dissector: &str, message: &[u8]) -> Vec<u8> {
    const NAME: u16 = 12;
    const PROTOCOL_COLUMN: u16 = 33;
    let mut data = Vec::new();
    let mut tag = |tag: u16, text: &str| {
        let end = data.len() + 4 + text.len().next_multiple_of(4);
        data.extend(tag.to_be_bytes());
        data.extend((text.len().next_multiple_of(4) as u16).to_be_bytes());
        data.extend(text.bytes());
        data.resize(end, 0);
    };
    tag(NAME, dissector);
    // Wireshark's dissectors of NR messages without a channel leave the column empty.
    if dissector.starts_with(NR_RRC) {
        tag(PROTOCOL_COLUMN, "NR RRC");
    }
    // The end of the tags.
    data.extend([0; 4]);
    data.extend(message);
    data
}

/// The facts about a message that an exported PDU has no tags for.
pub(super) fn comment(dissector: &str, message: &Message<'_>) -> String {
    let mut facts = Vec::new();
    if message.carrier > 0 {
        let name = if dissector.starts_with(NR_RRC) { "NR-ARFCN" } else { "EARFCN" };
        facts.push(format!("{name} {}", message.carrier));
    }
    facts.extend(message.cell.map(|cell| format!("PCI {cell}")));
    facts.push(if message.uplink { "uplink" } else { "downlink" }.to_owned());
    facts.join(", ")
}
