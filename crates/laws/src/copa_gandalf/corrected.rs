use alloc::collections::VecDeque;

use core::time::Duration;

use sounding_cc::part::Windowed;
use sounding_estimate::delay::{self, USUAL_INTERVAL};
use sounding_estimate::wire::RadioDelay;
use sounding_units::HostInstant;

use super::config::Config;
use super::law::{CopaAck, CopaLaw, MAX_RTT_US};
use super::mean::{BUCKETS, Mean};
use super::table::{self, Down, SLOT, SLOTS, Table};

/// Samples that wait: those of 384 ms.
const SAMPLES: usize = 256;
/// Slots between samples.
const EVERY: u32 = 6;
/// A delay that is not known after so many slots stays unknown: 400 ms.
const PATIENCE: u32 = table::slots_in(delay::PATIENCE) as u32;
/// So many are settled at an acknowledgement at most.
const BATCH: usize = 4;
/// What a wait for a report makes is for reports so far apart, and follows the interval that is
/// known (interpretation 30).
const USUAL_US: u32 = USUAL_INTERVAL.as_micros() as u32;
/// Means are over this or a little more, in whole intervals of buffer status reports. Gandalf
/// §4.3.2 removes what is as fast as these.
const SHOWN_US: u32 = 30_000;
/// A bucket of means of 200 ms.
const RECENT_NS: u64 = 25_000_000;
const LEAST_LASTS_NS: u64 = 10_000_000_000;
/// Slots between steps of the usual wait.
const USUAL_EVERY: u32 = 20;
/// Steps up and down are alike, so that half of the waits are shorter.
const USUAL_STEP: u32 = 20;
/// It counts as longer than the shortest by no more than an interval of reports and this
/// (interpretation 10).
const USUAL_OVER_SHORTEST: u32 = 1_000;
/// A floor that rose by more is reported to Copa.
const FLOOR_RAISED: u32 = 250;
/// A device's report makes an RTT shorter by this part of the smallest one at most, and the path's
/// RTT longer by as much. So a lying device can hide at most a quarter of the smallest RTT of
/// queue. A lie of ten seconds raises the least RTT of ten seconds: then the device is doubted for
/// as long (interpretation 23).
const PEER_PART: u32 = 8;

/// A device that fell silent is not heard again for so long: Copa would take a queue that comes and
/// goes for another flow's.
const PEER_PAUSE: u64 = 1_000_000_000;

/// Which side says what the radio added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorrectedBy {
    /// This host's modem, for its uploads.
    Modem,
    /// The device at the other end, for its downloads.
    Peer,
}

/// An RTT whose parts are not known yet; times are slots.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: u32,
    sent: u32,
    rtt: u32,
}

/// The RTT of the path, microseconds: the smallest mean, and as much more as a usual wait is longer
/// than the shortest one. By a modem, also by as much as is not known of a wait.
///
/// Most packets are sent once. So the smallest RTT that was measured is without a retransmission,
/// and a smaller mean without them had too much taken off, which a mean of few RTTs may show.
#[derive(Clone, Copy, Debug)]
struct Floor {
    least: Windowed<u32>,
    shortest: Windowed<u32>,
    /// About half of the waits are shorter. By a device: what it says that a usual one is longer.
    usual: u32,
    /// The last step's slot. By a device: that of the last sample.
    at: u32,
}

impl Floor {
    fn best(&self, least_raw: u32, interval: u32) -> u32 {
        let longer = self.usual.saturating_sub(self.shortest.best());
        self.least.best().max(least_raw) + longer.min(interval + USUAL_OVER_SHORTEST)
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
            self.usual + (wait - self.usual).min(USUAL_STEP)
        } else {
            self.usual - (self.usual - wait).min(USUAL_STEP)
        };
        self.at = at;
    }
}

