use super::*;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use crate::hdlc::{BadFrameReason, MAX_PAYLOAD, encode};

fn stream(payloads: &[&[u8]]) -> Vec<u8> {
    let mut stream = Vec::new();
    payloads.iter().for_each(|payload| encode(payload, &mut stream));
    stream
}

#[test]
fn a_capture_may_start_and_end_within_a_frame() {
    let bytes = stream(&[b"\x1C first", b"\x7C second", b"\xEE\xEE third"]);
    let mut capture = Capture::new(&bytes[2..bytes.len() - 1]).unwrap();
    let mut commands = Vec::new();
    let mut damages = Vec::new();
    while let Some(found) = capture.poll_packet() {
        match found {
            Ok(Located { packet: Packet::Other { command, .. }, .. }) => commands.push(command),
            Ok(located) => panic!("{located:?}"),
            Err(damage) => damages.push(damage),
        }
    }
    assert_eq!(commands, vec![0x7C]);
    let reasons = damages.iter().map(|damage| match damage {
        Damage::Frame(bad) => bad.reason,
        Damage::Packet { .. } => panic!("{damage:?}"),
    });
    let reasons: Vec<_> = reasons.collect();
    assert!(matches!(reasons[..], [BadFrameReason::Check { .. }, BadFrameReason::Unterminated]));
    let counts = capture.counts();
    assert_eq!((counts.frames.good, counts.frames.bad, counts.others), (1, 2, 1));
    assert_eq!((counts.damaged(), counts.first_damage), (2, Some(damages[0])));
    assert_eq!(counts.cut_at, Some(damages[1].offset()));
    assert_eq!(counts.cut_bytes, counts.frames.bytes - damages[1].offset());
}

#[test]
fn a_frame_that_is_no_packet_is_counted_and_passed_over() {
    let bytes = stream(&[&[0x10, 0, 1], b"\x1C"]);
    let mut capture = Capture::new(&bytes).unwrap();
    assert!(matches!(capture.poll_packet(), Some(Err(Damage::Packet { offset: 0, .. }))));
    assert!(matches!(capture.poll_packet(), Some(Ok(_))));
    assert_eq!(capture.poll_packet(), None);
    let counts = capture.counts();
    assert_eq!((counts.bad_packets, counts.damaged(), counts.cut_at), (1, 1, None));
    assert_eq!(counts.first_damage.map(|damage| damage.offset()), Some(0));
}

#[test]
fn an_empty_file_is_an_error_of_its_own() {
    assert_eq!(Capture::new(&[]).map(|_| ()), Err(CaptureError::Empty));
}

#[test]
fn other_files_are_named() {
    for (bytes, looks) in [
        (&b"\x0A\x0D\x0D\x0Apcapng"[..], Looks::PcapNg),
        (b"\xD4\xC3\xB2\xA1", Looks::Pcap),
        (b"time,cell,rsrp\n", Looks::Text),
        (&[0; 100], Looks::Zeros),
        (b"\x01\x02\x03", Looks::Unknown),
    ] {
        let refused = CaptureError::NotDiag { searched: bytes.len(), looks };
        assert_eq!(recognise(bytes), Err(refused));
    }
}

/// A tar of one file, in the dialect that the bytes at 257 name.
fn tar(name: &[u8], dialect: &[u8], file: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name);
    header[124..136].copy_from_slice(format!("{:011o}\0", file.len()).as_bytes());
    header[156] = b'0';
    header[257..257 + dialect.len()].copy_from_slice(dialect);
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend(file);
    header.resize(header.len().next_multiple_of(512) + 1024, 0);
    header
}

