//! The label over captures of a real LTE stack: an upload that fills the uplink, and a stream that
//! does not.

use sounding_testdata::shared;

use crate::{number, rows};

/// A capture, seconds of a phase, and the phase's true label. The uplink of `a5` reports its buffer
/// every 5 ms, that of `a20` every 20 ms.
const PHASES: [(&str, f64, f64, &str); 4] = [
    ("a5", 30.9, 43.1, "capacity"),
    ("a5", 16.3, 29.0, "floor"),
    ("a20", 32.8, 45.7, "capacity"),
    ("a20", 16.2, 30.0, "floor"),
];

#[test]
fn the_label_of_a_real_stacks_uplink_is_right_in_95_of_100_bins() {
    for (name, from, to, label) in PHASES {
        let Some(capture) = shared(&format!("srsran/uplink/{name}.qmdl")) else { return };
        let mut bins = rows(&capture, "uplink", &["--bin", "10ms"]);
        bins.retain(|bin| (from..to).contains(&number(bin, "time_s")));
        let right = bins.iter().filter(|bin| bin["bound"] == label).count();
        assert!(bins.len() > 1_000, "{name}: {} bins", bins.len());
        assert!(right * 100 >= bins.len() * 95, "{name}, {label}: {right} of {}", bins.len());
    }
}
