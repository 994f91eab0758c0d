//! Links inside one another.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use sounding_testdata::{STRANGER, may_emulate, processes_with};

use crate::world::{INTERNET, PORT, World};
use crate::{by_sudo, emu, program, shared_folder, stderr, stdout};

/// Asks a host for an echo, as ping does, and prints the milliseconds until each answer.
const PING: &str = "\
import os, socket, struct, time
target = os.environ['MAHIMAHI_BASE']
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
s.settimeout(3)
answers = 0
while answers < 5:
    n = answers
    body = struct.pack('!BBHHH', 8, 0, 0, 0, n) + bytes(56)
    total = sum(struct.unpack('!32H', body))
    total = (total >> 16) + (total & 0xffff)
    body = body[:2] + struct.pack('!H', ~(total + (total >> 16)) & 0xffff) + body[4:]
    begun = time.monotonic()
    s.sendto(body, (target, 0))
    try:
        s.recv(1500)
    except TimeoutError:
        continue
    answers += 1
    print((time.monotonic() - begun) * 1000)
";

/// The arguments of emulators inside one another, and of the command inside all.
fn nested(links: &[&[&str]], command: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (depth, link) in links.iter().enumerate() {
        if depth > 0 {
            words.extend([program().into(), "emu".into()]);
        }
        words.extend(link.iter().map(ToString::to_string));
        words.push("--".into());
    }
    words.extend(command.iter().map(ToString::to_string));
    words
}

