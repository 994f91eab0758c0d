//! BISCAY in this kernel on emulated links. If a test cannot run, it prints the reason and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod background;
mod cubic;
mod killed;
mod lengthening;
mod radio;

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use radio::Radio;
use sounding_bpf::{Bound, Flow, Phase, Reason};
use sounding_emu::{Config, Direction, Emulation};
use sounding_sim::{Device, PathConfig, QueueLimit};
use sounding_testbed::flow::{RunningTcp, TcpFlow, TcpInfo};
use sounding_testdata::steadily;
use sounding_trace::{Step, Steps};
use sounding_units::{Bytes, Rate};

/// One way; twice that is the RTT without queue.
const DELAY: Duration = Duration::from_millis(20);
const RTT: Duration = Duration::from_millis(40);

fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_sec(rate * 1_000_000)
}

fn link(steps: &[(u64, u64)]) -> PathConfig {
    let steps = steps
        .iter()
        .map(|&(secs, rate)| Step { at: Duration::from_secs(secs), rate: mbit(rate) })
        .collect();
    PathConfig {
        delay: DELAY,
        queue: QueueLimit::bytes(Bytes::new(600_000)),
        ..PathConfig::new(Steps::new(steps).unwrap())
    }
}

/// A link of these Mbit/s from these seconds on, and one of 1 Gbit/s for the way back.
fn emulate(steps: &[(u64, u64)]) -> Emulation {
    Emulation::start(Config::new(link(steps), link(&[(0, 1_000)]))).unwrap()
}

fn upload(emulation: &Emulation, congestion: &str) -> RunningTcp {
    let flow = TcpFlow { congestion: Some(congestion.into()), ..TcpFlow::new(Direction::Uplink) };
    flow.start(emulation).unwrap()
}

fn socket(running: &RunningTcp) -> BorrowedFd<'_> {
    // SAFETY: the socket is open until the transfer is waited for, which takes it by value.
    unsafe { BorrowedFd::borrow_raw(running.sender_socket()) }
}

fn flow(radio: &Radio, running: &RunningTcp) -> Flow {
    radio.instance.flow(socket(running)).unwrap().unwrap()
}

fn secs(count: u64) {
    thread::sleep(Duration::from_secs(count));
}

#[test]
fn a_flow_whose_estimates_stop_is_bbr_within_a_tenth_of_a_second_of_their_end() {
    steadily(|| {
        let Some(radio) = Radio::start("mute", 20) else { return };
        let emulation = emulate(&[(0, 20)]);
        let running = upload(&emulation, radio.instance.name());
        radio.next(Phase::RadioLimited);
        secs(1);
        let last = radio.mute();
        let fall = radio.next_after(last, Phase::NoEstimate);
        assert_eq!(fall.reason, Reason::Stale);
        let age = fall.at - last;
        assert!(age > Duration::from_millis(200), "{age:?}");
        assert!(age <= Duration::from_millis(300), "{age:?}");
        assert_eq!(flow(&radio, &running).phase, Phase::NoEstimate);
        running.stop().unwrap();
    });
}

#[test]
fn a_flow_whose_daemon_dies_is_bbr_within_100_ms_and_back_after_its_return() {
    steadily(|| {
        let Some(radio) = Radio::start("die", 20) else { return };
        let emulation = emulate(&[(0, 20)]);
        let running = upload(&emulation, radio.instance.name());
        radio.next(Phase::RadioLimited);
        secs(1);
        let last = radio.die();
        let fall = radio.next_after(last, Phase::NoEstimate);
        assert_eq!(fall.reason, Reason::Silent);
        let silence = fall.at - last;
        assert!(silence > Duration::from_millis(60), "{silence:?}");
        assert!(silence <= Duration::from_millis(100), "{silence:?}");
        thread::sleep(Duration::from_millis(300));
        let returned = radio.revive();
        let rise = radio.next_after(returned, Phase::RadioLimited);
        assert_eq!(rise.reason, Reason::Fresh);
        assert!(rise.at - returned <= Duration::from_millis(100), "{:?}", rise.at - returned);
        running.stop().unwrap();
    });
}

