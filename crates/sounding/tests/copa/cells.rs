//! Downloads over a modelled cell: from the bytes of the device's modem to the server's Copa, with
//! a daemon at each end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sounding_bpf::{CopaFlow, CopaFlows, OwnCgroup};
use sounding_emu::Direction;
use sounding_experiment::plan::Text;
use sounding_host::monotonic_now;
use sounding_laws::copa_gandalf::CorrectedBy;
use sounding_link::RadioDelay;
use sounding_testbed::daemon::Daemon;
use sounding_testbed::emulate::{Emulated, Settings};
use sounding_testbed::flow::{RunningTcp, TcpFlow};
use sounding_testdata::steadily;

use crate::downloads::is_missing;
use crate::rig::{PROGRAM, sleep, socket, state, wait_for};

/// A phone whose modem has a clock of its own, and a server 15 ms away (papers/gandalf).
const PLAN: &str = include_str!("../../../../papers/gandalf/table1.toml");
const WATCHED: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// A tenth of a second, the device's own silence, the way of the last option with a queue, and this
/// test's own look.
const SOON: Duration = Duration::from_millis(250);

/// One block in ten comes twice, in each direction, and a byte waits 5 ms for its report.
const ROUGH: &[&str] = &[
    "cell.devices.phone.adapt_downlink.target_error_rate=0.1",
    "cell.devices.phone.adapt_uplink.target_error_rate=0.1",
];
/// Next to none comes twice, and a byte is reported at once.
const CALM: &[&str] = &[
    "cell.devices.phone.adapt_downlink.target_error_rate=0.001",
    "cell.devices.phone.adapt_uplink.target_error_rate=0.001",
    "cell.devices.phone.scheduling={ sr_period = \"1ms\", periodic_bsr = \"1ms\", answer = \"1ms\", double_grant = 0.0 }",
];

/// A cell, a download over it, and the daemons.
struct Road {
    download: RunningTcp,
    device: Option<Daemon>,
    server: Daemon,
    flows: CopaFlows,
    cell: Emulated,
    _own: OwnCgroup,
}

impl Road {
    /// Without a device the phone has no daemon.
    fn start(name: &str, sets: &[&str], has_device: bool) -> Self {
        let mut text = Text::new("a download", PLAN, PathBuf::new());
        let more = ["cell.carriers=[{ prb = 50 }]", "duration=60s", "seeds=7"];
        for set in more.iter().chain(sets).chain(&["flows.flow.controller=cubic"]) {
            text.set(set).unwrap();
        }
        let own = OwnCgroup::enter(&format!("sounding-{name}-{}", std::process::id())).unwrap();
        let settings = Settings::flows(PROGRAM);
        let cell = Emulated::start(&text.runs().unwrap()[0], &settings).unwrap();
        let folder = own.path().to_string_lossy().into_owned();
        let named = |end: &str| format!("{name}{end}_{}", std::process::id() % 1_000_000);
        let (program, emulation) = (PROGRAM.as_ref(), cell.emulation());
        let hears = ["--copa", "--cgroup", &folder];
        let server = Daemon::serve_in(emulation.far(), program, &named("s"), &hears).unwrap();
        let flows = CopaFlows::of(server.id()).unwrap();
        let device = has_device.then(|| {
            let port = Path::new(&cell.modems()[0].source);
            let says = ["--downlink", "option", "--cgroup", &folder];
            Daemon::start_in(emulation.near(), program, port, &named("d"), &says).unwrap()
        });
        let flow = TcpFlow { congestion: Some(named("s")), ..TcpFlow::new(Direction::Downlink) };
        let download = flow.start(emulation).unwrap();
        Self { download, device, server, flows, cell, _own: own }
    }

    fn state(&self) -> CopaFlow {
        state(&self.flows, &self.download).unwrap()
    }

    fn end(self) {
        self.download.abort().unwrap();
        drop(self.device);
        self.server.stop();
        self.cell.stop().unwrap();
    }
}

/// What the device usually said to its server, ms.
#[derive(Debug)]
struct Said {
    retransmitted: f64,
    wait_longer: f64,
}

