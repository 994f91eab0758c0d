//! All outputs at once on one modem: each byte is read once, and an output that fails ends alone
//! and comes back.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_emu::{Config as Link, Direction, Emulation};
use sounding_host::monotonic_now;
use sounding_kpi::Direction as Way;
use sounding_link::{Arrival, Config, Counts, Sounder};
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_sim::PathConfig;
use sounding_testbed::flow::TcpFlow;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Running, steadily};
use sounding_trace::Steps;
use sounding_units::Rate;

use crate::restore::{not_guessed, settings};
use crate::rig::{PROGRAM, downlink_skipped, transitions};
use crate::service::{Pins, Rights, Service, open_to_all, rights_of};

/// What the daemon reports, while it runs.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<Json>>>);

impl Events {
    fn all(&self) -> Vec<Json> {
        self.0.lock().unwrap().clone()
    }

    /// Waits for the `nth` such event of an output, from 1.
    fn wait_for(&self, kind: &str, output: &str, nth: usize) -> Json {
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            let all = self.all();
            let mut found = all.iter().filter(|event| {
                event["event"] == kind && (output.is_empty() || event["output"] == output)
            });
            if let Some(event) = found.nth(nth - 1) {
                return event.clone();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("{kind} of {output:?} does not come: {:?}", self.outputs());
    }

    fn outputs(&self) -> Vec<Json> {
        let is_output = |event: &Json| event["event"].as_str().unwrap().starts_with("output_");
        self.all().into_iter().filter(is_output).collect()
    }
}

/// A network namespace with a modem's network device, the modem on a pty, and a daemon with every
/// output.
struct Rig {
    emulation: Emulation,
    folder: tempfile::TempDir,
    link: RadioLink,
    pty: Option<Pty>,
    daemon: Running,
    events: Events,
    mark: String,
}

impl Rig {
    fn start(mark: &str) -> Self {
        Self::start_by(mark, Path::new(PROGRAM), None)
    }

    /// The daemon is started by another program that becomes it, as a user whose boards are in that
    /// folder.
    fn start_by(mark: &str, program: &Path, boards: Option<&Path>) -> Self {
        let wide = || PathConfig::new(Steps::constant(Rate::from_bits_per_sec(50_000_000)));
        let emulation = Emulation::start(Link::new(wide(), wide())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("{mark}{}", std::process::id() % 1_000_000);
        let pty = Pty::create(Some(&folder.path().join("modem"))).unwrap();
        let near = emulation.near();
        near.enter(|| {
            fs::write("/proc/sys/net/ipv4/tcp_congestion_control", not_guessed()).unwrap();
            ip(NEW_DEVICE);
        })
        .unwrap();
        let place = |name: &str| folder.path().join(name);
        open_to_all(folder.path());
        fs::write(place("all.toml"), configuration(&mark, folder.path())).unwrap();
        let mut command = Command::new(program);
        command.args(["run", "--json", "--config"]).arg(place("all.toml"));
        command.arg("--device").arg(place("modem"));
        command.env("SOUNDING_BOARD_DIR", boards.unwrap_or(folder.path()));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        near.bring_in(&mut command);
        let mut daemon = command.spawn().unwrap();
        let out = BufReader::new(daemon.stdout.take().unwrap());
        let events = Events::default();
        let into = events.clone();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                into.0.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        let link = RadioLink::cell(None, Duration::from_secs(12)).unwrap();
        let daemon = Running(daemon);
        Self { emulation, folder, link, pty: Some(pty), daemon, events, mark }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("call")
    }

    fn calls(&self) -> String {
        format!("calls {}", self.socket().display())
    }

    /// The modem writes its records from the beginning, for so long, while `during` runs. Returns
    /// its bytes.
    fn replay<T>(&mut self, span: Duration, during: impl FnOnce(&Self) -> T) -> (Vec<u8>, T) {
        let records = self.link.capture.clone();
        let schedule = ReplaySchedule::since(&records, self.link.begin).until(span);
        let written: Vec<u8> =
            schedule.pieces().flat_map(|(bytes, _)| records[bytes].iter().copied()).collect();
        let mut replay = Replay::new(&records, schedule, self.pty.take().unwrap(), 1.0);
        let stop = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            let modem = scope.spawn(|| replay.run(monotonic_now(), &stop, |_| {}).unwrap());
            let done = during(self);
            assert_eq!(modem.join().unwrap().lost, 0);
            done
        });
        self.pty = Some(replay.into_pty());
        (written, done)
    }

    /// Ends the daemon; its last event.
    fn stop(mut self) -> (Json, Self) {
        kill(Pid::from_raw(self.daemon.0.id() as i32), Signal::SIGINT).unwrap();
        assert!(self.daemon.0.wait().unwrap().success());
        (self.events.wait_for("done", "", 1), self)
    }

