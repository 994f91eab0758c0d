//! This program killed at any moment, alone or with its keeper: what is there a second later, and
//! after the next start.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use sounding_testdata::{MARK, Running, STRANGER, processes_marked, steadily};

use crate::rig::{Rig, cgroups, eventually, is_registered, skipped};

fn cgroups_of(process: u32) -> Vec<PathBuf> {
    let name = format!("/sounding-background-{process}-");
    let mut all = cgroups();
    all.retain(|path| path.to_string_lossy().contains(&name));
    all
}

fn background(rig: &Rig, mark: &str, words: &[&str]) -> Command {
    let mut command = rig.sounding();
    command.args(["background", "--"]).args(words).env(MARK, mark);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Kills this program so often, at moments between its start and its end. Nothing is left a second
/// later.
fn kills(times: u32, seed: u64) {
    if skipped() {
        return;
    }
    steadily(|| {
        let rig = Rig::start();
        let begun = Instant::now();
        assert!(background(&rig, "first", &["true"]).status().unwrap().success());
        let whole = begun.elapsed();
        let mut dice = seed;
        let mut interrupted = 0;
        for number in 0..times {
            // Knuth's MMIX generator.
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let part = (dice >> 40) as f64 / f64::from(1 << 24);
            let mark = format!("{}-{number}", std::process::id());
            let mut child = Running(background(&rig, &mark, &["true"]).spawn().unwrap());
            sleep(whole.mul_f64(part));
            child.kill().unwrap();
            interrupted += u32::from(!child.wait().unwrap().success());
            let left = || {
                let name = format!("bg_{}", child.id());
                let name = is_registered(&name).then_some(name);
                (processes_marked(&mark), cgroups_of(child.id()), name)
            };
            sleep(Duration::from_secs(1));
            let (processes, cgroups, name) = left();
            assert!(
                processes.is_empty() && cgroups.is_empty() && name.is_none(),
                "killed after {part:.3} of its life: {processes:?} {cgroups:?} {name:?}"
            );
        }
        assert!(interrupted > times / 2, "{interrupted} of {times} were killed before their end");
    });
}

#[test]
fn a_kill_at_any_moment_leaves_nothing_a_second_later() {
    kills(8, 1);
}

/// A command that sleeps until it is ended.
fn sleeping(rig: &Rig, mark: &str) -> Running {
    let mut command = background(rig, mark, &["sh", "-c", "echo ready; exec sleep 1000"]);
    let mut child = Running(command.stdout(Stdio::piped()).process_group(0).spawn().unwrap());
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    child
}

fn is_keeper(process: &i32) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == b"background-keep")
}

#[test]
fn the_next_start_removes_what_one_killed_with_its_keeper_left() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let mark = format!("{}-pair", std::process::id());
    let next = || assert!(background(&rig, "next", &["true"]).status().unwrap().success());
    let mut child = sleeping(&rig, &mark);
    let keepers: Vec<_> = processes_marked(&mark).into_iter().filter(is_keeper).collect();
    assert_eq!(keepers.len(), 1, "{keepers:?}");
    kill(Pid::from_raw(keepers[0]), Signal::SIGKILL).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the name to go", || !is_registered(&format!("bg_{}", child.id())));
    next();
    assert_eq!(cgroups_of(child.id()).len(), 1, "the command is in it");
    // Not the marked ones: a process that has just become `sleep` may show no variables yet.
    let cgroup = &cgroups_of(child.id())[0];
    let commands = || fs::read_to_string(cgroup.join("cgroup.procs")).unwrap();
    for process in commands().lines() {
        kill(Pid::from_raw(process.parse().unwrap()), Signal::SIGKILL).unwrap();
    }
    eventually("the command to end", || commands().is_empty());
    assert_eq!(cgroups_of(child.id()).len(), 1, "the check below would prove nothing");
    next();
    assert_eq!(cgroups_of(child.id()), Vec::<PathBuf>::new());
}

#[test]
fn the_next_start_keeps_the_cgroup_of_a_command_whose_keeper_lives() {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let mark = format!("{}-alone", std::process::id());
    let mut child = sleeping(&rig, &mark);
    let cgroup = cgroups_of(child.id()).pop().unwrap();
    // No other user takes the lock that says so.
    let opened = sounding_testdata::as_stranger(|| fs::File::open(&cgroup).map(drop));
    assert!(opened.unwrap().is_err(), "user {STRANGER} can lock {}", cgroup.display());
    assert!(background(&rig, "next", &["true"]).status().unwrap().success());
    assert!(cgroup.exists());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(!cgroup.exists());
}

/// Who is killed, and how.
type Kill = fn(&Child, keeper: Pid, command: Pid);

#[test]
fn five_kinds_of_kill_leave_nothing_a_second_after_the_commands_end() {
    if skipped() {
        return;
    }
    let kinds: [(&str, Kill); 5] = [
        ("the program", |child, _, _| {
            kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
        }),
        ("its keeper", |_, keeper, _| kill(keeper, Signal::SIGKILL).unwrap()),
        ("the command", |_, _, command| kill(command, Signal::SIGKILL).unwrap()),
        ("the program, politely", |child, _, _| {
            kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
        }),
        ("its process group", |child, _, _| {
            killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
        }),
    ];
    steadily(|| {
        let rig = Rig::start();
        for (who, how) in kinds {
            let mark = format!("{}-{}", std::process::id(), who.replace(' ', "_"));
            let mut child = sleeping(&rig, &mark);
            // A process that becomes `sleep` shows no variables for a moment: one look decides.
            let mut all = Vec::new();
            eventually("three processes", || {
                all = processes_marked(&mark);
                all.len() == 3
            });
            let keeper = all.iter().copied().find(is_keeper).unwrap();
            let command =
                all.iter().copied().find(|one| *one != keeper && *one != child.id() as i32);
            let command = Pid::from_raw(command.unwrap());
            how(&child, Pid::from_raw(keeper), command);
            sleep(Duration::from_millis(200));
            // Whatever goes on does so with the algorithm.
            let goes_on = processes_marked(&mark).contains(&command.as_raw());
            assert!(
                !goes_on || who == "its keeper" || is_registered(&format!("bg_{}", child.id())),
                "{who}"
            );
            let _ = kill(command, Signal::SIGTERM);
            let status = child.wait().unwrap();
            sleep(Duration::from_secs(1));
            assert_eq!(processes_marked(&mark), Vec::<i32>::new(), "{who}: {status:?}");
            assert_eq!(cgroups_of(child.id()), Vec::<PathBuf>::new(), "{who}: {status:?}");
            assert!(!is_registered(&format!("bg_{}", child.id())), "{who}: {status:?}");
        }
    });
}

mod long {
    #[test]
    #[ignore = "more than a minute"]
    fn forty_kills_at_any_moment_leave_nothing_a_second_later() {
        super::kills(40, 2);
    }
}
