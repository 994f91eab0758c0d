//! When the modem gets a drain command: every millisecond, just after the moment at which records
//! are made.
//!
//! A drain at a random moment of the millisecond finds a record that is half a millisecond old on
//! average. Modems make records at one stage of their work on a subframe: in eleven captures of a
//! phone, 48 to 97 % of the PUSCH reports are stamped within the same 0.2 ms of each millisecond of
//! its clock, in half of them 86 % or more. Where that stage falls by the host's clock is unknown.
//! Each record narrows it down: the drain that brought it came after it was made, and the drain
//! before came too soon.
//!
//! ```text
//! modem      ───────────────r──────────────────────────r─────────────
//! drains     ──────────D1───────────────D2─────────────────────D3────
//!                       └ too soon for r └ brought r: r lies between
//! ```
//!
//! Drains move until that moment is known to a few hundredths of a millisecond, and then stay close
//! behind most records: both clocks drift, and neither the modem nor this machine is always on
//! time. A record that a drain misses would wait a whole millisecond for the next. Reports are
//! periodic. If records of earlier radio frames were made in this subframe and none came, a second
//! drain follows soon, so that the first can go out early enough to find most records young. A
//! modem whose records have no such moment is drained every millisecond too.

use std::time::Duration;

use sounding_units::{HostInstant, ModemInstant};

/// BISCAY §4: faster than the most frequent record, which comes every 10 ms.
pub(crate) const PERIOD: Duration = Duration::from_millis(1);

/// If its buffer is full, a modem sends records without a request (70 messages: Gandalf §4.2.1).
/// Chosen: a fifth of the 100 ms that a recording may lose.
const SELDOM: Duration = Duration::from_millis(20);

const PERIOD_NS: i64 = PERIOD.as_nanos() as i64;

/// Parts of a millisecond in which records are counted.
const BINS: usize = 40;
const BIN_NS: i64 = PERIOD_NS / BINS as i64;

/// Weight of a record after the next one. Chosen: the last two seconds of a report every 10 ms
/// decide.
const FADING: f32 = 1.0 - 1.0 / 200.0;

/// The search for the best drain time starts again after this many records.
const LOOK_EVERY: u32 = 16;

/// Known to this, the offset is followed from record to record.
const KNOWN_NS: i64 = 50_000;

/// A record that a drain missed moves the next ones back by this much. Chosen; pinned by the tests
/// below.
const MISSED_NS: i64 = 20_000;

/// A record that came moves them ahead: they rest where one in ten is missed, and is fetched by a
/// second drain.
const CAME_NS: i64 = 2_000;

/// From a drain that missed a record to the second. Chosen: longer than an answer takes, and later
/// than nearly every record; pinned by the tests below.
const SECOND_AFTER: Duration = Duration::from_micros(150);

/// Subframes of a radio frame, in which reports come back.
const SUBFRAMES: usize = 10;

/// Weight of a radio frame after the next one: the last two hundred milliseconds decide.
const FRAME_FADING: f32 = 1.0 - 1.0 / 20.0;

/// After this many milliseconds without a record, no drain is due.
const MAX_PASSED: i64 = 200;

/// A record is due in a subframe that had one in so great a part of the last frames. Chosen.
const DUE: f32 = 0.25;

/// A record that was missed by more was held up in a modem or on a stalled machine, and does not
/// show the clocks' offset: no drain a little later would have brought it.
const HELD_UP_NS: i64 = 100_000;

/// After this many misses in a row, the offset of the clocks has changed.
const LOST: u32 = 8;

/// The step by which an expected drain moves. Small steps avoid long waits.
const MAX_SHIFT_NS: i64 = 50_000;

/// The times of drains.
#[derive(Clone, Debug)]
pub(crate) struct Drains {
    every: Duration,
    due: HostInstant,
    /// A second one in this millisecond, unless the record comes before.
    second: Option<Second>,
    /// The last two that were sent.
    sent: [Option<HostInstant>; 2],
    offset: Offset,
    subframes: Subframes,
    /// Records by the part of the modem's millisecond in which they were made.
    made: [f32; BINS],
    counted: u32,
    /// The end of the part behind which a drain finds records youngest.
    best: Option<i64>,
}

/// A drain for a record that is due.
#[derive(Clone, Copy, Debug)]
struct Second {
    at: HostInstant,
    /// The modem's millisecond in which the record is made.
    of: i64,
}

