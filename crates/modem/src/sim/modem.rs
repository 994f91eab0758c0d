use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use sounding_diag::buffer::{Buffer, Limits};
use sounding_units::{HostInstant, ModemInstant};

use super::answers::Answers;
use super::mischief::{Chance, Fate, Mischief};
use super::records::Records;

/// Settings of a simulated modem.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// The ratio of its speed to the capture's. It has no effect on records made in real time.
    pub speed: f64,
    /// Records wait in the modem until there are this many bytes of them; 0 sends each at once.
    pub high_water: usize,
    /// Records wait at most this long, drained or not.
    pub release: Duration,
    /// Every log code, event and message is on from the start, as in a modem that another program
    /// has configured.
    pub all_on: bool,
    /// Requests for log masks are refused, as some phones do.
    pub hides_masks: bool,
    /// The HDLC framing is switched off.
    pub unframed: bool,
    /// Faults.
    pub mischief: Mischief,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            speed: 1.0,
            high_water: 0,
            release: Duration::from_secs(1),
            all_on: false,
            hides_masks: false,
            unframed: false,
            mischief: Mischief::default(),
        }
    }
}

/// Output of a modem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// The payload of a frame.
    Packet(Vec<u8>),
    /// Bytes that are no whole frame.
    Noise(Vec<u8>),
    /// The port goes away.
    Reboot,
}

/// A record that a modem made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The modem's clock, which is the record's time stamp.
    pub stamp: ModemInstant,
    /// When that was, by the host's clock.
    pub at: HostInstant,
}

/// Counts of a modem's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records that left the modem whole.
    pub sent: u64,
    /// Records of codes that were not switched on.
    pub masked: u64,
    /// Records that came when there was no room left for them.
    pub lost: u64,
    /// Damaged or random frames.
    pub broken: u64,
    /// Requests answered, those refused included.
    pub answered: u64,
    /// Requests that it refused: the simulated modem supports only those that a reader of log
    /// records needs.
    pub refused: u64,
    /// Number of drain commands.
    pub drained: u64,
}

/// A simulated modem, as a machine: requests and time in, packets out.
#[derive(Debug)]
pub(super) struct SimModem {
    records: Records,
    behaviour: Behaviour,
    chance: Chance,
    answers: Answers,
    /// When the first record was due, by the host's clock.
    begin: Option<HostInstant>,
    /// The time stamp of the first record.
    first: Option<ModemInstant>,
    buffer: Buffer<Vec<u8>>,
    out: VecDeque<Output>,
    made: Vec<Made>,
    rebooted: bool,
    tally: Tally,
}

const BUILD: &str = "sounding-simulated-modem";

impl SimModem {
    pub(super) fn new(records: impl Into<Records>, mut behaviour: Behaviour) -> Self {
        let records = records.into();
        let begin = records.begin();
        if begin.is_some() {
            behaviour.speed = 1.0;
        }
        let limits = Limits { high_water: behaviour.high_water, release: behaviour.release };
        let mut modem = Self {
            answers: Answers::new(BUILD),
            chance: Chance::new(behaviour.mischief.clone()),
            records,
            behaviour,
            begin,
            first: None,
            buffer: Buffer::new(limits),
            out: VecDeque::new(),
            made: Vec::new(),
            rebooted: false,
            tally: Tally::default(),
        };
        modem.power_on();
        modem
    }

