//! `sounding sim` and `sounding lab dataset` as a user meets them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_testdata::steadily;

fn sounding(arguments: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    // Lines are wrapped to the width of a terminal.
    let text = String::from_utf8_lossy(&output.stderr).replace(['│', '×'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans");
    let mut plans: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    plans.sort();
    assert!(plans.len() >= 6, "{plans:?}");
    plans
}

#[test]
fn every_example_is_a_plan_and_every_flow_of_it_gets_something() {
    for plan in examples() {
        let short = ["--set", "duration=1500ms", "--set", "warmup=0s", "--seed", "1", "--json"];
        // A second competitor would come too late.
        let starts = ["--set", "flows.*.start=0s", "--set", "flows.*.stagger=0s"];
        let all = [&["sim", text(&plan)][..], &short, &starts].concat();
        let result: Json = serde_json::from_str(&stdout(&sounding(&all))).unwrap();
        assert_eq!(result["complete"], true);
        let runs = result["runs"].as_array().unwrap();
        assert!(runs.len() > 1, "{}", plan.display());
        for run in runs {
            for flow in run["flows"].as_array().unwrap() {
                assert!(flow["arrived"].as_u64().unwrap() > 0, "{} {flow}", plan.display());
            }
        }
    }
}

const PLAN: &str = r#"
duration = "1s"
seeds = "1..2"

[cell]
carriers = [{ prb = 25 }]
sniffer = true

[[cell.devices]]
name = "phone"
modem = {}

[[flows]]
name = "upload"
direction = "up"

[sweep]
"flows.upload.controller" = ["biscay", "cubic"]
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(plan: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("plan.toml"), plan).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn sim(&self, arguments: &[&str]) -> Output {
        sounding(&[&["sim", text(&self.path("plan.toml"))], arguments].concat())
    }
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn results_are_the_same_to_the_byte_however_many_run_at_once() {
    let folder = Folder::new(PLAN);
    let everything = ["--series", "100ms", "--packets", "--captures", "--truth", "--traces"];
    let [one, two] = ["1", "2"].map(|jobs| {
        let out = folder.path(jobs);
        let table = stdout(
            &folder.sim(&[&["--jobs", jobs, "--out", text(&out)][..], &everything].concat()),
        );
        let files = files(&out)
            .into_iter()
            .map(|(path, bytes)| (path.strip_prefix(&out).unwrap().to_path_buf(), bytes));
        (table, files.collect::<BTreeMap<_, _>>())
    });
    assert_eq!(one.0, two.0);
    assert_eq!(one.1.keys().collect::<Vec<_>>(), two.1.keys().collect::<Vec<_>>());
    assert!(one.1 == two.1);
    let result: Json = serde_json::from_slice(&one.1[Path::new("result.json")]).unwrap();
    assert_eq!(result["plan"], PLAN);
    assert_eq!(result["runs"].as_array().unwrap().len(), 4);
    assert!(one.1.contains_key(Path::new("run-0004/carrier-0-down.dciLog")));
}

#[test]
fn a_sweep_keeps_what_a_sniffer_hears_to_the_byte() {
    let folder = Folder::new(PLAN);
    let (by_sim, by_sweep) = (folder.path("sim"), folder.path("sweep"));
    stdout(&folder.sim(&["--out", text(&by_sim)]));
    let plan = folder.path("plan.toml");
    stdout(&sounding(&["lab", "sweep", text(&plan), "--out", text(&by_sweep)]));
    let names = (1..=4)
        .flat_map(|run| ["down", "up"].map(|way| format!("run-{run:04}/carrier-0-{way}.dciLog")));
    for name in names {
        let [one, other] = [&by_sim, &by_sweep].map(|out| fs::read(out.join(&name)).unwrap());
        assert!(!one.is_empty() && one == other, "{name}");
    }
}

#[test]
fn what_a_run_leaves_behind_is_read_by_the_other_verbs() {
    let folder = Folder::new(PLAN);
    let out = folder.path("out");
    stdout(&folder.sim(&["--seed", "3", "--out", text(&out), "--captures"]));
    let capture = out.join("run-0001/phone.qmdl");
    let summary = stdout(&sounding(&["decode", text(&capture), "--summary", "--json"]));
    let summary: Json = serde_json::from_str(&summary).unwrap();
    assert!(summary["records"].as_array().unwrap().len() > 5, "{summary}");
    let link = stdout(&sounding(&["link", text(&capture), "--bin", "200ms"]));
    assert!(link.lines().count() > 4, "{link}");
}

#[test]
fn a_check_counts_and_runs_nothing() {
    let folder = Folder::new(PLAN);
    let said = stdout(&folder.sim(&["--check", "--set", "duration=1000s"]));
    assert!(said.contains("4 runs, 4000 s in all"), "{said}");
}

#[test]
fn what_is_wrong_is_shown_where_it_stands() {
    let folder = Folder::new(&PLAN.replace("prb = 25", "prb = 25, colour = 1"));
    let output = folder.sim(&["--check"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    for part in ["plan.toml:6:25", "cell.carriers.0.colour", "unknown field", "`prb`", "here"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let folder = Folder::new(PLAN);
    let said = stderr(&folder.sim(&["--check", "--set", "cell.carriers.0.prb=300"]));
    assert!(said.contains("--set cell.carriers.0.prb=300:1:21"), "{said}");
    assert!(said.contains("is 6 to 100 in LTE"), "{said}");
}

#[test]
fn a_quantity_without_a_unit_is_answered_with_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    let whole = r#"
        duration = "1s"
        [cell]
        carriers = [{}]
        [[cell.devices]]
        uplink = { queue = 1500 }
        shape = { uplink = { base = "5Mbit" } }
        [wire]
        up = "5Mbit"
        [[flows]]
        direction = "up"
    "#;
    for (old, new, says) in [
        (
            r#"duration = "1s""#,
            "duration = 5",
            r#"5 is a time without a unit; write "5s" or "5ms""#,
        ),
        (r#"duration = "1s""#, "duration = 0.5", r#"write "0.5s" or "0.5ms""#),
        (r#"duration = "1s""#, "duration = -5", r#"-5 is not a time; write "5s""#),
        (
            r#"base = "5Mbit""#,
            "base = 5",
            r#"5 is a rate without a unit; write "5Mbit" or "5kbit""#,
        ),
        (r#"up = "5Mbit""#, "up = 5", r#"write "5Mbit" or "5kbit""#),
        ("queue = 1500", "queue = 1.5", r#"write "1.5kB" or "1.5MB""#),
        ("queue = 1500", "queue = -1", "-1 is negative, and a size is not"),
    ] {
        assert!(whole.contains(old), "{old}");
        fs::write(&plan, whole.replace(old, new)).unwrap();
        let output = sounding(&["sim", text(&plan), "--check"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{new}: {said}");
        assert!(said.contains(says) && said.contains("plan.toml:"), "{new}: {said}");
    }
    fs::write(&plan, whole).unwrap();
    let said = stderr(&sounding(&["sim", text(&plan), "--check", "--set", "duration=5"]));
    assert!(said.contains(r#"write "5s" or "5ms""#), "{said}");
}

#[test]
fn a_controller_takes_parameters_and_is_shown_with_them() {
    let folder = Folder::new(PLAN);
    let set = |choice: &str| format!("flows.upload.controller={choice}");
    let said = stdout(&folder.sim(&["--set", &set("copa:mode=default:delta=0.10")]));
    assert!(said.contains("copa(delta=0.1,mode=default)"), "{said}");
    let said = stderr(&folder.sim(&["--check", "--set", &set("copa:delta=20")]));
    for part in ["flows.upload.controller", "copa: `delta` is 0.001 to 10, not \"20\""] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = stderr(&folder.sim(&["--check", "--set", &set("copa:dleta=1")]));
    assert!(said.contains("unknown parameter `dleta`, there are `delta`, `mode`"), "{said}");
}

#[test]
fn results_do_not_mix_with_those_that_are_there() {
    let folder = Folder::new(PLAN);
    let out = folder.path("out");
    let arguments = ["--seed", "1", "--out", text(&out)];
    stdout(&folder.sim(&arguments));
    let again = folder.sim(&arguments);
    assert!(!again.status.success());
    assert!(stderr(&again).contains("is there already"), "{}", stderr(&again));
}

#[test]
fn an_interrupt_keeps_what_is_finished_whole() {
    steadily(|| {
        let folder = Folder::new(PLAN);
        let out = folder.path("out");
        let program = assert_cmd::cargo::cargo_bin!("sounding");
        let mut child = Command::new(program)
            .args(["sim", text(&folder.path("plan.toml")), "--jobs", "1", "--packets"])
            .args(["--set", "seeds=1", "--set", "cell.sniffer=false", "--out", text(&out)])
            // A run that ends at once, and one that takes longer than a test can wait.
            .args(["--set", "sweep={ duration = [\"1s\", \"100000s\"] }"])
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !out.join("run-0001").exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        child.wait().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains("1 of 2 runs are finished"), "{said}");
        let found: Vec<_> = files(&out).into_keys().collect();
        let names: Vec<_> =
            found.iter().map(|path| text(path.strip_prefix(&out).unwrap())).collect();
        assert_eq!(names, ["flows.parquet", "result.json", "run-0001/packets.parquet"]);
        let result: Json =
            serde_json::from_slice(&fs::read(out.join("result.json")).unwrap()).unwrap();
        assert_eq!(result["complete"], false);
    });
}

#[test]
fn a_set_of_traces_is_continued_and_not_mixed_with_another() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let make = |traces: &str, seed: &str| {
        let length = ["--duration", "1s", "--seed", seed, "--traces", traces, "--json"];
        sounding(&[&["lab", "dataset", text(&dir), "--data", "/nonexistent"][..], &length].concat())
    };
    let rows: Json = serde_json::from_str(&stdout(&make("2", "1"))).unwrap();
    assert!(rows.as_array().unwrap().len() >= 4, "{rows}");
    let before = files(&dir);
    let continued = make("3", "1");
    stdout(&continued);
    assert!(stderr(&continued).contains("2 of 3 traces are there already"));
    let after = files(&dir);
    let kept = before.iter().filter(|(path, _)| !path.ends_with("manifest.json"));
    assert!(kept.into_iter().all(|(path, bytes)| after[path] == *bytes));
    assert_eq!(after.len(), 3 * 6 + 1);
    let other = make("3", "2");
    assert!(stderr(&other).contains("is a trace of another order"), "{}", stderr(&other));
}
