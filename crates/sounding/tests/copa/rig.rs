//! A phone in a modelled cell, its modem on a pty, and a daemon in its namespace.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sounding_bpf::{CopaFlow, CopaFlows, copa_preflight};
use sounding_emu::Direction;
use sounding_experiment::plan::Text;
use sounding_host::monotonic_now;
use sounding_modem::{Behaviour, Place};
use sounding_testbed::daemon::Daemon;
use sounding_testbed::emulate::{Emulated, PUNCTUALITY_PERCENT, Settings, Users};
use sounding_testbed::flow::{RunningTcp, TcpFlow, TcpResult};
use sounding_testdata::may_emulate;
use sounding_units::HostInstant;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

/// The cell of Gandalf's Table 1 over LTE, with a quarter of its resource blocks: a phone that stands, and a server 15 ms away.
const PLAN: &str = r#"
duration = "120s"
seeds = 1
wire = { delay = "15ms" }
[cell]
carriers = [{ prb = 25, qam256 = true }]
[[cell.devices]]
name = "phone"
modem = { drift_ppm = 20.0, latency = "1ms" }
adapt_uplink = { target_error_rate = 0.08 }
scheduling = { periodic_bsr = "5ms", grant_delay = 1.0, double_grant = 0.1 }
[cell.devices.channel]
kind = "script"
levels = [{ at_s = 0.0, sinr_db = 20.0 }]
fading = { profile = "epa", surroundings_mps = 0.3 }
[[flows]]
device = "phone"
direction = "up"
controller = "cubic"
"#;

/// Whether this machine can run such a test, said where it cannot.
pub(crate) fn skipped() -> bool {
    let missing = copa_preflight("copa_test").into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        let why = format_args!("{}: {}", check.name, check.detail);
        sounding_testdata::skip(sounding_testdata::Need::Kernel, why);
    }
    missing.is_some() || !may_emulate()
}

/// The cell, and what runs in it.
pub(crate) struct Cell(Emulated);

impl Cell {
    pub(crate) fn start() -> Self {
        let runs = Text::new("a cell", PLAN, PathBuf::new()).runs().unwrap();
        let settings = Settings {
            users: Users::Flows { program: PROGRAM.into() },
            place: Place::Pty(None),
            behaviour: Behaviour::default(),
            overhead_percent: PUNCTUALITY_PERCENT,
            sniffer: None,
        };
        Self(Emulated::start(&runs[0], &settings).unwrap())
    }

    /// Where the phone's modem is.
    pub(crate) fn modem(&self) -> &Path {
        Path::new(&self.0.modems()[0].source)
    }

    /// A daemon at this port, under a name of its own.
    pub(crate) fn daemon(&self, name: &str, port: &Path, flags: &[&str]) -> (String, Daemon) {
        let name = format!("{name}_{}", std::process::id());
        let flags: Vec<&str> = ["--copa"].into_iter().chain(flags.iter().copied()).collect();
        let near = self.0.emulation().near();
        let daemon = Daemon::start_in(near, Path::new(PROGRAM), port, &name, &flags).unwrap();
        (name, daemon)
    }

    /// An upload under this algorithm, until it is stopped.
    pub(crate) fn upload(&self, congestion: &str) -> RunningTcp {
        let flow = TcpFlow {
            congestion: Some(congestion.into()),
            sample_every: Duration::from_millis(20),
            ..TcpFlow::new(Direction::Uplink)
        };
        flow.start(self.0.emulation()).unwrap()
    }

    pub(crate) fn stop(self) {
        self.0.stop().unwrap();
    }
}

/// The socket of a flow that runs.
pub(crate) fn socket(flow: &RunningTcp) -> BorrowedFd<'_> {
    // SAFETY: the socket is open until the transfer is waited for, which takes the flow.
    unsafe { BorrowedFd::borrow_raw(flow.sender_socket()) }
}

/// What is kept of a flow.
pub(crate) fn state(flows: &CopaFlows, flow: &RunningTcp) -> Option<CopaFlow> {
    flows.flow(socket(flow))
}

/// Megabits a second that were acknowledged between two times, and the mean of the smoothed RTT in milliseconds.
pub(crate) fn figures(result: &TcpResult, from: HostInstant, to: HostInstant) -> (f64, f64) {
    let at = |time| {
        let before = result.samples.iter().take_while(|sample| sample.at <= time).last();
        before.map_or(0, |sample| sample.info.acked.count())
    };
    let inside = result.samples.iter().filter(|sample| from <= sample.at && sample.at <= to);
    let rtts: Vec<f64> = inside.map(|sample| sample.info.rtt.as_secs_f64() * 1e3).collect();
    let rate = (at(to) - at(from)) as f64 * 8.0 / 1e6 / (to - from).as_secs_f64();
    (rate, rtts.iter().sum::<f64>() / rtts.len().max(1) as f64)
}

pub(crate) fn sleep(span: Duration) {
    std::thread::sleep(span);
}

/// Waits until `found` has something, at most ten seconds.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = monotonic_now();
    while monotonic_now() - began < Duration::from_secs(10) {
        if let Some(value) = found() {
            return value;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("waited ten seconds for {what}");
}