/// The median: one repeat of RLC holds acknowledgements for up to 200 ms, in a calm cell too, and
/// would decide a mean of some seconds.
fn usual(said: &[RadioDelay], of: fn(&RadioDelay) -> Option<Duration>) -> f64 {
    let mut known: Vec<Duration> = said.iter().filter_map(of).collect();
    assert!(known.len() * 2 > said.len(), "{} of {}", known.len(), said.len());
    known.sort_unstable();
    known[known.len() / 2].as_secs_f64() * 1e3
}

/// A corrected download for some seconds.
fn watch(name: &str, sets: &[&str]) -> Said {
    let road = Road::start(name, sets, true);
    wait_for("a corrected download", || {
        let seen = state(&road.flows, &road.download)?;
        (seen.corrected_by == Some(CorrectedBy::Peer) && seen.acks > 100).then_some(())
    });
    let (mut said, mut corrected) = (Vec::new(), 0);
    let looks = (WATCHED.as_millis() / LOOK.as_millis()) as usize;
    for _ in 0..looks {
        sleep(LOOK);
        let seen = road.state();
        corrected += usize::from(seen.corrected_by == Some(CorrectedBy::Peer));
        said.extend(road.flows.said(socket(&road.download)));
        assert!(!seen.is_doubted, "{seen:?}");
    }
    let seen = road.state();
    road.end();
    println!("{sets:?}: corrected in {corrected} of {looks} looks, {seen:?}");
    assert!(corrected * 4 > looks * 3, "{corrected} of {looks}");
    Said {
        retransmitted: usual(&said, |said| said.retransmitted),
        wait_longer: usual(&said, |said| said.wait_longer),
    }
}

#[test]
fn what_a_modem_records_of_its_radio_reaches_the_server_of_a_download() {
    if is_missing() {
        return;
    }
    steadily(|| {
        let [rough, calm] = [("cr", ROUGH), ("cq", CALM)].map(|(name, sets)| watch(name, sets));
        println!("{rough:?} and {calm:?}");
        // A block of LTE comes again after 8 ms, and holds what follows for 4 ms on average. Most
        // spans of 200 ms have one. The device says it in steps of 0.25 ms.
        assert!((0.25..8.0).contains(&rough.retransmitted), "{rough:?}");
        assert!(calm.retransmitted < rough.retransmitted / 4.0, "{rough:?} and {calm:?}");
        // A usual wait over the shortest of five seconds: that is 3 to 6 ms in both, as
        // acknowledgements come in bursts.
        let waits = [rough.wait_longer, calm.wait_longer];
        assert!(waits.iter().all(|wait| (0.25..10.0).contains(wait)), "{rough:?} and {calm:?}");
    });
}

#[test]
fn a_device_whose_daemon_is_killed_leaves_plain_copa() {
    if is_missing() {
        return;
    }
    steadily(|| {
        let mut road = Road::start("ck", ROUGH, true);
        wait_for("a corrected download", || {
            let seen = state(&road.flows, &road.download)?;
            (seen.corrected_by == Some(CorrectedBy::Peer) && seen.acks > 100).then_some(())
        });
        let killed = monotonic_now();
        road.device.take().unwrap().kill();
        let seen = wait_for("RTTs as they are", || {
            Some(road.state()).filter(|seen| seen.corrected_by.is_none())
        });
        let took = monotonic_now() - killed;
        assert!(took < SOON, "{took:?}");
        assert!(seen.least >= seen.least_measured, "{seen:?}");
        sleep(Duration::from_millis(300));
        assert!(road.state().acks > seen.acks + 20, "{seen:?} and {:?}", road.state());
        road.end();
    });
}

#[test]
fn a_phone_without_a_daemon_has_plain_copa() {
    if is_missing() {
        return;
    }
    steadily(|| {
        let road = Road::start("cw", ROUGH, false);
        wait_for("acknowledgements", || (road.state().acks > 300).then_some(()));
        assert_eq!((road.state().switches, road.state().corrected_by), (0, None));
        assert_eq!(road.flows.said(socket(&road.download)), None);
        road.end();
    });
}
