//! The live senders of `examples/live`, over a scripted feed: each takes its advice, falls back
//! when the feed is silent or dead, and never sends more than the advice and a burst.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod feed;
mod long;
mod meter;
#[path = "../../../../examples/live/quic.rs"]
#[allow(dead_code, reason = "its main function is the example's")]
mod quic;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use feed::{NAME, Says, Script};
use meter::{Meter, Packet, best, burst};
use sounding_testdata::{Need, Running, skip, steadily, unpacked};

/// A machine under load may take so long for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// So long a rate is looked at.
const SPAN: Duration = Duration::from_millis(500);

/// Of all senders here: what they take without advice, in bit/s.
const FALLBACK: u64 = 500_000;

/// A line's validity, and the time until a sender looks.
const SILENCE: Duration = Duration::from_millis(250);

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/live").join(name)
}

/// One modem's advice.
fn advice(bits_per_sec: u64) -> Says {
    Says::Advice(vec![("modem", Some(bits_per_sec))])
}

/// The promise of a sender.
#[derive(Clone, Copy)]
struct Promise {
    /// The part of the advice that it carries.
    part: f64,
    /// Its burst: so long at the higher of the rates before and after a change.
    burst: Duration,
}

/// A sender is watched through a script.
struct Watched<'a> {
    meter: &'a Meter,
    script: &'a Script,
    promise: Promise,
    rate: u64,
}

impl Watched<'_> {
    /// The daemon says this, and the sender takes this rate, at the latest after this time.
    fn takes(&mut self, says: Says, rate: u64, after: Duration) {
        let named = format!("{says:?}");
        let before = self.meter.count();
        self.script.say(says);
        let begin = Instant::now();
        let enough = (rate as f64 * self.promise.part) as u64;
        let packets = loop {
            let packets = self.meter.since(before);
            // Before it fell its packets say nothing of the rate after.
            if begin.elapsed() > after + SPAN && best(&late(&packets), SPAN) >= enough {
                break packets;
            }
            let carried = best(&late(&packets), SPAN);
            assert!(begin.elapsed() < PATIENCE, "{named}: {carried} of {rate} bit/s");
            std::thread::sleep(Duration::from_millis(10));
        };
        let most = self.rate.max(rate) as f64 / 8.0 * (self.promise.burst + after).as_secs_f64();
        let found = burst(&packets, rate);
        println!(
            "{named}: {} of {rate} bit/s, {found} bytes before it, {:.1} s",
            best(&late(&packets), SPAN),
            begin.elapsed().as_secs_f64()
        );
        assert!(found as f64 <= most, "{named}: a burst of {found} bytes, {most:.0} allowed");
        self.rate = rate;
    }

    /// A drop, a rise, a daemon that hangs, one without a modem, one that dies, and its next life.
    fn follows(&mut self) {
        let at_once = Duration::ZERO;
        self.takes(advice(2_000_000), 2_000_000, at_once);
        self.takes(advice(700_000), 700_000, at_once);
        self.takes(advice(1_500_000), 1_500_000, at_once);
        self.takes(Says::Nothing, FALLBACK, SILENCE);
        self.takes(advice(1_200_000), 1_200_000, at_once);
        self.takes(Says::Advice(vec![("modem", None)]), FALLBACK, at_once);
        self.takes(advice(1_200_000), 1_200_000, at_once);
        self.takes(Says::Dead, FALLBACK, at_once);
        self.takes(advice(2_000_000), 2_000_000, at_once);
    }
}

/// The packets of the last second.
fn late(packets: &[Packet]) -> Vec<Packet> {
    let Some(end) = packets.last().map(|packet| packet.at) else { return Vec::new() };
    let is_late = |packet: &&Packet| packet.at + Duration::from_secs(1) > end;
    packets.iter().filter(is_late).copied().collect()
}

/// Watches a sender through the script, while something sends.
fn watch<T>(
    promise: Promise,
    receiver: Option<SocketAddr>,
    start: impl FnOnce(&Script, &Meter) -> T,
) {
    let (script, meter) = (Script::new(), Meter::new(receiver));
    let _sender = start(&script, &meter);
    Watched { meter: &meter, script: &script, promise, rate: FALLBACK }.follows();
}

/// A Python sender of this name, as its user starts it.
fn sender(python: &str, name: &str, script: &Script, meter: &Meter) -> Command {
    let mut command = Command::new(python);
    command.arg(example(name)).arg(NAME).arg("127.0.0.1").arg(meter.address.port().to_string());
    // No compiled files beside the sources.
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("SOUNDING_BOARD_DIR", script.folder());
    command.env_remove("XDG_RUNTIME_DIR").stdout(Stdio::null());
    command
}

fn started(mut command: Command) -> Running {
    Running(command.spawn().unwrap())
}

/// Whether Python is there; reported if not.
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        skip(Need::Tools, "there is no python3");
    }
    found
}

#[test]
fn the_udp_sender_follows_its_advice() {
    if !has_python() {
        return;
    }
    let promise = Promise { part: 0.8, burst: Duration::from_millis(80) };
    steadily(|| {
        watch(promise, None, |script, meter| started(sender("python3", "udp.py", script, meter)));
    });
}

