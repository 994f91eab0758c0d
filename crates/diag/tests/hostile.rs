//! No input causes a panic. All bytes are frames or damage, records or errors.

mod synthetic;
mod targets;

use proptest::collection::vec;
use proptest::prelude::*;
use sounding_diag::LogCode;
use sounding_diag::capture::{Format, Kind, Reader, recognise};
use sounding_diag::hdlc::{Deframer, encode};
use sounding_diag::layout::Part;
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, Record, RecordError};

use targets::{FORMATS, Print, capture as read_capture, packets, read};

/// A capture of every version of every record.
fn capture(seed: u64) -> Vec<u8> {
    let mut stream = Vec::new();
    for (code, body) in synthetic::bodies(seed) {
        let mut payload = Vec::new();
        synthetic::record(code, &body).emit(&mut payload).expect("bodies are short");
        encode(&payload, &mut stream);
    }
    stream
}

/// The same capture in a format without frames, and the end of each record.
fn in_format(format: Format, seed: u64) -> (Vec<u8>, Vec<usize>) {
    let (mut stream, mut ends) = (Vec::new(), Vec::new());
    for (code, body) in synthetic::bodies(seed) {
        let log = synthetic::record(code, &body);
        format.emit(&Packet::Log(log), &mut stream).expect("bodies are short");
        ends.push(stream.len());
    }
    (stream, ends)
}

#[test]
fn a_capture_without_framing_cut_at_any_byte_loses_no_more_than_one_record() {
    for format in FORMATS {
        let (whole, ends) = in_format(format, 1);
        for cut in (1..whole.len()).step_by(7) {
            let complete = ends.iter().filter(|&&end| end <= cut).count();
            let found = packets(Kind::of(format), &whole[..cut], 1 << 16);
            let read = found.iter().filter(|(_, text)| text.starts_with("Log")).count();
            assert_eq!(read, complete, "{format} cut at {cut}");
            assert!(found.len() <= complete + 1, "{format} cut at {cut}");
        }
    }
}

#[test]
fn a_frame_that_the_end_of_a_capture_cuts_is_counted_with_its_place_and_size() {
    for format in [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf] {
        let (whole, ends) = in_format(format, 1);
        for cut in (ends[0]..whole.len()).step_by(3).chain(ends.iter().copied()) {
            let begin = ends.iter().copied().filter(|&end| end <= cut).max().expect("it is whole");
            let mut reader = Reader::of(Kind::of(format));
            let mut rest = &whole[..cut];
            while reader.poll_packet(&mut rest).is_some() {}
            while reader.poll_end().is_some() {}
            let counts = reader.counts();
            let expected = match (cut - begin) as u64 {
                0 => (None, 0),
                bytes => (Some(begin as u64), bytes),
            };
            assert_eq!((counts.cut_at, counts.cut_bytes), expected, "{format} cut at {cut}");
        }
    }
}

#[test]
fn a_record_is_read_whole_and_refused_at_every_shorter_length() {
    for seed in 0..8 {
        for (code, body) in synthetic::bodies(seed) {
            let version = body[0];
            assert_eq!(read(&synthetic::record(code, &body)), Ok(()), "{code} v{version}");
            for len in 0..body.len() - open_end(code, &body) {
                let cut = read(&synthetic::record(code, &body[..len]));
                assert!(
                    matches!(cut, Err(RecordError::Corrupt { need, have, .. }) if need > have),
                    "{code} v{version} cut to {len} of {}: {cut:?}",
                    body.len(),
                );
            }
        }
    }
}

/// Bytes of a message that extends to the end of its record.
fn open_end(code: LogCode, body: &[u8]) -> usize {
    let version = code.version_of(body).expect("it has a version");
    let layouts = record::layouts(code).expect("it is described");
    let layout = layouts.iter().find(|layout| layout.describes(version)).expect("it is described");
    match layout.parts.last() {
        Some(Part::Rest { .. }) => {
            let node = layout.node(body).expect("it is whole");
            node.message().map_or(0, <[u8]>::len)
        }
        _ => 0,
    }
}

#[test]
fn an_unknown_version_is_unsupported_whatever_follows() {
    for &code in record::CODES {
        let layouts = record::layouts(code).expect("it is described");
        let is_known = |version| layouts.iter().any(|layout| layout.describes(version));
        for byte in 0..=255 {
            let body = [byte; 5];
            let version = code.version_of(&body).expect("five bytes hold one");
            if is_known(version) {
                continue;
            }
            let refused = RecordError::Unsupported {
                code,
                version: record::Version::Packet(version),
                len: body.len(),
            };
            let log = synthetic::record(code, &body);
            assert_eq!(record::decode(&log, &mut Print::default()), Err(refused));
            assert_eq!(Record::parse(&log).err(), Some(refused));
        }
    }
}

#[test]
fn a_record_of_unknown_sub_packets_is_unsupported_and_its_known_part_decodes() {
    let body = [1, 1, 0, 0, 8, 99, 6, 0, 0xAA, 0xBB];
    let log = synthetic::record(LogCode::new(0xB064), &body);
    let version = record::Version::Sub { packet: 1, id: 8, version: 99 };
    let refused = RecordError::Unsupported { code: log.code, version, len: body.len() };
    assert_eq!(Record::parse(&log).err(), Some(refused));
    let mut printed = Print::default();
    assert_eq!(record::decode(&log, &mut printed), Ok(()));
    assert!(printed.0.ends_with("id=8 version=99 len_bytes=6 unsupported=true "), "{}", printed.0);
}

#[test]
fn an_undescribed_code_is_an_error_that_names_it() {
    let log = synthetic::record(LogCode::new(0xBFFF), &[26, 0, 0]);
    let refused = RecordError::Undescribed { code: log.code, len: 3 };
    assert_eq!(Record::parse(&log).err(), Some(refused));
    assert_eq!(record::decode(&log, &mut Print::default()), Err(refused));
}