/// In which part of the last radio frames a record was made, by subframe of the modem's clock.
#[derive(Clone, Copy, Debug, Default)]
struct Subframes {
    share: [f32; SUBFRAMES],
    /// The last millisecond that counts.
    counted: i64,
}

/// Host nanoseconds at modem time zero, as a drain sees them: with the way to the modem.
///
/// ```text
/// Unknown ──record──▶ Between ──narrow──▶ Followed
///                        ▲──missed often──────┘
/// ```
#[derive(Clone, Copy, Debug)]
enum Offset {
    Unknown,
    Between(Bounds),
    /// Most drains at this or later bring the record.
    Followed {
        offset: i64,
        /// Records in a row that contradict it.
        strange: u32,
    },
}

/// A drain at `least` was too early for a record, and one at `most` contained it.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    least: i64,
    most: i64,
}

impl Default for Drains {
    fn default() -> Self {
        Self {
            every: PERIOD,
            due: HostInstant::default(),
            second: None,
            sent: [None; 2],
            offset: Offset::Unknown,
            subframes: Subframes::default(),
            made: [0.0; BINS],
            counted: 0,
            best: None,
        }
    }
}

impl Drains {
    /// Drains for a reader that does not need fresh records.
    pub(crate) fn seldom() -> Self {
        Self { every: SELDOM, ..Self::default() }
    }

    /// When the next is due.
    pub(crate) fn due(&self) -> HostInstant {
        self.second.map_or(self.due, |second| second.at.min(self.due))
    }

    /// Time passes; whether to drain now.
    pub(crate) fn handle_time(&mut self, now: HostInstant) -> bool {
        if now < self.due {
            let is_due = self.second.take_if(|second| second.at <= now).is_some();
            if is_due {
                self.sent = [self.sent[1], Some(now)];
            }
            return is_due;
        }
        // From tick to tick, so that the wait for one record is the wait for the next; a tick that
        // was missed is not made up for.
        let every = self.every.as_nanos() as u64;
        let missed = (now - self.due).as_nanos() as u64 / every;
        let next = HostInstant::from_nanos(self.due.as_nanos() + (missed + 1) * every);
        let shift = if self.every == PERIOD { self.shift(next) } else { 0 };
        self.due = HostInstant::from_nanos(next.as_nanos().saturating_add_signed(shift));
        self.sent = [self.sent[1], Some(now)];
        self.second = self.millisecond(now).filter(|&of| self.subframes.is_due(of)).map(|of| {
            let at = now + SECOND_AFTER;
            Second { at, of }
        });
        true
    }

    /// The millisecond of the modem's clock whose records a drain at `now` is to bring.
    fn millisecond(&self, now: HostInstant) -> Option<i64> {
        let Offset::Followed { offset, .. } = self.offset else { return None };
        let behind = nanos(now.as_nanos()) - offset - self.best?;
        (self.every == PERIOD).then(|| (behind + PERIOD_NS / 2).div_euclid(PERIOD_NS))
    }

    /// The last drain contained a record that the modem stamped `at`.
    pub(crate) fn handle_record(&mut self, at: ModemInstant) {
        let [Some(before), Some(last)] = self.sent else { return };
        let stamp = nanos(at.as_nanos());
        let millisecond = stamp.div_euclid(PERIOD_NS);
        self.subframes.handle_record(millisecond);
        self.second.take_if(|second| second.of <= millisecond);
        self.offset = self.offset.seen(Bounds {
            least: nanos(before.as_nanos()) - stamp,
            most: nanos(last.as_nanos()) - stamp,
        });
        self.count(stamp);
    }

    fn count(&mut self, stamp: i64) {
        self.made.iter_mut().for_each(|weight| *weight *= FADING);
        self.made[(stamp.rem_euclid(PERIOD_NS) / BIN_NS) as usize] += 1.0;
        self.counted += 1;
        if self.counted.is_multiple_of(LOOK_EVERY) {
            let wait = |end: usize| -> f32 {
                let of = |(bin, weight): (usize, &f32)| weight * ((end + BINS - bin) % BINS) as f32;
                self.made.iter().enumerate().map(of).sum()
            };
            let best = (0..BINS).min_by(|&a, &b| wait(a).total_cmp(&wait(b)));
            self.best = best.map(|bin| (bin as i64 + 1) * BIN_NS);
        }
    }

