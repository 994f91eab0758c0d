//! The modelled cell beside the papers: one seed, short runs. `sounding lab run cell` has more of both.

use std::time::Duration;

use sounding_lab::cell::{Plan, run};

#[test]
fn the_modelled_cell_has_the_figures_of_the_papers() {
    let span = Duration::from_secs(20);
    let plan = Plan { data: None, seed: 1, seeds: 1, span };
    let comparison = run(&plan, |_| {}).expect("a sound network");
    println!("{comparison}");
    let misses: Vec<&str> =
        comparison.rows.iter().filter(|row| !row.agrees).map(|row| row.id).collect();
    assert_eq!(misses, [] as [&str; 0]);
}
