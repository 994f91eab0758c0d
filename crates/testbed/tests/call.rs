//! Video calls of an unmodified WebRTC stack over a modelled cell, corrected by the cell's own
//! modem. Parts that need root, node, npm or the built receiver report a skip without them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use sounding_experiment::plan::{Run, Text};
use sounding_testbed::call::{
    CallConfig, CallSeen, Corrected, Media, PacketSeen, call, call_down, may_call,
};
use sounding_testdata::{Need, may_emulate, processes_with, skip, steadily};

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
    let caller = caller()?;
    let media = Media::of(Duration::from_secs(seconds));
    Some(CallConfig { peer: peer()?, caller, corrected, media })
}

/// The folder of a call's ends, if there can be one.
fn caller() -> Option<PathBuf> {
    let caller = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtc/call");
    if !may_emulate() {
        return None;
    }
    if let Err(why) = may_call(&caller) {
        skip(Need::Npm, format_args!("no call here: {why}"));
        return None;
    }
    Some(caller)
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

#[test]
fn a_call_is_corrected_by_its_cells_modem_and_continues_when_that_dies() {
    let Some(config) = config(Corrected::Reported, 8) else { return };
    steadily(|| {
        let dies = Duration::from_secs(6);
        let media = Media { modem_dies: Some(dies), ..config.media };
        let config = CallConfig { media, ..config.clone() };
        let seen = call(&run(&[]), &config).unwrap();
        println!("{} {:?}", seen.summary, seen.falls(seen.connected.unwrap()));
        let (connected, heard) = (seen.connected.unwrap(), seen.heard.unwrap());
        assert!(heard < seen.started + dies && heard > connected + Duration::from_secs(2));
        // Delays that the modem knows in time are corrected, and by no more than the whole delay.
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
fn a_call_between_unmodified_ends_is_corrected_until_the_modem_dies() {
    let Some(caller) = caller() else { return };
    let missing = sounding_bpf::arrivals_preflight().into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        return skip(Need::Kernel, format_args!("{}: {}", check.name, check.detail));
    }
    steadily(|| {
        let dies = Duration::from_secs(6);
        let media = Media { modem_dies: Some(dies), ..Media::of(Duration::from_secs(8)) };
        // Blocks are lost often enough for a mean that is never zero for long.
        let lost = "cell.devices.phone.adapt_downlink={ target_error_rate = 0.3 }";
        let seen = call_down(&run(&[lost]), &caller, true, &media).unwrap();
        let (connected, heard) = (seen.connected.unwrap(), seen.heard.unwrap());
        println!("{} {:?}", seen.summary, seen.falls(connected));
        assert!(heard < seen.started + dies && heard > connected + Duration::from_secs(2));
        let late = |packet: &&PacketSeen| packet.arrived > heard + Duration::from_millis(100);
        let (after, before): (Vec<&PacketSeen>, Vec<&PacketSeen>) =
            seen.packets.iter().partition(late);
        let moved = before.iter().filter(|packet| packet.corrected < packet.arrived).count();
        println!("{moved} of {} packets moved, {} came later", before.len(), after.len());
        assert!(moved * 4 > before.len(), "{moved} of {} packets", before.len());
        assert!(after.len() > 100 && after.iter().all(|of| of.corrected == of.arrived));
        // The picture comes, and the sender hears of it.
        let shown = seen.frames.iter().filter(|frame| frame.sent.is_some()).count();
        assert!(
            shown > 150 && shown * 10 > seen.frames.len() * 9,
            "{shown} of {}",
            seen.frames.len()
        );
        let delays = seen.frame_delays(connected, heard);
        assert!(delays[0] >= Duration::from_millis(15), "{:?}", delays[0]);
        assert!(seen.stats.iter().any(|stats| stats.available.is_some_and(|rate| rate > 0.0)));
        assert!(number(&seen, "frames") > 150.0, "{}", seen.summary);
    });
    let caller = caller.to_string_lossy().into_owned();
    assert_eq!(processes_with(&format!("{caller}/answer.js")), Vec::<String>::new());
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
        media: Media::of(Duration::from_secs(1)),
    };
    let error = call(&run(&[]), &config).unwrap_err().to_string();
    assert!(error.contains("/bin/false: it ended with exit status: 1"), "{error}");
}
