//! Flows of real stacks over a modelled cell in real time, its modem on a port. Parts that need
//! root report a skip without it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../examples/common/mod.rs"]
mod common;
mod scene;

use std::time::{Duration, Instant};

use scene::{Controls, Scene, measured};
use sounding_emu::Direction;
use sounding_host::monotonic_now;
use sounding_quic::{EstimateHandle, Report, Reporter};
use sounding_testdata::{may_emulate, steadily};

use common::Stack;

const TRANSFER: Duration = Duration::from_secs(6);

#[test]
fn an_upload_with_the_modems_estimate_queues_far_less_at_a_comparable_rate() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let stock =
            measured(Direction::Uplink, Stack::Quinn, Stack::Quinn, Controls::Stock, TRANSFER);
        let ours = [
            measured(
                Direction::Uplink,
                Stack::Quinn,
                Stack::Quinn,
                Controls::Modem("sounding"),
                TRANSFER,
            ),
            measured(
                Direction::Uplink,
                Stack::Quinn,
                Stack::Noq,
                Controls::Modem("biscay"),
                TRANSFER,
            ),
            measured(
                Direction::Uplink,
                Stack::Noq,
                Stack::Quinn,
                Controls::Modem("sounding"),
                TRANSFER,
            ),
        ];
        println!("stock {stock:?}\nours {ours:?}");
        for flow in ours {
            assert!(2 * flow.p95 < stock.p95, "{flow:?} beside {stock:?}");
            assert!(flow.bytes * 10 > stock.bytes * 7, "{flow:?} beside {stock:?}");
        }
    });
}

#[test]
fn a_download_whose_receiver_reports_its_modem_waits_far_less_than_the_stocks() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let stock =
            measured(Direction::Downlink, Stack::Quinn, Stack::Quinn, Controls::Stock, TRANSFER);
        let ours = measured(
            Direction::Downlink,
            Stack::Noq,
            Stack::Quinn,
            Controls::Reports("sounding"),
            TRANSFER,
        );
        println!("stock {stock:?}\nours {ours:?}");
        assert!(ours.reports > 100, "{ours:?}");
        assert!(2 * ours.p95 < stock.p95, "{ours:?} beside {stock:?}");
        assert!(ours.bytes * 10 > stock.bytes * 7, "{ours:?} beside {stock:?}");
    });
}

#[test]
fn a_background_upload_uses_a_cell_that_it_has_alone() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let upload = |sender, controls| {
            measured(Direction::Uplink, sender, Stack::Quinn, controls, 2 * TRANSFER)
        };
        let stock = upload(Stack::Quinn, Controls::Stock);
        let ours =
            [Stack::Quinn, Stack::Noq].map(|stack| upload(stack, Controls::Blind("background")));
        let timed =
            [Stack::Quinn, Stack::Noq].map(|stack| upload(stack, Controls::Timed("background")));
        println!("stock {stock:?}\nours {ours:?}\ntimed {timed:?}");
        for flow in ours.into_iter().chain(timed) {
            assert!(2 * flow.p95 < stock.p95, "{flow:?} beside {stock:?}");
            assert!(flow.bytes * 10 > stock.bytes * 5, "{flow:?} beside {stock:?}");
        }
        assert!(timed.iter().all(|flow| flow.times > 200), "{timed:?}");
    });
}

#[test]
fn a_download_gets_the_delays_of_the_receivers_radio_and_when_packets_arrived() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        for sender in [Stack::Quinn, Stack::Noq] {
            let controls = Controls::Delays("copa-gandalf");
            let flow = measured(Direction::Downlink, sender, Stack::Noq, controls, TRANSFER);
            println!("{sender} {flow:?}");
            assert!(flow.reports > 100 && flow.times > 100, "{flow:?}");
            // 1 Mbit/s, at a delay far below that of a full buffer.
            assert!(flow.bytes > 500_000, "{flow:?}");
            assert!(flow.p95 < Duration::from_millis(150), "{flow:?}");
        }
    });
}

/// A machine under load may take this long for anything; nothing is asserted about less.
const PATIENCE: Duration = Duration::from_secs(30);

fn eventually(mut done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    done()
}

#[test]
fn a_feed_that_stops_is_left_for_the_stock_algorithm_and_taken_up_when_it_is_back() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let scene = Scene::new(Direction::Uplink);
        let handle = EstimateHandle::new();
        let transfer =
            scene.begin(Stack::Quinn, Stack::Quinn, Some(("sounding", &handle)), None, None);
        let state = || handle.flows().first().map_or("none", |flow| flow.state);
        assert!(eventually(|| state() == "no-estimate"), "{}", state());
        for _ in 0..2 {
            let feed = scene.read_modem("sounding", &handle);
            assert!(eventually(|| ["radio-limited", "probing"].contains(&state())), "{}", state());
            feed.stop().unwrap();
            assert!(eventually(|| state() == "no-estimate"), "{}", state());
            let before = scene.carried();
            assert!(eventually(|| scene.carried() > before + 100), "nothing is sent any more");
        }
        assert!(transfer.end().bytes > 0);
    });
}

/// A report with an event is longer than this.
const WITHOUT_EVENTS: usize = 44 + 24;

#[test]
fn a_modem_on_a_port_reports_its_radios_delays_while_the_port_is_open() {
    if !may_emulate() {
        return;
    }
    steadily(|| {
        let scene = Scene::new(Direction::Uplink);
        let handle = EstimateHandle::new();
        let ours = Some(("copa-gandalf", &handle));
        let transfer = scene.begin(Stack::Noq, Stack::Quinn, ours, None, None);
        let mut reporter = Reporter::new(handle.clone());
        let mut report = || reporter.poll_datagram(monotonic_now()).map_or(0, |bytes| bytes.len());
        for _ in 0..2 {
            let feed = scene.read_delays(&handle);
            assert!(eventually(|| report() > WITHOUT_EVENTS), "no delay was reported");
            assert!(handle.take_entered().count() < 4096, "what entered is not read");
            feed.stop().unwrap();
            assert_eq!(report(), Report::LENGTH, "they are withdrawn");
        }
        assert!(transfer.end().bytes > 0);
    });
}