/// A flow under Copa whose RTTs are without retransmissions of the radio, as far as they are known.
/// Waits for grants stay in them, and a usual one is the path's.
///
/// A server has no modem. There a device at the other end says both averages.
#[derive(Clone, Debug)]
pub struct Corrected {
    copa: CopaLaw,
    /// With the usual interval of reports.
    unsure: u32,
    /// Microseconds between reports.
    interval: u32,
    /// The RTT that Copa was shown last; zero before one.
    believed: u32,
    raw: Mean,
    exact: Mean,
    kept: Mean,
    recent: Mean,
    /// The mean of measured RTTs without what the radio added lately.
    shown: u32,
    least_raw: Option<Windowed<u32>>,
    floor: Option<Floor>,
    told: u32,
    active: Option<CorrectedBy>,
    /// The smallest RTT since the last doubt.
    least_ever: Option<u32>,
    /// A device is not believed before.
    doubted_until: Option<u64>,
    /// One that fell silent is not heard before.
    again_at: u64,
    /// The retransmission that was seen last, and when its first packet had left.
    burst: (u32, u32),
    samples: VecDeque<Sample>,
    newest: u32,
    corrections: u32,
}

impl Corrected {
    /// A flow that has delivered this many segments before.
    pub fn new(delivered: u32) -> Self {
        Self::with(delivered, Config::default())
    }

