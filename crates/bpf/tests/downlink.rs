//! How a receiver limits its sender in this machine's kernel, over a loopback that stands for the
//! radio. If it cannot be loaded, each test says why and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod device;
#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::RangeInclusive;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use device::{alone, config, load};
use sounding_bpf::{
    Bound, Downlink, DownlinkConfig, FeedEstimate, Hold, Signal, offers, release_pinned,
};
use sounding_host::monotonic_now;
use sounding_units::{Bytes, Rate};
use support::*;

/// Data on its way, and the end that receives it.
fn download() -> (Bulk, TcpStream) {
    let (near, far) = connected();
    let end = far.try_clone().unwrap();
    (Bulk::start((near, far)), end)
}

/// The clamp of a receive window, as the kernel has it.
fn clamp(socket: &TcpStream) -> u64 {
    let mut value = 0i32;
    let mut len = 4;
    // SAFETY: pointer and length describe `value`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw mut value).cast(),
            &mut len,
        )
    };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
    value as u64
}

/// The payload of 80 Mbit/s in 15 ms and a round trip of a millisecond at most.
const EIGHTY: RangeInclusive<u64> = 140_000..=158_000;

fn is_held(end: &TcpStream) -> Option<()> {
    EIGHTY.contains(&clamp(end)).then_some(())
}

#[test]
fn a_window_is_held_at_the_downlinks_rate_and_freed_when_that_is_withdrawn() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let daemon = Daemon::publish(downlink.feed(), 80);
        let (bulk, end) = download();
        wait_for("the clamp", || is_held(&end));
        wait_for("the sender to see it", || (window_of_peer(&bulk.sender) < 160_000).then_some(()));
        let flow = downlink.flow(&end).unwrap().unwrap();
        assert_eq!((flow.hold, flow.flows), (Hold::Held, 1));
        assert_eq!(flow.share, Rate::from_bits_per_sec(80_000_000));
        drop(daemon);
        downlink.feed().invalidate();
        wait_for("the release", || (clamp(&end) >= flow.theirs.count()).then_some(()));
        let flow = downlink.flow(&end).unwrap().unwrap();
        assert_eq!((flow.hold, flow.window), (Hold::Free, Bytes::ZERO));
        let _daemon = Daemon::publish(downlink.feed(), 80);
        wait_for("the clamp to be back", || is_held(&end));
    });
}

#[test]
fn a_daemon_that_falls_silent_lets_go() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let daemon = Daemon::publish(downlink.feed(), 80);
        let (_bulk, end) = download();
        wait_for("the clamp", || is_held(&end));
        // It ends without a word, as when it is killed.
        drop(daemon);
        wait_for("the release", || {
            (downlink.flow(&end).unwrap().unwrap().hold == Hold::Free).then_some(())
        });
    });
}

#[test]
fn an_instance_that_ends_leaves_the_sockets_of_another_to_it() {
    alone(|cgroup| {
        ip("link add elsewhere type veth peer name far0");
        let interfaces = vec!["elsewhere".into()];
        let config = DownlinkConfig { interfaces, ..config(cgroup, Signal::Window) };
        let other = Downlink::load(&config).unwrap();
        let downlink = load(cgroup, Signal::Window);
        let daemon = Daemon::publish(downlink.feed(), 80);
        let (_bulk, end) = download();
        wait_for("the clamp", || is_held(&end));
        assert_eq!(other.flow(&end).unwrap().unwrap().clamps, 0);
        drop(other);
        drop(daemon);
        wait_for("the release", || {
            (downlink.flow(&end).unwrap().unwrap().hold == Hold::Free).then_some(())
        });
    });
}

#[test]
fn sockets_that_another_instance_has_are_refused_and_all_others_are_not() {
    alone(|cgroup| {
        ip("link add elsewhere type veth peer name far0");
        let downlink = load(cgroup, Signal::Window);
        let beside = |interfaces: &[&str], cgroup: &Path| {
            let interfaces = interfaces.iter().map(|name| (*name).into()).collect();
            Downlink::load(&DownlinkConfig { interfaces, ..config(cgroup, Signal::Window) })
        };
        let below = cgroup.join("below");
        std::fs::create_dir(&below).unwrap();
        for (interfaces, cgroup) in [
            (&["lo"][..], cgroup),
            (&["elsewhere", "lo"], cgroup),
            (&[], cgroup),
            (&["lo"], &below),
        ] {
            let refused = beside(interfaces, cgroup).err().expect("they are taken").to_string();
            assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        }
        beside(&["elsewhere"], cgroup).unwrap();
        in_netns(|| beside(&["lo"], cgroup).map(drop)).unwrap();
        drop(downlink);
        beside(&[], &below).unwrap();
        std::fs::remove_dir(&below).unwrap();
    });
}

