use super::*;
use alloc::vec;

fn encoded(payloads: &[&[u8]]) -> Vec<u8> {
    let mut stream = Vec::new();
    payloads.iter().for_each(|payload| encode(payload, &mut stream));
    stream
}

/// Feeds a stream in chunks of `size`, and gives every outcome with its offset.
fn deframed(
    deframer: &mut Deframer,
    stream: &[u8],
    size: usize,
) -> Vec<Result<(u64, Vec<u8>), BadFrame>> {
    let mut found = Vec::new();
    for mut chunk in stream.chunks(size) {
        while let Some(frame) = deframer.poll_frame(&mut chunk) {
            found.push(frame.map(|frame| (frame.offset, frame.payload.to_vec())));
        }
    }
    found
}

#[test]
fn the_check_is_the_one_modems_write() {
    // The request for the version, as every tool sends it.
    assert_eq!(encoded(&[&[0]]), vec![0x00, 0x78, 0xF0, 0x7E]);
}

#[test]
fn terminators_and_escapes_within_a_payload_are_escaped() {
    let stream = encoded(&[&[0x7E, 0x7D, 0x5E]]);
    assert_eq!(stream[..5], [0x7D, 0x5E, 0x7D, 0x5D, 0x5E]);
    assert_eq!(stream.iter().filter(|&&byte| byte == 0x7E).count(), 1);
}

#[test]
fn frames_are_the_same_in_whatever_chunks_they_come() {
    let stream = encoded(&[b"\x10one", &[0x7D; 9], b"\x7E", &[0xFF; 300]]);
    let whole = deframed(&mut Deframer::new(), &stream, stream.len());
    assert_eq!(whole.len(), 4);
    assert!(whole.iter().all(Result::is_ok));
    for size in 1..stream.len() {
        assert_eq!(deframed(&mut Deframer::new(), &stream, size), whole, "chunks of {size}");
    }
}

#[test]
fn a_frame_is_where_the_last_terminator_was() {
    let mut stream = vec![0x7E, 0x7E];
    encode(b"first", &mut stream);
    stream.push(0x7E);
    let second = stream.len() as u64;
    encode(b"second", &mut stream);
    let found = deframed(&mut Deframer::new(), &stream, 5);
    let offsets: Vec<_> = found.into_iter().map(|frame| frame.unwrap().0).collect();
    assert_eq!(offsets, vec![2, second]);
}

#[test]
fn a_flipped_bit_is_a_bad_check_and_nothing_more() {
    let mut stream = encoded(&[b"broken", b"whole"]);
    stream[2] ^= 1;
    let found = deframed(&mut Deframer::new(), &stream, 64);
    assert!(matches!(
        found[0],
        Err(BadFrame { offset: 0, len: 8, reason: BadFrameReason::Check { .. } })
    ));
    assert_eq!(found[1], Ok((9, b"whole".to_vec())));
}

#[test]
fn an_aborted_frame_differs_from_a_damaged_one() {
    for size in [1, 64] {
        let found = deframed(&mut Deframer::new(), &[1, 2, 3, 0x7D, 0x7E], size);
        let given_up = BadFrame { offset: 0, len: 4, reason: BadFrameReason::Escape };
        assert_eq!(found, vec![Err(given_up)], "chunks of {size}");
    }
}

#[test]
fn too_short_for_a_check_is_too_short() {
    for len in 1..=2 {
        let mut stream = vec![0xAA; len];
        stream.push(0x7E);
        let found = deframed(&mut Deframer::new(), &stream, 64);
        assert!(matches!(found[..], [Err(BadFrame { reason: BadFrameReason::Short, .. })]));
    }
}

#[test]
fn the_limit_holds_for_the_payload_and_costs_one_frame() {
    let stream = encoded(&[&[0x55; 100], &[0x7E; 100], &[0x55; 101], &[0x7E; 101], b"next"]);
    for size in [1, 7, 64, stream.len()] {
        let mut deframer = Deframer::with_limit(100);
        let good: Vec<_> =
            deframed(&mut deframer, &stream, size).iter().map(Result::is_ok).collect();
        assert_eq!(good, vec![true, true, false, false, true], "chunks of {size}");
    }
}

