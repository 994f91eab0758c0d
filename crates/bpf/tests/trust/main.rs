//! The limits of trust in `trust.h`, which the kernel runs, for any report of a device.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod any;
mod cut;
#[allow(dead_code, reason = "made for the laws, which exist twice")]
#[path = "../filter/mod.rs"]
mod filter;

use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use sounding_estimate::wire::{Payload, RadioDelay};
use sounding_estimate::{Bound, State};
use sounding_units::Rate;

static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("trust_host"));

const READ: u32 = 0;
const SEGMENT: u32 = 1;
const FORGET: u32 = 2;
const STEP: u32 = 3;
const READ_2: u32 = 4;
const WITHIN: u32 = 5;

/// Flags of a round: the application was its limit; its window was in use.
const LIMITED: u32 = 1;
const USED: u32 = 2;

/// The window of all steps.
const WINDOW: u32 = 2;

/// What `trust_segment` says.
const HEARD: u64 = 0;
const LATE: u64 = 1;
const FORGED: u64 = 2;

const MSS: u64 = 1448;
const PACKET: u64 = MSS + 52;
const RTT_US: u32 = 40_000;
const QUEUE_US: u32 = 15_000;
/// What 128 segments come to in both.
const BLIND: u64 = 128 * PACKET * 1_000_000 / (RTT_US + QUEUE_US) as u64;

/// One `struct host_step`.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    rate: u64,
    delivered_rate: u64,
    now_ns: u64,
    delivered: u32,
    prior_delivered: u32,
    lost: u32,
    mss: u32,
    rtt_us: u32,
    queue_us: u32,
    /// Half of a window of two segments, or none of it.
    inflight: u32,
    acked: u32,
    limited: u32,
    at_most: u64,
    word: u32,
    una: u32,
    nxt: u32,
    max_window: u32,
    lacks_stamp: u32,
    verb: u32,
}

impl Step {
    fn tell(&self, told: &mut Told) {
        told.longs(&[self.rate, self.delivered_rate, self.now_ns]);
        told.ints(&[self.delivered, self.prior_delivered, self.lost, self.mss, self.rtt_us]);
        told.ints(&[self.queue_us, self.inflight, WINDOW, self.acked, self.limited]);
        told.longs(&[self.at_most]);
        told.ints(&[self.word, self.una, self.nxt, self.max_window, self.lacks_stamp, self.verb]);
    }
}

fn ask(steps: &[Step]) -> Vec<[u64; 3]> {
    let mut told = Told::default();
    steps.iter().for_each(|step| step.tell(&mut told));
    let answers = FILTER.ask(told);
    let (answers, rest) = answers.as_chunks::<3>();
    assert_eq!((answers.len(), rest.len()), (steps.len(), 0));
    answers.to_vec()
}

/// The end of a round of ten segments, in which `claimed` was said and `delivered_rate` was the
/// most that arrived.
fn round(number: u32, claimed: u64, delivered_rate: u64, like: u32) -> Step {
    Step {
        rate: claimed,
        delivered_rate,
        delivered: number * 10 + 10,
        prior_delivered: number * 10,
        mss: MSS as u32,
        rtt_us: RTT_US,
        queue_us: QUEUE_US,
        inflight: u32::from(like & USED != 0),
        acked: 1,
        limited: like & LIMITED,
        verb: STEP,
        ..Step::default()
    }
}

/// IP packets that carry so much payload.
fn whole(payload: u64) -> u64 {
    payload * PACKET / MSS
}

#[test]
fn a_word_is_a_rate_and_whether_it_is_a_floor_and_no_more_than_the_limit() {
    let read = |word, at_most| ask(&[Step { word, at_most, verb: READ, ..Step::default() }])[0];
    assert_eq!(read(40_000, u64::MAX), [5_000_000, 5_000_000, 1]);
    assert_eq!(read(0x8000_0000 | 40_000, u64::MAX), [5_000_000, 5_000_000, 0]);
    assert_eq!(read(0, u64::MAX), [0, 0, 1]);
    assert_eq!(read(u32::MAX, 12_500_000_000), [268_435_455_875, 12_500_000_000, 0]);
    assert_eq!(read(1_000_000, 2_500_000), [125_000_000, 2_500_000, 1]);
}

