//! The keeper of shapers, with the real program: kills, garbage, devices that come and go.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod killed;
mod refused;
mod seen;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use sounding_emu::Netns;
use sounding_testdata::may_emulate;

/// A namespace with a device `v0`, at whose root an HTB of a user stands, and a folder for notes.
struct Place {
    netns: Netns,
    folder: tempfile::TempDir,
}

const PLAIN: [&str; 4] = [
    "ip link set lo up",
    "ip link add v0 type veth peer name v1",
    "ip link set v0 up",
    "ip link set v1 up",
];
const HTB: [&str; 3] = [
    "tc qdisc add dev v0 root handle 1: htb default 1",
    "tc class add dev v0 parent 1: classid 1:1 htb rate 10mbit",
    "tc qdisc add dev v0 parent 1:1 handle 11: pfifo limit 100",
];

impl Place {
    /// Without the HTB. `None`, with a reported skip, without the rights.
    fn plain() -> Option<Self> {
        if !may_emulate() {
            return None;
        }
        let place = Self { netns: Netns::new().unwrap(), folder: tempfile::tempdir().unwrap() };
        place.run_all(&PLAIN);
        Some(place)
    }

    fn new() -> Option<Self> {
        let place = Self::plain()?;
        place.run_all(&HTB);
        Some(place)
    }

    /// What this way to a shaper needs: the HTB that it adopts, or none.
    fn of_way(way: &str) -> Option<Self> {
        if way == ADOPT { Self::new() } else { Self::plain() }
    }

    /// A keeper of the uplink, and of the downlink where it makes them, at 20 Mbit/s.
    fn kept(&self, way: &str) -> Keeper {
        let mut keeper = self.keeper();
        if way == MANAGE {
            keeper.ask(&keep("downlink", "v0", way));
        }
        keeper.keep(way);
        keeper.rate(20);
        self.wait_until(|text| is_shaped(text, 20));
        keeper
    }

    fn run_all(&self, lines: &[&str]) {
        lines.iter().for_each(|line| drop(self.run(line)));
    }

    fn run(&self, line: &str) -> String {
        let run = || {
            let mut words = line.split_whitespace();
            Command::new(words.next().unwrap()).args(words).output().unwrap()
        };
        let output = self.netns.enter(run).unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn text(&self) -> String {
        let lines = ["qdisc show", "class show dev v0", "filter show dev v0 ingress"];
        let all = lines.map(|line| self.run(&format!("tc -d {line}")));
        all.join("--\n") + &self.run("ip -o link show")
    }

    /// Waits until the machine is so.
    fn wait_until(&self, is_so: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let text = self.text();
            if is_so(&text) {
                return text;
            }
            assert!(Instant::now() < until, "{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for(&self, expected: &str) {
        self.wait_until(|text| text == expected);
    }

    fn notes(&self) -> usize {
        std::fs::read_dir(self.folder.path()).unwrap().count()
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("SOUNDING_RUN_DIR", self.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.netns.bring_in(&mut command);
        command
    }

    /// A keeper.
    fn keeper(&self) -> Keeper {
        Keeper::of(self.command(program(), &["shape-keep"]).spawn().unwrap())
    }
}

fn program() -> &'static str {
    assert_cmd::cargo::cargo_bin!("sounding").to_str().unwrap()
}

/// A keeper, from the daemon's side.
struct Keeper {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Keeper {
    fn of(mut child: Child) -> Self {
        let (send, lines) = channel();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).for_each(|line| drop(send.send(line)));
        });
        Self { child, input, lines }
    }

    fn tell(&mut self, line: &str) {
        let _ = self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
    }

    fn answer(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.answer()
    }

    /// Names the uplink of `v0`, and closes the list.
    fn keep(&mut self, way: &str) -> String {
        let standing = self.ask(&keep("uplink", "v0", way));
        assert!(standing.contains("standing"), "{standing}");
        assert_eq!(self.ask("\"close\""), "\"closed\"");
        standing
    }

    fn rate(&mut self, mbit: u64) {
        self.tell(&rate("uplink", mbit * 1_000_000));
    }

    /// Closes its pipe and waits. The answer is its standard error.
    fn end(mut self) -> String {
        drop(self.input.take());
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

const ADOPT: &str = r#""adopt""#;
const MANAGE: &str = r#"{"manage":{"kind":null,"start_bits_per_sec":5000000}}"#;

/// Whether a shaper has about this rate: HTB counts headers too, CAKE need not.
fn is_shaped(text: &str, mbit: u64) -> bool {
    text.contains(&format!("rate {mbit}")) || text.contains(&format!("bandwidth {mbit}Mbit"))
}

/// Limits of 2 to 50 Mbit/s.
fn keep(direction: &str, device: &str, way: &str) -> String {
    format!(
        r#"{{"keep":{{"direction":"{direction}","device":"{device}","way":{way},"min_bits_per_sec":2000000,"max_bits_per_sec":50000000}}}}"#
    )
}

fn rate(direction: &str, bits_per_sec: u64) -> String {
    format!(r#"{{"rate":{{"direction":"{direction}","bits_per_sec":{bits_per_sec}}}}}"#)
}
