//! Files of frames: pcap and pcapng.

use std::io::{ErrorKind, Read};

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError, TsResolution};

use super::{Packets, PacketsError};

/// Bytes before the IP header in frames of Linux's device `any`.
const SLL: usize = 16;
const SLL2: usize = 20;

/// A packet's flow; `None` for what is no IP.
fn flow(link: DataLink, frame: &[u8]) -> Result<Option<String>, PacketsError> {
    let ip = |bytes: Option<&[u8]>| {
        bytes.and_then(|bytes| LaxSlicedPacket::from_ip(bytes).ok().as_ref().and_then(name))
    };
    Ok(match link {
        DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(frame).ok().as_ref().and_then(name),
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => ip(Some(frame)),
        // BSD and Linux call these raw IP in files.
        DataLink::Unknown(12 | 14) => ip(Some(frame)),
        DataLink::LINUX_SLL => ip(frame.get(SLL..)),
        DataLink::Unknown(276) => ip(frame.get(SLL2..)),
        other => return Err(PacketsError::Link(other.into())),
    })
}

fn name(packet: &LaxSlicedPacket<'_>) -> Option<String> {
    let (from, to, protocol) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(of) => {
            let header = of.header();
            (header.source_addr().into(), header.destination_addr().into(), header.protocol())
        }
        LaxNetSlice::Ipv6(of) => {
            let header = of.header();
            let (from, to): (std::net::IpAddr, std::net::IpAddr) =
                (header.source_addr().into(), header.destination_addr().into());
            (from, to, of.payload().ip_number)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let ends = |a: u16, b: u16| {
        let [from, to] = [(from, a), (to, b)].map(std::net::SocketAddr::from);
        format!("{from} > {to}")
    };
    Some(match &packet.transport {
        Some(TransportSlice::Udp(udp)) => {
            format!("udp {}", ends(udp.source_port(), udp.destination_port()))
        }
        Some(TransportSlice::Tcp(tcp)) => {
            format!("tcp {}", ends(tcp.source_port(), tcp.destination_port()))
        }
        _ => format!("ip-{} {from} > {to}", protocol.0),
    })
}

/// The end of a file within a packet is no error: it is said with what was read.
fn cut(number: u64, error: &PcapError) -> String {
    let ends = matches!(error, PcapError::IncompleteBuffer)
        || matches!(error, PcapError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof);
    if ends {
        format!("it ends within packet {number}")
    } else {
        format!("packet {number} is damaged: {error}")
    }
}

/// Ticks of an interface's clock in nanoseconds. A pcapng counts microseconds unless an option says
/// otherwise.
fn nanos(ticks: u128, interface: &InterfaceDescriptionBlock<'_>) -> u64 {
    let resolution = interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(resolution) => Some(*resolution),
        _ => None,
    });
    let resolution = resolution.unwrap_or(6);
    let power = u32::from(resolution & 0x7F);
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    let per_second = base.checked_pow(power).unwrap_or(u128::MAX);
    let nanos = ticks.saturating_mul(1_000_000_000) / per_second;
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

impl Packets {
    fn frame(
        &mut self,
        link: DataLink,
        at_ns: u64,
        bytes: u32,
        frame: &[u8],
    ) -> Result<(), PacketsError> {
        match flow(link, frame)? {
            Some(flow) => self.push(&flow, at_ns, None, Some(bytes.into())),
            None => {
                self.others += 1;
                Ok(())
            }
        }
    }

    pub(super) fn read_pcap(&mut self, input: impl Read) -> Result<(), PacketsError> {
        let mut reader = match PcapReader::new(input) {
            Ok(reader) => reader,
            Err(_) => return Err(PacketsError::Unknown),
        };
        let header = reader.header();
        let unit = if header.ts_resolution == TsResolution::NanoSecond { 1 } else { 1_000 };
        // Raw packets: a packet longer than what was kept of it is no error.
        for number in 1.. {
            match reader.next_raw_packet() {
                None => break,
                Some(Ok(packet)) => {
                    let at =
                        u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac) * unit;
                    self.frame(header.datalink, at, packet.orig_len, &packet.data)?;
                }
                Some(Err(error)) => {
                    self.cut = Some(cut(number, &error));
                    break;
                }
            }
        }
        Ok(())
    }

    pub(super) fn read_pcapng(&mut self, input: impl Read) -> Result<(), PacketsError> {
        let mut reader = match PcapNgReader::new(input) {
            Ok(reader) => reader,
            Err(_) => return Err(PacketsError::Unknown),
        };
        let mut number = 1;
        loop {
            let packet = match reader.next_block() {
                None => break,
                Some(Ok(Block::EnhancedPacket(packet))) => packet.into_owned(),
                Some(Ok(_)) => continue,
                Some(Err(error)) => {
                    self.cut = Some(cut(number, &error));
                    break;
                }
            };
            let Some(interface) = reader.packet_interface(&packet) else {
                self.cut = Some(format!("packet {number} has an interface that is not described"));
                break;
            };
            // The library gives ticks of the interface's clock as if they were nanoseconds.
            let at = nanos(packet.timestamp.as_nanos(), interface);
            self.frame(interface.linktype, at, packet.original_len, &packet.data)?;
            number += 1;
        }
        Ok(())
    }
}
