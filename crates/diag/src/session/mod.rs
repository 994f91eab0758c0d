//! One session with a modem: who is there, which log records it shall send, and everything put back at the end.
//!
//! ```text
//!            first answer          queue empty
//!   Greeting ───────────▶ Asking ─────────────▶ Logging ──┐
//!      │  ▲                 │                     │       │ over budget: a smaller mask
//!  no  │  │ an answer       │ handle_end          │◀──────┘
//! answer  │ after all       ▼                     │ handle_end
//!      └▶ Mute ──────────▶ Restoring ◀────────────┘
//!              handle_end     │ masks are back, or nobody answers
//!                             ▼
//!                            Over
//! ```
//!
//! Masks are the modem's, not the session's: they outlive it. What was found is kept, the log mask is replaced by the
//! least that is wanted, and the end puts the found one back. Events and messages are asked for and never changed.
//! A port on which nobody answers, as a bridge that only reads, is used as it is.

mod budget;
mod event;
mod step;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::HostInstant;

pub use event::{Event, Identity, Reason};
pub use step::Step;

use crate::LogCode;
use crate::command::{Answer, LogMask, MessageRange, message_ranges};
use budget::Budget;
use step::Mask;

/// An answer takes a millisecond or two on USB. Chosen; three times this is what a silent port costs.
const PATIENCE: Duration = Duration::from_millis(200);
const TRIES: u32 = 3;

/// Where a modem does not say how many codes an equipment has, it has all that 12 bits number.
const ALL_ITEMS: u32 = 1 << 12;

/// Ranges of messages that are asked for at most; modems have about thirty.
const MOST_RANGES: usize = 64;

/// What is wanted of a modem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Log records, the most important first; nothing else is left on.
    pub codes: Vec<LogCode>,
    /// Bytes per second that the port may bring. More than that, for a second, switches codes off from the end.
    pub budget_bytes_per_sec: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Greeting,
    Asking,
    Logging,
    Mute,
    Restoring,
    Over,
}

/// The request that waits for its answer.
#[derive(Clone, Copy, Debug)]
struct Pending {
    step: Step,
    sent: Option<HostInstant>,
    tries: u32,
}

/// A session, as a machine: packets and time in, requests and events out.
#[derive(Clone, Debug)]
pub struct Session {
    wanted: Wanted,
    state: State,
    steps: VecDeque<Step>,
    pending: Option<Pending>,
    events: VecDeque<Event>,
    identity: Identity,
    /// Codes that are to be on, most important first.
    on: Vec<LogCode>,
    /// Codes that the budget has switched off.
    off: Vec<LogCode>,
    items: BTreeMap<u8, u32>,
    /// Log masks as they were before this session.
    found: BTreeMap<u8, Mask>,
    /// Log masks that this session has set.
    ours: BTreeMap<u8, Mask>,
    events_on: u32,
    messages_on: u32,
    budget: Budget,
}

impl Session {
    /// A session that has not begun: the first [`poll_request`](Self::poll_request) does.
    pub fn new(mut wanted: Wanted) -> Self {
        let mut seen = Vec::new();
        wanted.codes.retain(|code| {
            !seen.contains(code) && {
                seen.push(*code);
                true
            }
        });
        let mut session = Self {
            on: wanted.codes.clone(),
            wanted,
            state: State::Greeting,
            steps: VecDeque::new(),
            pending: None,
            events: VecDeque::new(),
            identity: Identity::default(),
            off: Vec::new(),
            items: BTreeMap::new(),
            found: BTreeMap::new(),
            ours: BTreeMap::new(),
            events_on: 0,
            messages_on: 0,
            budget: Budget::default(),
        };
        session.greet();
        session
    }

    /// The port closed and is there again: everything is asked and set anew. A modem that kept the masks of this
    /// session is still put back to what was found before it; one that restarted, to what it restarted with.
    pub fn handle_reconnect(&mut self) {
        if self.state == State::Over {
            return;
        }
        self.on = self.wanted.codes.clone();
        self.off.clear();
        self.identity = Identity::default();
        (self.events_on, self.messages_on) = (0, 0);
        self.budget = Budget::default();
        self.greet();
    }

    fn greet(&mut self) {
        self.state = State::Greeting;
        self.steps.clear();
        self.pending = None;
        self.steps.push_back(Step::Version);
    }

    /// A log record came, of so many bytes on the wire.
    pub fn handle_log(&mut self, now: HostInstant, code: LogCode, len: usize) {
        self.budget.handle(now, Some(code), len);
    }

