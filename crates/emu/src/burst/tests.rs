use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::gso::tests::{Packet, cut};

/// The next packet of one of several senders.
#[derive(Clone, Debug)]
struct Sending {
    flow: u8,
    size: usize,
    change: u8,
}

/// Several senders of TCP and UDP. Most of their packets are consecutive; some are not, and some
/// bytes are no packets.
fn packets() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let size = prop_oneof![6 => Just(700_usize), 1 => Just(0), 1 => Just(1), 1 => 1..1400_usize];
    let change = prop_oneof![12 => Just(0), 2 => 1..24_u8];
    let sending =
        (0..6_u8, size, change).prop_map(|(flow, size, change)| Sending { flow, size, change });
    let begun =
        |first: u8| vec(any::<u8>(), 0..60).prop_map(move |rest| [&[first][..], &rest].concat());
    let raw = prop_oneof![vec(any::<u8>(), 0..60), begun(0x45), begun(0x60)];
    vec(prop_oneof![15 => sending.prop_map(Ok), 1 => raw.prop_map(Err)], 0..=BATCH).prop_map(
        |steps| {
            let mut senders = Senders::default();
            steps
                .into_iter()
                .map(|step| step.map_or_else(|raw| raw, |sending| senders.next(&sending)))
                .collect()
        },
    )
}

#[derive(Default)]
struct Senders {
    /// Next identification and sequence number of each sender.
    next: [(u16, u32); 6],
}

impl Senders {
    fn next(&mut self, Sending { flow, size, change }: &Sending) -> Vec<u8> {
        let (identification, sequence) = &mut self.next[usize::from(*flow)];
        let payload: Vec<u8> = (0..*size).map(|at| (at as u32 ^ *sequence) as u8).collect();
        let mut packet = if flow % 2 == 0 {
            Packet::udp(*identification, payload)
        } else {
            Packet::tcp(*identification, *sequence, payload)
        };
        packet.ip[15] = flow / 2;
        // The fifth sender does not increment its identification, like an unconnected UDP socket.
        *identification = identification.wrapping_add(u16::from(*flow != 4));
        *sequence = sequence.wrapping_add(*size as u32);
        let bits = 1 << (change % 8);
        match change {
            1..3 => packet.ip[1] ^= bits,
            3 => packet.ip[4] ^= bits,
            4 => packet.ip[6] ^= 0x40,
            5 => packet.ip[6] ^= 0x20,
            6 => packet.ip[7] ^= 1,
            7 => packet.ip[8] -= 1,
            8 => packet.ip.extend([1, 1, 1, 0]),
            9 => packet.transport[7] ^= bits,
            10..12 if flow % 2 == 1 => packet.transport[13] |= 8,
            12 if flow % 2 == 1 => packet.transport[13] |= 1,
            13 if flow % 2 == 1 => packet.transport[13] |= 0x40,
            14 if flow % 2 == 1 => packet.transport[27] ^= bits,
            15 if flow % 2 == 1 => packet.transport[12] = 0x70,
            16 if flow % 2 == 1 => packet.transport[11] ^= bits,
            17 => packet.ip[9] = 1,
            _ => {}
        }
        let mut bytes = packet.bytes();
        let len = bytes.len();
        match change {
            18 => bytes[len - 1] ^= bits,
            19 => bytes[11] ^= bits,
            20 => bytes.truncate(len - len / 3),
            21 => bytes.push(0),
            22 if flow % 2 == 0 => bytes[26..28].fill(0),
            23 => bytes[25] ^= bits,
            _ => {}
        }
        bytes
    }
}

/// The indexes of a batch in the order in which they are written, and the packets that a receiver
/// gets.
fn written(packets: &[Vec<u8>]) -> Vec<(Vec<usize>, Vec<Vec<u8>>)> {
    let mut groups = Groups::default();
    groups.arrange(packets.len(), |place| &packets[place]);
    let group = |group: &Group| {
        let places: Vec<usize> = groups.places(group).collect();
        let [first, _, ..] = places[..] else {
            return (places.clone(), vec![packets[places[0]].clone()]);
        };
        let run = group.run.as_ref().expect("packets in one group are a run");
        assert_eq!(run.count(), places.len());
        let mut bytes = run.headers(&packets[first]).bytes().to_vec();
        places.iter().for_each(|&place| bytes.extend(run.payload_of(&packets[place])));
        (places, cut(&bytes))
    };
    groups.groups.iter().map(group).collect()
}

/// The packet with its identification set to zero, if the identification has no meaning (RFC 6864).
fn unidentified(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    assert_eq!(packet[6] & 0x40, 0x40);
    packet[4..6].fill(0);
    packet[10..12].fill(0);
    packet
}

/// Whether two packets must keep their order: they are of the same flow, or one of them may belong
/// to any flow.
fn are_ordered(one: &[u8], other: &[u8]) -> bool {
    let flow = |packet: &[u8]| match Kind::of(packet) {
        Kind::Segment(segment) => Some(segment.flow),
        Kind::Whole(flow) => flow,
    };
    let (one, other) = (flow(one), flow(other));
    one == other || one.is_none() || other.is_none()
}

proptest! {
    #[test]
    fn a_receiver_gets_of_superpackets_what_was_sent(packets in packets()) {
        let mut seen = vec![];
        for (places, received) in written(&packets) {
            let sent: Vec<_> = places.iter().map(|&place| packets[place].clone()).collect();
            if places.len() > 1 && sent[0][4..6] == sent[1][4..6] {
                let unidentified = |packets: &[Vec<u8>]| packets.iter().map(|packet| unidentified(packet)).collect::<Vec<_>>();
                prop_assert_eq!(unidentified(&received), unidentified(&sent));
            } else {
                prop_assert_eq!(received, sent);
            }
            seen.extend(places);
        }
        let mut all = seen.clone();
        all.sort_unstable();
        prop_assert_eq!(all, (0..packets.len()).collect::<Vec<_>>());
        for (at, &later) in seen.iter().enumerate() {
            for &before in &seen[..at] {
                prop_assert!(before < later || !are_ordered(&packets[before], &packets[later]));
            }
        }
    }
}

#[test]
fn flows_that_interleave_have_a_superpacket_each() {
    let mut senders = Senders::default();
    let packets: Vec<_> = (0..60)
        .map(|step| senders.next(&Sending { flow: step % 3, size: 700, change: 0 }))
        .collect();
    let counts: Vec<_> = written(&packets).iter().map(|(places, _)| places.len()).collect();
    assert_eq!(counts, [20, 20, 20]);
}

#[test]
fn what_may_be_of_any_flow_is_overtaken_by_nothing() {
    let mut senders = Senders::default();
    let mut next = || senders.next(&Sending { flow: 0, size: 700, change: 0 });
    let packets = [next(), next(), b"no packet".to_vec(), next(), next()];
    let places: Vec<_> = written(&packets).into_iter().map(|(places, _)| places).collect();
    assert_eq!(places, [vec![0, 1], vec![2], vec![3, 4]]);
}
