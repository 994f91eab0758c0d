//! One session with a modem: identify it, set the log records that it sends, and restore everything
//! at the end.
//!
//! ```text
//!            first answer          queue empty
//!   Greeting ───────────▶ Asking ─────────────▶ Logging ──┐
//!      │  ▲                 │                     │       │ over budget: a smaller mask
//!  no  │  │ an answer       │ handle_end          │◀──────┘
//! answer  │ after all       ▼                     │ handle_end
//!      └▶ Mute ──────────▶ Restoring ◀────────────┘
//!              handle_end     │ masks are back, or no answer comes
//!                             ▼
//!                            Over
//! ```
//!
//! Masks are the modem's state and outlive the session. The session saves the log mask that it
//! finds, sets the smallest mask that it needs, and restores the saved one at the end. A mask that
//! the modem does not tell could not be restored. It is therefore left alone, unless
//! [`set_untold`](Session::set_untold) says otherwise. A killed session restores nothing. Its saved
//! masks are in its [note](Session::note), which the next session [recalls](Session::recall). Event
//! and message masks are read and never changed. A port without answers, such as a read-only
//! bridge, is read without any request.

mod budget;
mod dialogue;
mod event;
mod guests;
mod masks;
mod note;
mod step;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_units::HostInstant;

pub use event::{Beside, Event, Identity, Reason};
pub use guests::Lack;
pub use note::{NotANote, Note};
pub use step::Step;

use crate::LogCode;
use crate::command::Answer;
use budget::Budget;
use guests::Guests;
use masks::Masks;

/// Timeout of an answer, which takes a millisecond or two on USB. Chosen; a silent port costs three
/// times this.
const PATIENCE: Duration = Duration::from_millis(200);
const TRIES: u32 = 3;

/// The log records to request from a modem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Log records, the most important first; all others are switched off.
    pub codes: Vec<LogCode>,
    /// Limit on the bytes per second from the port. If they exceed it for a second, codes are
    /// switched off from the end.
    pub budget_bytes_per_sec: Option<u64>,
}

impl Wanted {
    /// The same with each code once.
    fn once(mut self) -> Self {
        let mut seen = Vec::new();
        self.codes.retain(|code| {
            !seen.contains(code) && {
                seen.push(*code);
                true
            }
        });
        self
    }
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
    masks: Masks,
    /// Codes of other readers of this modem.
    guests: Guests,
    /// Whether recalled masks were reported.
    has_recalled: bool,
    /// A mask could not be restored.
    is_left: bool,
    /// Masks that the modem does not tell are set too.
    sets_untold: bool,
    /// The last request, as it was sent: a port of AT commands sends it back.
    asked: Vec<u8>,
    /// Requests came back.
    echoes: bool,
    /// The masks to restore when the end began.
    note_at_end: Note,
    /// Why the note could not be kept, as last reported.
    unkept: Option<String>,
    events_on: u32,
    messages_on: u32,
    budget: Budget,
}

impl Session {
    /// A session that has not begun: the first [`poll_request`](Self::poll_request) does.
    pub fn new(wanted: Wanted) -> Self {
        let wanted = wanted.once();
        let mut session = Self {
            on: wanted.codes.clone(),
            wanted,
            state: State::Greeting,
            steps: VecDeque::new(),
            pending: None,
            events: VecDeque::new(),
            identity: Identity::default(),
            off: Vec::new(),
            masks: Masks::default(),
            guests: Guests::default(),
            has_recalled: false,
            is_left: false,
            sets_untold: false,
            asked: Vec::new(),
            echoes: false,
            note_at_end: Note::default(),
            unkept: None,
            events_on: 0,
            messages_on: 0,
            budget: Budget::default(),
        };
        session.greet();
        session
    }

    /// Also sets a log mask that the modem does not tell. It cannot be restored: its codes stay on
    /// at the end, which reports them. Call this first.
    pub fn set_untold(&mut self) {
        self.sets_untold = true;
    }

    /// An earlier session was killed before it could restore masks, and left this note. If the
    /// modem still has the masks of that session, this session restores the masks in the note.
    /// Call this first.
    pub fn recall(&mut self, note: Note) {
        self.masks.recall(note);
    }

    /// An earlier session over another port could not restore masks, and that port is gone: reports
    /// it.
    pub fn forgo(&mut self, port: String) {
        self.events.push_back(Event::Forgone { port });
    }

    /// The [note](Self::note) cannot be kept: reports it, once for each reason.
    pub fn handle_unkept(&mut self, why: String) {
        if self.unkept.as_ref() != Some(&why) {
            self.events.push_back(Event::Unkept { why: why.clone() });
            self.unkept = Some(why);
        }
    }

    /// State that has to outlive this session if it is killed. Save it before each request, and
    /// once more at the end.
    pub fn note(&self) -> Note {
        match self.state {
            State::Over if !self.is_left => self.masks.left(),
            State::Restoring | State::Over => self.note_at_end.clone(),
            _ => self.masks.note(),
        }
    }

