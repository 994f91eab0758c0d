use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sounding_trace::dci::{Block, Dci as Message, Direction as TraceDirection, Heard, Moment};
use sounding_units::HostInstant;

use super::message;
use crate::config::CarrierConfig;
use crate::event::Dci;
use crate::ids::DeviceId;
use crate::rnti;

/// Maximum number of resource blocks in a false message: a short format fits by chance more often
/// than a long one.
const MAX_FALSE_PRB: u32 = 12;

/// Maximum number of unread lines: about a second of three carriers with eight messages per
/// subframe. Then the oldest are dropped, as a socket would.
const MAX_LINES: usize = 32_768;

/// RNTIs of devices (TS 36.321 Table 7.1-1).
const RNTIS: core::ops::RangeInclusive<u16> = 0x003D..=0xFFF3;

/// How well a sniffer receives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnifferConfig {
    /// Part of the messages that it does not decode, 0..=1.
    pub missed: f64,
    /// False messages per second and carrier: decoded but never sent, each to a random RNTI.
    pub false_per_sec: f64,
    /// Time from the end of a slot until the host has its line.
    pub lag: Duration,
    /// How far its clock is ahead of the host's at the beginning.
    pub ahead: Duration,
    /// How much faster its clock is, in millionths.
    pub drift_ppm: f64,
    /// From this time on it writes nothing.
    pub dies_at: Option<HostInstant>,
    /// It leaves out the messages to these devices, from the first to the last: a forged log.
    pub hides: Option<[u16; 2]>,
}

impl Default for SnifferConfig {
    /// A sniffer without faults: every message, at once, on the host's clock.
    fn default() -> Self {
        Self {
            missed: 0.0,
            false_per_sec: 0.0,
            lag: Duration::ZERO,
            ahead: Duration::ZERO,
            drift_ppm: 0.0,
            dies_at: None,
            hides: None,
        }
    }
}

/// A sniffer that listens to every carrier of a network and writes a line for each message, and one
/// for each slot without any.
#[derive(Debug)]
pub struct Sniffer {
    config: SnifferConfig,
    carriers: Vec<Listened>,
    lines: VecDeque<(HostInstant, Heard)>,
    /// The current time: earlier lines can be read.
    now: HostInstant,
    dropped: u64,
}

#[derive(Debug)]
struct Listened {
    number: u8,
    config: CarrierConfig,
    slot: Duration,
    /// The first slot without a line.
    next: u64,
    /// Whether a message of that slot has been written.
    heard: bool,
    /// The carrier's own random numbers: its missed messages do not depend on other carriers or on
    /// the calls of `handle_time`.
    lots: ChaCha8Rng,
}

impl Listened {
    /// When a slot is over.
    fn ends(&self, slot: u64) -> HostInstant {
        let nanos = (self.slot.as_nanos() as u64).saturating_mul(slot + 1);
        HostInstant::from_nanos(nanos)
    }

