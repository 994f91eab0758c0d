//! A receiver that says when packets arrived.

use super::*;
use crate::{Arrivals, PeerTimes};

/// The receiver's clock is so far ahead.
const AHEAD_US: u64 = 12_345_678_901;
/// Its datagrams leave so often.
const EVERY_MS: u64 = 5;

/// The other end of a [`Stack`].
pub(super) struct Receiver {
    arrivals: Arrivals,
    peer: PeerTimes,
    /// When each packet arrives there, and when each datagram does here.
    coming: VecDeque<(u64, u64)>,
    datagrams: VecDeque<(u64, Vec<u8>)>,
    pub(super) speaks: bool,
}

fn there(ms: u64) -> HostInstant {
    at(ms) + Duration::from_micros(AHEAD_US)
}

impl Receiver {
    pub(super) fn new(peer: PeerTimes) -> Self {
        let arrivals = Arrivals::new();
        Self { arrivals, peer, coming: VecDeque::new(), datagrams: VecDeque::new(), speaks: true }
    }

    pub(super) fn handle_packet(&mut self, arrives_ms: u64, number: u64) {
        self.coming.push_back((arrives_ms, number));
    }

    pub(super) fn pass(&mut self, now_ms: u64) {
        while let Some((ms, number)) = self.coming.pop_front_if(|(ms, _)| *ms <= now_ms) {
            self.arrivals.handle_packet(there(ms), number);
        }
        if self.speaks
            && now_ms.is_multiple_of(EVERY_MS)
            && let Some(datagram) = self.arrivals.poll_datagram(there(now_ms))
        {
            self.datagrams.push_back((now_ms + RTT_MS / 2, datagram));
        }
        while let Some((_, datagram)) = self.datagrams.pop_front_if(|(ms, _)| *ms <= now_ms) {
            self.peer.handle_datagram(at(now_ms), &datagram).unwrap();
        }
    }
}

fn timed() -> (Driver, mpsc::Receiver<Heard>, PeerTimes) {
    let (driver, heard) = told();
    let peer = PeerTimes::new();
    (driver.timed(peer.clone()), heard, peer)
}

/// What a datagram says of packets that arrived at these milliseconds.
fn said(packets: &[(u64, u64)]) -> Vec<u8> {
    let arrivals = Arrivals::new();
    packets.iter().for_each(|&(ms, number)| arrivals.handle_packet(there(ms), number));
    arrivals.poll_datagram(there(1000)).unwrap()
}

fn stamps(acks: &[Ack]) -> Vec<u32> {
    acks.iter().map(|ack| ack.stamp.unwrap().value).collect()
}

#[test]
fn an_acknowledgement_of_several_readings_of_the_receivers_clock_is_one_of_each() {
    let (mut driver, heard, peer) = timed();
    peer.handle_datagram(at(0), &said(&[(0, 99)])).unwrap();
    driver.handle_sent(at(1), Bytes::new(2 * MTU), 1);
    driver.handle_sent(at(2), Bytes::new(2 * MTU), 3);
    for left in [1, 1, 2, 2] {
        driver.handle_acked(at(60), at(left), Bytes::new(MTU));
    }
    driver.handle_acks_end(at(60), Bytes::new(MTU), false);
    assert_eq!(acks(&heard), [], "it waits for the times");
    peer.handle_datagram(at(62), &said(&[(21, 0), (21, 1), (24, 2), (30, 3)])).unwrap();
    driver.handle_sent(at(63), Bytes::new(MTU), 4);
    let acks = acks(&heard);
    let acked: Vec<u64> = acks.iter().map(|ack| ack.acked.count() / MTU).collect();
    assert_eq!(acked, [2, 1, 1]);
    let stamps = stamps(&acks);
    assert_eq!((stamps[1] - stamps[0], stamps[2] - stamps[1]), (3, 6));
    let in_flight: Vec<u64> = acks.iter().map(|ack| ack.in_flight.count() / MTU).collect();
    assert_eq!((in_flight, acks[0].prior_in_flight), (vec![3, 2, 1], Bytes::new(4 * MTU)));
    let rtts: Vec<_> = acks.iter().map(|ack| ack.rtt.map(|rtt| rtt.as_millis())).collect();
    assert_eq!(rtts, [None, Some(58), Some(58)]);
    // Only differences count: the second of a pair that left together came 6 ms after the first.
    let ways: Vec<_> = acks.iter().map(|ack| ack.one_way.unwrap().as_millis()).collect();
    assert_eq!((ways[1] as i128 - ways[0] as i128, ways[2] - ways[1]), (2, 6));
    assert_eq!(acks[2].delivered, Bytes::new(4 * MTU));
}

