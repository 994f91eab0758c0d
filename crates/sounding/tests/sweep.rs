//! `sounding lab sweep` as a user meets it, and as a machine that kills it does.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_testdata::{on_small_disk, steadily};

const PLAN: &str = r#"
duration = "20s"
seeds = "1..10"

[[links]]
up = "48Mbit"
down = "48Mbit"
delay = "20ms"
from = "lot"

[[flows]]
direction = "down"

[sweep]
"links.0.down" = ["*.down"]
"flows.0.controller" = ["bbr", "cubic", "oracle"]
"#;

const RUNS: usize = 2 * 3 * 10;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("plan.toml"), PLAN).unwrap();
        // Bursts and pauses, at 10 and 5 Mbit/s.
        for (name, every) in [("a.down", 1), ("b.down", 2)] {
            let millis = (1..20_000_u32).filter(|ms| ms % 100 < 84 && ms % every == 0);
            let text: String = millis.map(|ms| format!("{ms}\n")).collect();
            fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, verb: &[&str], out: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.args(verb).arg(self.path("plan.toml")).arg("--out").arg(self.path(out));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    fn sweep(&self, out: &str, arguments: &[&str]) -> Output {
        self.command(&["lab", "sweep"], out, arguments).output().unwrap()
    }

    /// A sweep's output for its user: its results, and the kept files of each run.
    fn results(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        let out = self.path(out);
        let names = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name());
        let mut found = BTreeMap::new();
        for name in names.map(|name| name.into_string().unwrap()) {
            assert!(!name.starts_with(".sounding-"), "{name} is left behind");
            let series = out.join(&name).join("series.parquet");
            if series.exists() {
                found.insert(format!("{name}/series.parquet"), fs::read(series).unwrap());
            } else if name == "result.json" || name == "flows.parquet" {
                found.insert(name.clone(), fs::read(out.join(&name)).unwrap());
            }
        }
        found
    }

    fn finished(&self, out: &str) -> usize {
        let entries = fs::read_dir(self.path(out).join("runs")).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".json") && !name.starts_with('.')).count()
    }
}

fn good(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn bad(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    said(output)
}

/// Lines are wrapped to the width of a terminal.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace(['│', '×'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn end(child: &mut Child) {
    let _ = kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGKILL);
    child.wait().unwrap();
}

const SERIES: [&str; 2] = ["--series", "1s"];

#[test]
fn a_sweep_that_is_killed_ten_times_gives_the_bytes_of_one_that_is_not() {
    steadily(|| {
        let folder = Folder::new();
        good(&folder.command(&["sim"], "whole", &SERIES).output().unwrap());
        let seed = u64::from(std::process::id());
        let mut lot = seed;
        let mut kills = 0;
        for _ in 0..10 {
            let before = folder.finished("killed");
            let mut child = folder
                .command(&["lab", "sweep"], "killed", &SERIES)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Something is finished, something is under way: any moment after that is as good as
            // another.
            while folder.finished("killed") == before && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            lot =
                lot.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(Duration::from_micros((lot >> 33) % 40_000));
            kills += usize::from(child.try_wait().unwrap().is_none());
            end(&mut child);
        }
        assert!(kills > 2, "moments of seed {seed}: it was through after {kills} kills");
        let kept = folder.finished("killed");
        let output = folder.sweep("killed", &SERIES);
        good(&output);
        let said = String::from_utf8_lossy(&output.stderr);
        let what = format!("{kept} of {RUNS} runs are finished already");
        assert!(said.contains(&what), "moments of seed {seed}: {said}");
        let (whole, killed) = (folder.results("whole"), folder.results("killed"));
        assert_eq!(whole.len(), RUNS + 2);
        assert!(whole == killed, "moments of seed {seed}");
    });
}

#[test]
fn jobs_and_parts_and_folders_of_other_machines_change_no_byte() {
    let folder = Folder::new();
    let table = good(&folder.sweep("one", &["--jobs", "1"]));
    assert!(table.contains("median over files"), "{table}");
    assert_eq!(good(&folder.sweep("three", &["--jobs", "3"])), table);
    for part in ["1/3", "3/3", "2/3"] {
        good(&folder.sweep("parts", &["--shard", part]));
    }
    assert_eq!(good(&folder.sweep("parts", &[])), table);
    good(&folder.sweep("here", &["--shard", "1/2"]));
    good(&folder.sweep("there", &["--shard", "2/2"]));
    let there = folder.path("there");
    assert_eq!(good(&folder.sweep("here", &["--merge", there.to_str().unwrap()])), table);
    let one = folder.results("one");
    assert_eq!(one.len(), 2);
    for other in ["three", "parts", "here"] {
        assert!(folder.results(other) == one, "{other}");
    }
    let json = good(&folder.sweep("one", &["--json"]));
    assert_eq!(json.as_bytes(), one["result.json"]);
}