#[test]
fn every_device_of_a_modem_counts_as_the_radio_and_no_other_does() {
    alone(|cgroup| {
        ip("link add elsewhere type veth peer name far0");
        // The last is not there yet.
        let interfaces = ["elsewhere", "far0", "wwan0"].map(Into::into).to_vec();
        let config = DownlinkConfig { interfaces, ..config(cgroup, Signal::Window) };
        let mut downlink = Downlink::load(&config).unwrap();
        let _daemon = Daemon::publish(downlink.feed(), 80);
        let (bulk, end) = download();
        wait_for("data", || (bulk.arrived() > 50_000_000).then_some(()));
        assert_eq!(downlink.flow(&end).unwrap().unwrap().clamps, 0);
        downlink.follow(&[0, 0, LOOPBACK]).unwrap();
        wait_for("the clamp", || is_held(&end));
        assert!(downlink.follow(&[LOOPBACK; 9]).is_err());
    });
}

#[test]
fn few_calls_are_needed_while_the_rate_stays() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let _daemon = Daemon::publish(downlink.feed(), 80);
        let (bulk, end) = download();
        wait_for("the clamp", || is_held(&end));
        let (calls, arrived) = (downlink.flow(&end).unwrap().unwrap().clamps, bulk.arrived());
        wait_for("data", || (bulk.arrived() > arrived + 100_000_000).then_some(()));
        let more = downlink.flow(&end).unwrap().unwrap().clamps - calls;
        // The kernel tunes its buffer a few times, and a shorter round trip may be seen.
        assert!(more < 50, "{more} calls");
    });
}

#[test]
fn a_window_opens_step_by_step_where_the_radio_has_more() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let daemon = Daemon::publish(downlink.feed(), 80);
        let (_bulk, end) = download();
        wait_for("the clamp", || is_held(&end));
        drop(daemon);
        let mut seen = vec![clamp(&end)];
        wait_for("it to be open", || {
            let now = monotonic_now();
            let served = FeedEstimate { bound: Bound::Floor, ..capacity(80) };
            downlink.feed().publish(&served);
            downlink.feed().heartbeat(now);
            let flow = downlink.flow(&end).unwrap().unwrap();
            if flow.hold == Hold::Opening {
                seen.push(flow.window.count());
            }
            (flow.hold == Hold::Free).then_some(())
        });
        assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]), "{seen:?}");
        assert!(clamp(&end) > seen[0]);
    });
}

#[test]
fn a_window_is_two_segments_even_where_nothing_is_carried() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let _daemon = Daemon::publish(downlink.feed(), 0);
        let (bulk, end) = download();
        wait_for("the clamp", || (2_880..6_000).contains(&clamp(&end)).then_some(()));
        let before = bulk.arrived();
        wait_for("data", || (bulk.arrived() > before + 100_000).then_some(()));
        assert!(downlink.flow(&end).unwrap().unwrap().window.count() >= 2 * 1_440);
    });
}

#[test]
fn what_was_advertised_is_never_taken_back() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let (bulk, end) = download();
        let mut edges = Vec::new();
        let mut clamps = Vec::new();
        for turn in 0..400u64 {
            downlink.feed().publish(&capacity(if turn / 20 % 2 == 0 { 400 } else { 4 }));
            downlink.feed().heartbeat(monotonic_now());
            edges.push(right_edge(&bulk.sender));
            clamps.push(clamp(&end));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(edges.windows(2).all(|pair| pair[0] <= pair[1]), "{edges:?}");
        assert!(edges.last() > edges.first(), "nothing moves");
        let (least, most) = (clamps.iter().min().unwrap(), clamps.iter().max().unwrap());
        assert!(4 * least < *most, "{least} to {most}");
    });
}

#[test]
fn a_connection_in_mid_life_is_adopted() {
    alone(|cgroup| {
        let (_bulk, end) = download();
        let downlink = load(cgroup, Signal::Window);
        let _daemon = Daemon::publish(downlink.feed(), 80);
        assert_eq!(downlink.flow(&end).unwrap(), None);
        let walked = downlink.adopt().unwrap();
        let adopts = offers().iter().any(|offer| offer.name == "open connections" && offer.ok);
        if !adopts {
            // Before Linux 6.12 it is left alone, and counted.
            assert_eq!((walked.reached, walked.refused), (0, 2));
            return;
        }
        assert_eq!((walked.reached, walked.refused), (2, 0));
        wait_for("the clamp", || is_held(&end));
        assert!(downlink.flow(&end).unwrap().unwrap().adopted);
    });
}

#[test]
fn loopback_is_no_radio_unless_it_is_named() {
    alone(|cgroup| {
        let config = DownlinkConfig { interfaces: Vec::new(), ..config(cgroup, Signal::Window) };
        let mut downlink = Downlink::load(&config).unwrap();
        let _daemon = Daemon::publish(downlink.feed(), 80);
        let (bulk, end) = download();
        wait_for("data", || (bulk.arrived() > 50_000_000).then_some(()));
        assert_eq!(downlink.flow(&end).unwrap().unwrap().clamps, 0);
        // A device that is found only now.
        downlink.follow(&[LOOPBACK]).unwrap();
        wait_for("the clamp", || is_held(&end));
    });
}

/// One that no account of this machine has.
const NOBODYS_UID: u32 = 4_242_421;