#[test]
fn a_stack_that_names_its_packets_is_read_by_their_numbers() {
    let (mut driver, heard, peer) = timed();
    peer.handle_datagram(at(0), &said(&[(20, 2), (23, 1)])).unwrap();
    (0..3).for_each(|number| driver.handle_sent(at(0), Bytes::new(MTU), number));
    // The second arrived after the third; the first is lost.
    driver.handle_acked_number(at(45), at(0), Bytes::new(MTU), Some(2));
    driver.handle_acks_end(at(45), Bytes::new(2 * MTU), false);
    driver.handle_acked_number(at(46), at(0), Bytes::new(MTU), Some(1));
    driver.handle_acks_end(at(46), Bytes::new(MTU), false);
    let stamps = stamps(&acks(&heard));
    assert_eq!(stamps[1] - stamps[0], 3);
}

#[test]
fn a_receiver_that_falls_silent_holds_nothing_for_more_than_100_ms() {
    let (mut driver, heard, peer) = timed();
    peer.handle_datagram(at(0), &said(&[(20, 0)])).unwrap();
    driver.handle_sent(at(0), Bytes::new(MTU), 0);
    let mut waited = Vec::new();
    for ms in 1..200 {
        driver.handle_sent(at(ms), Bytes::new(MTU), ms);
        if ms >= 40 {
            driver.handle_acked(at(ms), at(ms - 40), Bytes::new(MTU));
            driver.handle_acks_end(at(ms), Bytes::new(40 * MTU), false);
        }
        waited.extend(acks(&heard).iter().map(|ack| (ms, ack.sent.at)));
    }
    assert_eq!(waited.len(), 160, "none is lost");
    let late = |&(ms, left): &(u64, HostInstant)| at(ms) - left - Duration::from_millis(40);
    assert_eq!(late(&waited[0]), Duration::ZERO);
    assert!(waited.iter().all(|ack| late(ack) <= Duration::from_millis(50)));
    let silent = waited.iter().filter(|(ms, _)| *ms > 101);
    assert!(silent.map(late).all(|late| late.is_zero()), "{waited:?}");
    // The arrival of acknowledgements is the clock again.
    driver.handle_sent(at(300), Bytes::new(MTU), 300);
    driver.handle_acked(at(345), at(300), Bytes::new(MTU));
    driver.handle_acks_end(at(345), Bytes::ZERO, false);
    let [ack] = acks(&heard)[..] else { panic!("one") };
    assert_eq!((ack.stamp.unwrap().value, ack.one_way), (1345, None));
}

#[test]
fn a_timeout_finds_no_acknowledgement_waiting() {
    let (mut driver, heard, peer) = timed();
    peer.handle_datagram(at(0), &said(&[(0, 0)])).unwrap();
    driver.handle_sent(at(1), Bytes::new(MTU), 1);
    driver.handle_acked(at(41), at(1), Bytes::new(MTU));
    driver.handle_acks_end(at(41), Bytes::ZERO, false);
    driver.handle_persistent_congestion(at(42));
    let all: Vec<Heard> = heard.try_iter().collect();
    assert!(matches!(all[..], [Heard::Sent(..), Heard::Ack(_), Heard::Timeout]), "{all:?}");
}