    /// A packet came that is no log record: its command and what follows it.
    pub fn handle_other(&mut self, now: HostInstant, command: u8, body: &[u8]) {
        self.budget.handle(now, None, body.len() + 1);
        let Some(answer) = Answer::parse(command, body) else { return };
        if self.state == State::Mute {
            // It was slow, or has come up since.
            self.greet();
            return;
        }
        let Some(Pending { step, sent: Some(_), .. }) = self.pending else { return };
        if self.take(step, &answer) {
            self.pending = None;
            self.advance(now);
        }
    }

    /// The session ends: found masks go back. Go on polling until [`is_over`](Self::is_over).
    pub fn handle_end(&mut self, now: HostInstant) {
        if matches!(self.state, State::Restoring | State::Over) {
            return;
        }
        self.steps.clear();
        self.pending = None;
        self.steps.extend(self.ours.keys().map(|&equipment| Step::SetLogMask(equipment)));
        for (equipment, mask) in &mut self.ours {
            // A modem that did not tell its mask is left without ours.
            let empty = || Mask { items: mask.items, bits: vec![0; mask.bits.len()] };
            *mask = self.found.get(equipment).cloned().unwrap_or_else(empty);
        }
        self.state = State::Restoring;
        self.advance(now);
    }

    /// True once there is nothing to put back any more.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// True while the modem has the mask that is wanted.
    pub fn is_logging(&self) -> bool {
        self.state == State::Logging
    }

    /// Codes that the budget has switched off.
    pub fn switched_off(&self) -> &[LogCode] {
        &self.off
    }

    /// The next thing that has come of the session.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Appends the payload of the request that is due, if one is; whether one was.
    pub fn poll_request(&mut self, now: HostInstant, out: &mut Vec<u8>) -> bool {
        self.judge(now);
        loop {
            if self.pending.is_none() {
                let Some(step) = self.steps.pop_front() else { return false };
                self.pending = Some(Pending { step, sent: None, tries: 0 });
            }
            let Some(pending) = &mut self.pending else { return false };
            match pending.sent {
                Some(sent) if now - sent < PATIENCE => return false,
                Some(_) if pending.tries >= TRIES => {
                    let step = pending.step;
                    self.pending = None;
                    self.give_up(step);
                    self.advance(now);
                }
                _ => {
                    pending.sent = Some(now);
                    pending.tries += 1;
                    let step = pending.step;
                    let mask = match step {
                        Step::SetLogMask(equipment) => self.ours.get(&equipment),
                        _ => None,
                    };
                    step.emit(mask, out);
                    return true;
                }
            }
        }
    }

    /// Nobody answered a step, however often it was asked.
    fn give_up(&mut self, step: Step) {
        if self.state == State::Greeting {
            self.state = State::Mute;
            self.events.push_back(Event::Mute);
            return;
        }
        self.events.push_back(Event::Unanswered(step));
        self.without(step);
    }

    /// Goes on without the answer to a step.
    fn without(&mut self, step: Step) {
        match step {
            Step::LogRanges => {
                let equipments = self.wanted.codes.iter().map(|code| code.equipment());
                self.items = equipments.map(|equipment| (equipment, ALL_ITEMS)).collect();
                self.ask_for_masks();
            }
            Step::ReadLogMask(equipment) => self.set_mask(equipment),
            _ => {}
        }
    }

    /// The queue may be empty now, which ends a state.
    fn advance(&mut self, now: HostInstant) {
        if !self.steps.is_empty() || self.pending.is_some() {
            return;
        }
        match self.state {
            State::Asking => {
                self.state = State::Logging;
                self.budget.restart(now);
                let (here, missing) = self.on.iter().partition::<Vec<_>, _>(|code| {
                    let items = self.items.get(&code.equipment()).copied().unwrap_or_default();
                    u32::from(code.item()) < items
                });
                self.events.push_back(Event::Ready {
                    codes: here.len(),
                    missing,
                    events: self.events_on,
                    messages: self.messages_on,
                });
            }
            State::Restoring => {
                self.state = State::Over;
                if !self.ours.is_empty() {
                    self.events.push_back(Event::Restored);
                }
            }
            State::Greeting | State::Logging | State::Mute | State::Over => {}
        }
    }

