//! A paced call and uploads of the same phone: all of them wait in one queue at its radio.

use std::io::Write as _;
use std::time::Duration;

use sounding_bpf::{Background, BackgroundConfig};
use sounding_emu::{Direction, Emulation};
use sounding_sim::Device;
use sounding_testbed::flow::{RunningTcp, TcpFlow, UdpFlow};
use sounding_testdata::steadily;
use sounding_units::Rate;

use crate::rig::{emulated, rate, skipped};

/// A phone at 20 dB in a cell of 10 MHz, 20 ms from its server; the radio does not change.
const PLAN: &str = r#"
duration = "120s"
seeds = 1
wire = { delay = "20ms" }
[[cell.carriers]]
prb = 50
[[cell.devices]]
name = "first"
channel = { kind = "script", levels = [{ at_s = 0.0, sinr_db = 20.0 }] }
[[flows]]
device = "first"
direction = "up"
controller = "cubic"
"#;

/// What a call may be delayed by an upload in the background, at most.
const BESIDE: Duration = Duration::from_millis(10);

fn upload(emulation: &Emulation, congestion: &str) -> RunningTcp {
    let flow = TcpFlow {
        device: Device(0),
        congestion: Some(congestion.into()),
        ..TcpFlow::new(Direction::Uplink)
    };
    flow.start(emulation).unwrap()
}

/// The delays of a call of 1 Mbit/s in packets of 600 bytes, on two clocks that run alike, as they
/// arrived.
fn call(emulation: &Emulation, secs: u64) -> Vec<i64> {
    let rate = Rate::from_bits_per_sec(1_000_000);
    let flow = UdpFlow {
        packet_size: 600,
        ..UdpFlow::new(Direction::Uplink, rate, Duration::from_secs(secs))
    };
    let result = flow.start(emulation).unwrap().wait().unwrap();
    // CUBIC fills the queue, and packets of the call are lost in it too.
    assert!(result.received > result.sent * 9 / 10, "{} of {}", result.received, result.sent);
    let delay = |sent: u64, received: u64| received as i64 - sent as i64;
    let arrivals = result.arrivals.iter();
    arrivals.map(|one| delay(one.sent.as_nanos(), one.received_realtime_ns)).collect()
}

/// The median of the 95th percentiles of a call's three parts: one stall of the machine is in one
/// part alone.
fn p95(delays: &[i64]) -> i64 {
    let mut parts: Vec<i64> = delays
        .chunks(delays.len().div_ceil(3))
        .map(|part| {
            let mut part = part.to_vec();
            part.sort_unstable();
            part[part.len() * 95 / 100]
        })
        .collect();
    parts.sort_unstable();
    parts[parts.len() / 2]
}

#[test]
fn a_call_of_the_same_phone_is_hardly_delayed_by_an_upload_in_the_background() {
    if skipped() {
        return;
    }
    steadily(|| {
        let name = format!("bo_{}", std::process::id());
        let config = BackgroundConfig { name: name.clone(), ..BackgroundConfig::default() };
        let loaded = Background::load(&config).unwrap();
        let cell = emulated(PLAN);
        let emulation = cell.emulation();
        let alone = p95(&call(emulation, 6));
        let beside = |congestion: &str, secs| {
            let upload = upload(emulation, congestion);
            std::thread::sleep(Duration::from_secs(4));
            let from = sounding_emu::monotonic_now();
            let delays = call(emulation, secs);
            let to = sounding_emu::monotonic_now();
            let flow = {
                // SAFETY: the socket is open until the transfer is waited for.
                let socket = unsafe { std::os::fd::BorrowedFd::borrow_raw(upload.sender_socket()) };
                loaded.flow(socket).ok().flatten()
            };
            let upload = upload.abort().unwrap();
            let by = Duration::from_nanos((p95(&delays) - alone).max(0).unsigned_abs());
            let rate = rate(&upload, from, to);
            let _ = writeln!(
                std::io::stderr(),
                "{congestion}: a call's p95 is {by:?} more; the upload had {rate:.1} Mbit/s; {flow:?}"
            );
            (by, rate)
        };
        let (foreground, _) = beside("cubic", 3);
        std::thread::sleep(Duration::from_secs(2));
        let (background, rate) = beside(&name, 18);
        cell.stop().unwrap();
        assert!(foreground > 2 * BESIDE, "the check would prove nothing: {foreground:?}");
        assert!(background <= BESIDE, "the call is delayed by {background:?}");
        assert!(rate > 1.0, "the upload has {rate} Mbit/s");
    });
}
