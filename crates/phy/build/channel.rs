//! Constants of propagation.

use crate::csv::{array, decimal, rows};

pub(crate) fn tables() -> String {
    let rows = rows("tr38901_7.4.1-1_shadowing");
    ["UMi", "UMa", "RMa", "InH", "O2I"]
        .iter()
        .map(|scenario| {
            // With a line of sight first.
            let states: Vec<(f64, f64)> = rows
                .iter()
                .filter(|row| row[0] == *scenario)
                .map(|row| (decimal(&row[2]), decimal(&row[3])))
                .collect();
            array(&format!("SHADOWING_{}", scenario.to_uppercase()), "(f64, f64)", &states)
        })
        .collect()
}
