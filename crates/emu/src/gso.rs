//! Generic segmentation offload: which packets a kernel would cut from one superpacket, and that
//! superpacket's headers.
//!
//! A superpacket is one IP packet of up to 64 KiB with the payload size of its segments. The kernel
//! that receives one does the receive work once. It cuts it only where segments are needed: a UDP
//! socket gets its datagrams, TCP takes the whole. The packets put together here are exactly those
//! that the kernel will cut: the segments are in sequence and equal in every field that a cut
//! copies.

use etherparse::{IpNumber, Ipv4HeaderSlice, TcpHeaderSlice, UdpHeaderSlice, checksum};

/// Bytes of the header before every packet of a TUN device with `IFF_VNET_HDR`: `struct
/// virtio_net_hdr` of linux/virtio_net.h, in the machine's byte order. It is zero for an ordinary
/// packet with its checksum.
pub(crate) const VNET_HEADER: usize = 10;

const VIRTIO_NET_HDR_F_NEEDS_CSUM: u8 = 1;
const VIRTIO_NET_HDR_GSO_TCPV4: u8 = 1;
const VIRTIO_NET_HDR_GSO_UDP_L4: u8 = 5;

/// The longest IP packet: its length has 16 bits.
const LONGEST: usize = 65_535;

/// The longest headers of a segment: IPv4 without options, TCP with all.
const HEADERS: usize = 20 + 60;

const IPV4: usize = 20;
const PSH: u8 = 8;
const ECE: u8 = 0x40;
const ACK: u8 = 0x10;

/// The flow of a packet, with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowKey {
    source: [u8; 4],
    destination: [u8; 4],
    protocol: u8,
    ports: [u8; 4],
}

/// How a packet may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It may be part of a superpacket.
    Segment(Segment),
    /// It must be written unchanged, after the earlier packets of its flow, if the flow is known.
    Whole(Option<FlowKey>),
}

/// A packet that may be part of a superpacket: IPv4 without options, no fragment, TCP or UDP with a
/// payload, all lengths and checksums right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) flow: FlowKey,
    /// Bytes of both headers.
    headers: usize,
    payload: usize,
    identification: u16,
    /// If so, its identification has no meaning (RFC 6864, section 4.1).
    is_atomic: bool,
    /// The first byte's place in the stream of TCP; 0 for UDP.
    sequence: u32,
    /// Whether PSH is set: a cut sets it in the last segment only.
    is_pushed: bool,
}

impl Kind {
    pub(crate) fn of(packet: &[u8]) -> Self {
        let Some((flow, rest)) = unfragmented(packet) else { return Self::Whole(None) };
        Segment::of(packet, flow, rest).map_or(Self::Whole(Some(flow)), Self::Segment)
    }
}

/// The flow of an IPv4 packet with ports, and the bytes after its IP header.
fn unfragmented(packet: &[u8]) -> Option<(FlowKey, &[u8])> {
    let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
    if ip.is_fragmenting_payload() || !matches!(ip.protocol(), IpNumber::TCP | IpNumber::UDP) {
        return None;
    }
    let rest = packet.get(ip.slice().len()..)?;
    let flow = FlowKey {
        source: ip.source(),
        destination: ip.destination(),
        protocol: ip.protocol().0,
        ports: *rest.first_chunk()?,
    };
    Some((flow, rest))
}

impl Segment {
    fn of(packet: &[u8], flow: FlowKey, rest: &[u8]) -> Option<Self> {
        let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
        let is_plain = ip.slice().len() == IPV4
            && usize::from(ip.total_len()) == packet.len()
            && packet[6] & 0x80 == 0
            && sums_up(ip.slice(), checksum::Sum16BitWords::new());
        if !is_plain {
            return None;
        }
        let (header, sequence, is_pushed) = match ip.protocol() {
            IpNumber::TCP => {
                let tcp = TcpHeaderSlice::from_slice(rest).ok()?;
                // Byte 12 has reserved bits of TCP, byte 13 the flags. A segment that opens, closes
                // or resets a connection, or has a one-time signal (CWR), is not
                // part of a run.
                let [words, flags] = [rest[12], rest[13]];
                if words & 0x0F != 0 || flags & !(PSH | ECE) != ACK {
                    return None;
                }
                (tcp.slice().len(), tcp.sequence_number(), tcp.psh())
            }
            _ => {
                let udp = UdpHeaderSlice::from_slice(rest).ok()?;
                // A datagram without a checksum would be given one.
                if usize::from(udp.length()) != rest.len() || udp.checksum() == 0 {
                    return None;
                }
                (udp.slice().len(), 0, false)
            }
        };
        let payload = rest.len() - header;
        // A damaged packet must reach the kernel unchanged, which drops it: a cut would repair it.
        let is_whole = payload > 0 && sums_up(rest, pseudo_header(&flow, rest.len()));
        is_whole.then_some(Self {
            flow,
            headers: IPV4 + header,
            payload,
            identification: ip.identification(),
            is_atomic: ip.dont_fragment(),
            sequence,
            is_pushed,
        })
    }

    fn is_tcp(&self) -> bool {
        self.flow.protocol == IpNumber::TCP.0
    }
}

/// Segments of a superpacket in the making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    first: Segment,
    count: usize,
    /// Bytes of all payloads.
    payload: usize,
    /// Difference of identifications, from the second packet on: a cut counts them up. 0 if they
    /// are constant.
    stride: Option<u16>,
    is_pushed: bool,
    is_closed: bool,
}

impl Run {
    pub(crate) fn new(first: Segment) -> Self {
        Self {
            first,
            count: 1,
            payload: first.payload,
            stride: None,
            is_pushed: first.is_pushed,
            is_closed: first.is_pushed,
        }
    }