#[test]
fn a_link_that_falls_and_rises_is_followed_with_little_queue() {
    steadily(|| {
        let Some(radio) = Radio::start("steps", 30) else { return };
        let steps = [(0, 30), (4, 10), (8, 40)];
        let mut config = Config::new(link(&steps), link(&[(0, 1_000)]));
        config.record = true;
        let emulation = Emulation::start(config).unwrap();
        let running = upload(&emulation, radio.instance.name());
        for ms in (0..11_000).step_by(10) {
            // As late as the paper's modem is.
            let told =
                steps.iter().rev().find(|(at, _)| ms >= at * 1000 + 40).unwrap_or(&steps[0]).1;
            radio.set_mbit(told);
            let due = emulation.started() + Duration::from_millis(ms);
            thread::sleep(due - sounding_emu::monotonic_now());
        }
        running.stop().unwrap();
        let report = emulation.stop().unwrap();
        assert!(radio.transitions().iter().all(|seen| seen.reason == Reason::Fresh));
        // Each second a link had settled in. The allowance is 15 ms, and three bursts of two
        // packets are 7 ms at 10 Mbit/s; the kernel's BBR leaves 20 ms, and 230 after the
        // fall.
        for second in [2, 3, 6, 7, 9, 10] {
            let from = report.started + Duration::from_secs(second);
            let mut delays: Vec<_> = report
                .records
                .iter()
                .filter(|packet| (from..from + Duration::from_secs(1)).contains(&packet.entered))
                .filter(|packet| packet.direction == Direction::Uplink)
                .filter_map(sounding_emu::PacketRecord::queueing_delay)
                .collect();
            delays.sort();
            assert!(delays.len() > 500, "second {second}: {} packets", delays.len());
            let median = delays[delays.len() / 2];
            println!("second {second}: median queue {median:?}, {} packets", delays.len());
            assert!(median < Duration::from_millis(30), "second {second}: {median:?}");
        }
    });
}

#[test]
fn a_wire_narrower_than_the_radio_is_left_to_bbr_until_it_carries_the_radio_again() {
    steadily(|| {
        let Some(radio) = Radio::start("narrow", 40) else { return };
        let emulation = emulate(&[(0, 40), (3, 10)]);
        let running = upload(&emulation, radio.instance.name());
        radio.next(Phase::RadioLimited);
        let fall = radio.next(Phase::BottleneckElsewhere);
        assert_eq!(fall.reason, Reason::Narrow);
        let found = fall.at - (emulation.started() + Duration::from_secs(3));
        println!("found after {found:?}");
        assert!(found >= Duration::from_millis(400), "{found:?}");
        secs(3);
        let info = TcpInfo::of(socket(&running)).unwrap();
        println!("three seconds later: RTT {:?}", info.rtt);
        // Two BDP at most, and some bursts: what BBR's window holds.
        assert!(info.rtt < 2 * RTT + Duration::from_millis(40), "{:?}", info.rtt);
        assert_eq!(flow(&radio, &running).reason, Reason::Narrow);
        radio.set_mbit(10);
        let rise = radio.next(Phase::RadioLimited);
        assert_eq!(rise.reason, Reason::Wide);
        running.stop().unwrap();
    });
}

#[test]
fn two_flows_share_the_link_equally() {
    steadily(|| {
        let Some(radio) = Radio::start("share", 20) else { return };
        let emulation = emulate(&[(0, 20)]);
        let flows = [(); 2].map(|()| upload(&emulation, radio.instance.name()));
        secs(1);
        let acked = || flows.each_ref().map(|one| TcpInfo::of(socket(one)).unwrap().acked.count());
        let before = acked();
        secs(4);
        let after = acked();
        let [one, other] = [after[0] - before[0], after[1] - before[1]];
        println!("{one} and {other} bytes in four seconds");
        assert!(one.min(other) * 100 >= one.max(other) * 85, "{one} and {other} bytes");
        let seen = flow(&radio, &flows[0]);
        assert_eq!((seen.flows, seen.share), (2, mbit(10)));
        for running in flows {
            running.stop().unwrap();
        }
    });
}

