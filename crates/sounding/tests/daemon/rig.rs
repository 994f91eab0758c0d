//! A modem on a pty, the daemon, and an emulated link with a flow over it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value as Json;
use sounding_bpf::OwnCgroup;
use sounding_bpf::inventory::{Object, held_by};
use sounding_emu::{Config, Direction, Emulation, Outcome};
use sounding_host::monotonic_now;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_sim::PathConfig;
use sounding_testbed::daemon::Daemon;
use sounding_testbed::flow::RunningTcp;
use sounding_testbed::radio::RadioLink;
use sounding_trace::{Steps, Trace};
use sounding_units::{HostInstant, Rate};

use crate::beside::{self, Ran, Track};
use crate::users::{STRANGER, UsersFlow};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");
/// The laws of the daemon's congestion control.
pub(crate) const LAWS: [&str; 2] = ["biscay", "sounding"];
const LINK_LASTS: Duration = Duration::from_secs(12);

pub(crate) struct Rig {
    link: RadioLink,
    folder: tempfile::TempDir,
    pty: Option<Pty>,
    daemon: Option<Daemon>,
    emulation: Option<Emulation>,
    program: PathBuf,
    drives: Drives,
    name: String,
    /// How much of the link's time has been replayed.
    replayed: Duration,
    noise_began: HostInstant,
}

/// The flows that the daemon limits to the radio's rate.
enum Drives {
    /// Uploads under this law.
    Uploads(&'static str),
    /// The senders to the sockets of this cgroup. The daemon is in it too, and ends before.
    Downloads(OwnCgroup),
}

/// Why this machine cannot run such a test, said past the harness, which swallows what passing
/// tests print.
pub(crate) fn skipped() -> bool {
    let missing = sounding_bpf::preflight("biscay_rig").into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, &check.detail);
    }
    missing.is_some()
}

/// The same of what holding downloads takes besides.
pub(crate) fn downlink_skipped() -> bool {
    if skipped() {
        return true;
    }
    let missing = sounding_bpf::downlink_preflight().into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, &check.detail);
    }
    missing.is_some()
}

/// The error of a daemon that has to refuse to run; one that runs is killed after a while.
pub(crate) fn refusal(command: Command) -> Output {
    let mut command = assert_cmd::Command::from_std(command);
    command.timeout(Duration::from_secs(10)).output().expect("it runs")
}

impl Rig {
    pub(crate) fn start(name: &str, law: &'static str) -> Option<Self> {
        let link = || RadioLink::generated(1, LINK_LASTS).expect("a link");
        let config = |link: &RadioLink| {
            let delay = Duration::from_millis(20);
            let up = PathConfig { delay, ..PathConfig::new(link.offered.clone()) };
            let wide = Steps::constant(Rate::from_bits_per_sec(100_000_000));
            let down = PathConfig { delay, ..PathConfig::new(wide) };
            Config { record: true, ..Config::new(up, down) }
        };
        Self::make(name, law, link, config, Path::new(PROGRAM))
    }

    /// A radio of 12 Mbit/s, so that what is seen comes of the drill and not of the link.
    pub(crate) fn steady(name: &str, law: &'static str) -> Option<Self> {
        Self::steady_by(name, law, Path::new(PROGRAM))
    }

    /// The same, its daemon started by another program that becomes it.
    pub(crate) fn steady_by(name: &str, law: &'static str, program: &Path) -> Option<Self> {
        let link = || {
            let every_millisecond = Trace::from_millis((1..=1000).collect()).expect("a trace");
            RadioLink::of_trace("steady", every_millisecond, LINK_LASTS)
        };
        Self::make(name, law, link, |link| beside::over(link.offered.clone()), program)
    }

    /// The radio of a phone in a modelled cell that never changes, some 14 Mbit/s, and a daemon at
    /// the near end that limits its senders.
    pub(crate) fn downloading(name: &str) -> Option<Self> {
        Self::downloading_by(name, Path::new(PROGRAM))
    }

    /// The same, its daemon started by another program that becomes it.
    pub(crate) fn downloading_by(name: &str, program: &Path) -> Option<Self> {
        if downlink_skipped() {
            return None;
        }
        let link = RadioLink::cell(None, LINK_LASTS).expect("a link");
        let own = OwnCgroup::enter(&format!("sounding-rig-{}", std::process::id()));
        let drives = Drives::Downloads(own.expect("a cgroup"));
        let mut rig = Self::new(name, drives, link, program);
        // The daemon lives in its near end.
        let config = beside::over_down(rig.link.offered.clone());
        rig.emulation = Some(Emulation::start(config).expect("an emulation"));
        rig.start_daemon();
        Some(rig)
    }

