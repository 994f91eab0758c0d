//! One cell as a sniffer receives it: the resource blocks of each user in the last round trip
//! (PBE-CC §4.2.1).

use alloc::collections::{BTreeMap, VecDeque};
use core::time::Duration;

use sounding_trace::dci::Dci;

/// Maximum number of kept messages of a cell: all that its control channel can carry in half a
/// second, with NR's shortest usual slots.
const CAPACITY: usize = 20_000;

/// How long messages are kept: until the modem has reported the same grants.
const KEPT: Duration = Duration::from_millis(500);

/// Slots of a frame at the highest numerology.
const SLOTS: usize = 160;
const FRAMES_PER_SEC: f64 = 100.0;

/// A slot of the frame belongs to the direction after this many messages in it: a single one may be
/// a false decoding.
const SEEN: u8 = 2;

/// A user has data, and not only control traffic, if it is active in more subframes than this and
/// has more resource blocks than `CONTROL_PRB` in each of them on average (PBE-CC §4.2.1: T_a > 1,
/// P_a > 4). Users of falsely decoded messages do not meet this.
const CONTROL_SLOTS: u32 = 1;
const CONTROL_PRB: u32 = 4;

/// Whether a user with these resource blocks in these slots has data.
pub(super) fn is_user(slots: u32, prb: u32) -> bool {
    slots > CONTROL_SLOTS && prb > CONTROL_PRB.saturating_mul(slots)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) time: Duration,
    pub(super) rnti: u16,
    pub(super) prb: u16,
    bits: u32,
}

/// One cell's control channel.
#[derive(Clone, Debug)]
pub(super) struct Sniffed {
    messages: VecDeque<Message>,
    /// The newest received time.
    newest: Duration,
    /// Resource blocks of the cell, if the format has them; otherwise the most that were granted
    /// in a slot.
    width: Option<u16>,
    widest: u32,
    /// Messages of the direction in each slot of a frame, up to [`SEEN`]. Slots without messages
    /// belong to the other direction (in TDD), or do not exist at the cell's numerology.
    used: [u8; SLOTS],
    /// The slot that is being received, and the resource blocks granted in it so far.
    slot: (Duration, u32),
    users: UserCount,
}

/// Resource blocks and users of the last span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// Resource blocks of the cell per second.
    pub(super) all: f64,
    /// And in a slot.
    pub(super) in_slot: f64,
    /// Resource blocks of no user, per second.
    pub(super) idle: f64,
    /// Users with data, without this device if its RNTI is known.
    pub(super) others: u32,
    /// This device's resource blocks, if its RNTI is known.
    pub(super) own: Option<OwnShare>,
    /// Bits per resource block, mean of all users with data.
    pub(super) bits_per_prb: Option<f64>,
}

/// A device's resource blocks, as a sniffer receives them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OwnShare {
    /// Resource blocks per second.
    pub(super) prb_per_sec: f64,
    /// Bits of each.
    pub(super) bits_per_prb: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct User {
    slots: u32,
    prb: u32,
    bits: u64,
    last: Option<Duration>,
}

impl User {
    fn bits_per_prb(&self) -> Option<f64> {
        (self.prb > 0).then(|| self.bits as f64 / f64::from(self.prb))
    }
}

impl Sniffed {
    pub(super) const fn new() -> Self {
        Self {
            messages: VecDeque::new(),
            newest: Duration::ZERO,
            width: None,
            widest: 0,
            used: [0; SLOTS],
            slot: (Duration::ZERO, 0),
            users: UserCount::new(),
        }
    }