    /// Takes the answer to a step; whether it was one.
    fn take(&mut self, step: Step, answer: &Answer<'_>) -> bool {
        match (step, answer) {
            (Step::Version, Answer::Version { compiled_on, compiled_at }) => {
                let day = String::from_utf8_lossy(*compiled_on);
                let time = String::from_utf8_lossy(*compiled_at);
                self.identity.compiled = Some(alloc::format!("{} {}", day.trim(), time.trim()));
                self.ask();
            }
            (Step::BuildId, Answer::BuildId(text)) => {
                self.identity.build = Some(String::from_utf8_lossy(text).trim().into());
            }
            (Step::Protocol, Answer::Protocol(version)) => {
                self.identity.protocol = Some(*version);
                self.introduce();
            }
            (Step::LogRanges, Answer::LogRanges(ranges)) => {
                let known = (0..).zip(ranges).filter(|(_, items)| **items > 0);
                self.items =
                    known.map(|(equipment, items)| (equipment, (*items).min(ALL_ITEMS))).collect();
                self.ask_for_masks();
            }
            (Step::ReadLogMask(equipment), Answer::LogMaskOf(mask))
                if mask.equipment == equipment =>
            {
                let mask = Mask::of(mask);
                if self.ours.get(&equipment) != Some(&mask) {
                    self.ours.remove(&equipment);
                    self.found.insert(equipment, mask);
                }
                self.set_mask(equipment);
            }
            (Step::SetLogMask(equipment), Answer::LogMask(mask)) if mask.equipment == equipment => {
            }
            (Step::ReadEventMask, Answer::EventMask(bits)) => {
                self.events_on = bits.iter().map(|byte| byte.count_ones()).sum();
            }
            (Step::MessageRanges, Answer::MessageRanges(ranges)) => {
                let ranges = message_ranges(ranges).take(MOST_RANGES);
                self.steps.extend(ranges.map(Step::ReadMessageMask));
            }
            (Step::ReadMessageMask(asked), Answer::MessageMaskOf(range, masks))
                if range_begins(asked, *range) =>
            {
                let on = masks.chunks_exact(4).filter(|mask| *mask != [0; 4]).count();
                self.messages_on += on as u32;
            }
            (_, Answer::LogRefused { status, .. }) if is_log_config(step) => {
                self.refuse(step, Reason::Status(*status));
            }
            (_, Answer::Refused { refusal, command }) => {
                let own = step.request(None).command();
                if command.is_some_and(|command| command != own) {
                    return false;
                }
                self.refuse(step, Reason::Error(*refusal));
            }
            _ => return false,
        }
        true
    }

    fn refuse(&mut self, step: Step, why: Reason) {
        // Who refuses is there.
        if self.state == State::Greeting {
            self.ask();
        }
        self.events.push_back(Event::Refused { step, why });
        if step == Step::Protocol {
            self.introduce();
        }
        self.without(step);
    }

    fn introduce(&mut self) {
        self.events.push_back(Event::Answers(self.identity.clone()));
    }

    fn ask(&mut self) {
        self.state = State::Asking;
        self.steps.extend([Step::BuildId, Step::Protocol, Step::LogRanges]);
    }

    fn ask_for_masks(&mut self) {
        self.steps.extend(self.items.keys().map(|&equipment| Step::ReadLogMask(equipment)));
        self.steps.extend([Step::ReadEventMask, Step::MessageRanges]);
    }

    /// Decides on the mask of an equipment, and sets it if the modem has another.
    fn set_mask(&mut self, equipment: u8) {
        let Some(&items) = self.items.get(&equipment) else { return };
        let bits = LogMask::bits_of(equipment, items, &self.on);
        let mask = Mask { items, bits };
        let there = self.ours.get(&equipment).or(self.found.get(&equipment));
        let unwanted = there.is_none() && mask.is_empty();
        if there != Some(&mask) && !unwanted {
            self.ours.insert(equipment, mask);
            // Before what is still to be asked: records first, then curiosity.
            let at = self.steps.iter().position(|step| !matches!(step, Step::SetLogMask(_)));
            self.steps.insert(at.unwrap_or(self.steps.len()), Step::SetLogMask(equipment));
        }
    }

    /// Compares what came with the budget.
    fn judge(&mut self, now: HostInstant) {
        let Some(limit) = self.wanted.budget_bytes_per_sec else { return };
        if self.state != State::Logging {
            return;
        }
        let Some(flood) = self.budget.poll(now, limit) else { return };
        let off = flood.relieve(&mut self.on, limit);
        let equipments: alloc::collections::BTreeSet<u8> =
            off.iter().map(|code| code.equipment()).collect();
        equipments.into_iter().for_each(|equipment| self.set_mask(equipment));
        self.off.extend(&off);
        self.budget.restart(now);
        self.events.push_back(Event::OverBudget {
            bytes_per_sec: flood.bytes_per_sec,
            budget_bytes_per_sec: limit,
            off,
            others_per_sec: flood.others_per_sec,
        });
    }
}

/// Modems answer for the range that they have, which may end elsewhere.
fn range_begins(asked: MessageRange, answered: MessageRange) -> bool {
    asked.first == answered.first
}

fn is_log_config(step: Step) -> bool {
    matches!(step, Step::LogRanges | Step::ReadLogMask(_) | Step::SetLogMask(_))
}

#[cfg(test)]
mod tests;