    /// The same, with other parameters than the kernel's.
    pub fn with(delivered: u32, config: Config) -> Self {
        Self {
            copa: CopaLaw::new(delivered, config),
            unsure: config.unsure_us,
            interval: USUAL_US,
            believed: 0,
            raw: Mean::default(),
            exact: Mean::default(),
            kept: Mean::default(),
            recent: Mean::default(),
            shown: 0,
            least_raw: None,
            floor: None,
            told: 0,
            active: None,
            least_ever: None,
            doubted_until: None,
            again_at: 0,
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

    /// Which side says what the radio added, while RTTs are corrected.
    pub fn by(&self) -> Option<CorrectedBy> {
        self.active
    }

    /// The RTT that Copa was shown last, microseconds; `None` before one.
    pub fn believed(&self) -> Option<u32> {
        (self.believed > 0).then_some(self.believed)
    }

    /// RTTs whose radio delay became known later.
    pub fn corrections(&self) -> u32 {
        self.corrections
    }

    fn least_raw(&self) -> u32 {
        self.least_raw.map_or(0, |least| least.best())
    }

    fn floor(&self) -> u32 {
        let best = self.floor.map_or(0, |floor| floor.best(self.least_raw(), self.interval));
        if self.active == Some(CorrectedBy::Peer) {
            let ever = self.least_ever.unwrap_or_default();
            return ever + best.saturating_sub(ever).min(ever / PEER_PART);
        }
        best + self.unsure * self.interval / USUAL_US
    }

    /// A bucket of means that have no period of reports in them. Those of another interval are
    /// outdated.
    fn bucket(&self, at_ns: u64) -> u32 {
        let mean_ns = u64::from(SHOWN_US.div_ceil(self.interval) * self.interval) * 1_000;
        (at_ns / (mean_ns / BUCKETS as u64)) as u32
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

    fn switch(&mut self, now: HostInstant, by: Option<CorrectedBy>) {
        let wanted = by.filter(|_| self.floor.is_some());
        if wanted == self.active {
            return;
        }
        // Neither source can use the other's memory.
        let was = self.active;
        self.active = wanted.filter(|_| was.is_none());
        if self.active.is_some() {
            self.told = self.floor();
        } else {
            self.told = match was {
                Some(CorrectedBy::Peer) => {
                    self.again_at = now.as_nanos().saturating_add(PEER_PAUSE);
                    self.least_ever.unwrap_or_default()
                }
                _ => self.least_raw(),
            };
            (self.raw, self.exact) = (Mean::default(), Mean::default());
            (self.kept, self.recent) = (Mean::default(), Mean::default());
            self.floor = None;
            self.samples.clear();
        }
        self.copa.rebase(now, self.told, self.active.is_some());
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
        let bucket = self.bucket(at_ns);
        self.exact.push(bucket, sample.rtt - added);
        self.kept.push(bucket, up.waited);
        let exact = self.exact.get();
        self.push_floor(at_ns, sample.at, exact, self.kept.get());
        if self.active.is_some() {
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
            // The same RTTs as exact ones: all packets of a block arrive at once, and waited longer
            // the earlier they came.
            self.raw.push(self.bucket(ack.now.as_nanos()), ack.rtt_us);
            self.shown = self.raw.get().saturating_sub(self.recent.get());
        }
        if self.active.is_some() { self.shown.max(self.floor()) } else { ack.rtt_us }
    }

    /// An RTT as measured; whether a device may be believed after it. If the path got longer, it is
    /// not for a while. If the device lied, that while shows the path.
    fn believes(&mut self, now: HostInstant, rtt: u32) -> bool {
        if rtt == 0 {
            return self.doubted_until.is_none();
        }
        let now = now.as_nanos();
        let filter = || Windowed::min(LEAST_LASTS_NS, now, rtt);
        let least = self.least_raw.get_or_insert_with(filter);
        least.update(now, rtt);
        let least = least.best();
        if self.doubted_until.is_some_and(|until| now >= until) {
            self.doubted_until = None;
            self.least_ever = Some(least);
        }
        let ever = self.least_ever.map_or(rtt, |ever| ever.min(rtt));
        self.least_ever = Some(ever);
        if self.doubted_until.is_none() && least > ever + ever / PEER_PART {
            self.doubted_until = Some(now.saturating_add(LEAST_LASTS_NS));
        }
        self.doubted_until.is_none()
    }

    /// An RTT, while a device says what its radio adds on average.
    fn hear(&mut self, said: RadioDelay, now: HostInstant, rtt: u32) {
        let most = self.least_ever.unwrap_or_default() / PEER_PART;
        let [held, longer] = [said.retransmitted, said.wait_longer].map(|said| {
            let micros = said.map_or(0, |said: Duration| said.as_micros());
            u32::try_from(micros).unwrap_or(u32::MAX)
        });
        let held = held.min(most);
        let (at, at_ns) = (table::slot_of(now) as u32, now.as_nanos());
        if let Some(floor) = &mut self.floor {
            floor.usual = longer;
            if at.wrapping_sub(floor.at) < EVERY {
                return;
            }
            floor.at = at;
        }
        self.raw.push(self.bucket(at_ns), rtt);
        self.shown = self.raw.get().saturating_sub(held);
        // The usual wait is said as what it is longer.
        let values = [self.shown, 0];
        if let Some(floor) = &mut self.floor {
            floor.least.update(at_ns, values[0]);
            floor.shortest.update(at_ns, values[1]);
        } else {
            let [least, shortest] = values.map(|value| Windowed::min(LEAST_LASTS_NS, at_ns, value));
            self.floor = Some(Floor { least, shortest, usual: longer, at });
        }
    }

    /// An acknowledgement with the RTT as measured. There is no table for a flow that does not
    /// leave over the modem. `said` is what the device at the other end says lately; nothing in
    /// it is known of one that says nothing.
    pub fn handle_ack(&mut self, table: Option<&Table>, said: RadioDelay, ack: &CopaAck) {
        let mut shown = CopaAck { rtt_us: ack.rtt_us.min(MAX_RTT_US), ..*ack };
        let (now, rtt) = (ack.now, shown.rtt_us);
        let believes = self.believes(now, rtt) && now.as_nanos() >= self.again_at;
        let heard = table.filter(|table| table.is_heard(now));
        let said_by = Some(CorrectedBy::Peer).filter(|_| believes && said != RadioDelay::default());
        let by = heard.map(|_| CorrectedBy::Modem).or(said_by);
        self.interval = heard.map_or(USUAL_US, Table::interval);
        self.switch(now, by);
        if let Some(table) = heard {
            for _ in 0..BATCH {
                if !self.settle(table, now) {
                    break;
                }
            }
        } else {
            self.samples.clear();
            if by.is_some() && rtt > 0 {
                self.hear(said, now, rtt);
            }
        }
        self.switch(now, by);
        if self.active.is_some() && self.floor() > self.told + FLOOR_RAISED {
            self.told = self.floor();
            self.copa.rebase(now, self.told, true);
        }
        if self.active.is_some() {
            self.told = self.told.min(self.floor());
        }
        if rtt > 0 && heard.is_some() {
            shown.rtt_us = self.show(&shown);
        } else if rtt > 0 && self.active.is_some() {
            shown.rtt_us = self.shown.max(self.floor());
        }
        if self.active == Some(CorrectedBy::Peer) {
            self.copa.rise_slowly();
        }
        if shown.rtt_us > 0 {
            self.believed = shown.rtt_us;
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
