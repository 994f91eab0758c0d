use std::borrow::Cow;
use std::time::Duration;

use etherparse::PacketBuilder;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, TsResolution};

use super::*;

/// A UDP packet to or from a phone.
fn packet(up: bool, size: usize) -> Vec<u8> {
    let (from, to) = if up { (5_000, 443) } else { (443, 5_000) };
    let ends = if up { ([10, 0, 0, 2], [192, 0, 2, 1]) } else { ([192, 0, 2, 1], [10, 0, 0, 2]) };
    let builder = PacketBuilder::ipv4(ends.0, ends.1, 64).udp(from, to);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![0; size]).unwrap();
    bytes
}

fn pcap(resolution: TsResolution, times: &[Duration]) -> Vec<u8> {
    let header =
        PcapHeader { datalink: DataLink::RAW, ts_resolution: resolution, ..PcapHeader::default() };
    let mut out = PcapWriter::with_header(Vec::new(), header).unwrap();
    for (place, time) in times.iter().enumerate() {
        let bytes = packet(place % 3 != 2, 100);
        out.write_packet(&PcapPacket::new(*time, bytes.len() as u32, &bytes)).unwrap();
    }
    out.into_writer()
}

/// What a clock of this resolution counts: the writer takes ticks for nanoseconds.
fn pcapng(resolution: Option<u8>, ticks: &[u64]) -> Vec<u8> {
    let mut out = PcapNgWriter::new(Vec::new()).unwrap();
    let mut interface = InterfaceDescriptionBlock::new(DataLink::RAW, 0xFFFF);
    interface.options.extend(resolution.map(InterfaceDescriptionOption::IfTsResol));
    out.write_pcapng_block(interface).unwrap();
    for ticks in ticks {
        let bytes = packet(true, 100);
        out.write_pcapng_block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(*ticks),
            original_len: bytes.len() as u32,
            data: Cow::Owned(bytes),
            options: Vec::new(),
        })
        .unwrap();
    }
    out.into_inner()
}

fn read(bytes: &[u8]) -> Packets {
    Packets::read(bytes).unwrap()
}

fn times(packets: &Packets) -> Vec<u64> {
    packets.packets.iter().map(|packet| packet.at_ns).collect()
}

#[test]
fn both_kinds_of_file_and_all_their_clocks_say_when_packets_came() {
    let at = [1_700_000_000_123_456_000, 1_700_000_000_223_456_000, 1_700_000_001_000_001_000];
    let spans = at.map(Duration::from_nanos);
    for resolution in [TsResolution::MicroSecond, TsResolution::NanoSecond] {
        let found = read(&pcap(resolution, &spans));
        assert_eq!(times(&found), at, "{resolution:?}");
        assert_eq!(found.packets[0].bytes, Some(128));
    }
    assert_eq!(times(&read(&pcapng(None, &at.map(|ns| ns / 1_000)))), at);
    assert_eq!(times(&read(&pcapng(Some(9), &at))), at);
    // A power of two.
    let ticks = (1_700_000_000 << 20) + (1 << 19);
    assert_eq!(times(&read(&pcapng(Some(0x80 | 20), &[ticks]))), [1_700_000_000_500_000_000]);
}

#[test]
fn flows_are_distinguished_and_the_largest_is_that_with_most_bytes() {
    let found = read(&pcap(TsResolution::NanoSecond, &[Duration::from_secs(1); 30]));
    let names: Vec<&str> = found.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["udp 10.0.0.2:5000 > 192.0.2.1:443", "udp 192.0.2.1:443 > 10.0.0.2:5000"]);
    assert_eq!((found.flows[0].packets, found.flows[1].packets), (20, 10));
    assert_eq!(found.largest(), Some(0));
    assert_eq!(
        (found.named("> 10.0.0.2"), found.named("udp"), found.named("tcp")),
        (Some(1), None, None)
    );
}

#[test]
fn a_file_that_ends_early_has_the_packets_before() {
    let times = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(3)];
    let whole = pcap(TsResolution::NanoSecond, &times);
    let found = read(&whole[..whole.len() - 10]);
    assert_eq!(found.packets.len(), 2);
    assert_eq!(found.cut.as_deref(), Some("it ends within packet 3"));
    let whole = pcapng(None, &[1, 2, 3]);
    let found = read(&whole[..whole.len() - 10]);
    assert_eq!((found.packets.len(), found.cut.is_some()), (2, true));
    assert_eq!(read(&pcapng(None, &[1])).cut, None);
}

#[test]
fn a_table_has_times_to_the_nanosecond_and_what_is_absent_is_unknown() {
    let table = "flow,time_s,bytes,sent_s\nb,1700000000.123456789,1500,3.5\na,1700000000,,\n\n";
    let found = read(table.as_bytes());
    let name = |packet: &Packet| found.flows[packet.flow as usize].name.clone();
    let [a, b] = &found.packets[..] else { panic!("{found:?}") };
    assert_eq!(
        (name(a).as_str(), a.at_ns, a.bytes, a.sent_ns),
        ("a", 1_700_000_000_000_000_000, None, None)
    );
    assert_eq!(
        (name(b).as_str(), b.at_ns, b.bytes, b.sent_ns),
        ("b", 1_700_000_000_123_456_789, Some(1500), Some(3_500_000_000))
    );
    assert_eq!(read(b"time_s\n1\n2\n").flows[0].name, "all");
    assert_eq!(times(&read(b"\xEF\xBB\xBFtime_s\n1\n")), times(&read(b"time_s\n1\n")));
}

#[test]
fn what_is_no_such_file_is_refused_with_the_place() {
    let said = |bytes: &[u8]| Packets::read(bytes).unwrap_err().to_string();
    for wrong in
        [&b""[..], b"hello\n", b"\x7fELF\x02\x01\x01", b"\xA1\xB2\xC3\xD4", b"\x0A\x0D\x0D\x0Aab"]
    {
        assert!(said(wrong).starts_with("is no pcap, no pcapng"), "{wrong:?}: {}", said(wrong));
    }
    assert_eq!(said(b"time_s,bytes\n1,2\nx,2\n"), "line 3: `time_s` is no time in seconds");
    assert_eq!(said(b"time_s,bytes\n1,two\n"), "line 2: `bytes` is no number");
    assert_eq!(said(b"time_s\n-1\n"), "line 2: `time_s` is no time in seconds");
    let long = [b"time_s\n".as_slice(), &[b'1'; 5_000]].concat();
    assert_eq!(said(&long), "line 2: is no text, or longer than 4096 bytes");
}

#[test]
fn any_change_of_a_file_is_read_or_refused() {
    let times: Vec<Duration> = (0..40).map(Duration::from_millis).collect();
    let files = [
        pcap(TsResolution::MicroSecond, &times),
        pcapng(Some(9), &(0..40).collect::<Vec<_>>()),
        b"time_s,bytes,flow\n1.5,2,a\n2.5,3,b\n".to_vec(),
    ];
    let mut read = 0;
    for file in &files {
        for place in (0..file.len()).step_by(7) {
            for change in [0x01, 0xFF] {
                let mut changed = file.clone();
                changed[place] ^= change;
                read += usize::from(Packets::read(&changed[..]).is_ok());
            }
            read += usize::from(Packets::read(&file[..place]).is_ok());
        }
    }
    assert!(read > 100, "{read}");
}
