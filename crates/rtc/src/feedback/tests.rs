use core::time::Duration;

use proptest::prelude::*;

use super::{Feedback, FeedbackError, Tick};

/// Feedback with a run, both kinds of vector, and each length of delta, written by hand after the
/// draft's figures.
const BY_HAND: [u8; 40] = [
    0xAF, 205, 0, 9, // version 2, padding, format 15; ten words
    0, 0, 0, 1, // its sender
    0, 0, 0, 2, // the media's source
    0xFF, 0xFE, 0, 20, // the packets 65534 to 17
    0xFF, 0xFF, 0xFF, 7, // reference −64 ms, feedback 7
    0x20, 0x03, // a run of three small deltas
    0xB0, 0x01, // one bit each: 1 1 0 0 0 0 0 0 0 0 0 0 0 1
    0xD8, 0x00, // two bits each: 1 2 0, and what belongs to no packet
    4, 4, 4, 0, 255, 8, 2, // small
    0xFF, 0xFC, // −1 ms
    0, 0, 0, 0, 5, // padding
];

fn feedback(base: u16, arrivals: &[Option<i64>]) -> Result<Feedback, FeedbackError> {
    let arrivals = arrivals.iter().map(|at| at.map(Tick::from_steps)).collect();
    Feedback::new((1, 2), base, 0, arrivals)
}

#[test]
fn each_kind_of_chunk_and_of_delta_is_read() {
    let feedback = Feedback::parse(&BY_HAND).expect("it is whole");
    assert_eq!((feedback.sender, feedback.media, feedback.base, feedback.count), (1, 2, 65534, 7));
    let arrived: Vec<_> =
        feedback.packets().filter_map(|(sequence, at)| Some((sequence, at?.steps()))).collect();
    let expected =
        [(65534, -252), (65535, -248), (0, -244), (1, -244), (2, 11), (14, 19), (15, 21), (16, 17)];
    assert_eq!(arrived, expected);
    assert_eq!(feedback.packets().len(), 20);
}

#[test]
fn bytes_that_are_not_a_whole_feedback_are_refused_with_the_reason() {
    let with = |at: usize, value: u8| {
        let mut bytes = BY_HAND;
        bytes[at] = value;
        Feedback::parse(&bytes)
    };
    assert_eq!(with(0, 0x6F), Err(FeedbackError::Foreign));
    assert_eq!(with(0, 0xA1), Err(FeedbackError::Foreign));
    assert_eq!(with(1, 206), Err(FeedbackError::Foreign));
    assert_eq!(with(15, 0), Err(FeedbackError::Empty));
    assert_eq!(with(20, 0x60), Err(FeedbackError::Reserved(65534)));
    assert_eq!(with(39, 0), Err(FeedbackError::Padding));
    assert_eq!(with(39, 21), Err(FeedbackError::Padding));
    assert!(matches!(with(39, 8), Err(FeedbackError::Cut { .. })));
    assert_eq!(with(3, 10), Err(FeedbackError::Cut { have: 40, need: 44 }));
    for length in 0..BY_HAND.len() {
        assert!(matches!(Feedback::parse(&BY_HAND[..length]), Err(FeedbackError::Cut { .. })));
    }
}

#[test]
fn arrivals_that_a_delta_cannot_span_are_refused_and_change_nothing() {
    let most = i64::from(i16::MAX);
    assert!(feedback(0, &[Some(0), Some(most)]).is_ok());
    assert_eq!(feedback(0, &[Some(0), Some(most + 1)]), Err(FeedbackError::TooFarApart));
    assert_eq!(feedback(0, &[]), Err(FeedbackError::Empty));
    let mut whole = feedback(0, &[Some(1000), Some(1000 + most)]).expect("it fits");
    let before = whole.clone();
    let earlier =
        |sequence, at: Tick| at.without(Duration::from_millis(if sequence == 0 { 1 } else { 0 }));
    assert_eq!(whole.correct(earlier), Err(FeedbackError::TooFarApart));
    assert_eq!(whole, before);
}

#[test]
fn a_correction_moves_the_arrival_of_its_packet_and_no_other() {
    let mut feedback = feedback(65535, &[Some(100), None, Some(300), Some(301)]).expect("it fits");
    feedback
        .correct(|sequence, at| {
            at.without(if sequence == 1 { Duration::from_millis(30) } else { Duration::ZERO })
        })
        .expect("it fits");
    let read = Feedback::parse(&feedback.emit()).expect("it was written");
    let arrived: Vec<_> = read.packets().map(|(_, at)| at.map(Tick::steps)).collect();
    assert_eq!(arrived, [Some(100), None, Some(180), Some(301)]);
}

#[test]
fn long_runs_take_few_bytes() {
    let arrivals: Vec<_> = (0..10_000).map(|at| Some(at * 4)).collect();
    let bytes = feedback(5, &arrivals).expect("it fits").emit();
    // A header, two runs, a byte for each packet.
    assert_eq!(bytes.len(), 20 + 2 * 2 + 10_000);
    let lost: Vec<_> = (0..40).map(|at| (at == 0).then_some(0)).collect();
    // One vector of one bit each; the rest is a run.
    assert_eq!(feedback(5, &lost).expect("it fits").emit().len(), 28);
}

fn packets() -> impl Strategy<Value = Vec<Option<i64>>> {
    let gap = prop_oneof![
        4 => 0_i64..256,
        2 => -400_i64..400,
        1 => i64::from(i16::MIN)..=i64::from(i16::MAX),
    ];
    let packet = proptest::option::weighted(0.8, gap);
    let packets = proptest::collection::vec((packet, 1_usize..40), 1..60);
    let start = prop_oneof![
        3 => -1_000_000_i64..1_000_000,
        1 => Just(Tick::MIN.steps() + 100_000_i64),
        1 => Just(Tick::MAX.steps() - 100_000_i64),
    ];
    (start, packets).prop_map(|(mut at, gaps)| {
        let mut arrivals = Vec::new();
        for (gap, repeated) in gaps {
            for _ in 0..repeated {
                arrivals.push(gap.map(|gap| {
                    at = Tick::from_steps(at + gap).steps();
                    at
                }));
            }
        }
        arrivals
    })
}

proptest! {
    #[test]
    fn what_is_written_says_the_same(base: u16, packets in packets()) {
        let feedback = feedback(base, &packets).expect("each delta fits");
        let bytes = feedback.emit();
        prop_assert_eq!(bytes.len() % 4, 0);
        prop_assert_eq!(Feedback::parse(&bytes), Ok(feedback));
    }

    #[test]
    fn what_is_read_and_written_is_stable(bytes in proptest::collection::vec(any::<u8>(), 16..120)) {
        let mut whole = vec![0x8F, 205, 0, 0];
        whole.extend(bytes);
        whole.truncate(whole.len() / 4 * 4);
        whole[3] = u8::try_from(whole.len() / 4 - 1).expect("it is short");
        whole[14] &= 1;
        if let Ok(feedback) = Feedback::parse(&whole) {
            let written = feedback.emit();
            prop_assert!(written.len() <= whole.len() + 4);
            prop_assert_eq!(Feedback::parse(&written), Ok(feedback));
        }
    }
}
