//! An emulation leaves nothing behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::eventually;
use sounding_emu::{Config, Emulation};
use sounding_sim::PathConfig;
use sounding_testdata::may_emulate;
use sounding_units::Rate;

fn config() -> Config {
    let way = || PathConfig::new(Rate::from_bits_per_sec(10_000_000));
    Config::new(way(), way())
}

/// The namespace as `/proc` shows it: `net:[4026532000]`.
fn name_of_this_namespace() -> String {
    fs::read_link("/proc/thread-self/ns/net").unwrap().to_string_lossy().into_owned()
}

/// Whether a process or thread is in one of these namespaces, or holds a descriptor of one.
fn is_in_use(namespaces: &[String]) -> bool {
    let is_one = |link: &Path| {
        fs::read_link(link).is_ok_and(|to| namespaces.contains(&to.to_string_lossy().into_owned()))
    };
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes
        .filter(|path| path.join("ns/net").symlink_metadata().is_ok())
        .any(|path| is_one(&path.join("ns/net")) || entries(&path.join("fd")).any(|fd| is_one(&fd)))
}

fn entries(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Everything about the host's network that an emulation could have touched.
fn host_network() -> Vec<String> {
    let mut state = vec![];
    for file in
        ["/proc/net/route", "/proc/net/ipv6_route", "/proc/net/fib_trie", "/proc/net/if_inet6"]
    {
        state.push(fs::read_to_string(file).unwrap_or_default());
    }
    let devices = fs::read_to_string("/proc/net/dev").unwrap();
    state.extend(devices.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned())));
    for sysctl in
        ["ipv6/conf/all/disable_ipv6", "ipv6/conf/default/disable_ipv6", "ipv4/ip_forward"]
    {
        state.push(fs::read_to_string(format!("/proc/sys/net/{sysctl}")).unwrap_or_default());
    }
    state
}

#[test]
fn the_network_of_the_host_is_untouched() {
    if !may_emulate() {
        return;
    }
    let before = host_network();
    let emulation = Emulation::start(config()).unwrap();
    let during = host_network();
    emulation.stop().unwrap();
    assert!(before == during && during == host_network(), "{before:?}\n{during:?}");
}

#[test]
fn an_emulation_that_is_dropped_is_gone() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(config()).unwrap();
    let names = [emulation.near(), emulation.far()]
        .map(|namespace| namespace.enter(name_of_this_namespace).unwrap());
    assert!(is_in_use(&names), "the check below would prove nothing");
    drop(emulation);
    assert!(eventually(|| !is_in_use(&names)));
}

#[test]
fn a_command_sees_the_namespace_and_returns_its_exit_code() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(config()).unwrap();
    let script = "grep -q radio0 /proc/net/dev && exit 42";
    let status = emulation.near().command("sh").args(["-c", script]).status().unwrap();
    assert_eq!(status.code(), Some(42));
}

#[test]
fn a_command_that_is_killed_takes_its_children_with_it() {
    if !may_emulate() {
        return;
    }
    let emulation = Emulation::start(config()).unwrap();
    let script = "sleep 1000 & setsid sleep 1000 & echo ready; wait";
    let mut child =
        emulation.near().command("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let name = emulation.near().enter(name_of_this_namespace).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(emulation);
    assert!(eventually(|| !is_in_use(std::slice::from_ref(&name))));
}

/// Not a test itself: [`nothing_survives_a_sigkill`] starts and kills it.
#[test]
#[ignore = "runs until it is killed"]
fn victim() {
    if std::env::var_os("SOUNDING_TEST_VICTIM").is_none() {
        return;
    }
    let emulation = Emulation::start(config()).unwrap();
    let script = "sleep 1000 & setsid sleep 1000 & echo ready; wait";
    let children = [emulation.near(), emulation.far()].map(|namespace| {
        let mut command = namespace.command("sh");
        let mut child = command.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        child
    });
    for namespace in [emulation.near(), emulation.far()] {
        println!("VICTIM {}", namespace.enter(name_of_this_namespace).unwrap());
    }
    for mut child in children {
        child.wait().unwrap();
    }
}

#[test]
fn nothing_survives_a_sigkill() {
    if !may_emulate() {
        return;
    }
    let before = host_network();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "left_behind::victim", "--ignored", "--nocapture"])
        .env("SOUNDING_TEST_VICTIM", "1")
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let names: Vec<String> = BufReader::new(victim.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| Some(line.split_once("VICTIM ")?.1.to_owned()))
        .take(2)
        .collect();
    assert!(names.len() == 2 && is_in_use(&names), "the victim did not start: {names:?}");
    // The signal goes only to its pid, not to its group. Its children must end by themselves.
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(eventually(|| !is_in_use(&names)), "something is left in {names:?}");
    assert!(host_network() == before);
}
