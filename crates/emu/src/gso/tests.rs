#![allow(clippy::unwrap_used, reason = "a test with malformed packets has to fail")]

use super::*;

/// A packet to build: IPv4 with DF, from port 1 to port 2.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) ip: Vec<u8>,
    pub(crate) transport: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

impl Packet {
    fn new(protocol: u8, identification: u16, transport: Vec<u8>, payload: Vec<u8>) -> Self {
        let mut ip =
            vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0, 100, 64, 0, 1, 100, 64, 0, 2];
        ip[4..6].copy_from_slice(&identification.to_be_bytes());
        Self { ip, transport, payload }
    }

    pub(crate) fn udp(identification: u16, payload: Vec<u8>) -> Self {
        let transport = vec![0, 1, 0, 2, 0, 0, 0, 0];
        Self::new(17, identification, transport, payload)
    }

    /// A TCP segment with ACK set and the time stamp option.
    pub(crate) fn tcp(identification: u16, sequence: u32, payload: Vec<u8>) -> Self {
        let mut transport = vec![0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0x80, ACK, 1, 0, 0, 0, 0, 0];
        transport[4..8].copy_from_slice(&sequence.to_be_bytes());
        transport.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
        Self::new(6, identification, transport, payload)
    }

    /// The bytes, with lengths and checksums filled in.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self { mut ip, mut transport, payload } = self.clone();
        ip[0] = 0x40 | (ip.len() / 4) as u8;
        let after_ip = (transport.len() + payload.len()) as u16;
        let length = ip.len() as u16 + after_ip;
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        let sum = !folded(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        let at = if ip[9] == 6 { 16 } else { 6 };
        if ip[9] == 17 {
            transport[4..6].copy_from_slice(&after_ip.to_be_bytes());
        }
        let checked = [&pseudo(&ip, after_ip)[..], &transport, &payload].concat();
        let sum = !folded(&checked);
        let sum = if sum == 0 && ip[9] == 17 { 0xFFFF } else { sum };
        transport[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        [ip, transport, payload].concat()
    }
}

/// The pseudo-header, word by word.
fn pseudo(ip: &[u8], len: u16) -> Vec<u8> {
    [&ip[12..20], &[0, ip[9]], &len.to_be_bytes()].concat()
}

/// The sum of 16-bit words in ones' complement (RFC 1071).
fn folded(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    let sum = bytes.chunks(2).fold(0, |sum, pair| sum + word(pair));
    let sum = (sum & 0xFFFF) + (sum >> 16);
    ((sum & 0xFFFF) + (sum >> 16)) as u16
}

/// Cuts a superpacket as Linux does (net/ipv4/af_inet.c, tcp_offload.c, udp_offload.c), after the
/// checks of the TUN device.
pub(crate) fn cut(written: &[u8]) -> Vec<Vec<u8>> {
    let (device, packet) = written.split_at(VNET_HEADER);
    let word = |at: usize| usize::from(u16::from_ne_bytes([device[at], device[at + 1]]));
    let (headers, size, start, offset) = (word(2), word(4), word(6), word(8));
    let (ip, transport, payload) = (&packet[..20], &packet[20..headers], &packet[headers..]);
    let is_tcp = ip[9] == 6;
    assert_eq!((device[0], device[1]), (1, if is_tcp { 1 } else { 5 }));
    assert_eq!((start, offset), (20, if is_tcp { 16 } else { 6 }));
    assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), packet.len());
    assert_eq!(folded(ip), 0xFFFF);
    let begun = folded(&pseudo(ip, (packet.len() - 20) as u16)).to_be_bytes();
    assert_eq!(&transport[offset..offset + 2], begun);
    let count = payload.len().div_ceil(size);
    assert!(count > 1);
    let segment = |(place, payload): (usize, &[u8])| {
        let (mut ip, mut transport) = (ip.to_vec(), transport.to_vec());
        let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(place as u16);
        ip[4..6].copy_from_slice(&identification.to_be_bytes());
        ip[10..12].fill(0);
        transport[offset..offset + 2].fill(0);
        if is_tcp {
            let first = u32::from_be_bytes(*transport[4..].first_chunk().unwrap());
            let sequence = first.wrapping_add((place * size) as u32);
            transport[4..8].copy_from_slice(&sequence.to_be_bytes());
            if place + 1 < count {
                transport[13] &= !(PSH | 1);
            }
        }
        Packet { ip, transport, payload: payload.to_vec() }.bytes()
    };
    payload.chunks(size).enumerate().map(segment).collect()
}