    /// A message was received; users are counted over `span`.
    pub(super) fn handle(&mut self, dci: &Dci, span: Duration, own: Option<u16>) {
        let time = dci.moment.time;
        self.reach(time, span, own);
        self.width = dci.cell_prb.or(self.width);
        if let Some(used) = self.used.get_mut(usize::from(dci.moment.slot)) {
            *used = used.saturating_add(1).min(SEEN);
        }
        let before = if self.slot.0 == time { self.slot.1 } else { 0 };
        self.slot = (time, before.saturating_add(dci.prb.into()));
        self.widest = self.widest.max(self.slot.1);
        let bits = dci.blocks.iter().flatten().map(|block| block.bits).fold(0, u32::saturating_add);
        let place = self.messages.iter().rposition(|m| m.time <= time).map_or(0, |at| at + 1);
        self.messages.insert(place, Message { time, rnti: dci.rnti, prb: dci.prb, bits });
        if self.messages.len() > CAPACITY {
            self.messages.pop_front();
        }
    }

    /// The sniffer has received everything up to that time.
    pub(super) fn reach(&mut self, time: Duration, span: Duration, own: Option<u16>) {
        // The log has restarted, or its clock was set.
        if time.saturating_add(Duration::from_secs(1)) < self.newest {
            *self = Self::new();
        }
        if self.users.is_due(time, span) {
            let found = self.others(span, own);
            self.users.handle_window(time, found);
        }
        self.newest = self.newest.max(time);
        let is_old = |message: &Message| message.time.saturating_add(KEPT) <= self.newest;
        while self.messages.front().is_some_and(is_old) {
            self.messages.pop_front();
        }
    }

    /// Messages that are kept, oldest first.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    fn by_user(&self, span: Duration) -> BTreeMap<u16, User> {
        let mut users: BTreeMap<u16, User> = BTreeMap::new();
        let recent = self.messages.iter().rev();
        for message in recent.take_while(|m| m.time.saturating_add(span) > self.newest) {
            let user = users.entry(message.rnti).or_default();
            user.slots += u32::from(user.last.replace(message.time) != Some(message.time));
            user.prb += u32::from(message.prb);
            user.bits += u64::from(message.bits);
        }
        users
    }

    fn others(&self, span: Duration, own: Option<u16>) -> u32 {
        let users = self.by_user(span);
        let with_data =
            |(rnti, user): &(&u16, &User)| Some(**rnti) != own && is_user(user.slots, user.prb);
        users.iter().filter(with_data).count() as u32
    }

    /// Resource blocks and users of the last `span`.
    pub(super) fn share(&self, span: Duration, own: Option<u16>) -> Share {
        let users = self.by_user(span);
        let granted: u32 = users.values().map(|user| user.prb).sum();
        let (mut prb, mut bits) = (0, 0);
        for user in users.values().filter(|user| is_user(user.slots, user.prb)) {
            prb += user.prb;
            bits += user.bits;
        }
        let width = self.width.map_or(self.widest, u32::from);
        let slots = self.used.iter().filter(|used| **used >= SEEN).count();
        let all = f64::from(width) * slots as f64 * FRAMES_PER_SEC;
        let per_sec = |prb: u32| f64::from(prb) / span.as_secs_f64();
        let user = own.map(|rnti| users.get(&rnti).copied().unwrap_or_default());
        Share {
            all,
            in_slot: f64::from(width),
            idle: (all - per_sec(granted)).max(0.0),
            others: self.users.settled(),
            own: user.map(|user| OwnShare {
                prb_per_sec: per_sec(user.prb),
                bits_per_prb: user.bits_per_prb(),
            }),
            bits_per_prb: (prb > 0).then(|| bits as f64 / f64::from(prb)),
        }
    }
}

/// Users with data, counted in consecutive windows. A change by one counts if it shows in two
/// windows in a row: a user that pauses between two bursts still counts (interpretation 4).
#[derive(Clone, Copy, Debug)]
struct UserCount {
    settled: u32,
    last: u32,
    window_ends: Duration,
}

impl UserCount {
    const fn new() -> Self {
        Self { settled: 0, last: 0, window_ends: Duration::ZERO }
    }