    /// Correction of the drain at `next` towards the time right after the records.
    fn shift(&self, next: HostInstant) -> i64 {
        let Some(best) = self.best else { return 0 };
        let offset = match self.offset {
            Offset::Unknown => return 0,
            Offset::Between(Bounds { least, most }) => i64::midpoint(least, most),
            Offset::Followed { offset, .. } => offset,
        };
        let phase = nanos(next.as_nanos()) - offset;
        let behind = (best - phase).rem_euclid(PERIOD_NS);
        let shift = if behind > PERIOD_NS / 2 { behind - PERIOD_NS } else { behind };
        shift.clamp(-MAX_SHIFT_NS, MAX_SHIFT_NS)
    }
}

impl Offset {
    /// Combines the bounds from one record.
    fn seen(self, seen: Bounds) -> Self {
        let bounds = match self {
            Self::Between(known) => known.narrowed(seen),
            Self::Followed { offset, strange } if strange < LOST => {
                let by = seen.least - offset;
                let is_strange = by > 0 || seen.most < offset - PERIOD_NS;
                let step = match by {
                    ..=0 => -CAME_NS,
                    1..=HELD_UP_NS => MISSED_NS,
                    _ => 0,
                };
                let strange = if is_strange { strange + 1 } else { 0 };
                return Self::Followed { offset: offset + step, strange };
            }
            Self::Unknown | Self::Followed { .. } => seen,
        };
        if bounds.most - bounds.least <= KNOWN_NS {
            Self::Followed { offset: bounds.most, strange: 0 }
        } else {
            Self::Between(bounds)
        }
    }
}

impl Subframes {
    fn handle_record(&mut self, millisecond: i64) {
        let passed = millisecond - self.counted;
        if passed == 0 {
            return;
        }
        // Each drain without a record counts as a miss of its subframe. After a clock change the
        // counts start again.
        if !(0..MAX_PASSED).contains(&passed) {
            *self = Self::default();
        } else {
            for passed in self.counted + 1..=millisecond {
                self.share[Self::place(passed)] *= FRAME_FADING;
            }
        }
        self.counted = millisecond;
        self.share[Self::place(millisecond)] += 1.0 - FRAME_FADING;
    }

    /// Whether a record is to be expected.
    fn is_due(&self, millisecond: i64) -> bool {
        let recent = millisecond - self.counted < MAX_PASSED;
        recent && self.share[Self::place(millisecond)] > DUE
    }

    fn place(millisecond: i64) -> usize {
        millisecond.rem_euclid(SUBFRAMES as i64) as usize
    }
}

impl Bounds {
    /// The intersection of both. If they contradict each other, the later one: a drain was late, or
    /// the modem's clock was set.
    fn narrowed(self, seen: Self) -> Self {
        let both = Self { least: self.least.max(seen.least), most: self.most.min(seen.most) };
        if both.least < both.most { both } else { seen }
    }
}

