use core::time::Duration;

use sounding_estimate::delay::{BEFORE, Events, PATIENCE, SAME_BLOCK, followed, in_intervals};
use sounding_estimate::{DelayKind, DelayUpdate, Direction, RanDelay, Timeline};
use sounding_units::HostInstant;

use super::table::{self, Place, SLOTS};

/// Waits that a retransmission of the uplink may prolong began no earlier before it: ten usual
/// intervals of reports.
const WAITS: Duration = Duration::from_millis(50);
/// Slots further back than this are not written again: no sample waits for so long.
const WRITTEN: u64 = table::slots_in(PATIENCE);

/// Writes into a [`Table`](super::Table) what the radio added to packets, from a modem's delay
/// events.
///
/// A slot is written once all events of its time are known, and again when one is corrected.
#[derive(Clone, Debug, Default)]
pub struct DelaySlots {
    timeline: Timeline,
    /// Retransmissions of the downlink, each with the number of its burst.
    bursts: Events<u32>,
    numbered: u32,
    report_interval: Option<Duration>,
    up: Written,
    down: Written,
}

/// The slots of a direction.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// The first that is not written.
    next: Option<u64>,
    /// The first whose content changed.
    changed: Option<u64>,
}

impl Written {
    fn change(&mut self, from: HostInstant) {
        let slot = table::slot_of(from);
        self.changed = Some(self.changed.map_or(slot, |changed| changed.min(slot)));
    }

    /// The slots to write when all before this time is known.
    fn take(&mut self, known: HostInstant) -> core::ops::Range<u64> {
        let end = table::slot_of(known);
        let next = self.next.unwrap_or(end);
        let changed = self.changed.take();
        let from = changed.map_or(next, |changed| changed.min(next));
        // A clock that was set back leaves no gap for long.
        // Slots after the known ones are written when they are known.
        self.changed = changed.filter(|changed| *changed >= end);
        self.next = Some(end);
        from.max(end.saturating_sub(WRITTEN))..end
    }
}

impl DelaySlots {
    /// Another event, in any order; one of the same direction, kind and begin replaces the earlier
    /// one.
    pub fn handle_event(&mut self, event: RanDelay) {
        match (event.kind, event.direction) {
            (DelayKind::Scheduling, _) => {
                self.timeline.handle_event(event);
                self.up.change(event.from);
            }
            (DelayKind::Harq | DelayKind::Rlc, Direction::Uplink) => {
                self.timeline.handle_event(event);
                let waits = in_intervals(WAITS, followed(self.report_interval));
                self.up.change(event.from.saturating_before(waits));
            }
            (DelayKind::Harq | DelayKind::Rlc, Direction::Downlink) => self.handle_burst(event),
        }
    }

    fn handle_burst(&mut self, event: RanDelay) {
        self.down.change(event.to.saturating_before(BEFORE));
        let number = if let Some((earlier, number)) = self.bursts.same(&event) {
            self.down.change(earlier.to.saturating_before(BEFORE));
            *number
        } else {
            self.numbered = self.numbered % 0xf_ffff + 1;
            self.numbered
        };
        self.bursts.insert(event, number);
    }

    /// Takes in news of the modem. `put` writes a word.
    pub fn handle_update(&mut self, update: &DelayUpdate, mut put: impl FnMut(Place, u64)) {
        self.report_interval = update.report_interval;
        update.events.iter().for_each(|event| self.handle_event(*event));
        if let Some(until) = update.up_until {
            let until = until.saturating_before(SAME_BLOCK);
            // A packet for which there was no block yet still waits, where waits are known at all.
            let left = self.timeline.last_wait().map_or(until, |last| last.to);
            for slot in self.up.take(until.min(left)) {
                // The less of both ends: where another wait begins within the slot, a packet of the
                // one before it has not the next one's.
                let [begin, end] = table::ends(slot).map(|at| self.timeline.up_parts(at));
                let parts = [0, 1].map(|part| Duration::min(begin[part], end[part]));
                put(Place::Up(slot as usize % SLOTS), table::up_word(slot, parts));
            }
        }
        let Some(until) = update.down_until else { return };
        for slot in self.down.take(until) {
            let at = table::middle(slot);
            let held = self.bursts.iter().filter(|(event, _)| event.releases(at));
            let longest = held.max_by_key(|(event, _)| event.amount);
            let (number, amount) =
                longest.map_or((0, Duration::ZERO), |(event, number)| (*number, event.amount));
            put(Place::Down(slot as usize % SLOTS), table::down_word(slot, number, amount));
        }
    }
}

#[cfg(test)]
mod tests {

    use super::super::table::{Down, Up};
    use super::super::{SLOT, Table};
    use super::*;

    fn at(us: u64) -> HostInstant {
        HostInstant::from_nanos(us * 1_000)
    }

    fn event(kind: DelayKind, direction: Direction, [from, to, amount]: [u64; 3]) -> RanDelay {
        RanDelay::new(direction, kind, at(from), at(to)).with_amount(Duration::from_micros(amount))
    }