    fn near<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.emulation.near().enter(work).unwrap()
    }
}

const NEW_DEVICE: &[&str] = &["tuntap", "add", "dev", "media0", "mode", "tun"];

fn ip(words: &[&str]) {
    assert!(Command::new("ip").args(words).status().unwrap().success(), "{words:?}");
}

fn configuration(mark: &str, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "[modem]
mask = false
interfaces = ['radio0']
[link]
direction = 'downlink'
bound = 'capacity'
[[cc]]
law = 'biscay'
name = 'a_{mark}'
default = true
[[cc]]
law = 'sounding'
name = 'b_{mark}'
routes = ['default']
[[cc]]
law = 'copa'
name = 'c_{mark}'
[[cc]]
law = 'background'
name = 'd_{mark}'
[downlink]
signal = 'window'
[arrivals]
interface = 'media0'
[calls]
socket = '{folder}/call'
[board]
name = 'all_{mark}'
"
    )
}

/// What one reader of these bytes finds.
fn read_once(bytes: &[u8]) -> Counts {
    let mut sounder = Sounder::new(Config::new(Way::Downlink)).with_delays();
    sounder.handle_bytes(Arrival::At(monotonic_now()), bytes, |_, _| {});
    sounder.counts()
}

fn registered() -> BTreeSet<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(path).unwrap();
    names.split_whitespace().map(String::from).collect()
}

#[test]
fn all_outputs_run_on_one_modem_and_each_byte_is_read_once() {
    if downlink_skipped() {
        return;
    }
    steadily(|| {
        let mut rig = Rig::start("o");
        let mark = rig.mark.clone();
        let ready = rig.events.wait_for("ready", "", 1);
        let laws: Vec<String> =
            ["a", "b", "c", "d"].iter().map(|law| format!("{law}_{mark}")).collect();
        let others = ["downlink".to_owned(), "arrivals media0".into(), format!("board all_{mark}")];
        let running: Vec<String> = laws.iter().chain(&others).cloned().collect();
        assert_eq!(ready["outputs"], serde_json::json!(running), "{ready}");
        assert_eq!(ready["name"], laws[0]);
        let failed = rig.events.wait_for("output_failed", &rig.calls(), 1);
        assert!(failed["reason"].as_str().unwrap().contains("no receiver at"), "{failed}");
        let now = registered();
        assert!(laws.iter().all(|law| now.contains(law)), "{now:?}");
        let listener = UnixListener::bind(rig.socket()).unwrap();
        rig.events.wait_for("output_started", &rig.calls(), 1);

        let names = [laws[0].clone(), laws[1].clone()];
        let (written, line) = rig.replay(Duration::from_secs(4), |rig| {
            let flows: Vec<_> = names
                .iter()
                .map(|name| {
                    let congestion = Some(name.clone());
                    let flow = TcpFlow { congestion, ..TcpFlow::new(Direction::Uplink) };
                    flow.start(&rig.emulation).unwrap()
                })
                .collect();
            let line = first_line(&listener.accept().unwrap().0);
            thread::sleep(Duration::from_secs(3));
            flows.into_iter().for_each(|flow| drop(flow.abort().unwrap()));
            line
        });
        assert!(line.starts_with("{\"report\""), "{line}");
        let (done, rig) = rig.stop();

        // Flows of both laws were driven, each by its own.
        let events = rig.events.all();
        let driven = transitions(&events).filter(|seen| seen.to == "radio-limited").count();
        assert!(driven >= 2, "{:?}", transitions(&events).collect::<Vec<_>>());
        // One reader's counts, whatever the number of outputs.
        let once = read_once(&written);
        assert_eq!(done["bytes"], once.stream.frames.bytes, "{done}");
        assert_eq!(done["frames"], once.stream.frames.good, "{done}");
        assert_eq!(done["records"], once.stream.logs, "{done}");
        assert_eq!(done["read"], once.records.read(), "{done}");
        assert_eq!(done["kpis"], once.kpis, "{done}");
        assert!(once.kpis > 1000, "{once:?}");
        // The machine is as before.
        let left = registered();
        assert!(laws.iter().all(|law| !left.contains(law)), "{left:?}");
        let (default, route) = rig.near(settings);
        assert_eq!(default, rig.near(not_guessed));
        assert!(!route.contains(&mark), "{route}");
        // The lock of a board stays.
        let lock = format!("all_{mark}.lock");
        let left: Vec<_> = fs::read_dir(rig.folder.path()).unwrap().collect();
        assert!(
            left.iter().flatten().all(|entry| {
                let name = entry.file_name();
                ["all.toml", "modem", "call", &*lock].iter().any(|known| name == *known)
            }),
            "{left:?}"
        );
    });
}

