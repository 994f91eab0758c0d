//! `sounding emu PLAN` as a user meets it: a modelled cell in real time, its modem on a port, flows
//! of the real kernel. Parts that need root report a skip without it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_testdata::{may_emulate, steadily};

/// An LTE uplink of 10 MHz, 20 ms of wire behind it.
const PLAN: &str = r#"
duration = "5s"
warmup = "1500ms"
wire = { delay = "20ms" }

[[cell.carriers]]
prb = 50

[[cell.devices]]
name = "phone"
modem = {}
channel = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 15.0 }], fading = {} }

[[flows]]
device = "phone"
direction = "up"
controller = "cubic"
"#;

fn sounding() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
}

/// A plan in a separate folder.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(plan: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.toml"), plan).unwrap();
        Self { folder }
    }

    fn plan(&self) -> PathBuf {
        self.folder.path().join("plan.toml")
    }

    fn modem(&self) -> PathBuf {
        self.folder.path().join("modem")
    }

    fn emu(&self, arguments: &[&str]) -> Output {
        sounding().arg("emu").arg(self.plan()).args(arguments).output().unwrap()
    }
}

fn stderr(output: &Output) -> String {
    // miette breaks lines where it likes.
    String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_without_bpf() -> bool {
    let missing = sounding_bpf::preflight("biscay_emu").into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, &check.detail);
    }
    missing.is_some()
}

/// Congestion controls of this kernel that a daemon of ours has put there.
fn ours() -> Vec<String> {
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let known = std::fs::read_to_string(list).unwrap();
    let is_ours = |name: &&str| ["biscay", "sounding"].iter().any(|law| name.starts_with(law));
    known.split_whitespace().filter(is_ours).map(Into::into).collect()
}

#[test]
fn the_kernels_laws_follow_the_cells_own_modem_where_cubic_fills_its_queue() {
    if !may_emulate() || is_without_bpf() {
        return;
    }
    steadily(|| {
        let laws = ["biscay", "sounding"];
        let sweep = "[sweep]\n\"flows.0.controller\" = [\"cubic\", \"biscay\", \"sounding\"]";
        let scene = Scene::new(&format!("{PLAN}\n{sweep}\n"));
        let before = ours();
        let output = scene.emu(&["--json", "-", "--link", scene.modem().to_str().unwrap()]);
        assert!(output.status.success(), "{}", stderr(&output));
        let result: Json = serde_json::from_slice(&output.stdout).unwrap();
        let runs = result["runs"].as_array().unwrap();
        let of = |run: usize, path: &str| runs[run].pointer(path).unwrap().as_f64().unwrap();
        for run in runs {
            let way = &run["emulation"]["up"];
            let count = |name: &str| way[name].as_u64().unwrap();
            let settled =
                count("delivered_packets") + count("dropped_packets") + count("queued_packets");
            assert_eq!(count("arrived_packets"), settled, "{way}");
        }
        // In CUBIC's run no reader has the modem open, in the others a daemon does.
        assert_eq!(of(0, "/modems/0/records/sent"), 0.0);
        let cubic = of(0, "/flows/0/throughput_mbit_per_sec");
        let slow = of(0, "/flows/0/one_way_ms/p95");
        for (run, law) in (1..).zip(laws) {
            assert!(of(run, "/modems/0/records/sent") > 200.0, "{}", runs[run]);
            assert_eq!(of(run, "/modems/0/records/lost"), 0.0);
            let rate = of(run, "/flows/0/throughput_mbit_per_sec");
            let quick = of(run, "/flows/0/one_way_ms/p95");
            println!("{law}: {rate} of {cubic} Mbit/s, p95 {quick} of {slow} ms");
            assert!(cubic > 5.0 && rate > 0.6 * cubic, "{law}: {rate} of {cubic} Mbit/s");
            assert!(2.0 * quick < slow, "{law}: {quick} and {slow} ms");
        }
        assert_eq!(ours(), before);
        assert!(scene.modem().symlink_metadata().is_err(), "the modem's link is left behind");
    });
}