    fn make(
        name: &str,
        law: &'static str,
        link: impl Fn() -> RadioLink,
        config: impl Fn(&RadioLink) -> Config,
        program: &Path,
    ) -> Option<Self> {
        if skipped() {
            return None;
        }
        let link = link();
        let config = config(&link);
        let mut rig = Self::new(name, Drives::Uploads(law), link, program);
        rig.start_daemon();
        rig.emulation = Some(Emulation::start(config).expect("an emulation"));
        Some(rig)
    }

    fn new(name: &str, drives: Drives, link: RadioLink, program: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let pty = Pty::create(Some(&tty(folder.path()))).expect("a pty");
        Self {
            link,
            folder,
            pty: Some(pty),
            daemon: None,
            emulation: None,
            program: program.into(),
            drives,
            name: format!("{}_{name}", std::process::id() % 1_000_000),
            replayed: Duration::ZERO,
            noise_began: HostInstant::default(),
        }
    }

    /// A daemon under the rig's name at the rig's modem.
    pub(crate) fn start_daemon(&mut self) {
        let device = tty(self.folder.path());
        let near = || self.emulation.as_ref().expect("running").near();
        let daemon = match &self.drives {
            Drives::Uploads(law) => {
                let flags = ["--bound", "capacity", "--law", law];
                Daemon::start(&self.program, &device, &self.name, &flags)
            }
            Drives::Downloads(own) => {
                let flags = ["--downlink", "window", "--cgroup", &*own.path().to_string_lossy()];
                Daemon::start_in(near(), &self.program, &device, &self.name, &flags)
            }
        };
        self.daemon = Some(daemon.expect("the daemon is ready"));
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// An upload under the daemon's algorithm, or a download that is held by it, until it is
    /// stopped.
    pub(crate) fn transfer(&self) -> RunningTcp {
        let emulation = self.emulation.as_ref().expect("running");
        match self.drives {
            Drives::Uploads(_) => beside::transfer(emulation, Direction::Uplink, &self.name),
            Drives::Downloads(_) => beside::transfer(emulation, Direction::Downlink, "cubic"),
        }
    }

    /// A flow of another user under the daemon's algorithm that never leaves the near end, and asks
    /// for all it can get.
    pub(crate) fn stranger_on_loopback(&self, most: Rate) -> UsersFlow {
        let emulation = self.emulation.as_ref().expect("running");
        UsersFlow::idling_on_loopback(emulation, STRANGER, &self.name, most)
    }

    /// A flow of the kernel's own over a link like the rig's.
    pub(crate) fn stock(&self) -> Track {
        let offered = self.link.offered.clone();
        match self.drives {
            Drives::Uploads(_) => Track::start(beside::over(offered), Direction::Uplink, "bbr"),
            Drives::Downloads(_) => {
                Track::start(beside::over_down(offered), Direction::Downlink, "cubic")
            }
        }
    }

    /// A daemon of another name that would hold the same downloads, at another modem.
    pub(crate) fn start_rival(&self, device: &Path) -> Output {
        let Drives::Downloads(own) = &self.drives else { panic!("it holds no downloads") };
        let mut command = Command::new(PROGRAM);
        command.args([
            "run",
            "--name",
            "d_rival",
            "--law",
            "none",
            "--downlink",
            "both",
            "--interface",
            "radio0",
        ]);
        command.arg("--cgroup").arg(own.path()).arg("--device").arg(device);
        self.emulation.as_ref().expect("running").near().bring_in(&mut command);
        refusal(command)
    }

    /// BPF objects that the daemon holds.
    pub(crate) fn objects(&self) -> BTreeSet<Object> {
        self.daemon.as_ref().map(|daemon| held_by(daemon.id())).unwrap_or_default()
    }

    /// Its process.
    pub(crate) fn daemon_id(&self) -> u32 {
        self.daemon.as_ref().expect("running").id()
    }

    /// Whether the daemon has not been ended.
    pub(crate) fn has_daemon(&self) -> bool {
        self.daemon.is_some()
    }

    /// Ends the flow and the emulation.
    pub(crate) fn end(&mut self, flow: RunningTcp) -> Ran {
        let flow = flow.abort().expect("the flow ends in good order");
        let report = self.emulation.take().expect("running").stop().expect("a report");
        Ran { flow, records: report.records }
    }

    /// From here on the modem's clock starts again, as after a reboot.
    pub(crate) fn reset_clock(&mut self) {
        self.replayed = Duration::ZERO;
    }

    /// Lets the modem write the next stretch of its records, at their pace.
    pub(crate) fn replay_for(&mut self, span: Duration) {
        let capture = self.link.capture.clone();
        self.play(&capture, span);
    }

    /// The same, with every frame broken.
    pub(crate) fn corrupt_for(&mut self, span: Duration) {
        let broken =
            self.link.capture.iter().map(|&byte| if byte == 0x7E { byte } else { byte ^ 1 });
        let broken: Vec<u8> = broken.map(|byte| if byte == 0x7F { 0x11 } else { byte }).collect();
        self.noise_began = monotonic_now();
        // Broken frames have no time stamps to pace by, so the pace is that of the good ones.
        let good = self.link.capture.clone();
        self.play_as(&good, &broken, span);
    }

    pub(crate) fn noise_began(&self) -> HostInstant {
        self.noise_began
    }

    /// Breaks one frame in `every` for the rest of the test.
    pub(crate) fn speckle(&mut self, every: usize) {
        let mut frames = 0;
        let mut broken = false;
        for byte in &mut self.link.capture {
            if *byte == 0x7E {
                frames += 1;
                broken = false;
            } else if frames % every == every - 1 && !broken {
                // Never into a terminator or an escape, so that just this frame is lost.
                *byte = if *byte == 0x22 { 0x23 } else { 0x22 };
                broken = true;
            }
        }
    }

    fn play(&mut self, capture: &[u8], span: Duration) {
        self.play_as(capture, capture, span);
    }

    fn play_as(&mut self, paced_by: &[u8], bytes: &[u8], span: Duration) {
        let begin = self.link.begin + self.replayed;
        let schedule = ReplaySchedule::since(paced_by, begin).until(span);
        let pty = self.pty.take().expect("a modem is plugged in");
        let mut replay = Replay::new(bytes, schedule, pty, 1.0);
        let stop = AtomicBool::new(false);
        replay.run(monotonic_now(), &stop, |_| {}).expect("the pty stays");
        self.pty = Some(replay.into_pty());
        self.replayed += span;
    }

    pub(crate) fn unplug(&mut self) {
        self.pty = None;
    }

    pub(crate) fn plug(&mut self) {
        self.pty = Some(Pty::create(Some(&tty(self.folder.path()))).expect("a pty"));
        // The daemon looks for it every few milliseconds.
        let open = || self.pty.as_ref().is_some_and(Pty::has_reader);
        let found = (0..2000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            open()
        });
        assert!(found, "the daemon does not open the device again");
    }

