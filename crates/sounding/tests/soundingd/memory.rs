//! The memory of the daemon with each of its outputs in use.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sounding_emu::Netns;
use sounding_modem::{Behaviour, Place, Script, Simulation};
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Running, may_emulate};

/// Bits of Diag in a second.
const RATE: f64 = 5e6;
/// How long they come.
const SPAN: Duration = Duration::from_secs(30);
/// The daemon stays below this many kilobytes.
const BOUND: u64 = 10_000;

fn request(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    stream
}

fn get(address: SocketAddr, path: &str) {
    let mut answer = String::new();
    request(address, path).read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
}

/// A modem's script that sends at [`RATE`] for [`SPAN`], and its speed.
fn script() -> (Script, f64) {
    let made = RadioLink::generated(5, SPAN).unwrap().capture;
    let wanted = (RATE / 8.0 * SPAN.as_secs_f64()) as usize;
    let bytes: Vec<u8> = made.iter().copied().cycle().take(wanted).collect();
    let script = Script::of(&bytes);
    let speed = script.duration().as_secs_f64() / SPAN.as_secs_f64();
    (script, speed)
}

/// Reads the events of a page, and asks for what a page and a scrape ask for, until it is stopped.
fn look(address: SocketAddr, lines: &AtomicUsize, until: &AtomicBool) {
    for path in ["/", "/history.json?span=minute"] {
        get(address, path);
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            let events = BufReader::new(request(address, "/feed")).lines();
            for _ in events.take_while(|_| !until.load(Ordering::Relaxed)) {
                lines.fetch_add(1, Ordering::Relaxed);
            }
        });
        while !until.load(Ordering::Relaxed) {
            for path in ["/status.json", "/metrics"] {
                get(address, path);
            }
            thread::sleep(Duration::from_secs(1));
        }
    });
}

fn configuration(folder: &Path, device: &str, address: SocketAddr) -> String {
    let path = folder.join("modem.toml");
    let text = format!(
        "[modem]\ndevice = '{device}'\nmask = false\ninterfaces = ['wwan0']\n[feed]\nname = 'wan'\n\
         [shape]\nmanage = true\n[shape.uplink]\nbase = '2Mbit'\n[serve]\naddress = '{address}'\n\
         open = true\n"
    );
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn its_memory_stays_below_ten_megabytes_with_each_output_in_use() {
    let Some(small) = super::small() else { return };
    if !may_emulate() {
        return;
    }
    let router = Netns::new().unwrap();
    for words in ["link set lo up", "link add wwan0 type veth peer name isp0", "link set wwan0 up"]
    {
        assert!(router.command("ip").args(words.split(' ')).status().unwrap().success(), "{words}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (script, speed) = script();
    let behaviour = Behaviour { speed, all_on: true, ..Behaviour::default() };
    let mut modem = Simulation::new(script, behaviour, Place::Pty(None)).unwrap();
    let address = "127.0.0.1:8080".parse().unwrap();
    let file = configuration(folder.path(), &modem.source(), address);
    let until = AtomicBool::new(false);
    let (events, lines) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // The daemon itself, whose memory is asked for: `Netns::command` begins with a shell.
    let mut command = Command::new(&small);
    router.bring_in(&mut command);
    command.args(["run", "--json", "--config", &file]);
    command.env("SOUNDING_BOARD_DIR", folder.path()).env("SOUNDING_RUN_DIR", folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut daemon = Running(command.spawn().unwrap());
    let said = BufReader::new(daemon.stdout.take().unwrap()).lines().map_while(Result::ok);
    let status = format!("/proc/{}/status", daemon.id());
    let ready = AtomicBool::new(false);
    let watch = || {
        let begun = Instant::now();
        let socket = folder.path().join("wan.rate");
        while !ready.load(Ordering::Relaxed) || !socket.exists() {
            assert!(begun.elapsed() < Duration::from_secs(20), "the daemon does not start");
            thread::sleep(Duration::from_millis(20));
        }
        let feed = sounding_feed::Reader::open(&socket).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| feed.take_while(|_| !until.load(Ordering::Relaxed)).count());
            scope.spawn(|| router.enter(|| look(address, &lines, &until)).unwrap());
            thread::sleep(SPAN);
            let status = fs::read_to_string(status);
            until.store(true, Ordering::Relaxed);
            status.unwrap()
        })
    };
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            for line in said {
                events.fetch_add(usize::from(line.contains("\"shaped\"")), Ordering::Relaxed);
                ready.fetch_or(line.contains("\"ready\""), Ordering::Relaxed);
            }
        });
        scope.spawn(|| modem.run(&until, |_| {}));
        let watched = scope.spawn(watch).join();
        until.store(true, Ordering::Relaxed);
        daemon.kill().unwrap();
        watched.unwrap()
    });
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim();
    let most: u64 = most.trim_end_matches(" kB").parse().unwrap();
    let (events, lines) = (events.into_inner(), lines.into_inner());
    println!("{most} kB at most; {events} rates set, {lines} lines on the page");
    assert!(events > 10 && lines > 100, "{events} rates set, {lines} lines on the page");
    assert!(most < BOUND, "{most} kB");
}