#[test]
fn a_user_gains_no_part_of_anothers_by_more_downloads() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let _daemon = Daemon::publish(downlink.feed(), 80);
        let (_bulk, end) = download();
        // Only this thread's, and its sockets'.
        let theirs = std::thread::scope(|scope| {
            let opens = scope.spawn(|| {
                // SAFETY: a plain system call that changes the calling thread alone, which ends
                // with this.
                unsafe { libc::setfsuid(NOBODYS_UID) };
                [(); 20].map(|()| download())
            });
            opens.join().unwrap()
        });
        let share = |of: &TcpStream| downlink.flow(of).unwrap().unwrap().share;
        let half = Rate::from_bits_per_sec(40_000_000);
        wait_for("parts", || {
            let each = half.scaled(1, 20);
            let they_have = theirs.iter().all(|(_, end)| share(end) == each);
            (share(&end) == half && they_have).then_some(())
        });
        drop(theirs);
        wait_for("all of it", || {
            (share(&end) == Rate::from_bits_per_sec(80_000_000)).then_some(())
        });
    });
}

#[test]
fn two_downloads_share_and_one_that_is_idle_gives_its_share_back() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let _daemon = Daemon::publish(downlink.feed(), 80);
        let (_bulk, end) = download();
        let (second, other) = download();
        let share = |of: &TcpStream| downlink.flow(of).unwrap().unwrap().share;
        let half = Rate::from_bits_per_sec(40_000_000);
        wait_for("halves", || (share(&end) == half && share(&other) == half).then_some(()));
        drop(second);
        wait_for("all of it", || {
            (share(&end) == Rate::from_bits_per_sec(80_000_000)).then_some(())
        });
    });
}

/// A connection that is held, and silent now.
fn held_and_silent(downlink: &Downlink) -> (TcpStream, TcpStream) {
    let (mut near, mut far) = connected();
    wait_for("the clamp", || {
        near.write_all(&[7; 40_000]).unwrap();
        far.read_exact(&mut [0; 40_000]).unwrap();
        let flow = downlink.flow(&far).unwrap()?;
        // The last read may have made the kernel tune its buffer, and set another clamp.
        let is_ours = clamp(&far) == flow.window.count();
        (flow.hold == Hold::Held && flow.window < flow.theirs && is_ours).then_some(())
    });
    (near, far)
}

#[test]
fn what_is_silent_is_put_back_at_the_end() {
    alone(|cgroup| {
        let downlink = load(cgroup, Signal::Window);
        let _daemon = Daemon::publish(downlink.feed(), 10);
        let (_near, far) = held_and_silent(&downlink);
        let theirs = downlink.flow(&far).unwrap().unwrap().theirs.count();
        drop(downlink);
        assert_eq!(clamp(&far), theirs);
    });
}

#[test]
fn pins_put_back_what_a_killed_process_held() {
    alone(|cgroup| {
        let name = format!("test-{}", std::process::id());
        let config = DownlinkConfig { pin: Some(name), ..config(cgroup, Signal::Window) };
        let downlink = Downlink::load(&config).unwrap_or_else(|error| panic!("{error}"));
        let path = downlink.pins().unwrap().to_path_buf();
        let daemon = Daemon::publish(downlink.feed(), 10);
        let (_near, far) = held_and_silent(&downlink);
        let theirs = downlink.flow(&far).unwrap().unwrap().theirs.count();
        assert!(clamp(&far) < theirs);
        // Skips everything that a process does at its end.
        drop(daemon);
        std::mem::forget(downlink);
        release_pinned(&path).unwrap();
        assert_eq!(clamp(&far), theirs);
        assert!(!path.exists());
        // And once more, too late.
        release_pinned(&path).unwrap();
    });
}

#[test]
fn a_whole_life_leaves_the_kernels_log_without_alarms() {
    alone(|cgroup| {
        let log = KernelLog::watch();
        let downlink = load(cgroup, Signal::Both);
        let daemon = Daemon::publish(downlink.feed(), 80);
        let (bulk, end) = download();
        wait_for("the clamp", || is_held(&end));
        drop(downlink);
        drop(daemon);
        let before = bulk.arrived();
        wait_for("data", || (bulk.arrived() > before + 10_000_000).then_some(()));
        drop(bulk);
        assert_eq!(log.alarms(), Vec::<String>::new());
    });
}

/// `struct tcp_info` of a socket (linux/tcp.h), as words of 32 bits.
fn tcp_info(socket: &TcpStream) -> [u32; 58] {
    let mut info = [0u32; 58];
    let mut len = size_of_val(&info) as libc::socklen_t;
    // SAFETY: pointer and length describe `info`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut len,
        )
    };
    assert_eq!((result, len), (0, 232), "{}", io::Error::last_os_error());
    info
}

/// `tcpi_snd_wnd`: what the receiver advertised last.
fn window_of_peer(sender: &TcpStream) -> u64 {
    tcp_info(sender)[57].into()
}

/// The last byte that the sender may send: what is acknowledged (`tcpi_bytes_acked`) and the
/// window.
fn right_edge(sender: &TcpStream) -> u64 {
    let info = tcp_info(sender);
    let acked = u64::from(info[30]) | u64::from(info[31]) << 32;
    acked + u64::from(info[57])
}
