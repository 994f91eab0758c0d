//! The cost of a lie in the option for a server, and for flows that share the path: over a path of
//! 20 Mbit/s a device, or a forger in its name, reports that its radio carries a gigabit. Needs
//! root; elsewhere it reports a skip.

mod cqic;
#[path = "../device/mod.rs"]
mod device;
mod forger;
mod pbe_cc;

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use device::{Device, downlink};
use forger::{Forger, Forgery};
use serde_json::Value as Json;
use sounding_bpf::{EXID, OwnCgroup};
use sounding_emu::{Config, Direction, Emulation, Netns};
use sounding_link::FairShare;
use sounding_sim::{PathConfig, QueueLimit};
use sounding_testbed::daemon::Daemon;
use sounding_testbed::flow::{TcpFlow, TcpResult, TcpSample};
use sounding_testdata::{may_emulate, steadily};
use sounding_trace::Steps;
use sounding_units::Rate;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

/// The rate of the path.
const PATH: Rate = Rate::from_bits_per_sec(20_000_000);
const LIE: Rate = Rate::from_bits_per_sec(1_000_000_000);
const LASTS: Duration = Duration::from_secs(6);

fn skipped() -> bool {
    let kernel = sounding_bpf::preflight("biscay_pe").into_iter();
    let missing = kernel.chain(sounding_bpf::downlink_preflight()).find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(
            sounding_testdata::Need::Kernel,
            format_args!("{}: {}", check.name, check.detail),
        );
    }
    missing.is_some() || !may_emulate()
}

/// 20 ms each way, and room for 72 ms of what it carries to the device: 120 packets at the usual
/// rate.
fn path(carries: Rate) -> Config {
    let delay = Duration::from_millis(20);
    let queue = QueueLimit::bytes(carries * Duration::from_millis(72));
    let down = PathConfig { delay, queue, ..PathConfig::new(Steps::constant(carries)) };
    let wide = Steps::constant(Rate::from_bits_per_sec(100_000_000));
    Config::new(PathConfig { delay, ..PathConfig::new(wide) }, down)
}

/// The source of a report about the device's link, and its contents.
#[derive(Clone, Copy, Debug)]
enum Speaker {
    /// The device itself, by its own stack.
    Device(Rate),
    /// The same, which knows its fair share of its cells too.
    Cells(Rate, Rate),
    /// One whose options the server does not find, as where the network strips them.
    Stripped(Rate),
    /// Another host in its name.
    Forger(Forgery),
}

/// The result of a download.
struct Ran {
    flow: TcpResult,
    said: Vec<Json>,
    forged: u64,
}

impl Ran {
    fn resent(&self) -> u32 {
        self.flow.last.retransmitted_segments
    }

    /// What was sent again after so long.
    fn resent_after(&self, while_: Duration) -> u32 {
        let by = self.flow.samples.iter().take_while(|sample| sample.at - self.flow.began < while_);
        self.resent() - by.last().map_or(0, |sample| sample.info.retransmitted_segments)
    }

    /// What the daemon's last words count.
    fn count(&self, what: &str) -> u64 {
        let done = self.said.iter().find(|event| event["event"] == "done").expect("last words");
        done["peers"][what].as_u64().unwrap_or_else(|| panic!("{what}: {done}"))
    }

    fn events<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Json> {
        self.said.iter().filter(move |event| event["event"] == name)
    }

    /// Time from its first byte until nine tenths of `rate` of payload arrive.
    fn full_after(&self, rate: Rate) -> Option<Duration> {
        let samples: Vec<_> = self.flow.samples.iter().collect();
        let arrives = |pair: &[&TcpSample]| {
            (pair[2].info.acked - pair[0].info.acked).per(pair[2].at - pair[0].at)
        };
        let full = samples
            .windows(3)
            .find(|three| arrives(three).bits_per_sec() * 10 > rate.bits_per_sec() * 9);
        full.map(|three| three[2].at - self.flow.began)
    }

    /// Whether the law ever drove.
    fn obeyed(&self) -> bool {
        self.events("transition").any(|event| event["to"] == "radio-limited")
    }
}

/// A download to the device from a server that uses its peers' reports.
fn download(speaker: Speaker, lasts: Duration, flags: &[&str]) -> Ran {
    download_over(PATH, speaker, lasts, flags)
}

