use alloc::collections::VecDeque;
use core::time::Duration;

use sounding_estimate::{DelayKind, Direction, RanDelay};
use sounding_units::HostInstant;

/// Events of each kind that are kept: those of half a second at one a millisecond.
const KEPT: usize = 512;
/// Packets of a burst reach the host this much before and after an event's end: host and modem do not agree better.
const BEFORE: Duration = Duration::from_micros(1_000);
const AFTER: Duration = Duration::from_micros(1_500);
/// The times of a block in PHY's and in MAC's records, which are dated one by one.
const SAME_BLOCK: Duration = Duration::from_micros(300);

/// Events of a modem, and what they say about packets. The newest 512 of each kind are kept.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// By their begin.
    waits: VecDeque<RanDelay>,
    up: VecDeque<RanDelay>,
    down: VecDeque<Burst>,
    up_until: Option<HostInstant>,
    down_until: Option<HostInstant>,
}

/// A retransmission of the downlink, and the packets it held up.
#[derive(Clone, Copy, Debug)]
struct Burst {
    event: RanDelay,
    /// When the first of its packets had left its sender.
    first_sent: Option<HostInstant>,
}

/// Keeps events in order of their begin; one that is known better replaces the earlier one.
fn insert<T: Copy>(into: &mut VecDeque<T>, new: T, event: impl Fn(&T) -> &RanDelay) {
    let from = event(&new).from;
    let place = into.iter().rposition(|of| event(of).from <= from);
    if let Some(same) = place.filter(|&at| event(&into[at]).from == from) {
        into[same] = new;
        return;
    }
    if into.len() == KEPT {
        if place.is_none() {
            return;
        }
        into.pop_front();
        return insert(into, new, event);
    }
    into.insert(place.map_or(0, |at| at + 1), new);
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Timeline {
    /// Without events.
    pub fn new() -> Self {
        Self {
            waits: VecDeque::with_capacity(KEPT),
            up: VecDeque::with_capacity(KEPT),
            down: VecDeque::with_capacity(KEPT),
            up_until: None,
            down_until: None,
        }
    }

    /// Another event, in any order; one of the same direction, kind and begin replaces the earlier one.
    pub fn handle_event(&mut self, event: RanDelay) {
        match (event.kind, event.direction) {
            (DelayKind::Scheduling, _) => insert(&mut self.waits, event, |of| of),
            (DelayKind::Harq, Direction::Uplink) => insert(&mut self.up, event, |of| of),
            (DelayKind::Harq, Direction::Downlink) => {
                insert(&mut self.down, Burst { event, first_sent: None }, |of| &of.event);
            }
            // They are rare, and not corrected (interpretation 12).
            (DelayKind::Rlc, _) => {}
        }
    }

    /// All events up to these times are known.
    pub(super) fn handle_until(&mut self, up: Option<HostInstant>, down: Option<HostInstant>) {
        (self.up_until, self.down_until) = (up, down);
    }

    /// Whether all is known of a packet that entered the modem at this time and had passed its radio at the second, and of one that
    /// the host received at the third. A block that is not known yet may have taken it until it had passed.
    pub(super) fn knows(
        &self,
        entered: HostInstant,
        passed: HostInstant,
        received: HostInstant,
    ) -> bool {
        self.up_until.is_some_and(|until| {
            until >= passed.max(entered + SAME_BLOCK) && self.has_left(entered)
        }) && self.down_until.is_some_and(|until| until >= received)
    }

    /// Whether a block is known that took what entered then.
    fn has_left(&self, entered: HostInstant) -> bool {
        self.waits.back().is_some_and(|last| last.to >= entered)
    }

    /// The block that took a packet which entered the modem at this time.
    fn wait(&self, entered: HostInstant) -> Option<RanDelay> {
        let after = self.waits.partition_point(|event| event.from <= entered);
        let wait = self.waits[after.checked_sub(1)?];
        (wait.to >= entered).then_some(wait)
    }

    /// For how long such a packet waited for its block, for a grant and behind others.
    pub(super) fn whole_wait(&self, entered: HostInstant) -> Duration {
        self.wait(entered).map_or(Duration::ZERO, |wait| wait.to - entered)
    }

    /// What the radio added to the delay of a packet that entered the modem at this time.
    pub fn up(&self, entered: HostInstant) -> Duration {
        let [waited, held] = self.up_parts(entered);
        waited + held
    }

    /// The same in two parts: the wait for a grant, and retransmissions.
    pub fn up_parts(&self, entered: HostInstant) -> [Duration; 2] {
        const NOTHING: [Duration; 2] = [Duration::ZERO; 2];
        let Some(wait) = self.wait(entered) else { return NOTHING };
        let Some(waited) = wait.of(entered) else { return NOTHING };
        let holds = |event: &&RanDelay| event.from <= wait.to + SAME_BLOCK && wait.to <= event.to;
        let held = self.up.iter().filter(holds);
        let held = held.map(|event| event.amount.saturating_sub(wait.to - event.from));
        [waited, held.max().unwrap_or_default()]
    }

    /// The same for a packet that the host received at this time, and that had left its sender at `sent`.
    pub fn down(&mut self, received: HostInstant, sent: HostInstant) -> Duration {
        let of = |burst: &Burst| {
            received + BEFORE >= burst.event.to && received <= burst.event.to + AFTER
        };
        let mut most = Duration::ZERO;
        for burst in self.down.iter_mut().filter(|burst| of(burst)) {
            let first = *burst.first_sent.get_or_insert(sent);
            most = most.max(burst.event.amount.saturating_sub(sent - first));
        }
        most
    }
}
