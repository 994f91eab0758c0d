//! The command line of the shipped unit, with the configurations that are installed beside it:
//! `background`, `copa` and `peers`. The user and the rights are the unit's too.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sounding_bpf::{EXID, OwnCgroup};
use sounding_emu::{Config, Direction, Emulation, Netns};
use sounding_sim::{PathConfig, QueueLimit};
use sounding_testbed::flow::{TcpFlow, TcpResult};
use sounding_testdata::{Running, steadily};
use sounding_trace::Steps;
use sounding_units::Rate;

use crate::device::{Device, downlink};
use crate::rig::{PROGRAM, downlink_skipped, skipped};
use crate::service::{Service, USER, open_to_all, unit};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/examples");

const PATIENCE: Duration = Duration::from_secs(30);

/// An installed example, with a few of its words replaced. Each has to be there.
fn example(name: &str, changes: &[(&str, &str)]) -> String {
    let text = fs::read_to_string(Path::new(EXAMPLES).join(name).with_extension("toml"));
    let text = text.expect("it is shipped");
    changes.iter().fold(text, |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{name}: {old}");
        text.replace(old, new)
    })
}

/// An instance of the unit, without systemd.
struct Instance {
    child: Running,
    _service: Service,
    /// It goes on to listen.
    _manager: (tempfile::TempDir, UnixDatagram),
}

impl Instance {
    /// Starts it and waits until it tells the service manager that it is ready.
    fn start(instance: &str, text: &str, netns: Option<&Netns>) -> Self {
        let manager = tempfile::tempdir().expect("a folder");
        open_to_all(manager.path());
        let path = manager.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        fs::set_permissions(&path, Permissions::from_mode(0o777)).expect("it is ours");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let service = Service::new(&format!("export NOTIFY_SOCKET={}", path.display()));
        let folder = service.path("etc");
        fs::create_dir(&folder).expect("a folder");
        open_to_all(&folder);
        let file = folder.join(instance).with_extension("toml");
        fs::write(&file, text).expect("a file");
        fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("it is ours");
        let line = unit("ExecStart=")
            .replace("@PREFIX@/bin/sounding", &service.program().to_string_lossy())
            .replace("/etc/sounding/", &format!("{}/", folder.display()))
            .replace("%i", instance);
        assert!(line.ends_with(&format!("run --config {}", file.display())), "{line}");
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(netns) = netns {
            netns.bring_in(&mut command);
        }
        let mut child = Running(command.spawn().expect("it starts"));
        let mut buffer = [0; 64];
        let len = socket.recv(&mut buffer).unwrap_or_else(|error| {
            let _ = child.kill();
            panic!("{instance} is not ready: {error}: {}", said(&mut child))
        });
        assert_eq!(buffer[..len].trim_ascii(), b"READY=1");
        Self { child, _service: service, _manager: (manager, socket) }
    }

    /// Ends it as `systemctl stop` does. Returns its sentences.
    fn stop(mut self) -> String {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).expect("it runs");
        let said = said(&mut self.child);
        assert!(self.child.wait().expect("it ends").success(), "{said}");
        said
    }
}

fn said(child: &mut Running) -> String {
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    said
}

fn name(word: &str) -> String {
    format!("{word}{}", std::process::id() % 1_000_000)
}

/// Whether a list of the kernel's algorithms has this one.
fn is_listed(list: &str, name: &str) -> bool {
    let path = format!("/proc/sys/net/ipv4/tcp_{list}_congestion_control");
    let text = fs::read_to_string(path).expect("a list");
    text.split_whitespace().any(|known| known == name)
}

/// 20 Mbit/s and 20 ms in each direction, with a short queue.
fn link() -> Emulation {
    let rate = Rate::from_bits_per_sec(20_000_000);
    let queue = QueueLimit::bytes(rate * Duration::from_millis(100));
    let delay = Duration::from_millis(20);
    let path = || PathConfig { delay, queue, ..PathConfig::new(Steps::constant(rate)) };
    Emulation::start(Config::new(path(), path())).expect("an emulation")
}

