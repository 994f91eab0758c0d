use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, channel};

use sounding_cc::sharing::Claim;
use sounding_cc::{Loss, Recovery};
use sounding_kpi::Direction;
use sounding_link::{Bound, LinkEstimate, Source};

use super::*;
use crate::fixtures::estimate;

mod any_order;
mod background;
mod claims;
mod delays;
mod paths;
mod pbe_cc;
mod reports;
mod times;

const MTU: u64 = 1200;

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(1_000_000_000 + ms * 1_000_000)
}

fn start() -> Start {
    Start {
        now: at(0),
        mss: Bytes::new(MTU),
        headers: Bytes::new(28),
        rtt: None,
        seed: 1,
        paced: true,
    }
}

fn driver(name: &str, handle: &EstimateHandle) -> Driver {
    let make = sounding_baselines::by_name(name).expect("it is in the registry");
    let make: Maker = Arc::new(make);
    Driver::new(&make, start(), handle)
}

/// A stack over a link of a fixed rate and 40 ms of RTT, a millisecond at a time.
struct Stack {
    driver: Driver,
    packets_per_ms: u64,
    /// Of the link, who share it alike.
    users: u64,
    now_ms: u64,
    next: u64,
    /// When each left, and when its acknowledgement arrives.
    under_way: VecDeque<(HostInstant, u64)>,
    link_free_ms: f64,
    delivered: u64,
    app_limited: bool,
    /// Acknowledgements arrive at multiples of this.
    acks_every_ms: u64,
    receiver: Option<times::Receiver>,
}

const RTT_MS: u64 = 40;

impl Stack {
    fn new(driver: Driver, packets_per_ms: u64) -> Self {
        Self {
            driver,
            packets_per_ms,
            users: 1,
            now_ms: 0,
            next: 0,
            under_way: VecDeque::new(),
            link_free_ms: 0.0,
            delivered: 0,
            app_limited: false,
            acks_every_ms: 1,
            receiver: None,
        }
    }

    fn in_flight(&self) -> u64 {
        self.under_way.len() as u64 * MTU
    }

    fn queue_ms(&self) -> f64 {
        (self.link_free_ms - self.now_ms as f64).max(0.0)
    }

    /// A millisecond, in which the application has at most so many packets.
    fn pass(&mut self, most: u64) {
        self.now_ms += 1;
        let now = at(self.now_ms);
        if let Some(receiver) = &mut self.receiver {
            receiver.pass(self.now_ms);
        }
        let mut acked = false;
        while let Some(&(left, _)) = self.under_way.front().filter(|(_, due)| *due <= self.now_ms) {
            self.under_way.pop_front();
            self.driver.handle_acked(now, left, Bytes::new(MTU));
            self.delivered += MTU;
            acked = true;
        }
        if acked {
            let in_flight = Bytes::new(self.in_flight());
            self.driver.handle_acks_end(now, in_flight, self.app_limited);
        }
        let mut group = 0;
        // As quinn paces: five quarters of a window per RTT, in groups.
        let is_silent = self.driver.poll_silence().is_some_and(|until| until > now);
        let window = if is_silent { self.driver.silent_window() } else { self.driver.window() };
        let paced = (window * 5 / 4 / RTT_MS / MTU).max(2);
        while group < most.min(paced) && self.in_flight() + MTU <= window {
            self.link_free_ms = self.link_free_ms.max(self.now_ms as f64)
                + self.users as f64 / self.packets_per_ms as f64;
            let arrives = self.link_free_ms.ceil() as u64 + RTT_MS / 2;
            let due = (arrives + RTT_MS / 2).next_multiple_of(self.acks_every_ms);
            self.under_way.push_back((now, due));
            group += 1;
            if let Some(receiver) = &mut self.receiver {
                receiver.handle_packet(arrives, self.next + group);
            }
        }
        self.app_limited = group == most;
        if group > 0 {
            self.next += group;
            self.driver.handle_sent(now, Bytes::new(group * MTU), self.next);
        }
    }
}

