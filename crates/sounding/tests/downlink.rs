//! A download to a phone in a modelled cell whose daemon limits the sender to what the downlink
//! carries. Needs root; elsewhere it reports a skip.

use std::io::Write as _;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_bpf::OwnCgroup;
use sounding_emu::{Direction, monotonic_now};
use sounding_lab::kernel::downlink::{Plan, Row, Signalling, run};
use sounding_laws::Law;
use sounding_testbed::download::{Channel, Scene};
use sounding_testbed::flow::{RunningTcp, TcpFlow, TcpInfo};
use sounding_testdata::{may_emulate, steadily};
use sounding_units::{HostInstant, Rate};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

fn skipped() -> bool {
    let kernel = sounding_bpf::preflight("biscay_dl").into_iter();
    let missing = kernel.chain(sounding_bpf::downlink_preflight()).find(|check| !check.ok);
    if let Some(check) = &missing {
        sounding_testdata::skip(
            sounding_testdata::Need::Kernel,
            format_args!("{}: {}", check.name, check.detail),
        );
    }
    missing.is_some() || !may_emulate()
}

#[test]
fn a_stock_sender_is_limited_to_the_radios_rate_and_one_with_the_option_is_not() {
    if skipped() {
        return;
    }
    steadily(|| {
        let plan = Plan {
            duration: Duration::from_secs(8),
            channels: vec![Channel::Fading],
            seeds: 1,
            ways: vec![Signalling::Unclamped, Signalling::Clamped, Signalling::Option],
            program: PROGRAM.into(),
        };
        let result = run(&plan, |_| {}).expect("three downloads");
        let _ = write!(std::io::stderr(), "{result}");
        let of = |way: Signalling| result.rows.iter().find(|row| row.way == way).expect("a row");
        let (free, held, told) =
            (of(Signalling::Unclamped), of(Signalling::Clamped), of(Signalling::Option));
        let throughput = |row: &Row| row.throughput_mbit_per_sec / free.throughput_mbit_per_sec;
        let queueing = |row: &Row| row.queueing_ms.p95 / free.queueing_ms.p95;
        // Bounds for a machine that is busy with something else; the table has the figures.
        assert!(throughput(held) > 0.8, "{}", throughput(held));
        assert!(queueing(held) < 0.5, "{}", queueing(held));
        assert!(throughput(told) > 0.8, "{}", throughput(told));
        assert!(queueing(told) < 0.5, "{}", queueing(told));
        // The window limits the one, and not the other.
        assert!(held.window_limited_percent > 50.0, "{}", held.window_limited_percent);
        assert!(told.window_limited_percent < 10.0, "{}", told.window_limited_percent);
        assert!(told.fallback_percent < Some(50.0), "{:?}", told.fallback_percent);
    });
}

/// A download over a still channel under a law beside one under its stock algorithm: throughput
/// over the stock one's, the mean queue of both in ms, and fallback in percent. Of a still
/// channel's queue the 95th percentile is one late wake-up of a busy machine; the mean is
/// all of it.
fn beside_stock(stock: Signalling, law: Signalling) -> (f64, [f64; 2], Option<f64>) {
    let plan = Plan {
        duration: Duration::from_secs(8),
        channels: vec![Channel::Still],
        seeds: 1,
        ways: vec![stock, law],
        program: PROGRAM.into(),
    };
    let result = run(&plan, |_| {}).expect("two downloads");
    let _ = write!(std::io::stderr(), "{result}");
    let [stock, law] = &result.rows[..] else { panic!("{result}") };
    (
        law.throughput_mbit_per_sec / stock.throughput_mbit_per_sec,
        [stock.queueing_ms.mean, law.queueing_ms.mean],
        law.fallback_percent,
    )
}

#[test]
fn pbe_cc_in_this_kernel_holds_the_radios_rate_with_less_queue_than_bbr() {
    if skipped() {
        return;
    }
    steadily(|| {
        let (throughput, [bbr, queueing], fallback) =
            beside_stock(Signalling::Bbr, Signalling::PbeCc);
        assert!(throughput > 0.85, "{throughput}");
        // In 8 s BBR's queue is between 15 and 60 ms: it depends on when it last drained it.
        assert!(queueing < bbr && queueing < 20.0, "{queueing}, BBR {bbr}");
        assert!(fallback < Some(5.0), "{fallback:?}");
    });
}