#[test]
fn an_archive_is_named_also_if_it_holds_a_capture_without_compression() {
    let capture = records(Format::Hdlc, &[NOW, NOW + 1, NOW + 2]);
    for dialect in [&b"ustar\x0000"[..], b"ustar  \0", b""] {
        assert_eq!(
            recognise(&tar(b"a.qmdl", dialect, &capture)),
            Err(CaptureError::Packed("a tar"))
        );
    }
    for (magic, packing) in [
        (&b"\x1F\x8B\x08\x00"[..], "a gzip file"),
        (b"\x28\xB5\x2F\xFD\x04", "a zstd file"),
        (b"PK\x03\x04", "a zip"),
        (b"\xFD7zXZ\x00", "an xz file"),
        (b"BZh91AY&SY", "a bzip2 file"),
        (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
        (b"Rar!\x1A\x07\x01\x00", "a rar archive"),
    ] {
        let refused = CaptureError::Packed(packing);
        assert_eq!(refused.to_string(), format!("it is {packing}: unpack it first"));
        for bytes in [magic.to_vec(), [magic, b"~", &capture].concat()] {
            assert_eq!(recognise(&bytes), Err(refused.clone()));
        }
    }
}

#[test]
fn a_capture_whose_frames_stand_behind_padding_is_recognised_and_read() {
    // The first frame too, and none of the runs is as long as another.
    let mut bytes = Vec::new();
    for (index, run) in [200, 4, 17, 1, 60, 0, 7].into_iter().enumerate() {
        bytes.extend(vec![0x10; run]);
        bytes.extend(records(Format::Hdlc, &[NOW + index as u64]));
    }
    assert_eq!(recognise(&bytes), Ok(Kind::of(Format::Hdlc)));
    let seconds: Vec<_> = read(&bytes).into_iter().map(|(_, second)| second).collect();
    assert_eq!(seconds, (0..7).map(|index| Some(NOW + index)).collect::<Vec<_>>());
    let mut capture = Capture::new(&bytes).unwrap();
    while capture.poll_packet().is_some() {}
    let counts = capture.counts();
    assert_eq!((counts.logs, counts.damaged(), counts.frames.padding), (7, 0, 289));
}

#[test]
fn a_capture_that_starts_in_the_middle_of_the_longest_frame_is_recognised() {
    // Every byte escaped, twice in a row: nothing longer can precede a whole frame.
    let bytes = stream(&[&[0x7E; MAX_PAYLOAD], b"\x1C"]);
    assert_eq!(recognise(&bytes[1..]), Ok(Kind::of(Format::Hdlc)));
}

#[test]
fn a_long_file_is_not_searched_to_its_end() {
    let mut bytes = vec![0xAA; PROBE];
    encode(b"\x1C", &mut bytes);
    assert!(matches!(recognise(&bytes), Err(CaptureError::NotDiag { searched: PROBE, .. })));
}

/// A record for each of `stamps`, a second apart where they count seconds.
fn records(format: Format, seconds: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, &second) in seconds.iter().enumerate() {
        let stamp = (second * 800) << 16;
        let at = ModemInstant::from_diag(stamp);
        let body = vec![0x7E; 20 + index];
        let log = LogRecord { code: LogCode::new(0xB139), at, stamp, radio: None, body: &body };
        format.emit(&Packet::Log(log), &mut bytes).unwrap();
    }
    bytes
}

const FORMATS: [Format; 4] = [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf];
const NOW: u64 = 1_300_000_000;

/// Offset, and seconds of each record or `None` for damage.
fn read(bytes: &[u8]) -> Vec<(u64, Option<u64>)> {
    let mut capture = Capture::new(bytes).unwrap();
    let mut found = Vec::new();
    while let Some(packet) = capture.poll_packet() {
        found.push(match packet {
            Ok(Located { offset, packet: Packet::Log(log) }) => {
                (offset, Some((log.stamp >> 16) / 800))
            }
            Ok(other) => panic!("{other:?}"),
            Err(Damage::Frame(bad)) => (bad.offset, None),
            Err(Damage::Packet { offset, .. }) => (offset, None),
        });
    }
    assert_eq!(capture.counts().frames.bytes, bytes.len() as u64);
    found
}

#[test]
fn every_format_is_recognised_by_its_bytes() {
    for format in FORMATS {
        for count in [1, 2, 5] {
            let seconds: Vec<u64> = (NOW..NOW + count).collect();
            let bytes = records(format, &seconds);
            assert_eq!(recognise(&bytes), Ok(Kind::of(format)), "{count} records");
            let found: Vec<_> = read(&bytes).into_iter().map(|(_, second)| second).collect();
            assert_eq!(found, seconds.into_iter().map(Some).collect::<Vec<_>>(), "{format}");
        }
    }
}

#[test]
fn a_capture_without_framing_that_ends_within_a_record_loses_that_record() {
    for format in [Format::NonHdlc, Format::Hdf, Format::Dlf] {
        let whole = records(format, &[NOW, NOW + 1, NOW + 2]);
        let two = records(format, &[NOW, NOW + 1]).len();
        for cut in two + 1..whole.len() {
            let found = read(&whole[..cut]);
            let expected = [Some(NOW), Some(NOW + 1), None];
            assert!(found.iter().map(|&(_, second)| second).eq(expected), "{format} cut at {cut}");
            assert_eq!(found[2].0, two as u64, "{format} cut at {cut}");
        }
    }
}

