//! The name in this machine's kernel, and who removes it. If BISCAY cannot be loaded, each test
//! says why and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::fs;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_bpf::unregister;
use support::*;

/// Whether sockets can select it.
fn listed(name: &str) -> bool {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap()
        .split_whitespace()
        .any(|entry| entry == name)
}

#[test]
fn the_name_of_a_killed_process_goes_by_itself_or_is_taken_out() {
    let Some(_) = name() else { return };
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this)
        .args(["--exact", "loads_and_is_killed", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let mut words = said.split_once("loaded ").unwrap().1.split_whitespace();
    let (name, map) = (words.next().unwrap(), words.next().unwrap());
    if let Ok(map) = map.parse() {
        // Linux before 6.4 keeps it.
        assert!(listed(name));
        unregister("another", map).unwrap();
        assert!(listed(name));
        unregister(name, map).unwrap();
        assert!(!listed(name));
        // And once more, too late.
        unregister(name, map).unwrap();
    }
    wait_for("the name to go", || (!listed(name)).then_some(()));
}

#[test]
#[ignore = "run by the_name_of_a_killed_process_goes_by_itself_or_is_taken_out"]
fn loads_and_is_killed() {
    let biscay = load().unwrap();
    let map = biscay.outlasting().map_or("none".into(), |map| map.to_string());
    println!("loaded {} {map}", biscay.name());
    kill(Pid::this(), Signal::SIGKILL).unwrap();
}

#[test]
fn a_map_that_is_not_there_has_no_name_to_take_out() {
    let Some(name) = name() else { return };
    unregister(&name, u32::MAX).unwrap();
}
