//! Real stacks over loopback: what their receivers note, and what reaches a sender's controller.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../examples/common/mod.rs"]
mod common;

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Identity, Receiving, Sending, Stack, trusting};
use sounding_baselines::Maker;
use sounding_cc::{Ack, Controller, Loss, Start};
use sounding_quic::{Arrivals, EstimateHandle, Factory, PeerTimes};
use sounding_units::{Bytes, HostInstant, Rate};

/// Sends with a small window and keeps its acknowledgements.
#[derive(Debug)]
struct Keeps(Arc<Mutex<Vec<Ack>>>);

impl Controller for Keeps {
    fn handle_ack(&mut self, ack: &Ack) {
        self.0.lock().unwrap().push(*ack);
    }
    fn handle_loss(&mut self, _: &Loss) {}
    fn handle_timeout(&mut self, _: HostInstant) {}
    fn cwnd(&self) -> Bytes {
        Bytes::new(40_000)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bits_per_sec(20_000_000))
    }
    fn state(&self) -> &'static str {
        "keeps"
    }
}

/// A machine under load may take this long for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// Acknowledgements of a transfer. `enough` of them must have the receiver's stamps before it ends.
fn acks(sender: Stack, receiver: Stack, enough: usize) -> Vec<Ack> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeps = kept.clone();
    let make: Maker = Arc::new(move |_: &Start| Box::new(Keeps(keeps.clone())));
    let times = PeerTimes::new();
    let factory = Factory::making("keeps", make, EstimateHandle::new()).timed(times.clone());
    let [from, to] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    let identity = Identity::new().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let sending = Sending {
        socket: from,
        to: to.local_addr().unwrap(),
        trusted: trusting(identity.certificate.clone()).unwrap(),
        factory: Some(factory.into()),
        reports_to: None,
        times_to: Some(times),
        rate: Some(Rate::from_bits_per_sec(20_000_000)),
        stop: stop.clone(),
    };
    let arrivals = Some(Arrivals::new());
    let receiving = Receiving { socket: to, identity, reports_of: None, arrivals };
    let receives = std::thread::spawn(move || common::receive(receiver, receiving));
    let sends = std::thread::spawn(move || common::send(sender, sending));
    let until = Instant::now() + PATIENCE;
    let timed = |kept: &Mutex<Vec<Ack>>| {
        kept.lock().unwrap().iter().filter(|ack| ack.one_way.is_some()).count()
    };
    while Instant::now() < until && timed(&kept) < enough {
        std::thread::sleep(Duration::from_millis(20));
    }
    stop.store(true, Ordering::Relaxed);
    let sent = sends.join().unwrap().unwrap();
    let received = receives.join().unwrap().unwrap();
    assert!(sent.times > 0 && sent.times <= received.times, "{sent:?} {received:?}");
    kept.lock().unwrap().clone()
}

#[test]
fn a_receiver_of_either_stack_says_to_a_sender_of_either_when_packets_arrived() {
    let stacks = [Stack::Quinn, Stack::Noq];
    for (sender, receiver) in stacks.iter().flat_map(|from| stacks.map(|to| (*from, to))) {
        let acks = acks(sender, receiver, 300);
        let timed: Vec<&Ack> = acks.iter().filter(|ack| ack.one_way.is_some()).collect();
        assert!(timed.len() >= 300, "{sender} to {receiver}: {} of {}", timed.len(), acks.len());
        // The receiver's clock is this machine's: what it says lies between the sending and the
        // acknowledgement, where the first way counts for both.
        let is_true = |ack: &&&Ack| {
            let arrived = ack.sent.at + ack.one_way.unwrap();
            let stamp = ack.stamp.unwrap().value;
            stamp == (arrived.as_nanos() / 1_000_000) as u32 && ack.sent.at < arrived
        };
        let right = timed.iter().filter(is_true).count();
        assert_eq!(right, timed.len(), "{sender} to {receiver}");
        // Few acknowledgements are without: those of the handshake, and the first.
        let bare = acks.iter().skip(100).filter(|ack| ack.one_way.is_none()).count();
        assert!(bare * 10 < acks.len(), "{sender} to {receiver}: {bare} of {}", acks.len());
        let readings = timed.windows(2).filter(|two| two[0].stamp != two[1].stamp).count();
        assert!(readings > 20, "{sender} to {receiver}: {readings} readings");
    }
}
