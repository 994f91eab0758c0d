//! A peer beside a caller of the same stack, without a network: time and datagrams are handed over.

use std::time::{Duration, Instant};

use str0m::media::{Direction, MediaKind};
use str0m::net::DatagramRecv;

use super::*;
use crate::Stock;

const PEER: &str = "192.0.2.1:4000";
const CALLER: &str = "192.0.2.2:5000";
const STRANGER: &str = "192.0.2.66:6000";

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// An RTP packet of some stream.
fn rtp(sequence: u16) -> Vec<u8> {
    let mut bytes = vec![0x80, 96, 0, 0, 0, 0, 0, 9, 0, 0, 0, 7];
    bytes[2..4].copy_from_slice(&sequence.to_be_bytes());
    bytes.resize(200, 0);
    bytes
}

struct Scene {
    begin: Instant,
    now: HostInstant,
    peer: Peer<Stock>,
    caller: Rtc,
    packets: usize,
    is_connected: bool,
}

impl Scene {
    fn new() -> Self {
        let (begin, now) = (Instant::now(), HostInstant::from_nanos(1_000_000_000));
        let mut caller = RtcConfig::new().clear_codecs().enable_vp8(true).build(begin);
        let candidate = Candidate::host(address(CALLER), "udp").expect("a candidate");
        caller.add_local_candidate(candidate);
        let mut changes = caller.sdp_api();
        changes.add_media(MediaKind::Video, Direction::SendOnly, None, None, None);
        let (offer, pending) = changes.apply().expect("an offer");
        let offer = offer.to_sdp_string();
        let (peer, answer) =
            Peer::answer(&offer, address(PEER), (begin, now), Stock).expect("an answer");
        let answer = str0m::change::SdpAnswer::from_sdp_string(&answer).expect("a description");
        caller.sdp_api().accept_answer(pending, answer).expect("it fits");
        Self { begin, now, peer, caller, packets: 0, is_connected: false }
    }

    fn from(&mut self, source: &str, datagram: &[u8]) -> bool {
        let handled = self.peer.handle_datagram(self.now, address(source), datagram);
        handled.expect("the stack goes on")
    }

    /// A step of both, a millisecond later.
    fn step(&mut self) {
        self.now = self.now + Duration::from_millis(1);
        let clock = self.begin + (self.now - HostInstant::from_nanos(1_000_000_000));
        self.caller.handle_input(Input::Timeout(clock)).expect("it goes on");
        while let Output::Transmit(sent) = self.caller.poll_output().expect("it goes on") {
            self.from(CALLER, &sent.contents);
        }
        loop {
            match self.peer.poll(self.now).expect("it goes on") {
                PeerOutput::Wait(_) => return,
                PeerOutput::Packet(_) => self.packets += 1,
                PeerOutput::Connected => self.is_connected = true,
                PeerOutput::Datagram(to, bytes) if to == address(CALLER) => {
                    let contents = DatagramRecv::try_from(&bytes[..]).expect("a datagram");
                    let (source, destination) = (address(PEER), to);
                    let received = Receive { proto: Protocol::Udp, source, destination, contents };
                    let input = Input::Receive(clock, received);
                    self.caller.handle_input(input).expect("it goes on");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn packets_from_an_address_that_has_not_passed_ices_check_are_dropped_and_counted() {
    let mut scene = Scene::new();
    // Before the check even the caller's own address is unknown, although the offer has it.
    for sequence in 0..5_000 {
        let source = if sequence % 2 == 0 { STRANGER } else { CALLER };
        assert!(!scene.from(source, &rtp(sequence)));
    }
    assert_eq!((scene.peer.foreign(), scene.peer.sent.len()), (5_000, 0));
    for _ in 0..2_000 {
        if scene.is_connected {
            break;
        }
        scene.step();
    }
    assert!(scene.is_connected, "the call begins beside the stranger");
    assert_eq!(scene.packets, 0);
    // Now the caller's are taken, and the stranger's still are not.
    assert!(scene.from(CALLER, &rtp(1)) && !scene.from(STRANGER, &rtp(2)));
    scene.step();
    assert_eq!((scene.packets, scene.peer.foreign()), (1, 5_001));
}
