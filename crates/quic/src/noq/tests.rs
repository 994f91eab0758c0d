use std::time::Duration;

use super::*;
use crate::EstimateHandle;

fn adapter(name: &str) -> (Adapter, Instant) {
    let now = Instant::now();
    let (clock, driver) = Factory::new(name, EstimateHandle::new()).unwrap().begin(now, 1200, true);
    (Adapter::new(clock, driver), now)
}

#[test]
fn a_transport_takes_the_factory_and_every_rate_is_finite_from_the_beginning() {
    for name in sounding_baselines::names() {
        let factory = Factory::new(name, EstimateHandle::new()).unwrap();
        let mut transport = noq_proto::TransportConfig::default();
        transport.congestion_controller_factory(Arc::new(factory.clone()));
        let controller = ControllerFactory::build(Arc::new(factory), Instant::now(), 1200);
        let metrics = controller.metrics();
        assert!(controller.window() >= 2400, "{name}");
        assert_eq!(metrics.congestion_window, controller.window(), "{name}");
        assert_eq!(metrics.pacing_rate.is_some(), metrics.send_quantum.is_some(), "{name}");
        if let (Some(rate), Some(quantum)) = (metrics.pacing_rate, metrics.send_quantum) {
            assert!((2400..=12_500_000_000).contains(&rate), "{name}: {rate}");
            assert!((2400..=12_000).contains(&quantum), "{name}: {quantum}");
        }
    }
}

#[test]
fn losses_are_reported_one_by_one_and_their_event_counts_none_again() {
    let (mut adapter, begin) = adapter("cubic");
    for number in 0..10 {
        adapter.on_packet_sent(begin, 1200, number);
    }
    let now = begin + Duration::from_millis(40);
    (0..7).for_each(|_| adapter.handle_acked(now, begin, 1200, None));
    adapter.on_end_acks(now, 3600, false, Some(9));
    let before = adapter.window();
    for number in [2, 3, 4] {
        adapter.on_packet_lost(1200, number, now);
    }
    let cut = adapter.window();
    assert!(cut < before, "{cut} of {before}");
    adapter.on_congestion_event(now, begin, false, false, 3600, 4);
    assert_eq!(adapter.window(), cut);
}

#[test]
fn a_timeout_that_was_a_mistake_is_undone() {
    let (mut adapter, begin) = adapter("cubic");
    for number in 0..10 {
        adapter.on_packet_sent(begin, 1200, number);
    }
    let before = adapter.window();
    let now = begin + Duration::from_secs(3);
    adapter.on_congestion_event(now, begin, true, false, 12_000, 9);
    assert!(adapter.window() < before);
    adapter.on_spurious_congestion_event();
    assert_eq!(adapter.window(), before);
}

#[test]
fn what_the_path_before_lost_does_not_slow_the_new_one() {
    let (mut adapter, begin) = adapter("cubic");
    (0..10).for_each(|number| adapter.on_packet_sent(begin, 1200, number));
    let mut copy = adapter.clone_box();
    let now = begin + Duration::from_millis(40);
    copy.on_packet_sent(now, 1200, 10);
    let before = copy.window();
    (0..10).for_each(|number| copy.on_packet_lost(1200, number, now));
    copy.on_congestion_event(now, begin, true, false, 12_000, 9);
    assert_eq!(copy.window(), before);
    copy.on_packet_lost(1200, 10, now + Duration::from_millis(40));
    assert!(copy.window() < before);
}
