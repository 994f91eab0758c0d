//! Why packets came late.

use std::time::Duration;

use serde::Serialize;
use sounding_experiment::observe::Arrival;
use sounding_units::HostInstant;

use super::contender::Knows;

/// Beyond the empty link's 95th percentile; later than that is late.
pub(super) const BEARABLE: Duration = Duration::from_millis(10);
/// TCP and IPv4 with timestamps.
pub(super) const HEADERS: u64 = 52;
/// Span of a link's present rate.
const NOW: Duration = Duration::from_millis(50);

/// A sender's knowledge of the link: a mean of this span, with this delay.
pub(super) struct Told {
    pub(super) span: Duration,
    pub(super) latency: Duration,
}

/// The packets that took more than 10 ms longer than the empty link's 95th percentile, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Late {
    /// Share of all packets.
    pub part: f64,
    /// Share of the late ones that would have been in time without repetitions, their own or those
    /// of others that they waited for.
    pub repeated: f64,
    /// Share of the late ones that the link would have sent in time at its rate when they left the
    /// sender: it has slowed down since.
    pub faded: f64,
    /// Share of the rest that would have been in time at the mean rate that a sender could have
    /// known by then: the link had already slowed down, and a mean of that span did not show
    /// it.
    pub aged: f64,
    /// The others: more was in flight than even that rate can deliver in time.
    pub queued: f64,
}

impl Late {
    /// Causes for these packets of a run, over a link with this capacity, under a sender with this
    /// knowledge.
    pub(super) fn of(packets: &[Arrival], knows: &Knows, told: &Told, limit: Duration) -> Self {
        let mut sent: Vec<_> = packets
            .iter()
            .map(|packet| (packet.left(), packet.size().saturating_sub(HEADERS)))
            .collect();
        sent.sort_unstable();
        let mut sum = 0;
        let sums: Vec<u64> = std::iter::once(0)
            .chain(sent.iter().map(|(_, size)| {
                sum += size;
                sum
            }))
            .collect();
        let by = |at| sums[sent.partition_point(|(sent, _)| *sent <= at)];
        let least =
            packets.iter().map(|packet| packet.at() - packet.left()).min().unwrap_or_default();
        let mut late = [0_usize; 4];
        for packet in packets.iter().filter(|packet| packet.delay() > limit) {
            let after = packet.at() - packet.left();
            let left = packet.sent();
            let carried = |at| knows.by(HostInstant::default() + at).count();
            let rate = |until: Duration, span: Duration| {
                let bytes = carried(until) - carried(until.saturating_sub(span));
                bytes as f64 / span.as_secs_f64()
            };
            let waits =
                (by(packet.left()) - by(packet.left().saturating_sub(packet.queueing()))) as f64;
            let in_time = |rate: f64| {
                let then =
                    (packet.delay() - packet.queueing()).as_secs_f64() + waits / rate.max(1.0);
                then <= limit.as_secs_f64()
            };
            let why = if packet.delay() - after + least <= limit {
                0
            } else if in_time(rate(left, NOW)) {
                1
            } else if in_time(rate(left.saturating_sub(told.latency), told.span)) {
                2
            } else {
                3
            };
            late[why] += 1;
        }
        let all: usize = late.iter().sum();
        let part = |count: usize| count as f64 / all.max(1) as f64;
        Self {
            part: all as f64 / packets.len().max(1) as f64,
            repeated: part(late[0]),
            faded: part(late[1]),
            aged: part(late[2]),
            queued: part(late[3]),
        }
    }
}

#[cfg(test)]
mod tests {
    use sounding_sim::Carried;
    use sounding_sim::world::FlowId;
    use sounding_units::Bytes;

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    const AT_ONCE: Told = Told { span: ms(100), latency: Duration::ZERO };

    /// A link that sends a packet after each of `steps` milliseconds from 1 s on, with its
    /// capacity.
    fn link(steps: &[u64]) -> Knows {
        let (mut at, mut sum) = (ms(1_000), 0);
        let carried = steps.iter().map(|step| {
            at += ms(*step);
            sum += 1_000;
            (HostInstant::default() + at, sum)
        });
        let (lead, late) = (Duration::ZERO, Duration::ZERO);
        Knows { carried: carried.collect(), flows: 1, lead, late }
    }

    /// A packet that left at `left`, was sent at `sent` and arrived this much later.
    fn packet(left: u64, sent: u64, after: u64) -> Arrival {
        let at = |millis: u64| HostInstant::default() + ms(millis);
        let packet = Carried {
            payload: (),
            size: Bytes::new(1_000 + HEADERS),
            entered: at(left),
            joined: at(left + 5),
            left: at(sent),
            exits: at(sent + after),
        };
        Arrival { flow: FlowId(0), packet }
    }

    #[test]
    fn a_packet_that_is_repeated_is_late_by_that() {
        let packets = [packet(1_100, 1_110, 5), packet(1_101, 1_111, 45)];
        let late = Late::of(&packets, &link(&[1; 500]), &AT_ONCE, ms(30));
        assert_eq!((late.part, late.repeated), (0.5, 1.0));
    }

    #[test]
    fn a_packet_on_a_link_that_slows_down_is_late_by_that() {
        // One packet per millisecond, and from 1.1 s on one in ten milliseconds.
        let packets: Vec<_> = (0..10).map(|at| packet(1_100, 1_110 + at * 10, 5)).collect();
        let late = Late::of(&packets, &link(&[1; 100]), &AT_ONCE, ms(30));
        assert_eq!((late.faded, late.queued), (1.0, 0.0), "{late:?}");
    }

    #[test]
    fn a_packet_on_a_link_that_has_slowed_down_unseen_is_late_by_that() {
        // One in a millisecond until 1.1 s, one in ten from then on; they leave 60 ms later.
        let steps = [&[1; 100][..], &[10; 40]].concat();
        let packets: Vec<_> = (0..10).map(|at| packet(1_160, 1_166 + at * 10, 5)).collect();
        let told = Told { latency: ms(40), ..AT_ONCE };
        let late = Late::of(&packets, &link(&steps), &told, ms(30));
        assert!(late.aged > 0.5 && late.faded == 0.0, "{late:?}");
    }

    #[test]
    fn a_packet_behind_too_many_others_is_late_by_them() {
        let packets: Vec<_> = (0..100).map(|at| packet(1_100, 1_106 + at, 5)).collect();
        let late = Late::of(&packets, &link(&[1; 500]), &AT_ONCE, ms(30));
        assert_eq!((late.faded, late.queued), (0.0, 1.0), "{late:?}");
    }
}