#[test]
fn a_capture_cut_at_any_byte_loses_no_more_than_one_frame() {
    let whole = capture(1);
    let ends: Vec<usize> =
        (0..whole.len()).filter(|&at| whole[at] == 0x7E).map(|at| at + 1).collect();
    // The ends of frames, and a few places within. Testing every byte would take time quadratic in
    // the capture's length.
    let around = ends.iter().flat_map(|&end| end.saturating_sub(2)..end + 3);
    let within = (1..whole.len()).step_by(37);
    for cut in around.chain(within).filter(|cut| (1..whole.len()).contains(cut)) {
        let complete = ends.iter().filter(|&&end| end <= cut).count() as u64;
        let left = u64::from(!ends.contains(&cut));
        match read_capture(&whole[..cut]) {
            // Up to its check the first frame is a whole record of another format.
            Some(counts) if complete == 0 => assert!(counts.0 <= 1, "cut at {cut}"),
            Some(counts) => assert_eq!(counts, (complete, left, complete), "cut at {cut}"),
            None => assert_eq!(complete, 0, "cut at {cut}"),
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_in_any_chunks_are_frames_or_damage(
        bytes in vec(any::<u8>(), 0..2000),
        sizes in vec(1usize..300, 1..20),
    ) {
        let mut reader = Reader::new();
        let mut rest = bytes.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (mut chunk, tail) = rest.split_at((*size).min(rest.len()));
            rest = tail;
            while let Some(found) = reader.poll_packet(&mut chunk) {
                if let Ok(located) = found && let Packet::Log(log) = located.packet {
                    let _ = read(&log);
                }
            }
        }
        while reader.poll_end().is_some() {}
        prop_assert_eq!(reader.counts().frames.bytes, bytes.len() as u64);
        let _ = recognise(&bytes);
    }

    #[test]
    fn any_bytes_are_read_the_same_however_they_are_cut(
        bytes in vec(any::<u8>(), 0..1000),
        format in proptest::sample::select(&FORMATS),
        size in 1usize..200,
    ) {
        let kind = Kind::of(format);
        prop_assert_eq!(packets(kind, &bytes, size), packets(kind, &bytes, 1000));
    }

    /// Without a check a flipped bit may go unseen, and a wrong length takes what it covers; what
    /// follows is found again.
    #[test]
    fn a_flipped_bit_costs_a_capture_without_framing_only_what_it_covers(
        format in proptest::sample::select(&FORMATS),
        at in any::<proptest::sample::Index>(),
        bit in 0u8..8,
    ) {
        let (mut bytes, ends) = in_format(format, 2);
        let before = packets(Kind::of(format), &bytes, 1 << 16);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let after = packets(Kind::of(format), &bytes, 1 << 16);
        let lost = before.iter().filter(|row| !after.contains(row)).count();
        // A high bit of a length covers 32 KiB of records; everything else costs the record it is
        // in and at most one beside it.
        let covered = ends.iter().filter(|&&end| end > at && end <= at + (1 << 16)).count();
        prop_assert!(lost <= 2 || (format != Format::Hdlc && lost <= covered), "{}", lost);
    }

    #[test]
    fn a_session_ends_whatever_it_is_answered(
        // Lengths, commands and codes of answers often enough that some are understood.
        answers in vec(
            prop_oneof![
                vec(any::<u8>(), 0..40),
                (prop_oneof![Just(0x73_u8), Just(0x7D), Just(0x13), Just(0x81)], vec(0..5_u8, 0..30))
                    .prop_map(|(command, rest)| [vec![command], rest].concat()),
            ],
            0..40,
        ),
    ) {
        let stream: Vec<u8> = answers
            .iter()
            .flat_map(|answer| [&[answer.len() as u8][..], answer].concat())
            .collect();
        targets::session(&stream);
    }

    #[test]
    fn any_payload_survives_its_frame(
        payload in vec(prop_oneof![Just(0x7E), Just(0x7D), any::<u8>()], 1..500),
        before in vec(any::<u8>(), 0..50),
    ) {
        let mut stream = before.clone();
        stream.push(0x7E);
        encode(&payload, &mut stream);
        let mut input = stream.as_slice();
        let mut deframer = Deframer::new();
        let mut last = None;
        while let Some(frame) = deframer.poll_frame(&mut input) {
            last = Some(frame.map(|frame| frame.payload.to_vec()));
        }
        prop_assert_eq!(last, Some(Ok(payload)));
    }

    #[test]
    fn any_body_is_a_record_or_an_error(
        code in proptest::sample::select(record::CODES),
        body in vec(any::<u8>(), 0..400),
    ) {
        let _ = read(&synthetic::record(code, &body));
    }

    /// Right in its version, wrong in a few places: what goes deepest.
    #[test]
    fn any_damage_to_a_record_is_a_record_or_an_error(
        seed in any::<u64>(),
        damages in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..10),
    ) {
        for (code, mut body) in synthetic::bodies(seed) {
            for (at, byte) in &damages {
                let at = at.index(body.len());
                body[at] = *byte;
            }
            let _ = read(&synthetic::record(code, &body));
        }
    }

    #[test]
    fn a_flipped_bit_costs_no_more_than_two_frames(
        at in any::<proptest::sample::Index>(),
        bit in 0u8..8,
    ) {
        let mut bytes = capture(2);
        let frames = read_capture(&bytes).map(|(good, ..)| good);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let (good, ..) = read_capture(&bytes).expect("other frames are whole");
        prop_assert!(frames.is_some_and(|frames| good + 2 >= frames), "{:?} of {:?}", good, frames);
    }
}
