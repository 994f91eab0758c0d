//! What theory, specifications and papers say of each controller holds for ours.

use sounding_lab::baselines::{Plan, run};

/// What is said of a controller and does not hold for ours; the table says what is known of it.
const MISSES: [(&str, &str); 1] = [("vivace", "two flows share, a BDP of buffer (Jain)")];

#[test]
fn every_controller_has_the_properties_that_are_said_of_it() {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let baselines = run(&Plan { controllers: Vec::new(), jobs }, |_| {}).expect("known names");
    println!("{baselines}");
    let misses = baselines.rows.iter().filter(|row| !row.pass);
    let misses: Vec<_> = misses.map(|row| (row.controller, row.property)).collect();
    assert_eq!(misses, MISSES);
}
