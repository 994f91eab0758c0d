//! The guard has rights, and reads from a process that reads a modem's output: what if that process
//! is no daemon any more?

use std::fs;
use std::process::Command;

use sounding_emu::Netns;

use crate::{as_root, default_of, ended, said, skipped};

/// The answers and output of a guard with root's rights to `told`, line by line.
fn told(netns: &Netns, told: &str) -> (Vec<String>, String) {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let output = ended(as_root(program, netns, &["guard-restore"]), told);
    let answers = String::from_utf8(output.stdout.clone()).unwrap();
    (answers.lines().map(Into::into).collect(), said(&output))
}

#[test]
fn a_file_in_an_instruction_to_a_guard_does_not_change() {
    if skipped() {
        return;
    }
    let netns = Netns::new().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "before\n").unwrap();
    let path = file.path().display();
    let instructions = [
        // As the guard of earlier versions was instructed.
        format!(r#"{{"Sysctl":{{"path":"{path}","ours":"before","was":"after"}}}}"#),
        format!(r#"{{"Undo":{{"Sysctl":{{"path":"{path}","ours":"before","was":"after"}}}}}}"#),
        format!(r#"{{"Undo":{{"Default":{{"path":"{path}","ours":"before","was":"after"}}}}}}"#),
        format!(r#"{{"Undo":{{"Pins":{{"name":"{path}"}}}}}}"#),
        format!(r#"{{"Undo":{{"Pins":{{"name":"../../{path}"}}}}}}"#),
    ];
    let (answers, said) = told(&netns, &format!("{}\n", instructions.join("\n")));
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "before\n", "{said}");
    assert!(!answers.contains(&"agreed".into()), "{answers:?}");
    assert_eq!(answers.len(), instructions.len(), "{answers:?}");
    assert_eq!(said.matches("an instruction is refused").count(), instructions.len(), "{said}");
}

#[test]
fn a_guard_makes_no_algorithm_the_default_that_a_daemon_did_not_find_there() {
    if skipped() {
        return;
    }
    let netns = Netns::new().unwrap();
    let now = default_of(&netns);
    let other = if now == "reno" { "cubic" } else { "reno" };
    let module = "a_module_to_load";
    for (ours, was) in
        [(&*now, other), (&*now, module), (other, &*now), (module, other), ("biscay", &*now)]
    {
        for said in [
            format!(
                r#"{{"Sysctl":{{"path":"/proc/sys/net/ipv4/tcp_congestion_control","ours":"{ours}","was":"{was}"}}}}"#
            ),
            format!(r#"{{"Undo":{{"Default":{{"ours":"{ours}","was":"{was}"}}}}}}"#),
        ] {
            let (answers, all) = told(&netns, &format!("{said}\n"));
            assert_eq!(default_of(&netns), now, "{said}: {all}");
            assert!(!answers.contains(&"agreed".into()), "{said}: {answers:?}");
        }
    }
}

#[test]
fn a_guard_runs_no_command_of_anybodys_and_changes_no_route_but_by_its_algorithm() {
    if skipped() {
        return;
    }
    let netns = Netns::new().unwrap();
    let ip = |words: &str| {
        let run = || Command::new("ip").args(words.split(' ')).output().unwrap();
        let output = netns.enter(run).unwrap();
        assert!(output.status.success(), "ip {words}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    ip("link set lo up");
    ip("route add 10.77.0.0/16 dev lo congctl reno");
    let before = ip("route show");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "route flush dev lo\n").unwrap();
    let path = file.path().display();
    for said in [
        // As the guard of earlier versions was instructed: another way for the same prefix.
        r#"{"Route":{"ours":["10.77.0.0/16","dev","lo","scope","link","congctl","reno"],"was":["blackhole","10.77.0.0/16"]}}"#.into(),
        r#"{"Undo":{"Route":{"prefix":"10.77.0.0/16","ours":"reno","was":"cubic"}}}"#.into(),
        r#"{"Undo":{"Route":{"prefix":"10.77.0.0/16","ours":"reno","was":null}}}"#.into(),
        r#"{"Undo":{"Route":{"prefix":"10.77.0.0/16","ours":"biscay via 10.0.0.1","was":"reno"}}}"#.into(),
        format!(r#"{{"Undo":{{"Route":{{"prefix":"-batch {path}","ours":"biscay","was":null}}}}}}"#),
        format!(r#"{{"Undo":{{"Route":{{"prefix":"-batch","ours":"{path}","was":null}}}}}}"#),
    ] {
        let said: String = said;
        let (answers, all) = told(&netns, &format!("{said}\n"));
        assert_eq!(ip("route show"), before, "{said}: {all}");
        assert!(!answers.contains(&"agreed".into()), "{said}: {answers:?}");
    }
}

#[test]
fn a_guard_whose_list_is_closed_hears_nothing_more() {
    if skipped() {
        return;
    }
    let netns = Netns::new().unwrap();
    let (answers, said) =
        told(&netns, "\"Close\"\n\"Close\"\n{\"Undo\":{\"Pins\":{\"name\":\"x\"}}}\n");
    assert_eq!(answers[0], "agreed", "{said}");
    assert!(answers[1..].iter().all(|answer| answer.contains("closed")), "{answers:?}");
}

#[test]
fn a_guard_with_endless_input_needs_no_more_memory_and_ends() {
    if skipped() {
        return;
    }
    let netns = Netns::new().unwrap();
    let long = "x".repeat(50_000_000);
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let mut command = as_root(program, &netns, &["guard-restore"]);
    // A quarter of its input would fit, beside the program itself.
    let enough = 64 << 20;
    limit_data(&mut command, enough / 4);
    let output = ended(command, &format!("{long}\n\"Close\"\n"));
    let answers = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", said(&output));
    let answers: Vec<&str> = answers.lines().collect();
    assert!(answers[0].contains("longer than") && answers[1] == "agreed", "{answers:?}");
}

/// Limits a program's own memory to this.
fn limit_data(command: &mut Command, bytes: u64) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: setrlimit is async-signal-safe and touches nothing but the child.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
            match libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}
