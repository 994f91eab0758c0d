//! The command reaches the machine and what the machine reaches, and the machine's own network is
//! as before, however the emulation ends.

use std::io::{BufRead as _, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_testdata::may_emulate;

use crate::world::{INTERNET, MACHINE, PORT, World, tables};
use crate::{by_sudo, stderr, stdout};

/// Prints the first line of a page.
fn fetch(host: &str) -> String {
    format!(
        "curl --noproxy '*' --silent --show-error --max-time 60 http://{host}:{PORT}/ | head --lines 1; "
    )
}

#[test]
fn the_command_reaches_the_machine_and_the_internet_by_address_and_name() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    for forwards in ["0", "1"] {
        world.set("ipv4/ip_forward", forwards);
        let before = world.state();
        let script = fetch("$MAHIMAHI_BASE")
            + &fetch(&MACHINE.to_string())
            + &fetch(&INTERNET.to_string())
            + &fetch("a.name.example");
        let command = by_sudo(&["--up", "50Mbit", "--delay", "2ms", "--", "sh", "-c", &script]);
        let output = world.on_machine(&command).output().unwrap();
        let said = stdout(&output);
        // The machine sees the near end itself; the Internet sees the machine.
        let wanted = "you are 100.64.0.1\nyou are 100.64.0.1\nyou are 10.9.0.1\nyou are 10.9.0.1\n";
        assert_eq!(said, wanted, "{}", stderr(&output));
        assert_eq!(world.state(), before);
    }
}

#[test]
fn an_isolated_command_reaches_neither_the_machine_nor_the_internet() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    let script = format!(
        "for to in $SOUNDING_FAR {MACHINE} {INTERNET}; do \
         timeout 2 bash -c \"echo >/dev/tcp/$to/{PORT}\" 2>/dev/null && echo reached $to; done; echo done"
    );
    let output = world.emu(&["--isolated", "--", "bash", "-c", &script]).output().unwrap();
    assert_eq!(stdout(&output), "done\n", "{}", stderr(&output));
}

#[test]
fn others_reach_neither_the_command_nor_through_the_machine() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    let serve = format!("echo ready; exec python3 -m http.server {PORT}");
    // Its output stays open, because the server writes there too.
    let (mut child, _output) = ready(&mut world.emu(&["--", "sh", "-c", &serve]));
    // The machine itself reaches the command, so there is something to reach.
    let tried = |netns: &sounding_emu::Netns, host: &str| {
        let mut curl = Command::new("curl");
        curl.args([
            "--noproxy",
            "*",
            "--silent",
            "--max-time",
            "2",
            "--retry",
            "20",
            "--retry-connrefused",
        ]);
        curl.arg("--retry-delay")
            .arg("1")
            .arg(format!("http://{host}:{PORT}/"))
            .stdout(Stdio::null());
        netns.enter(|| curl.status().unwrap().success()).unwrap()
    };
    assert!(tried(&world.machine, "100.64.0.1"));
    crate::world::run(&world.internet, "ip route add 100.64.0.0/24 via 10.9.0.1");
    let mut stranger = Command::new("curl");
    stranger
        .args(["--noproxy", "*", "--silent", "--max-time", "3"])
        .arg(format!("http://100.64.0.1:{PORT}/"));
    let status = world.internet.enter(|| stranger.status().unwrap()).unwrap();
    assert!(!status.success(), "the Internet reaches the command");
    end(&mut child, Signal::SIGKILL);
}

/// Starts a command whose first line says that it is ready.
fn ready(command: &mut Command) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    if line != "ready\n" {
        let output = child.wait_with_output().unwrap();
        panic!("{line:?}: {}", stderr(&output));
    }
    (child, lines)
}

fn end(child: &mut Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
    child.wait().unwrap();
}

/// The kernel removes a device and a table some moments after their last descriptor.
fn assert_becomes(world: &World, wanted: &str) {
    let until = Instant::now() + Duration::from_secs(30);
    while world.state() != wanted && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(world.state(), wanted);
}

