//! The name of a router's socket, taken by a user that runs no router.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_emu::Netns;

use crate::{Copy, STRANGER, as_root, ended, said, skipped};
use sounding_testdata::{Need, skip};

/// A program that answers as a router does, in a separate namespace, for as long as it lives.
struct Router {
    child: Child,
    _out: BufReader<std::process::ChildStdout>,
}

impl Router {
    fn start(mut command: std::process::Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        // It prints its source once it listens.
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        Self { child, _out: out }
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both kinds of routers: how one is served, and how it is named.
const KINDS: [(&str, &str); 2] = [("--router", "router"), ("--vendor-router", "vendor-router")];

#[test]
fn a_user_that_takes_a_routers_name_feeds_no_other_users_daemon() {
    if skipped() {
        return;
    }
    let copy = Copy::new();
    let program = copy.program();
    for (serve, kind) in KINDS {
        let netns = Netns::new().unwrap();
        let _router = Router::start(copy.as_stranger(&netns, &["modem", "sim", serve, "diag"]));
        let source = format!("{kind}:diag");
        let file = copy.folder.path().join(format!("{kind}.qmdl"));
        let file = file.to_str().unwrap();
        for arguments in [
            &["run", "--device", &source][..],
            &["record", &source, file, "--for", "1s"],
            &["link", &source],
            &["board", &source],
            &["kpi", &source, "--kpi", "lte.pusch.tbs"],
            // By the names that routers are known by.
            &["run", "--device", kind],
        ] {
            let output = ended(as_root(&program, &netns, arguments), "");
            let said = said(&output);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
            let words: Vec<&str> = said.split_whitespace().collect();
            assert!(words.contains(&"4242421"), "{arguments:?}: {said}");
            assert!(said.contains("--router-user"), "{arguments:?}: {said}");
        }
        assert!(!Path::new(file).exists(), "nothing of a stranger's is recorded");
        let output = ended(as_root(&program, &netns, &["doctor"]), "");
        let said = said(&output);
        let line = said.lines().find(|line| line.contains("user 4242421")).expect(&said);
        assert!(line.starts_with("no"), "{said}");
    }
}

#[test]
fn a_router_that_is_named_by_its_user_and_one_of_roots_are_believed() {
    if skipped() {
        return;
    }
    let copy = Copy::new();
    let program = copy.program();
    for (serve, kind) in KINDS {
        let netns = Netns::new().unwrap();
        let source = format!("{kind}:diag");
        let user = STRANGER.to_string();
        let named = ["--router-user", &user];
        let count = |arguments: &[&str], as_stranger: bool| {
            let file = copy.strangers().join("drive.qmdl");
            let _ = std::fs::remove_file(&file);
            let record = ["record", &source, file.to_str().unwrap(), "--for", "1s"];
            let arguments = [&record[..], arguments].concat();
            let command = if as_stranger {
                copy.as_stranger(&netns, &arguments)
            } else {
                as_root(&program, &netns, &arguments)
            };
            let output = ended(command, "");
            assert!(output.status.success(), "{arguments:?}: {}", said(&output));
            std::fs::metadata(&file).unwrap().len()
        };
        {
            let _strangers =
                Router::start(copy.as_stranger(&netns, &["modem", "sim", serve, "diag"]));
            assert!(count(&named, false) > 1000);
            let output = ended(as_root(&program, &netns, &[&["doctor"], &named[..]].concat()), "");
            let said = said(&output);
            let line = said.lines().find(|line| line.contains("a modem answers")).expect(&said);
            assert!(line.starts_with("ok") && line.contains(kind), "{said}");
            run(&program, &netns, &source, &named);
            // The stranger itself believes its own.
            assert!(count(&[], true) > 1000);
        }
        let _roots = Router::start(as_root(&program, &netns, &["modem", "sim", serve, "diag"]));
        assert!(count(&[], true) > 1000);
    }
}

/// A daemon that reads such a source, where the kernel takes one.
fn run(program: &Path, netns: &Netns, source: &str, flags: &[&str]) {
    if let Some(check) = sounding_bpf::preflight("rt_user").into_iter().find(|check| !check.ok) {
        return skip(Need::Kernel, &check.detail);
    }
    let name = format!("{}_rt", std::process::id() % 1_000_000);
    let arguments = [&["run", "--json", "--name", &name, "--device", source], flags].concat();
    let mut daemon = as_root(program, netns, &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let events = BufReader::new(daemon.stdout.take().unwrap()).lines().map_while(Result::ok);
    let events = events.map(|line| serde_json::from_str::<Json>(&line).unwrap());
    // It is ready before the modem has answered: it is ended only once it reports that one did, or
    // that none does.
    let mut events = events.skip_while(|event| event["event"] != "ready");
    let answer = events.find(|event| event["event"] == "answers" || event["event"] == "no_answer");
    kill(Pid::from_raw(daemon.id().cast_signed()), Signal::SIGINT).unwrap();
    events.for_each(drop);
    assert!(daemon.wait().unwrap().success());
    assert_eq!(answer.expect("it goes on")["event"], "answers");
}

#[test]
fn a_user_is_named_only_where_somebody_else_could_answer() {
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.args(arguments);
        ended(command, "")
    };
    for arguments in [
        &["run", "--check-config", "--device", "/dev/ttyUSB0", "--router-user", "0"][..],
        &["link", "tcp:localhost:1", "--router-user", "0"],
        &["record", "-", "x.qmdl", "--router-user", "0"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains("--router-user is for"), "{}", said(&output));
    }
    let output = run(&["link", "router", "--router-user", "no such user"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("no user"), "{}", said(&output));
}
