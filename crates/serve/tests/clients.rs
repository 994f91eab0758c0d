//! Clients of every kind at a server, without a daemon.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use sounding_estimate::{Bound, Direction, LinkEstimate};
use sounding_feed::Line;
use sounding_serve::{News, Server, Settings};
use sounding_units::{HostInstant, Rate};

const TOKEN: &str = "0123456789abcdef";

struct Rig {
    _folder: tempfile::TempDir,
    server: Server,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let token = folder.path().join("token");
        fs::write(&token, TOKEN).unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        let server = Server::start(&Settings {
            address: "127.0.0.1:0".parse().unwrap(),
            hosts: Vec::new(),
            token: Some(token),
            longest_gap: Duration::from_millis(100),
        });
        Self { _folder: folder, server: server.unwrap() }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// A request for a path, with the token.
    fn request(&self, path: &str) -> String {
        let host = self.server.address();
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n")
    }

    fn ask(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        answer(&mut stream)
    }

    fn get(&self, path: &str) -> String {
        self.ask(self.request(path).as_bytes())
    }

    fn say(&self, number: u64) {
        let rate = Rate::from_bits_per_sec(1_000_000);
        let said = LinkEstimate::new(Direction::Uplink, rate, Bound::Floor);
        let at = HostInstant::from_nanos(number * 200_000_000);
        let line = Line::of(number, "wan", at, &said);
        let text = line.text();
        self.server.feeder().give(News::Line(Arc::new(line), text));
    }
}

fn answer(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A reset may follow an answer to garbage.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn each_path_is_answered_with_headers_that_let_nothing_else_in() {
    let rig = Rig::new();
    rig.say(1);
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/status.json", "application/json"),
        ("/history.json?span=hour", "application/json"),
        ("/metrics", "text/plain; version=0.0.4"),
    ] {
        let said = rig.get(path);
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {said}");
        assert!(said.contains(&format!("Content-Type: {kind}; charset=utf-8\r\n")), "{said}");
        for header in [
            "Cache-Control: no-store",
            "Content-Security-Policy: default-src 'none';",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
        ] {
            assert!(said.contains(header), "{path} has no {header}: {said}");
        }
    }
    assert!(rig.get("/elsewhere").starts_with("HTTP/1.1 404 "));
    assert!(rig.get("/history.json?span=year").starts_with("HTTP/1.1 404 "));
    let kept = rig.get(&format!("/?token={TOKEN}"));
    assert!(kept.starts_with("HTTP/1.1 303 ") && kept.contains("SameSite=Strict"), "{kept}");
}

#[test]
fn history_is_whole_json_with_the_number_of_each_line() {
    let rig = Rig::new();
    for number in 1..=500 {
        rig.say(number);
        if number % 100 == 0 {
            // The server takes what waits before more comes.
            thread::sleep(Duration::from_millis(250));
        }
    }
    let said = rig.get("/history.json");
    let (_, body) = said.split_once("\r\n\r\n").unwrap();
    let past: serde_json::Value = serde_json::from_str(body).unwrap();
    let numbers = past["series"][0]["number"].as_array().unwrap();
    assert_eq!((numbers.len(), &numbers[299]), (300, &500.into()));
    assert_eq!(past["series"][0]["backlog_bytes"][0], serde_json::Value::Null);
}

#[test]
fn garbage_and_parts_of_requests_are_refused_and_do_no_harm() {
    let rig = Rig::new();
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n\r\n \r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &[b'A'; 9000],
    ] {
        let said = rig.ask(garbage);
        assert!(said.starts_with("HTTP/1.1 400 "), "{garbage:?}: {said}");
    }
    let whole = rig.request("/metrics");
    for length in 1..whole.len() {
        let mut stream = rig.connect();
        stream.write_all(&whole.as_bytes()[..length]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(answer(&mut stream), "", "{length} bytes");
    }
    // In single bytes it is a request all the same.
    let mut stream = rig.connect();
    for byte in whole.as_bytes() {
        stream.write_all(&[*byte]).unwrap();
    }
    assert!(answer(&mut stream).starts_with("HTTP/1.1 200 "));
}

#[test]
fn there_is_room_for_64_clients_and_it_is_free_again() {
    let rig = Rig::new();
    let mut open: Vec<TcpStream> = (0..64).map(|_| rig.connect()).collect();
    for stream in &mut open {
        stream.write_all(rig.request("/feed").as_bytes()).unwrap();
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
    }
    let full = rig.get("/metrics");
    assert!(full.is_empty() || full.starts_with("HTTP/1.1 503 "), "{full}");
    drop(open);
    let until = Instant::now() + Duration::from_secs(10);
    while !rig.get("/metrics").starts_with("HTTP/1.1 200 ") {
        assert!(Instant::now() < until, "the room is not free again");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_client_that_sends_no_head_is_closed() {
    let rig = Rig::new();
    let began = Instant::now();
    let mut stream = rig.connect();
    stream.write_all(b"GET / HT").unwrap();
    assert_eq!(answer(&mut stream), "");
    assert!(began.elapsed() > Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn a_client_that_never_reads_keeps_no_other_waiting_and_gets_the_newest_lines() {
    let rig = Rig::new();
    let mut deaf = rig.connect();
    deaf.write_all(rig.request("/feed").as_bytes()).unwrap();
    let mut quick = rig.connect();
    quick.write_all(rig.request("/feed").as_bytes()).unwrap();
    let mut head = [0; 15];
    quick.read_exact(&mut head).unwrap();
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        let mut bytes = [0; 4096];
        while !String::from_utf8_lossy(&text).contains("\"number\":3000,") {
            let count = quick.read(&mut bytes).unwrap();
            text.extend_from_slice(&bytes[..count]);
            assert!(count > 0, "it was closed");
        }
        String::from_utf8(text).unwrap()
    });
    for number in 1..=3000 {
        rig.say(number);
        thread::sleep(Duration::from_millis(1));
    }
    let text = reader.join().unwrap();
    assert_eq!(text.matches("\ndata: {\"number\":").count(), 3000);
    // Lines that it did not take are lost, but for those in two sockets and the last 32.
    deaf.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let text = answer(&mut deaf);
    let numbers: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: {\"number\":"))
        .map(|line| line.split(',').next().unwrap().parse().unwrap())
        .collect();
    assert!(numbers.len() < 2500, "{} lines of 3000", numbers.len());
    assert_eq!(numbers.last(), Some(&3000));
    assert!(numbers.is_sorted());
}