fn first_line(stream: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn an_output_that_fails_ends_alone_and_is_tried_again() {
    if downlink_skipped() {
        return;
    }
    steadily(|| {
        let mut rig = Rig::start("f");
        rig.events.wait_for("ready", "", 1);
        let calls = rig.calls();
        let socket = rig.socket();
        let listener = UnixListener::bind(&socket).unwrap();
        rig.events.wait_for("output_started", &calls, 1);
        let name = format!("b_{}", rig.mark);
        let events = rig.events.clone();
        rig.replay(Duration::from_secs(8), move |rig| {
            let flow = TcpFlow { congestion: Some(name), ..TcpFlow::new(Direction::Uplink) };
            let flow = flow.start(&rig.emulation).unwrap();
            // The receiver of the call goes, and comes back.
            let (receiver, _) = listener.accept().unwrap();
            fs::remove_file(&socket).unwrap();
            drop((receiver, listener));
            events.wait_for("output_failed", &calls, 2);
            let listener = UnixListener::bind(&socket).unwrap();
            events.wait_for("output_started", &calls, 2);
            first_line(&listener.accept().unwrap().0);
            // So does the network device of the media.
            rig.near(|| ip(&["link", "del", "media0"]));
            let failed = events.wait_for("output_failed", "arrivals media0", 1);
            assert!(failed["reason"].as_str().unwrap().contains("media0"), "{failed}");
            rig.near(|| ip(NEW_DEVICE));
            events.wait_for("output_started", "arrivals media0", 1);
            flow.abort().unwrap();
        });
        let (done, rig) = rig.stop();
        // The law noticed nothing.
        let events = rig.events.all();
        let seen: Vec<_> = transitions(&events).collect();
        assert!(seen.iter().all(|seen| seen.reason != "silent"), "{seen:?}");
        assert_eq!(done["late_heartbeats"], 0, "{done}");
        let others = ["calls", "arrivals"];
        let failed = rig.events.outputs();
        assert!(
            failed.iter().all(|event| {
                let name = event["output"].as_str().unwrap();
                others.iter().any(|other| name.starts_with(other))
            }),
            "{failed:?}"
        );
    });
}

/// Each thread but the one that starts outputs again has at most CAP_DAC_OVERRIDE.
fn assert_few_rights(daemon: u32) {
    let rights = rights_of(daemon);
    let few = |rights: &&Rights| rights.is_held && rights.capabilities & !(1 << 1) == 0;
    let others: Vec<_> = rights.iter().filter(|rights| !few(rights)).collect();
    assert!(matches!(&others[..], [only] if only.name == "loader" && only.is_held), "{rights:?}");
}

#[test]
fn only_the_thread_that_starts_outputs_again_keeps_rights() {
    if downlink_skipped() {
        return;
    }
    let mut rig = Rig::start("r");
    rig.events.wait_for("ready", "", 1);
    rig.replay(Duration::from_millis(500), |rig| assert_few_rights(rig.daemon.0.id()));
    rig.stop();
}

#[test]
fn the_capabilities_of_the_unit_are_enough_for_each_output() {
    if downlink_skipped() {
        return;
    }
    steadily(|| {
        let folder = tempfile::tempdir().unwrap();
        open_to_all(folder.path());
        let pins = Pins::prepare(folder.path());
        let service = Service::new(&format!("export SOUNDING_BPFFS={}", pins.folder().display()));
        let boards = service.path("run");
        let mut rig = Rig::start_by("u", &service.program(), Some(&boards));
        let ready = rig.events.wait_for("ready", "", 1);
        assert_eq!(ready["outputs"].as_array().unwrap().len(), 7, "{:?}", rig.events.outputs());
        let listener = UnixListener::bind(rig.socket()).unwrap();
        fs::set_permissions(rig.socket(), Permissions::from_mode(0o777)).unwrap();
        rig.events.wait_for("output_started", &rig.calls(), 1);
        rig.near(|| ip(&["link", "del", "media0"]));
        rig.events.wait_for("output_failed", "arrivals media0", 1);
        rig.near(|| ip(NEW_DEVICE));
        rig.events.wait_for("output_started", "arrivals media0", 1);
        rig.replay(Duration::from_millis(500), |rig| {
            assert_few_rights(rig.daemon.0.id());
            first_line(&listener.accept().unwrap().0);
        });
        let (done, _) = rig.stop();
        assert!(done["kpis"].as_u64() > Some(100), "{done}");
    });
}