fn download_over(carries: Rate, speaker: Speaker, lasts: Duration, flags: &[&str]) -> Ran {
    download_beside(None, carries, speaker, lasts, flags)
}

/// The same where the daemon is in the server's network namespace, or in another one.
fn download_beside(
    netns: Option<&Netns>,
    carries: Rate,
    speaker: Speaker,
    lasts: Duration,
    flags: &[&str],
) -> Ran {
    let own = OwnCgroup::enter(&format!("sounding-pe-{}", std::process::id())).expect("a cgroup");
    let emulation = Emulation::start(path(carries)).expect("an emulation");
    let name = format!("pe{}", std::process::id() % 1_000_000);
    let folder = own.path().to_string_lossy().into_owned();
    let flags: Vec<_> = ["--cgroup", &*folder].into_iter().chain(flags.iter().copied()).collect();
    let netns = netns.unwrap_or(emulation.far());
    let daemon = Daemon::serve_in(netns, Path::new(PROGRAM), &name, &flags);
    let daemon = daemon.expect("ready");
    let device = match speaker {
        Speaker::Device(says) => Some(device(&emulation, &own, (says, None), EXID)),
        Speaker::Cells(says, fair) => Some(device(&emulation, &own, (says, Some(fair)), EXID)),
        Speaker::Stripped(says) => Some(device(&emulation, &own, (says, None), EXID + 1)),
        Speaker::Forger(_) => None,
    };
    let forger = match speaker {
        Speaker::Forger(forgery) => {
            Some(Forger::start(emulation.far(), emulation.near_address(), forgery))
        }
        _ => None,
    };
    let flow = TcpFlow {
        congestion: Some(name),
        duration: Some(lasts),
        sample_every: Duration::from_millis(20),
        ..TcpFlow::new(Direction::Downlink)
    };
    let flow = flow.start(&emulation).expect("a connection").wait().expect("a download");
    let forged = forger.as_ref().map_or(0, Forger::sent);
    drop(forger);
    let said = daemon.stop();
    if let Some(device) = device {
        device.stop(&emulation);
    }
    let report = emulation.stop().expect("a report");
    let ran = Ran { flow, said, forged };
    let _ = writeln!(
        std::io::stderr(),
        "{speaker:?} {flags:?}: {} resent, {:.2} Mbit/s, full after {:?}, {} forged, done {}, behind {}",
        ran.resent(),
        ran.flow.goodput.mbit_per_sec(),
        ran.full_after(Rate::from_bits_per_sec(carries.bits_per_sec() * 1448 / 1500)),
        ran.forged,
        ran.events("done").next().map_or(String::new(), ToString::to_string),
        report.pace.times_behind
    );
    ran
}

/// A device that reports this rate, and this fair share if it knows one.
fn device(
    emulation: &Emulation,
    own: &OwnCgroup,
    (rate, fair): (Rate, Option<Rate>),
    exid: u16,
) -> Device {
    let fair = fair.map(|rate| FairShare::new(rate, 2, 1));
    let estimate = downlink(rate).with_fair(fair);
    Device::start(emulation, own, exid, move |feed, now| {
        feed.publish_link(&estimate, now);
        feed.heartbeat(now);
    })
}

/// The most that a lie may cost: virtual time has 120 to 220 (`crates/sim/tests/liars.rs`). A lie
/// that is limited to three times the delivery rate for the whole connection costs thousands.
const FEW: u32 = 300;
/// The same under BISCAY, which pays 108. A claim that is cut no earlier than by delivery costs
/// 185.
const FEW_OF_BISCAY: u32 = 150;
/// When a lie must have been found out, and the most that one more pause of the machine may cost
/// then: a queue of the path.
const FOUND: Duration = Duration::from_secs(2);
const A_QUEUE: u32 = 120;

/// Asserts the minimum that must arrive in every case.
fn assert_arrives(ran: &Ran) {
    let goodput = ran.flow.goodput.mbit_per_sec();
    assert!(goodput > 0.8 * PATH.mbit_per_sec(), "{goodput} Mbit/s");
}

/// Asserts that a law's stock algorithm controls a flow whose options are stripped on the way.
fn assert_stock_without_option(law: &[&str]) {
    steadily(|| {
        let ran = download(Speaker::Stripped(LIE), LASTS, law);
        assert!(!ran.obeyed());
        assert_eq!(ran.events("transition").count(), 0);
        assert_arrives(&ran);
    });
}

