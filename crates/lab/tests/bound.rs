//! Compares the label of an estimate with the truth of the modelled cell.

use std::time::Duration;

use sounding_cell::config::NetworkKind;
use sounding_lab::estimates::bound::{Outcome, Plan, run};

fn judged(seeds: u64) -> Outcome {
    judged_in(NetworkKind::Operator, Duration::from_millis(5), seeds)
}

fn judged_in(network: NetworkKind, timer: Duration, seeds: u64) -> Outcome {
    let plan = Plan { first: 0, seeds, jobs: 2, network, timer };
    let outcome = run(&plan, |_| {}).expect("sound cells");
    print!("{outcome}");
    outcome
}

/// Each kind of flow, up and down, in LTE and NR, four times; all thousand seeds are `sounding lab
/// run bound`.
#[test]
fn labels_are_right_in_ninety_nine_of_a_hundred_milliseconds() {
    let outcome = judged(64);
    let total = outcome.total;
    assert_eq!(outcome.rows.len(), 16);
    let right = total.right().expect("something was judged");
    assert!(right >= 0.99, "{right}");
    // A label that is always the same would be right half of the time: both have to occur, and both
    // to be right.
    for (truth, labels) in total.labels.iter().enumerate() {
        let of = labels.iter().sum::<u64>();
        assert!(of > 20_000, "{of}");
        assert!(labels[truth] as f64 >= 0.98 * of as f64, "{labels:?} of truth {truth}");
    }
    assert!(total.judged() as f64 > 0.9 * total.ticks as f64, "most is judged");
}

#[test]
fn an_estimate_is_not_used_on_the_way_from_cell_to_cell_and_says_why() {
    let total = judged(64).total;
    assert!(total.away > 500, "{}", total.away);
    assert_eq!((total.away_known, total.away_named), (total.away, total.away));
}

/// At 5 ms the operators' network is the cell as it was: nothing that was measured on it has
/// changed.
#[test]
fn at_five_milliseconds_an_operator_answers_as_the_cell_did_before() {
    let labels = |network| {
        let total = judged_in(network, Duration::from_millis(5), 16).total;
        (total.labels, total.near_one, total.lag_ms)
    };
    assert_eq!(labels(NetworkKind::Operator), labels(NetworkKind::Before));
}

/// A label near a change is judged by the whole run, also one right before it.
#[test]
fn labels_near_a_change_are_some_of_all() {
    let total = judged(16).total;
    let [wrong, right] = total.near_one;
    assert!(wrong >= total.near_change && wrong > 0, "{total:?}");
    assert!(right + wrong < total.judged(), "{total:?}");
}
