/// The flow of a packet: transport protocol and ports, zero if it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flow {
    /// IP protocol number: 6 for TCP, 17 for UDP, 1 for ICMP.
    pub protocol: u8,
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
}

impl Flow {
    const TCP: u8 = 6;
    const UDP: u8 = 17;

    /// The flow of an IPv4 packet. Other packets have zeros, and later fragments have no ports.
    pub fn of(packet: &[u8]) -> Self {
        let Some((header, _)) = packet.split_first_chunk::<20>() else { return Self::default() };
        if header[0] >> 4 != 4 {
            return Self::default();
        }
        let protocol = header[9];
        let fragment_offset = u16::from_be_bytes([header[6], header[7]]) & 0x1FFF;
        let ports = packet.get(usize::from(header[0] & 0xF) * 4..).and_then(<[u8]>::first_chunk);
        match (protocol, ports) {
            (Self::TCP | Self::UDP, Some(&[a, b, c, d])) if fragment_offset == 0 => Self {
                protocol,
                source: u16::from_be_bytes([a, b]),
                destination: u16::from_be_bytes([c, d]),
            },
            _ => Self { protocol, source: 0, destination: 0 },
        }
    }

    /// The flow of the opposite direction.
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(protocol: u8, fragment: u8) -> Vec<u8> {
        let mut packet = vec![0x46, 0, 0, 28, 0, 0, 0, fragment, 64, protocol];
        packet.resize(24, 0);
        packet.extend([0x14, 0x51, 0x00, 0x50, 0, 0]);
        packet
    }

    #[test]
    fn ports_are_read_after_the_ip_options() {
        let flow = Flow { protocol: 6, source: 5201, destination: 80 };
        assert_eq!(Flow::of(&packet(6, 0)), flow);
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        assert_eq!(Flow::of(&packet(17, 9)), Flow { protocol: 17, source: 0, destination: 0 });
    }

    #[test]
    fn no_prefix_of_a_packet_is_read_past_its_end() {
        let packet = packet(6, 0);
        for len in 0..packet.len() {
            let _ = Flow::of(&packet[..len]);
        }
    }
}