#[test]
fn a_device_that_tells_the_truth_is_believed_from_the_start() {
    if skipped() {
        return;
    }
    for law in ["biscay", "sounding", "pbe-cc"] {
        steadily(|| {
            let ran = download(Speaker::Device(PATH), LASTS, &["--law", law]);
            assert!(ran.obeyed());
            assert_arrives(&ran);
            assert!(ran.resent() < 20, "{} resent", ran.resent());
            for count in ["segments_forged", "connections_limited", "connections_overstated"] {
                assert_eq!(ran.count(count), 0, "{count}");
            }
            assert_eq!(ran.events("disbelieved").count(), 0);
        });
    }
}

#[test]
fn a_device_whose_link_is_wide_has_it_within_ten_round_trips() {
    if skipped() {
        return;
    }
    let wide = Rate::from_bits_per_sec(200_000_000);
    steadily(|| {
        let ran = download_over(wide, Speaker::Device(wide), Duration::from_secs(3), &[]);
        assert!(ran.obeyed());
        assert!(ran.resent() < 20, "{} resent", ran.resent());
        let full = ran.full_after(Rate::from_bits_per_sec(wide.bits_per_sec() * 9 / 10));
        assert!(full.is_some_and(|full| full < Duration::from_millis(400)), "{full:?}");
        assert_eq!(ran.count("connections_overstated"), 0);
    });
}

/// Asserts that a lie to a law costs little, and that the daemon counts and names the device. The
/// truth costs nothing: `a_device_that_tells_the_truth_is_believed_from_the_start`.
fn assert_lie_costs_little(law: &str, most: u32) {
    steadily(|| {
        let lie = download(Speaker::Device(LIE), LASTS, &["--law", law]);
        let later = lie.resent_after(FOUND);
        let _ = writeln!(
            std::io::stderr(),
            "{law}: {} resent under a lie, {later} of them after {FOUND:?}",
            lie.resent(),
        );
        assert!(lie.obeyed());
        assert!(lie.resent() <= most, "{} resent", lie.resent());
        assert!(later <= A_QUEUE, "{later} resent after {FOUND:?}");
        assert_arrives(&lie);
        assert_eq!(lie.count("connections_overstated"), 1);
        assert_eq!(lie.count("segments_forged"), 0);
        assert!(lie.events("disbelieved").count() > 0);
        let named: Vec<_> = lie.events("overstated").collect();
        let [one] = named[..] else { panic!("{named:?}") };
        let claimed = one["claimed_bits_per_sec"].as_u64().expect("a number");
        assert!(claimed.abs_diff(LIE.bits_per_sec()) * 1_000 < claimed, "{claimed}");
        let delivered = one["delivered_bits_per_sec"].as_u64().expect("a number");
        assert!(delivered < 2 * PATH.bits_per_sec(), "{delivered}");
        let remote = one["remote"].as_str().expect("an address");
        assert!(remote.ends_with(&format!(":{}", lie.flow.flow.destination)), "{remote}");
    });
}

#[test]
fn a_device_that_lies_costs_the_path_little_and_is_counted_and_named() {
    if skipped() {
        return;
    }
    for (law, most) in
        [("biscay", FEW_OF_BISCAY), ("sounding", FEW_OF_BISCAY), ("pbe-cc", FEW), ("cqic", FEW)]
    {
        assert_lie_costs_little(law, most);
    }
}

#[test]
fn a_forger_in_the_devices_name_costs_the_path_as_little() {
    if skipped() {
        return;
    }
    steadily(|| {
        let ran = download(Speaker::Forger(Forgery::Nothing), LASTS, &[]);
        assert!(ran.forged > 1_000, "{} forged", ran.forged);
        assert!(ran.resent() <= FEW_OF_BISCAY, "{} resent", ran.resent());
        assert_arrives(&ran);
        assert_eq!(ran.count("connections_overstated"), 1);
    });
}

