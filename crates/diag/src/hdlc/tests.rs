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
    assert_eq!(deframer.counts(), FrameCounts { bytes: 12, good: 1, bad: 1 });
}
