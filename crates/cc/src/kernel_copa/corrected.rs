use alloc::collections::VecDeque;

use sounding_units::HostInstant;

use super::law::{CopaAck, CopaLaw, MAX_RTT_US};
use super::mean::Mean;
use super::table::{self, Down, SLOT, SLOTS, Table};
use crate::part::Windowed;

/// Samples that wait: those of 384 ms.
const SAMPLES: usize = 256;
/// Slots between samples.
const EVERY: u32 = 6;
/// What is not known after so many slots stays unknown: 400 ms.
const PATIENCE: u32 = 1_600;
/// So many are settled at an acknowledgement at most.
const BATCH: usize = 4;
/// A bucket of means of 30 ms: see `up_smooth` of `copa-gandalf`.
const SHOWN_NS: u64 = 3_750_000;
/// A bucket of means of 200 ms.
const RECENT_NS: u64 = 25_000_000;
const LEAST_LASTS_NS: u64 = 10_000_000_000;
/// Slots between steps of the usual wait.
const USUAL_EVERY: u32 = 20;
/// A step up is a quarter of one down, so that a fifth of waits are shorter: see `up_usual` of `copa-gandalf`.
const USUAL_RISES: u32 = 10;
const USUAL_FALLS: u32 = 40;
/// It counts as no longer than this beside the shortest: see `Floor` of [`Compensated`](crate::Compensated).
const USUAL_OVER_SHORTEST: u32 = 6_000;
/// A floor that rose by more is reported to Copa.
const FLOOR_RAISED: u32 = 250;

/// An RTT whose parts are not known yet; times are slots.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: u32,
    sent: u32,
    rtt: u32,
}

/// The RTT of the path, microseconds: the smallest mean, and as much more as a usual wait is longer than the shortest one.
///
/// Most packets are sent once. So the smallest RTT that was measured is without a retransmission, and a smaller mean without them had too
/// much taken off, which a mean of few RTTs may show.
#[derive(Clone, Copy, Debug)]
struct Floor {
    least: Windowed<u32>,
    shortest: Windowed<u32>,
    /// About a fifth of waits are shorter.
    usual: u32,
    at: u32,
}

impl Floor {
    fn best(&self, least_raw: u32) -> u32 {
        let longer = self.usual.saturating_sub(self.shortest.best());
        self.least.best().max(least_raw) + longer.min(USUAL_OVER_SHORTEST)
    }

    /// A mean of RTTs, and that of the waits in it.
    fn push(&mut self, at_ns: u64, at: u32, rtt: u32, wait: u32) {
        let is_due = at.wrapping_sub(self.at) >= USUAL_EVERY;
        if !is_due && rtt >= self.least.best() {
            return;
        }
        self.least.update(at_ns, rtt);
        self.shortest.update(at_ns, wait);
        if !is_due {
            return;
        }
        self.usual = if wait > self.usual {
            self.usual + (wait - self.usual).min(USUAL_RISES)
        } else {
            self.usual - (self.usual - wait).min(USUAL_FALLS)
        };
        self.at = at;
    }
}

/// A flow under Copa whose RTTs are without retransmissions of the radio, as far as they are known. Waits for grants stay in them, and a
/// usual one is the path's.
#[derive(Clone, Debug)]
pub struct Corrected {
    copa: CopaLaw,
    raw: Mean,
    exact: Mean,
    kept: Mean,
    recent: Mean,
    /// The mean of measured RTTs without what the radio added lately.
    shown: u32,
    least_raw: Option<Windowed<u32>>,
    floor: Option<Floor>,
    told: u32,
    is_active: bool,
    /// The retransmission that was seen last, and when its first packet had left.
    burst: (u32, u32),
    samples: VecDeque<Sample>,
    newest: u32,
    corrections: u32,
}

impl Corrected {
    /// A flow of which so many segments were delivered before.
    pub fn new(delivered: u32) -> Self {
        Self {
            copa: CopaLaw::new(delivered),
            raw: Mean::default(),
            exact: Mean::default(),
            kept: Mean::default(),
            recent: Mean::default(),
            shown: 0,
            least_raw: None,
            floor: None,
            told: 0,
            is_active: false,
            burst: (0, 0),
            samples: VecDeque::with_capacity(SAMPLES),
            newest: 0,
            corrections: 0,
        }
    }

    /// The law beneath.
    pub fn copa(&self) -> &CopaLaw {
        &self.copa
    }

    /// Whether RTTs are corrected now.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// RTTs of which it became known later what the radio had added.
    pub fn corrections(&self) -> u32 {
        self.corrections
    }

    fn least_raw(&self) -> u32 {
        self.least_raw.map_or(0, |least| least.best())
    }

    fn floor(&self) -> u32 {
        self.floor.map_or(0, |floor| floor.best(self.least_raw()))
    }