#[test]
fn an_option_of_either_version_is_read_and_what_a_later_one_has_besides_is_not() {
    if skipped() {
        return;
    }
    for (forgery, users) in
        [(Forgery::Nothing, Json::Null), (Forgery::Whole, 2.into()), (Forgery::Longer, 2.into())]
    {
        steadily(|| {
            let ran = download(Speaker::Forger(forgery), Duration::from_secs(2), &[]);
            assert!(ran.obeyed(), "{forgery:?}");
            assert_eq!(ran.count("segments_unreadable"), 0, "{forgery:?}");
            let said: Vec<_> = ran.events("peer").collect();
            let [one] = said[..] else { panic!("{said:?}") };
            assert_eq!(one["users"], users, "{forgery:?}");
            assert_eq!(one["fair_share_bits_per_sec"].is_null(), users.is_null());
            assert_eq!(one["bound"], "capacity");
        });
    }
    steadily(|| {
        let ran = download(Speaker::Forger(Forgery::NoState), Duration::from_secs(2), &[]);
        assert!(!ran.obeyed());
        let unreadable = ran.count("segments_unreadable");
        assert!(unreadable > 300, "{unreadable} of {}", ran.forged);
        assert_eq!(ran.events("peer").count(), 0);
    });
}

#[test]
fn no_device_is_believed_beyond_the_limit() {
    if skipped() {
        return;
    }
    steadily(|| {
        let flags = ["--peers-at-most", "20Mbit"];
        let ran = download(Speaker::Device(LIE), LASTS, &flags);
        assert!(ran.obeyed());
        assert!(ran.resent() < 20, "{} resent", ran.resent());
        assert_arrives(&ran);
        assert_eq!(ran.count("connections_limited"), 1);
        assert_eq!(ran.count("connections_overstated"), 0);
    });
}

/// Forges for so long in each way that TCP does not take; how many segments those were.
fn forge(lasts: Duration) -> u64 {
    let mut sent = 0;
    for (forgery, counted) in [
        (Forgery::Acknowledges(1 << 30), true),
        (Forgery::Acknowledges(-1 << 30), true),
        (Forgery::NoStamp, true),
        // The kernel drops these before programs see options.
        (Forgery::Sequence(1 << 30), false),
        (Forgery::Stamp(-100_000), false),
        (Forgery::Syn, false),
    ] {
        steadily(|| {
            let ran = download(Speaker::Forger(forgery), lasts, &[]);
            assert!(ran.forged > 300, "{forgery:?}: {} forged", ran.forged);
            assert!(!ran.obeyed(), "{forgery:?} is obeyed");
            assert_eq!(ran.events("transition").count(), 0, "{forgery:?}");
            let dropped = ran.count("segments_forged");
            assert_eq!(dropped > 300, counted, "{forgery:?}: {dropped} counted");
            assert_eq!(ran.count("connections_overstated"), 0);
            FORGED.store(ran.forged, Ordering::Relaxed);
        });
        sent += FORGED.load(Ordering::Relaxed);
    }
    sent
}

/// Of the last download: a test that is repeated returns nothing.
static FORGED: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_segment_that_tcp_does_not_take_says_nothing() {
    if !skipped() {
        forge(Duration::from_secs(2));
    }
}

mod long {
    use super::*;

    #[test]
    #[ignore = "minutes"]
    fn none_of_seventeen_thousand_forged_segments_is_believed() {
        let mut sent = 0;
        while !skipped() && sent < 17_631 {
            sent += forge(Duration::from_secs(10));
        }
    }
}

#[test]
fn a_server_in_a_container_has_the_law_and_changes_no_figure_of_the_daemon() {
    if skipped() {
        return;
    }
    for (speaker, most) in [
        (Speaker::Device(PATH), 20),
        (Speaker::Device(LIE), FEW),
        (Speaker::Forger(Forgery::Acknowledges(1 << 30)), FEW),
    ] {
        steadily(|| {
            let host = Netns::new().expect("a namespace");
            let ran =
                download_beside(Some(&host), PATH, speaker, LASTS, &["--peers-at-most", "900Mbit"]);
            assert!(ran.resent() < most, "{speaker:?}: {} resent", ran.resent());
            assert_arrives(&ran);
            for count in [
                "segments_forged",
                "segments_unreadable",
                "connections_limited",
                "connections_overstated",
            ] {
                assert_eq!(ran.count(count), 0, "{speaker:?}: {count}");
            }
            for event in ["peer", "overstated", "disbelieved", "transition"] {
                assert_eq!(ran.events(event).count(), 0, "{speaker:?}: {event}");
            }
        });
    }
}