fn transfer(emulation: &Emulation, direction: Direction, congestion: Option<String>) -> TcpResult {
    let duration = Some(Duration::from_secs(4));
    let flow = TcpFlow { congestion, duration, ..TcpFlow::new(direction) };
    flow.start(emulation).expect("a connection").wait().expect("a transfer")
}

#[test]
fn the_unit_loads_background_for_every_user_of_the_machine() {
    if skipped() {
        return;
    }
    steadily(|| {
        let name = name("ub");
        let law = format!("law = \"background\"\nname = \"{name}\"");
        let text = example("background", &[("law = \"background\"", &law)]);
        let instance = Instance::start("background", &text, None);
        assert!(is_listed("allowed", &name), "every user may choose it");
        let emulation = link();
        let flow = transfer(&emulation, Direction::Uplink, Some(name.clone()));
        emulation.stop().expect("a report");
        let said = instance.stop();
        assert!(flow.goodput.bits_per_sec() > 2_000_000, "{:?}: {said}", flow.goodput);
        assert!(!is_listed("available", &name), "it is gone: {said}");
    });
}

/// A simulated modem at a port that the unit's user may open.
struct Modem {
    folder: tempfile::TempDir,
    _child: Running,
}

impl Modem {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        open_to_all(folder.path());
        let mut command = Command::new(PROGRAM);
        command.args(["modem", "sim", "--link", "port"]).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Running(command.spawn().expect("it starts"));
        let mut line = String::new();
        let printed = child.stdout.take().expect("piped");
        BufReader::new(printed).read_line(&mut line).expect("its port");
        let modem = Self { folder, _child: child };
        let port = fs::canonicalize(modem.port()).expect("a port");
        std::os::unix::fs::chown(port, Some(USER), None).expect("a chown");
        modem
    }

    fn port(&self) -> PathBuf {
        self.folder.path().join("port")
    }
}

#[test]
fn the_unit_loads_copa_and_reads_its_modem() {
    if skipped() {
        return;
    }
    steadily(|| {
        let name = name("uc");
        let modem = Modem::start();
        let port = modem.port().display().to_string();
        let law = format!("law = \"copa\"\nname = \"{name}\"");
        let changes = [("law = \"copa\"", &*law), ("\"/dev/ttyUSB0\"", &format!("\"{port}\""))];
        let instance = Instance::start("copa", &example("copa", &changes), None);
        let emulation = link();
        let flow = transfer(&emulation, Direction::Uplink, Some(name.clone()));
        emulation.stop().expect("a report");
        let said = instance.stop();
        assert!(flow.goodput.bits_per_sec() > 2_000_000, "{:?}: {said}", flow.goodput);
        assert!(said.contains("the modem logs "), "{said}");
        assert!(said.contains("the modem's log mask is as it was"), "{said}");
        assert!(!is_listed("available", &name), "it is gone: {said}");
    });
}

#[test]
fn the_unit_has_a_server_obey_what_its_peers_report() {
    if skipped() || downlink_skipped() {
        return;
    }
    steadily(|| {
        let own = OwnCgroup::enter(&name("unit-peers-")).expect("a cgroup");
        let emulation = link();
        let name = name("up");
        let law = format!("law = \"biscay\"\nname = \"{name}\"");
        let cgroup = format!("peers = true\ncgroup = \"{}\"", own.path().display());
        let changes = [("law = \"biscay\"", &*law), ("peers = true", &cgroup)];
        let text = example("peers", &changes);
        let instance = Instance::start("peers", &text, Some(emulation.far()));
        let said_by_device = Rate::from_bits_per_sec(5_000_000);
        let device = Device::start(&emulation, &own, EXID, move |feed, now| {
            feed.publish_link(&downlink(said_by_device), now);
            feed.heartbeat(now);
        });
        // It is the default: the server's program chooses nothing.
        let flow = transfer(&emulation, Direction::Downlink, None);
        device.stop(&emulation);
        let said = instance.stop();
        emulation.stop().expect("a report");
        let mbit = flow.goodput.mbit_per_sec();
        assert!((3.0..6.0).contains(&mbit), "the link has 20 Mbit/s: {mbit}: {said}");
    });
}
