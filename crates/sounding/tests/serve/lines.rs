//! The feed over HTTP beside the socket's, also over a new configuration.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use sounding_feed::{Line, Reader};

use crate::rig::{Rig, address_of};

type Lines = BTreeMap<(String, u64), Line>;

fn by_number(lines: impl Iterator<Item = Line>) -> Lines {
    lines.map(|line| ((line.direction.clone(), line.number), line)).collect()
}

#[test]
fn events_are_the_lines_of_the_socket_after_the_greeting() {
    let mut rig = Rig::usual();
    let (read, mut got) = rig.play(3, |rig| {
        let mut events = rig.events();
        let reader = Reader::open(&rig.socket()).unwrap();
        let until = Instant::now() + Duration::from_secs(3);
        let got = thread::spawn(move || {
            let greeting = events.next().unwrap();
            let lines: Vec<String> = events.take_while(|_| Instant::now() < until).collect();
            (greeting, lines)
        });
        let lines = reader.map(Result::unwrap).take_while(|_| Instant::now() < until);
        (by_number(lines), got.join().unwrap())
    });
    assert_eq!(got.0, r#"{"feed":"rate","version":1,"longest_gap_ms":100}"#);
    // One reader began, or ended, a few lines before the other.
    let lines = got.1.drain(..).map(|line| serde_json::from_str(&line).unwrap());
    let got = by_number(lines);
    let mut both = 0;
    for direction in ["uplink", "downlink"] {
        let numbers = |of: &Lines| {
            let own = of.keys().filter(|(way, _)| way == direction);
            own.map(|(_, number)| *number).collect::<Vec<_>>()
        };
        let (one, other) = (numbers(&read), numbers(&got));
        let from = one[0].max(other[0]);
        let to = one[one.len() - 1].min(other[other.len() - 1]);
        for number in from..=to {
            let key = (direction.to_owned(), number);
            assert_eq!(read.get(&key), got.get(&key), "{key:?}");
            both += 1;
        }
    }
    assert!(both > 40, "{both} lines");
    assert!(got.values().any(|line| line.rate_bits_per_sec.is_some()));
}

#[test]
fn a_new_configuration_moves_the_server_and_costs_the_feed_no_line() {
    let mut rig = Rig::usual();
    let feed = "[feed]\nname = 'wan'\n";
    let reader = Reader::open(&rig.socket()).unwrap();
    let reading = thread::spawn(move || {
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        for line in reader.map_while(Result::ok) {
            if let Some(before) = last.insert(line.direction, line.number) {
                assert_eq!(line.number, before + 1, "a line is lost");
            }
        }
        last.values().copied().min().unwrap()
    });
    let before = rig.address;
    let gone = rig.reload(None, feed);
    assert_eq!(gone["ended"][0], "serve 127.0.0.1:0", "{gone}");
    let until = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(before).is_ok() {
        assert!(Instant::now() < until, "it serves on");
        thread::sleep(Duration::from_millis(20));
    }
    let back = rig.reload(Some("hosts = ['router.lan']"), feed);
    assert_eq!(back["started"][0], "serve 127.0.0.1:0", "{back}");
    rig.address = address_of(&rig.wait_for("serving"));
    assert!(rig.get("/status.json").contains("\"name\":\"modem\""));
    // Ten lines at least of each direction come in that time.
    thread::sleep(Duration::from_secs(1));
    rig.daemon.0.kill().unwrap();
    assert!(reading.join().unwrap() > 5);
}

#[test]
fn without_a_feed_there_are_lines_all_the_same() {
    let rig = Rig::new("", "");
    let lines: Vec<String> = rig.events().take(5).collect();
    assert!(lines[1..].iter().all(|line| line.contains("\"direction\":")), "{lines:?}");
    assert!(!rig.socket().exists());
}
