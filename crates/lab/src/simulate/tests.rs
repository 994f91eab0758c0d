//! Runs of plans, whatever the thread and the build.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::plan::Text;

const PLAN: &str = r#"
duration = "2s"
seeds = [1, 2]

[cell]
carriers = [{ prb = 25 }]
[[cell.devices]]
name = "phone"
modem = {}

[wire]
delay = "20ms"

[[flows]]
direction = "up"

[sweep]
"flows.0.controller" = ["biscay", "bbr"]
"#;

fn runs() -> Vec<Run> {
    Text::new("plan.toml", PLAN, PathBuf::new()).runs().expect("a plan")
}

fn digests(jobs: usize) -> Vec<String> {
    let (keep, stop) = (Keep::default(), AtomicBool::new(false));
    let about = About::new(&Text::new("", PLAN, PathBuf::new()));
    let nowhere = |_: &Run| -> std::io::Result<Box<dyn runs::Place>> {
        Err(std::io::Error::other("nothing is kept"))
    };
    let finished = all(&runs(), &keep, &about, jobs, &stop, &nowhere, &mut |_| {}).expect("done");
    assert!(finished.complete);
    finished.outcomes.into_iter().map(|outcome| outcome.digest).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    assert_eq!(digests(1), digests(3));
}