    fn push_floor(&mut self, at_ns: u64, at: u32, rtt: u32, wait: u32) {
        let Some(floor) = &mut self.floor else {
            let [least, shortest] =
                [rtt, wait].map(|value| Windowed::min(LEAST_LASTS_NS, at_ns, value));
            self.floor = Some(Floor { least, shortest, usual: wait, at });
            return;
        };
        floor.push(at_ns, at, rtt, wait);
    }

    fn switch(&mut self, now: HostInstant, is_heard: bool) {
        let wanted = is_heard && self.floor.is_some();
        if wanted == self.is_active {
            return;
        }
        self.is_active = wanted;
        if wanted {
            self.told = self.floor();
        } else {
            self.told = self.least_raw();
            (self.raw, self.exact) = (Mean::default(), Mean::default());
            (self.kept, self.recent) = (Mean::default(), Mean::default());
            self.floor = None;
            self.samples.clear();
        }
        self.copa.rebase(now, self.told);
    }

    fn down(&mut self, word: Down, sent: u32) -> u32 {
        if word.held == 0 {
            return 0;
        }
        if self.burst.0 != word.burst {
            self.burst = (word.burst, sent);
        }
        let late = sent.wrapping_sub(self.burst.1).min(SLOTS as u32) * SLOT.as_micros() as u32;
        word.held.saturating_sub(late)
    }

    /// Settles the oldest sample if all is known of it, or never will be; whether it did.
    fn settle(&mut self, table: &Table, now: HostInstant) -> bool {
        let Some(&sample) = self.samples.front() else { return false };
        let (up, down) = (table.up(sample.sent), table.down(sample.at));
        let slot = table::slot_of(now);
        let age = (slot as u32).wrapping_sub(sample.at);
        if (up.is_none() || down.is_none()) && age < PATIENCE {
            return false;
        }
        self.samples.pop_front();
        let (up, down) = (up.unwrap_or_default(), down.unwrap_or_default());
        let added = (up.held + self.down(down, sample.sent)).min(sample.rtt);
        let at = table::begin(slot.saturating_sub(age.into()));
        let at_ns = at.as_nanos();
        self.recent.push((at_ns / RECENT_NS) as u32, added);
        self.exact.push((at_ns / SHOWN_NS) as u32, sample.rtt - added);
        self.kept.push((at_ns / SHOWN_NS) as u32, up.waited);
        let exact = self.exact.get();
        self.push_floor(at_ns, sample.at, exact, self.kept.get());
        if self.is_active {
            self.corrections = self.corrections.wrapping_add(1);
            self.copa.revise(now, at, exact.max(self.floor()));
        }
        true
    }

    /// What Copa is to believe of an RTT whose parts are not known yet.
    fn show(&mut self, ack: &CopaAck) -> u32 {
        let at = table::slot_of(ack.now) as u32;
        if self.samples.is_empty() || at.wrapping_sub(self.newest) >= EVERY {
            if self.samples.len() == SAMPLES {
                self.samples.pop_front();
            }
            self.newest = at;
            let sent = table::slot_of(ack.sent) as u32;
            self.samples.push_back(Sample { at, sent, rtt: ack.rtt_us });
            // The same RTTs as exact ones: all packets of a block arrive at once, and waited longer the earlier they came.
            self.raw.push((ack.now.as_nanos() / SHOWN_NS) as u32, ack.rtt_us);
            self.shown = self.raw.get().saturating_sub(self.recent.get());
        }
        if self.is_active { self.shown.max(self.floor()) } else { ack.rtt_us }
    }

    /// An acknowledgement with the RTT as measured. There is no table for a flow that does not leave over the modem.
    pub fn handle_ack(&mut self, table: Option<&Table>, ack: &CopaAck) {
        let mut shown = CopaAck { rtt_us: ack.rtt_us.min(MAX_RTT_US), ..*ack };
        let (now, rtt) = (ack.now, shown.rtt_us);
        if rtt > 0 {
            let filter = || Windowed::min(LEAST_LASTS_NS, now.as_nanos(), rtt);
            self.least_raw.get_or_insert_with(filter).update(now.as_nanos(), rtt);
        }
        let heard = table.filter(|table| table.is_heard(now));
        self.switch(now, heard.is_some());
        if let Some(table) = heard {
            for _ in 0..BATCH {
                if !self.settle(table, now) {
                    break;
                }
            }
            self.switch(now, true);
            if self.is_active && self.floor() > self.told + FLOOR_RAISED {
                self.told = self.floor();
                self.copa.rebase(now, self.told);
            }
            if self.is_active {
                self.told = self.told.min(self.floor());
            }
            if rtt > 0 {
                shown.rtt_us = self.show(&shown);
            }
        } else {
            self.samples.clear();
        }
        self.copa.handle_ack(&shown);
    }

    /// Losses began that are not yet repaired.
    pub fn handle_loss(&mut self) {
        self.copa.handle_loss();
    }

    /// The retransmission timer fired.
    pub fn handle_timeout(&mut self) {
        self.copa.handle_timeout();
    }

    /// And that was too early.
    pub fn handle_spurious_timeout(&mut self) {
        self.copa.handle_spurious_timeout();
    }
}
