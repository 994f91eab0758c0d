//! Runs the fuzz targets with their seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod targets;

use std::collections::BTreeMap;
use std::path::PathBuf;

fn corpus_of(target: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus")).join(target)
}

fn corpus() -> PathBuf {
    corpus_of("export")
}

#[test]
fn seeds_are_written_in_every_format_and_read_back() {
    let mut records = 0;
    for file in std::fs::read_dir(corpus()).unwrap() {
        records += targets::export(&std::fs::read(file.unwrap().path()).unwrap());
    }
    assert!(records > 200, "{records}");
}

#[test]
fn seeds_of_packets_are_read() {
    let mut packets = 0;
    for file in std::fs::read_dir(corpus_of("packets")).unwrap() {
        packets += targets::packets(&std::fs::read(file.unwrap().path()).unwrap());
    }
    assert_eq!(packets, 3 * 4 + 2);
}

/// Files of packets: UDP over raw IP, over Ethernet, and in a pcapng.
fn files_of_packets() -> [(&'static str, Vec<u8>); 4] {
    use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
    use pcap_file::pcapng::PcapNgWriter;
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
    use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
    use pcap_file::{DataLink, TsResolution};

    let frame = |link: DataLink, port: u16| {
        let mut bytes = Vec::new();
        let ends = ([10, 0, 0, 2], [192, 0, 2, 1]);
        match link {
            DataLink::ETHERNET => etherparse::PacketBuilder::ethernet2([2; 6], [4; 6])
                .ipv4(ends.0, ends.1, 64)
                .udp(port, 443)
                .write(&mut bytes, &[0; 8]),
            _ => etherparse::PacketBuilder::ipv4(ends.0, ends.1, 64)
                .udp(port, 443)
                .write(&mut bytes, &[0; 8]),
        }
        .unwrap();
        bytes
    };
    let pcap = |datalink: DataLink, ts_resolution: TsResolution| {
        let header = PcapHeader { datalink, ts_resolution, ..PcapHeader::default() };
        let mut out = PcapWriter::with_header(Vec::new(), header).unwrap();
        for place in 0..4_u16 {
            let bytes = frame(datalink, 5_000 + place % 2);
            let at = std::time::Duration::from_millis(1_000 + u64::from(place));
            out.write_packet(&PcapPacket::new(at, bytes.len() as u32, &bytes)).unwrap();
        }
        out.into_writer()
    };
    let mut out = PcapNgWriter::new(Vec::new()).unwrap();
    let interface = InterfaceDescriptionBlock::new(DataLink::RAW, 0xFFFF);
    out.write_pcapng_block(interface).unwrap();
    for place in 0..4_u16 {
        let bytes = frame(DataLink::RAW, 5_000 + place);
        out.write_pcapng_block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: std::time::Duration::from_nanos(1_000 + u64::from(place)),
            original_len: bytes.len() as u32,
            data: bytes.into(),
            options: Vec::new(),
        })
        .unwrap();
    }
    [
        ("raw.pcap", pcap(DataLink::RAW, TsResolution::NanoSecond)),
        ("ethernet.pcap", pcap(DataLink::ETHERNET, TsResolution::MicroSecond)),
        ("raw.pcapng", out.into_inner()),
        ("table.csv", b"time_s,bytes,flow,sent_s\n1.5,1500,a,0.5\n2.000000001,,b,\n".to_vec()),
    ]
}

/// `cargo test -p sounding-export --test corpus -- --ignored packets`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate_packets() {
    std::fs::create_dir_all(corpus_of("packets")).unwrap();
    for (name, bytes) in files_of_packets() {
        std::fs::write(corpus_of("packets").join(name), bytes).unwrap();
    }
}

/// `cargo test -p sounding-export --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    let mut by_code: BTreeMap<_, Vec<u8>> = BTreeMap::new();
    for (code, body) in synthetic::bodies(0) {
        let seed = by_code.entry(code).or_default();
        seed.extend(code.number().to_le_bytes());
        seed.extend((body.len() as u16).to_le_bytes());
        seed.extend(body);
    }
    // Every version of a code together: a table has columns for all of them.
    for (code, seed) in by_code {
        std::fs::write(corpus().join(code.to_string().to_lowercase()), seed).unwrap();
    }
    // An unknown version and an unknown code.
    std::fs::write(corpus().join("undescribed"), b"\x39\xB1\x02\x00\xFF\xFF\xFF\x1F\x03\x00abc")
        .unwrap();
    // A record with a time, and two without: their codes and lengths make a stamp of zero.
    let bodies = [[0x00, 0xB0, 1, 0, 7].to_vec(), [0x00, 0xB0, 0, 1].to_vec()];
    let untimed = [vec![7; 256], [0x00, 0xB8, 0, 1].to_vec(), vec![7; 256]].concat();
    std::fs::write(corpus().join("no-time"), [bodies.concat(), untimed].concat()).unwrap();
}
