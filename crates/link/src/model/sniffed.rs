//! What a sniffer received from one cell in the last round trip: each user's grants (PBE-CC §4.2.1).

use alloc::collections::{BTreeMap, VecDeque};
use core::time::Duration;

use sounding_trace::dci::Dci;

/// Messages of a cell that are kept: all that its control channel can hold in 200 ms of NR's shortest usual slots.
const CAPACITY: usize = 20_000;

/// Slots of a frame at the highest numerology.
const SLOTS: usize = 160;
const FRAMES_PER_SEC: f64 = 100.0;

/// A user has data, not only control parameters, if it is active in more subframes than this and has more resource
/// blocks than that in each of them on average (PBE-CC §4.2.1: T_a > 1, P_a > 4). A sniffer's false detections meet
/// neither.
const CONTROL_SLOTS: u32 = 1;
const CONTROL_PRB: u32 = 4;

/// Whether a user with this many resource blocks in this many slots has data.
pub(super) fn is_user(slots: u32, prb: u32) -> bool {
    slots > CONTROL_SLOTS && prb > CONTROL_PRB.saturating_mul(slots)
}

#[derive(Clone, Copy, Debug)]
struct Message {
    time: Duration,
    rnti: u16,
    prb: u16,
    bits: u32,
}

/// One cell's control channel.
#[derive(Clone, Debug)]
pub(super) struct Sniffed {
    span: Duration,
    messages: VecDeque<Message>,
    /// Resource blocks of the cell, if the format has them; else the most that were granted in a slot.
    width: Option<u16>,
    widest: u32,
    /// Slots of a frame that ever had messages of the direction. The others are the other direction's, in TDD, or do
    /// not exist at its numerology.
    used: [bool; SLOTS],
    /// The current slot, and its grants so far.
    slot: (Duration, u32),
}

/// The messages of the last span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// Resource blocks of the cell, a second.
    pub(super) all: f64,
    /// The unused ones.
    pub(super) idle: f64,
    /// Users with data.
    pub(super) users: u32,
    /// Bits of a resource block, the mean of all users with data.
    pub(super) bits_per_prb: Option<f64>,
}

impl Sniffed {
    pub(super) const fn new(span: Duration) -> Self {
        Self {
            span,
            messages: VecDeque::new(),
            width: None,
            widest: 0,
            used: [false; SLOTS],
            slot: (Duration::ZERO, 0),
        }
    }

    pub(super) fn handle(&mut self, dci: &Dci) {
        let time = dci.moment.time;
        let newest = self.messages.back().map(|message| message.time);
        // A log that restarts, or whose clock was set.
        if newest.is_some_and(|newest| time.saturating_add(Duration::from_secs(1)) < newest) {
            *self = Self::new(self.span);
        }
        self.width = dci.cell_prb.or(self.width);
        if let Some(used) = self.used.get_mut(usize::from(dci.moment.slot)) {
            *used = true;
        }
        let before = if self.slot.0 == time { self.slot.1 } else { 0 };
        self.slot = (time, before.saturating_add(dci.prb.into()));
        self.widest = self.widest.max(self.slot.1);
        let bits = dci.blocks.iter().flatten().map(|block| block.bits).fold(0, u32::saturating_add);
        let place = self.messages.iter().rposition(|m| m.time <= time).map_or(0, |at| at + 1);
        self.messages.insert(place, Message { time, rnti: dci.rnti, prb: dci.prb, bits });
        let end = self.messages.back().map_or(time, |message| message.time);
        while self.messages.len() > CAPACITY
            || self
                .messages
                .front()
                .is_some_and(|message| message.time.saturating_add(self.span) <= end)
        {
            self.messages.pop_front();
        }
    }

    /// Silence counts as well: messages older than a span before it are dropped.
    pub(super) fn handle_silence(&mut self, time: Duration) {
        while self
            .messages
            .front()
            .is_some_and(|message| message.time.saturating_add(self.span) <= time)
        {
            self.messages.pop_front();
        }
    }

