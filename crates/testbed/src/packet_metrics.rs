//! Measurements of packets that went through an emulation, by one definition for every report.
//!
//! * Throughput: delivered bytes of IP in a window ÷ the length of the window.
//! * Utilisation: throughput ÷ the link's capacity for full packets in the same window.
//! * One-way delay: measured from the sender's device to the receiver's kernel. Queueing delay:
//!   from joining the queue of the link to leaving the link, from the model. Quantiles are
//!   nearest-rank over packets.
//! * Signal delay: the delay of data written at a given time. For every millisecond it is the
//!   smallest one-way delay of a packet sent in it; without a packet, a millisecond more than for
//!   the next one (Sprout, mm-throughput-graph).
//! * Loss: dropped bytes ÷ sent bytes in the window. Packets in flight are neither delivered nor
//!   lost.

use std::time::Duration;

use sounding_emu::{Direction, Flow, Outcome, PacketRecord};
use sounding_experiment::metrics::{Delays, nearest_rank, signal_delays};
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant, Rate};

/// The packets that count, and their link.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Their direction.
    pub direction: Direction,
    /// The flow; `None` for all flows.
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
    /// The link's capacity.
    pub capacity: Rate,
    /// One-way delay.
    pub one_way: Option<Delays>,
    /// Queueing delay.
    pub queueing: Option<Delays>,
    /// 95th percentile over all milliseconds.
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
            direction: Direction::Uplink,
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
                direction: Direction::Uplink,
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
    fn delays_are_distinguished() {
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
}
