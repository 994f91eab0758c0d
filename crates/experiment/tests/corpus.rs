//! The seeds of the fuzz target for plans, run through it; and how the seeds are made.

mod targets;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/plan"))
}

const LINKS: &str = r#"
duration = "5s"
seeds = "3..5"
wire = { up = "1Gbit", delay = "1ms" }
[[links]]
name = "phone"
up = "0s 12Mbit, 3s 6Mbit"
down = "12Mbit"
queue = "100kB"
drop = "head"
[[flows]]
direction = "up"
traffic = { kind = "on-off", on = "1s", off = "200ms" }
[sweep]
"flows.0.controller" = ["cubic", "bbr"]
"links.phone.delay" = ["5ms", "10ms"]
"#;

const CELL: &str = r#"
duration = "1s"
[cell]
carriers = [{ rat = "nr", numerology = 1, prb = 51, tdd = "DDDSU", policy = "round-robin" }, { prb = 25 }]
[[cell.devices]]
name = "phone"
modem = { drain = "2ms", every = "10ms", latency = "1ms" }
cells = [[0, 1]]
trajectory = { kind = "waypoints", points = [{ x_m = 60.0, y_m = 40.0 }, { x_m = 360.0, y_m = 40.0 }], speed_mps = 1.4, then = "return" }
[[cell.devices]]
name = "others"
count = 3
background = true
scatter = { radius_m = 200.0 }
traffic = { kind = "objects", per_sec = 2.0, mean = "40kB", most = "1MB" }
[[flows]]
device = "phone"
direction = "down"
[sweep."cell.devices.phone.channel"]
script = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 14.0 }], fading = { profile = "eva", surroundings_mps = 1.4 } }
street = { kind = "propagation" }
"#;

/// The seeds, and the number of runs of each; `None` if it is refused.
fn seeds() -> Vec<(&'static str, String, Option<usize>)> {
    let set = |plan: &str, sets: &[&str]| {
        let mut text = plan.to_owned();
        sets.iter().for_each(|set| text.extend(["\0", *set]));
        text
    };
    let entry = "up_queue = \"codel:target=5ms\"\ndown_queue = \"pie:bytes=9kB\"\n\
                 up_loss = 0.1\ndown_outages = \"fixed:5s,1s\"";
    let mut deep = String::from("a");
    for _ in 0..2_000 {
        let _ = write!(deep, ".a");
    }
    vec![
        ("links", LINKS.into(), Some(12)),
        ("queues-and-losses", LINKS.replace("drop = \"head\"", entry), Some(12)),
        ("a-queue-that-is-none", set(LINKS, &["links.0.up_queue=codel:target=5"]), None),
        ("a-loss-above-all", set(LINKS, &["wire.up_loss=1.5"]), None),
        ("cell", CELL.into(), Some(2)),
        ("sets", set(LINKS, &["seeds=1", "links.*.queue=inf", "flows.0.controller=reno"]), None),
        ("sets-that-fit", set(LINKS, &["seeds=1", "flows.0.controller=reno"]), Some(2)),
        ("set-of-nothing", set(LINKS, &["=1"]), None),
        ("set-of-many-letters", set(CELL, &["cell.devices.phone.name=\u{e9}\u{e9}\u{e9}"]), None),
        ("set-that-is-deep", set(LINKS, &[&format!("{deep}=1")]), None),
        ("sweep-that-is-deep", format!("{LINKS}\"{deep}\" = [1]\n"), None),
        ("sweep-of-no-list", LINKS.replace("[\"cubic\", \"bbr\"]", "7"), None),
        ("seeds-without-end", LINKS.replace("3..5", "0..99999999"), None),
        ("runs-without-end", LINKS.replace("3..5", "1..90000"), None),
        ("plans-without-end", CELL.replace("duration", "seeds = \"1..90000\"\nduration"), None),
        ("a-time-without-end", LINKS.replace("\"5s\"", "\"inf\""), None),
        ("devices-without-end", CELL.replace("count = 3", "count = 65535"), None),
        ("a-carrier-that-is-wrong", CELL.replace("prb = 51", "prb = 500"), Some(2)),
        ("not-toml", "duration = \u{1f4f1}".into(), None),
    ]
}

#[test]
fn seeds_are_plans_or_are_refused() {
    for (name, _, runs) in seeds() {
        let seed = fs::read(corpus().join(name)).expect("a seed");
        assert_eq!(targets::plan(&seed), runs, "{name}");
    }
}

#[test]
fn every_seed_does_no_harm() {
    for file in fs::read_dir(corpus()).expect("seeds") {
        targets::plan(&fs::read(file.expect("a file").path()).expect("a seed"));
    }
}

/// `cargo test -p sounding-experiment --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    fs::create_dir_all(corpus()).expect("a folder");
    for (name, text, _) in seeds() {
        fs::write(corpus().join(name), text).expect("a seed");
    }
}