    /// Evenly from 0..1.
    fn draw(&mut self) -> f64 {
        (self.lots.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Sniffer {
    /// A sniffer of these carriers, numbered from 0. `seed` determines the messages that it misses.
    pub fn new(config: SnifferConfig, carriers: &[CarrierConfig], seed: u64) -> Self {
        let listened = |(number, carrier): (u8, &CarrierConfig)| Listened {
            number,
            slot: carrier.slot_duration(),
            config: carrier.clone(),
            next: 0,
            heard: false,
            lots: lots(seed, number),
        };
        Self {
            config,
            carriers: (0..).zip(carriers).map(listened).collect(),
            lines: VecDeque::new(),
            now: HostInstant::default(),
            dropped: 0,
        }
    }

    /// A message was sent.
    pub fn handle_dci(&mut self, dci: &Dci) {
        let at = usize::from(dci.sent_in.carrier.0);
        if at >= self.carriers.len() {
            return;
        }
        self.reach(at, dci.sent_in.slot);
        if self.config.hides.is_some_and(|hides| is_hidden(hides, dci.rnti)) {
            return;
        }
        if self.carriers[at].draw() >= self.config.missed {
            let line = message(dci, &self.carriers[at].config);
            self.carriers[at].heard = true;
            self.write(at, dci.sent_in.slot, Heard::Dci(line));
        }
    }

    /// Time has reached `now`: slots that are over without a message are written too.
    pub fn handle_time(&mut self, now: HostInstant) {
        self.now = self.now.max(now);
        for at in 0..self.carriers.len() {
            let slot = self.carriers[at].slot.as_nanos().max(1) as u64;
            self.reach(at, now.as_nanos() / slot);
        }
    }

    /// The next line that the host has received by `now`, and its time of arrival.
    pub fn poll_heard(&mut self, now: HostInstant) -> Option<(HostInstant, Heard)> {
        self.lines.pop_front_if(|(at, _)| *at <= now)
    }

    /// When the next line arrives: each slot of a carrier has one. Lines that have arrived do not
    /// count.
    pub fn wakeup(&self) -> Option<HostInstant> {
        let ends = self.carriers.iter().map(|carrier| carrier.ends(carrier.next)).min();
        let ends = ends.filter(|ends| self.config.dies_at.is_none_or(|dies| *ends < dies));
        let further = self.lines.partition_point(|(at, _)| *at <= self.now);
        let waiting = self.lines.get(further).map(|(at, _)| *at);
        waiting.or(ends.map(|ends| ends + self.config.lag))
    }

    /// Lines that were dropped because the host did not read them.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Ends the slots of a carrier before `slot`.
    fn reach(&mut self, at: usize, slot: u64) {
        while self.carriers[at].next < slot {
            let Listened { next, heard, slot: length, .. } = self.carriers[at];
            let mut heard = heard;
            if self.carriers[at].draw() < self.config.false_per_sec * length.as_secs_f64() {
                let line = Heard::Dci(self.false_message(at, next));
                self.write(at, next, line);
                heard = true;
            }
            if !heard {
                let moment = self.moment(at, next);
                self.write(at, next, Heard::Nothing(moment));
            }
            (self.carriers[at].next, self.carriers[at].heard) = (next + 1, false);
        }
    }

    fn write(&mut self, at: usize, slot: u64, line: Heard) {
        let ended = self.carriers[at].ends(slot);
        if self.config.dies_at.is_some_and(|dies| ended >= dies) {
            return;
        }
        let line = match line {
            Heard::Dci(dci) => Heard::Dci(Message { moment: self.stamped(dci.moment), ..dci }),
            Heard::Nothing(moment) => Heard::Nothing(self.stamped(moment)),
        };
        let at = ended + self.config.lag;
        let later = self.lines.iter().rev().take_while(|(of, _)| *of > at).count();
        self.lines.insert(self.lines.len() - later, (at, line));
        if self.lines.len() > MAX_LINES {
            self.lines.pop_front();
            self.dropped += 1;
        }
    }

    /// By the sniffer's clock.
    fn stamped(&self, moment: Moment) -> Moment {
        let drift = moment.time.as_secs_f64() * self.config.drift_ppm / 1e6;
        let time = moment.time + self.config.ahead;
        let time = match Duration::try_from_secs_f64(drift.abs()) {
            Ok(drifted) if drift >= 0.0 => time + drifted,
            Ok(drifted) => time.saturating_sub(drifted),
            Err(_) => time,
        };
        Moment { time, ..moment }
    }

    fn moment(&self, at: usize, slot: u64) -> Moment {
        let Listened { number, slot: length, .. } = self.carriers[at];
        let slots = (10_000_000 / length.as_nanos().max(1)) as u64;
        Moment {
            time: length * slot as u32,
            cell: number,
            frame: (slot / slots % 1024) as u16,
            slot: (slot % slots) as u8,
        }
    }

    fn false_message(&mut self, at: usize, slot: u64) -> Message {
        let lots = self.carriers[at].lots.next_u64();
        let rntis = u64::from(RNTIS.end() - RNTIS.start()) + 1;
        let prb = (lots % u64::from(MAX_FALSE_PRB)) as u16 + 1;
        Message {
            moment: self.moment(at, slot),
            rnti: RNTIS.start() + ((lots >> 16) % rntis) as u16,
            direction: TraceDirection::Downlink,
            prb,
            cell_prb: Some(self.carriers[at].config.prb),
            blocks: [Some(Block { bits: u32::from(prb) * 200, ..Block::default() }), None],
            harq: Some((lots >> 40) as u8 % 8),
        }
    }
}

/// Whether a message is to one of these devices.
fn is_hidden([first, last]: [u16; 2], of: u16) -> bool {
    (first..=last).any(|device| rnti(DeviceId(device)) == of)
}

/// The random numbers of a carrier's sniffer.
fn lots(seed: u64, carrier: u8) -> ChaCha8Rng {
    let mut lots = ChaCha8Rng::seed_from_u64(seed ^ 0x5349_4646);
    lots.set_stream(carrier.into());
    lots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CarrierId, Direction, SlotId};

    fn dci(slot: u64) -> Dci {
        let at = HostInstant::from_nanos(slot * 1_000_000);
        Dci {
            sent_in: SlotId { at, carrier: CarrierId(0), slot },
            data_slot: slot,
            rnti: 77,
            direction: Direction::Downlink,
            harq: 0,
            mcs: 10,
            rv: 0,
            ndi: true,
            again: false,
            prb: 20,
            first_prb: 0,
            layers: 1,
            size: 1000,
        }
    }

    /// The lines of a sniffer for ten seconds with a message in every second slot.
    fn written(config: SnifferConfig) -> Vec<(HostInstant, Heard)> {
        let mut sniffer = Sniffer::new(config, &[CarrierConfig::default()], 7);
        let mut lines = Vec::new();
        for slot in 0..10_000 {
            let now = HostInstant::from_nanos(slot * 1_000_000);
            if slot % 2 == 0 {
                sniffer.handle_dci(&dci(slot));
            }
            sniffer.handle_time(now);
            while let Some(line) = sniffer.poll_heard(now) {
                assert!(line.0 <= now);
                lines.push(line);
            }
            assert!(sniffer.lines.len() < 100, "lines are read as they come");
        }
        lines
    }

    fn messages(lines: &[(HostInstant, Heard)], of: impl Fn(&Message) -> bool) -> usize {
        lines.iter().filter(|(_, heard)| matches!(heard, Heard::Dci(dci) if of(dci))).count()
    }

    #[test]
    fn every_slot_has_a_line_in_order() {
        let lines = written(SnifferConfig::default());
        assert_eq!(lines.len(), 9_999);
        assert_eq!(messages(&lines, |dci| dci.rnti == 77), 5_000);
        assert!(lines.is_sorted_by_key(|(at, _)| *at));
    }

    #[test]
    fn some_messages_are_missed_and_some_are_false() {
        let config =
            SnifferConfig { missed: 0.02, false_per_sec: 20.0, ..SnifferConfig::default() };
        let lines = written(config);
        let missed = 5_000 - messages(&lines, |dci| dci.rnti == 77);
        assert!((60..=140).contains(&missed), "{missed}");
        let false_ones = messages(&lines, |dci| dci.rnti != 77);
        assert!((150..=250).contains(&false_ones), "{false_ones}");
        assert_eq!(written(config), lines);
    }

    #[test]
    fn lines_come_late_by_another_clock_and_end_with_the_sniffer() {
        let lines = written(SnifferConfig {
            lag: Duration::from_millis(5),
            ahead: Duration::from_secs(100),
            drift_ppm: 50.0,
            dies_at: Some(HostInstant::from_nanos(8_000_000_000)),
            ..SnifferConfig::default()
        });
        // The slot that ends when the sniffer dies has no line.
        let (at, Heard::Dci(Message { moment, .. })) = lines.last().expect("lines") else {
            panic!("an even slot has a message")
        };
        assert_eq!(at.as_nanos(), 7_999_000_000 + 5_000_000);
        let wanted = 100.0 + 7.998 * (1.0 + 50e-6);
        assert!((moment.time.as_secs_f64() - wanted).abs() < 1e-6, "{moment:?}");
    }

    #[test]
    fn the_lines_do_not_depend_on_how_often_the_time_is_received() {
        let carriers = [CarrierConfig::default(), CarrierConfig::default()];
        let config = SnifferConfig { missed: 0.3, false_per_sec: 50.0, ..SnifferConfig::default() };
        let lines = |every: u64| {
            let mut sniffer = Sniffer::new(config, &carriers, 7);
            let mut lines = Vec::new();
            for slot in 0..1_000 {
                for carrier in 0..2 {
                    let sent_in = SlotId { carrier: CarrierId(carrier), ..dci(slot).sent_in };
                    sniffer.handle_dci(&Dci { sent_in, ..dci(slot) });
                }
                if (slot + 1) % every == 0 {
                    let now = HostInstant::from_nanos((slot + 1) * 1_000_000);
                    sniffer.handle_time(now);
                    lines.extend(core::iter::from_fn(|| sniffer.poll_heard(now)));
                }
            }
            lines.sort_by_key(|(at, heard)| (*at, cell(heard)));
            lines
        };
        assert_eq!(lines(1), lines(50));
    }

    fn cell(heard: &Heard) -> u8 {
        match heard {
            Heard::Dci(dci) => dci.moment.cell,
            Heard::Nothing(moment) => moment.cell,
        }
    }

    #[test]
    fn a_sniffer_that_hears_nothing_wakes_its_host_for_each_slot_until_it_dies() {
        let config = SnifferConfig {
            lag: Duration::from_millis(5),
            dies_at: Some(HostInstant::from_nanos(20_500_000)),
            ..SnifferConfig::default()
        };
        let mut sniffer = Sniffer::new(config, &[CarrierConfig::default()], 7);
        let mut times = Vec::new();
        while let Some(now) = sniffer.wakeup() {
            sniffer.handle_time(now);
            while let Some((at, heard)) = sniffer.poll_heard(now) {
                assert!(matches!(heard, Heard::Nothing(_)) && at == now);
                times.push(at.as_nanos() / 1_000_000);
            }
        }
        assert_eq!(times, (6..=25).collect::<Vec<u64>>());
    }

    #[test]
    fn lines_that_no_host_reads_take_no_more_memory_after_a_while() {
        let mut sniffer = Sniffer::new(SnifferConfig::default(), &[CarrierConfig::default()], 7);
        sniffer.handle_time(HostInstant::from_nanos(100_000_000_000));
        assert_eq!(sniffer.lines.len(), MAX_LINES);
        assert_eq!(sniffer.dropped(), 100_000 - MAX_LINES as u64);
        // They do not delay the next wakeup either.
        assert_eq!(sniffer.wakeup(), Some(HostInstant::from_nanos(100_001_000_000)));
    }
}