    fn power_on(&mut self) {
        self.answers = Answers::new(BUILD);
        self.records.codes().for_each(|code| self.answers.make_room(code));
        if self.behaviour.all_on {
            self.answers.switch_all_on();
        }
        if self.behaviour.hides_masks {
            self.answers.hide_masks();
        }
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    pub(super) fn lose(&mut self) {
        self.tally.lost += 1;
        self.tally.sent = self.tally.sent.saturating_sub(1);
    }

    /// Whether it makes records faster than they were made once.
    pub(super) fn hurries(&self) -> bool {
        self.behaviour.speed > 1.0
    }

    /// For how long records have been made; of a capture, how far it has come.
    pub(super) fn elapsed(&self, now: HostInstant) -> Duration {
        self.begin.map_or(Duration::ZERO, |begin| (now - begin).mul_f64(self.behaviour.speed))
    }

    /// True once every record has been made and has left.
    pub(super) fn is_over(&self) -> bool {
        self.records.are_over() && self.buffer.is_empty() && self.out.is_empty()
    }

    pub(super) fn handle_request(&mut self, request: &[u8]) {
        let mut answer = Vec::new();
        let is_known = self.answers.answer(request, &mut answer);
        self.tally.answered += 1;
        self.tally.refused += u64::from(!is_known);
        self.out.push_back(Output::Packet(answer));
    }

    pub(super) fn handle_drain(&mut self) {
        self.tally.drained += 1;
        self.buffer.handle_drain();
        self.send();
    }

    /// Advances the time. `attended` says whether a reader has the port open. The first record
    /// waits for that, and for a mask with a code of this script: masks come one equipment
    /// after the other.
    pub(super) fn handle_time(&mut self, now: HostInstant, attended: bool) {
        if self.begin.is_none() && attended && self.is_wanted() {
            self.begin = Some(now);
        }
        if self.begin.is_none() {
            return;
        }
        let elapsed = self.elapsed(now);
        self.make(now, elapsed);
        self.buffer.handle_time(now);
        self.send();
    }

    fn is_wanted(&self) -> bool {
        self.records.codes().any(|code| self.answers.is_on(code))
    }

    fn make(&mut self, now: HostInstant, elapsed: Duration) {
        let reboot = self.chance.mischief().reboot;
        while let Some(due) = self.records.due() {
            if due > elapsed {
                return;
            }
            if !self.rebooted && reboot.is_some_and(|at| due >= at) {
                self.rebooted = true;
                self.buffer.handle_restart();
                self.power_on();
                self.out.push_back(Output::Reboot);
                return;
            }
            let Some(record) = self.records.take() else { return };
            let right = record.stamp();
            // A record without a time has none by any clock.
            let first = right.is_known().then(|| *self.first.get_or_insert(right));
            if !self.answers.is_on(record.code) {
                self.tally.masked += 1;
                continue;
            }
            let wrong = first.and_then(|first| self.chance.stamp(first, right, due));
            let wrong = wrong.map(ModemInstant::to_diag);
            let stamp = wrong.map_or(right, ModemInstant::from_diag);
            let payload = record.into_payload(wrong);
            self.made.push(Made { stamp, at: now });
            let size = payload.len();
            self.buffer.handle_record(now, payload, size);
        }
    }

    /// Moves records from the buffer to the port.
    fn send(&mut self) {
        while let Some(payload) = self.buffer.poll_record() {
            let Fate { before, instead } = self.chance.fate(&payload);
            self.tally.broken += u64::from(before.is_some()) + u64::from(instead.is_some());
            self.out.extend(before.map(Output::Noise));
            match instead {
                Some(noise) => self.out.push_back(Output::Noise(noise)),
                None => {
                    self.tally.sent += 1;
                    self.out.push_back(Output::Packet(payload));
                }
            }
        }
    }

    /// The records made since the last call.
    pub(super) fn made(&mut self) -> impl Iterator<Item = Made> {
        self.made.drain(..)
    }

    /// The next output. A stalled modem keeps it.
    pub(super) fn poll_output(&mut self, now: HostInstant) -> Option<Output> {
        let elapsed = self.elapsed(now);
        let stalled = |(at, span): (Duration, Duration)| (at..at + span).contains(&elapsed);
        if self.begin.is_some() && self.chance.mischief().stall.is_some_and(stalled) {
            return None;
        }
        self.out.pop_front()
    }

    /// Time until the next event, at most `most`.
    pub(super) fn idle(&mut self, now: HostInstant, most: Duration) -> Duration {
        let Some(begin) = self.begin else { return most };
        let next = self.records.due().map(|due| begin + due.div_f64(self.behaviour.speed));
        next.map_or(most, |due| (due - now).min(most))
    }

    /// Readable once the modem may have more to do, where that comes unforeseen.
    pub(super) fn awake(&self) -> Option<BorrowedFd<'_>> {
        self.records.awake()
    }
}

#[cfg(test)]
mod tests;
