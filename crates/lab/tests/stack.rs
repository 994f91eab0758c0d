//! The uplink of a real LTE stack beside the same scenes in the model.

use std::time::Duration;

use sounding_cell::config::NetworkKind;
use sounding_lab::fidelity::cell::stack::{TIMERS_MS, known, log, scenes};

const SPAN: Duration = Duration::from_secs(60);

/// Without the stack's logs: its figures are constants of the table, with their source.
#[test]
fn the_model_has_the_delays_and_reports_of_a_real_stack() {
    for timer in TIMERS_MS {
        let run = scenes::run(NetworkKind::Srsran, timer, SPAN, 1).expect("a sound network");
        let figures = known(&run, timer);
        assert!(figures.len() >= 11, "{}", figures.len());
        for (figure, value) in &figures {
            println!("{}: {value:.1}, {} in {}", figure.id, figure.paper, figure.source);
        }
        // The time to an answer is a range, and only shown.
        for (figure, value) in figures.into_iter().filter(|(of, _)| !of.id.ends_with(".answer")) {
            let range = figure.least..=figure.most;
            assert!(range.contains(&value), "{}: {value} is not in {range:?}", figure.id);
        }
    }
}

/// With them: the model against what is read from the logs now, and the constants too.
#[test]
fn the_figures_of_the_stack_are_those_of_its_logs() {
    let Some(folder) = sounding_testdata::shared("srsran/uplink") else { return };
    for timer in TIMERS_MS {
        let real = log::run(&folder, timer).expect("logs of both runs");
        let model = scenes::run(NetworkKind::Srsran, timer, SPAN, 1).expect("a sound network");
        let model = known(&model, timer);
        for (figure, real) in known(&real, timer) {
            let range = figure.least..=figure.most;
            assert!(range.contains(&real), "{}: the logs' {real} is not in {range:?}", figure.id);
            let of = |(other, _): &&(&_, f64)| std::ptr::eq(*other, figure);
            let (_, ours) = *model.iter().find(of).expect("the same figures");
            println!("{}: {ours:.1}, the stack {real:.1}", figure.id);
            let most = match figure.id.rsplit_once('.') {
                // A range, not a figure.
                Some((_, "answer")) => continue,
                Some((_, "empty")) => 10.0,
                Some((_, "p50")) => 0.2 * real,
                _ => 0.25 * real,
            };
            assert!((ours - real).abs() <= most, "{}: {ours}, the stack {real}", figure.id);
        }
    }
}