    pub(super) fn share(&self) -> Share {
        #[derive(Default)]
        struct User {
            slots: u32,
            prb: u32,
            bits: u64,
            last: Option<Duration>,
        }
        let mut users: BTreeMap<u16, User> = BTreeMap::new();
        for message in &self.messages {
            let user = users.entry(message.rnti).or_default();
            user.slots += u32::from(user.last.replace(message.time) != Some(message.time));
            user.prb += u32::from(message.prb);
            user.bits += u64::from(message.bits);
        }
        let granted: u32 = users.values().map(|user| user.prb).sum();
        let (mut count, mut prb, mut bits) = (0, 0, 0);
        for user in users.values().filter(|user| is_user(user.slots, user.prb)) {
            count += 1;
            prb += user.prb;
            bits += user.bits;
        }
        let width = self.width.map_or(self.widest, u32::from);
        let slots = self.used.iter().filter(|used| **used).count();
        let all = f64::from(width) * slots as f64 * FRAMES_PER_SEC;
        let used = f64::from(granted) / self.span.as_secs_f64();
        Share {
            all,
            idle: (all - used).max(0.0),
            users: count,
            bits_per_prb: (prb > 0).then(|| bits as f64 / f64::from(prb)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_trace::dci::{Block, Direction, Moment};

    fn dci(ms: u64, rnti: u16, prb: u16) -> Dci {
        let time = Duration::from_millis(ms);
        let block = Block { bits: 100 * u32::from(prb), ..Block::default() };
        Dci {
            moment: Moment { time, cell: 0, frame: (ms / 10 % 1024) as u16, slot: (ms % 10) as u8 },
            rnti,
            direction: Direction::Downlink,
            prb,
            cell_prb: Some(50),
            blocks: [Some(block), None],
            harq: None,
        }
    }

    /// Forty subframes in each of which these users have so many resource blocks.
    fn heard(users: &[(u16, u16)]) -> Sniffed {
        let mut sniffed = Sniffed::new(Duration::from_millis(40));
        for ms in 0..40 {
            users.iter().for_each(|(rnti, prb)| sniffed.handle(&dci(ms, *rnti, *prb)));
        }
        sniffed
    }

    #[test]
    fn ungranted_resource_blocks_are_idle() {
        let share = heard(&[(7, 20), (8, 15)]).share();
        assert_eq!((share.all, share.idle, share.users), (50_000.0, 15_000.0, 2));
        assert_eq!(share.bits_per_prb, Some(100.0));
    }

    #[test]
    fn users_of_control_traffic_take_resource_blocks_but_no_share() {
        let mut sniffed = heard(&[(7, 20)]);
        sniffed.handle(&dci(39, 100, 4));
        // A single wide message is a sniffer's false detection.
        sniffed.handle(&dci(39, 101, 10));
        for ms in 35..40 {
            sniffed.handle(&dci(ms, 102, 4));
        }
        let share = sniffed.share();
        assert_eq!(share.users, 1);
        assert_eq!(share.idle, 50_000.0 - (20.0 * 40.0 + 4.0 + 10.0 + 20.0) / 0.04);
    }

    #[test]
    fn what_is_older_than_a_round_trip_does_not_count() {
        let mut sniffed = heard(&[(7, 20)]);
        sniffed.handle_silence(Duration::from_millis(200));
        assert_eq!((sniffed.share().users, sniffed.share().idle), (0, 50_000.0));
    }

    #[test]
    fn memory_stays_bounded_however_many_messages_come_at_once() {
        let mut sniffed = Sniffed::new(Duration::from_millis(40));
        (0..CAPACITY + 10).for_each(|at| sniffed.handle(&dci(5, at as u16, 1)));
        assert_eq!(sniffed.messages.len(), CAPACITY);
    }

    #[test]
    fn a_log_that_begins_anew_does_not_continue_the_old_one() {
        let mut sniffed = heard(&[(7, 20)]);
        sniffed.handle(&dci(900_000, 7, 20));
        sniffed.handle(&dci(5, 8, 20));
        assert_eq!(sniffed.messages.len(), 1);
    }
}
