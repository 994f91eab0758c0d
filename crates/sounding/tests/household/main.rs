//! A router that reads its modem, and a client behind its address translation: the client's own
//! delay with `sounding shape` and without it, and through its failures. In HTB's form, which
//! every kernel has.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod base;
mod drills;
mod modem;
mod rig;

use std::thread::sleep;
use std::time::Duration;

use sounding_modem::Place;
use sounding_testbed::router::Probe;
use sounding_testdata::{may_emulate, steadily};

use rig::{Household, Shaping};

/// The mean round trip of small datagrams beside the client's own upload, ms, and its bytes.
fn upload(household: &Household) -> (f64, u64) {
    let flow = household.upload();
    // Until the queue has grown.
    sleep(Duration::from_secs(6));
    let probe = Probe { every: Duration::from_millis(20), size: 64 };
    let probing = probe.start(household.ends()).unwrap();
    sleep(Duration::from_secs(6));
    let probed = probing.stop().unwrap();
    let sent = flow.abort().unwrap().received.count();
    let times: Vec<f64> = probed
        .iter()
        .filter_map(|one| one.round_trip)
        .map(|time| time.as_secs_f64() * 1e3)
        .collect();
    assert!(times.len() > 200, "{} of {} probes came back", times.len(), probed.len());
    (times.iter().sum::<f64>() / times.len() as f64, sent)
}

#[test]
fn a_client_behind_a_shaped_router_waits_a_third_beside_its_own_upload() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let household = Household::start(Place::Pty(None));
        let before = household.traffic_control();
        let (plain_ms, plain_bytes) = upload(&household);
        sleep(Duration::from_secs(3));
        let flags = ["--only", "uplink", "--base", "2Mbit"];
        let shaping = Shaping::start(&household, &household.modem(), &flags);
        let (shaped_ms, shaped_bytes) = upload(&household);
        let lines = shaping.end();
        println!(
            "{plain_ms:.0} ms, {plain_bytes} bytes; shaped {shaped_ms:.0} ms, {shaped_bytes} bytes"
        );
        assert!(shaped_ms <= plain_ms / 3.0, "{shaped_ms} of {plain_ms} ms");
        assert!(shaped_bytes * 2 > plain_bytes, "{shaped_bytes} of {plain_bytes} bytes");
        assert_eq!(household.traffic_control(), before);
        let shaped = || lines.iter().filter(|line| line["event"] == "shaped");
        let rates = shaped().filter_map(|line| line["rate_bits_per_sec"].as_u64());
        assert!(rates.clone().count() > 20, "{} rates", rates.count());
        assert!(shaped().any(|line| line["reason"] == "capacity"), "the radio was never full");
    });
}