/// Nanoseconds of either clock, which hold for centuries in 63 bits.
fn nanos(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The result of draining a modem for half a minute.
    struct Outcome {
        /// Waits of records for a drain in the last 20 seconds, in order.
        waits: Vec<Duration>,
        longest_gap: Duration,
    }

    /// A modem that makes a record every 10 ms, `phase` into the millisecond, and receives a drain
    /// some time after it was sent. Its clock runs ten parts in a million fast.
    fn drain(seed: u64, phase: impl Fn(&mut ChaCha8Rng) -> Duration) -> Outcome {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let epoch = ModemInstant::from_nanos(1_460_000_000_000_000_000);
        let start = HostInstant::from_nanos(u64::from(random.next_u32()));
        let begin = start + Duration::from_nanos(u64::from(random.next_u32() % 1_000_000));
        let mut drains = Drains::default();
        let mut waiting: Vec<(HostInstant, ModemInstant)> = Vec::new();
        let (mut waits, mut longest_gap) = (Vec::new(), Duration::ZERO);
        let (mut now, mut made) = (start, 0u32);
        let (mut next, mut held_up) = (Duration::ZERO, Duration::ZERO);
        while now - start < Duration::from_secs(30) {
            if drains.handle_time(now) {
                // The transfer takes 30 us in most cases, sometimes a tenth of a millisecond.
                let slow = if random.next_u32() % 50 == 0 { 100 } else { 10 };
                let heard = now + Duration::from_micros(30 + u64::from(random.next_u32() % slow));
                while begin + next + held_up <= heard {
                    let stamp = epoch + next.mul_f64(1.000_01);
                    waiting.push((begin + next + held_up, stamp));
                    made += 1;
                    next = Duration::from_millis(10) * made + phase(&mut random);
                    held_up = still(&mut random);
                }
                for (at, stamp) in waiting.drain(..) {
                    drains.handle_record(stamp);
                    if now - start > Duration::from_secs(10) {
                        waits.push(heard - at);
                    }
                }
            }
            longest_gap = longest_gap.max(drains.due() - now);
            // A thread wakes a little late.
            let late = Duration::from_micros(5 + u64::from(random.next_u32() % 20));
            now = drains.due() + late + still(&mut random);
        }
        waits.sort();
        Outcome { waits, longest_gap }
    }

    /// Once in a hundred times the machine stalls for up to three milliseconds.
    fn still(random: &mut ChaCha8Rng) -> Duration {
        match random.next_u32() % 100 {
            0 => Duration::from_micros((random.next_u32() % 3000).into()),
            _ => Duration::ZERO,
        }
    }

    fn median(waits: &[Duration]) -> Duration {
        waits[waits.len() / 2]
    }

    #[test]
    fn records_made_at_one_moment_are_fetched_right_behind_it() {
        for seed in 0..20 {
            let Outcome { waits, longest_gap } = drain(seed, |_| Duration::ZERO);
            assert!(median(&waits) < Duration::from_micros(50), "{seed}: {:?}", median(&waits));
            // The second drain contains the records that the first one missed.
            let second = waits[waits.len() * 95 / 100];
            assert!(second < SECOND_AFTER + Duration::from_micros(100), "{seed}: {second:?}");
            let late = waits.iter().filter(|wait| **wait > PERIOD / 2).count();
            // One in a hundred drains was held up itself.
            assert!(late * 25 < waits.len(), "{seed}: {late} of {} missed a drain", waits.len());
            assert!(longest_gap < PERIOD + Duration::from_micros(100), "{longest_gap:?}");
        }
    }

    #[test]
    fn records_within_a_part_of_the_millisecond_are_fetched_behind_that_part() {
        for seed in 0..20 {
            let spread = |random: &mut ChaCha8Rng| {
                Duration::from_micros(600 + u64::from(random.next_u32() % 300))
            };
            let waits = drain(seed, spread).waits;
            // Half of the part, the margin and the way there.
            assert!(median(&waits) < Duration::from_micros(300), "{seed}: {:?}", median(&waits));
        }
    }

    #[test]
    fn records_made_at_any_moment_wait_no_longer_than_without_looking() {
        for seed in 0..20 {
            let anywhere = |random: &mut ChaCha8Rng| {
                Duration::from_micros(u64::from(random.next_u32() % 1000))
            };
            let Outcome { waits, longest_gap } = drain(seed, anywhere);
            let mean = waits.iter().sum::<Duration>() / waits.len() as u32;
            assert!(mean < PERIOD.mul_f64(0.6), "{seed}: {mean:?}");
            assert!(longest_gap < PERIOD + Duration::from_micros(100), "{longest_gap:?}");
        }
    }

    #[test]
    fn a_clock_that_is_set_is_learnt_anew() {
        let mut drains = Drains::default();
        let mut now = HostInstant::from_nanos(1_000_000_000);
        let stamps = [5_000_000_000u64, 1_460_000_000_000_000_000];
        for stamp in stamps {
            let begin = now;
            for ms in 0..50 {
                assert!(drains.handle_time(now));
                drains.handle_record(ModemInstant::from_nanos(stamp + ms * 1_000_000));
                now = drains.due();
            }
            let offset = match drains.offset {
                Offset::Unknown => panic!("records came"),
                Offset::Between(Bounds { most, .. }) => most,
                Offset::Followed { offset, .. } => offset,
            };
            let error = offset + nanos(stamp) - nanos(begin.as_nanos());
            assert!(error.abs() < 2 * PERIOD_NS, "{error} ns after {stamp}");
        }
    }
}
