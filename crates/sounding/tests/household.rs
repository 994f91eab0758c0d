//! A router that reads its modem, and a client behind its address translation that uploads: the
//! client's own delay with `sounding shape` and without it, in HTB's form, which every kernel has.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_emu::Netns;
use sounding_experiment::plan::{Run, Text};
use sounding_kpi::Direction;
use sounding_testbed::emulate::{Emulated, Settings, Users};
use sounding_testbed::flow::{Ends, TcpFlow};
use sounding_testbed::router::Probe;
use sounding_testdata::{may_emulate, steadily};

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);

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
struct Household {
    client: Netns,
    emulated: Emulated,
}

impl Household {
    fn start() -> Self {
        let forwarding = ("net.ipv4.ip_forward".into(), "1".into());
        let settings =
            Settings { users: Users::Guest, sysctls: vec![forwarding], ..Settings::flows("") };
        let emulated = Emulated::start(&cell(), &settings).unwrap();
        let household = Self { client: Netns::new().unwrap(), emulated };
        let at =
            format!("/proc/{}/fd/{}", std::process::id(), household.client.as_fd().as_raw_fd());
        for line in [
            "ip link add lan0 type veth peer name wire0".to_string(),
            format!("ip link set wire0 netns {at}"),
            "ip address add 10.3.0.1/24 dev lan0".to_string(),
            "ip link set lan0 up".to_string(),
            "nft add table ip nat".to_string(),
            "nft add chain ip nat out { type nat hook postrouting priority 100 ; }".to_string(),
            "nft add rule ip nat out ip saddr 10.3.0.0/24 masquerade".to_string(),
        ] {
            run(household.router(), &line);
        }
        for line in [
            "ip link set lo up",
            "ip link set wire0 up",
            "ip address add 10.3.0.2/24 dev wire0",
            "ip route add default via 10.3.0.1",
        ] {
            run(&household.client, line);
        }
        household
    }

    fn router(&self) -> &Netns {
        self.emulated.emulation().near()
    }

    /// The mean round trip of small datagrams beside the client's own upload, ms, and its bytes.
    fn upload(&self) -> (f64, u64) {
        let far = (self.emulated.emulation().far(), self.emulated.emulation().far_address());
        let ends = || Ends { near: (&self.client, CLIENT), far };
        let flow = TcpFlow { congestion: Some("cubic".into()), ..TcpFlow::new(Direction::Uplink) };
        let flow = flow.start_between(ends()).unwrap();
        // Until the queue has grown.
        sleep(Duration::from_secs(6));
        let probe = Probe { every: Duration::from_millis(20), size: 64 };
        let probing = probe.start(ends()).unwrap();
        sleep(Duration::from_secs(6));
        let probed = probing.stop().unwrap();
        let sent = flow.abort().unwrap().received.count();
        let times: Vec<f64> = probed
            .iter()
            .filter_map(|one| one.round_trip)
            .map(|time| time.as_secs_f64() * 1e3)
            .collect();
        assert!(times.len() > 200, "{} of {} probes came back", times.len(), probed.len());
        (times.iter().sum::<f64>() / times.len() as f64, sent)
    }
}

fn run(netns: &Netns, line: &str) {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let output = netns.enter(|| command.args(words).output().unwrap()).unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn qdiscs(netns: &Netns) -> String {
    let show = || Command::new("tc").args(["-d", "qdisc", "show"]).output().unwrap();
    let output = netns.enter(show).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A shaper of this program, from its first estimate on.
struct Shaping {
    child: Child,
    lines: Vec<Json>,
    reader: std::thread::JoinHandle<Vec<Json>>,
}

impl Shaping {
    fn start(household: &Household) -> Self {
        let modem = household.emulated.modems().first().unwrap().source.to_string();

        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        household.router().bring_in(&mut command);
        let mut child = command
            .args(["shape", "--device", &modem, "--interface", "radio0", "--manage", "--json"])
            .args(["--only", "uplink", "--min", "200kbit", "--base", "2Mbit", "--max", "50Mbit"])
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
        Self { child, lines, reader: std::thread::spawn(move || rest().collect()) }
    }

    /// Interrupts it. Gives all its lines.
    fn end(mut self) -> Vec<Json> {
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT).unwrap();
        assert!(self.child.wait().unwrap().success());
        self.lines.extend(self.reader.join().unwrap());
        self.lines
    }
}

#[test]
fn a_client_behind_a_shaped_router_waits_a_third_beside_its_own_upload() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let household = Household::start();
        let before = qdiscs(household.router());
        let (plain_ms, plain_bytes) = household.upload();
        sleep(Duration::from_secs(3));
        let shaping = Shaping::start(&household);
        let (shaped_ms, shaped_bytes) = household.upload();
        let lines = shaping.end();
        println!(
            "{plain_ms:.0} ms, {plain_bytes} bytes; shaped {shaped_ms:.0} ms, {shaped_bytes} bytes"
        );
        assert!(shaped_ms <= plain_ms / 3.0, "{shaped_ms} of {plain_ms} ms");
        assert!(shaped_bytes * 2 > plain_bytes, "{shaped_bytes} of {plain_bytes} bytes");
        assert_eq!(qdiscs(household.router()), before);
        let shaped = || lines.iter().filter(|line| line["event"] == "shaped");
        let rates = shaped().filter_map(|line| line["rate_bits_per_sec"].as_u64());
        assert!(rates.clone().count() > 20, "{} rates", rates.count());
        assert!(shaped().any(|line| line["reason"] == "capacity"), "the radio was never full");
    });
}
