//! A machine with two links to another one, a modem behind each, and a daemon.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_emu::{Direction, Netns};
use sounding_testbed::flow::{Ends, RunningTcp, TcpFlow};
use sounding_testdata::{Need, Running, may_emulate, skip};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

/// The other machine's address over each link, and one that both lead to.
pub(crate) const FAR: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 1, 0, 2), Ipv4Addr::new(10, 2, 0, 2)];
const NEAR: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 1, 0, 1), Ipv4Addr::new(10, 2, 0, 1)];
pub(crate) const BOTH: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const SELF: Ipv4Addr = Ipv4Addr::new(10, 8, 0, 1);

/// Two machines with two links, `wwan0` and `wwan1` at the near one.
pub(crate) struct Links {
    pub(crate) near: Netns,
    far: Netns,
}

impl Links {
    /// `None`, with a reported skip, without the rights.
    pub(crate) fn new() -> Option<Self> {
        let missing = sounding_bpf::preflight("modems_rig").into_iter().find(|check| !check.ok);
        if let Some(check) = &missing {
            skip(Need::Kernel, &check.detail);
            return None;
        }
        if !may_emulate() {
            return None;
        }
        let links = Self { near: Netns::new().unwrap(), far: Netns::new().unwrap() };
        let at = format!("/proc/{}/fd/{}", std::process::id(), links.far.as_fd().as_raw_fd());
        for (number, (near, far)) in NEAR.into_iter().zip(FAR).enumerate() {
            links.run(&format!("ip link add wwan{number} type veth peer name far{number}"));
            links.run(&format!("ip link set far{number} netns {at}"));
            links.run(&format!("ip address add {near}/24 dev wwan{number}"));
            links.run(&format!("ip link set wwan{number} up"));
            run(&links.far, &format!("ip address add {far}/24 dev far{number}"));
            run(&links.far, &format!("ip link set far{number} up"));
        }
        links.run("ip link set lo up");
        links.run(&format!("ip address add {SELF}/32 dev lo"));
        run(&links.far, "ip link set lo up");
        run(&links.far, &format!("ip address add {BOTH}/32 dev lo"));
        run(&links.far, &format!("ip route add {SELF}/32 via {}", NEAR[0]));
        links.lead_over(0);
        Some(links)
    }

    /// The address that both links lead to is reached over this one from now on.
    pub(crate) fn lead_over(&self, link: usize) {
        self.run(&format!("ip route replace {BOTH}/32 via {} src {SELF}", FAR[link]));
    }

    /// Runs a command at the near machine, and gives what it prints.
    pub(crate) fn run(&self, line: &str) -> String {
        run(&self.near, line)
    }

    /// An upload over a link, until it is stopped.
    pub(crate) fn upload(&self, link: usize, congestion: &str) -> RunningTcp {
        self.upload_between(NEAR[link], FAR[link], congestion)
    }

    /// One to the address that both lead to.
    pub(crate) fn upload_over_either(&self, congestion: &str) -> RunningTcp {
        self.upload_between(SELF, BOTH, congestion)
    }

    fn upload_between(&self, near: Ipv4Addr, far: Ipv4Addr, congestion: &str) -> RunningTcp {
        let congestion = Some(congestion.to_owned());
        let flow = TcpFlow { congestion, ..TcpFlow::new(Direction::Uplink) };
        flow.start_between(Ends { near: (&self.near, near), far: (&self.far, far) }).unwrap()
    }
}

fn run(netns: &Netns, line: &str) -> String {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let output = netns.enter(|| command.args(words).output().unwrap()).unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What the daemon reports, while it runs.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<Json>>>);

impl Events {
    pub(crate) fn all(&self) -> Vec<Json> {
        self.0.lock().unwrap().clone()
    }

    /// Waits for an event of this kind, after so many others of it.
    pub(crate) fn wait_for_nth(&self, kind: &str, before: usize) -> Json {
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            let all = self.all();
            let mut found = all.iter().filter(|event| event["event"] == kind);
            if let Some(event) = found.nth(before) {
                return event.clone();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{kind} does not come again");
    }

    /// Waits for an event that is so.
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Json) -> bool) -> Json {
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            if let Some(event) = self.all().iter().find(|event| is_so(event)) {
                return event.clone();
            }
            thread::sleep(Duration::from_millis(10));
        }
        let others = |event: &Json| event["event"] != "estimate" && event["event"] != "shaped";
        panic!(
            "{what} does not come: {:?}",
            self.all().iter().filter(|event| others(event)).collect::<Vec<_>>()
        );
    }
}

/// A daemon with a file, at the near machine.
pub(crate) struct Daemon {
    child: Running,
    pub(crate) events: Events,
}

/// A folder for modems and the file.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    /// The name of the congestion control.
    pub(crate) law: String,
}

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let law = format!("{name}_{}", std::process::id() % 1_000_000);
        Self { folder: tempfile::tempdir().unwrap(), law }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The section of a modem at its pty.
    pub(crate) fn modem(&self, name: &str, device: &str) -> String {
        format!(
            "[[modem]]\nname = '{name}'\ndevice = '{}'\ninterfaces = ['{device}']\nmask = false\n",
            self.path(name).display()
        )
    }

    /// Two modems, and a law.
    pub(crate) fn two(&self) -> String {
        self.modem("a", "wwan0")
            + &self.modem("b", "wwan1")
            + &format!("[link]\nbound = 'capacity'\n[cc]\nname = '{}'\n", self.law)
    }

    pub(crate) fn write(&self, text: &str) {
        fs::write(self.path("file.toml"), text).unwrap();
    }

    /// A daemon with what was written, once it is ready.
    pub(crate) fn start(&self, links: &Links) -> Daemon {
        let mut command = Command::new(PROGRAM);
        command.args(["run", "--json", "--config"]).arg(self.path("file.toml"));
        command.env("SOUNDING_STATE_DIR", self.folder.path().join("state"));
        command.env("SOUNDING_BOARD_DIR", self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        links.near.bring_in(&mut command);
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let events = Events::default();
        let into = events.clone();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                into.0.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        let daemon = Daemon { child: Running(child), events };
        daemon.events.wait_for("ready", |event| event["event"] == "ready");
        daemon
    }
}

impl Daemon {
    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.0.id().cast_signed()), signal).unwrap();
    }

    /// Ends it in good order; all its events.
    pub(crate) fn stop(mut self) -> Vec<Json> {
        self.signal(Signal::SIGINT);
        assert!(self.child.0.wait().unwrap().success());
        self.events.wait_for("done", |event| event["event"] == "done");
        self.events.all()
    }
}

/// Events of this kind about this modem.
pub(crate) fn about<'a>(events: &'a [Json], kind: &'a str, modem: &'a str) -> Vec<&'a Json> {
    let is_so = |event: &&Json| event["event"] == kind && event["modem"] == modem;
    events.iter().filter(is_so).collect()
}

/// The phases that the flows of a modem entered, with the reasons.
pub(crate) fn phases(events: &[Json], modem: &str) -> Vec<(String, String)> {
    let text = |event: &Json, key: &str| event[key].as_str().unwrap().to_owned();
    let all = about(events, "transition", modem).into_iter();
    all.map(|event| (text(event, "to"), text(event, "reason"))).collect()
}
