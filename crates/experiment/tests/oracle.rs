//! No controller carries more than the oracle or queues less: over real links, all controllers.

use std::sync::atomic::AtomicBool;

use sounding_experiment::plan::{ORACLE, Run, Text};
use sounding_experiment::simulate::{About, Keep, all};

/// 3G to 5G, still and moving, as packet deliveries, per second and as a log.
const LINKS: [&str; 7] = [
    "mahimahi/traces/ATT-LTE-driving.down",
    "mahimahi/traces/TMobile-UMTS-driving.down",
    "mahimahi/traces/Verizon-LTE-short.up",
    "soheil-nyc2019/trace-2925703-home1",
    "norway-hsdpa/cooked_3gp/norway_train_1",
    "sigcomm21-5g/Video-Streaming/Network-Traces/Lumous5G/4G/4g_trace_driving_50015_dr",
    "ucc-5g/5G-production-dataset/Download/Driving/B_2020.01.16_12.10.03.csv",
];

/// Tolerance for a higher throughput: the packets in flight at the end, and one for each step that
/// the oracle lets pass.
const MORE: f64 = 0.01;

/// Tolerance for a shorter queue: the oracle's clock has steps of a millisecond.
const LESS_MS: f64 = 1.0;

fn plan(controllers: &str) -> String {
    let links: Vec<String> = LINKS.iter().map(|link| format!("{link:?}")).collect();
    format!(
        "duration = \"15s\"\nseeds = [1, 2]\n\
         [[links]]\nup = \"48Mbit\"\ndown = \"48Mbit\"\ndelay = \"20ms\"\nfrom = \"lot\"\n\
         [[flows]]\ndirection = \"down\"\n\
         [sweep]\n\"links.0.down\" = [{}]\n\"flows.0.controller\" = [{controllers}]\n",
        links.join(", ")
    )
}

#[test]
fn nothing_lies_above_the_oracle_in_throughput_or_under_it_in_delay() {
    let Some(folder) = sounding_testdata::shared("traces") else { return };
    let names: Vec<String> =
        sounding_baselines::names().chain([ORACLE]).map(|name| format!("{name:?}")).collect();
    let text = Text::new("plan.toml", plan(&names.join(", ")), folder);
    let runs = text.runs().expect("a plan");
    let open = |_: &Run| Err(std::io::Error::other("nothing is kept"));
    let (about, stop) = (About::new(&text), AtomicBool::new(false));
    let finished = all(&runs, &Keep::default(), &about, 2, &stop, &open, &mut |_| {});
    let outcomes = finished.expect("no error").outcomes;
    let mut compared = 0;
    for outcome in &outcomes {
        let flow = &outcome.flows[0];
        let what = || format!("{:?}, seed {}", outcome.values, outcome.seed);
        // On a link that carries nothing there is no comparison.
        let Some(distance) = flow.oracle else { continue };
        compared += 1;
        assert!(distance.throughput_share <= 1.0 + MORE, "{}: {distance:?}", what());
        assert!(distance.queueing_p95_ms >= -LESS_MS, "{}: {distance:?}", what());
        if flow.controller == ORACLE {
            let used = flow.utilisation.expect("a link");
            assert!(used > 0.9, "{}: {used}", what());
        }
    }
    assert!(compared > outcomes.len() * 9 / 10, "{compared} of {}", outcomes.len());
}