#[test]
fn no_limit_is_a_limit_too() {
    let stream = encoded(&[&[0x7E; 100]]);
    let found = deframed(&mut Deframer::with_limit(usize::MAX), &stream, 3);
    assert!(matches!(found[..], [Ok(_)]));
}

#[test]
fn a_stream_without_terminators_holds_no_memory() {
    let mut deframer = Deframer::with_limit(100);
    for _ in 0..1000 {
        assert_eq!(deframed(&mut deframer, &[0x55; 64], 64), vec![]);
        assert!(deframer.held.capacity() <= 1024, "{}", deframer.held.capacity());
    }
    assert_eq!(deframer.counts().bytes, 64_000);
}

#[test]
fn what_is_left_at_the_end_is_named() {
    let mut deframer = Deframer::new();
    let mut stream = encoded(&[b"whole"]);
    stream.extend_from_slice(b"half");
    assert_eq!(deframed(&mut deframer, &stream, 3).len(), 1);
    let left = BadFrame { offset: 8, len: 4, reason: BadFrameReason::Unterminated };
    assert_eq!(deframer.handle_end(), Some(left));
    assert_eq!(deframer.handle_end(), None);
    assert_eq!(deframer.counts(), FrameCounts { bytes: 12, good: 1, bad: 1, padding: 0 });
}

mod behind {
    use super::*;
    use crate::LogCode;
    use crate::packet::{LOG, LogRecord, MAX_BODY};
    use sounding_units::ModemInstant;

    fn log(radio: Option<u32>, body: &[u8]) -> Vec<u8> {
        let at = ModemInstant::default();
        let record = LogRecord { code: LogCode::new(0xB0C0), at, stamp: 0x7D7E, radio, body };
        let mut payload = Vec::new();
        record.emit(&mut payload).expect("it fits");
        payload
    }

    #[test]
    fn a_frame_behind_a_run_of_one_byte_is_read_and_the_run_counted() {
        for radio in [None, Some(1)] {
            for (run, fill) in [(1, LOG), (4, LOG), (17, LOG), (200, LOG), (3, 0), (60, 0xFF)] {
                let payload = log(radio, &[0x10; 40]);
                let mut stream = encoded(&[b"first"]);
                let offset = stream.len() as u64;
                stream.resize(stream.len() + run, fill);
                encode(&payload, &mut stream);
                for size in [1, 7, stream.len()] {
                    let mut deframer = Deframer::new();
                    let found = deframed(&mut deframer, &stream, size);
                    assert_eq!(found[1], Ok((offset, payload.clone())), "{run} of {fill:#x}");
                    let counts = deframer.counts();
                    assert_eq!((counts.good, counts.bad), (2, 0));
                    assert_eq!(counts.padding, run as u64);
                }
            }
        }
    }

    #[test]
    fn a_header_that_fits_is_no_frame_without_a_right_check() {
        let mut stream = vec![LOG; 9];
        encode(&log(None, b"body"), &mut stream);
        let last = stream.len() - 2;
        stream[last] ^= 1;
        let found = deframed(&mut Deframer::new(), &stream, 64);
        assert!(matches!(found[..], [Err(BadFrame { reason: BadFrameReason::Check { .. }, .. })]));
    }

    #[test]
    fn a_frame_full_of_headers_is_checked_a_few_times_only() {
        // A run of one byte announces the same length everywhere, which is the rest in one place.
        let mut bytes = vec![LOG; MAX_BODY];
        assert_eq!(places(&bytes).count(), 1);
        let end = bytes.len();
        for at in (0..end - 20).step_by(6) {
            let rest = ((end - at - 4) as u16).to_le_bytes();
            bytes[at + 2..at + 6].copy_from_slice(&[rest[0], rest[1], rest[0], rest[1]]);
        }
        assert!(packet::logs_to_the_end(&bytes).count() > 10_000);
        bytes.extend([0, 0]);
        assert!(places(&bytes).count() <= MOST_PLACES);
        let mut stream = Vec::new();
        escape(&bytes, &mut stream);
        stream.push(TERMINATOR);
        assert!(deframed(&mut Deframer::new(), &stream, stream.len())[0].is_err());
    }
}
