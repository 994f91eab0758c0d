//! `wire.h`, which the kernel runs, and the codec in Rust have the same bits for the same estimate,
//! and read the same from them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::sync::LazyLock;
use std::time::Duration;

use filter::{Filter, Told};
use proptest::prelude::*;
use sounding_estimate::wire::{Payload, RadioDelay};
use sounding_estimate::{Bound, State};
use sounding_units::Rate;

static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("wire_host"));

/// `enum estimate_bound` of intf.h.
fn bound_code(bound: Bound) -> u32 {
    match bound {
        Bound::Floor => 0,
        Bound::Capacity => 1,
    }
}

fn place(state: State) -> u32 {
    State::ALL.iter().position(|known| *known == state).unwrap() as u32
}

/// Bytes a second as C has them: zero is unknown, and a known zero the least that is written.
fn bytes_per_sec(rate: Option<Rate>) -> u64 {
    rate.map_or(0, |rate| rate.bytes_per_sec().max(1))
}

/// What both answer to an estimate that leaves, and to bytes that arrive.
///
/// With it the microseconds of both delays, where an unknown one is none.
type Answer = (u64, Option<(Payload, [u64; 2])>);

fn tell(told: &mut Told, says: &Payload, word: u64) {
    told.longs(&[bytes_per_sec(says.rate), bytes_per_sec(says.fair)]);
    told.ints(&[says.users.unwrap_or(0), says.carriers.unwrap_or(0), place(says.state)]);
    let age_ms = u32::try_from(says.age.as_millis()).unwrap();
    told.ints(&[bound_code(says.bound), age_ms, says.delay.code().into()]);
    told.longs(&[word]);
}

fn ours(says: &Payload, word: u64) -> Answer {
    let micros = |delay: Option<Duration>| delay.map_or(0, |delay| delay.as_micros() as u64);
    let read = Payload::parse(word.to_be_bytes())
        .ok()
        .map(|read| (read, [read.delay.retransmitted, read.delay.wait_longer].map(micros)));
    (u64::from_be_bytes(says.emit()), read)
}

fn theirs(
    [emitted, is_known, rate, fair, users, carriers, state, bound, age_ms, delays, held, longer]: [u64; 12],
) -> Answer {
    let known = |number: u64| Some(number).filter(|number| *number > 0);
    let payload = || Payload {
        rate: known(rate).map(Rate::from_bytes_per_sec),
        fair: known(fair).map(Rate::from_bytes_per_sec),
        users: known(users).map(|count| count as u32),
        carriers: known(carriers).map(|count| count as u32),
        state: State::ALL[state as usize],
        bound: if bound == 0 { Bound::Floor } else { Bound::Capacity },
        age: Duration::from_millis(age_ms),
        delay: RadioDelay::of_code(delays as u16),
    };
    (emitted, (is_known == 1).then(|| (payload(), [held, longer])))
}

fn agrees(steps: &[(Payload, u64)]) -> Result<(), TestCaseError> {
    let mut told = Told::default();
    steps.iter().for_each(|(says, word)| tell(&mut told, says, *word));
    let answers = steps.iter().map(|(says, word)| ours(says, *word)).collect();
    FILTER.agrees((told, answers), theirs)
}

fn says(rate: u64) -> Payload {
    Payload {
        rate: Some(Rate::from_bytes_per_sec(rate)),
        fair: None,
        users: None,
        carriers: None,
        state: State::Active,
        bound: Bound::Capacity,
        age: Duration::ZERO,
        delay: RadioDelay::default(),
    }
}

#[test]
fn every_code_of_a_rate_is_read_alike_and_the_rates_beside_it_have_the_same_codes() {
    let mut steps = Vec::new();
    for code in 0..=u64::from(u16::MAX) {
        let word = code << 48 | code << 32;
        let rate = Payload::parse(word.to_be_bytes()).unwrap().rate;
        let at = bytes_per_sec(rate);
        steps.extend([at.saturating_sub(1), at, at + 1].map(|rate| (says(rate), word)));
    }
    agrees(&steps).unwrap();
}

#[test]
fn where_a_rate_begins_to_round_up_is_the_same() {
    let steps: Vec<_> = (0..62)
        .flat_map(|power| (2_048..4_096u64).step_by(97).map(move |mantissa| (power, mantissa)))
        .filter_map(|(power, mantissa)| mantissa.checked_shl(power).map(|rate| (power, rate)))
        .flat_map(|(power, rate)| {
            let half = 1u64 << power >> 1;
            [rate, rate.saturating_add(half), rate.saturating_add(half).saturating_sub(1)]
        })
        .map(|rate| (says(rate & (u64::MAX >> 3)), 0))
        .collect();
    agrees(&steps).unwrap();
}

fn rate() -> impl Strategy<Value = Option<Rate>> {
    let any_power = (0u32..61, any::<u64>()).prop_map(|(power, random)| random >> 3 >> power);
    prop::option::weighted(0.9, any_power.prop_map(Rate::from_bytes_per_sec))
}

fn count() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![8 => (1..40u32).prop_map(Some), 1 => any::<u32>().prop_map(Some), 2 => Just(None)]
}

prop_compose! {
    fn payload()(
        rate in rate(),
        fair in rate(),
        users in count(),
        carriers in count(),
        state in prop::sample::select(State::ALL),
        bound in prop::sample::select(Bound::ALL),
        age_ms in prop_oneof![0..300u32, any::<u32>()],
        delays in any::<u16>(),
    ) -> Payload {
        let age = Duration::from_millis(age_ms.into());
        let delay = RadioDelay::of_code(delays);
        Payload { rate, fair, users, carriers, state, bound, age, delay }
    }
}

proptest! {
    #[test]
    fn what_is_said_has_the_same_bits_and_any_bits_say_the_same(
        steps in prop::collection::vec((payload(), any::<u64>()), 1..400),
    ) {
        agrees(&steps)?;
    }
}
