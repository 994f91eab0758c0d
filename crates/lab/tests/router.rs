//! The law of a router's shaper over modelled cells in virtual time. All seeds are `sounding lab
//! run router/simulated`.

use std::time::Duration;

use sounding_lab::router::simulated::{Case, Kind, Outcome, Plan, Row, Rule, run};

fn judged(cases: &[&str], kinds: &[Kind], rules: &[&str], seeds: u64) -> Outcome {
    let rules = rules.iter().map(|name| Rule::named(name).expect("a rule")).collect();
    let plan = Plan {
        rules,
        cases: cases.iter().map(|name| Case::named(name).expect("a case")).collect(),
        kinds: kinds.to_vec(),
        seeds: 2_001..2_001 + seeds,
        lasts: Duration::from_secs(20),
        jobs: 2,
    };
    let outcome = run(&plan, |_, _| {}).expect("sound cells");
    println!("{outcome}");
    outcome
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn rows<'a>(outcome: &'a Outcome, rule: &'a str) -> impl Iterator<Item = &'a Row> {
    outcome.rows.iter().filter(move |row| row.rule == rule)
}

const MOBILE: [&str; 3] = ["walking", "driving", "handovers"];
const BOTH_WAYS: [Kind; 2] = [Kind { nr: false, up: true }, Kind { nr: true, up: false }];
const UPLINKS: [Kind; 2] = [Kind { nr: false, up: true }, Kind { nr: true, up: true }];

/// A shaper that follows each estimate sinks: the radio grants only as much as it lets through.
#[test]
fn a_rule_that_follows_floors_collapses_and_the_law_does_not() {
    let outcome = judged(&MOBILE, &UPLINKS, &["naive", "ours"], 3);
    let shares = |rule| rows(&outcome, rule).map(|row| median(&row.shares)).collect::<Vec<_>>();
    let (naive, ours) = (shares("naive"), shares("ours"));
    assert_eq!((naive.len(), ours.len()), (6, 6));
    assert!(naive.iter().all(|share| *share < 0.5), "{naive:?}");
    assert!(ours.iter().all(|share| *share >= 0.9), "{ours:?}");
}

#[test]
fn the_law_carries_what_the_truth_carries_and_waits_no_longer_in_every_case() {
    let cases: Vec<String> = Case::simulated().map(|case| case.to_string()).collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    let outcome = judged(&cases, &BOTH_WAYS, &["ours"], 5);
    assert_eq!(rows(&outcome, "ours").count(), 22);
    for row in rows(&outcome, "ours") {
        let (case, kind) = (row.case, row.kind);
        assert!(median(&row.shares) >= 0.9, "{case} {kind}: {:?}", row.shares);
        assert!(median(&row.over_ms) <= 50.0, "{case} {kind}: {:?}", row.over_ms);
        assert!(row.part_above(0.5) == 1.0, "{case} {kind}: {:?}", row.shares);
    }
}

#[test]
fn a_second_without_a_channel_does_not_take_the_rate_to_its_least() {
    let outcome = judged(&["silence"], &UPLINKS, &["ours"], 3);
    let scores = rows(&outcome, "ours").flat_map(|row| &row.scores);
    let scores: Vec<Option<f64>> = scores.map(|score| score.at_min).collect();
    assert_eq!(scores.len(), 6);
    // Until the estimate's span has passed without grants, a silence looks like a fade.
    assert!(scores.iter().all(|part| part.is_some_and(|part| part <= 0.05)), "{scores:?}");
}