    fn is_due(&self, time: Duration, span: Duration) -> bool {
        // The first window is a whole one.
        time >= self.window_ends || self.window_ends > time.saturating_add(span)
    }

    fn handle_window(&mut self, time: Duration, found: u32) {
        if found.abs_diff(self.settled) > 1 || found == self.last {
            self.settled = found;
        }
        self.last = found;
        self.window_ends = time.saturating_add(Duration::from_millis(20));
    }

    const fn settled(&self) -> u32 {
        self.settled
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

    const SPAN: Duration = Duration::from_millis(40);

    /// Two hundred subframes. These users have these resource blocks in each.
    fn received(users: &[(u16, u16)]) -> Sniffed {
        let mut sniffed = Sniffed::new();
        for ms in 0..200 {
            users.iter().for_each(|(rnti, prb)| sniffed.handle(&dci(ms, *rnti, *prb), SPAN, None));
        }
        sniffed
    }

    #[test]
    fn resource_blocks_without_a_grant_are_idle() {
        let share = received(&[(7, 20), (8, 15)]).share(SPAN, None);
        assert_eq!((share.all, share.idle, share.others), (50_000.0, 15_000.0, 2));
        assert_eq!(share.bits_per_prb, Some(100.0));
        let own = received(&[(7, 20), (8, 15)]).share(SPAN, Some(7)).own.expect("an RNTI");
        assert_eq!((own.prb_per_sec, own.bits_per_prb), (20_000.0, Some(100.0)));
    }

    #[test]
    fn users_of_control_traffic_take_resource_blocks_but_no_share() {
        let mut sniffed = received(&[(7, 20)]);
        sniffed.handle(&dci(199, 100, 4), SPAN, None);
        // A single message, however wide, may be a false decoding.
        sniffed.handle(&dci(199, 101, 10), SPAN, None);
        for ms in 195..200 {
            sniffed.handle(&dci(ms, 102, 4), SPAN, None);
        }
        let share = sniffed.share(SPAN, None);
        assert_eq!(sniffed.others(SPAN, None), 1);
        assert_eq!(sniffed.others(SPAN, Some(7)), 0);
        assert_eq!(share.idle, 50_000.0 - (20.0 * 40.0 + 4.0 + 10.0 + 20.0) / 0.04);
    }

    #[test]
    fn a_user_that_pauses_for_a_window_is_still_one() {
        let mut sniffed = received(&[(7, 20), (8, 15)]);
        assert_eq!(sniffed.share(SPAN, None).others, 2);
        (200..255).for_each(|ms| sniffed.handle(&dci(ms, 7, 20), SPAN, None));
        assert_eq!(sniffed.others(SPAN, None), 1);
        assert_eq!(sniffed.share(SPAN, None).others, 2);
        (255..300).for_each(|ms| sniffed.handle(&dci(ms, 7, 20), SPAN, None));
        assert_eq!(sniffed.share(SPAN, None).others, 1);
    }

    #[test]
    fn messages_older_than_a_round_trip_do_not_count() {
        let mut sniffed = received(&[(7, 20)]);
        sniffed.reach(Duration::from_millis(300), SPAN, None);
        assert_eq!(sniffed.share(SPAN, None).idle, 50_000.0);
    }

    #[test]
    fn memory_stays_bounded_with_any_number_of_messages() {
        let mut sniffed = Sniffed::new();
        (0..CAPACITY + 10).for_each(|at| sniffed.handle(&dci(5, at as u16, 1), SPAN, None));
        assert_eq!(sniffed.messages.len(), CAPACITY);
    }

    #[test]
    fn a_log_that_begins_anew_does_not_continue_the_old_one() {
        let mut sniffed = received(&[(7, 20)]);
        sniffed.handle(&dci(900_000, 7, 20), SPAN, None);
        sniffed.handle(&dci(5, 8, 20), SPAN, None);
        assert_eq!(sniffed.messages.len(), 1);
    }
}
