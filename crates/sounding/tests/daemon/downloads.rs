//! Failure drills of a daemon that limits senders to this machine: something breaks while a
//! download runs, and the download goes on, unlimited while the radio's rate is unknown.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::thread;
use std::time::Duration;

use sounding_bpf::inventory::held_by;
use sounding_bpf::{Downlink, DownlinkConfig, OwnCgroup};
use sounding_emu::{Direction, Emulation};
use sounding_host::monotonic_now;
use sounding_modem::Pty;
use sounding_testbed::flow::{TcpInfo, TcpResult};
use sounding_testdata::steadily;
use sounding_trace::Steps;
use sounding_units::HostInstant;

use crate::beside::{self, Track, Witness, judge};
use crate::drills::{Drilled, clocks_skipped, drill, garble_for, shifted_by};
use crate::feed::{Publisher, TALES, TRUE_RATE, Tale};
use crate::rig::{Rig, downlink_skipped};

/// More than any of these links carries in a round trip and the slack.
const HELD: u64 = 200_000;
/// Long enough for the window to settle.
const SETTLED: Duration = Duration::from_millis(300);
const SECOND: Duration = Duration::from_secs(1);
/// A modem's data is valid for 200 ms after its last record. The window lasts for the 100 ms of an
/// estimate, is on its way for half a round trip, and is sampled every 10 ms.
const VALID: Duration = Duration::from_millis(340);

/// Windows that the sender saw between two moments.
fn windows(flow: &TcpResult, from: HostInstant, to: HostInstant) -> Vec<(HostInstant, u64)> {
    let between = flow.samples.iter().filter(|sample| sample.at >= from && sample.at < to);
    between.map(|sample| (sample.at, sample.info.peer_window.count())).collect()
}

fn assert_held(what: &str, flow: &TcpResult, from: HostInstant, to: HostInstant) {
    let windows = windows(flow, from, to);
    let widest = windows.iter().map(|(_, window)| *window).max();
    assert!(widest.is_some_and(|widest| widest < HELD), "{what}: {widest:?}");
}

pub(crate) fn assert_held_at_last(what: &str, flow: &TcpResult) {
    assert_held(what, flow, flow.ended.saturating_before(SETTLED), flow.ended);
}

impl Drilled {
    fn assert_held_before(&self) {
        assert_held("before", &self.flow, self.from.saturating_before(SETTLED), self.from);
    }

    /// The time from the start of the trouble until the window was released.
    fn let_go_after(&self) -> Duration {
        let windows = windows(&self.flow, self.from, self.to);
        let free = windows.iter().find(|(_, window)| *window > HELD);
        free.unwrap_or_else(|| panic!("not let go: {windows:?}")).0 - self.from
    }
}

/// The result of a fault while a download was limited; `None` if that is not possible here.
fn drill_download(name: &str, what: &str, trouble: impl Fn(&mut Rig)) -> Option<Drilled> {
    let witness = Witness::begin();
    let drilled = drill(what, Rig::downloading(name)?, witness, trouble);
    drilled.assert_held_before();
    Some(drilled)
}

#[test]
fn a_killed_daemon_lets_a_download_go_and_the_machine_is_as_before() {
    steadily(|| {
        let drilled = drill_download("w_kill", "killed", |rig| {
            rig.kill_daemon();
            thread::sleep(SECOND);
        });
        let Some(drilled) = drilled else { return };
        // A heartbeat may be 60 ms old; the window is on its way for half a round trip and seen
        // every 10 ms.
        let after = drilled.let_go_after();
        assert!(after <= Duration::from_millis(130), "{after:?}");
    });
}

#[test]
fn a_modem_that_falls_silent_lets_a_download_go_until_it_speaks_again() {
    steadily(|| {
        let drilled = drill_download("w_mute", "silent modem", |rig| {
            thread::sleep(SECOND);
            rig.replay_for(2 * SECOND);
        });
        let Some(drilled) = drilled else { return };
        let after = drilled.let_go_after();
        assert!(after <= VALID, "{after:?}");
        assert_held_at_last("it speaks again", &drilled.flow);
    });
}

#[test]
fn a_stream_that_turns_to_noise_lets_a_download_go_until_it_clears() {
    steadily(|| {
        let drilled = drill_download("w_noise", "noise", |rig| {
            rig.corrupt_for(SECOND);
            rig.replay_for(2 * SECOND);
        });
        let Some(drilled) = drilled else { return };
        let after = drilled.let_go_after();
        assert!(after <= VALID, "{after:?}");
        assert_held_at_last("it clears", &drilled.flow);
    });
}

#[test]
fn a_modem_that_reboots_with_another_clock_holds_a_download_again() {
    steadily(|| {
        let drilled = drill_download("w_boot", "rebooted modem", |rig| {
            rig.unplug();
            thread::sleep(SECOND);
            rig.reset_clock();
            rig.plug();
            rig.replay_for(2 * SECOND);
        });
        let Some(drilled) = drilled else { return };
        let after = drilled.let_go_after();
        assert!(after <= Duration::from_millis(100), "{after:?}");
        assert_held_at_last("it is back", &drilled.flow);
    });
}