    pub(crate) fn kill_daemon(&mut self) {
        self.daemon.take().expect("running").kill();
    }

    /// Ends the daemon. Returns all its events.
    pub(crate) fn stop(&mut self) -> Vec<Json> {
        self.daemon.take().expect("running").stop()
    }

    /// Ends the emulation; when packets of the upload arrived.
    pub(crate) fn arrivals(&mut self) -> Vec<HostInstant> {
        let report = self.emulation.take().expect("running").stop().expect("a report");
        let up = report.records.iter().filter(|record| record.direction == Direction::Uplink);
        up.filter_map(|record| match record.outcome {
            Outcome::Delivered { written, .. } => Some(written),
            _ => None,
        })
        .collect()
    }
}

fn tty(folder: &Path) -> PathBuf {
    folder.join("modem")
}

/// A change of state as the daemon reported it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) at: HostInstant,
    pub(crate) local_port: u64,
    pub(crate) to: String,
    pub(crate) reason: String,
}

/// Whether the law controls a flow in the phase of this name, and not BBR.
pub(crate) fn is_driven(phase: &str) -> bool {
    sounding_bpf::Phase::by_name(phase).is_some_and(sounding_bpf::Phase::law_controls)
}

/// Changes of the flows' states. The receiving end of a transfer is a flow too: it sends its FIN
/// only, and may change its state when that is acknowledged.
pub(crate) fn transitions(events: &[Json]) -> impl DoubleEndedIterator<Item = Seen> {
    events.iter().filter(|event| event["event"] == "transition").map(|event| {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_string();
        Seen {
            at: HostInstant::from_nanos(event["at_ns"].as_u64().unwrap_or_default()),
            local_port: event["local_port"].as_u64().unwrap_or_default(),
            to: text("to"),
            reason: text("reason"),
        }
    })
}

/// The daemon's last words.
pub(crate) fn done(events: &[Json]) -> &Json {
    events.iter().find(|event| event["event"] == "done").expect("the daemon ended in good order")
}