#[test]
fn two_words_are_a_rate_and_a_fair_share_and_neither_more_than_the_limit() {
    let read = |words: u64, at_most| {
        let (word, una) = ((words >> 32) as u32, words as u32);
        ask(&[Step { word, una, at_most, verb: READ_2, ..Step::default() }])[0]
    };
    let says = Payload {
        rate: Some(Rate::from_bits_per_sec(1_024_000)),
        fair: Some(Rate::from_bits_per_sec(512_000)),
        users: Some(2),
        carriers: Some(1),
        state: State::Active,
        bound: Bound::Capacity,
        age: Duration::ZERO,
        delay: RadioDelay::of_code(0x1234),
    };
    let word = |says: Payload| u64::from_be_bytes(says.emit());
    assert_eq!(read(word(says), u64::MAX), [128_000, 128_000, 64_000]);
    assert_eq!(read(word(says), 100_000), [128_000, 100_000, 64_000]);
    assert_eq!(read(word(says), 50_000), [128_000, 50_000, 50_000]);
    assert_eq!(read(word(Payload { rate: None, ..says }), u64::MAX), [0, 0, 64_000]);
    assert_eq!(read(word(Payload { fair: None, ..says }), u64::MAX), [128_000, 128_000, 0]);
    // A state of a later version.
    assert_eq!(read(word(says) | 7 << 21, u64::MAX), [u64::MAX, 0, 0]);
}

#[test]
fn a_fair_share_is_believed_as_far_as_a_rate() {
    const ARRIVES: u64 = 2_500_000;
    const LIE: u64 = 125_000_000;
    let thrice = whole(ARRIVES) * 3;
    let mut steps: Vec<_> = (0..4).map(|number| round(number, ARRIVES, ARRIVES, USED)).collect();
    for (fair, believed) in [(LIE, thrice), (thrice, thrice), (ARRIVES, ARRIVES), (0, 0)] {
        let asks = Step { verb: WITHIN, ..round(3, fair, ARRIVES, USED) };
        let answers = ask(&[&steps[..], &[asks]].concat());
        assert_eq!(answers[4][0], believed, "{fair}");
    }
    // Where a rate is found out to be too high, so is a fair share.
    steps.extend((4..12).map(|number| round(number, LIE, ARRIVES, USED)));
    steps.push(Step { verb: WITHIN, ..round(11, LIE, ARRIVES, USED) });
    assert_eq!(ask(&steps)[12][0], whole(ARRIVES) * 9 / 8);
}

#[test]
fn a_segment_is_heard_whose_acknowledgement_tcp_takes() {
    let verdict = |ack: u32, una: u32, nxt: u32, max_window: u32, lacks_stamp: u32| {
        let step = Step { word: ack, una, nxt, max_window, lacks_stamp, ..Step::default() };
        ask(&[Step { verb: SEGMENT, ..step }])[0][0]
    };
    for base in [0u32, 1_000_000, u32::MAX - 50_000] {
        let at = |offset: i32| base.wrapping_add_signed(offset);
        let of = |offset: i32| verdict(at(offset), at(0), at(100_000), 60_000, 0);
        // Data that is under way, or was acknowledged last.
        assert_eq!([of(0), of(1), of(100_000)], [HEARD; 3]);
        // Overtaken ones, within the greatest window that there was: RFC 5961 §5.2.
        assert_eq!([of(-1), of(-60_000)], [LATE; 2]);
        assert_eq!([of(-60_001), of(100_001), of(1 << 30), of(-1 << 30)], [FORGED; 4]);
        assert_eq!(of(i32::MIN), FORGED);
        assert_eq!(verdict(at(0), at(0), at(100_000), 60_000, 1), FORGED);
    }
}

#[test]
fn a_claim_is_believed_up_to_three_times_the_arrivals_after_three_rounds() {
    const ARRIVES: u64 = 2_500_000;
    const LIE: u64 = 125_000_000;
    let steps: Vec<_> = (0..5).map(|number| round(number, LIE, ARRIVES, USED)).collect();
    let believed: Vec<_> = ask(&steps).iter().map(|answer| answer[0]).collect();
    let most = whole(ARRIVES) * 3;
    assert!(BLIND < most);
    assert_eq!(believed[..4], [most; 4]);
    // Where little has arrived yet, three rounds have the start.
    let steps: Vec<_> = (0..5).map(|number| round(number, LIE, 100_000, USED)).collect();
    let believed: Vec<_> = ask(&steps).iter().map(|answer| answer[0]).collect();
    assert_eq!(believed[..3], [BLIND; 3]);
    assert_eq!(believed[3], whole(100_000) * 3);
    // An honest claim is what is believed.
    assert_eq!(ask(&[round(0, 2_000_000, 100_000, USED)])[0][0], 2_000_000);
}