#[test]
fn cqic_in_this_kernel_holds_the_radios_rate_with_less_queue_than_cubic() {
    if skipped() {
        return;
    }
    steadily(|| {
        let (throughput, [stock, queueing], fallback) =
            beside_stock(Signalling::Unclamped, Signalling::Cqic);
        assert!(throughput > 0.85, "{throughput}");
        // Its window has room for a path's worth of queue, which a share that grows until there is
        // a queue uses.
        assert!(queueing < 0.5 * stock, "{queueing}, CUBIC {stock}");
        assert!(fallback < Some(5.0), "{fallback:?}");
    });
}

/// Runs `test` in a separate scene.
fn in_scene(test: impl Fn(&Scene<'_>)) {
    if skipped() {
        return;
    }
    steadily(|| {
        let name = format!("sounding-dl-{}", std::process::id());
        let own = OwnCgroup::enter(&name).expect("a cgroup");
        let scene = Scene::start(Path::new(PROGRAM), Channel::Fading, 1, &own).expect("a scene");
        test(&scene);
        scene.stop().expect("it ends in good order");
    });
}

fn download(scene: &Scene<'_>) -> RunningTcp {
    let flow = TcpFlow { congestion: Some("cubic".into()), ..TcpFlow::new(Direction::Downlink) };
    flow.start(scene.emulation()).expect("a connection")
}

/// The window that the receiver advertised last, as the sender has it.
fn advertised(flow: &RunningTcp) -> u64 {
    // SAFETY: the socket is open until the transfer is waited for.
    let sender = unsafe { BorrowedFd::borrow_raw(flow.sender_socket()) };
    TcpInfo::of(sender).expect("it is a TCP socket").peer_window.count()
}

/// More than the cell carries in a round trip and the slack, less than a kernel tunes a download's
/// window to.
const BETWEEN: u64 = 300_000;

/// Waits until the sender's window is as it should be, for ten seconds at most; how long it took.
fn until(what: &str, flow: &RunningTcp, is_so: impl Fn(u64) -> bool) -> Duration {
    const LOOK: Duration = Duration::from_millis(5);
    for look in 0..2_000 {
        if is_so(advertised(flow)) {
            return LOOK * look;
        }
        std::thread::sleep(LOOK);
    }
    panic!("{what}: it is {} bytes", advertised(flow));
}

#[test]
fn a_download_in_mid_life_is_taken_on_and_one_whose_daemon_stands_still_is_let_go() {
    in_scene(|scene| {
        let flow = download(scene);
        until("the kernel's own window", &flow, |window| window > BETWEEN);
        let daemon = scene.start_on_device("window").expect("a daemon");
        until("held", &flow, |window| window < BETWEEN);
        let daemon_id = Pid::from_raw(daemon.id() as i32);
        kill(daemon_id, Signal::SIGSTOP).expect("it stands still");
        until("let go", &flow, |window| window > BETWEEN);
        kill(daemon_id, Signal::SIGCONT).expect("it goes on");
        until("held again", &flow, |window| window < BETWEEN);
        daemon.stop();
        until("let go at the end", &flow, |window| window > BETWEEN);
        flow.stop().expect("the flow ends in good order");
    });
}

#[test]
fn a_killed_daemon_lets_downloads_go_and_leaves_nothing_in_the_kernel() {
    in_scene(|scene| {
        let flow = download(scene);
        let daemon = scene.start_on_device("window").expect("a daemon");
        until("held", &flow, |window| window < BETWEEN && window > 0);
        assert!(scene.pins().join("downlink").exists());
        daemon.kill();
        until("let go", &flow, |window| window > BETWEEN);
        let gone = (0..1_000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            !scene.pins().exists()
        });
        assert!(gone, "{} is left behind", scene.pins().display());
        flow.stop().expect("the flow ends in good order");
    });
}

/// The changes of phase that a server's daemon reported, from a moment on, and how long after it
/// they were.
fn changes(said: &[Json], from: HostInstant) -> Vec<(Duration, String)> {
    let changes = said.iter().filter(|event| event["event"] == "transition");
    let changes = changes.filter_map(|event| {
        let at = HostInstant::from_nanos(event["at_ns"].as_u64()?);
        (at >= from).then_some((at - from, event["to"].as_str()?.to_owned()))
    });
    changes.collect()
}

