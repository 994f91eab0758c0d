//! Failure drills of the daemon: something breaks while a flow runs, and the flow goes on.

use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use libbpf_rs::{MapCore as _, MapHandle};
use memmap2::{MmapOptions, MmapRaw};
use serde_json::Value as Json;
use sounding_bpf::inventory::Object;
use sounding_host::monotonic_now;
use sounding_modem::Pty;
use sounding_testbed::daemon::Daemon;
use sounding_testbed::flow::TcpResult;
use sounding_testdata::{steadily, write_script};
use sounding_units::HostInstant;

use crate::beside::{Witness, judge};
use crate::rig::{self, LAWS, Rig, refusal};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

/// A drill that kept its promises.
pub(crate) struct Drilled {
    /// When the trouble began.
    pub(crate) from: HostInstant,
    /// When it was over.
    pub(crate) to: HostInstant,
    pub(crate) flow: TcpResult,
    /// The daemon's events, if it ended in good order.
    pub(crate) events: Vec<Json>,
}

/// Lets a flow run for a while, then runs `trouble`, and checks all promises of a drill.
pub(crate) fn drill(
    what: &str,
    mut rig: Rig,
    witness: Witness,
    trouble: impl Fn(&mut Rig),
) -> Drilled {
    let stock = rig.stock();
    let flow = rig.transfer();
    rig.replay_for(Duration::from_millis(1500));
    let objects = rig.objects();
    let from = monotonic_now();
    trouble(&mut rig);
    let to = monotonic_now();
    let (ours, stock) = (rig.end(flow), stock.end());
    judge(what, &ours, &stock, from, to);
    let events = if rig.has_daemon() { rig.stop() } else { Vec::new() };
    let name = rig.name().to_string();
    drop(rig);
    witness.end(&name, &objects);
    Drilled { from, to, flow: ours.flow, events }
}

/// A drill for one law after the other.
fn under_each_law(drill: impl Fn(&'static str)) {
    for law in LAWS {
        steadily(|| drill(law));
    }
}

fn states(events: &[Json]) -> Vec<(String, String)> {
    rig::transitions(events).map(|seen| (seen.to, seen.reason)).collect()
}

/// The flow followed the modem all the time, except while the machine held up the daemon, which
/// reported that.
fn assert_followed(events: &[Json]) {
    let states = states(events);
    let was_late = events.iter().any(|event| event["event"] == "late");
    let excused = |reason: &str| reason == "silent" && was_late;
    let fell = states.iter().filter(|(to, reason)| !rig::is_driven(to) && !excused(reason));
    assert_eq!(fell.collect::<Vec<_>>(), Vec::<&(String, String)>::new(), "{states:?}");
    assert!(is_driven_at_last(&states), "{states:?}");
}

fn is_driven_at_last(states: &[(String, String)]) -> bool {
    states.last().is_some_and(|(to, _)| rig::is_driven(to))
}

#[test]
fn a_flow_outlives_a_killed_daemon_and_the_machine_is_as_before() {
    under_each_law(|law| {
        let witness = Witness::begin();
        let Some(rig) = Rig::steady("d_kill", law) else { return };
        drill("killed", rig, witness, |rig| {
            rig.kill_daemon();
            thread::sleep(Duration::from_secs(2));
        });
    });
}

#[test]
fn a_modem_that_falls_silent_costs_nothing_but_the_estimate() {
    under_each_law(|law| {
        let witness = Witness::begin();
        let Some(rig) = Rig::steady("d_mute", law) else { return };
        let Drilled { events, .. } = drill("silent modem", rig, witness, |rig| {
            thread::sleep(Duration::from_millis(1500));
            rig.replay_for(Duration::from_millis(1500));
        });
        let states = states(&events);
        assert!(states.iter().any(|(to, _)| to == "no-estimate"), "{states:?}");
        assert!(is_driven_at_last(&states), "{states:?}");
    });
}

#[test]
fn a_modem_that_reboots_with_another_clock_is_believed_again() {
    under_each_law(|law| {
        let witness = Witness::begin();
        let Some(rig) = Rig::steady("d_boot", law) else { return };
        let Drilled { events, .. } = drill("rebooted modem", rig, witness, |rig| {
            rig.unplug();
            thread::sleep(Duration::from_secs(1));
            rig.reset_clock();
            rig.plug();
            rig.replay_for(Duration::from_secs(2));
        });
        let states = states(&events);
        assert!(states.iter().any(|(to, _)| to == "no-estimate"), "{states:?}");
        assert!(is_driven_at_last(&states), "{states:?}");
    });
}

/// The pages that a daemon feeds, one for each direction, as another process with the rights may
/// map them.
fn feeds_of(rig: &Rig) -> Vec<MmapRaw> {
    let maps = rig.objects().into_iter().filter_map(|object| match object {
        Object::Map(id) => MapHandle::from_map_id(id).ok(),
        _ => None,
    });
    let feeds = maps.filter(|map| map.name() == "feed");
    let pages = feeds.map(|feed| MmapOptions::new().len(4096).map_raw(feed.as_fd().as_raw_fd()));
    pages.collect::<Result<_, _>>().expect("the feeds map")
}

/// Writes garbage over whatever a daemon feeds while its modem goes on, and lets it mend that.
pub(crate) fn garble_for(span: Duration, rig: &mut Rig) {
    let pages = feeds_of(rig);
    assert!(!pages.is_empty(), "no map called feed");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for page in &pages {
            scope.spawn(|| garble(page, &stop));
        }
        rig.replay_for(span);
        stop.store(true, Ordering::Relaxed);
    });
}