    fn write(slots: &mut DelaySlots, table: &mut Table, up: u64, down: u64) {
        let update =
            DelayUpdate::default().with_up_until(Some(at(up))).with_down_until(Some(at(down)));
        slots.handle_update(&update, |place, word| table.put(place, word));
    }

    fn slot(us: u64) -> u32 {
        table::slot_of(at(us)) as u32
    }

    #[test]
    fn a_packet_waits_for_less_the_later_it_comes_and_nothing_is_known_before_its_block() {
        let (mut slots, mut table) = (DelaySlots::default(), Table::default());
        slots.handle_event(event(DelayKind::Scheduling, Direction::Uplink, [90_000, 91_000, 0]));
        write(&mut slots, &mut table, 95_000, 90_000);
        assert_eq!(table.up(slot(95_000)), None);
        slots.handle_event(event(
            DelayKind::Scheduling,
            Direction::Uplink,
            [100_000, 108_000, 6_000],
        ));
        write(&mut slots, &mut table, 140_000, 90_000);
        let waited = |table: &Table, us| table.up(slot(us)).unwrap().waited;
        assert_eq!(waited(&table, 100_500), 5_500 - 250);
        assert_eq!(waited(&table, 104_000), 2_000 - 250);
        assert_eq!(waited(&table, 107_500), 0);
        // In the slot in which the wait before it ends, a packet may be of either.
        slots.handle_event(event(
            DelayKind::Scheduling,
            Direction::Uplink,
            [108_100, 116_000, 6_000],
        ));
        write(&mut slots, &mut table, 141_000, 90_000);
        assert_eq!(waited(&table, 108_100), 0);
        assert_eq!(waited(&table, 108_250), 6_000 - 400);
        // Packets of then still wait, for all that is known.
        assert_eq!(table.up(slot(117_000)), None);
    }

    #[test]
    fn a_wait_and_a_retransmission_have_each_a_part_of_a_word() {
        let (mut slots, mut table) = (DelaySlots::default(), Table::default());
        slots.handle_event(event(DelayKind::Scheduling, Direction::Uplink, [90_000, 91_000, 0]));
        write(&mut slots, &mut table, 95_000, 90_000);
        let waits = [100_000, 108_000, 6_000];
        slots.handle_event(event(DelayKind::Scheduling, Direction::Uplink, waits));
        let again = [108_000, 116_000, 8_000];
        slots.handle_event(event(DelayKind::Harq, Direction::Uplink, again));
        write(&mut slots, &mut table, 140_000, 90_000);
        assert_eq!(table.up(slot(104_000)), Some(Up { waited: 2_000 - 250, held: 8_000 }));
    }

    #[test]
    fn repeats_of_harq_and_rlc_are_written_where_no_wait_is_known() {
        let (mut slots, mut table) = (DelaySlots::default(), Table::default());
        write(&mut slots, &mut table, 95_000, 90_000);
        slots.handle_event(event(DelayKind::Harq, Direction::Uplink, [100_000, 108_000, 8_000]));
        slots.handle_event(event(DelayKind::Rlc, Direction::Uplink, [120_000, 180_000, 60_000]));
        slots.handle_event(event(DelayKind::Rlc, Direction::Downlink, [90_000, 150_000, 60_000]));
        write(&mut slots, &mut table, 190_000, 160_000);
        let up = |us| table.up(slot(us));
        assert_eq!(up(102_000), Some(Up { waited: 0, held: 6_000 - 250 }));
        assert_eq!(up(140_000), Some(Up { waited: 0, held: 40_000 - 250 }));
        assert_eq!(table.down(slot(150_000)), Some(Down { burst: 1, held: 60_000 }));
    }

    #[test]
    fn a_word_is_none_of_another_round_of_the_ring() {
        let (mut slots, mut table) = (DelaySlots::default(), Table::default());
        write(&mut slots, &mut table, 0, 1_000_000);
        write(&mut slots, &mut table, 0, 1_100_000);
        assert_eq!(table.down(slot(1_050_000)), Some(Down::default()));
        let round = SLOT.as_micros() as u64 * SLOTS as u64;
        assert_eq!(table.down(slot(1_050_000 + round)), None);
    }

    #[test]
    fn a_burst_that_is_sent_once_more_ends_later_and_is_still_the_same() {
        let (mut slots, mut table) = (DelaySlots::default(), Table::default());
        write(&mut slots, &mut table, 0, 1_000_000);
        let burst =
            |to| event(DelayKind::Harq, Direction::Downlink, [1_010_000, to, to - 1_010_000]);
        slots.handle_event(burst(1_018_000));
        write(&mut slots, &mut table, 0, 1_050_000);
        let was = table.down(slot(1_018_500)).unwrap();
        assert_eq!((was.burst, was.held), (1, 8_000));
        slots.handle_event(burst(1_026_000));
        write(&mut slots, &mut table, 0, 1_051_000);
        assert_eq!(table.down(slot(1_018_500)), Some(Down::default()));
        assert_eq!(table.down(slot(1_026_000)), Some(Down { burst: 1, held: 16_000 }));
    }
}
