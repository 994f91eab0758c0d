use std::collections::VecDeque;
use std::time::Duration;

use sounding_units::{HostInstant, ModemInstant};

use super::answers::Answers;
use super::mischief::{Chance, Fate, Mischief};
use super::script::Script;

/// How a simulated modem behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// How many times faster than the capture.
    pub speed: f64,
    /// Records wait in the modem until there are so many bytes of them; 0 sends each at once.
    pub high_water: usize,
    /// Records wait no longer than this, drained or not.
    pub release: Duration,
    /// Every log code, event and message is on from the start, as in a modem that somebody else has configured.
    pub all_on: bool,
    /// The HDLC framing is switched off.
    pub unframed: bool,
    /// What goes wrong.
    pub mischief: Mischief,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            speed: 1.0,
            high_water: 0,
            release: Duration::from_secs(1),
            all_on: false,
            unframed: false,
            mischief: Mischief::default(),
        }
    }
}

/// What leaves a modem.
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
    /// What the modem's clock showed, which is the record's time stamp.
    pub stamp: ModemInstant,
    /// When that was, by the host's clock.
    pub at: HostInstant,
}

/// What became of a modem's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records that left the modem whole.
    pub sent: u64,
    /// Records that nobody had asked for.
    pub masked: u64,
    /// Records that came when there was no room left for them.
    pub lost: u64,
    /// Frames that were broken, or were nothing.
    pub broken: u64,
    /// Requests answered, those refused included.
    pub answered: u64,
    /// Requests refused, because a modem that does no more than a reader of log records needs does not know them.
    pub refused: u64,
    /// Times that the modem was told to drain.
    pub drained: u64,
}

/// A simulated modem, as a machine: requests and time in, packets out.
#[derive(Clone, Debug)]
pub(super) struct SimModem {
    script: Script,
    next: usize,
    behaviour: Behaviour,
    chance: Chance,
    answers: Answers,
    /// When the first record was due, by the host's clock.
    begin: Option<HostInstant>,
    /// Records that wait for the high-water mark, and their bytes.
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    waiting_since: HostInstant,
    out: VecDeque<Output>,
    made: Vec<Made>,
    rebooted: bool,
    tally: Tally,
}

const BUILD: &str = "sounding-simulated-modem";

impl SimModem {
    pub(super) fn new(script: Script, behaviour: Behaviour) -> Self {
        let mut modem = Self {
            answers: Answers::new(BUILD),
            chance: Chance::new(behaviour.mischief.clone()),
            script,
            next: 0,
            behaviour,
            begin: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            waiting_since: HostInstant::default(),
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
        self.script.records().iter().for_each(|record| self.answers.make_room(record.code));
        if self.behaviour.all_on {
            self.answers.switch_all_on();
        }
    }

    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    pub(super) fn lose(&mut self) {
        self.tally.lost += 1;
        self.tally.sent = self.tally.sent.saturating_sub(1);
    }

    /// How far the capture has come.
    pub(super) fn elapsed(&self, now: HostInstant) -> Duration {
        self.begin.map_or(Duration::ZERO, |begin| (now - begin).mul_f64(self.behaviour.speed))
    }

    /// True once every record has been made and has left.
    pub(super) fn is_over(&self) -> bool {
        self.next == self.script.len() && self.waiting.is_empty() && self.out.is_empty()
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
        self.release();
    }

    /// Time passes. `attended` says whether somebody has the port open: the first record waits for that, and for a
    /// mask that wants one of those there are: masks come one equipment after the other.
    pub(super) fn handle_time(&mut self, now: HostInstant, attended: bool) {
        if self.begin.is_none() && attended && self.is_wanted() {
            self.begin = Some(now);
        }
        if self.begin.is_none() {
            return;
        }
        let elapsed = self.elapsed(now);
        self.make(now, elapsed);
        let full = self.waiting_bytes >= self.behaviour.high_water.max(1);
        let old = !self.waiting.is_empty() && now - self.waiting_since >= self.behaviour.release;
        if full || old {
            self.release();
        }
    }

    fn is_wanted(&self) -> bool {
        self.script.records().iter().any(|record| self.answers.is_on(record.code))
    }

    fn make(&mut self, now: HostInstant, elapsed: Duration) {
        let reboot = self.chance.mischief().reboot;
        while let Some(record) = self.script.records().get(self.next) {
            if record.due > elapsed {
                return;
            }
            if !self.rebooted && reboot.is_some_and(|at| record.due >= at) {
                self.rebooted = true;
                (self.waiting_bytes, self.waiting) = (0, VecDeque::new());
                self.power_on();
                self.out.push_back(Output::Reboot);
                return;
            }
            self.next += 1;
            if !self.answers.is_on(record.code) {
                self.tally.masked += 1;
                continue;
            }
            let right = self.script.stamp(record);
            let stamp = self.chance.stamp(self.script.first(), right, record.due);
            let wrong = stamp.map(ModemInstant::to_diag);
            let payload = self.script.payload(record, wrong);
            let stamp = wrong.map_or(right, ModemInstant::from_diag);
            self.made.push(Made { stamp, at: now });
            if self.waiting.is_empty() {
                self.waiting_since = now;
            }
            self.waiting_bytes += payload.len();
            self.waiting.push_back(payload);
        }
    }

    fn release(&mut self) {
        self.waiting_bytes = 0;
        for payload in std::mem::take(&mut self.waiting) {
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

    /// The records made since this was last asked.
    pub(super) fn made(&mut self) -> impl Iterator<Item = Made> {
        self.made.drain(..)
    }

    /// What leaves the modem next. A stalled modem keeps what it has.
    pub(super) fn poll_output(&mut self, now: HostInstant) -> Option<Output> {
        let elapsed = self.elapsed(now);
        let stalled = |(at, span): (Duration, Duration)| (at..at + span).contains(&elapsed);
        if self.begin.is_some() && self.chance.mischief().stall.is_some_and(stalled) {
            return None;
        }
        self.out.pop_front()
    }

    /// How long nothing will happen by itself, at most `most`.
    pub(super) fn idle(&self, now: HostInstant, most: Duration) -> Duration {
        let Some(begin) = self.begin else { return most };
        let next = self.script.records().get(self.next);
        let next = next.map(|record| begin + record.due.div_f64(self.behaviour.speed));
        next.map_or(most, |due| (due - now).min(most))
    }
}

#[cfg(test)]
mod tests;