    /// Other records are wanted from now on. The modem goes on while it is set again, and at the
    /// end it gets the masks from before the session.
    pub fn handle_wanted(&mut self, wanted: Wanted) {
        self.wanted = wanted.once();
        self.handle_reconnect();
    }

    /// The port closed and is open again: everything is requested and set again. If the modem kept
    /// this session's masks, those from before the session are restored at the end. If it
    /// restarted, those that it restarted with are restored.
    pub fn handle_reconnect(&mut self) {
        if self.state == State::Over {
            return;
        }
        let wanted = &self.wanted.codes;
        // A code that both want is the session's.
        self.guests.codes.retain(|code| !wanted.contains(code));
        self.guests.forget_departed();
        self.on = wanted.iter().chain(&self.guests.codes).copied().collect();
        self.off.clear();
        self.identity = Identity::default();
        (self.events_on, self.messages_on) = (0, 0);
        self.budget = Budget::default();
        self.greet();
    }

    fn greet(&mut self) {
        self.state = State::Greeting;
        self.echoes = false;
        self.steps.clear();
        self.pending = None;
        self.steps.push_back(Step::Version);
    }

    /// A log record arrived, with this many bytes on the wire.
    pub fn handle_log(&mut self, now: HostInstant, code: LogCode, len: usize) {
        self.budget.handle(now, Some(code), len);
    }

    /// A packet came that is no log record: its command and what follows it.
    pub fn handle_other(&mut self, now: HostInstant, command: u8, body: &[u8]) {
        self.budget.handle(now, None, body.len() + 1);
        // No answer equals its request.
        if self.asked.split_first() == Some((&command, body)) {
            self.echoes = true;
            return;
        }
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
        self.note_at_end = self.masks.note();
        // The modem's answers so far may not show yet whether an earlier session's masks are set.
        if matches!(self.state, State::Asking | State::Logging) {
            self.steps.extend(self.masks.unread().into_iter().map(Step::ReadLogMask));
        }
        self.state = State::Restoring;
        let codes: Vec<_> =
            self.on.iter().copied().filter(|code| self.masks.stays(*code)).collect();
        if !codes.is_empty() {
            self.events.push_back(Event::Stays { codes });
        }
        self.masks.set().into_iter().for_each(|equipment| self.set_mask(equipment));
        self.advance(now);
    }

    /// True once nothing is left to restore.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// True while the modem has the requested mask.
    pub fn is_logging(&self) -> bool {
        self.state == State::Logging
    }

    /// What the modem has told of itself.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Codes that the budget has switched off.
    pub fn switched_off(&self) -> &[LogCode] {
        &self.off
    }

    /// The next event of the session.
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
                        Step::SetLogMask(equipment) => self.masks.to_set(equipment),
                        _ => None,
                    };
                    let start = out.len();
                    step.emit(mask, out);
                    self.asked.clear();
                    self.asked.extend_from_slice(&out[start..]);
                    return true;
                }
            }
        }
    }

    /// A step had no answer after all its retries.
    fn give_up(&mut self, step: Step) {
        if self.state == State::Greeting {
            self.state = State::Mute;
            self.events.push_back(if self.echoes { Event::Echoes } else { Event::Mute });
            return;
        }
        self.events.push_back(Event::Unanswered(step));
        self.without(step);
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
                let (here, missing) =
                    self.on.iter().partition::<Vec<LogCode>, _>(|code| self.masks.has(**code));
                let is_kept =
                    |code: &LogCode| !self.sets_untold && !self.masks.is_told(code.equipment());
                let kept: BTreeSet<u8> =
                    here.iter().filter(|code| is_kept(code)).map(|code| code.equipment()).collect();
                let codes = here.iter().filter(|code| !is_kept(code)).count();
                // A budget cannot switch them off.
                self.on.retain(|code| !kept.contains(&code.equipment()));
                self.events.push_back(Event::Ready {
                    codes,
                    missing,
                    kept: kept.into_iter().collect(),
                    events: self.events_on,
                    messages: self.messages_on,
                });
            }
            State::Restoring => {
                self.state = State::Over;
                if self.masks.is_set() && !self.is_left && self.masks.unread().is_empty() {
                    self.events.push_back(Event::Restored);
                }
            }
            State::Greeting | State::Logging | State::Mute | State::Over => {}
        }
    }

    /// Compares the received bytes with the budget.
    fn judge(&mut self, now: HostInstant) {
        let Some(limit) = self.wanted.budget_bytes_per_sec else { return };
        if self.state != State::Logging {
            return;
        }
        let Some(mut flood) = self.budget.poll(now, limit) else { return };
        flood.leave_out(|code| self.guests.have_left(code));
        if flood.bytes_per_sec <= limit {
            return;
        }
        // Without a code of its own the session has none that must stay.
        let kept = usize::from(!self.wanted.codes.is_empty());
        let off = flood.relieve(&mut self.on, kept, limit);
        let equipments: BTreeSet<u8> = off.iter().map(|code| code.equipment()).collect();
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

#[cfg(test)]
mod tests;