    /// Its flow.
    pub(crate) fn flow(&self) -> FlowKey {
        self.first.flow
    }

    pub(crate) fn is_udp(&self) -> bool {
        !self.first.is_tcp()
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// A packet's payload in the superpacket.
    pub(crate) fn payload_of<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        packet.get(self.first.headers..).unwrap_or_default()
    }

    /// Puts this packet of the same flow behind the others if it can follow them; `opening` is the
    /// first of them.
    pub(crate) fn append(&mut self, opening: &[u8], packet: &[u8], segment: &Segment) -> bool {
        let first = &self.first;
        let length = first.headers + self.payload + segment.payload;
        let expected = first.sequence.wrapping_add(self.payload as u32);
        let fits = !self.is_closed
            && length <= LONGEST
            && segment.headers == first.headers
            && segment.payload <= first.payload
            && (!first.is_tcp() || segment.sequence == expected)
            && is_alike(first, opening, packet);
        let Some(stride) = self.stride(segment).filter(|_| fits) else { return false };
        self.stride = Some(stride);
        self.count += 1;
        self.payload += segment.payload;
        self.is_pushed = segment.is_pushed;
        // All but the last are of one size, and only the last is pushed.
        self.is_closed = segment.is_pushed || segment.payload < first.payload;
        true
    }

    fn stride(&self, segment: &Segment) -> Option<u16> {
        let first = &self.first;
        let apart = segment.identification.wrapping_sub(first.identification);
        let counted = apart == self.count as u16;
        match self.stride {
            None if counted => Some(1),
            None | Some(0) if apart == 0 && first.is_atomic => Some(0),
            Some(1) if counted => Some(1),
            _ => None,
        }
    }

    /// The headers of the superpacket, with the device's before them; `opening` is the run's first
    /// packet.
    pub(crate) fn headers(&self, opening: &[u8]) -> Headers {
        let Segment { flow, headers: len, payload, .. } = self.first;
        let (gso_type, checksum_at) = if self.first.is_tcp() {
            (VIRTIO_NET_HDR_GSO_TCPV4, 16)
        } else {
            (VIRTIO_NET_HDR_GSO_UDP_L4, 6)
        };
        let mut bytes = [0; VNET_HEADER + HEADERS];
        let (device, packet) = bytes.split_at_mut(VNET_HEADER);
        device[0] = VIRTIO_NET_HDR_F_NEEDS_CSUM;
        device[1] = gso_type;
        let words = [len, payload, IPV4, checksum_at];
        for (to, word) in device[2..].chunks_exact_mut(2).zip(words) {
            to.copy_from_slice(&(word as u16).to_ne_bytes());
        }

        packet[..len].copy_from_slice(&opening[..len]);
        let (ip, transport) = packet[..len].split_at_mut(IPV4);
        let after_ip = len - IPV4 + self.payload;
        ip[2..4].copy_from_slice(&((IPV4 + after_ip) as u16).to_be_bytes());
        ip[10..12].fill(0);
        // In memory's order already, as all sums of this library.
        let sum = checksum::Sum16BitWords::new().add_slice(ip).ones_complement();
        ip[10..12].copy_from_slice(&sum.to_ne_bytes());
        if self.first.is_tcp() {
            transport[13] |= if self.is_pushed { PSH } else { 0 };
        } else {
            transport[4..6].copy_from_slice(&(after_ip as u16).to_be_bytes());
        }
        // If a checksum is left to the kernel, the pseudo-header's sum is already in it
        // (linux/virtio_net.h).
        let begun = !pseudo_header(&flow, after_ip).ones_complement();
        transport[checksum_at..checksum_at + 2].copy_from_slice(&begun.to_ne_bytes());
        Headers { bytes, len: VNET_HEADER + len }
    }
}

/// Headers of a superpacket.
pub(crate) struct Headers {
    bytes: [u8; VNET_HEADER + HEADERS],
    len: usize,
}

impl Headers {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Whether two packets of a flow differ only in fields that a cut computes: lengths,
/// identification, checksums, sequence number and PSH.
fn is_alike(first: &Segment, one: &[u8], other: &[u8]) -> bool {
    let parts: &[_] = if first.is_tcp() {
        &[0..2, 6..10, 12..24, 28..33, 34..36, 38..first.headers]
    } else {
        &[0..2, 6..10, 12..24]
    };
    let flags = |packet: &[u8]| packet[33] & !PSH;
    parts.iter().all(|part| one[part.clone()] == other[part.clone()])
        && (!first.is_tcp() || flags(one) == flags(other))
}

/// The sum over the addresses, the protocol and the length that TCP and UDP count among what they
/// check (RFC 9293, section 3.1, RFC 768).
fn pseudo_header(flow: &FlowKey, len: usize) -> checksum::Sum16BitWords {
    checksum::Sum16BitWords::new()
        .add_4bytes(flow.source)
        .add_4bytes(flow.destination)
        .add_2bytes([0, flow.protocol])
        .add_2bytes((len as u16).to_be_bytes())
}

/// Whether a checksum among these bytes is right.
///
/// The library adds word by word, each with the carry of the one before. This is where most of the
/// time goes that putting packets together takes, so that most of the bytes are added side by side
/// before: such sums may be taken in any order and in words of any length (RFC 1071, section 2).
fn sums_up(bytes: &[u8], before: checksum::Sum16BitWords) -> bool {
    let mut lanes = [0_u64; 8];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks().0) {
            *lane += u64::from(u32::from_ne_bytes(*word));
        }
    }
    let sum = before.add_slice(rest);
    let sum = lanes.iter().fold(sum, |mut sum, lane| sum.add_8bytes(lane.to_ne_bytes()));
    sum.ones_complement() == 0
}

#[cfg(test)]
pub(crate) mod tests;