/// These packets as one superpacket; `None` if they are not all of one run.
fn together(packets: &[Packet]) -> Option<Vec<u8>> {
    let packets: Vec<_> = packets.iter().map(Packet::bytes).collect();
    let mut segments = packets.iter().map(|bytes| match Kind::of(bytes) {
        Kind::Segment(segment) => Some(segment),
        Kind::Whole(_) => None,
    });
    let mut run = Run::new(segments.next()??);
    for (bytes, segment) in packets[1..].iter().zip(segments) {
        if !run.append(&packets[0], bytes, &segment?) {
            return None;
        }
    }
    let mut written = run.headers(&packets[0]).bytes().to_vec();
    packets.iter().for_each(|bytes| written.extend(run.payload_of(bytes)));
    Some(written)
}

/// Datagrams whose identifications wrap around.
fn datagrams(sizes: &[usize]) -> Vec<Packet> {
    let identifications = (0..).map(|at| 65_534_u16.wrapping_add(at));
    let packet = |(&size, id)| Packet::udp(id, vec![id as u8; size]);
    sizes.iter().zip(identifications).map(packet).collect()
}

/// Consecutive TCP segments whose sequence numbers and identifications wrap around.
fn segments(sizes: &[usize]) -> Vec<Packet> {
    let mut sequence = u32::MAX - 1_000;
    let mut identification = u16::MAX - 1;
    let mut next = |&size: &usize| {
        let packet = Packet::tcp(identification, sequence, vec![size as u8; size]);
        sequence = sequence.wrapping_add(size as u32);
        identification = identification.wrapping_add(1);
        packet
    };
    sizes.iter().map(&mut next).collect()
}

#[track_caller]
fn assert_cut_again(packets: &[Packet]) {
    let whole: Vec<_> = packets.iter().map(Packet::bytes).collect();
    assert_eq!(cut(&together(packets).unwrap()), whole);
}

#[test]
fn datagrams_of_one_size_and_a_shorter_last_one_are_cut_from_one_superpacket() {
    assert_cut_again(&datagrams(&[1472, 1472, 1472, 1472, 3]));
}

#[test]
fn tcp_segments_and_a_shorter_pushed_last_one_are_cut_from_one_superpacket() {
    let mut packets = segments(&[1448, 1448, 1448, 100]);
    packets[3].transport[13] |= PSH;
    assert_cut_again(&packets);
}

#[test]
fn a_congestion_mark_is_kept() {
    let mut packets = segments(&[1000, 1000]);
    packets.iter_mut().for_each(|packet| packet.ip[1] = 0b1011_1011);
    packets.iter_mut().for_each(|packet| packet.transport[13] |= ECE);
    assert_cut_again(&packets);
}

#[test]
fn a_shorter_or_pushed_segment_ends_the_run() {
    assert_eq!(together(&datagrams(&[1472, 100, 100])), None);
    let mut packets = segments(&[1448, 1448, 1448]);
    packets[1].transport[13] |= PSH;
    assert_eq!(together(&packets), None);
}

#[test]
fn a_longer_segment_is_not_in_the_run() {
    assert_eq!(together(&datagrams(&[1000, 1001])), None);
}

#[test]
fn a_gap_in_the_stream_ends_the_run() {
    let mut packets = segments(&[1448, 1448, 1448]);
    packets.remove(1);
    assert_eq!(together(&packets), None);
}

