//! Something breaks while a flow runs: it goes on as plain Copa, and comes back by itself.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sounding_bpf::{CopaFlow, CopaFlows};
use sounding_emu::{Config, Direction, Emulation};
use sounding_host::monotonic_now;
use sounding_modem::{Pty, Replay, ReplaySchedule};
use sounding_sim::PathConfig;
use sounding_testbed::daemon::Daemon;
use sounding_testbed::flow::{RunningTcp, TcpFlow};
use sounding_testbed::radio::RadioLink;
use sounding_testdata::steadily;
use sounding_trace::{Steps, Trace};
use sounding_units::{HostInstant, ModemInstant, Rate};

use crate::rig::{PROGRAM, skipped, sleep, state, wait_for};

/// One way; twice that is the RTT without a queue.
const DELAY: Duration = Duration::from_millis(20);
/// A tenth of a second, the flow's next acknowledgement, and this test's own look.
const SOON: Duration = Duration::from_millis(140);
const HOUR: Duration = Duration::from_secs(3_600);
/// Records of so long are there in each replay.
const RECORDED: Duration = Duration::from_secs(12);

/// A radio of 12 Mbit/s, its modem on a pty, the daemon and an upload.
struct Drill {
    link: RadioLink,
    _folder: tempfile::TempDir,
    tty: PathBuf,
    pty: Option<Pty>,
    daemon: Option<Daemon>,
    flows: CopaFlows,
    emulation: Emulation,
    upload: RunningTcp,
    /// Where the modem's clock is.
    clock: ModemInstant,
}

impl Drill {
    fn start(name: &str, flags: &[&str]) -> Self {
        let every_millisecond = Trace::from_millis((1..=1000).collect()).unwrap();
        let link = RadioLink::of_trace("steady", every_millisecond, RECORDED);
        let folder = tempfile::tempdir().unwrap();
        let tty = folder.path().join("modem");
        let pty = Pty::create(Some(&tty)).unwrap();
        let up = PathConfig { delay: DELAY, ..PathConfig::new(link.offered.clone()) };
        let wide = Steps::constant(Rate::from_bits_per_sec(100_000_000));
        let down = PathConfig { delay: DELAY, ..PathConfig::new(wide) };
        let emulation = Emulation::start(Config::new(up, down)).unwrap();
        let name = format!("{name}_{}", std::process::id() % 1_000_000);
        let flags: Vec<&str> = ["--copa", "--no-mask"].iter().chain(flags).copied().collect();
        let daemon =
            Daemon::start_in(emulation.near(), PROGRAM.as_ref(), &tty, &name, &flags).unwrap();
        let flows = CopaFlows::of(daemon.id()).unwrap();
        let upload = TcpFlow { congestion: Some(name), ..TcpFlow::new(Direction::Uplink) };
        let upload = upload.start(&emulation).unwrap();
        let clock = link.begin;
        let daemon = Some(daemon);
        Self { link, _folder: folder, tty, pty: Some(pty), daemon, flows, emulation, upload, clock }
    }

    fn state(&self) -> CopaFlow {
        state(&self.flows, &self.upload).unwrap()
    }

    /// The modem's records from where its clock is, while `during` runs.
    fn with_records(&mut self, during: impl FnOnce(&Self)) {
        let (begin, began) = (self.clock, monotonic_now());
        // Every byte that IP has in a block, so that the rate is the link's.
        let records = sounding_modem::uplink_capture(&self.link.bytes_per_ms(), begin, 1_000);
        let schedule = ReplaySchedule::since(&records, begin);
        let pty = self.pty.take().expect("the modem is plugged in");
        let mut replay = Replay::new(&records, schedule, pty, 1.0);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let modem = scope.spawn(|| replay.run(began, &stop, |_| {}).unwrap());
            during(self);
            stop.store(true, Ordering::Relaxed);
            modem.join().unwrap();
        });
        self.pty = Some(replay.into_pty());
        self.clock = begin + (monotonic_now() - began);
    }

    fn runs_corrected(&mut self) {
        self.with_records(Self::wait_for_corrections);
    }

    /// Two seconds of these bytes, while `during` runs.
    fn with_noise(&mut self, noise: &[u8], during: impl FnOnce(&Self)) {
        let began = monotonic_now();
        let mut pty = self.pty.take().expect("the modem is plugged in");
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..40 {
                    assert_eq!(pty.write(noise, SOON).unwrap(), noise.len());
                    sleep(Duration::from_millis(50));
                }
            });
            during(self);
        });
        self.pty = Some(pty);
        self.clock = self.clock + (monotonic_now() - began);
    }

    fn unplug(&mut self) {
        self.pty = None;
    }

    fn plug(&mut self) {
        let pty = Pty::create(Some(&self.tty)).unwrap();
        wait_for("the daemon at the port", || pty.has_reader().then_some(()));
        self.pty = Some(pty);
    }

    fn wait_for_corrections(&self) {
        let before = self.state().corrections;
        wait_for("corrected RTTs", || {
            let seen = self.state();
            (seen.corrected_by.is_some() && seen.corrections > before + 100).then_some(())
        });
    }

    /// RTTs are as they are a tenth of a second after this moment, and the path's own is not
    /// forgotten.
    fn expects_stock_since(&self, trouble: HostInstant) {
        let seen = wait_for("RTTs as they are", || {
            Some(self.state()).filter(|seen| seen.corrected_by.is_none())
        });
        let took = monotonic_now() - trouble;
        assert!(took < SOON, "{took:?}");
        self.expects_path();
        assert!(seen.cwnd >= 2, "{seen:?}");
        self.expects_progress();
    }

    /// No RTT that Copa remembers is below the path's.
    fn expects_path(&self) {
        let seen = self.state();
        assert!(seen.least_measured >= Some(DELAY * 2), "{seen:?}");
        assert!(seen.least >= Some(DELAY * 2), "{seen:?}");
    }

    fn expects_progress(&self) {
        let before = self.state().acks;
        sleep(Duration::from_millis(300));
        assert!(self.state().acks > before + 20, "{:?} after {before}", self.state());
    }

    fn end(mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.stop();
        }
        self.upload.abort().unwrap();
        self.emulation.stop().unwrap();
    }
}

