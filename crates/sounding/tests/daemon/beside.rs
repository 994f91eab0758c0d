//! The criteria of every failure drill. A stock flow runs at the same time over a separate link,
//! because a stalled machine delays both. The drill also checks the flow's windows, the kernel's
//! log, and lasting changes of the machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sounding_bpf::CLAIMS;
use sounding_bpf::inventory::{Object, alive};
use sounding_emu::{Config, Direction, Emulation, Outcome, PacketRecord};
use sounding_sim::{PathConfig, QueueLimit};
use sounding_testbed::KernelLog;
use sounding_testbed::flow::{RunningTcp, TcpFlow, TcpInfo, TcpResult};
use sounding_trace::{Schedule, Steps};
use sounding_units::{Bytes, HostInstant, Rate};

/// One way; twice that is the RTT without queue.
const DELAY: Duration = Duration::from_millis(20);
/// The longest time that a flow may stand still.
pub(crate) const MAX_STALL: Duration = Duration::from_millis(200);
/// TCP's least window that does not wait for delayed acknowledgements.
const MIN_WINDOW: u32 = 2;

/// A link of this uplink, with room for a tenth of a second of 12 Mbit/s, whose packets are
/// recorded.
pub(crate) fn over(up: impl Into<Schedule>) -> Config {
    Config { record: true, ..Config::new(narrow(up), wide()) }
}

/// The same of this downlink.
pub(crate) fn over_down(down: impl Into<Schedule>) -> Config {
    Config { record: true, ..Config::new(wide(), narrow(down)) }
}

fn narrow(offered: impl Into<Schedule>) -> PathConfig {
    let queue = QueueLimit::bytes(Bytes::new(150_000));
    PathConfig { delay: DELAY, queue, ..PathConfig::new(offered) }
}

fn wide() -> PathConfig {
    let wide = Steps::constant(Rate::from_bits_per_sec(100_000_000));
    PathConfig { delay: DELAY, ..PathConfig::new(wide) }
}

/// A transfer that is sampled every ten milliseconds.
pub(crate) fn transfer(
    emulation: &Emulation,
    direction: Direction,
    congestion: &str,
) -> RunningTcp {
    let flow = TcpFlow {
        congestion: Some(congestion.into()),
        sample_every: Duration::from_millis(10),
        ..TcpFlow::new(direction)
    };
    flow.start(emulation).expect("a flow")
}

/// An emulation and one flow through it.
pub(crate) struct Track {
    emulation: Emulation,
    flow: RunningTcp,
}

impl Track {
    pub(crate) fn start(config: Config, direction: Direction, congestion: &str) -> Self {
        let emulation = Emulation::start(config).expect("an emulation");
        Self::over(emulation, direction, congestion)
    }

    pub(crate) fn over(emulation: Emulation, direction: Direction, congestion: &str) -> Self {
        let flow = transfer(&emulation, direction, congestion);
        Self { emulation, flow }
    }

    pub(crate) fn emulation(&self) -> &Emulation {
        &self.emulation
    }

    /// The flow, with its socket's state.
    pub(crate) fn flow(&self) -> &RunningTcp {
        &self.flow
    }

    pub(crate) fn end(self) -> Ran {
        let flow = self.flow.abort().expect("the flow ends in good order");
        let report = self.emulation.stop().expect("a report");
        Ran { flow, records: report.records }
    }
}

/// A flow that has ended, and every packet of its emulation.
pub(crate) struct Ran {
    pub(crate) flow: TcpResult,
    pub(crate) records: Vec<PacketRecord>,
}

impl Ran {
    /// The longest time without a packet of the flow at its receiver.
    fn longest_gap(&self, from: HostInstant, to: HostInstant) -> Duration {
        let mut last = from;
        let mut longest = Duration::ZERO;
        let mut see = |at: HostInstant| {
            longest = longest.max(at - last);
            last = at;
        };
        for record in self.records.iter().filter(|record| record.flow == self.flow.flow) {
            match record.outcome {
                Outcome::Delivered { written, .. } if written >= from && written < to => {
                    see(written);
                }
                _ => {}
            }
        }
        see(to);
        longest
    }

