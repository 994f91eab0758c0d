//! A caller at a device in a modelled cell, and the peer at a server 20 ms behind it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_cell::config::{CarrierConfig, DeviceConfig};
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_emu::{Config, Emulation, Netns};
use sounding_sim::{Device, PathConfig, Radio, Wired};
use sounding_testdata::{Need, skip};
use sounding_trace::Steps;
use sounding_units::HostInstant;

const CALLER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/call");
const PEER: &str = env!("CARGO_BIN_EXE_sounding-rtc-peer");

/// Whether node is there, and the packages of the caller's lock file, which are fetched once.
pub(crate) fn may_call() -> bool {
    let prepared = sounding_rtc::caller::prepare(Path::new(CALLER));
    if let Err(why) = &prepared {
        skip(Need::Npm, format_args!("no call here: {why}"));
    }
    prepared.is_ok()
}

/// A field of an object that is a number.
pub(crate) fn number(of: &Json, field: &str) -> f64 {
    of[field].as_f64().unwrap_or_else(|| panic!("{of} has no number {field}"))
}

/// An LTE cell of 10 MHz with one device.
pub(crate) struct Scene {
    emulation: Emulation,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let emulation = Emulation::start(Config::over(network(), vec![Device(0)])).unwrap();
        Self { emulation }
    }

    /// A call of some seconds. `meanwhile` runs beside it, with a connection to the peer of its
    /// own.
    pub(crate) fn call(
        self,
        corrections: &str,
        seconds: u64,
        meanwhile: impl FnOnce(&mut UnixStream),
    ) -> Call {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (socket, log) = (place("peer"), place("log"));
        let address = self.emulation.far_address().to_string();
        let words =
            ["--socket", &socket, "--corrections", corrections, "--log", &log, "--at-most", "60"];
        let mut peer = Running::in_(self.emulation.far(), Command::new(PEER).args(words));
        let length = seconds.to_string();
        let words = ["--socket", &socket, "--address", &address, "--seconds", &length];
        let said = std::fs::File::create(place("said")).unwrap();
        let mut caller = Command::new("node");
        caller.arg("call.js").args(words).current_dir(CALLER).stdout(said);
        let caller = Running::in_(self.emulation.near(), &mut caller);
        let mut stream = connected(&socket);
        meanwhile(&mut stream);
        let (status, complaint) = caller.end();
        assert!(status.success(), "the caller ended with {status}: {complaint}");
        let status = peer.ended_within(Duration::from_secs(10));
        assert_eq!(status.and_then(|status| status.code()), Some(0), "the peer");
        let said = lines(&std::fs::read_to_string(place("said")).unwrap());
        let log = lines(&std::fs::read_to_string(log).unwrap());
        let named = |name: &str| said.iter().filter_map(|line| line.get(name).cloned()).collect();
        let stats: Vec<Json> = named("stats");
        let summaries: Vec<Json> = named("summary");
        let [summary] = <[Json; 1]>::try_from(summaries).expect("one summary");
        self.emulation.stop().unwrap();
        Call { stats, summary, log }
    }
}

fn lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A connection to the peer, which needs a moment to listen.
pub(crate) fn connected(socket: &str) -> UnixStream {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < until, "{socket}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn network() -> Wired<Radio<sounding_sim::Through<sounding_emu::Slot>>, sounding_emu::Slot> {
    let channel = ModelConfig::Script(ScriptConfig::constant(16.0));
    let device = DeviceConfig { channel, ..DeviceConfig::default() };
    let carrier = CarrierConfig { prb: 50, ..CarrierConfig::default() };
    let mut radio = Radio::new(vec![carrier], 1).unwrap();
    radio.add_device(device).unwrap();
    let wide: Steps = "1Gbit".parse().unwrap();
    let wire = PathConfig { delay: Duration::from_millis(20), ..PathConfig::new(wide) };
    Wired::new(radio, &wire, &wire, HostInstant::default())
}

/// What was seen of a call.
pub(crate) struct Call {
    /// The sender's statistics, every 100 ms.
    pub(crate) stats: Vec<Json>,
    /// The peer's sums.
    pub(crate) summary: Json,
    log: Vec<Json>,
}

/// A packet at the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) arrived: HostInstant,
    pub(crate) corrected: HostInstant,
}

impl Call {
    /// The peer alone.
    pub(crate) fn peer(words: &[&str]) -> Running {
        Running::of(Command::new(PEER).args(words))
    }

    /// The peer's log of this kind.
    pub(crate) fn logged(&self, kind: &str) -> Vec<&Json> {
        self.log.iter().filter_map(|line| line.get(kind)).collect()
    }

    /// The packets that the peer received.
    pub(crate) fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        self.logged("packet").into_iter().map(|packet| {
            let at = |field: &str| HostInstant::from_nanos(packet[field].as_u64().unwrap());
            Packet { arrived: at("arrived_ns"), corrected: at("corrected_ns") }
        })
    }
}

/// A process that does not outlive the test.
pub(crate) struct Running(Child);

impl Running {
    fn of(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn in_(netns: &Netns, command: &mut Command) -> Self {
        netns.enter(|| Self::of(command)).unwrap()
    }

    pub(crate) fn input(&mut self) -> &mut impl Write {
        self.0.stdin.as_mut().unwrap()
    }

    /// Its status, if it ends in time.
    pub(crate) fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return Some(status);
            }
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Closes its input; its status, and what it wrote to standard error.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        drop(self.0.stdin.take());
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.0.wait().unwrap(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