#[test]
fn a_claim_that_does_not_arrive_is_believed_up_to_an_eighth_above_arrivals() {
    const ARRIVES: u64 = 2_500_000;
    const LIE: u64 = 125_000_000;
    let believed = |steps: &[Step]| -> Vec<_> { ask(steps).iter().map(|step| step[0]).collect() };
    let (thrice, eighth) = (whole(ARRIVES) * 3, whole(ARRIVES) * 9 / 8);
    // The first round is what the others are compared with.
    let mut steps: Vec<_> = (0..12).map(|number| round(number, LIE, ARRIVES, USED)).collect();
    assert_eq!(believed(&steps), [[thrice; 4].as_slice(), &[eighth; 8]].concat());
    // A fifth more arrives: still the same path. A quarter more: a wider one.
    steps.push(round(12, LIE, ARRIVES * 6 / 5, USED));
    assert_eq!(believed(&steps)[12], whole(ARRIVES * 6 / 5) * 9 / 8);
    steps.push(round(13, LIE, ARRIVES * 5 / 4, USED));
    assert_eq!(believed(&steps)[13], whole(ARRIVES * 5 / 4) * 3);
    // A claim that is not cut is honest from then on.
    let mut steps: Vec<_> = (0..12).map(|number| round(number, LIE, ARRIVES, USED)).collect();
    steps.extend((12..14).map(|number| round(number, ARRIVES, ARRIVES, USED)));
    steps.push(round(14, LIE, ARRIVES, USED));
    assert_eq!(believed(&steps)[12..], [ARRIVES, ARRIVES, thrice]);
    // Rounds that the application or the reader limits are no evidence.
    for like in [LIMITED | USED, 0] {
        let steps: Vec<_> = (0..8).map(|number| round(number, LIE, ARRIVES, like)).collect();
        assert_eq!(believed(&steps), [thrice; 8]);
    }
}

#[test]
fn idleness_and_ten_rounds_at_the_applications_pace_make_the_path_unknown_again() {
    const LIE: u64 = 125_000_000;
    let little = whole(100_000) * 3;
    let mut steps: Vec<_> = (0..4).map(|number| round(number, LIE, 100_000, USED)).collect();
    let delivered = 50;
    steps.push(Step { delivered, verb: FORGET, ..Step::default() });
    // A restart from idle is no acknowledgement.
    steps.push(Step { acked: 0, ..round(5, LIE, 100_000, 0) });
    let answers = ask(&steps);
    assert_eq!((answers[3][0], answers[5][0]), (little, BLIND));

    let mut steps: Vec<_> = (0..4).map(|number| round(number, LIE, 100_000, USED)).collect();
    steps.extend((4..16).map(|number| round(number, LIE, 100_000, LIMITED)));
    let believed: Vec<_> = ask(&steps).iter().map(|answer| answer[0]).collect();
    // The tenth round of that kind ends with the eleventh that begins.
    assert_eq!(believed[4..14], [whole(100_000) * 9 / 8; 10]);
    assert_eq!(believed[14..], [BLIND; 2]);
}

#[test]
fn a_device_overstates_after_sixteen_rounds_and_a_faster_radio_does_not() {
    const ARRIVES: u64 = 2_500_000;
    let overstated = |steps: &[Step]| ask(steps).iter().map(|answer| answer[2]).max().unwrap();
    let lie: Vec<_> = (0..30).map(|number| round(number, 125_000_000, ARRIVES, USED)).collect();
    assert_eq!(overstated(&lie), 16);
    assert!(overstated(&lie[..18]) < 16);
    // A thousand times as fast all at once, and each round delivers what was believed in the one
    // before.
    let mut honest: Vec<_> = (0..5).map(|number| round(number, 125_000, 125_000, USED)).collect();
    let mut arrives = 125_000;
    for number in 5..40 {
        honest.push(round(number, 125_000_000, arrives, USED));
        let believed = ask(&honest).last().unwrap()[0];
        assert!(believed <= whole(arrives) * 3);
        arrives = believed * MSS / PACKET;
    }
    assert!(arrives > 110_000_000, "{arrives}");
    assert!(overstated(&honest) < 8);
    // An application that sends little, or a reader that takes little, does not show the path's
    // limit.
    for like in [LIMITED | USED, 0] {
        let little: Vec<_> =
            (0..40).map(|number| round(number, 125_000_000, ARRIVES, like)).collect();
        assert_eq!(overstated(&little), 0);
    }
}
