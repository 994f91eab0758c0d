use core::time::Duration;

/// Packets that leave within this are one group (libwebrtc `InterArrivalDelta`).
const SPAN: Duration = Duration::from_millis(5);
/// Groups that arrive closer together than this although they left farther apart were held up
/// together: one as well, up to a length.
const BURST_GAP: Duration = Duration::from_millis(5);
const MAX_BURST: Duration = Duration::from_millis(100);
/// Arrivals against departures: more is a jump of clocks, not a queue.
const JUMP: Duration = Duration::from_secs(3);
/// Groups in a row that arrive before those that left earlier.
const REORDERED: u32 = 3;

/// The difference between the arrival interval and the departure interval of two groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delta {
    /// In milliseconds.
    pub(super) sent: f64,
    pub(super) arrived: f64,
    /// When the later one had arrived, on the clock of the sums of these.
    pub(super) at: Duration,
}

/// Packets in groups, and what lies between groups. Both clocks count from wherever they like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Groups {
    last: Option<Group>,
    current: Option<Group>,
    reordered: u32,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Duration,
    first_arrived: Duration,
    sent: Duration,
    arrived: Duration,
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// From one moment to another, backwards too.
fn between(from: Duration, to: Duration) -> f64 {
    if to >= from { millis(to - from) } else { -millis(from - to) }
}

impl Group {
    fn takes(&self, sent: Duration, arrived: Duration) -> bool {
        if sent < self.first_sent + SPAN {
            return true;
        }
        let propagation = between(self.arrived, arrived) - between(self.sent, sent);
        propagation < 0.0
            && between(self.arrived, arrived) <= millis(BURST_GAP)
            && between(self.first_arrived, arrived) < millis(MAX_BURST)
    }
}

impl Groups {
    /// A packet that left and arrived then; what lies between the last two groups, if it begins
    /// another.
    pub(super) fn handle_packet(&mut self, sent: Duration, arrived: Duration) -> Option<Delta> {
        let begun = Group { first_sent: sent, first_arrived: arrived, sent, arrived };
        let Some(current) = &mut self.current else {
            self.current = Some(begun);
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if current.takes(sent, arrived) {
            current.sent = current.sent.max(sent);
            current.arrived = current.arrived.max(arrived);
            return None;
        }
        let current = *current;
        let last = self.last.replace(current);
        self.current = Some(begun);
        let last = last?;
        let delta = Delta {
            sent: between(last.sent, current.sent),
            arrived: between(last.arrived, current.arrived),
            at: current.arrived,
        };
        if delta.arrived.abs() >= millis(JUMP) + delta.sent {
            *self = Self { current: Some(begun), ..Self::default() };
            return None;
        }
        if delta.arrived < 0.0 {
            self.reordered += 1;
            if self.reordered >= REORDERED {
                *self = Self { current: Some(begun), ..Self::default() };
            }
            return None;
        }
        self.reordered = 0;
        Some(delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deltas(packets: &[(u64, u64)]) -> std::vec::Vec<(f64, f64)> {
        let mut groups = Groups::default();
        let ms = Duration::from_millis;
        let deltas =
            packets.iter().filter_map(|&(sent, at)| groups.handle_packet(ms(sent), ms(at)));
        deltas.map(|delta| (delta.sent, delta.arrived)).collect()
    }

    #[test]
    fn groups_are_five_milliseconds_of_departures() {
        let packets = [(0, 20), (2, 22), (10, 30), (12, 34), (20, 41), (30, 52)];
        assert_eq!(deltas(&packets), [(10.0, 12.0), (8.0, 7.0)]);
    }

    #[test]
    fn what_was_held_up_together_is_one_group() {
        let packets = [(0, 20), (10, 60), (20, 62), (30, 64), (40, 75), (50, 85)];
        assert_eq!(deltas(&packets), [(30.0, 44.0), (10.0, 11.0)]);
    }

    #[test]
    fn a_clock_that_jumps_is_no_queue() {
        let packets = [(0, 20), (10, 30), (20, 9000), (30, 9010), (40, 9020), (50, 9030)];
        assert_eq!(deltas(&packets), [(10.0, 10.0); 2]);
    }
}
