//! The daemon and a modem that follows its log mask: no record arrives before the mask is set, and
//! the mask is restored.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value as Json;
use sounding_modem::{Behaviour, Place, Script, Simulation};
use sounding_testbed::daemon::Daemon;
use sounding_testbed::radio::RadioLink;

use crate::rig::skipped;

/// Runs a daemon on a simulated modem until the modem has sent all its records. Returns the
/// daemon's events, and how often the modem was drained.
fn daemon_reads(
    name: &str,
    behaviour: Behaviour,
    place: Place,
    flags: &[&str],
) -> (Vec<Json>, u64) {
    let link = RadioLink::generated(9, Duration::from_secs(4)).expect("a link");
    let script = Script::of(&link.capture);
    let lasts = script.duration();
    let mut modem = Simulation::new(script, behaviour, place).expect("a port");
    let source = modem.source();
    let stop = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&stop);
    let modem = std::thread::spawn(move || modem.run(&until, |_| {}).expect("the port stays"));
    let name = format!("{}_{name}", std::process::id() % 1_000_000);
    let program = Path::new(env!("CARGO_BIN_EXE_sounding"));
    let daemon = Daemon::start(program, Path::new(&source), &name, flags).expect("ready");
    std::thread::sleep(lasts);
    let events = daemon.stop();
    stop.store(true, Ordering::Relaxed);
    let tally = modem.join().expect("the modem does not panic");
    (events, tally.drained)
}

fn names(events: &[Json]) -> Vec<&str> {
    let names = events.iter().filter_map(|event| event["event"].as_str());
    // The content of the machine's /etc/subuid does not matter here, nor how long a daemon runs.
    names.filter(|name| !["estimate", "late", "standing", "subordinates"].contains(name)).collect()
}

#[test]
fn the_mask_is_set_at_the_start_and_restored_at_the_end() {
    if skipped() {
        return;
    }
    let (events, _) = daemon_reads("mask", Behaviour::default(), Place::Pty(None), &[]);
    assert_eq!(names(&events), ["interfaces", "ready", "answers", "logging", "restored", "done"]);
    let logging = events.iter().find(|event| event["event"] == "logging").expect("it logs");
    let needed = sounding_kpi::codes(sounding_kpi::Direction::Uplink);
    assert_eq!(logging["codes"], needed.len());
    // A simulated modem has no hardware here, so the daemon uses the default devices.
    assert_eq!(events[0]["interfaces"], serde_json::json!([]));
    let done = events.last().expect("it has a last event");
    // Without the mask no record would have arrived.
    assert!(done["kpis"].as_u64() > Some(100), "{done}");
}

#[test]
fn a_modem_that_buffers_for_an_hour_is_drained() {
    if skipped() {
        return;
    }
    let release = Duration::from_secs(3600);
    let behaviour = Behaviour { high_water: usize::MAX, release, ..Behaviour::default() };
    let place = Place::VendorRouter(format!("sounding-daemon-{}", std::process::id()));
    let (events, drained) = daemon_reads("drain", behaviour, place, &[]);
    let done = events.last().expect("it has a last event");
    assert!(done["kpis"].as_u64() > Some(100), "{done}");
    assert!(drained > 100, "{drained}");
}

#[test]
fn with_no_mask_the_modem_receives_no_request() {
    if skipped() {
        return;
    }
    let behaviour = Behaviour { all_on: true, ..Behaviour::default() };
    let (events, _) = daemon_reads("alone", behaviour, Place::Pty(None), &["--no-mask"]);
    assert_eq!(names(&events), ["interfaces", "ready", "done"]);
    assert!(events.last().expect("it has a last event")["kpis"].as_u64() > Some(100));
}

#[test]
fn over_the_budget_the_least_important_records_are_switched_off() {
    if skipped() {
        return;
    }
    let (events, _) =
        daemon_reads("budget", Behaviour::default(), Place::Pty(None), &["--budget", "10kbit"]);
    let over = events.iter().find(|event| event["event"] == "over_budget").expect("it is over");
    let done = events.last().expect("it has a last event");
    let off = done["codes_switched_off"].as_array().expect("a list");
    assert!(!off.is_empty() && !off.contains(&"0xB139".into()), "{over} {done}");
}
