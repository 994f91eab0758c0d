//! A router that reads its modem, and a client behind its address translation.

use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_emu::Netns;
use sounding_experiment::plan::{Run, Text};
use sounding_kpi::Direction;
use sounding_modem::Place;
use sounding_testbed::emulate::{Emulated, Settings, Users};
use sounding_testbed::flow::{Ends, RunningTcp, TcpFlow};
use sounding_testdata::under_test;
use tempfile::TempDir;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
/// The router's address towards the client.
pub(crate) const ROUTER: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);

/// A device that stands still in a cell of its own, on the street.
fn cell() -> Run {
    let text = "duration = \"120s\"\nwire = { delay = \"15ms\" }\n[[cell.carriers]]\nprb = 25\n\
                [[cell.devices]]\nmodem = {}\n[cell.devices.channel]\nkind = \"script\"\n\
                levels = [{ at_s = 0.0, sinr_db = 14.0 }]\n\
                fading = { profile = \"epa\", rician_k_db = 13.0 }\n\
                [[flows]]\ndirection = \"up\"\n";
    let runs = Text::new("household", text.to_string(), std::path::PathBuf::from(".")).runs();
    runs.unwrap().into_iter().next().unwrap()
}

/// The router is the namespace of the modem's device. The client is another one behind it.
pub(crate) struct Household {
    client: Netns,
    emulated: Emulated,
    /// What the router keeps for its next start.
    pub(crate) state: TempDir,
}

impl Household {
    /// With its modem at this port.
    pub(crate) fn start(place: Place) -> Self {
        let forwarding = ("net.ipv4.ip_forward".into(), "1".into());
        let settings = Settings {
            users: Users::Guest,
            place,
            sysctls: vec![forwarding],
            ..Settings::flows("")
        };
        let emulated = Emulated::start(&cell(), &settings).unwrap();
        let state = tempfile::tempdir().unwrap();
        let household = Self { client: Netns::new().unwrap(), emulated, state };
        let at =
            format!("/proc/{}/fd/{}", std::process::id(), household.client.as_fd().as_raw_fd());
        for line in [
            "ip link add lan0 type veth peer name wire0".to_string(),
            format!("ip link set wire0 netns {at}"),
            format!("ip address add {ROUTER}/24 dev lan0"),
            "ip link set lan0 up".to_string(),
            "nft add table ip nat".to_string(),
            "nft add chain ip nat out { type nat hook postrouting priority 100 ; }".to_string(),
            "nft add rule ip nat out ip saddr 10.3.0.0/24 masquerade".to_string(),
        ] {
            run(household.router(), &line);
        }
        for line in [
            "ip link set lo up".to_string(),
            "ip link set wire0 up".to_string(),
            format!("ip address add {CLIENT}/24 dev wire0"),
            format!("ip route add default via {ROUTER}"),
        ] {
            run(&household.client, &line);
        }
        household
    }

    pub(crate) fn router(&self) -> &Netns {
        self.emulated.emulation().near()
    }

    /// The modem as a source.
    pub(crate) fn modem(&self) -> String {
        self.emulated.modems().first().unwrap().source.clone()
    }

    /// From the client to the far end.
    pub(crate) fn ends(&self) -> Ends<'_> {
        let far = (self.emulated.emulation().far(), self.emulated.emulation().far_address());
        Ends { near: (&self.client, CLIENT), far }
    }

    /// Begins an upload of the client's.
    pub(crate) fn upload(&self) -> RunningTcp {
        let flow = TcpFlow { congestion: Some("cubic".into()), ..TcpFlow::new(Direction::Uplink) };
        flow.start_between(self.ends()).unwrap()
    }

    /// All of the router that a shaper could change, without counters.
    pub(crate) fn traffic_control(&self) -> String {
        let lines = ["qdisc show", "class show dev radio0", "filter show dev radio0 ingress"];
        let all = lines.map(|line| run(self.router(), &format!("tc -d {line}")));
        all.join("--\n") + &run(self.router(), "ip -o link show")
    }

    /// The rate of the shaper on the upload, as tc writes it; empty without one.
    pub(crate) fn rate(&self) -> String {
        let text = run(self.router(), "tc class show dev radio0");
        let mut words = text.split_whitespace().skip_while(|word| *word != "rate");
        words.nth(1).unwrap_or_default().to_owned()
    }
}

/// Runs a command, and gives what it prints.
fn run(netns: &Netns, line: &str) -> String {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let output = netns.enter(|| command.args(words).output().unwrap()).unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A shaper of this program, from its first estimate on.
pub(crate) struct Shaping {
    child: Child,
    lines: Vec<Json>,
    reader: Option<JoinHandle<Vec<Json>>>,
}

impl Shaping {
    /// Makes shapers.
    pub(crate) fn start(household: &Household, modem: &str, flags: &[&str]) -> Self {
        // It may be ended by a signal that writes a core.
        let mut command = Command::new("sh");
        household.router().bring_in(&mut command);
        let mut child = command
            .args(["-c", "ulimit -c 0; exec \"$@\"", "sh"])
            .arg(under_test(assert_cmd::cargo::cargo_bin!("sounding")))
            .args(["shape", "--device", modem, "--interface", "radio0", "--manage", "--json"])
            .args(["--min", "200kbit", "--max", "50Mbit"])
            .args(flags)
            .env("SOUNDING_STATE_DIR", household.state.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = Vec::new();
        for line in output.by_ref() {
            lines.push(serde_json::from_str::<Json>(&line.unwrap()).unwrap());
            if lines.last().unwrap()["event"] == "shaped" {
                break;
            }
        }
        let rest =
            move || output.map_while(Result::ok).flat_map(|line| serde_json::from_str(&line));
        let reader = Some(std::thread::spawn(move || rest().collect()));
        Self { child, lines, reader }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends it a signal and waits until it has ended.
    pub(crate) fn end_by(mut self, signal: Signal) -> (ExitStatus, Vec<Json>) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
        let status = self.child.wait().unwrap();
        self.lines.extend(self.reader.take().unwrap().join().unwrap());
        (status, std::mem::take(&mut self.lines))
    }

    /// Interrupts it. Gives all its lines.
    pub(crate) fn end(self) -> Vec<Json> {
        let (status, lines) = self.end_by(Signal::SIGINT);
        assert!(status.success(), "{status}");
        lines
    }
}

impl Drop for Shaping {
    /// A test that failed leaves no process.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