#[test]
fn the_srt_sender_follows_its_advice() {
    if !has_python() {
        return;
    }
    let Some(srt) = unpacked("srt", "usr/bin/srt-live-transmit") else {
        skip(Need::Srt, "no SRT here: `scripts/setup srt` unpacks it");
        return;
    };
    let libraries = srt.join("usr/lib/x86_64-linux-gnu");
    let promise = Promise { part: 0.7, burst: Duration::from_millis(100) };
    steadily(|| {
        // Its port is free, and the receiver is a process of its own.
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut receiver = Command::new(srt.join("usr/bin/srt-live-transmit"));
        receiver.args(["-q", &format!("srt://127.0.0.1:{port}?mode=listener"), "file://con"]);
        receiver.env("LD_LIBRARY_PATH", &libraries).stdout(Stdio::null());
        let _receiver = started(receiver);
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        watch(promise, Some(to), |script, meter| {
            let mut command = sender("python3", "srt.py", script, meter);
            command.env("LD_LIBRARY_PATH", &libraries);
            started(command)
        });
    });
}

#[test]
fn the_quic_sender_follows_its_advice() {
    let promise = Promise { part: 0.7, burst: Duration::from_millis(100) };
    steadily(|| {
        let folder = tempfile::tempdir().unwrap();
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = folder.path().join("certificate");
        std::fs::write(&certificate, certified.cert.der()).unwrap();
        let key = certified.signing_key.serialize_der().try_into().unwrap();
        let receiver = runtime();
        let chain = vec![certified.cert.der().clone()];
        let config = quinn::ServerConfig::with_single_cert(chain, key).unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let endpoint = {
            let _entered = receiver.enter();
            quinn::Endpoint::server(config, any).unwrap()
        };
        let to = endpoint.local_addr().unwrap();
        let receives = endpoint.clone();
        // It ends with the endpoint, and the sender with it.
        let receiver = std::thread::spawn(move || receiver.block_on(receive(receives)));
        watch(promise, Some(to), |script, meter| {
            let (socket, to) = (script.socket(), meter.address);
            let sender = std::thread::spawn(move || {
                runtime().block_on(async {
                    let sent = quic::send(&socket, to, &certificate).await;
                    sent.map_err(|error| error.to_string())
                })
            });
            Ends { endpoint, receiver: Some(receiver), sender: Some(sender) }
        });
    });
}

/// Closes the connection with the test, and waits for both ends.
struct Ends {
    endpoint: quinn::Endpoint,
    receiver: Option<JoinHandle<()>>,
    sender: Option<JoinHandle<Result<(), String>>>,
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.endpoint.close(0_u32.into(), b"the test is over");
        let _ = self.receiver.take().map(JoinHandle::join);
        let _ = self.sender.take().map(JoinHandle::join);
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Takes every group to its end.
async fn receive(endpoint: quinn::Endpoint) {
    let Some(incoming) = endpoint.accept().await else { return };
    let Ok(connection) = incoming.await else { return };
    while let Ok(mut group) = connection.accept_uni().await {
        tokio::spawn(
            async move { while let Ok(Some(_)) = group.read_chunk(1 << 16, true).await {} },
        );
    }
    // The sender hears of the end.
    endpoint.wait_idle().await;
}

#[test]
fn the_bonding_sender_divides_its_stream_by_the_advice_of_each_link() {
    if !has_python() {
        return;
    }
    let links = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];
    steadily(|| {
        let (script, meter) = (Script::new(), Meter::new(None));
        let mut command = sender("python3", "bonding.py", &script, &meter);
        command.args(["a=127.0.0.2", "b=127.0.0.3"]);
        let _sender = started(command);
        let mut last = [200_000; 2];
        for (advice, rates) in [
            ([Some(1_500_000), Some(600_000)], [1_500_000, 600_000]),
            ([Some(500_000), Some(1_000_000)], [500_000, 1_000_000]),
            // One of the modems is gone.
            ([None, Some(1_000_000)], [200_000, 1_000_000]),
            ([Some(800_000), Some(1_000_000)], [800_000, 1_000_000]),
        ] {
            let before = meter.count();
            script.say(Says::Advice(vec![("a", advice[0]), ("b", advice[1])]));
            let begin = Instant::now();
            let of = |link: usize| -> Vec<Packet> {
                let packets = meter.since(before);
                packets.into_iter().filter(|packet| packet.from == links[link]).collect()
            };
            for (link, rate) in rates.into_iter().enumerate() {
                while best(&late(&of(link)), SPAN) < rate * 8 / 10 || begin.elapsed() < SPAN {
                    let carried = best(&late(&of(link)), SPAN);
                    assert!(begin.elapsed() < PATIENCE, "link {link}: {carried} of {rate} bit/s");
                    std::thread::sleep(Duration::from_millis(10));
                }
                let most = rate.max(last[link]) * 80 / 1000 / 8;
                let found = burst(&of(link), rate);
                assert!(found <= most, "link {link}: a burst of {found} bytes, {most} allowed");
                println!("link {link}: {} of {rate} bit/s", best(&late(&of(link)), SPAN));
            }
            last = rates;
        }
    });
}