#[test]
fn a_damaged_header_costs_its_record_and_its_place_is_reported() {
    for format in [Format::NonHdlc, Format::Hdf, Format::Dlf] {
        let seconds = [NOW, NOW + 1, NOW + 2, NOW + 3];
        let mut bytes = records(format, &seconds);
        let third = records(format, &seconds[..2]).len();
        bytes[third..third + 4].fill(0);
        let found = read(&bytes);
        let expected = [Some(NOW), Some(NOW + 1), None, Some(NOW + 3)];
        assert!(found.iter().map(|&(_, second)| second).eq(expected), "{format}: {found:?}");
        assert_eq!(found[2].0, third as u64, "{format}");
    }
}

#[test]
fn a_capture_without_framing_whose_beginning_is_lost_is_recognised() {
    for format in [Format::NonHdlc, Format::Hdf, Format::Dlf] {
        let bytes = records(format, &[NOW, NOW + 1, NOW + 2, NOW + 3]);
        let found = read(&bytes[3..]);
        let expected = [None, Some(NOW + 1), Some(NOW + 2), Some(NOW + 3)];
        assert!(found.iter().map(|&(_, second)| second).eq(expected), "{format}: {found:?}");
    }
}

#[test]
fn records_without_a_time_are_no_damage_wherever_they_are() {
    for format in FORMATS {
        for without in [0b1111, 0b0001, 0b1110, 0b1010, 0b0101, 0b0111, 0b1000] {
            let time = |at: u64| if without >> (at % 4) & 1 == 1 { 0 } else { NOW + at };
            let seconds: Vec<u64> = (0..40).map(time).collect();
            let bytes = records(format, &seconds);
            assert_eq!(recognise(&bytes), Ok(Kind::of(format)), "{without:b}");
            let found: Vec<_> = read(&bytes).into_iter().map(|(_, second)| second).collect();
            let all: Vec<_> = seconds.into_iter().map(Some).collect();
            assert_eq!(found, all, "{format} {without:b}");
        }
    }
}

#[test]
fn a_record_without_a_time_before_a_cut_is_read() {
    let whole = records(Format::Dlf, &[NOW, 0, NOW + 1]);
    let two = records(Format::Dlf, &[NOW, 0]).len();
    for cut in two..whole.len() {
        let found = read(&whole[..cut]);
        let seconds: Vec<_> = found.iter().filter_map(|(_, second)| *second).collect();
        assert_eq!(seconds, [NOW, 0], "cut at {cut}");
    }
}

#[test]
fn a_clock_that_is_set_is_believed() {
    let found = read(&records(Format::Dlf, &[5, 6, NOW, NOW + 1]));
    let seconds = found.into_iter().map(|(_, second)| second);
    assert!(seconds.eq([Some(5), Some(6), Some(NOW), Some(NOW + 1)]));
}

#[test]
fn what_precedes_the_records_of_a_qmdl2_is_skipped_and_counted() {
    for (framing, format) in [(0, Format::NonHdlc), (1, Format::Hdlc)] {
        let records = records(format, &[NOW, NOW + 1]);
        let mut bytes = vec![42, 0, 0, 0, 1, framing, 2, 0, 0, 0];
        bytes.extend([0x7E; 32]);
        bytes.extend_from_slice(&records);
        assert_eq!(recognise(&bytes), Ok(Kind { format, preamble: 42 }));
        let found = read(&bytes);
        assert!(found.iter().map(|&(_, second)| second).eq([Some(NOW), Some(NOW + 1)]));
        assert_eq!(found[0].0, 42);
    }
    assert_eq!(
        recognise(&[10, 0, 0, 0, 1, 1, 0, 0, 0, 0]),
        Ok(Kind { format: Format::Hdlc, preamble: 10 })
    );
}

#[test]
fn a_packet_that_a_format_has_no_place_for_is_refused_whole() {
    let other = Packet::Other { command: 0x7C, radio: None, body: b"build" };
    let mut out = Vec::new();
    for format in [Format::Hdf, Format::Dlf] {
        let refused = EmitError::NoPlace { command: 0x7C, format };
        assert_eq!(format.emit(&other, &mut out), Err(refused));
    }
    assert!(out.is_empty());
}

#[test]
fn a_payload_without_its_frame_is_read_and_counted() {
    let mut reader = Reader::new();
    let found = reader.handle_payload(b"\x1C\x01").unwrap();
    assert_eq!(found.packet, Packet::Other { command: 0x1C, radio: None, body: b"\x01" });
    assert!(matches!(reader.handle_payload(&[0x10, 0]), Err(Damage::Packet { offset: 2, .. })));
    let counts = reader.counts();
    assert_eq!((counts.frames.bytes, counts.frames.good), (4, 2));
    assert_eq!((counts.others, counts.bad_packets), (1, 1));
}
