//! Delays of the radio on their way to a controller.

use sounding_baselines::{Compensated, Smoothing};
use sounding_cc::Revision;
use sounding_estimate::{DelayKind, DelayUpdate, RanDelay};

use super::*;
use crate::{Arrivals, PeerTimes};

/// What a controller was told of delays.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    data: Direction,
    events: Vec<RanDelay>,
    up_until: Option<HostInstant>,
    age: Duration,
}

#[derive(Debug)]
struct Listens(Sender<Said>);

impl Controller for Listens {
    fn handle_ack(&mut self, _: &Ack) {}
    fn handle_loss(&mut self, _: &Loss) {}
    fn handle_timeout(&mut self, _: HostInstant) {}
    fn handle_delays(&mut self, now: HostInstant, data: Direction, delays: &DelayUpdate) {
        let (events, up_until) = (delays.events.clone(), delays.up_until);
        self.0.send(Said { data, events, up_until, age: now - delays.heard_at }).unwrap();
    }
    fn cwnd(&self) -> Bytes {
        Bytes::new(20 * MTU)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn state(&self) -> &'static str {
        "listens"
    }
}

fn listening(handle: &EstimateHandle) -> (Driver, Receiver<Said>) {
    let (sender, heard) = channel();
    let make: Maker = Arc::new(move |_: &Start| Box::new(Listens(sender.clone())));
    (Driver::new(&make, start(), handle), heard)
}

/// A block that takes what came since the last, 10 ms before.
fn block(to: HostInstant) -> RanDelay {
    RanDelay::new(
        Direction::Uplink,
        DelayKind::Scheduling,
        to.saturating_before(Duration::from_millis(10)),
        to,
    )
    .with_age(Duration::from_millis(60))
}

fn news(events: &[RanDelay], until: HostInstant, heard_at: HostInstant) -> DelayUpdate {
    let events = events.to_vec();
    DelayUpdate::new(heard_at, events).with_up_until(Some(until)).with_down_until(Some(until))
}

#[test]
fn what_the_own_modem_shows_reaches_every_connection_once_and_its_age_grows() {
    let handle = EstimateHandle::new();
    let (mut one, heard) = listening(&handle);
    let (mut other, heard_there) = listening(&handle);
    handle.set_delays(&news(&[block(at(10))], at(12), at(70)));
    one.handle_sent(at(71), Bytes::new(MTU), 0);
    one.handle_sent(at(72), Bytes::new(MTU), 1);
    one.handle_sent(at(78), Bytes::new(MTU), 2);
    other.handle_sent(at(80), Bytes::new(MTU), 0);
    let said = |events: Vec<RanDelay>, age| Said {
        data: Direction::Uplink,
        events,
        up_until: Some(at(12)),
        age: Duration::from_millis(age),
    };
    let heard: Vec<Said> = heard.try_iter().collect();
    assert_eq!(heard, [said(vec![block(at(10))], 1), said(vec![], 8)]);
    assert_eq!(heard_there.try_iter().collect::<Vec<_>>(), [said(vec![block(at(10))], 10)]);
    handle.withdraw();
    one.handle_sent(at(90), Bytes::new(MTU), 3);
    assert_eq!(heard_there.try_iter().count() + heard.len(), 2);
}

#[test]
fn a_peers_events_come_on_the_clock_of_its_receive_times_and_not_without_them() {
    const AHEAD: Duration = Duration::from_secs(777);
    let handle = EstimateHandle::new();
    let (driver, heard) = listening(&handle);
    let peer = PeerTimes::new();
    let mut driver = driver.timed(peer.clone());
    handle.set_peer_delays(&news(&[block(at(10) + AHEAD)], at(12) + AHEAD, at(60)));
    driver.handle_sent(at(61), Bytes::new(MTU), 0);
    assert_eq!(heard.try_iter().count(), 0);
    let arrivals = Arrivals::new();
    arrivals.handle_packet(at(80) + AHEAD, 0);
    peer.handle_datagram(at(99), &arrivals.poll_datagram(at(81) + AHEAD).unwrap()).unwrap();
    driver.handle_acked(at(100), at(61), Bytes::new(MTU));
    driver.handle_acks_end(at(100), Bytes::ZERO, false);
    handle.set_peer_delays(&news(&[block(at(20) + AHEAD)], at(22) + AHEAD, at(101)));
    driver.handle_sent(at(102), Bytes::new(MTU), 1);
    // The packet that arrived at 80 was acknowledged at 100: the way back is in every one-way
    // delay, and so in every event.
    let back = Duration::from_millis(20);
    let last = heard.try_iter().last().unwrap();
    let mut wanted = block(at(20) + back);
    wanted.from = at(10) + back;
    let (data, age) = (Direction::Downlink, Duration::from_millis(1));
    assert_eq!(last, Said { data, events: vec![wanted], up_until: Some(at(22) + back), age });
}