/// Capacity of a link of so many packets a millisecond, as IP.
fn capacity(packets_per_ms: u64) -> Rate {
    Rate::from_bytes_per_sec(packets_per_ms * 1000 * (MTU + 28))
}

#[test]
fn with_an_estimate_the_link_is_full_and_its_queue_short() {
    for name in ["sounding", "biscay"] {
        let handle = EstimateHandle::new();
        let mut stack = Stack::new(driver(name, &handle), 2);
        let mut queue: f64 = 0.0;
        for ms in 0..3000 {
            handle.set(estimate(capacity(2)), at(stack.now_ms));
            stack.pass(u64::MAX);
            if ms == 1000 {
                stack.delivered = 0;
            }
            if ms > 1000 {
                queue = queue.max(stack.queue_ms());
            }
        }
        let share = stack.delivered as f64 / (2000.0 * 2.0 * MTU as f64);
        assert!(share > 0.95, "{name} carries {share}, {}", stack.driver.state());
        assert!(queue < 35.0, "{name} queues {queue} ms");
    }
}

#[test]
fn a_feed_that_stops_is_left_within_100_ms_and_taken_up_when_it_returns() {
    for name in ["sounding", "biscay"] {
        let handle = EstimateHandle::new();
        let mut stack = Stack::new(driver(name, &handle), 2);
        let set_until = |stack: &mut Stack, until: u64, feeds: bool| {
            while stack.now_ms < until {
                if feeds {
                    handle.set(estimate(capacity(2)), at(stack.now_ms));
                }
                stack.pass(u64::MAX);
            }
            stack.driver.state() == "no-estimate"
        };
        assert!(!set_until(&mut stack, 2000, true), "{name} does not obey");
        assert!(!set_until(&mut stack, 2190, false), "{name} leaves it before its validity ends");
        assert!(set_until(&mut stack, 2300, false), "{name}: {}", stack.driver.state());
        let delivered = stack.delivered;
        assert!(set_until(&mut stack, 3300, false), "{name}: {}", stack.driver.state());
        let share = (stack.delivered - delivered) as f64 / (1000.0 * 2.0 * MTU as f64);
        assert!(share > 0.7, "{name} carries {share} of the link without its feed");
        assert!(!set_until(&mut stack, 3400, true), "{name}: {}", stack.driver.state());
    }
}

#[test]
fn an_application_that_has_little_to_send_is_no_reason_to_believe_in_a_small_link() {
    let handle = EstimateHandle::new();
    let mut stack = Stack::new(driver("sounding", &handle), 4);
    for _ in 0..3000 {
        handle.set(estimate(capacity(4)), at(stack.now_ms));
        let most = u64::from(stack.now_ms.is_multiple_of(2));
        stack.pass(most);
    }
    let held = capacity(4).bytes_per_sec() * RTT_MS / 1000;
    assert!(stack.driver.window() > held * 9 / 10, "{} of {held}", stack.driver.window());
    let flow = handle.flows()[0];
    let Claim::Limited(used) = flow.claim else { panic!("{flow:?}") };
    let sent = capacity(4).scaled(1, 8);
    assert!(used > sent.scaled(3, 4) && used < sent.scaled(5, 4), "{used:?} of {sent:?}");
}

/// A controller that passes on its inputs.
#[derive(Debug)]
struct Told(Sender<Heard>);

#[derive(Clone, Debug, PartialEq)]
enum Heard {
    Sent(Departure, Bytes),
    Ack(Ack),
    Loss(Loss),
    Timeout,
    Spurious,
}

impl Told {
    fn tell(&self, heard: Heard) {
        self.0.send(heard).unwrap();
    }
}

