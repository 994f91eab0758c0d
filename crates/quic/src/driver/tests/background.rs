//! `background` behind a stack: it has no receiver's clock and no timer here.

use std::sync::Mutex;

use super::*;

/// Packets a millisecond: 38 Mbit/s.
const CELL: u64 = 4;

/// Milliseconds from, to: with a second user of the cell, who takes half of it.
const RIVAL: (u64, u64) = (20_000, 40_000);

/// A cell in turns serves a newcomer alone for so long, until it has had as much as the others: after so long without data.
const NEWCOMER_MS: u64 = 80;
const AWAY_MS: u64 = 100;

/// What was delivered in each second, Mbit/s, and the segments in flight 20 ms before the end of each silence.
struct Seen {
    by_second: Vec<f64>,
    in_silence: Vec<u64>,
}

impl Seen {
    fn mean(&self, from: usize, to: usize) -> f64 {
        self.by_second[from..to].iter().sum::<f64>() / (to - from) as f64
    }
}

/// A minute in a cell, with an application that wakes the connection 3 ms late, or without one.
fn run(waking: bool) -> (Seen, Vec<Duration>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let mut driver = driver("background", &EstimateHandle::new()).without_pacing_rates();
    if waking {
        let kept = Arc::clone(&calls);
        driver = driver.waking(Arc::new(move |span| kept.lock().unwrap().push(span)));
    }
    let mut stack = Stack::new(driver, CELL);
    let mut seen = Seen { by_second: Vec::new(), in_silence: Vec::new() };
    let (mut before, mut away, mut newcomer) = (0, 0, 0);
    for ms in 0..60_000 {
        // Two segments in a round trip are less than its part.
        if stack.queue_ms() > 3.0 {
            newcomer = if away > AWAY_MS { NEWCOMER_MS } else { newcomer };
            away = 0;
        } else {
            away += 1;
        }
        newcomer = u64::saturating_sub(newcomer, 1);
        let is_beside = (RIVAL.0..RIVAL.1).contains(&ms) && newcomer == 0;
        stack.users = if is_beside { 2 } else { 1 };
        stack.pass(u64::MAX);
        let left = stack.driver.poll_silence().map(|until| until - at(stack.now_ms));
        // What was under way when it began has come by then.
        if left.is_some_and(|left| (19..20).contains(&left.as_millis())) {
            seen.in_silence.push(stack.in_flight() / MTU);
        }
        if (ms + 1) % 1000 == 0 {
            seen.by_second.push((stack.delivered - before) as f64 * 8e-6);
            before = stack.delivered;
        }
    }
    let calls = calls.lock().unwrap().clone();
    (seen, calls)
}

/// What the cell carries.
const ALL: f64 = (CELL * MTU * 8) as f64 / 1000.0;

#[test]
fn it_goes_by_the_arrival_of_acknowledgements_and_yields_to_a_rival() {
    for waking in [false, true] {
        let (seen, _) = run(waking);
        let (alone, beside, again) = (seen.mean(5, 20), seen.mean(22, 40), seen.mean(45, 60));
        println!(
            "waking {waking}: {alone:.1}, {beside:.1}, {again:.1} of {ALL:.1} Mbit/s: {:.0?}",
            seen.by_second
        );
        assert!(alone > 0.8 * ALL, "alone it has {alone} of {ALL}");
        assert!(beside < 0.2 * ALL, "beside a rival it has {beside} of {ALL}");
        assert!(again > 0.75 * ALL, "afterwards it has {again} of {ALL}");
    }
}

#[test]
fn two_segments_are_in_flight_during_a_silence_and_none_if_the_application_wakes() {
    let (mut seen, calls) = run(false);
    // The first silence may be over before the queue of the opening is.
    seen.in_silence.remove(0);
    assert!(calls.is_empty() && seen.in_silence.len() > 5, "{:?}", seen.in_silence);
    assert!(seen.in_silence.iter().all(|segments| *segments <= 2), "{:?}", seen.in_silence);
    assert!(seen.in_silence.contains(&2), "it has no other clock: {:?}", seen.in_silence);
    let (mut seen, calls) = run(true);
    seen.in_silence.remove(0);
    assert!(seen.in_silence.len() > 5, "{:?}", seen.in_silence);
    assert!(seen.in_silence.iter().all(|segments| *segments == 0), "{:?}", seen.in_silence);
    // One call for each silence, 4 s at most.
    assert!(calls.len().abs_diff(seen.in_silence.len()) <= 2, "{calls:?} {:?}", seen.in_silence);
    assert!(calls.iter().all(|span| *span <= Duration::from_secs(4)), "{calls:?}");
}
