use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_estimate::delay::{SILENT, followed};
use sounding_units::HostInstant;

/// The width of a slot of [`Table`].
pub const SLOT: Duration = Duration::from_micros(250);
/// Slots of a direction: some 1.02 s.
pub const SLOTS: usize = 4_096;
const SLOT_NS: u64 = SLOT.as_nanos() as u64;
/// The most that a word has room for.
const MOST: u64 = 0xf_ffff;

/// The number of slots in a span.
pub(super) const fn slots_in(span: Duration) -> u64 {
    span.as_nanos() as u64 / SLOT_NS
}

/// A word of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// What the radio added to packets that entered the modem in this slot.
    Up(usize),
    /// The same for those that reached the host in it.
    Down(usize),
}

/// What the radio itself added to packets, by time.
///
/// A word names its slot, so one that was not overwritten for a round of the ring is not taken for
/// another's. In the uplink it has the microseconds of a wait for a grant and of a retransmission,
/// in the downlink the number of a retransmission's burst and its microseconds.
#[derive(Clone, Debug)]
pub struct Table {
    heard_at: u64,
    interval: Duration,
    up: Vec<u64>,
    down: Vec<u64>,
}

impl Default for Table {
    fn default() -> Self {
        let interval = followed(None);
        Self { heard_at: 0, interval, up: vec![0; SLOTS], down: vec![0; SLOTS] }
    }
}

impl Table {
    /// Writes a word; places outside are ignored.
    pub fn put(&mut self, place: Place, word: u64) {
        let (words, index) = match place {
            Place::Up(index) => (&mut self.up, index),
            Place::Down(index) => (&mut self.down, index),
        };
        if let Some(to) = words.get_mut(index) {
            *to = word;
        }
    }

    /// A record of the modem came at this time.
    pub fn set_heard(&mut self, at: HostInstant) {
        self.heard_at = at.as_nanos();
    }

    /// Reports of the buffer's status are so far apart, if that is known.
    pub fn set_interval(&mut self, interval: Option<Duration>) {
        self.interval = followed(interval);
    }

    /// Microseconds between reports, as constants follow them.
    pub(super) fn interval(&self) -> u32 {
        // 20 ms at most.
        self.interval.as_micros() as u32
    }

    pub(super) fn is_heard(&self, now: HostInstant) -> bool {
        let heard_at = HostInstant::from_nanos(self.heard_at);
        self.heard_at > 0 && heard_at <= now && now - heard_at <= SILENT
    }

    /// What is known of a packet that entered the modem then.
    pub(super) fn up(&self, slot: u32) -> Option<Up> {
        read(&self.up, slot).map(|[waited, held]| Up { waited, held })
    }

    /// The same for one that reached the host then.
    pub(super) fn down(&self, slot: u32) -> Option<Down> {
        read(&self.down, slot).map(|[burst, held]| Down { burst, held })
    }
}

/// What the radio added to a packet of the uplink, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Up {
    /// Until a grant.
    pub(super) waited: u32,
    /// Until its last retransmission.
    pub(super) held: u32,
}

/// The same of the downlink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Down {
    /// The number of the retransmission.
    pub(super) burst: u32,
    /// To the first packet of it.
    pub(super) held: u32,
}

fn tag(slot: u32) -> u64 {
    u64::from(slot & 0x7f_ffff | 0x80_0000)
}

fn read(words: &[u64], slot: u32) -> Option<[u32; 2]> {
    let word = words[slot as usize % SLOTS];
    (word >> 40 == tag(slot)).then(|| [20, 0].map(|shift| (word >> shift & MOST) as u32))
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX).min(MOST)
}

/// The word of a slot of the uplink.
pub(super) fn up_word(slot: u64, [waited, held]: [Duration; 2]) -> u64 {
    tag(slot as u32) << 40 | micros(waited) << 20 | micros(held)
}

/// The word of a slot of the downlink.
pub(super) fn down_word(slot: u64, burst: u32, held: Duration) -> u64 {
    tag(slot as u32) << 40 | (u64::from(burst) & MOST) << 20 | micros(held)
}

/// The number of a time's slot.
pub(super) fn slot_of(at: HostInstant) -> u64 {
    at.as_nanos() / SLOT_NS
}

/// The middle of a slot.
pub(super) fn middle(slot: u64) -> HostInstant {
    HostInstant::from_nanos(slot.saturating_mul(SLOT_NS).saturating_add(SLOT_NS / 2))
}

/// The first moment of a slot and its last.
pub(super) fn ends(slot: u64) -> [HostInstant; 2] {
    [
        begin(slot),
        HostInstant::from_nanos(begin(slot.saturating_add(1)).as_nanos().saturating_sub(1)),
    ]
}

/// The beginning of a slot.
pub(super) fn begin(slot: u64) -> HostInstant {
    HostInstant::from_nanos(slot.saturating_mul(SLOT_NS))
}
