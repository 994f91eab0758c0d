use super::peer::{Arrived, WAITING};
use super::*;
use crate::ReportError;

fn at(us: u64) -> HostInstant {
    HostInstant::from_nanos(us * 1000)
}

fn times(datagram: &[u8]) -> Times {
    Times::parse(datagram).unwrap()
}

#[test]
fn packets_that_arrive_together_are_one_run_and_each_is_sent_twice() {
    let arrivals = Arrivals::new();
    assert_eq!(arrivals.poll_datagram(at(0)), None);
    for (us, number) in [(1000, 7), (1040, 8), (1090, 9), (1200, 10), (1210, 12)] {
        arrivals.handle_packet(at(us), number);
    }
    let first = times(&arrivals.poll_datagram(at(2000)).unwrap());
    let run = |first, count, at| Run { first, count, at };
    assert_eq!(
        first,
        Times { sent: 2000, runs: vec![run(7, 3, 1000), run(10, 1, 1200), run(12, 1, 1210)] }
    );
    assert_eq!(arrivals.poll_datagram(at(2100)), None);
    // Runs that have been sent do not grow.
    arrivals.handle_packet(at(2200), 13);
    let second = times(&arrivals.poll_datagram(at(3000)).unwrap());
    assert_eq!(second.runs[..3], first.runs);
    assert_eq!(second.runs[3..], [run(13, 1, 2200)]);
    arrivals.handle_packet(at(3200), 14);
    assert_eq!(
        times(&arrivals.poll_datagram(at(4000)).unwrap()).runs,
        [run(13, 1, 2200), run(14, 1, 3200)]
    );
}

#[test]
fn a_receiver_that_is_never_asked_keeps_the_newest_of_a_datagram() {
    let arrivals = Arrivals::new();
    for number in 0..100_000 {
        arrivals.handle_packet(at(number * 500), number * 3);
    }
    let datagram = arrivals.poll_datagram(at(50_000_000)).unwrap();
    assert_eq!(datagram.len(), 24 + 8 * MOST_RUNS);
    assert_eq!(times(&datagram).runs.last().map(|run| run.first), Some(99_999 * 3));
}

#[test]
fn what_is_no_list_of_times_says_why() {
    let arrivals = Arrivals::new();
    arrivals.handle_packet(at(5), 1);
    let whole = arrivals.poll_datagram(at(9)).unwrap();
    let peer = PeerTimes::new();
    let refused = |bytes: &[u8]| peer.handle_datagram(at(0), bytes).unwrap_err();
    for length in 4..whole.len() {
        assert_eq!(refused(&whole[..length]), ReportError::Cut { length });
    }
    assert_eq!(refused(b"SND"), ReportError::Other { length: 3 });
    let mut later = whole.clone();
    later[4] = 2;
    assert_eq!(refused(&later), ReportError::Version { version: 2 });
    let mut many = whole.clone();
    many[5] = 121;
    assert_eq!(refused(&many), ReportError::Value { offset: 5, value: 121 });
    // Bytes after the runs are left for later versions.
    let longer = [&whole[..], &[7; 9]].concat();
    peer.handle_datagram(at(0), &longer).unwrap();
    let inbox = peer.take(&mut 0).unwrap();
    assert_eq!(inbox.arrived, [Arrived { number: 1, at: 5 }]);
}

#[test]
fn a_peer_that_claims_any_number_of_packets_takes_no_memory() {
    let mut datagram = Times {
        sent: u64::MAX,
        runs: vec![Run { first: u64::MAX - 9, count: u16::MAX, at: 0 }; 120],
    }
    .emit();
    datagram[8..16].fill(0xFF);
    let peer = PeerTimes::new();
    for _ in 0..5 {
        peer.handle_datagram(at(0), &datagram).unwrap();
    }
    let runs = vec![Run { first: 0, count: u16::MAX, at: 3 }; 120];
    peer.handle_datagram(at(0), &Times { sent: 9, runs }.emit()).unwrap();
    let inbox = peer.take(&mut 0).unwrap();
    assert_eq!(inbox.arrived.len(), WAITING);
}