/// What became of a flow whose reporter was killed, and whose next one came a while after.
struct Deserted {
    /// From the death on.
    after: Vec<(Duration, String)>,
    /// From the next reporter's start on.
    again: Vec<(Duration, String)>,
    goodput: Rate,
}

impl Deserted {
    /// How long after the death the stock algorithm had the flow.
    fn fell(&self) -> Duration {
        self.after.iter().find(|(_, to)| to == "no-estimate").expect("a fall").0
    }

    fn came_back_to(&self, phases: &[&str]) -> bool {
        self.again.iter().any(|(_, to)| phases.contains(&to.as_str()))
    }
}

fn desert(scene: &Scene<'_>, law: Law, alone: Duration) -> Deserted {
    let (name, server) = scene.start_on_server(law).expect("a server");
    let device = scene.start_reporter(law, &[]).expect("a daemon");
    let flow = TcpFlow { congestion: Some(name), ..TcpFlow::new(Direction::Downlink) };
    let flow = flow.start(scene.emulation()).expect("a connection");
    std::thread::sleep(Duration::from_secs(2));
    let died = monotonic_now();
    device.kill();
    std::thread::sleep(alone);
    let began = monotonic_now();
    let device = scene.start_reporter(law, &[]).expect("another daemon");
    std::thread::sleep(Duration::from_secs(2));
    let ended = flow.stop().expect("the flow ends in good order");
    drop(device);
    let said = server.stop();
    let (after, again) = (changes(&said, died), changes(&said, began));
    let _ = writeln!(std::io::stderr(), "after its death: {after:?}; with the next: {again:?}");
    Deserted { after, again, goodput: ended.goodput }
}

#[test]
fn pbe_cc_leaves_the_flow_to_bbr_within_100_ms_of_its_reporters_death() {
    in_scene(|scene| {
        let ran = desert(scene, Law::PbeCc, Duration::from_secs(1));
        assert!(ran.fell() <= Duration::from_millis(100), "{:?}", ran.fell());
        assert!(ran.came_back_to(&["radio-limited", "ramp", "probing"]), "{:?}", ran.again);
        assert!(ran.goodput.mbit_per_sec() > 5.0, "{:?}", ran.goodput);
    });
}

#[test]
fn cqic_leaves_the_flow_to_cubic_a_second_after_its_reporters_death_and_comes_back() {
    in_scene(|scene| {
        let ran = desert(scene, Law::Cqic, Duration::from_secs(2));
        // The last report's sample is some milliseconds older than the report.
        let (least, most) = (Duration::from_millis(800), Duration::from_millis(1_100));
        assert!((least..=most).contains(&ran.fell()), "{:?}", ran.fell());
        assert!(ran.came_back_to(&["radio-limited"]), "{:?}", ran.again);
        assert!(ran.goodput.mbit_per_sec() > 5.0, "{:?}", ran.goodput);
    });
}

#[test]
fn what_a_daemon_learnt_of_its_cell_is_there_for_the_next_one_and_nothing_else_is() {
    in_scene(|scene| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cells");
        let flags = ["--cqi-rates", &*file.to_string_lossy()];
        let daemon = || scene.start_reporter(Law::Cqic, &flags);
        let device = daemon().expect("a daemon");
        let flow = download(scene);
        std::thread::sleep(Duration::from_secs(2));
        flow.stop().expect("the flow ends in good order");
        let said = device.stop();
        assert!(said.iter().all(|event| event["event"] != "rates_not_kept"), "{said:?}");
        let kept = std::fs::read_to_string(&file).expect("a file");
        let cell = kept.lines().nth(1).expect("a cell");
        assert!(cell.starts_with("lte ") && cell.contains('='), "{kept}");
        let next = daemon().expect("one that knows the cell");
        next.stop();
        // Nothing is known that this one would forget.
        assert_eq!(std::fs::read_to_string(&file).expect("a file").lines().count(), 2);
        std::fs::write(&file, "something else").expect("room");
        assert!(daemon().is_err(), "it takes what it did not write");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "something else");
    });
}