#[test]
fn a_superpacket_is_never_longer_than_an_ip_packet() {
    // 52 bytes of headers, and 45 times 1448.
    assert!(together(&segments(&[1448; 45])).is_some());
    assert_eq!(together(&segments(&[1448; 46])), None);
}

#[test]
fn with_df_a_constant_identification_does_not_end_the_run() {
    let still = |flags: u8| {
        let mut packets = datagrams(&[100, 100, 100]);
        packets.iter_mut().for_each(|packet| packet.ip[4..8].copy_from_slice(&[0, 0, flags, 0]));
        packets
    };
    assert!(together(&still(0x40)).is_some());
    assert_eq!(together(&still(0)), None);
}

#[test]
fn identifications_that_jump_end_the_run() {
    let mut packets = datagrams(&[100, 100, 100]);
    packets[2].ip[5] = 7;
    assert_eq!(together(&packets), None);
}

/// A change of the second of two packets, or of both.
type Change = fn(&mut Packet);

#[test]
fn packets_with_different_copied_fields_are_not_put_together() {
    let changes: [(&str, Change); 8] = [
        ("DSCP or ECN", |packet| packet.ip[1] ^= 3),
        ("DF", |packet| packet.ip[6] ^= 0x40),
        ("TTL", |packet| packet.ip[8] = 63),
        ("acknowledgement", |packet| packet.transport[11] = 10),
        ("ECE", |packet| packet.transport[13] |= ECE),
        ("window", |packet| packet.transport[15] = 7),
        ("urgent pointer", |packet| packet.transport[19] = 1),
        ("time stamp", |packet| packet.transport[27] = 6),
    ];
    for (what, change) in changes {
        let mut packets = segments(&[1000, 1000]);
        change(&mut packets[1]);
        assert_eq!(together(&packets), None, "{what}");
    }
}

#[test]
fn packets_that_no_cut_produces_are_never_part_of_a_superpacket() {
    let changes: [(&str, Change); 9] = [
        ("a reserved bit", |packet| packet.ip[6] |= 0x80),
        ("more fragments", |packet| packet.ip[6] |= 0x20),
        ("a later fragment", |packet| packet.ip[7] = 1),
        ("options of IP", |packet| packet.ip.extend([1, 1, 1, 1])),
        ("SYN", |packet| packet.transport[13] |= 2),
        ("FIN", |packet| packet.transport[13] |= 1),
        ("CWR", |packet| packet.transport[13] |= 0x80),
        ("no ACK", |packet| packet.transport[13] = 0),
        ("no payload", |packet| packet.payload.clear()),
    ];
    for (what, change) in changes {
        let mut packet = Packet::tcp(1, 1, vec![1; 100]);
        assert!(matches!(Kind::of(&packet.bytes()), Kind::Segment(_)));
        change(&mut packet);
        assert!(matches!(Kind::of(&packet.bytes()), Kind::Whole(_)), "{what}");
    }
}

#[test]
fn a_damaged_packet_stays_damaged() {
    for packet in [Packet::tcp(1, 1, vec![1; 100]), Packet::udp(1, vec![1; 100])] {
        let bytes = packet.bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(matches!(Kind::of(&damaged), Kind::Whole(_)), "byte {at}");
        }
    }
}

#[test]
fn a_datagram_without_a_checksum_gets_none() {
    let mut bytes = Packet::udp(1, vec![1; 100]).bytes();
    bytes[26..28].fill(0);
    assert!(matches!(Kind::of(&bytes), Kind::Whole(Some(_))));
}

#[test]
fn no_prefix_of_a_packet_is_a_segment() {
    for packet in [Packet::tcp(1, 1, vec![1; 100]), Packet::udp(1, vec![1; 100])] {
        let bytes = packet.bytes();
        for len in 0..bytes.len() {
            assert!(matches!(Kind::of(&bytes[..len]), Kind::Whole(_)), "{len} bytes");
        }
    }
}