fn drill(name: &str, run: impl Fn(Drill)) {
    if !skipped() {
        steadily(|| run(Drill::start(name, &[])));
    }
}

#[test]
fn a_modem_that_falls_silent_leaves_plain_copa_and_comes_back() {
    drill("ds", |mut drill| {
        drill.runs_corrected();
        drill.expects_stock_since(monotonic_now());
        drill.runs_corrected();
        drill.expects_path();
        drill.end();
    });
}

#[test]
fn a_modem_that_is_unplugged_leaves_plain_copa_and_comes_back() {
    drill("du", |mut drill| {
        drill.runs_corrected();
        let unplugged = monotonic_now();
        drill.unplug();
        drill.expects_stock_since(unplugged);
        // It rebooted.
        drill.clock = drill.link.begin;
        drill.plug();
        drill.runs_corrected();
        drill.expects_path();
        drill.end();
    });
}

/// Records with wrong checksums, and bytes that are of no record.
fn noise(from: ModemInstant) -> Vec<u8> {
    let mut noise = sounding_modem::uplink_capture(&[1_500; 50], from, 1_000);
    for end in 1..noise.len() {
        if noise[end] == 0x7E {
            noise[end - 1] ^= 1;
        }
    }
    noise.extend((0..1_000_u32).map(|nth| (nth.wrapping_mul(0x9E37_79B1) >> 24) as u8));
    noise
}

#[test]
fn noise_instead_of_records_is_no_record() {
    drill("dn", |mut drill| {
        let noise = noise(drill.clock);
        drill.runs_corrected();
        let began = monotonic_now();
        drill.with_noise(&noise, |drill| {
            drill.expects_stock_since(began);
            sleep(Duration::from_secs(1));
            assert!(drill.state().corrected_by.is_none());
            drill.expects_progress();
        });
        drill.runs_corrected();
        drill.expects_path();
        drill.end();
    });
}

#[test]
fn a_clock_of_the_modem_that_steps_costs_no_path_and_is_learnt_again() {
    drill("dc", |mut drill| {
        drill.runs_corrected();
        let begin = drill.clock;
        for clock in [begin + HOUR, begin, begin + Duration::from_millis(300)] {
            drill.clock = clock;
            drill.with_records(|drill| {
                for _ in 0..10 {
                    sleep(Duration::from_millis(50));
                    drill.expects_path();
                }
                drill.wait_for_corrections();
                drill.expects_progress();
            });
            drill.expects_path();
        }
        drill.end();
    });
}

#[test]
fn a_daemon_that_is_killed_leaves_plain_copa() {
    drill("dk", |mut drill| {
        let daemon = drill.daemon.take().unwrap();
        drill.with_records(|drill| {
            drill.wait_for_corrections();
            let killed = monotonic_now();
            daemon.kill();
            drill.expects_stock_since(killed);
        });
        drill.end();
    });
}

fn sysctl(emulation: &Emulation, name: &str) -> String {
    let path = format!("/proc/sys/net/ipv4/{name}");
    let text = emulation.near().enter(|| std::fs::read_to_string(&path).unwrap()).unwrap();
    text.trim().to_owned()
}

/// The namespace's algorithm is as before, the name is gone, and the flow goes on.
fn restores(name: &str, end: impl Fn(Daemon)) {
    if skipped() {
        return;
    }
    steadily(|| {
        let mut drill = Drill::start(name, &["--default"]);
        let daemon = drill.daemon.take().unwrap();
        let ours = format!("{name}_{}", std::process::id() % 1_000_000);
        assert_eq!(sysctl(&drill.emulation, "tcp_congestion_control"), ours);
        drill.runs_corrected();
        end(daemon);
        wait_for("the old default", || {
            (sysctl(&drill.emulation, "tcp_congestion_control") != ours).then_some(())
        });
        wait_for("the end of its name", || {
            let known = sysctl(&drill.emulation, "tcp_available_congestion_control");
            (!known.split_whitespace().any(|name| name == ours)).then_some(())
        });
        drill.expects_progress();
        drill.end();
    });
}

#[test]
fn a_daemon_that_stops_restores_the_machine_and_its_flow_goes_on() {
    restores("de", |daemon| {
        daemon.stop();
    });
}

#[test]
fn a_daemon_that_is_killed_leaves_a_machine_as_before() {
    restores("dg", |daemon| {
        daemon.kill();
    });
}
