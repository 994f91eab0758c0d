//! Many commands at once: all load the algorithm under a name of their own, and share one program
//! that sees all traffic.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_bpf::inventory::{self, Object};
use sounding_testdata::Running;

use crate::rig::{Rig, cgroups, eventually, skipped};

/// So many commands, started without waiting for each other.
fn at_once(count: usize) {
    if skipped() {
        return;
    }
    let rig = Rig::start();
    let start = |_| -> Running {
        let mut command = rig.sounding();
        command.args(["background", "--", "sh", "-c", "echo ready; exec sleep 1000"]);
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    };
    let mut children: Vec<Running> = (0..count).map(start).collect();
    for (number, child) in children.iter_mut().enumerate() {
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line != "ready\n" {
            let why = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            panic!("command {number} of {count}: {why}");
        }
    }
    let links = |child: &Running| -> BTreeSet<Object> {
        let held = inventory::held_by(child.id()).into_iter();
        held.filter(|object| matches!(object, Object::Link(_))).collect()
    };
    let held: Vec<_> = children.iter().map(links).collect();
    let all = held.iter().skip(1).fold(held[0].clone(), |all, held| &all & held);
    assert_eq!(all.len(), 1, "the links that all of them hold");
    for child in &children {
        kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    }
    for child in &mut children {
        assert_eq!(child.wait().unwrap().code(), Some(143));
        let name = format!("/sounding-background-{}-", child.id());
        assert!(!cgroups().iter().any(|path| path.to_string_lossy().contains(&name)));
    }
    let own: BTreeSet<Object> =
        held.into_iter().flatten().filter(|one| !all.contains(one)).collect();
    eventually("their own links to go", || inventory::alive().is_disjoint(&own));
}

#[test]
fn commands_that_start_at_once_share_the_program_that_sees_all_traffic() {
    at_once(8);
}

mod long {
    #[test]
    #[ignore = "minutes of the verifier's work"]
    fn sixty_six_commands_run_at_once() {
        super::at_once(66);
    }
}
