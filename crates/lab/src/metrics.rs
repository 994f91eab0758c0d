//! What is measured of packets that went through an emulation, by one definition for every report.
//!
//! * Throughput: bytes of IP delivered in a window over the length of the window.
//! * Utilisation: throughput over what the link could have carried of full packets in the same window.
//! * One-way delay: from the sender's device to the receiver's kernel, as it really was. Queueing delay: from joining
//!   the queue of the link to leaving the link, as the model has it. Quantiles are nearest-rank, packets weigh equal.
//! * Signal delay: how late a word written at a moment would have arrived. For every millisecond the least one-way delay
//!   of a packet sent in it, or a millisecond more than for the next where none was (Sprout, mm-throughput-graph).
//! * Loss: bytes dropped over bytes sent in the window. Packets still under way are neither delivered nor lost.

use std::time::Duration;

use sounding_emu::{Direction, Flow, Outcome, PacketRecord};
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant, Rate};

/// Which packets count, and against which link.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Which way they went.
    pub direction: Direction,
    /// Whose they are; `None` for everybody's.
    pub flow: Option<Flow>,
    /// The least size of a packet that counts: leaves out acknowledgements.
    pub at_least: Bytes,
    /// The link they went through.
    pub schedule: &'a Schedule,
    /// When the schedule began.
    pub started: HostInstant,
    /// The window: from here,
    pub from: HostInstant,
    /// to before here.
    pub to: HostInstant,
}

/// The answer. Delays are `None` where no packet was delivered.
#[derive(Clone, Copy, Debug)]
pub struct Metrics {
    /// Packets delivered in the window.
    pub packets: u64,
    /// Bytes of IP per time.
    pub throughput: Rate,
    /// What the link could have carried.
    pub capacity: Rate,
    /// One-way delay.
    pub one_way: Option<Delays>,
    /// Queueing delay.
    pub queueing: Option<Delays>,
    /// What 95 % of all milliseconds stayed within.
    pub signal_p95: Option<Duration>,
    /// 0..=1.
    pub loss: f64,
}

impl Metrics {
    /// Answers from the records of an emulation.
    pub fn of(records: &[PacketRecord], question: &Question<'_>) -> Self {
        let Question { direction, flow, at_least, from, to, .. } = *question;
        let counts = |record: &&PacketRecord| {
            record.direction == direction
                && record.size >= at_least
                && flow.is_none_or(|flow| flow == record.flow)
        };
        let inside = |at: HostInstant| at >= from && at < to;
        let (mut delivered, mut sent, mut dropped) = (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO);
        let (mut one_way, mut queueing, mut by_sending) = (Vec::new(), Vec::new(), Vec::new());
        for record in records.iter().filter(counts) {
            let lost = !matches!(record.outcome, Outcome::Delivered { .. });
            if inside(record.entered) {
                sent += record.size;
                dropped += if lost { record.size } else { Bytes::ZERO };
            }
            if let Outcome::Delivered { joined, left, written, .. } = record.outcome
                && inside(written)
            {
                let delay = written - record.entered;
                delivered += record.size;
                one_way.push(delay);
                queueing.push(left - joined);
                by_sending.push((record.entered.as_nanos() / 1_000_000, nanos(delay)));
            }
        }
        let window = to - from;
        let capacity = question.schedule.capacity(from - question.started, to - question.started);
        Self {
            packets: one_way.len() as u64,
            throughput: delivered.per(window),
            capacity: capacity.per(window),
            one_way: Delays::of(one_way),
            queueing: Delays::of(queueing),
            signal_p95: signal_delays(&by_sending, 1_000_000)
                .map(|delays| Duration::from_nanos(nearest_rank(&delays, 0.95))),
            loss: ratio(dropped.count() as f64, sent.count() as f64),
        }
    }

    /// Throughput over capacity; more than 1 where packets queued before the window left in it.
    pub fn utilisation(&self) -> f64 {
        ratio(self.throughput.bits_per_sec() as f64, self.capacity.bits_per_sec() as f64)
    }
}

/// The distribution of a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Mean.
    pub mean: Duration,
    /// Median.
    pub p50: Duration,
    /// What 95 % of packets stayed within.
    pub p95: Duration,
    /// What 99 % of packets stayed within.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

impl Delays {
    /// The distribution of these; `None` of nothing.
    pub fn of(mut delays: Vec<Duration>) -> Option<Self> {
        delays.sort_unstable();
        let max = *delays.last()?;
        let total: u128 = delays.iter().map(Duration::as_nanos).sum();
        let mean = total / delays.len() as u128;
        Some(Self {
            mean: Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)),
            p50: nearest_rank(&delays, 0.50),
            p95: nearest_rank(&delays, 0.95),
            p99: nearest_rank(&delays, 0.99),
            max,
        })
    }
}

