//! The papers' results about their estimates hold for ours. Our estimates come from the bytes of a
//! modelled modem and the lines of a sniffer. A flow saturates the link of a device in a car, in
//! both directions. Other users load the cell in turns. The test runs at several places, each with
//! other users.

use std::sync::LazyLock;
use std::time::Duration;

use sounding_cell::config::Rat;
use sounding_kpi::Direction;
use sounding_lab::estimates::estimators::{
    Comparison, Pace, Plan, Scenario, Score, TRIALS, Trial, run,
};
use sounding_link::Method;

fn links() -> Vec<Scenario> {
    let mut links = Scenario::all();
    links.retain(|link| link.pace == Pace::Drive);
    links
}

/// One run for all tests of this file: four places, with a minute each after the learning time. In
/// a single place the channel may be best all the time. Then the resource blocks alone determine
/// the rate.
static RUN: LazyLock<Comparison> = LazyLock::new(|| {
    let plan = Plan { scenarios: links(), seeds: 4, duration: Duration::from_secs(82), jobs: 2 };
    run(&plan, |_| {}).expect("sound links")
});

fn each(method: Method, check: impl Fn(&Scenario, &Trial, Score)) {
    let mut checked = 0;
    for link in links() {
        for trial in TRIALS.iter().filter(|trial| trial.method == method) {
            if let Some(score) = RUN.score(&link.name(), trial) {
                println!("{} {}: {score:?}", link.name(), trial.name());
                check(&link, trial, score);
                checked += 1;
            }
        }
    }
    assert!(checked > 0, "{method:?} has no score over any link");
}

fn r(score: &Score) -> f64 {
    score.pearson_r.expect("it varies")
}

#[test]
fn both_methods_of_biscay_correlate_with_goodput() {
    for method in [Method::Grants, Method::Formula] {
        each(method, |link, _, score| {
            assert!(r(&score) >= 0.97, "{}: {score:?}", link.name());
            // A capacity is the rate while more was requested than granted. It is a little above
            // the mean.
            assert!((-0.02..0.05).contains(&score.bias), "{}: {score:?}", link.name());
        });
    }
}

#[test]
fn equation_1_gives_what_the_records_say_was_granted() {
    for link in links() {
        let [grants, formula] = [TRIALS[0], TRIALS[1]].map(|trial| {
            assert!(matches!(trial.method, Method::Grants | Method::Formula));
            RUN.score(&link.name(), &trial).expect("both know every link")
        });
        assert!(
            (grants.bias - formula.bias).abs() < 0.005,
            "{}: {grants:?} {formula:?}",
            link.name()
        );
    }
}

#[test]
fn no_raw_kpi_correlates_with_goodput_as_well() {
    for method in [Method::Prb, Method::Mcs, Method::Rsrp] {
        each(method, |link, _, score| {
            assert!(r(&score) <= 0.8, "{}: {score:?}", link.name());
        });
    }
}

#[test]
fn half_of_all_rates_by_cqi_are_within_8_percent_and_80_within_20() {
    each(Method::Cqi, |link, trial, score| {
        assert_eq!(link.direction, Direction::Downlink);
        let good = score.error_p50 <= 0.08 && score.error_p80 <= 0.20;
        assert!(good, "{} {}: {score:?}", link.name(), trial.name());
    });
}

#[test]
fn what_pbe_translates_to_goodput_is_within_5_percent_of_it() {
    each(Method::Cell, |link, trial, score| {
        // A flow of 2 Mbit/s is some packets in a window, more or less.
        let sparse = link.rat == Rat::Nr && link.direction == Direction::Uplink;
        let good = score.bias.abs() <= 0.05 && (sparse || score.error_p50 <= 0.05);
        assert!(good, "{} {}: {score:?}", link.name(), trial.name());
    });
}
