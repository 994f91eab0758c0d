//! `sounding run --background`: who gets the algorithm while it is loaded, and that all is as
//! before at its end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_bpf::cgroup_root;

use crate::rig::{Rig, is_registered, skipped, stderr, stdout, transfer};

/// A daemon that has loaded the algorithm under this name.
struct Daemon {
    name: String,
    child: Child,
    events: BufReader<ChildStdout>,
}

impl Daemon {
    fn start(rig: &Rig, name: &str, flags: &[&str]) -> Self {
        let name = format!("{name}_{}", std::process::id());
        let mut command = rig.sounding();
        command.args(["run", "--background", "--json", "--name", &name]).args(flags);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut events = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        events.read_line(&mut line).unwrap();
        assert!(line.contains("\"ready\""), "{line}");
        Self { name, child, events }
    }

    /// Ends it as Ctrl-C does. Returns what it counted.
    fn end(mut self) -> Json {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT).unwrap();
        let mut line = String::new();
        self.events.read_line(&mut line).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert!(!is_registered(&self.name), "{} is left behind", self.name);
        serde_json::from_str(&line).unwrap()
    }
}

/// Runs words at the near end of a link.
fn at_near(rig: &Rig, words: &[String]) -> String {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command.envs(rig.address());
    rig.emulation.near().bring_in(&mut command);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    stdout(&output)
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(Into::into).collect()
}

/// The algorithm that a transfer of the near end has.
fn algorithm(rig: &Rig) -> String {
    let said = at_near(rig, &transfer(200_000));
    said.split_whitespace().next().unwrap().to_owned()
}

const DEFAULT: &str = "cat /proc/sys/net/ipv4/tcp_congestion_control";

#[test]
fn as_the_default_all_new_flows_get_it_until_it_ends() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let before = at_near(&rig, &words(DEFAULT));
    assert_eq!(algorithm(&rig), before);
    let daemon = Daemon::start(&rig, "bd", &["--default"]);
    assert_eq!(at_near(&rig, &words(DEFAULT)), daemon.name);
    assert_eq!(algorithm(&rig), daemon.name);
    let ended = daemon.end();
    assert_eq!(ended["connections"], 1, "{ended}");
    assert_eq!([at_near(&rig, &words(DEFAULT)), algorithm(&rig)], [before.clone(), before]);
}

#[test]
fn by_a_route_all_new_flows_over_it_get_it_until_it_ends() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let before = algorithm(&rig);
    let to_far = format!("{}/32", rig.emulation.far_address());
    let route = words(&format!("ip route show exact {to_far}"));
    let found = at_near(&rig, &route);
    let daemon = Daemon::start(&rig, "br", &["--route", &to_far]);
    assert_eq!(algorithm(&rig), daemon.name);
    let ended = daemon.end();
    assert_eq!(ended["connections"], 1, "{ended}");
    assert_eq!([at_near(&rig, &route), algorithm(&rig)], [found, before]);
}

/// A folder of the cgroup hierarchy, removed when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn all_sockets_of_a_cgroup_get_the_algorithm_and_no_others() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let before = algorithm(&rig);
    let name = format!("sounding-test-{}", std::process::id());
    let folder = Folder(cgroup_root().unwrap().join(name));
    fs::create_dir(&folder.0).unwrap();
    let daemon = Daemon::start(&rig, "bc", &["--cgroup", folder.0.to_str().unwrap()]);
    let inside: Vec<String> = ["sh", "-c", "echo 0 > \"$0\"; exec \"$@\""]
        .map(Into::into)
        .into_iter()
        .chain([folder.0.join("cgroup.procs").to_str().unwrap().to_owned()])
        .chain(transfer(200_000))
        .collect();
    let said = at_near(&rig, &inside);
    assert_eq!(said.split_whitespace().next(), Some(daemon.name.as_str()), "{said}");
    assert_eq!(algorithm(&rig), before, "of a process outside");
    let ended = daemon.end();
    assert_eq!((&ended["connections"], &ended["chosen"]), (&1.into(), &1.into()), "{ended}");
    let said = at_near(&rig, &inside);
    assert_eq!(said.split_whitespace().next(), Some(before.as_str()), "after its end");
}