#[test]
fn a_command_has_the_first_device_and_its_modem_answers_beside_it() {
    if !may_emulate() {
        return;
    }
    let scene = Scene::new(PLAN);
    let modem = scene.modem();
    // Traffic for the modem to write about, and a reader outside.
    let talk =
        "for i in $(seq 2000); do printf %01400d 0 > /dev/udp/$SOUNDING_FAR/9; sleep 0.01; done";
    let mut emu = sounding()
        .arg("emu")
        .arg(scene.plan())
        .args(["--link", modem.to_str().unwrap()])
        .args(["--", "bash", "-c", talk])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(emu.stderr.take().unwrap()).lines().map_while(Result::ok);
    let told = lines.find(|line| line.contains("modem of phone:")).unwrap();
    assert!(told.ends_with(modem.to_str().unwrap()), "{told}");
    let estimate = first_estimate(&modem);
    assert!(estimate["rate_bits_per_sec"].as_u64() > Some(100_000), "{estimate}");
    kill(Pid::from_raw(emu.id() as i32), Signal::SIGINT).unwrap();
    lines.for_each(drop);
    emu.wait().unwrap();
    assert!(modem.symlink_metadata().is_err(), "the modem's link is left behind");
}

/// The first estimate from grants that a port's modem gives; null if it gives none.
fn first_estimate(port: &Path) -> Json {
    let mut link = sounding()
        .arg("link")
        .arg(port)
        .args(["--direction", "uplink", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(link.stdout.take().unwrap()).lines().map_while(Result::ok);
    let estimates = lines.take(100).map(|line| serde_json::from_str::<Json>(&line).unwrap());
    let found = { estimates }.find(|estimate| estimate["source"] == "grants");
    kill(Pid::from_raw(link.id() as i32), Signal::SIGINT).unwrap();
    link.wait().unwrap();
    found.unwrap_or_default()
}

#[test]
fn what_is_wrong_with_a_plan_is_said_with_its_place() {
    for (plan, expected) in [
        (PLAN.replace("prb = 50", "prbs = 50"), ":7:1: cell.carriers.0.prbs: unknown field `prbs`"),
        (
            PLAN.replace(
                "controller = \"cubic\"",
                "traffic = { kind = \"responses\", size = \"1kB\", think = \"1s\" }",
            ),
            "flows.0.traffic: responses are for virtual time",
        ),
        (
            PLAN.replace("controller = \"cubic\"", "delay = \"50ms\""),
            "flows.0.delay: a flow's own delay is for virtual time",
        ),
        (
            PLAN.replace("controller = \"cubic\"", "acks = \"every-packet\""),
            "flows.0.acks: a kernel acknowledges",
        ),
        (
            PLAN.replace("\"cubic\"", "{ name = \"biscay\", allowance = \"20ms\" }"),
            "flows.0.controller: a kernel's controllers take no parameters, and biscay(allowance=20ms) has some",
        ),
        (
            PLAN.replace("modem = {}\n", "").replace("\"cubic\"", "\"biscay\""),
            "flows.0.controller: biscay reads a modem, and phone has none",
        ),
    ] {
        let output = Scene::new(&plan).emu(&[]);
        assert_eq!(output.status.code(), Some(1));
        // The box that the message stands in is broken up as it likes.
        let words =
            |text: &str| text.split_whitespace().filter(|w| w.is_ascii()).collect::<String>();
        assert!(
            words(&stderr(&output)).contains(&words(expected)),
            "{expected} in {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_plan_excludes_a_link_and_a_command_takes_one_run() {
    let scene = Scene::new(&format!("{PLAN}\n[sweep]\nduration = [\"3s\", \"4s\"]\n"));
    let output = scene.emu(&["--up", "12Mbit"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = scene.emu(&["--far", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = scene.emu(&["--", "true"]);
    assert!(stderr(&output).contains("comes to 2 runs"), "{}", stderr(&output));
}

#[test]
fn a_cell_that_is_too_much_for_the_machine_is_reported_before_while_and_after() {
    if !may_emulate() {
        return;
    }
    // 250 carriers with slots of 0.125 ms, two million slots per second, and nine devices in each.
    let carrier = "[[cell.carriers]]\nrat = \"nr\"\nnumerology = 3\nprb = 132\n";
    let cells: Vec<usize> = (0..250).collect();
    let plan = PLAN
        .replace("[[cell.carriers]]\nprb = 50\n", &carrier.repeat(250))
        .replace(
            "[[cell.devices]]\n",
            "[[cell.devices]]\nname = \"others\"\ncount = 8\n\n[[cell.devices]]\n",
        )
        .replace("name = ", &format!("cells = [{cells:?}]\nname = "))
        .replace("duration = \"5s\"", "duration = \"2s\"");
    let output = Scene::new(&plan).emu(&["--json", "-"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stderr(&output);
    for part in
        ["of a processor", "has fallen behind the clock", "the network fell behind the clock"]
    {
        assert!(told.contains(part), "{part} in {told}");
    }
    let result: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert!(result["runs"][0]["emulation"]["times_behind"].as_u64() > Some(0), "{result}");
}
