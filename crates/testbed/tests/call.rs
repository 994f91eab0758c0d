//! Video calls of an unmodified WebRTC stack over a modelled cell, corrected by the cell's own modem. Parts that need root, node, npm or
//! the built receiver report a skip without them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use sounding_experiment::plan::{Run, Text};
use sounding_testbed::call::{CallConfig, CallSeen, Corrected, call, may_call};
use sounding_testdata::{Need, may_emulate, skip, steadily};

const PLAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/gandalf/webrtc.toml");

/// The receiver, which is built beside this test.
fn peer() -> Option<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let peer = here.ancestors().nth(2).unwrap().join("sounding-rtc-peer");
    if peer.exists() {
        return Some(peer);
    }
    skip(Need::Npm, "no call here: cargo build --package sounding-rtc");
    None
}

/// A call of some seconds, if there can be one.
fn config(corrected: Corrected, seconds: u64) -> Option<CallConfig> {
    let caller = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtc/call");
    if !may_emulate() {
        return None;
    }
    if let Err(why) = may_call(&caller) {
        skip(Need::Npm, format_args!("no call here: {why}"));
        return None;
    }
    let length = Duration::from_secs(seconds);
    Some(CallConfig { peer: peer()?, caller, corrected, length, modem_dies: None, most_kbit: None })
}

fn run(sets: &[&str]) -> Run {
    let mut text = Text::read(Path::new(PLAN)).unwrap();
    text.set("seeds=1").unwrap();
    sets.iter().for_each(|set| text.set(set).unwrap());
    text.runs().unwrap().remove(0)
}

fn number(seen: &CallSeen, field: &str) -> f64 {
    seen.summary[field].as_f64().unwrap_or_else(|| panic!("{} has no {field}", seen.summary))
}

/// Processes whose command line or environment has this word.
fn processes_with(word: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let named = processes.filter_map(|process| std::fs::read(process.join("cmdline")).ok());
    let named = named.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    named.filter(|line| line.contains(word)).collect()
}

#[test]
fn a_call_is_corrected_by_its_cells_modem_and_goes_on_as_it_is_when_that_dies() {
    let Some(config) = config(Corrected::Reported, 8) else { return };
    steadily(|| {
        let dies = Duration::from_secs(6);
        let config = CallConfig { modem_dies: Some(dies), ..config.clone() };
        let seen = call(&run(&[]), &config).unwrap();
        println!("{} {:?}", seen.summary, seen.falls(seen.connected.unwrap()));
        let (connected, heard) = (seen.connected.unwrap(), seen.heard.unwrap());
        assert!(heard < seen.started + dies && heard > connected + Duration::from_secs(2));
        // What the modem knows in time is corrected, and by no more than the whole delay.
        let before: Vec<_> = seen.packets.iter().filter(|packet| packet.arrived < heard).collect();
        let moved = before.iter().filter(|packet| packet.corrected < packet.arrived).count();
        println!("{moved} of {} packets moved before the modem died", before.len());
        assert!(moved * 2 > before.len(), "{moved} of {} packets", before.len());
        assert!(
            before.iter().all(|packet| packet.sent.is_none_or(|sent| packet.corrected >= sent))
        );
        // The bridge's last line and the receiver's clock are a moment apart.
        let silent = heard + Duration::from_millis(110);
        let after: Vec<_> = seen.packets.iter().filter(|packet| packet.arrived > silent).collect();
        assert!(after.len() > 100, "{} packets after the modem's death", after.len());
        assert!(after.iter().all(|packet| packet.corrected == packet.arrived));
        let late = seen.frames.iter().filter(|frame| frame.complete > silent).count();
        assert!(late > 30, "{late} frames after the modem's death");
        assert!(number(&seen, "packets_corrected") > 100.0, "{}", seen.summary);
    });
    let caller = config.caller.to_string_lossy().into_owned();
    for word in [config.peer.to_str().unwrap(), &format!("{caller}/call.js")] {
        assert_eq!(processes_with(word), Vec::<String>::new());
    }
}

#[test]
fn a_call_that_cannot_begin_says_why_and_leaves_nothing() {
    if !may_emulate() {
        return;
    }
    let config = CallConfig {
        peer: "/bin/false".into(),
        caller: "/".into(),
        corrected: Corrected::Stock,
        length: Duration::from_secs(1),
        modem_dies: None,
        most_kbit: None,
    };
    let error = call(&run(&[]), &config).unwrap_err().to_string();
    assert!(error.contains("/bin/false: it ended with exit status: 1"), "{error}");
}
