//! `background` behind a stack: it has no receiver's clock and no timer here.

use std::sync::Mutex;

use super::*;
use crate::PeerTimes;

/// Packets a millisecond: 38 Mbit/s.
const CELL: u64 = 4;

/// Milliseconds from, to: with a second user of the cell, who takes half of it.
const RIVAL: (u64, u64) = (20_000, 40_000);

/// A cell in turns serves a newcomer alone for so long, until it has had as much as the others:
/// after so long without data.
const NEWCOMER_MS: u64 = 80;
const AWAY_MS: u64 = 100;

/// What was delivered in each second, Mbit/s, and the segments in flight 20 ms before the end of
/// each silence.
struct Seen {
    by_second: Vec<f64>,
    in_silence: Vec<u64>,
}

impl Seen {
    fn mean(&self, from: usize, to: usize) -> f64 {
        self.by_second[from..to].iter().sum::<f64>() / (to - from) as f64
    }
}

/// How a stack is run.
#[derive(Clone, Debug)]
struct Way {
    /// By an application that wakes the connection 3 ms late.
    waking: bool,
    acks_every_ms: u64,
    /// With a receiver that says when packets arrived,
    is_timed: bool,
    /// but in these milliseconds.
    silent: std::ops::Range<u64>,
}

impl Default for Way {
    fn default() -> Self {
        Self { waking: true, acks_every_ms: 1, is_timed: false, silent: 0..0 }
    }
}

/// A minute in a cell.
fn run(way: &Way) -> (Seen, Vec<Duration>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let mut driver = driver("background", &EstimateHandle::new()).without_pacing_rates();
    if way.waking {
        let kept = Arc::clone(&calls);
        driver = driver.waking(Arc::new(move |span| kept.lock().unwrap().push(span)));
    }
    let peer = PeerTimes::new();
    if way.is_timed {
        driver = driver.timed(peer.clone());
    }
    let mut stack = Stack::new(driver, CELL);
    stack.acks_every_ms = way.acks_every_ms;
    stack.receiver = way.is_timed.then(|| times::Receiver::new(peer));
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
        if let Some(receiver) = &mut stack.receiver {
            receiver.speaks = !way.silent.contains(&ms);
        }
        stack.pass(u64::MAX);
        let left = stack.driver.poll_silence().map(|until| until - at(stack.now_ms));
        // Packets that were under way when it began have come by then.
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
        let (seen, _) = run(&Way { waking, ..Way::default() });
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
    let (mut seen, calls) = run(&Way { waking: false, ..Way::default() });
    // The first silence may be over before the queue of the opening is.
    seen.in_silence.remove(0);
    assert!(calls.is_empty() && seen.in_silence.len() > 5, "{:?}", seen.in_silence);
    assert!(seen.in_silence.iter().all(|segments| *segments <= 2), "{:?}", seen.in_silence);
    assert!(seen.in_silence.contains(&2), "it has no other clock: {:?}", seen.in_silence);
    let (mut seen, calls) = run(&Way::default());
    seen.in_silence.remove(0);
    assert!(seen.in_silence.len() > 5, "{:?}", seen.in_silence);
    assert!(seen.in_silence.iter().all(|segments| *segments == 0), "{:?}", seen.in_silence);
    // One call for each silence, 4 s at most.
    assert!(calls.len().abs_diff(seen.in_silence.len()) <= 2, "{calls:?} {:?}", seen.in_silence);
    assert!(calls.iter().all(|span| *span <= Duration::from_secs(4)), "{calls:?}");
}

#[test]
fn receive_times_show_the_gaps_that_bunches_of_acknowledgements_hide() {
    let means = |acks_every_ms, is_timed| {
        let (seen, _) = run(&Way { acks_every_ms, is_timed, ..Way::default() });
        (seen.mean(5, 20), seen.mean(22, 40), seen.mean(45, 60))
    };
    for every in [10, 40, 60] {
        let (alone, beside, again) = means(every, true);
        println!("every {every} ms: {alone:.1}, {beside:.1}, {again:.1} of {ALL:.1} Mbit/s");
        assert!(alone > 0.75 * ALL && again > 0.75 * ALL, "{alone}, {again} of {ALL}");
        assert!(beside < 0.15 * ALL, "beside a rival it has {beside} of {ALL}");
    }
    let (_, _, again) = means(40, false);
    assert!(again < 0.25 * ALL, "it does not find the free cell: {again} of {ALL}");
    let (_, beside, _) = means(60, false);
    assert!(beside > 0.25 * ALL, "it does not find the rival: {beside} of {ALL}");
}

#[test]
fn a_receiver_that_says_nothing_for_ten_seconds_leaves_the_flow_background() {
    // A rival comes and another goes while it is silent.
    for silent in [15_000..25_000, 35_000..45_000] {
        let way = Way { is_timed: true, silent, ..Way::default() };
        let (seen, _) = run(&way);
        let (alone, beside, again) = (seen.mean(5, 20), seen.mean(22, 40), seen.mean(45, 60));
        println!("{way:?}: {alone:.1}, {beside:.1}, {again:.1} of {ALL:.1} Mbit/s");
        assert!(alone > 0.75 * ALL && again > 0.75 * ALL, "{alone}, {again} of {ALL}");
        assert!(beside < 0.2 * ALL, "beside a rival it has {beside} of {ALL}");
    }
}