impl Controller for Told {
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.tell(Heard::Sent(*sent, size));
    }
    fn handle_ack(&mut self, ack: &Ack) {
        self.tell(Heard::Ack(*ack));
    }
    fn handle_loss(&mut self, loss: &Loss) {
        self.tell(Heard::Loss(*loss));
    }
    fn handle_timeout(&mut self, _: HostInstant) {
        self.tell(Heard::Timeout);
    }
    fn handle_spurious_timeout(&mut self, _: HostInstant) {
        self.tell(Heard::Spurious);
    }
    fn cwnd(&self) -> Bytes {
        Bytes::new(1)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bytes_per_sec(u64::MAX))
    }
    fn state(&self) -> &'static str {
        "told"
    }
}

fn told() -> (Driver, Receiver<Heard>) {
    let (sender, heard) = channel();
    let make: Maker = Arc::new(move |_: &Start| Box::new(Told(sender.clone())));
    (Driver::new(&make, start(), &EstimateHandle::new()), heard)
}

fn acks(heard: &Receiver<Heard>) -> Vec<Ack> {
    let acks = heard.try_iter().filter_map(|heard| match heard {
        Heard::Ack(ack) => Some(ack),
        _ => None,
    });
    acks.collect()
}

fn losses(heard: &Receiver<Heard>) -> Vec<(u64, bool)> {
    let losses = heard.try_iter().filter_map(|heard| match heard {
        Heard::Loss(loss) => Some((loss.size.count(), loss.begins_recovery)),
        _ => None,
    });
    losses.collect()
}

#[test]
fn an_acknowledgement_is_reported_once_with_the_rtt_of_its_newest_packet() {
    let (mut driver, heard) = told();
    driver.handle_sent(at(0), Bytes::new(2 * MTU), 1);
    driver.handle_sent(at(10), Bytes::new(MTU), 2);
    for left in [0, 0, 10] {
        driver.handle_acked(at(50), at(left), Bytes::new(MTU));
    }
    driver.handle_acks_end(at(50), Bytes::ZERO, false);
    let [ack] = acks(&heard)[..] else { panic!("one") };
    assert_eq!(ack.rtt, Some(Duration::from_millis(40)));
    assert_eq!((ack.acked, ack.prior_in_flight), (Bytes::new(3 * MTU), Bytes::new(3 * MTU)));
    assert_eq!((ack.delivered, ack.sent.at), (Bytes::new(3 * MTU), at(10)));
    assert_eq!(ack.rate, Some(Bytes::new(3 * MTU).per(Duration::from_millis(50))));
}

#[test]
fn losses_that_are_reported_together_are_segments_and_begin_one_recovery() {
    let (mut driver, heard) = told();
    driver.handle_sent(at(0), Bytes::new(5 * MTU), 4);
    driver.handle_sent(at(10), Bytes::new(MTU), 5);
    driver.handle_lost_together(at(50), at(0), Bytes::new(2 * MTU + 7));
    assert_eq!(losses(&heard), [(MTU, true), (MTU, false), (7, false)]);
    // A loss from before the recovery is not a new one; a later one is.
    driver.handle_lost_together(at(55), at(10), Bytes::new(MTU));
    assert_eq!(losses(&heard), [(MTU, false)]);
    driver.handle_sent(at(60), Bytes::new(MTU), 6);
    driver.handle_lost(at(100), 6, Bytes::ZERO);
    driver.handle_lost(at(100), 6, Bytes::new(MTU));
    assert_eq!(losses(&heard), [(MTU, true)]);
}

#[test]
fn a_recovery_ends_with_a_later_packet_and_losses_count_with_the_next_ack() {
    let (mut driver, heard) = told();
    driver.handle_sent(at(0), Bytes::new(3 * MTU), 2);
    driver.handle_lost_together(at(50), at(0), Bytes::new(MTU));
    driver.handle_marked();
    driver.handle_sent(at(60), Bytes::new(MTU), 3);
    driver.handle_acked(at(61), at(0), Bytes::new(MTU));
    driver.handle_acks_end(at(61), Bytes::new(2 * MTU), false);
    driver.handle_acked(at(100), at(60), Bytes::new(MTU));
    driver.handle_acks_end(at(100), Bytes::new(MTU), false);
    let [during, after] = acks(&heard)[..] else { panic!("two") };
    assert_eq!((during.recovery, during.newly_lost), (Recovery::Fast, Bytes::new(MTU)));
    assert_eq!((during.ce, after.ce), (Bytes::new(MTU), Bytes::ZERO));
    assert_eq!((after.recovery, after.newly_lost), (Recovery::None, Bytes::ZERO));
}

