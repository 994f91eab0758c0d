use std::time::Duration;

use sounding_kpi::Direction;
use sounding_link::{Bound, Cause, LinkEstimate, State};
use sounding_units::Rate;

use super::*;
use crate::EstimateHandle;

fn adapter(name: &str) -> (Adapter, EstimateHandle, Instant) {
    let handle = EstimateHandle::new();
    let now = Instant::now();
    let (clock, driver) = Factory::new(name, handle.clone()).unwrap().begin(now, 1200);
    (Adapter::new(clock, driver), handle, now)
}

#[test]
fn a_transport_takes_the_factory_and_a_connection_begins_with_ten_segments() {
    let factory = Factory::new("sounding", EstimateHandle::new()).unwrap();
    let mut transport = quinn_proto::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory.clone()));
    let controller = ControllerFactory::build(Arc::new(factory), Instant::now(), 1200);
    assert_eq!((controller.window(), controller.initial_window()), (12_000, 12_000));
}

#[test]
fn what_quinn_says_moves_the_window_and_never_below_two_segments() {
    let (mut adapter, _, begin) = adapter("cubic");
    let mut now = begin;
    for round in 1..=5 {
        let sent = now;
        adapter.on_sent(now, 12_000, round * 10);
        now += Duration::from_millis(40);
        (0..10).for_each(|_| adapter.handle_acked(now, sent, 1200));
        adapter.on_end_acks(now, 0, false, Some(round * 10));
    }
    let grown = adapter.window();
    assert!(grown > 12_000, "{grown}");
    for lost in 1..20 {
        let sent = now;
        adapter.on_sent(now, 2400, 100 + lost);
        now += Duration::from_millis(40);
        adapter.on_congestion_event(now, sent, lost > 10, 1200);
        assert!(adapter.window() >= 2400);
    }
    assert!(adapter.window() < grown);
    adapter.on_mtu_update(1452);
    assert!(adapter.window() >= 2 * 1452);
}

#[test]
fn a_mark_is_no_loss_of_bytes_and_a_reason_to_slow_down() {
    let (mut adapter, _, begin) = adapter("reno");
    adapter.on_sent(begin, 12_000, 10);
    let now = begin + Duration::from_millis(40);
    adapter.on_congestion_event(now, begin, false, 0);
    assert_eq!(adapter.window(), 12_000);
    (0..10).for_each(|_| adapter.handle_acked(now, begin, 1200));
    adapter.on_end_acks(now, 0, false, Some(10));
    assert!(adapter.window() < 12_000, "{}", adapter.window());
}

#[test]
fn a_copy_is_a_controller_that_begins_and_hears_the_same_link() {
    let (mut adapter, handle, begin) = adapter("sounding");
    let estimate = LinkEstimate {
        direction: Direction::Uplink,
        rate: Rate::from_bits_per_sec(80_000_000),
        bound: Bound::Capacity,
        age: Duration::ZERO,
        valid_for: Duration::from_millis(200),
        backlog: None,
        state: State::Active,
        cause: Cause::Grants,
    };
    let mut now = begin;
    let tell = |adapter: &mut dyn Controller, now: Instant, number| {
        handle.set(estimate, Clock::anchored(now).host(now));
        adapter.on_sent(now, 1200, number);
    };
    tell(&mut adapter, now, 1);
    now += Duration::from_millis(50);
    adapter.handle_acked(now, begin, 1200);
    adapter.on_end_acks(now, 0, false, Some(1));
    tell(&mut adapter, now, 2);
    // 10 MB/s for 50 ms, and a little more.
    assert!(adapter.window() > 480_000, "{}", adapter.window());
    let mut copy = adapter.clone_box();
    assert_eq!(copy.window(), 12_000);
    tell(copy.as_mut(), now, 1);
    assert!(copy.window() > 480_000 / 2, "{}", copy.window());
}
