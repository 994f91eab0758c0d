//! Fast paths that lead packets past a shaper, as `sounding doctor` names them: in a namespace of
//! this kernel, because the kernel of User-Mode Linux has no flowtables.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use sounding_emu::Netns;
use sounding_modem::Pty;
use sounding_testdata::{Need, Running, may_emulate, skip};

/// A router's namespace with two devices.
fn router() -> Netns {
    let netns = Netns::new().unwrap();
    for line in
        ["ip link add wan0 type veth peer name far0", "ip link add lan0 type veth peer name host0"]
    {
        let output = run(&netns, line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
    netns
}

fn run(netns: &Netns, line: &str) -> Output {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    netns.enter(|| command.args(words).output().unwrap()).unwrap()
}

/// The checks of a router's fast paths, by a doctor with these words before it.
fn checks(netns: &Netns, before: &str) -> Vec<Json> {
    let program = assert_cmd::cargo::cargo_bin!("sounding").display().to_string();
    let output = run(netns, &format!("{before} {program} doctor --json --no-ports"));
    let lines: Vec<Json> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|check: &Json| check["area"] == "router")
        .collect();
    assert!(!lines.is_empty(), "{output:?}");
    lines
}

fn named<'a>(checks: &'a [Json], name: &str) -> &'a Json {
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {checks:?}"))
}

#[test]
fn without_the_right_to_look_the_doctor_does_not_say_that_there_is_none() {
    if !may_emulate() {
        return;
    }
    let router = router();
    assert_eq!(named(&checks(&router, ""), "flowtables")["ok"], true);
    let checks = checks(&router, "setpriv --bounding-set=-net_admin --inh-caps=-net_admin");
    let found = named(&checks, "flowtables");
    assert_eq!(found["ok"], false);
    assert!(found["detail"].as_str().unwrap().contains("not known"), "{found}");
}

#[test]
fn a_flowtable_is_named_and_the_shaper_above_its_devices_too() {
    if !may_emulate() {
        return;
    }
    let router = router();
    let table = "nft add table inet fw4 ; add flowtable inet fw4 ft \
                 { hook ingress priority 0 ; devices = { wan0, lan0 } ; }";
    let made = run(&router, table);
    if !made.status.success() {
        return skip(Need::Flowtables, String::from_utf8_lossy(&made.stderr));
    }
    run(&router, "tc qdisc replace dev wan0 root handle 1: htb default 1");
    // The shaper of a device of the table holds.
    let before = checks(&router, "");
    let found = named(&before, "inet fw4 ft");
    assert_eq!((&found["ok"], &found["cure"]), (&true.into(), &"".into()), "{found}");
    assert!(found["detail"].as_str().unwrap().contains("wan0, lan0"), "{found}");
    // Packets to a bridge leave by its port, and its shaper does not see them.
    for line in [
        "ip link add br0 type bridge",
        "ip link set lan0 master br0",
        "tc qdisc replace dev br0 root handle 1: htb default 1",
    ] {
        let output = run(&router, line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
    let after = checks(&router, "");
    let found = named(&after, "inet fw4 ft");
    assert_eq!(found["ok"], false, "{found}");
    assert!(found["detail"].as_str().unwrap().contains("below br0,"), "{found}");
    assert!(found["cure"].as_str().unwrap().contains("nft delete flowtable inet fw4 ft"));
    // A shaper there says so at its start.
    run(&router, "tc qdisc del dev br0 root");
    let said = shaping(&router, "br0");
    let bypass = said.iter().find(|event| event["event"] == "bypass");
    let bypass = bypass.unwrap_or_else(|| panic!("no bypass: {said:?}"));
    assert_eq!((&bypass["device"], &bypass["flowtable"]), (&"br0".into(), &"inet fw4 ft".into()));
    assert!(bypass["cure"].as_str().unwrap().contains("nft delete flowtable inet fw4 ft"));
}

#[test]
fn a_shaper_past_which_nothing_leads_names_no_fast_path() {
    if !may_emulate() {
        return;
    }
    let said = shaping(&router(), "wan0");
    assert_eq!(said.last().unwrap()["event"], "ready", "{said:?}");
    assert!(said.iter().all(|event| event["event"] != "bypass"), "{said:?}");
}

/// The events of a shaper of a device's uplink until it is ready.
fn shaping(netns: &Netns, device: &str) -> Vec<Json> {
    let folder = tempfile::tempdir().unwrap();
    let pty = Pty::create(Some(&folder.path().join("modem"))).unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
    command.args(["shape", "--json", "--manage", "--only", "uplink", "--interface", device]);
    command.arg("--device").arg(folder.path().join("modem"));
    command.env("SOUNDING_RUN_DIR", folder.path().join("notes"));
    command.env("SOUNDING_STATE_DIR", folder.path().join("state"));
    netns.bring_in(&mut command);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut running = Running(child);
    let lines = BufReader::new(running.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut events: Vec<Json> = Vec::new();
    for line in lines {
        events.push(serde_json::from_str(&line).unwrap());
        if events.last().unwrap()["event"] == "ready" {
            break;
        }
    }
    drop(pty);
    events
}
