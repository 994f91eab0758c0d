//! The one sender that is allowed to know the link: each packet arrives just in time for its
//! opportunity.

use std::time::Duration;

use sounding_emu::{Direction, Flow, Outcome, PacketRecord};
use sounding_sim::{Device, Link, QueueLimit};
use sounding_trace::{Schedule, Trace};
use sounding_units::{Bytes, HostInstant};

/// A packet of a full opportunity.
const PACKET: Bytes = sounding_trace::OPPORTUNITY_PAYLOAD;

/// The link's records of the oracle's packets for `duration`, in the terms of an emulation that
/// began at time zero.
///
/// The packets really go through the model of the link, so its rules hold for the oracle too: no
/// packet leaves in the millisecond in which it came.
pub fn records(offered: &Trace, duration: Duration, delay: Duration) -> Vec<PacketRecord> {
    let origin = HostInstant::default();
    let schedule = Schedule::from(offered.clone());
    let mut link = Link::new(&schedule, QueueLimit::INFINITE, origin);
    let mut records = Vec::new();
    let period = u64::from(offered.period_millis()).max(1);
    let rounds = 0..=duration.as_millis() as u64 / period;
    let opportunities = rounds
        .flat_map(|round| offered.millis().iter().map(move |&ms| round * period + u64::from(ms)));
    // No sender can be in time for an opportunity at the very beginning.
    let reachable = opportunities.skip_while(|&ms| ms == 0);
    for ms in reachable.take_while(|&ms| u128::from(ms) < duration.as_millis()) {
        let arrival = origin + Duration::from_millis(ms - 1);
        link.handle_time(arrival);
        drain(&mut link, delay, &mut records);
        link.handle_packet(arrival, PACKET, ());
    }
    link.handle_time(origin + duration);
    drain(&mut link, delay, &mut records);
    records
}

fn drain(link: &mut Link<()>, delay: Duration, records: &mut Vec<PacketRecord>) {
    while let Some(departure) = link.poll_departure() {
        let arrived = departure.at + delay;
        records.push(PacketRecord {
            device: Device::default(),
            direction: Direction::Uplink,
            size: departure.size,
            flow: Flow::default(),
            entered: departure.arrival,
            outcome: Outcome::Delivered {
                joined: departure.arrival,
                left: departure.at,
                due: arrived,
                written: arrived,
            },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_uses_every_opportunity_and_waits_a_millisecond() {
        let trace = Trace::from_millis(vec![0, 1, 1, 5, 9, 10]).expect("a trace");
        let delay = Duration::from_millis(20);
        let records = records(&trace, Duration::from_millis(31), delay);
        assert_eq!(records.len(), 17 + 1);
        let longest = records.iter().filter_map(PacketRecord::queueing_delay).max();
        assert_eq!(longest, Some(Duration::from_millis(1)));
        assert_eq!(records[0].one_way_delay(), Some(Duration::from_millis(21)));
    }
}