#[test]
fn another_plan_in_a_folder_is_refused() {
    let folder = Folder::new();
    let short = ["--set", "seeds=1", "--set", "duration=1s"];
    good(&folder.sweep("out", &short));
    let said = bad(&folder.sweep("out", &["--set", "seeds=2", "--set", "duration=1s"]));
    assert!(said.contains("has runs of another choice of --set"), "{said}");
    fs::write(folder.path("c.down"), "1\n").unwrap();
    let said = bad(&folder.sweep("out", &short));
    assert!(said.contains("has runs of another set of files"), "{said}");
}

#[test]
fn two_sweeps_do_not_work_in_one_folder() {
    steadily(|| {
        let folder = Folder::new();
        let long = ["--set", "duration=50000s", "--jobs", "1"];
        let mut first = folder
            .command(&["lab", "sweep"], "out", &long)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !folder.path("out").join("sweep.json").exists() && first.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = bad(&folder.sweep("out", &long));
        end(&mut first);
        assert!(said.contains("is in use by another sweep"), "{said}");
    });
}

/// Once it listens to signals, which is when all plans were looked at.
fn interrupt(child: &Child) {
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        assert!(!status.contains("State:\tZ"), "it has ended already");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
        caught & 1 << (Signal::SIGINT as u32 - 1) != 0
    };
    while !listens() {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
}

#[test]
fn an_interrupted_sweep_prints_how_to_continue() {
    steadily(|| {
        let folder = Folder::new();
        let long = ["--set", "duration=50000s"];
        let child = folder
            .command(&["lab", "sweep"], "out", &long)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        interrupt(&child);
        let said = bad(&child.wait_with_output().unwrap());
        assert!(
            said.contains("0 of 60 runs are finished; repeat the command to continue"),
            "{said}"
        );
    });
}

#[test]
fn a_full_disk_ends_a_sweep_with_what_is_finished_and_room_lets_it_go_on() {
    let folder = Folder::new();
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let (plan, small) = (folder.path("plan.toml"), folder.path("small"));
    fs::create_dir(&small).unwrap();
    let script = format!(
        "sweep() {{ {program} lab sweep {plan} --out {small}/out --set duration=1s; }}; \
         sweep; echo \"ended with $?\" >&2; ls -A {small}/out >&2; \
         mount -o remount,size=10m {small} && sweep",
        small = small.display(),
        program = program.display(),
        plan = plan.display(),
    );
    // Folders and the runs' outcomes take a page each.
    let Some(output) = on_small_disk(&small, "80k", &script) else { return };
    let said = said(&output);
    let table = good(&output);
    let (full, room) = said.split_once("ended with 1").unwrap_or_else(|| panic!("{said}"));
    assert!(full.contains("No space left on device"), "{said}");
    assert!(full.contains("repeat the command to continue"), "{said}");
    let kept = full.split_once("help: ").and_then(|(_, help)| help.split_once(" of 60 runs"));
    let (kept, _) = kept.unwrap_or_else(|| panic!("{said}"));
    assert!((1..RUNS).contains(&kept.parse().unwrap()), "{said}");
    assert!(room.contains(&format!("{kept} of 60 runs are finished already")), "{said}");
    assert_eq!(table, good(&folder.sweep("whole", &["--set", "duration=1s"])));
}

#[test]
fn a_sweep_that_keeps_nothing_prints_no_hint_to_go_on() {
    let Some(index) = sounding_testdata::shared("traces/files.tsv") else { return };
    let data = index.parent().and_then(Path::parent).unwrap();
    steadily(|| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.args(["lab", "run", "field", "--duration", "50000s", "--links", "nyc2019"]);
        command.arg("--data").arg(data).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        interrupt(&child);
        let said = bad(&child.wait_with_output().unwrap());
        assert!(said.contains("0 of 1020 runs are finished; none is kept; with --out"), "{said}");
    });
}

#[test]
fn a_folder_without_traces_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.args(["lab", "run", "field", "--data"]).arg(folder.path()).stdin(Stdio::null());
    let said = bad(&command.output().unwrap());
    assert!(said.contains("the index of traces in") && said.contains("--data"), "{said}");
}

#[test]
fn every_recorded_link_is_swept_and_shown_by_group() {
    if sounding_testdata::shared("traces/files.tsv").is_none() {
        return;
    }
    let Some(data) = sounding_testdata::shared("traces") else { return };
    let out = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.args(["lab", "run", "field", "--duration", "2s", "--seeds", "1"]);
        command.args(["--links", "nyc2019", "--controllers", "cubic,bbr"]);
        command.arg("--data").arg(Path::new(&data).parent().unwrap()).arg("--out").arg(out.path());
        good(&command.args(arguments).stdin(Stdio::null()).output().unwrap())
    };
    let table = run(&[]);
    for part in ["4G static, 9 links", "4G mobile, 1 links", "oracle", "Wilcoxon"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let groups: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let rows = groups[0]["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["controller"].as_str().unwrap()).collect();
    assert_eq!(names, ["cubic", "bbr", "oracle"]);
    assert!(out.path().join("flows.parquet").exists() && out.path().join("field.toml").exists());
}
