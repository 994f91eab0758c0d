//! Downloads from a server whose Copa takes what a device says of its radio.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sounding_bpf::{CopaFlow, CopaFlows, EXID, OwnCgroup, downlink_preflight};
use sounding_emu::{Config, Direction, Emulation};
use sounding_host::monotonic_now;
use sounding_laws::copa_gandalf::CorrectedBy;
use sounding_link::RadioDelay;
use sounding_sim::{PathConfig, QueueLimit};
use sounding_testbed::daemon::Daemon;
use sounding_testbed::flow::{RunningTcp, TcpFlow, TcpResult};
use sounding_testdata::steadily;
use sounding_trace::Steps;
use sounding_units::Rate;

use crate::device::{Device, downlink};
use crate::rig::{PROGRAM, skipped, sleep, state, wait_for};

/// One way; twice that is the RTT without a queue.
const DELAY: Duration = Duration::from_millis(20);
const PATH: Rate = Rate::from_bits_per_sec(20_000_000);
/// A tenth of a second, the device's own silence, the way of the last option, and this test's own
/// look.
const SOON: Duration = Duration::from_millis(160);
const SAYS: RadioDelay = RadioDelay {
    retransmitted: Some(Duration::from_millis(2)),
    wait_longer: Some(Duration::from_millis(4)),
};
const LIE: RadioDelay =
    RadioDelay { retransmitted: Some(Duration::MAX), wait_longer: Some(Duration::MAX) };

pub(crate) fn is_missing() -> bool {
    skipped() || {
        let missing = downlink_preflight().into_iter().find(|check| !check.ok);
        if let Some(check) = &missing {
            let why = format_args!("{}: {}", check.name, check.detail);
            sounding_testdata::skip(sounding_testdata::Need::Kernel, why);
        }
        missing.is_some()
    }
}

/// What the device's daemon does.
#[derive(Debug)]
struct Says {
    /// It lives.
    beats: AtomicBool,
    /// Its modem sends records.
    hears: AtomicBool,
}

/// A device, a server and a download.
struct Drill {
    says: Arc<Says>,
    device: Device,
    daemon: Daemon,
    flows: CopaFlows,
    download: RunningTcp,
    emulation: Emulation,
    _own: OwnCgroup,
}

impl Drill {
    fn start(name: &str, delay: RadioDelay, lasts: Option<Duration>) -> Self {
        let own = OwnCgroup::enter(&format!("sounding-{name}-{}", std::process::id())).unwrap();
        let queue = QueueLimit::bytes(PATH * (5 * DELAY));
        let down = PathConfig { delay: DELAY, queue, ..PathConfig::new(Steps::constant(PATH)) };
        let wide = Steps::constant(Rate::from_bits_per_sec(100_000_000));
        let up = PathConfig { delay: DELAY, ..PathConfig::new(wide) };
        let emulation = Emulation::start(Config::new(up, down)).unwrap();
        let name = format!("{name}_{}", std::process::id() % 1_000_000);
        let folder = own.path().to_string_lossy().into_owned();
        let flags = ["--copa", "--cgroup", &folder];
        let daemon = Daemon::serve_in(emulation.far(), PROGRAM.as_ref(), &name, &flags).unwrap();
        let flows = CopaFlows::of(daemon.id()).unwrap();
        let says = Arc::new(Says { beats: AtomicBool::new(true), hears: AtomicBool::new(true) });
        let told = Arc::clone(&says);
        let device = Device::start(&emulation, &own, EXID, move |feed, now| {
            if told.beats.load(Ordering::Relaxed) {
                feed.publish_link(&downlink(PATH), now);
                feed.heartbeat(now);
                if told.hears.load(Ordering::Relaxed) {
                    feed.publish_delay(delay, now);
                }
            }
        });
        let download = TcpFlow {
            congestion: Some(name),
            duration: lasts,
            sample_every: Duration::from_millis(20),
            ..TcpFlow::new(Direction::Downlink)
        };
        let download = download.start(&emulation).unwrap();
        Self { says, device, daemon, flows, download, emulation, _own: own }
    }

