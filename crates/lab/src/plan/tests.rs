//! What a plan says, and what is said of one that is wrong.

use std::path::PathBuf;

use super::*;

const PLAN: &str = r#"
duration = "5s"

[[links]]
up = "12Mbit"
down = "12Mbit"

[[flows]]
direction = "up"
"#;

fn text(plan: &str) -> Text {
    Text::new("plan.toml", plan, PathBuf::new())
}

#[test]
fn the_least_plan_is_one_run_of_one_flow() {
    let runs = text(PLAN).runs().expect("a plan");
    assert_eq!(runs.len(), 1);
    let plan = &runs[0].plan;
    assert_eq!((runs[0].seed, plan.flows[0].controller.as_str()), (1, "cubic"));
    assert_eq!(plan.duration, Duration::from_secs(5));
}