    /// In segments: the smaller of the sender's window and the receiver's.
    fn least_window(&self) -> u32 {
        let window = |info: &TcpInfo| {
            let theirs = info.peer_window.count() / u64::from(info.mss.max(1));
            info.cwnd.min(u32::try_from(theirs).unwrap_or(u32::MAX))
        };
        self.flow.samples.iter().map(|sample| window(&sample.info)).min().unwrap_or_default()
    }
}

/// Holds a flow against the stock one between two moments.
pub(crate) fn judge(what: &str, ours: &Ran, stock: &Ran, from: HostInstant, to: HostInstant) {
    judge_within(MAX_STALL, what, ours, stock, from, to);
}

/// The same where a flow may stand still for this long.
pub(crate) fn judge_within(
    bearable: Duration,
    what: &str,
    ours: &Ran,
    stock: &Ran,
    from: HostInstant,
    to: HostInstant,
) {
    let (gap, beside) = (ours.longest_gap(from, to), stock.longest_gap(from, to));
    let window = ours.least_window();
    println!(
        "{what}: longest stall {gap:?}, of {} {beside:?}; least window {window}",
        stock.flow.congestion
    );
    assert!(gap <= bearable.max(2 * beside), "{what}: stalled for {gap:?}, stock {beside:?}");
    assert!(window >= MIN_WINDOW, "{what}: a window of {window}");
    assert!(ours.flow.samples.len() > 50, "{what}: {} samples", ours.flow.samples.len());
}

/// The machine before a drill.
pub(crate) struct Witness {
    log: KernelLog,
    before: Machine,
}

/// The state of the machine that a daemon must restore when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Machine {
    default: String,
    routes: String,
    devices: String,
    /// The files that daemons keep to outlive them.
    kept: BTreeSet<PathBuf>,
}

const KEPT: [&str; 3] = ["/sys/fs/bpf", "/run/sounding", CLAIMS];

/// The folder of claims is there from the first on. The masks of a modem whose daemon was killed
/// are for the next one, which also takes the place of its socket.
fn is_to_stay(path: &Path) -> bool {
    let is_for_the_next = |file: &str| {
        ["masks-", "records-"]
            .iter()
            .any(|start| file.starts_with(&format!("/run/sounding/{start}")))
    };
    path == Path::new(CLAIMS) || is_for_the_next(&path.to_string_lossy())
}

impl Machine {
    fn now() -> Self {
        let said = |words: &[&str]| {
            let output = Command::new("ip").args(words).output().expect("ip runs");
            String::from_utf8(output.stdout).expect("text")
        };
        let default = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
        let entries = KEPT.iter().flat_map(std::fs::read_dir).flatten().flatten();
        Self {
            default: default.expect("readable"),
            routes: said(&["route", "show", "table", "all"]),
            devices: said(&["-brief", "link"]),
            kept: entries.map(|entry| entry.path()).filter(|path| !is_to_stay(path)).collect(),
        }
    }

    /// Whether it is as it was, or old remains have been cleaned up.
    fn is_as(&self, before: &Self) -> bool {
        self.kept.is_subset(&before.kept)
            && Self { kept: BTreeSet::new(), ..self.clone() }
                == Self { kept: BTreeSet::new(), ..before.clone() }
    }
}

impl Witness {
    pub(crate) fn begin() -> Self {
        Self { log: KernelLog::watch().expect("the kernel's log"), before: Machine::now() }
    }

    /// `name` and `objects` are gone, and everything else is as it was.
    pub(crate) fn end(mut self, name: &str, objects: &BTreeSet<Object>) {
        assert!(!objects.is_empty(), "the daemon held nothing");
        let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let known = || std::fs::read_to_string(path).expect("readable").contains(name);
        // Programs go a grace period after the last flow.
        let gone = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !known() && alive().is_disjoint(objects) && Machine::now().is_as(&self.before)
        });
        let left: Vec<_> = alive().intersection(objects).copied().collect();
        let after = Machine::now();
        assert!(gone, "{name}: known {}, left {left:?}, {after:?} for {:?}", known(), self.before);
        assert_eq!(self.log.alarms(), Vec::<String>::new());
    }
}
