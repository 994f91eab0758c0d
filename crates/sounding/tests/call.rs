//! The commands of docs/guide/video-calls.md: a call behind `sounding emu PLAN`, whose modem
//! `sounding link --delays --feed` reads. Parts that need root, node, npm or the built receiver
//! report a skip without them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sounding_host::monotonic_now;
use sounding_testbed::call::may_call;
use sounding_testdata::{Need, may_emulate, processes_with, skip, steadily};

fn sounding() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("sounding").to_owned()
}

/// A process that does not outlive the test.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    fn end(&mut self, patience: Duration) -> Option<i32> {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until_there(path: &Path) {
    let until = Instant::now() + Duration::from_secs(20);
    while !path.exists() {
        assert!(Instant::now() < until, "{} is not there", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_live_modem_corrects_a_call_until_its_reader_is_killed_and_no_process_is_left() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let caller = root.join("crates/rtc/call");
    let peer = sounding().with_file_name("sounding-rtc-peer");
    if !may_emulate() {
        return;
    }
    if let Err(why) = may_call(&caller) {
        return skip(Need::Npm, format_args!("no call here: {why}"));
    }
    if !peer.exists() {
        return skip(Need::Npm, "no call here: cargo build --package sounding-rtc");
    }
    steadily(|| {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let [socket, modem, log] = ["peer", "modem", "log"].map(place);
        let shown = |path: &Path| path.to_str().unwrap().to_owned();
        let far = format!(
            "{} --socket {} --log {} --at-most 60",
            shown(&peer),
            shown(&socket),
            shown(&log)
        );
        let call = format!(
            "node {}/call.js --socket {} --address $SOUNDING_FAR --seconds 6",
            shown(&caller),
            shown(&socket)
        );
        let mut emu = Running::start(
            Command::new(sounding())
                .arg("emu")
                .arg(root.join("papers/gandalf/webrtc.toml"))
                .args(["--set", "seeds=1", "--as-root", "--link", &shown(&modem), "--far", &far])
                .args(["--", "sh", "-c", &call])
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        );
        until_there(&modem);
        until_there(&socket);
        let mut feed = Running::start(
            Command::new(sounding())
                .args(["link", &shown(&modem), "--delays", "--feed", &shown(&socket)])
                .stderr(Stdio::null()),
        );
        std::thread::sleep(Duration::from_secs(5));
        assert!(feed.0.try_wait().unwrap().is_none(), "the reader ended in mid-call");
        feed.0.kill().unwrap();
        let killed = monotonic_now();
        assert_eq!(emu.end(Duration::from_secs(30)), Some(0));
        let lines = std::fs::read_to_string(&log).unwrap();
        let packets = lines.lines().filter_map(|line| {
            let line: Json = serde_json::from_str(line).ok()?;
            let of = line.get("packet")?;
            Some((of["arrived_ns"].as_u64()?, of["corrected_ns"].as_u64()?))
        });
        let packets: Vec<(u64, u64)> = packets.collect();
        let (before, after): (Vec<_>, Vec<_>) =
            packets.iter().partition(|(arrived, _)| *arrived < killed.as_nanos());
        let moved = before.iter().filter(|(arrived, corrected)| corrected < arrived).count();
        println!("{moved} of {} packets moved, {} came later", before.len(), after.len());
        assert!(moved > 100, "{moved} of {} packets moved", before.len());
        let silent = (killed + Duration::from_millis(100)).as_nanos();
        let stock: Vec<_> = after.iter().filter(|(arrived, _)| *arrived > silent).collect();
        assert!(stock.len() > 50, "{} packets", stock.len());
        assert!(stock.iter().all(|(arrived, corrected)| arrived == corrected));
        drop((emu, feed));
        assert_eq!(processes_with(&shown(folder.path())), Vec::<String>::new());
    });
}

#[test]
fn a_receiver_at_the_device_reads_corrected_times_until_an_interrupt() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let caller = root.join("crates/rtc/call");
    if !may_emulate() {
        return;
    }
    if let Err(why) = may_call(&caller) {
        return skip(Need::Npm, format_args!("no call here: {why}"));
    }
    let missing = sounding_bpf::arrivals_preflight().into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        return skip(Need::Kernel, format_args!("{}: {}", check.name, check.detail));
    }
    steadily(|| {
        let folder = tempfile::tempdir().unwrap();
        let shown = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let [socket, modem, log, said] = ["peer", "modem", "log", "said"].map(shown);
        let (caller, sounding) = (caller.display(), sounding());
        let far = format!("node {caller}/call.js --socket {socket} --numbered --seconds 6");
        let near = format!(
            "until [ -e {modem} ]; do sleep 0.1; done
             {sounding} link {modem} --delays --arrivals radio0 2>{said} &
             node {caller}/answer.js --socket {socket} --log {log} --at-most 60 && kill -INT $! && wait $!",
            sounding = sounding.display()
        );
        let mut emu = Running::start(
            Command::new(&sounding)
                .arg("emu")
                .arg(root.join("papers/gandalf/webrtc.toml"))
                .args(["--set", "seeds=1", "--as-root", "--link", &modem, "--far", &far])
                .args(["--set", "cell.devices.phone.adapt_downlink={ target_error_rate = 0.3 }"])
                .args(["--", "sh", "-c", &near])
                .stdout(Stdio::null()),
        );
        let ended = emu.end(Duration::from_secs(60));
        let said = std::fs::read_to_string(&said).unwrap();
        assert_eq!(ended, Some(0), "{said}");
        println!("{said}");
        let words: Vec<&str> = said.lines().last().unwrap().split(' ').collect();
        let [corrected, "of", packets, "packets", ..] = words[..] else { panic!("{said}") };
        let [corrected, packets] = [corrected, packets].map(|word| word.parse::<u64>().unwrap());
        assert!(packets > 200 && corrected * 4 > packets, "{said}");
        let shown = std::fs::read_to_string(&log).unwrap();
        assert!(shown.lines().filter(|line| line.contains("\"number\":")).count() > 100);
        assert_eq!(processes_with(folder.path().to_str().unwrap()), Vec::<String>::new());
    });
}

#[test]
fn a_feed_needs_a_live_modem_and_a_receiver() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("x.qmdl");
    std::fs::write(&capture, []).unwrap();
    let capture = capture.to_str().unwrap();
    let nowhere = folder.path().join("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    for (words, reason) in [
        (vec!["link", capture, "--delays", "--feed", nowhere], "--feed is for live modems"),
        (vec!["link", "tcp:127.0.0.1:9", "--delays"], "needs --feed or --arrivals"),
        (vec!["link", capture, "--delays", "--arrivals", "lo"], "--arrivals is for live modems"),
        (vec!["link", capture, "--arrivals", "lo"], "--delays"),
        (vec!["link", "tcp:127.0.0.1:9", "--delays", "--feed", nowhere], "no receiver at"),
        (vec!["link", capture, "--feed", nowhere], "--delays"),
    ] {
        let output = Command::new(sounding()).args(&words).output().unwrap();
        assert!(!output.status.success(), "{words:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(reason), "{words:?}: {said}");
    }
}
