use core::time::Duration;

use sounding_units::HostInstant;

use super::{DelayKind, DelayUpdate, Events, RanDelay, SAME_BLOCK};
use crate::Direction;

/// Events of a modem, and what they add to packets (Gandalf §4.3.1): the one rule for controllers,
/// for the kernel's page of delays and for calls.
///
/// A packet of the uplink waits for a grant, and leaves with a block. Retransmissions that hold
/// this block hold the packet too, those of HARQ and of RLC alike. A packet without a known wait
/// counts as sent at once, so retransmissions still hold it.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    waits: Events,
    up: Events,
    /// Retransmissions of the downlink, each with the time at which the first of its packets had
    /// left its sender.
    down: Events<Option<HostInstant>>,
    up_until: Option<HostInstant>,
    down_until: Option<HostInstant>,
}

impl Timeline {
    /// Without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another event, in any order; one of the same direction, kind and begin replaces the earlier
    /// one.
    pub fn handle_event(&mut self, event: RanDelay) {
        match (event.kind, event.direction) {
            (DelayKind::Scheduling, _) => self.waits.insert(event, ()),
            (DelayKind::Harq | DelayKind::Rlc, Direction::Uplink) => self.up.insert(event, ()),
            (DelayKind::Harq | DelayKind::Rlc, Direction::Downlink) => {
                self.down.insert(event, None);
            }
        }
    }

    /// Takes in news of the modem.
    pub fn handle_update(&mut self, update: &DelayUpdate) {
        update.events.iter().for_each(|event| self.handle_event(*event));
        (self.up_until, self.down_until) = (update.up_until, update.down_until);
    }

    /// Whether all is known of a packet that entered the modem at `entered` and had passed its
    /// radio at `passed`, and of one that the host received at `received`. A block that is not
    /// known yet may have taken the first until it had passed.
    pub fn knows(&self, entered: HostInstant, passed: HostInstant, received: HostInstant) -> bool {
        let has_left = self.last_wait().is_some_and(|last| last.to >= entered);
        let up = self.up_until.is_some_and(|until| until >= passed.max(entered + SAME_BLOCK));
        up && has_left && self.down_until.is_some_and(|until| until >= received)
    }

    /// The wait for a grant that began last.
    pub fn last_wait(&self) -> Option<&RanDelay> {
        self.waits.last()
    }

    /// The wait of a packet which entered the modem at this time, up to the block that took it.
    fn wait(&self, entered: HostInstant) -> Option<&RanDelay> {
        self.waits.began_by(entered).filter(|wait| wait.to >= entered)
    }

    /// For how long such a packet waited for its block, for a grant and behind others.
    pub fn whole_wait(&self, entered: HostInstant) -> Duration {
        self.wait(entered).map_or(Duration::ZERO, |wait| wait.to - entered)
    }

    /// What the radio added to the delay of a packet that entered the modem at this time.
    pub fn up(&self, entered: HostInstant) -> Duration {
        let [waited, held] = self.up_parts(entered);
        waited + held
    }

    /// The same in two parts: the wait for a grant, and retransmissions.
    pub fn up_parts(&self, entered: HostInstant) -> [Duration; 2] {
        let wait = self.wait(entered);
        let waited = wait.and_then(|wait| wait.of(entered)).unwrap_or_default();
        let left = wait.map_or(entered, |wait| wait.to);
        [waited, self.up.held(left, SAME_BLOCK)]
    }

    /// What the radio added to the delay of a packet that the host received at this time, and that
    /// had left its sender at `sent`.
    pub fn down(&mut self, received: HostInstant, sent: HostInstant) -> Duration {
        let mut most = Duration::ZERO;
        for (event, first) in self.down.iter_mut().filter(|(event, _)| event.releases(received)) {
            let first = *first.get_or_insert(sent);
            most = most.max(event.amount.saturating_sub(sent - first));
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(1_000_000_000) + Duration::from_millis(ms)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn event(kind: DelayKind, direction: Direction, from: u64, to: u64) -> RanDelay {
        RanDelay::new(direction, kind, at(from), at(to))
    }

    fn of(events: &[RanDelay]) -> Timeline {
        let mut timeline = Timeline::new();
        events.iter().for_each(|event| timeline.handle_event(*event));
        timeline
    }

    const UP: Direction = Direction::Uplink;
    const DOWN: Direction = Direction::Downlink;

    #[test]
    fn a_packet_waits_for_its_grant_and_for_the_repeat_of_its_block() {
        let timeline =
            of(&[event(DelayKind::Scheduling, UP, 0, 6), event(DelayKind::Harq, UP, 6, 14)]);
        assert_eq!(timeline.up_parts(at(2)), [ms(4), ms(8)]);
        assert_eq!(timeline.up(at(20)), Duration::ZERO);
    }

    #[test]
    fn without_a_known_wait_repeats_of_harq_are_still_taken_off() {
        let mut timeline = of(&[event(DelayKind::Harq, UP, 6, 14)]);
        assert_eq!(timeline.up_parts(at(8)), [Duration::ZERO, ms(6)]);
        // A wait that is over explains nothing of a later packet.
        timeline.handle_event(event(DelayKind::Scheduling, UP, 0, 5));
        assert_eq!(timeline.up_parts(at(8)), [Duration::ZERO, ms(6)]);
    }

    #[test]
    fn repeats_of_rlc_are_taken_off_in_the_uplink_with_and_without_a_wait() {
        let mut timeline = of(&[event(DelayKind::Rlc, UP, 6, 66)]);
        assert_eq!(timeline.up_parts(at(16)), [Duration::ZERO, ms(50)]);
        timeline.handle_event(event(DelayKind::Scheduling, UP, 10, 20));
        assert_eq!(timeline.up_parts(at(16)), [ms(4), ms(46)]);
    }

    #[test]
    fn repeats_of_rlc_are_taken_off_a_burst_of_the_downlink() {
        let mut timeline = of(&[event(DelayKind::Rlc, DOWN, 0, 60)]);
        assert_eq!(timeline.down(at(60), at(10)), ms(60));
        assert_eq!(timeline.down(at(61), at(30)), ms(40));
        assert_eq!(timeline.down(at(70), at(30)), Duration::ZERO);
    }

    #[test]
    fn a_repeat_of_rlc_that_begins_with_one_of_harq_does_not_replace_it() {
        let (harq, rlc) = (event(DelayKind::Harq, UP, 6, 14), event(DelayKind::Rlc, UP, 6, 66));
        for events in [[harq, rlc], [rlc, harq]] {
            // Of two that overlap the longer counts, and not their sum.
            assert_eq!(of(&events).up_parts(at(8)), [Duration::ZERO, ms(58)]);
        }
        assert_eq!(of(&[rlc, harq]).up.iter().count(), 2);
    }

    #[test]
    fn a_later_report_of_an_event_replaces_it_and_memory_is_bounded() {
        let mut timeline =
            of(&[event(DelayKind::Harq, UP, 6, 14), event(DelayKind::Harq, UP, 6, 22)]);
        assert_eq!(timeline.up_parts(at(8)), [Duration::ZERO, ms(14)]);
        for from in (0..2_000).rev().chain(0..2_000) {
            timeline.handle_event(event(DelayKind::Harq, UP, from, from + 8));
        }
        assert_eq!(timeline.up.iter().count(), Events::<()>::MOST);
        let times: std::vec::Vec<_> = timeline.up.iter().map(|(event, ())| event.from).collect();
        assert!(times.is_sorted() && times[0] == at(1_488), "the latest stay, in order");
    }
}