#[test]
fn a_feed_full_of_garbage_is_survived_and_holds_a_download_when_it_is_mended() {
    steadily(|| {
        let drilled = drill_download("w_junk", "garbage in the feeds", |rig| {
            garble_for(SECOND, rig);
            rig.replay_for(2 * SECOND);
        });
        let Some(drilled) = drilled else { return };
        drilled.let_go_after();
        assert_held_at_last("it is mended", &drilled.flow);
    });
}

#[test]
fn a_second_daemon_that_would_hold_the_same_downloads_is_refused() {
    steadily(|| {
        let drilled = drill_download("w_two", "two daemons", |rig| {
            let pty = Pty::create(None).expect("a pty");
            let rival = rig.start_rival(pty.path());
            let said = String::from_utf8_lossy(&rival.stderr);
            let first = rig.daemon_id().to_string();
            assert!(!rival.status.success() && said.contains(&first), "{said}");
            rig.replay_for(SECOND);
        });
        let Some(drilled) = drilled else { return };
        assert_held_at_last("it was refused", &drilled.flow);
    });
}

#[test]
fn a_daemon_comes_and_goes_under_downloads_and_each_new_one_holds_them() {
    steadily(|| {
        let drilled = drill_download("w_load", "unloaded under load", |rig| {
            for _ in 0..3 {
                rig.stop();
                rig.start_daemon();
                let newcomer = rig.transfer();
                rig.replay_for(Duration::from_millis(1500));
                let newcomer = newcomer.abort().expect("the flow ends in good order");
                assert_held_at_last("a newcomer", &newcomer);
            }
        });
        let Some(drilled) = drilled else { return };
        drilled.let_go_after();
    });
}

#[test]
fn a_daemon_whose_clock_a_time_namespace_shifts_holds_a_download() {
    if clocks_skipped() {
        return;
    }
    for (name, seconds) in [("w_late", "180"), ("w_early", "-180")] {
        steadily(|| {
            let witness = Witness::begin();
            let (_folder, program) = shifted_by(seconds);
            let Some(rig) = Rig::downloading_by(name, &program) else { return };
            let drilled = drill("shifted clock", rig, witness, |rig| rig.replay_for(SECOND));
            drilled.assert_held_before();
            assert_held_at_last(seconds, &drilled.flow);
        });
    }
}

/// Waits for the window that the sender sees, five seconds at most.
fn wait_for(what: &str, track: &Track, is_so: impl Fn(u64) -> bool) {
    // SAFETY: the socket is open until the transfer is waited for.
    let socket = unsafe { BorrowedFd::borrow_raw(track.flow().sender_socket()) };
    let reached = (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        is_so(TcpInfo::of(socket).expect("a socket of TCP").peer_window.count())
    });
    assert!(reached, "{what}: {:?}", TcpInfo::of(socket).map(|info| info.peer_window));
}

#[test]
fn no_tale_of_a_publisher_stalls_a_download_and_the_truth_holds_it_again() {
    if downlink_skipped() {
        return;
    }
    steadily(|| {
        let witness = Witness::begin();
        let before = held_by(std::process::id());
        let own = OwnCgroup::enter(&format!("sounding-tales-{}", std::process::id()));
        let own = own.expect("a cgroup");
        let link = || beside::over_down(Steps::constant(TRUE_RATE));
        let emulation = Emulation::start(link()).expect("an emulation");
        let config =
            DownlinkConfig { cgroup: Some(own.path().into()), ..DownlinkConfig::default() };
        let downlink = emulation.near().enter(|| Downlink::load(&config)).expect("it is there");
        let downlink = downlink.expect("it loads");
        let objects: BTreeSet<_> =
            held_by(std::process::id()).difference(&before).copied().collect();
        let publisher = Publisher::start(downlink.feed().clone(), TRUE_RATE);
        let ours = Track::over(emulation, Direction::Downlink, "cubic");
        let stock = Track::start(link(), Direction::Downlink, "cubic");
        let is_held = |window| window < HELD;
        thread::sleep(SECOND / 2);
        let mut spans = Vec::new();
        for (tale, reason) in TALES {
            wait_for("the truth", &ours, is_held);
            let from = monotonic_now();
            publisher.turn_to(tale);
            match tale {
                Tale::Nothing => wait_for("two segments", &ours, |window| window < 4_000),
                _ if reason.is_some() => wait_for("let go", &ours, |window| !is_held(window)),
                _ => {}
            }
            thread::sleep(SECOND);
            publisher.turn_to(Tale::Truth);
            wait_for("the truth again", &ours, is_held);
            thread::sleep(SECOND / 2);
            spans.push((tale, from, monotonic_now()));
        }
        drop(publisher);
        // It puts sockets back of the namespace it is dropped in.
        ours.emulation().near().enter(|| drop(downlink)).expect("it is there");
        let (ours, stock) = (ours.end(), stock.end());
        for (tale, from, to) in spans {
            judge(&format!("download: {tale:?}"), &ours, &stock, from, to);
        }
        witness.end("other", &objects);
    });
}