/// The devices that have a table, which is called after its device and index.
fn ruled(world: &World) -> Vec<String> {
    let device = |table: &String| table.split('-').next().unwrap_or_default().to_owned();
    tables(&world.machine).iter().map(device).collect()
}

const WAIT: &str = "echo ready; exec sleep 1000";

#[test]
fn the_machines_network_is_as_before_after_an_interrupt_and_after_a_kill() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    for forwards in ["0", "1"] {
        world.set("ipv4/ip_forward", forwards);
        let before = world.state();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
            let (mut child, _) = ready(&mut world.emu(&["--", "sh", "-c", WAIT]));
            assert_eq!(ruled(&world), ["sounding0"], "the check below proves nothing");
            end(&mut child, signal);
            assert_becomes(&world, &before);
        }
    }
}

#[test]
fn of_two_emulators_one_goes_on_when_the_other_is_killed() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    let before = world.state();
    let (mut first, _) = ready(&mut world.emu(&["--", "sh", "-c", WAIT]));
    let between = world.state();
    let page = fetch(&INTERNET.to_string()) + &fetch("$MAHIMAHI_BASE") + &fetch("a.name.example");
    let script = format!("echo ready; read line; {page}");
    let mut second = world.emu(&["--", "sh", "-c", &script]);
    let (mut second, mut said) = ready(second.stdin(Stdio::piped()));
    assert_eq!(ruled(&world), ["sounding0", "sounding1"]);
    end(&mut first, Signal::SIGKILL);
    std::io::Write::write_all(&mut second.stdin.take().unwrap(), b"go on\n").unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut said, &mut text).unwrap();
    assert_eq!(text, "you are 10.9.0.1\nyou are 100.64.0.3\nyou are 10.9.0.1\n");
    second.wait().unwrap();
    assert_ne!(between, before);
    assert_becomes(&world, &before);
}

#[test]
fn a_firewall_that_forbids_forwarding_is_named_with_its_cure() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    let open = world.emu(&["--", "true"]).output().unwrap();
    assert!(!stderr(&open).contains("firewall"), "{}", stderr(&open));
    world.forbid_forwarding();
    let output = world.emu(&["--", "sh", "-c", &fetch("$MAHIMAHI_BASE")]).output().unwrap();
    let error = stderr(&output);
    assert!(error.contains("firewall forwards nothing from sounding0"), "{error}");
    assert!(error.contains("iptables -I FORWARD -i sounding0 -j ACCEPT"), "{error}");
    assert_eq!(stdout(&output), "you are 100.64.0.1\n", "the machine itself answers");
}

#[test]
fn a_machine_that_uses_the_usual_addresses_keeps_them() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    crate::world::run(&world.machine, "ip address add 100.72.3.4/29 dev cable0");
    let script = String::from("echo $SOUNDING_NEAR $MAHIMAHI_BASE; ") + &fetch("$MAHIMAHI_BASE");
    let output = world.emu(&["--", "sh", "-c", &script]).output().unwrap();
    assert_eq!(
        stdout(&output),
        "198.18.0.1 198.18.0.2\nyou are 198.18.0.1\n",
        "{}",
        stderr(&output)
    );
}

/// Even root inside, where every address can be added.
#[test]
fn a_command_sends_from_no_address_but_its_own() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    let receiver = world.machine.enter(|| UdpSocket::bind((MACHINE, PORT)).unwrap()).unwrap();
    let script = format!(
        "import socket\n\
         for source in ['10.9.0.77', '100.64.0.1']:\n    \
             sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n    \
             sender.bind((source, 0))\n    \
             sender.sendto(source.encode(), ('{MACHINE}', {PORT}))\n"
    );
    let shell = "ip address add 10.9.0.77/32 dev radio0 && exec python3 -c \"$0\"";
    let output = world.emu(&["--as-root", "--", "sh", "-c", shell, &script]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let mut text = [0; 64];
    receiver.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (length, from) = receiver.recv_from(&mut text).unwrap();
    assert_eq!(String::from_utf8_lossy(&text[..length]), "100.64.0.1", "{from}");
}
