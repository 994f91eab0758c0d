//! `peer_clock.h`: the clock of a peer's time stamps, its tick, and what becomes of a clock that is
//! set.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for laws that have a twin in Rust")]
mod filter;

use std::sync::LazyLock;

use filter::{Filter, Told};

static FILTER: LazyLock<Filter> = LazyLock::new(|| Filter::compile("peer_clock_host"));

const MS: u64 = 1_000_000;
/// An acknowledgement so often.
const EVERY_MS: u64 = 7;
const LASTS_MS: u64 = 40_000;

/// What is read of a clock of this tick that is stepped by so many milliseconds at these times: the
/// tick, and the reading.
fn read(
    tick_us: u64,
    first: u32,
    steps: &[(u64, i64)],
    silence: std::ops::Range<u64>,
) -> Vec<(u64, u64, u32)> {
    let times = (0..LASTS_MS).step_by(EVERY_MS as usize).filter(|ms| !silence.contains(ms));
    let times: Vec<u64> = times.collect();
    let mut told = Told::default();
    for ms in &times {
        let stepped: i64 = steps.iter().filter(|(at, _)| at <= ms).map(|(_, by)| by).sum();
        // ACKs are up to 3 ms late.
        let at_ms = (*ms - ms % 4) as i64 + stepped;
        let ticks = at_ms * 1000 / tick_us as i64;
        let stamp = first.wrapping_add(ticks as u32);
        told.longs(&[5_000 * MS + ms * MS, stamp.into()]);
    }
    let heard = FILTER.ask(told);
    let (pairs, rest) = heard.as_chunks::<2>();
    assert_eq!((pairs.len(), rest.len()), (times.len(), 0));
    times.iter().zip(pairs).map(|(ms, [tick, reading])| (*ms, *tick, *reading as u32)).collect()
}

/// How far readings are ever from the time that passed, in milliseconds, from the third second on.
fn off(read: &[(u64, u64, u32)]) -> u64 {
    let settled: Vec<_> = read.iter().filter(|(ms, ..)| *ms > 3_000).collect();
    let (from, _, first) = settled[0];
    let off = settled.iter().map(|(ms, tick, reading)| {
        let passed = u64::from(reading.wrapping_sub(*first)) * tick / MS;
        passed.abs_diff(ms - from)
    });
    off.max().unwrap()
}

#[test]
fn a_clock_that_is_set_goes_on_from_where_it_was() {
    let hour = 3_600_000;
    for tick_us in [1_000, 2_000] {
        for first in [1, u32::MAX - 900] {
            let steady = read(tick_us, first, &[], 0..0);
            // A measured tick is off by a thousandth.
            assert!(off(&steady) < 60, "{}", off(&steady));
            for by in [1_000, -1_000, hour, -hour, 20 * 24 * hour] {
                // Forwards or backwards, and back again.
                let seen = read(tick_us, first, &[(9_000, by), (21_000, -by)], 0..0);
                let most = off(&steady) + 30;
                assert!(off(&seen) < most, "{tick_us} us, {by} ms: off by {} ms", off(&seen));
                let settled = seen.iter().filter(|(ms, ..)| *ms > 3_000);
                let differs = |tick: u64| tick.abs_diff(tick_us * 1000) > 10_000;
                assert!(
                    !settled.clone().any(|(_, tick, _)| differs(*tick)),
                    "{tick_us} us, {by} ms"
                );
            }
        }
    }
}

#[test]
fn a_clock_of_microseconds_is_read_in_milliseconds_and_steps_alike() {
    for by in [0, 2_000, -2_000] {
        let seen = read(1, 77, &[(9_000, by), (21_000, -by)], 0..0);
        assert!(seen.iter().all(|(_, tick, _)| *tick == MS));
        assert!(off(&seen) < 40, "{by} ms: off by {} ms", off(&seen));
    }
}

#[test]
fn a_silence_is_no_step() {
    let seen = read(1_000, 1, &[], 8_000..20_000);
    assert!(off(&seen) < 20, "off by {} ms", off(&seen));
}
