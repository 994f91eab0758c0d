//! A capture becomes a link: for other tools, for `emu` and in plans.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value as Json;
use sounding_testdata::may_emulate;
use sounding_units::ModemInstant;

/// A moment when modems are on the air.
const BEGIN: ModemInstant = ModemInstant::from_nanos(1_400_000_000_000_000_000);

fn sounding(arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    // Lines are wrapped to the width of a terminal.
    let text = String::from_utf8_lossy(&output.stderr).replace(['│', '×'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().into()
    }

    /// The milliseconds of a capture's link, and what was said of it.
    fn link(&self, from: &str, to: &str) -> (Vec<u64>, String) {
        let output = sounding(&["convert", &self.text(from), &self.text(to), "--force"]);
        assert!(output.status.success(), "{}", said(&output));
        let text = fs::read_to_string(self.path(to)).unwrap();
        (text.lines().map(|line| line.parse().unwrap()).collect(), said(&output))
    }

    /// Runs a plan with a phone whose modem is recorded, and returns the outcome of its flow.
    fn sim(&self, plan: &str) -> Json {
        fs::write(self.path("plan.toml"), plan).unwrap();
        let out = self.text("out");
        let _ = fs::remove_dir_all(&out);
        let (plan, keep) = (self.text("plan.toml"), ["--captures", "--json", "--out", &out]);
        let output = sounding(&[&["sim", plan.as_str()], &keep[..]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let result: Json = serde_json::from_slice(&output.stdout).unwrap();
        fs::copy(self.path("out/run-0001/phone.qmdl"), self.path("phone.qmdl")).unwrap();
        result["runs"][0]["flows"][0].clone()
    }
}

const LASTS: f64 = 30.0;

fn plan(direction: &str, traffic: &str) -> String {
    format!(
        "duration = \"{LASTS}s\"\nwarmup = \"0s\"\nseeds = [1]\nwire = {{ delay = \"20ms\" }}\n\
         [[cell.carriers]]\nprb = 50\n[[cell.devices]]\nname = \"phone\"\nmodem = {{}}\n\
         channel = {{ kind = \"script\", levels = [{{ at_s = 0.0, sinr_db = 12.0 }}], fading = {{}} }}\n\
         [[flows]]\ndirection = \"{direction}\"\ncontroller = \"cubic\"\ntraffic = {traffic}\n"
    )
}

/// The number before a unit, behind these words.
fn number(text: &str, words: &str) -> f64 {
    let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("{words}: {text}"));
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_capture_s_link_carries_what_the_phone_s_cell_carried() {
    let folder = Folder::new();
    for direction in ["up", "down"] {
        let flow = folder.sim(&plan(direction, "{ kind = \"bulk\" }"));
        let truth = flow["throughput_mbit_per_sec"].as_f64().unwrap() * LASTS / 8.0 * 1e6;
        let (millis, said) = folder.link("phone.qmdl", &format!("drive.{direction}"));
        let carried = millis.len() as f64 * 1500.0;
        let off = (carried - truth) / truth;
        assert!(off.abs() < 0.01, "{direction}: {carried} bytes, and the truth is {truth}: {said}");
        // Something waited nearly always.
        assert!(!said.contains("only a floor") || number(&said, "only a floor in") < 3.0, "{said}");
        assert!((LASTS * 1e3 - *millis.last().unwrap() as f64).abs() < 500.0, "{millis:?}");
    }
}

#[test]
fn time_in_which_the_phone_had_nothing_to_send_is_only_a_floor() {
    let folder = Folder::new();
    folder.sim(&plan("up", "{ kind = \"steady\", rate = \"300kbit\" }"));
    let (_, said) = folder.link("phone.qmdl", "drive.up");
    let floor = number(&said, "only a floor in");
    assert!((0.9 * LASTS..=LASTS).contains(&floor), "{said}");
}

#[test]
fn a_packet_leaves_when_its_block_was_granted() {
    let folder = Folder::new();
    // A packet and its headers in a block of legal size, at every tenth millisecond.
    let mut bytes = [0; 3_000];
    bytes.iter_mut().skip(5).step_by(10).for_each(|bytes| *bytes = 1_572);
    let capture = sounding_modem::uplink_capture(&bytes, BEGIN, 1_000);
    fs::write(folder.path("a.qmdl"), capture).unwrap();
    let (millis, said) = folder.link("a.qmdl", "a.up");
    assert!((300..=315).contains(&millis.len()), "{}: {said}", millis.len());
    let phases: std::collections::BTreeSet<u64> = millis.iter().map(|ms| ms % 10).collect();
    assert_eq!(phases.len(), 1, "{millis:?}");
    assert!(!said.contains("gap") && !said.contains("set its clock"), "{said}");
}

#[test]
fn gaps_and_jumps_of_the_clock_are_said_and_carry_nothing() {
    let folder = Folder::new();
    let part =
        |after: Duration| sounding_modem::uplink_capture(&[2_000; 4_000], BEGIN + after, 1_000);
    let alone = part(Duration::ZERO);
    let days = Duration::from_secs(90 * 24 * 3600);
    let (gap, jump) = (part(Duration::from_secs(9)), part(days));
    fs::write(folder.path("alone.qmdl"), &alone).unwrap();
    fs::write(folder.path("all.qmdl"), [alone, gap, jump].concat()).unwrap();
    let (one, _) = folder.link("alone.qmdl", "alone.up");
    let (all, said) = folder.link("all.qmdl", "all.up");
    assert!(all.len().abs_diff(3 * one.len()) <= 2, "{} and {}", one.len(), all.len());
    assert!(said.contains("1 gap without records of"), "{said}");
    assert!((4.0..5.5).contains(&number(&said, "gap without records of")), "{said}");
    assert!(said.contains("the modem set its clock 1 time"), "{said}");
    // Four seconds, a gap of five, four seconds, and the jump takes no time.
    assert!((16_500..17_500).contains(all.last().unwrap()), "{:?}", all.last());
    assert!(!all.iter().any(|ms| (4_500..8_500).contains(ms)), "nothing was granted in the gap");
}

#[test]
fn a_link_without_a_direction_or_without_grants_is_refused_with_the_remedy() {
    let folder = Folder::new();
    let capture = sounding_modem::uplink_capture(&[2_000; 1_000], BEGIN, 1_000);
    fs::write(folder.path("a.qmdl"), capture).unwrap();
    for (to, parts) in [
        ("a.trace", ["name it .up or .down", "two links"]),
        ("a.csv", ["name it .up or .down", "sounding link --csv"]),
        ("a.down", ["the downlink was granted too little", "sounding link"]),
    ] {
        let output = sounding(&["convert", &folder.text("a.qmdl"), &folder.text(to)]);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{to}: {said}");
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!folder.path(to).exists(), "{to}");
    }
}

#[test]
fn a_capture_in_a_plan_is_the_link_that_its_trace_is() {
    let folder = Folder::new();
    let capture = sounding_modem::uplink_capture(&[1_500; 5_000], BEGIN, 1_000);
    fs::write(folder.path("drive.qmdl"), capture).unwrap();
    folder.link("drive.qmdl", "drive.up");
    let run = |up: &str| {
        let plan = format!(
            "duration = \"4s\"\nseeds = [1]\n[[links]]\nup = \"{up}\"\ndown = \"10Mbit\"\ndelay = \"10ms\"\n\
             [[flows]]\ndirection = \"up\"\ncontroller = \"cubic\"\n"
        );
        fs::write(folder.path("plan.toml"), plan).unwrap();
        let output = sounding(&["sim", &folder.text("plan.toml"), "--json"]);
        assert!(output.status.success(), "{}", said(&output));
        let result: Json = serde_json::from_slice(&output.stdout).unwrap();
        result["runs"][0]["flows"][0].clone()
    };
    let (of_capture, of_trace) = (run("drive.qmdl"), run("drive.up"));
    assert!(of_capture["throughput_mbit_per_sec"].as_f64().unwrap() > 5.0, "{of_capture}");
    assert_eq!(of_capture, of_trace);
    // The phone received nothing.
    let plan = "duration = \"4s\"\n[[links]]\nup = \"10Mbit\"\ndown = \"drive.qmdl\"\n[[flows]]\ndirection = \"up\"\n";
    fs::write(folder.path("plan.toml"), plan).unwrap();
    let refused = said(&sounding(&["sim", &folder.text("plan.toml")]));
    assert!(refused.contains("drive.qmdl is not a capture of the downlink"), "{refused}");
}

#[test]
fn a_command_runs_behind_the_link_of_a_capture() {
    if !may_emulate() {
        return;
    }
    let folder = Folder::new();
    let capture = sounding_modem::uplink_capture(&[1_500; 5_000], BEGIN, 1_000);
    fs::write(folder.path("drive.qmdl"), capture).unwrap();
    let capture = folder.text("drive.qmdl");
    let ping = ["--", "sh", "-c", "ping -c 2 -i 0.2 $SOUNDING_FAR"];
    let refused = sounding(&[&["emu", "--capture", capture.as_str()], &ping[..]].concat());
    let error = said(&refused);
    assert!(!refused.status.success() && error.contains("--down gives another"), "{error}");

    let more = ["--down", "10Mbit", "--up-log", &folder.text("up.log"), "--as-root"];
    let behind = [&["emu", "--capture", capture.as_str()], &more[..], &ping[..]].concat();
    let output = sounding(&behind);
    let error = said(&output);
    assert!(output.status.success(), "{error}");
    assert!(error.contains("uplink of 5.0 s"), "{error}");
    let log = fs::read_to_string(folder.path("up.log")).unwrap();
    assert!(log.lines().next().unwrap().contains("drive.qmdl]"), "{log}");
    // The log has an opportunity each time that the phone was granted a packet.
    let opportunities = log.lines().filter(|line| line.contains('#') && line.ends_with(" 1504"));
    assert!(opportunities.count() > 50, "{log}");
}

#[test]
fn rows_of_a_link_are_numbers_for_a_spreadsheet() {
    let folder = Folder::new();
    let capture = sounding_modem::uplink_capture(&[1_500; 4_000], BEGIN, 1_000);
    fs::write(folder.path("a.qmdl"), capture).unwrap();
    let file = folder.text("a.qmdl");
    let link = |more: &[&str]| {
        let output = sounding(&[&["link", file.as_str(), "--bin", "500ms"], more].concat());
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let (csv, json) = (link(&["--csv"]), link(&["--json"]));
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(head[..4], ["time_s", "span_s", "unix_ns", "direction"]);
    let mut compared = 0;
    for (line, row) in lines.zip(json.lines()) {
        let row: Json = serde_json::from_str(row).unwrap();
        for (name, field) in head.iter().zip(line.split(',')) {
            let same = match &row[*name] {
                Json::Null => field.is_empty(),
                Json::String(text) => field == text,
                number => {
                    let wanted = number.as_f64().unwrap();
                    (field.parse::<f64>().unwrap() - wanted).abs() <= 1e-6 * wanted.abs()
                }
            };
            assert!(same, "{name}: {field} and {row}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}