/// The smallest value that at least `quantile` of all values do not exceed.
///
/// # Panics
///
/// If `sorted` is empty.
pub fn nearest_rank<T: Copy>(sorted: &[T], quantile: f64) -> T {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// Jain's fairness index of what several got (Jain, Chiu and Hawe 1984; PBE-CC §6.4): 1 where all got the same, and one over their
/// number where one got everything; `None` where nobody got anything.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// Jain's index of so many packets that are dealt out among `flows` as evenly as whole packets can be: one packet for two flows is a
/// half, whoever gets it.
pub(crate) fn jain_of_whole(packets: usize, flows: usize) -> Option<f64> {
    let flows = flows.max(1);
    let (each, more) = (packets / flows, packets % flows);
    let shares: Vec<f64> =
        (0..flows).map(|flow| (each + usize::from(flow < more)) as f64).collect();
    jain(&shares)
}

/// The signal delay of every slot from the first to the last in which a packet was sent, sorted; `None` of nothing.
///
/// `packets` are pairs of slot and delay in any order; an empty slot has the delay of the next and `step` more.
pub(crate) fn signal_delays(packets: &[(u64, u64)], step: u64) -> Option<Vec<u64>> {
    let mut packets = packets.to_vec();
    // The least delay of a slot comes first, and only that one counts.
    packets.sort_unstable();
    packets.dedup_by_key(|(slot, _)| *slot);
    let mut delays = Vec::new();
    let (mut slot, mut delay) = *packets.last()?;
    delays.push(delay);
    for &(earlier, least) in packets.iter().rev().skip(1) {
        while slot - 1 > earlier {
            slot -= 1;
            delay += step;
            delays.push(delay);
        }
        (slot, delay) = (earlier, least);
        delays.push(delay);
    }
    delays.sort_unstable();
    Some(delays)
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_sim::Device;

    fn millis(millis: u64) -> HostInstant {
        HostInstant::from_nanos(millis * 1_000_000)
    }

    fn delivered(entered: u64, joined: u64, left: u64, written: u64) -> PacketRecord {
        PacketRecord {
            device: Device::default(),
            direction: Direction::Up,
            size: Bytes::new(1000),
            flow: Flow::default(),
            entered: millis(entered),
            outcome: Outcome::Delivered {
                joined: millis(joined),
                left: millis(left),
                due: millis(written),
                written: millis(written),
            },
        }
    }

    fn dropped(entered: u64) -> PacketRecord {
        let outcome = Outcome::Dropped { at: millis(entered) };
        PacketRecord { outcome, ..delivered(entered, 0, 0, 0) }
    }

    fn measure(records: &[PacketRecord], from: u64, to: u64) -> Metrics {
        let schedule = Schedule::from(Rate::from_bits_per_sec(8_000_000));
        Metrics::of(
            records,
            &Question {
                direction: Direction::Up,
                flow: None,
                at_least: Bytes::ZERO,
                schedule: &schedule,
                started: millis(0),
                from: millis(from),
                to: millis(to),
            },
        )
    }

    #[test]
    fn only_what_was_delivered_in_the_window_is_throughput() {
        let records = [delivered(0, 0, 5, 10), delivered(0, 0, 5, 20), delivered(0, 0, 5, 30)];
        let metrics = measure(&records, 10, 30);
        // Two packets of 1000 bytes in 20 ms, of 20 000 bytes possible.
        assert_eq!(metrics.throughput, Rate::from_bits_per_sec(800_000));
        assert!((metrics.utilisation() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn delays_are_told_apart() {
        let metrics = measure(&[delivered(1, 3, 7, 12)], 0, 20);
        assert_eq!(metrics.one_way.unwrap().p50, Duration::from_millis(11));
        assert_eq!(metrics.queueing.unwrap().p50, Duration::from_millis(4));
    }

    #[test]
    fn loss_counts_what_was_sent_in_the_window() {
        let records = [dropped(5), dropped(50), delivered(6, 6, 7, 8), delivered(7, 7, 8, 60)];
        assert!((measure(&records, 0, 20).loss - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_delivered_has_no_delay() {
        let metrics = measure(&[dropped(5)], 0, 20);
        assert!(metrics.one_way.is_none() && metrics.signal_p95.is_none());
    }

    #[test]
    fn the_nearest_rank_is_a_value_that_occurs() {
        let values: Vec<u64> = (1..=10).collect();
        let ranks = [0.0, 0.05, 0.5, 0.51, 0.95, 1.0].map(|q| nearest_rank(&values, q));
        assert_eq!(ranks, [1, 1, 5, 6, 10, 10]);
    }

    #[test]
    fn shares_are_fair_to_the_degree_that_they_are_equal() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[0.0, 5.0]), Some(0.5));
        // (1 + 3)² / (2 × (1 + 9))
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain_of_whole(6, 3), Some(1.0));
        assert_eq!(jain_of_whole(1, 3), jain(&[0.0, 1.0, 0.0]));
        assert_eq!(jain_of_whole(5, 3), jain(&[2.0, 2.0, 1.0]));
        assert_eq!(jain_of_whole(0, 3), None);
    }

    #[test]
    fn a_word_written_in_a_silent_slot_waits_for_the_next_packet() {
        // Slot 3 has two packets; slots 1 and 2 wait for it; slot 0 has its own.
        let delays = signal_delays(&[(3, 9), (3, 5), (0, 2)], 1).unwrap();
        assert_eq!(delays, [2, 5, 6, 7]);
    }
}
