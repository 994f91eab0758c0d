use super::*;
use alloc::vec;

use crate::LogCode;

const CODES: [LogCode; 3] = [LogCode::new(0xB139), LogCode::new(0xB064), LogCode::new(0x4005)];

const RANGE: MessageRange = MessageRange { first: 500, last: 502 };

fn lte_mask(bits: &[u8]) -> LogMask<'_> {
    LogMask { equipment: 0xB, items: 0x1C4, bits }
}

#[test]
fn a_mask_asks_for_what_it_was_made_of() {
    let bits = LogMask::bits_of(0xB, 0x1C4, &CODES);
    assert_eq!(bits.len(), 57);
    let mask = lte_mask(&bits);
    let asked = CODES.map(|code| mask.contains(code));
    assert_eq!(asked, [true, true, false]);
    assert!(!mask.contains(LogCode::new(0xB13A)));
    assert!(!mask.contains(LogCode::new(0xBFFF)));
}

#[test]
fn requests_are_read_as_they_were_written() {
    let bits = LogMask::bits_of(0xB, 0x1C4, &CODES);
    for request in [
        Request::Version,
        Request::BuildId,
        Request::LogDisable,
        Request::Protocol,
        Request::LogRanges,
        Request::LogMaskOf(0xB),
        Request::LogMask(lte_mask(&bits)),
        Request::MessageRanges,
        Request::MessageMaskOf(RANGE),
        Request::EventMask,
    ] {
        let mut payload = Vec::new();
        request.emit(&mut payload);
        assert_eq!(Request::parse(&payload), Some(request));
        assert_eq!(Request::parse(&payload[..payload.len() - 1]), None, "{request:?} cut");
    }
}

#[test]
fn answers_are_read_as_they_were_written() {
    let bits = LogMask::bits_of(0xB, 0x1C4, &CODES);
    for answer in [
        Answer::Version { compiled_on: b"Apr  2 2015", compiled_at: b"21:45:40" },
        Answer::BuildId(b"MPSS.DI.2.0.1"),
        Answer::LogDisabled,
        Answer::LogRanges(core::array::from_fn(|i| i as u32 * 100)),
        Answer::Protocol(2),
        Answer::LogMaskOf(lte_mask(&bits)),
        Answer::LogMask(lte_mask(&bits)),
        Answer::MessageRanges(&[1, 0, 9, 0, 0x10, 0, 0x20, 0]),
        Answer::MessageMaskOf(RANGE, &[7; 12]),
        Answer::EventMask(&[1, 2, 3]),
        Answer::LogRefused { operation: 3, status: 2 },
        Answer::Refused { refusal: Refusal::Length, command: Some(0x73) },
    ] {
        let mut payload = Vec::new();
        answer.emit(&mut payload);
        assert_eq!(Answer::parse(payload[0], &payload[1..]), Some(answer));
    }
}

#[test]
fn a_mask_shorter_than_its_item_count_is_invalid() {
    let mut payload = Vec::new();
    Request::LogMask(LogMask { equipment: 0xB, items: 80, bits: &[0; 9] }).emit(&mut payload);
    assert_eq!(Request::parse(&payload), None);
}

#[test]
fn the_answer_that_opens_a_capture_is_read() {
    let mut payload = vec![0x7C, 1, 0, 0, 0x41, 0x7B, 0, 0, 0xF3, 0x0F, 0, 0];
    payload.extend_from_slice(b"MPSS.DI.2.0.1.c2-00062\0\0");
    let text = Answer::BuildId(b"MPSS.DI.2.0.1.c2-00062");
    assert_eq!(Answer::parse(payload[0], &payload[1..]), Some(text));
}

#[test]
fn ranges_of_messages_are_read_one_by_one() {
    let found: Vec<_> = message_ranges(&[1, 0, 9, 0, 9, 0, 1, 0, 244, 1, 246, 1]).collect();
    assert_eq!(found, [MessageRange { first: 1, last: 9 }, RANGE]);
    assert_eq!(found[1].count(), 3);
}

#[test]
fn an_answer_cut_anywhere_is_none() {
    for answer in [
        Answer::Protocol(2),
        Answer::MessageRanges(&[1, 0, 9, 0]),
        Answer::MessageMaskOf(RANGE, &[7; 12]),
        Answer::EventMask(&[1, 2, 3]),
    ] {
        let mut payload = Vec::new();
        answer.emit(&mut payload);
        for cut in 1..payload.len() {
            assert_eq!(Answer::parse(payload[0], &payload[1..cut]), None, "{answer:?} at {cut}");
        }
    }
}
