//! Controllers have the properties that theory, specifications and papers state.

use sounding_lab::controllers::baselines::{Plan, run};

#[test]
fn every_controller_has_its_published_properties() {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let baselines = run(&Plan { controllers: Vec::new(), jobs }, |_| {}).expect("known names");
    println!("{baselines}");
    let misses = baselines.rows.iter().filter(|row| !row.pass);
    let misses: Vec<_> = misses.map(|row| (row.controller, row.property)).collect();
    assert_eq!(misses, []);
}
