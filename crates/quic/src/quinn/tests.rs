use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sounding_units::{HostInstant, Rate};

use super::*;
use crate::{EstimateHandle, fixtures};

fn adapter(name: &str) -> (Adapter, EstimateHandle, Instant) {
    let handle = EstimateHandle::new();
    let now = Instant::now();
    let (clock, driver) = Factory::new(name, handle.clone()).unwrap().begin(now, 1200, false);
    (Adapter::new(clock, driver), handle, now)
}

#[test]
fn a_transport_takes_the_factory_and_a_connection_begins_with_ten_segments() {
    let factory = Factory::new("sounding", EstimateHandle::new()).unwrap();
    let mut transport = quinn_proto::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory.clone()));
    let controller = ControllerFactory::build(Arc::new(factory), Instant::now(), 1200);
    assert_eq!((controller.window(), controller.initial_window()), (12_001, 12_000));
}

#[test]
fn as_many_segments_leave_as_the_window_has() {
    let (adapter, ..) = adapter("cubic");
    // Quinn asks this before each datagram.
    let is_blocked = |in_flight: u64| in_flight + 1200 >= adapter.window();
    let sent = (0_u64..).find(|sent| is_blocked(sent * 1200));
    assert_eq!(sent, Some(10));
}

/// Has a rate and room, and keeps whether the last acknowledgement took the window for what held it
/// back.
#[derive(Debug)]
struct Paced(Arc<AtomicBool>);

impl sounding_cc::Controller for Paced {
    fn handle_ack(&mut self, ack: &sounding_cc::Ack) {
        self.0.store(ack.cwnd_limited, Ordering::Relaxed);
    }
    fn handle_loss(&mut self, _: &sounding_cc::Loss) {}
    fn handle_timeout(&mut self, _: HostInstant) {}
    fn cwnd(&self) -> Bytes {
        Bytes::new(1 << 20)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bits_per_sec(1_000_000))
    }
    fn state(&self) -> &'static str {
        "paced"
    }
}

#[test]
fn a_rate_that_quinn_does_not_obey_is_not_what_holds_it_back() {
    let limited = Arc::new(AtomicBool::new(false));
    let keeps = limited.clone();
    let make: sounding_baselines::Maker =
        Arc::new(move |_: &sounding_cc::Start| -> Box<dyn sounding_cc::Controller> {
            Box::new(Paced(keeps.clone()))
        });
    let begin = Instant::now();
    let (clock, driver) =
        Factory::making("paced", make, EstimateHandle::new()).begin(begin, 1200, false);
    let mut adapter = Adapter::new(clock, driver);
    for (round, app_limited) in [(0_u32, false), (1, true)] {
        let sent = begin + Duration::from_millis(100) * round;
        adapter.on_sent(sent, 1200, round.into());
        let now = sent + Duration::from_millis(40);
        adapter.handle_acked(now, sent, 1200);
        adapter.on_end_acks(now, 0, app_limited, Some(round.into()));
        assert_eq!(limited.load(Ordering::Relaxed), !app_limited);
    }
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
    assert_eq!(adapter.window(), 12_001);
    (0..10).for_each(|_| adapter.handle_acked(now, begin, 1200));
    adapter.on_end_acks(now, 0, false, Some(10));
    assert!(adapter.window() < 12_000, "{}", adapter.window());
}

#[test]
fn a_copy_is_a_controller_that_begins_and_hears_the_same_link() {
    let (mut adapter, handle, begin) = adapter("sounding");
    let estimate = fixtures::estimate(Rate::from_bits_per_sec(80_000_000));
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
    assert_eq!(copy.window(), 12_001);
    tell(copy.as_mut(), now, 1);
    assert!(copy.window() > 480_000 / 2, "{}", copy.window());
}

#[test]
fn what_the_path_before_lost_does_not_slow_the_new_one() {
    let (mut adapter, _, begin) = adapter("cubic");
    adapter.on_sent(begin, 12_000, 9);
    let mut copy = adapter.clone_box();
    let now = begin + Duration::from_millis(40);
    copy.on_sent(now, 1200, 10);
    let before = copy.window();
    copy.on_congestion_event(now, begin, false, 12_000);
    copy.on_congestion_event(now, begin, true, 12_000);
    assert_eq!(copy.window(), before);
    copy.on_congestion_event(now + Duration::from_millis(40), now, false, 1200);
    assert!(copy.window() < before);
}