    fn state(&self) -> CopaFlow {
        state(&self.flows, &self.download).unwrap()
    }

    fn wait_for(&self, what: &str, by: Option<CorrectedBy>) -> CopaFlow {
        wait_for(what, || {
            state(&self.flows, &self.download)
                .filter(|seen| seen.corrected_by == by && seen.acks > 100)
        })
    }

    fn expects_stock_after(&self, trouble: impl FnOnce(&Says)) {
        let began = monotonic_now();
        trouble(&self.says);
        let seen = self.wait_for("RTTs as they are", None);
        let took = monotonic_now() - began;
        assert!(took < SOON, "{took:?}");
        assert!(seen.least >= Some(2 * DELAY), "{seen:?}");
        let acks = self.state().acks;
        sleep(Duration::from_millis(300));
        assert!(self.state().acks > acks + 20, "{:?}", self.state());
    }

    fn end(self, is_over: bool) -> Option<TcpResult> {
        let Self { device, daemon, download, emulation, .. } = self;
        let result = if is_over {
            Some(download.wait().unwrap())
        } else {
            download.abort().unwrap();
            None
        };
        device.stop(&emulation);
        daemon.stop();
        emulation.stop().unwrap();
        result
    }
}

#[test]
fn a_device_that_reports_its_radios_delays_gets_a_corrected_download() {
    if is_missing() {
        return;
    }
    steadily(|| {
        let drill = Drill::start("cs", SAYS, None);
        drill.wait_for("a corrected download", Some(CorrectedBy::Peer));
        sleep(Duration::from_millis(500));
        let seen = drill.state();
        // A usual wait is the path's, and retransmissions are no queue.
        let measured = seen.least_measured.unwrap();
        assert!(measured >= 2 * DELAY && seen.least >= Some(measured), "{seen:?}");
        assert!(seen.least <= Some(measured * 9 / 8), "{seen:?}");
        drill.expects_stock_after(|says| says.hears.store(false, Ordering::Relaxed));
        drill.says.hears.store(true, Ordering::Relaxed);
        drill.wait_for("a corrected download again", Some(CorrectedBy::Peer));
        drill.expects_stock_after(|says| says.beats.store(false, Ordering::Relaxed));
        drill.end(false);
    });
}

#[test]
fn a_device_that_says_nothing_of_its_radio_is_served_by_plain_copa() {
    if is_missing() {
        return;
    }
    steadily(|| {
        let drill = Drill::start("cn", RadioDelay::default(), None);
        let seen = drill.wait_for("a download", None);
        sleep(Duration::from_millis(500));
        assert_eq!((seen.switches, drill.state().switches), (0, 0));
        drill.end(false);
    });
}

/// The mean RTT of a download of twelve seconds, from the second one on.
fn mean_rtt(delay: RadioDelay) -> Duration {
    let drill = Drill::start("cl", delay, Some(Duration::from_secs(12)));
    let flow = drill.end(true).unwrap();
    let from = flow.began + Duration::from_secs(2);
    let late = flow.samples.iter().filter(|sample| sample.at >= from);
    let rtts: Vec<_> = late.map(|sample| sample.info.rtt).collect();
    println!("{delay:?}: {:.2} Mbit/s", flow.goodput.mbit_per_sec());
    rtts.iter().sum::<Duration>() / u32::try_from(rtts.len()).unwrap().max(1)
}

#[test]
fn a_device_that_lies_has_a_queue_of_a_quarter_of_its_rtt_at_most() {
    if is_missing() {
        return;
    }
    steadily(|| {
        let [honest, lie] = [RadioDelay::default(), LIE].map(mean_rtt);
        println!("{honest:?} and {lie:?}");
        assert!(lie <= honest + 2 * DELAY / 4, "{honest:?} and {lie:?}");
    });
}
