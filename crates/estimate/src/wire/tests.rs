use std::format;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::{Direction, MAX_RATE, Source};

fn bits(bits: u64) -> Option<Rate> {
    Some(Rate::from_bits_per_sec(bits))
}

#[test]
fn every_code_is_the_code_of_its_rate_and_larger_codes_are_larger_rates() {
    let rates: Vec<_> = (0..=u16::MAX).map(rate_of).collect();
    assert!(rates.windows(2).all(|pair| pair[0] < pair[1]));
    assert!((0..=u16::MAX).all(|code| code_of(rate_of(code)) == code));
}

#[test]
fn a_rate_of_zero_is_known_and_an_unknown_one_is_zero() {
    assert_eq!((code_of(None), rate_of(0)), (0, None));
    assert_eq!(code_of(bits(0)), 1);
    assert_eq!(rate_of(1), bits(8));
}

#[test]
fn small_rates_are_exact_and_too_large_ones_are_the_largest() {
    assert_eq!(rate_of(code_of(bits(8_000))), bits(8_000));
    assert_eq!(rate_of(code_of(bits(4_095 * 8))), bits(4_095 * 8));
    assert_eq!(rate_of(u16::MAX), Some(Rate::from_bytes_per_sec(MOST)));
    assert_eq!(code_of(Some(Rate::MAX)), u16::MAX);
    assert!(MOST > MAX_RATE.bytes_per_sec());
}

fn payload() -> Payload {
    Payload {
        rate: bits(40_000_000),
        fair: bits(12_000_000),
        users: Some(3),
        carriers: Some(2),
        state: State::Silent,
        bound: Bound::Floor,
        age: Duration::from_millis(48),
        delay: RadioDelay {
            retransmitted: Some(Duration::from_micros(3_400)),
            wait_longer: Some(Duration::ZERO),
        },
    }
}

#[test]
fn each_field_has_its_place() {
    let bytes = payload().emit();
    // 5 000 000 is 2441.4 << 11, and 1 500 000 is 2929.7 << 9: (exponent << 11) + the nearest.
    let codes = [(11u16 << 11) + 2441, (9 << 11) + 2930].map(u16::to_be_bytes);
    assert_eq!(bytes[..4], codes.concat());
    assert_eq!(bytes[4..], [3 << 3 | 2, 3 << 5 | 1 << 4 | 3, 13 + 1, 1]);
}

#[test]
fn what_is_not_known_is_zero() {
    let unknown = Payload {
        rate: None,
        fair: None,
        users: None,
        carriers: None,
        state: State::Active,
        bound: Bound::Capacity,
        age: Duration::ZERO,
        delay: RadioDelay::default(),
    };
    assert_eq!(unknown.emit(), [0; 8]);
    assert_eq!(Payload::parse([0; 8]), Ok(unknown));
    assert_eq!(unknown.fair_share(), None);
}

#[test]
fn the_largest_count_or_age_means_that_or_more() {
    let large = Payload { users: Some(400), carriers: Some(32), age: Duration::MAX, ..payload() };
    let read = Payload::parse(large.emit()).expect("a state that is known");
    assert_eq!((read.users, read.carriers), (Some(31), Some(7)));
    assert_eq!(read.age, Duration::from_millis(240));
}

#[test]
fn a_delay_of_the_radio_is_rounded_down_and_an_unknown_one_is_not_zero() {
    let told = |us: u64| {
        let retransmitted = Some(Duration::from_micros(us));
        let delay = RadioDelay { retransmitted, wait_longer: None };
        let read = Payload::parse(Payload { delay, ..payload() }.emit()).expect("a known state");
        assert_eq!(read.delay.wait_longer, None);
        read.delay.retransmitted.expect("it is known").as_micros()
    };
    assert_eq!([0, 249, 250, 3_999, 63_499].map(told), [0, 0, 250, 3_750, 63_250]);
    assert_eq!([63_500, u64::MAX].map(told), [63_500; 2]);
}

#[test]
fn every_code_of_delays_is_the_code_of_what_it_says() {
    assert!((0..=u16::MAX).all(|code| RadioDelay::of_code(code).code() == code));
    // A device of the version before writes this.
    assert_eq!(RadioDelay::of_code(0), RadioDelay::default());
}

#[test]
fn a_reader_of_the_version_before_reads_the_rest_as_ever() {
    let with = u64::from_be_bytes(payload().emit());
    let without = Payload { delay: RadioDelay::default(), ..payload() };
    assert_eq!(with & !0xFFFF, u64::from_be_bytes(without.emit()));
}

#[test]
fn a_state_of_a_later_version_is_an_error() {
    let states = State::ALL.len() as u8;
    for place in 0..8 {
        let mut bytes = payload().emit();
        bytes[5] = bytes[5] & 0x1F | place << 5;
        let read = Payload::parse(bytes);
        let known = State::ALL.get(usize::from(place)).copied();
        assert_eq!(read.map(|payload| payload.state), known.ok_or(UnknownState { place }));
        assert_eq!(read.is_err(), place >= states);
    }
}

#[test]
fn a_rate_that_may_not_be_used_is_reported_as_unknown_and_the_fair_share_is_not() {
    let fair = FairShare::new(Rate::from_bits_per_sec(8_000_000), 4, 1);
    let estimate = LinkEstimate::new(
        Direction::Downlink,
        Rate::from_bits_per_sec(20_000_000),
        Bound::Capacity,
    )
    .with_age(Duration::from_millis(20))
    .with_source(Source::Cell)
    .with_fair(Some(fair));
    let usable = Payload::of(&estimate);
    assert_eq!((usable.rate, usable.fair_share()), (Some(estimate.rate), Some(fair)));
    let idle = Payload::of(&estimate.with_state(State::Idle));
    assert_eq!((idle.rate, idle.fair_share()), (None, Some(fair)));
    for state in [State::Handover, State::Stale] {
        let unknown = Payload::of(&estimate.with_state(state));
        assert_eq!((unknown.rate, unknown.fair_share(), unknown.state), (None, None, state));
    }
}

/// 8 kbit/s to 100 Gbit/s, each power of ten alike.
fn rate() -> impl Strategy<Value = u64> {
    (13u32..37, any::<u64>())
        .prop_map(|(power, random)| (1 << power) | random & ((1 << power) - 1))
        .prop_filter("no radio's", |bits| (8_000..=MAX_RATE.bits_per_sec()).contains(bits))
}

proptest! {
    #[test]
    fn a_rate_comes_back_to_within_a_thousandth(bits in rate()) {
        let back = rate_of(code_of(Some(Rate::from_bits_per_sec(bits)))).expect("it is known");
        prop_assert!(back.bits_per_sec().abs_diff(bits) * 1_000 <= bits, "{bits} is {back:?}");
    }

    #[test]
    fn a_larger_rate_has_no_smaller_code(one in any::<u64>(), other in any::<u64>()) {
        let code = |bits| code_of(Some(Rate::from_bits_per_sec(bits)));
        prop_assert!(code(one.min(other)) <= code(one.max(other)));
        prop_assert!(code(one) > 0);
    }

    #[test]
    fn whatever_arrives_is_an_error_or_is_written_again_as_it_came(word in any::<u64>()) {
        match Payload::parse(word.to_be_bytes()) {
            Ok(payload) => prop_assert_eq!(u64::from_be_bytes(payload.emit()), word),
            Err(UnknownState { place }) => {
                prop_assert!(usize::from(place) >= State::ALL.len());
                let text = format!("{}", UnknownState { place });
                prop_assert!(text.contains(&format!("state {place} ")), "{}", text);
            }
        }
    }
}