#[test]
fn persistent_congestion_is_a_timeout_and_can_be_undone() {
    let (mut driver, heard) = told();
    driver.handle_sent(at(0), Bytes::new(MTU), 0);
    driver.handle_spurious();
    driver.handle_persistent_congestion(at(900));
    driver.handle_spurious();
    let timeouts: Vec<_> =
        heard.try_iter().filter(|heard| !matches!(heard, Heard::Sent(..))).collect();
    assert_eq!(timeouts, [Heard::Timeout, Heard::Spurious]);
}

#[test]
fn a_window_counts_as_used_unless_the_application_had_nothing_more() {
    for (name, app_limited, grows) in
        [("cubic", false, true), ("cubic", true, false), ("reno", false, true)]
    {
        let mut driver = driver(name, &EstimateHandle::new());
        driver.handle_sent(at(0), Bytes::new(4 * MTU), 3);
        (0..4).for_each(|_| driver.handle_acked(at(40), at(0), Bytes::new(MTU)));
        let before = driver.window();
        driver.handle_acks_end(at(40), Bytes::ZERO, app_limited);
        assert_eq!(driver.window() > before, grows, "{name} {app_limited}");
    }
}

#[test]
fn a_window_with_room_counts_as_used_where_no_rate_is_obeyed() {
    for (obeys, limited) in [(true, false), (false, true)] {
        let (driver, heard) = told();
        let mut driver = if obeys { driver } else { driver.without_pacing_rates() };
        for (round, app_limited) in [(0, false), (1, true)] {
            let left = at(100 * round);
            driver.handle_sent(left, Bytes::new(MTU), round);
            driver.handle_acked(at(100 * round + 40), left, Bytes::new(MTU));
            driver.handle_acks_end(at(100 * round + 40), Bytes::ZERO, app_limited);
        }
        let told: Vec<bool> = acks(&heard).iter().map(|ack| ack.cwnd_limited).collect();
        assert_eq!(told, [limited, false], "{obeys}");
        assert_eq!(driver.renewed().start.paced, obeys);
    }
}

#[test]
fn what_only_acknowledged_is_not_in_flight_after_a_pause() {
    let (mut driver, heard) = told();
    for (ms, size) in [(0, 40), (10, 40), (1010, MTU), (2011, MTU)] {
        driver.handle_sent(at(ms), Bytes::new(size), ms);
    }
    let in_flight: Vec<u64> = heard
        .try_iter()
        .filter_map(|heard| match heard {
            Heard::Sent(sent, _) => Some(sent.in_flight.count()),
            _ => None,
        })
        .collect();
    assert_eq!(in_flight, [40, 80, 80 + MTU, MTU]);
}

#[test]
fn what_leaves_after_the_application_ran_out_is_marked_so() {
    let (mut driver, heard) = told();
    driver.handle_mtu(0);
    driver.handle_sent(at(0), Bytes::new(0), 0);
    driver.handle_acked(at(40), at(0), Bytes::new(0));
    driver.handle_acks_end(at(40), Bytes::ZERO, true);
    driver.handle_sent(at(41), Bytes::new(MTU), 1);
    let last = heard.try_iter().last();
    assert!(matches!(last, Some(Heard::Sent(sent, _)) if sent.app_limited), "{last:?}");
}

#[test]
fn whatever_the_controller_says_the_window_is_two_segments_and_the_rate_finite() {
    let (mut driver, _heard) = told();
    assert_eq!(driver.window(), 2 * MTU);
    assert_eq!(driver.pacing_rate(), Some(12_500_000_000));
    driver.handle_mtu(1452);
    assert_eq!((driver.window(), driver.send_quantum()), (2904, Some(14_520)));
}