#[test]
fn a_flow_moved_here_behind_a_standing_queue_drains_it() {
    steadily(|| {
        let Some(radio) = Radio::start("seed", 20) else { return };
        let emulation = emulate(&[(0, 20)]);
        let running = upload(&emulation, "cubic");
        let rtt = || TcpInfo::of(socket(&running)).unwrap().rtt;
        for _ in 0..1_000 {
            if rtt() > RTT + Duration::from_millis(80) {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let before = rtt();
        assert!(before > RTT + Duration::from_millis(80), "no queue stood: {before:?}");
        let name = radio.instance.name().as_bytes();
        // SAFETY: pointer and length describe `name`.
        let moved = unsafe {
            libc::setsockopt(
                running.sender_socket(),
                libc::IPPROTO_TCP,
                libc::TCP_CONGESTION,
                name.as_ptr().cast(),
                name.len() as libc::socklen_t,
            )
        };
        assert_eq!(moved, 0);
        secs(3);
        println!("RTT {before:?} before, {:?} after", rtt());
        assert!(rtt() < RTT + Duration::from_millis(25), "{:?}", rtt());
        let least = flow(&radio, &running).rtt_min.unwrap();
        assert!(least < RTT + Duration::from_millis(5), "{least:?}");
        running.stop().unwrap();
    });
}

#[test]
fn bbr_in_the_shadow_is_not_caught_in_its_search_for_the_rtt() {
    steadily(|| {
        // It begins one ten seconds after the last new minimum, and needs four segments in flight
        // to end it.
        let Some(radio) = Radio::start("probe", 20) else { return };
        let emulation = emulate(&[(0, 20), (12, 8)]);
        let modes = Arc::new(Mutex::new(Vec::new()));
        let running = upload(&emulation, radio.instance.name());
        for ms in (0..15_000).step_by(50) {
            radio.set_mbit(if ms < 12_000 { 20 } else { 8 });
            modes.lock().unwrap().push(flow(&radio, &running).bbr_mode);
            let due = emulation.started() + Duration::from_millis(ms);
            thread::sleep(due - sounding_emu::monotonic_now());
        }
        let modes = modes.lock().unwrap();
        let probing = modes.iter().filter(|mode| **mode == 3).count();
        assert_eq!(probing, 0, "{probing} of {} samples", modes.len());
        let end = flow(&radio, &running);
        assert_eq!((end.phase, end.reason), (Phase::RadioLimited, Reason::Fresh));
        // A filter that had gone blind would still say 19.
        assert!(end.e2e < mbit(9), "{}", end.e2e);
        running.stop().unwrap();
    });
}

#[test]
fn a_flow_that_timed_out_in_an_outage_is_back_at_its_share() {
    steadily(|| {
        let Some(radio) = Radio::start("outage", 20) else { return };
        let emulation = emulate(&[(0, 20), (2, 0), (4, 20)]);
        let running = upload(&emulation, radio.instance.name());
        for ms in (0..6_000).step_by(10) {
            radio.set_mbit(if (2_000..4_000).contains(&ms) { 0 } else { 20 });
            let due = emulation.started() + Duration::from_millis(ms);
            thread::sleep(due - sounding_emu::monotonic_now());
        }
        let info = TcpInfo::of(socket(&running)).unwrap();
        let end = flow(&radio, &running);
        println!("after the outage: {end:?}");
        assert_eq!((end.phase, end.reason), (Phase::RadioLimited, Reason::Fresh));
        // 20 Mbit/s × 50 ms and three bursts, less what the share's rounding and a later minimum of
        // the RTT make.
        assert!((80..=100).contains(&end.cwnd), "{}", end.cwnd);
        assert_eq!(info.cwnd, end.cwnd);
        let before = info.acked;
        secs(1);
        assert!(TcpInfo::of(socket(&running)).unwrap().acked > before);
        running.stop().unwrap();
    });
}

#[test]
fn a_search_for_the_rtt_under_way_is_ended_when_the_radio_is_back() {
    steadily(|| {
        let Some(radio) = Radio::start("search", 20) else { return };
        let emulation = emulate(&[(0, 20)]);
        let running = upload(&emulation, radio.instance.name());
        radio.next(Phase::RadioLimited);
        // BBR alone controls the flow until its probe ten seconds later.
        let died = radio.die();
        radio.next_after(died, Phase::NoEstimate);
        let mode = || flow(&radio, &running).bbr_mode;
        let searching = (0..15_000).any(|_| {
            thread::sleep(Duration::from_millis(1));
            mode() == 3
        });
        assert!(searching, "BBR never searched");
        let returned = radio.revive();
        radio.next_after(returned, Phase::RadioLimited);
        secs(1);
        assert_eq!(mode(), 2);
        running.stop().unwrap();
    });
}

#[test]
fn a_floor_that_was_only_served_is_probed_above() {
    steadily(|| {
        // A device that requests little is granted little: taken as a capacity, this would stay at
        // 1 Mbit/s.
        let Some(radio) = Radio::start_with("served", 1, Bound::Floor) else { return };
        let emulation = emulate(&[(0, 20)]);
        let running = upload(&emulation, radio.instance.name());
        radio.next(Phase::RadioLimited);
        secs(4);
        let seen = flow(&radio, &running);
        assert_eq!(seen.phase, Phase::RadioLimited);
        let result = running.stop().unwrap();
        println!("{} with a floor of {}", result.goodput, seen.share);
        assert!(result.goodput > mbit(10), "{}", result.goodput);
    });
}

#[test]
fn a_path_that_gets_thrice_as_long_keeps_its_share() {
    steadily(|| {
        // BBR beside it would halve its window again and again, by a minimum of the RTT that is no
        // longer true.
        let Some(radio) = Radio::start("longer", 20) else { return };
        let ms = Duration::from_millis;
        let up = PathConfig { delay: ms(5), ..link(&[(0, 20)]) };
        let links = lengthening::beside(&up, Duration::from_secs(2), ms(15), ms(55));
        let emulation = Emulation::start(Config::over(links, vec![Device(0)])).unwrap();
        let running = upload(&emulation, radio.instance.name());
        secs(4);
        let before = TcpInfo::of(socket(&running)).unwrap();
        secs(3);
        let after = TcpInfo::of(socket(&running)).unwrap();
        let end = flow(&radio, &running);
        println!("{end:?}");
        assert!(radio.transitions().iter().all(|seen| seen.reason == Reason::Fresh));
        // The kernel's minimum is still that of the shorter path, whose window carries half of the
        // share.
        assert!(end.rtt_min.unwrap() < ms(25), "{:?}", end.rtt_min);
        let delivered = Bytes::new(after.acked.count() - before.acked.count());
        let rate = delivered.per(Duration::from_secs(3));
        println!("{rate} on the longer path");
        assert!(rate > mbit(16), "{rate}");
        running.stop().unwrap();
    });
}
