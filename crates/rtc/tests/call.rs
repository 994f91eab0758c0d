//! Calls of an unmodified WebRTC stack to this crate's peer, over a modelled cell in real time.
//! Parts that need root, node or npm report a skip without them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod scene;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use scene::{Call, Scene, number};
use serde_json::json;
use sounding_emu::monotonic_now;
use sounding_testdata::{may_emulate, steadily};

#[test]
fn a_call_over_a_cell_has_its_frames_and_its_statistics_stock_and_smoothed() {
    if !may_emulate() || !scene::may_call() {
        return;
    }
    steadily(|| {
        for corrections in ["stock", "blind"] {
            let call = Scene::new().call(corrections, 4, |_| {});
            println!("{corrections}: {}", call.summary);
            // 30 frames a second from the connection on; the first need a while.
            let frames = number(&call.summary, "frames");
            assert!((60.0..=125.0).contains(&frames), "{corrections}: {}", call.summary);
            assert_eq!(call.logged("frame").len() as f64, frames);
            let delays = &call.summary["frame_delay_ms"];
            // 20 ms of wire, and no clock is wrong by seconds.
            assert!(number(delays, "least") >= 20.0, "{delays}");
            assert!(number(delays, "p95") < 1_000.0, "{delays}");
            let last = call.stats.last().unwrap();
            assert!(number(last, "available_bits_per_sec") > 0.0, "{last}");
            assert_eq!(number(last, "frame_height"), 360.0, "{last}");
            assert!(call.stats.len() > 20, "{} statistics in 4 s", call.stats.len());
            let moved = call.packets().filter(|packet| packet.arrived != packet.corrected).count();
            // A mean of 10 ms moves all packets but those that are alone in it.
            assert_eq!(moved > 0, corrections == "blind", "{corrections}: {moved} packets");
        }
    });
}

/// A modem's reports, as they come to the peer: data waits for the end of each hundredth of a
/// second.
fn report(peer: &mut UnixStream, length: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < length {
        let now = monotonic_now().as_nanos();
        let until = now / 10_000_000 * 10_000_000 - 20_000_000;
        for to in [until - 20_000_000, until - 10_000_000, until] {
            let wait = json!({
                "kind": "scheduling", "from_ns": to - 10_000_000, "to_ns": to, "amount_ns": 10_000_000,
            });
            writeln!(peer, "{}", json!({ "wait": wait })).unwrap();
        }
        writeln!(peer, "{}", json!({ "report": { "until_ns": until } })).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_modem_that_falls_silent_leaves_a_stock_call_within_100_ms() {
    if !may_emulate() || !scene::may_call() {
        return;
    }
    steadily(|| {
        let mut silent_at = None;
        let call = Scene::new().call("reported", 5, |peer| {
            report(peer, Duration::from_millis(2_500));
            silent_at = Some(monotonic_now());
        });
        println!("{}", call.summary);
        let silent_at = silent_at.unwrap();
        assert!(number(&call.summary, "packets_corrected") > 50.0, "{}", call.summary);
        let packets: Vec<_> = call.packets().collect();
        let corrected = packets.iter().filter(|packet| packet.corrected < packet.arrived);
        assert!(corrected.count() > 50);
        // A packet that came later than 100 ms after the last report counts as it came.
        let after =
            packets.iter().filter(|packet| packet.arrived > silent_at + Duration::from_millis(100));
        let after: Vec<_> = after.collect();
        assert!(after.len() > 100, "{} packets after the modem's last report", after.len());
        assert!(after.iter().all(|packet| packet.corrected == packet.arrived));
        // The call goes on.
        let frames = call.logged("frame");
        let late = frames
            .iter()
            .filter(|frame| number(frame, "complete_ns") > silent_at.as_nanos() as f64);
        assert!(late.count() > 30);
    });
}

#[test]
fn a_peer_without_a_caller_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("peer");
    let mut peer = Call::peer(&["--socket", socket.to_str().unwrap(), "--at-most", "1"]);
    let status = peer.ended_within(Duration::from_secs(30));
    assert_eq!(status.and_then(|status| status.code()), Some(1));
}

#[test]
fn a_line_that_is_no_offer_ends_the_peer_with_its_reason() {
    for (line, reason) in [
        ("{\"offer\":{}}\n", "missing field `sdp`"),
        (
            "{\"offer\":{\"sdp\":\"v=1\",\"address\":\"127.0.0.1\"}}\n",
            "the offer cannot be answered",
        ),
        ("{\"dance\":{}}\n", "unknown variant `dance`"),
        ("", "the input ended before an offer"),
    ] {
        let mut peer = Call::peer(&["--at-most", "20"]);
        peer.input().write_all(line.as_bytes()).unwrap();
        let (status, said) = peer.end();
        assert_eq!(status.code(), Some(1), "{line}");
        assert!(said.contains(reason), "{line}: {said}");
    }
}

#[test]
fn connections_that_end_make_room_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("peer");
    let mut peer = Call::peer(&["--socket", socket.to_str().unwrap(), "--at-most", "60"]);
    let report = b"{\"report\":{\"until_ns\":1}}\n";
    let mut open = Vec::new();
    for number in 0..200 {
        let mut stream = scene::connected(socket.to_str().unwrap());
        stream.write_all(report).unwrap();
        open.push(stream);
        // Thirty are open beside each other.
        if number >= 30 {
            drop(open.remove(0));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut last = scene::connected(socket.to_str().unwrap());
    last.write_all(b"{\"offer\":{\"sdp\":\"v=1\",\"address\":\"127.0.0.1\"}}\n").unwrap();
    let status = peer.ended_within(Duration::from_secs(20)).expect("the offer is read");
    assert_eq!(status.code(), Some(1));
    let (_, said) = peer.end();
    assert!(said.contains("the offer cannot be answered"), "{said}");
}
