//! Reads captures in several ways and prints the CPU time of the fastest pass of each, as JSON
//! lines: for `scripts/bench-peers`, which takes turns with other parsers.

#[path = "../benches/ways/mod.rs"]
mod ways;

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use sounding_kpi::Subscription;

/// Passes of each way. The first of them finds nothing in the caches.
const PASSES: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut captures = Vec::new();
    for path in std::env::args_os().skip(1) {
        captures.push(std::fs::read(path)?);
    }
    let bytes: usize = captures.iter().map(Vec::len).sum();
    let seen: Vec<_> = captures.iter().map(|capture| ways::codes(capture)).collect();
    let records: u64 = seen.iter().flat_map(|seen| seen.values()).sum();
    let pass = |way: &str, read: &dyn Fn(usize) -> f64| {
        let once = || {
            let begin = cpu();
            for index in 0..captures.len() {
                black_box(read(index));
            }
            cpu() - begin
        };
        let fastest = (0..PASSES).map(|_| once()).min().unwrap_or_default();
        let seconds = fastest.as_secs_f64();
        println!(r#"{{"way":"{way}","records":{records},"bytes":{bytes},"seconds":{seconds:.6}}}"#);
    };
    for most in [1, usize::MAX] {
        let subscriptions: Vec<_> = seen
            .iter()
            .map(|seen| Subscription::of(ways::one_of_each(seen).into_iter().take(most)))
            .collect();
        let way = if most == 1 { "one KPI of one record" } else { "one KPI of each record" };
        pass(way, &|index| ways::kpis(&captures[index], subscriptions[index].clone()));
    }
    pass("every field", &|index| ways::every_field(&captures[index]));
    Ok(())
}

/// CPU time of this process: a machine that others use too takes longer by the clock.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