#[test]
fn packets_that_leave_are_kept_for_a_reader_of_the_modem_that_wants_them() {
    let handle = EstimateHandle::new();
    let (mut driver, _heard) = listening(&handle);
    driver.handle_sent(at(1), Bytes::new(MTU), 0);
    handle.want_entered();
    driver.handle_sent(at(2), Bytes::new(MTU), 1);
    driver.handle_sent(at(3), Bytes::new(3 * MTU), 4);
    let entered: Vec<_> = handle.take_entered().collect();
    assert_eq!(entered, [(at(2), Bytes::new(MTU + 28)), (at(3), Bytes::new(3 * (MTU + 28)))]);
    (0..10_000).for_each(|ms| driver.handle_sent(at(ms), Bytes::new(MTU), 5 + ms));
    assert_eq!(handle.take_entered().count(), 4096);
}

/// Keeps the RTTs and the revisions that it receives.
#[derive(Debug)]
struct Rtts(Sender<(HostInstant, Option<Duration>)>);

impl Controller for Rtts {
    fn handle_ack(&mut self, ack: &Ack) {
        self.0.send((ack.now, ack.rtt)).unwrap();
    }
    fn handle_loss(&mut self, _: &Loss) {}
    fn handle_timeout(&mut self, _: HostInstant) {}
    fn handle_revision(&mut self, _: &Revision) {}
    fn cwnd(&self) -> Bytes {
        Bytes::new(100 * MTU)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn state(&self) -> &'static str {
        "rtts"
    }
}

#[test]
fn a_modem_that_falls_silent_leaves_rtts_as_they_are_within_100_ms() {
    let handle = EstimateHandle::new();
    let (sender, heard) = channel();
    let off = Smoothing::default().without_waits();
    let make: Maker =
        Arc::new(move |_: &Start| Box::new(Compensated::revising_with(Rtts(sender.clone()), off)));
    for stack in ["quinn", "noq"] {
        let driver = Driver::new(&make, start(), &handle);
        let mut driver = if stack == "quinn" { driver.without_pacing_rates() } else { driver };
        // A packet each millisecond waits for a block at the next tenth, over a path of 40 ms.
        let mut under_way = VecDeque::new();
        for ms in 1..3000 {
            driver.handle_sent(at(ms), Bytes::new(MTU), ms);
            under_way.push_back((ms, ms - ms % 10 + 10 + 40));
            while let Some((left, _)) = under_way.pop_front_if(|(_, due)| *due == ms) {
                let number = (stack == "noq").then_some(left);
                driver.handle_acked_number(at(ms), at(left), Bytes::new(MTU), number);
                driver.handle_acks_end(at(ms), Bytes::new(under_way.len() as u64 * MTU), false);
            }
            if ms < 2000 && ms.is_multiple_of(10) && ms > 60 {
                // It knows what happened 60 ms ago.
                handle.set_delays(&news(&[block(at(ms - 60))], at(ms - 60), at(ms)));
            }
        }
        let all: Vec<(HostInstant, Duration)> =
            heard.try_iter().map(|(now, rtt)| (now, rtt.unwrap())).collect();
        let between = |from: u64, to: u64| {
            let span: Vec<_> =
                all.iter().filter(|(now, _)| *now >= at(from) && *now < at(to)).collect();
            assert!(span.len() > 100, "{stack}: {} RTTs", span.len());
            let (least, most) =
                (span.iter().map(|(_, rtt)| *rtt).min(), span.iter().map(|(_, rtt)| *rtt).max());
            (least.unwrap().as_millis(), most.unwrap().as_millis())
        };
        // Without the wait, the RTT is the path's.
        let (least, most) = between(1000, 2000);
        assert!((38..=42).contains(&least) && most <= 44, "{stack}: {least} to {most} ms");
        // The last record came at 1990.
        let (least, most) = between(2091, 3000);
        assert_eq!((least, most), (41, 50), "{stack}");
    }
}
