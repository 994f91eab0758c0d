//! The modelled cell beside the papers: one seed, short runs. `sounding lab run cell` has more of
//! both.

use std::time::Duration;

use sounding_lab::fidelity::cell::{Plan, run};

#[test]
fn the_modelled_cell_has_the_figures_of_the_papers() {
    let span = Duration::from_secs(30);
    let plan = Plan { data: None, seed: 1, seeds: 1, span };
    let comparison = run(&plan, |_| {}).expect("a sound network");
    println!("{comparison}");
    let rows = comparison.rows.iter();
    // RLC repeats something now and then only: a short run does not say when.
    let rows = rows.filter(|row| row.events.is_none());
    // A range that is only shown.
    let rows = rows.filter(|row| !row.id.ends_with(".answer"));
    let rows = rows.filter(|row| row.id != "rough.rlc");
    let misses: Vec<&str> = rows.filter(|row| !row.agrees).map(|row| row.id).collect();
    // Captures have more reports of an empty buffer than a stream, and fewer than pings alone.
    assert_eq!(misses, ["bsr.lte.zero.stream", "bsr.lte.zero.pings"]);
}

/// Reports of captures are compared by the traffic of their second, and the stack's by their scene.
#[test]
fn captures_and_logs_stand_beside_the_traffic_that_is_like_theirs() {
    let Some(data) =
        sounding_testdata::shared("srsran").and_then(|found| found.parent().map(Into::into))
    else {
        return;
    };
    let span = Duration::from_secs(10);
    let plan = Plan { data: Some(data), seed: 1, seeds: 1, span };
    let comparison = run(&plan, |_| {}).expect("a sound network");
    for row in &comparison.rows {
        println!("{}: {}", row.id, row.real.join("; "));
        let logged = row.id.starts_with("stack.") || row.id.starts_with("bsr.lte.zero.");
        assert!(!logged || !row.real.is_empty(), "{} has no real figure", row.id);
    }
}
