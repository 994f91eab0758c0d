//! A sample of `sounding lab run closed-loop`: our claims about `sounding` if the grants react to
//! the flow, and BISCAY's trap.

use sounding_lab::controllers::closed_loop::{Case, Contender, Kind, Outcome, Plan, run};

/// The first of the seeds that were not used for choosing any constant.
const FIRST: u64 = 1_001;

fn judged(contenders: &[&str], cases: &[Case]) -> Outcome {
    let by_name = |name: &&str| Contender::by_name(name).expect("a registered contender");
    let contenders: Vec<_> = contenders.iter().map(by_name).collect();
    let rows = contenders.len() * cases.len() * Kind::ALL.len();
    let plan = Plan {
        contenders,
        cases: cases.to_vec(),
        kinds: Kind::ALL.to_vec(),
        first: FIRST,
        seeds: 2,
        jobs: 2,
    };
    let outcome = run(&plan, |_, _| {}).expect("sound cells");
    println!("{outcome}");
    assert_eq!(outcome.rows.len(), rows);
    assert!(outcome.rows.iter().all(|row| row.scores.len() == 2), "a score for each seed");
    outcome
}

/// In the median of ten cells of each kind it is 95 % and more, and 10 ms at most; these are bounds
/// of each cell.
#[test]
fn on_a_still_channel_nearly_all_is_used_behind_a_small_queue() {
    for row in judged(&["sounding"], &[Case::Still]).rows {
        for score in &row.scores {
            assert!(score.share >= 0.93, "{} {score:?}", row.kind);
            assert!(score.over_ms() <= 20.0, "{} {score:?}", row.kind);
        }
    }
}

#[test]
fn a_flow_let_go_climbs_within_ten_round_trips_and_the_published_law_takes_longer() {
    let outcome = judged(&["sounding", "biscay-published"], &[Case::Climb]);
    for pair in outcome.rows.chunks(2) {
        for score in &pair[0].scores {
            assert!(
                score.round_trips.is_some_and(|rtts| rtts <= 10.0),
                "{} {score:?}",
                pair[0].kind
            );
        }
    }
    let slower = outcome.rows.chunks(2).filter(|pair| {
        pair[1].quantile(1.0, |score| score.round_trips)
            > pair[0].quantile(1.0, |score| score.round_trips)
    });
    assert!(slower.count() >= 3, "{outcome}");
}

#[test]
fn flows_of_a_device_share_alike_in_every_half_second() {
    for row in judged(&["sounding"], &[Case::Two, Case::Three]).rows {
        for score in &row.scores {
            assert!(
                score.jain.is_some_and(|jain| jain >= 0.98),
                "{} {} {score:?}",
                row.case,
                row.kind
            );
        }
    }
}

#[test]
fn a_flow_of_cubic_beside_it_starves_no_flow() {
    for row in judged(&["sounding"], &[Case::BesideCubic]).rows {
        for score in &row.scores {
            assert!(score.least.is_some_and(|least| least >= 0.3), "{} {score:?}", row.kind);
        }
    }
}