fn run(links: &[&[&str]], command: &[&str]) -> Output {
    let words = nested(links, command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    by_sudo(&words).output().unwrap()
}

/// Opportunities and departures of a log of mm-link: milliseconds and bytes.
fn log(path: &Path) -> [Vec<(u64, u64)>; 2] {
    let text = std::fs::read_to_string(path).unwrap();
    ["#", "-"].map(|kind| {
        let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let of_kind = lines.filter(|words| words.len() >= 3 && words[1] == kind);
        of_kind.filter_map(|words| Some((words[0].parse().ok()?, words[2].parse().ok()?))).collect()
    })
}

#[test]
fn a_link_inside_another_has_the_delay_of_both_and_the_rate_of_its_trace() {
    if !may_emulate() {
        return;
    }
    let folder = shared_folder();
    let trace = folder.path().join("trace");
    let recorded = folder.path().join("log");
    std::fs::write(&trace, "5\n10\n15\n20\n").unwrap();
    let trace = trace.to_str().unwrap();
    let log_to = format!("--up-log={}", recorded.display());
    let inner = ["--up", trace, "--down", trace, "--delay", "5ms", &log_to];
    let output = run(&[&["--delay", "20ms"], &inner], &["python3", "-c", PING]);
    assert!(output.status.success(), "{}", stderr(&output));
    let times: Vec<f64> = stdout(&output).lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(times.len(), 5);
    // Nothing is early, on however slow a machine.
    assert!(times.iter().all(|time| *time >= 2.0 * (20.0 + 5.0)), "{times:?}");
    let [opportunities, departures] = log(&recorded);
    assert!(departures.len() >= 5, "{departures:?}");
    for (at, _) in &departures {
        let sum = |lines: &[(u64, u64)]| -> u64 {
            lines.iter().filter(|(time, _)| time <= at).map(|(_, bytes)| bytes).sum()
        };
        assert!(sum(&departures) <= sum(&opportunities), "at {at} ms");
    }
}

#[test]
fn four_links_deep_a_ping_and_a_download_come_through() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    let before = world.state();
    let page = format!(
        "curl --noproxy '*' --silent http://{INTERNET}:{PORT}/ | tail --lines 1 | wc --bytes"
    );
    let script = "python3 -c \"$0\" | wc --lines; ".to_owned()
        + &page
        + "; python3 -c \"import socket; print(socket.gethostbyname('a.name.example'))\"";
    let links: [&[&str]; 4] = [
        &["--up-loss", "0.02", "--down-loss", "0.02", "--seed", "3"],
        &["--up", "24Mbit", "--down", "24Mbit"],
        &["--delay", "3ms"],
        &["--delay", "4ms"],
    ];
    let words = nested(&links, &["sh", "-c", &script, PING]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = world.on_machine(&by_sudo(&words)).output().unwrap();
    let said = stdout(&output);
    assert_eq!(said, format!("5\n200000\n{INTERNET}\n"), "{}", stderr(&output));
    assert_eq!(world.state(), before);
}

/// Ids, capabilities, open descriptors, and namespaces of the process that runs it.
const WHO: &str = "\
import os
for line in open('/proc/self/status'):
    if line.split(':')[0] in ('Uid', 'Gid', 'Groups', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs'):
        print(line.strip())
print('descriptors', sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:-1])
for name in ('user', 'uts', 'ipc', 'cgroup'):
    print(os.readlink('/proc/self/ns/' + name))
print(os.getcwd(), os.environ.get('KEPT'), oct(os.umask(0)))
";

#[test]
fn a_command_inside_gains_no_right_no_descriptor_and_no_namespace() {
    if !may_emulate() {
        return;
    }
    let folder = shared_folder();
    let from = |links: &[&[&str]]| {
        let words = nested(links, &["python3", "-c", WHO]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // As sudo does it, without descriptors of the program that runs this test.
        let mut command = Command::new("bash");
        let script = "umask 027; for fd in /proc/$$/fd/*; do fd=${fd##*/}; \
                      [ \"$fd\" -le 2 ] || eval \"exec $fd>&-\"; done; exec \"$@\"";
        command.args(["-c", script, "sh"]);
        let emu = by_sudo(&words);
        command.arg(emu.get_program()).args(emu.get_args());
        for (name, value) in emu.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let output = command.env("KEPT", "a b=c").current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let outer = from(&[&[]]);
    let inner = from(&[&[], &[], &[]]);
    assert_eq!(inner, outer);
    assert!(inner.contains("descriptors [0, 1, 2]\n"), "{inner}");
    assert!(inner.contains("CapEff:\t0000000000000000\n"), "{inner}");
    assert!(inner.contains("NoNewPrivs:\t1\n"), "{inner}");
    assert!(inner.contains(&format!("Uid:\t{STRANGER}\t")), "{inner}");
    assert!(inner.contains("a b=c 0o27\n"), "{inner}");
}

/// A program of root that loads a library of the user's would be the user's.
#[test]
fn nothing_of_the_users_environment_reaches_a_program_of_root() {
    if !may_emulate() {
        return;
    }
    let script = format!(
        "exec env LD_PRELOAD=/nonexistent/library.so {} emu -- sh -c 'echo ran; exec cat /dev/null'",
        program()
    );
    let output = by_sudo(&["--", "sh", "-c", &script]).output().unwrap();
    assert_eq!(stdout(&output), "ran\n", "{}", stderr(&output));
    // The loader complains once in each program that has the variable: in the emulator inside, the
    // command's own shell, and `cat`.
    let complaints = stderr(&output).matches("library.so").count();
    assert_eq!(complaints, 3, "{}", stderr(&output));
}

#[test]
fn no_more_than_eight_links_are_inside_one_another() {
    if !may_emulate() {
        return;
    }
    let links: [&[&str]; 8] = [&[]; 8];
    let output = run(&links, &["echo", "deep"]);
    assert_eq!(stdout(&output), "deep\n", "{}", stderr(&output));
    let links: [&[&str]; 9] = [&[]; 9];
    let output = run(&links, &["echo", "deep"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("8 links inside one another are the limit"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_status_of_the_innermost_command_comes_out() {
    if !may_emulate() {
        return;
    }
    assert_eq!(run(&[&[], &[], &[]], &["sh", "-c", "exit 42"]).status.code(), Some(42));
    let killed = run(&[&[], &[]], &["sh", "-c", "kill -9 $$"]).status.code();
    assert_eq!(killed, Some(137));
}

#[test]
fn root_inside_has_links_inside_one_another_too() {
    if !may_emulate() {
        return;
    }
    let words = nested(&[&["--delay", "4ms"], &["--delay", "3ms"]], &["python3", "-c", PING]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = emu(&words).output().unwrap();
    let times: Vec<f64> = stdout(&output).lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(times.len(), 5, "{}", stderr(&output));
    assert!(times.iter().all(|time| *time >= 2.0 * 7.0), "{times:?}");
}

/// Connects to the service for emulators inside, and prints the answer.
const VISIT: &str = "\
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect('\\0sounding-emu')
    print(s.recv(4096).decode().split(' ')[0])
except OSError as error:
    print(error.strerror)
";

#[test]
fn only_the_commands_own_processes_get_links() {
    if !may_emulate() {
        return;
    }
    let answer = |command: &[&str]| {
        let output = by_sudo(&[&["--"], command].concat()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).trim().to_owned()
    };
    assert_eq!(answer(&["python3", "-c", VISIT]), "link");
    // A process in a box of its own, as those of browsers and of flatpak are.
    let boxed = ["unshare", "--user", "--map-current-user", "--mount", "python3", "-c", VISIT];
    assert_eq!(answer(&boxed), "refused");
    // Another user of the machine, who is in the namespace.
    let other = "exec setpriv --reuid=4242 --regid=4242 --clear-groups python3 -c \"$0\"";
    let output = emu(&["--as-root", "--", "sh", "-c", other, VISIT]).output().unwrap();
    assert_eq!(stdout(&output).trim(), "refused", "{}", stderr(&output));
    // The machine itself is outside.
    let outside = Command::new("python3").args(["-c", VISIT]).output().unwrap();
    assert_eq!(stdout(&outside).trim(), "Connection refused");
}

#[test]
fn a_link_inside_another_ends_with_its_own_emulator() {
    if !may_emulate() {
        return;
    }
    let script = format!(
        "coproc {} emu -- sh -c 'echo ready; exec sleep 434343'; read line <&${{COPROC[0]}}; \
         ip -o link | wc --lines; kill -9 $COPROC_PID; wait $COPROC_PID 2>/dev/null; \
         for i in $(seq 600); do [ $(ip -o link | wc --lines) = 2 ] && break; sleep 0.1; done; \
         ip -o link | wc --lines",
        program()
    );
    let output = by_sudo(&["--", "bash", "-c", &script]).output().unwrap();
    // The loopback and the device of the outer link, and that of the inner one between.
    assert_eq!(stdout(&output), "3\n2\n", "{}", stderr(&output));
    assert_eq!(processes_with("434343"), [""; 0]);
}

#[test]
fn links_inside_one_another_end_with_the_outermost_emulator() {
    if !may_emulate() {
        return;
    }
    let world = World::new();
    let before = world.state();
    let words = nested(&[&[], &[], &[]], &["sh", "-c", "echo ready; exec sleep 424243"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut outermost = world.on_machine(&by_sudo(&words));
    let mut outermost = outermost.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(outermost.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    outermost.kill().unwrap();
    outermost.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    let is_left = || !processes_with("424243").is_empty() || world.state() != before;
    while is_left() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(processes_with("424243"), [""; 0]);
    assert_eq!(world.state(), before);
}

#[test]
fn a_network_with_another_far_end_is_refused_inside() {
    if !may_emulate() {
        return;
    }
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plans/biscay.toml");
    for mode in
        [&["--isolated"][..], &["--far", "true"], &[plan, "--set", "seeds=1", "--set", "sweep={}"]]
    {
        let output = run(&[&[], mode], &["true"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let error = stderr(&output);
        assert!(
            error.contains("already behind an emulated link (its device is radio0)"),
            "{error}"
        );
    }
}
