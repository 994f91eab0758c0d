//! The loading process is killed while a flow runs.

use std::process::{Child, Command};
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use sounding_bpf::{Bound, Config, FeedEstimate, Instance};
use sounding_emu::{Direction, monotonic_now};
use sounding_testbed::flow::TcpFlow;
use sounding_testdata::steadily;
use sounding_units::HostInstant;

use super::{emulate, mbit, radio};

const NAME: &str = "SOUNDING_TEST_NAME";

/// Environment variable that is set in the child process, which is killed.
#[test]
#[ignore = "run, and killed, by a_flow_outlives_the_process_that_loaded_its_program"]
fn load_and_publish_until_killed() {
    let name = std::env::var(NAME).unwrap();
    let biscay = Instance::load(&Config { name, ..Config::default() }).unwrap();
    loop {
        let now = monotonic_now();
        let (rate, bound) = (mbit(20), Bound::Capacity);
        biscay.feed().publish(&FeedEstimate { rate, sampled_at: now, bound, other_flows: 0 });
        biscay.feed().heartbeat(now);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn available(name: &str) -> bool {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap()
        .split_whitespace()
        .any(|entry| entry == name)
}

/// The child's map of flows. From now on this process keeps it alive.
fn flows_of(child: &Child) -> MapHandle {
    let ids = std::fs::read_dir(format!("/proc/{}/fdinfo", child.id())).unwrap().flatten();
    ids.filter_map(|entry| {
        let text = std::fs::read_to_string(entry.path()).ok()?;
        let id = text.lines().find_map(|line| line.strip_prefix("map_id:\t"))?;
        MapHandle::from_map_id(id.parse().ok()?).ok()
    })
    .find(|map| map.name() == "flows")
    .unwrap()
}

/// The phase of a flow, its reason and its beginning, as in `struct flow_status`.
fn state(flows: &MapHandle, socket: i32) -> (u32, u32, HostInstant) {
    let flow = flows.lookup(&socket.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
    let int = |at: usize| u32::from_ne_bytes(flow[at..at + 4].try_into().unwrap());
    let since = u64::from_ne_bytes(flow[..8].try_into().unwrap());
    (int(32), int(36), HostInstant::from_nanos(since))
}

#[test]
fn a_flow_outlives_the_process_that_loaded_its_program() {
    steadily(|| {
        let Some(name) = radio::name("kill") else { return };
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::load_and_publish_until_killed", "--ignored"])
            .env(NAME, &name)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..1_000 {
            if available(&name) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let flows = flows_of(&child);
        let emulation = emulate(&[(0, 20)]);
        let flow = TcpFlow {
            congestion: Some(name.clone()),
            sample_every: Duration::from_millis(50),
            ..TcpFlow::new(Direction::Uplink)
        };
        let running = flow.start(&emulation).unwrap();
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(
            state(&flows, running.sender_socket()).0,
            1,
            "not under the law before the kill"
        );

        let killed = monotonic_now();
        child.kill().unwrap();
        child.wait().unwrap();
        std::thread::sleep(Duration::from_secs(3));
        let (phase, reason, since) = state(&flows, running.sender_socket());
        assert!(!available(&name), "the name is still there");
        let result = running.stop().unwrap();

        assert_eq!((phase, reason), (0, 4), "the phase is not no-estimate with the reason silent");
        assert!(since - killed <= Duration::from_millis(100), "{:?}", since - killed);
        assert_eq!(result.congestion, name);
        // 40 ms of RTT and some queue: a quarter of a second without an ACK would be a stall.
        let samples: Vec<_> = result.samples.iter().filter(|sample| sample.at > killed).collect();
        for window in samples.windows(6) {
            assert!(window[5].info.acked > window[0].info.acked, "stalled at {}", window[0].at);
        }
        assert!(samples.len() > 40, "{} samples", samples.len());
    });
}