/// Writes garbage over a page until it is stopped.
fn garble(page: &MmapRaw, stop: &AtomicBool) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while !stop.load(Ordering::Relaxed) {
        for word in 0..24 {
            // xorshift64 (Marsaglia). The bytes only need to differ from the earlier ones.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // SAFETY: the page has 512 words; the kernel and the daemon write there too, and no
            // code holds a reference.
            unsafe { page.as_mut_ptr().cast::<u64>().add(word).write_volatile(state) };
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_feed_full_of_garbage_is_survived_and_mended() {
    under_each_law(|law| {
        let witness = Witness::begin();
        let Some(rig) = Rig::steady("d_junk", law) else { return };
        let Drilled { events, .. } = drill("garbage in the feed", rig, witness, |rig| {
            garble_for(Duration::from_millis(1500), rig);
            rig.replay_for(Duration::from_secs(2));
        });
        let states = states(&events);
        // Among the garbage the daemon's own estimates stand for moments, so the flow may have
        // changed often.
        assert!(states.iter().any(|(to, _)| to == "no-estimate"), "{states:?}");
        assert!(is_driven_at_last(&states), "{states:?}");
    });
}

/// Another daemon is refused a taken name, with the holder's name.
fn refused(name: &str, device: &Path) {
    let mut command = Command::new(PROGRAM);
    command.args(["run", "--name", name, "--device"]).arg(device);
    let output = refusal(command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("registered"), "{said}");
}

#[test]
fn a_second_daemon_of_the_same_name_is_refused_and_one_of_another_name_runs_beside() {
    under_each_law(|law| {
        let witness = Witness::begin();
        let Some(rig) = Rig::steady("d_two", law) else { return };
        let Drilled { events, .. } = drill("two daemons", rig, witness, |rig| {
            let pty = Pty::create(None).expect("a pty");
            let taken = rig.name().to_string();
            let second = thread::scope(|scope| {
                let others = scope.spawn(|| {
                    refused(&taken, pty.path());
                    let name = format!("{}_d_2nd", std::process::id() % 1_000_000);
                    let flags = ["--interface", "lo", "--share", "app"];
                    Daemon::start(PROGRAM.as_ref(), pty.path(), &name, &flags)
                        .expect("another name is free")
                        .stop()
                });
                // The modem of the first goes on meanwhile.
                rig.replay_for(Duration::from_secs(3));
                others.join().expect("it does not panic")
            });
            assert!(second.iter().any(|event| event["event"] == "counting"), "{second:?}");
        });
        assert_followed(&events);
    });
}

#[test]
fn a_daemon_comes_and_goes_under_load_and_each_new_one_is_obeyed() {
    under_each_law(|law| {
        let witness = Witness::begin();
        let Some(rig) = Rig::steady("d_load", law) else { return };
        drill("unloaded under load", rig, witness, |rig| {
            for _ in 0..3 {
                rig.stop();
                rig.start_daemon();
                let newcomer = rig.transfer();
                rig.replay_for(Duration::from_millis(1500));
                newcomer.abort().expect("the flow ends in good order");
            }
            let states = states(&rig.stop());
            assert!(states.iter().any(|(to, _)| rig::is_driven(to)), "{states:?}");
        });
    });
}

/// A program that becomes the daemon, with a clock that a time namespace shifts by this many
/// seconds, and the folder it is in.
pub(crate) fn shifted_by(seconds: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("shifted");
    let text = format!("#!/bin/sh\nexec unshare --time --monotonic {seconds} '{PROGRAM}' \"$@\"\n");
    write_script(&program, &text);
    (folder, program)
}

/// Whether there are no time namespaces here, which is reported.
pub(crate) fn clocks_skipped() -> bool {
    let shifts = Command::new("unshare").args(["--time", "--monotonic", "180", "true"]).status();
    let missing = !shifts.is_ok_and(|status| status.success());
    if missing {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, "no time namespaces here");
    }
    missing
}

#[test]
fn a_daemon_whose_clock_a_time_namespace_shifts_is_obeyed() {
    if clocks_skipped() {
        return;
    }
    under_each_law(|law| {
        for (name, seconds) in [("d_late", "180"), ("d_early", "-180")] {
            let witness = Witness::begin();
            let (_folder, program) = shifted_by(seconds);
            let Some(rig) = Rig::steady_by(name, law, &program) else { return };
            let Drilled { events, .. } = drill("shifted clock", rig, witness, |rig| {
                rig.replay_for(Duration::from_secs(1));
            });
            assert_followed(&events);
        }
    });
}
