//! Processes the modem's answers: makes the next requests, the masks, and the reports.

use alloc::string::String;

use super::{Event, Reason, Session, State, Step};
use crate::command::{Answer, MessageRange, message_ranges};

/// Most ranges of messages that are requested; modems have about thirty.
const MAX_RANGES: usize = 64;

impl Session {
    /// Goes on without the answer to a step.
    pub(super) fn without(&mut self, step: Step) {
        match step {
            Step::SetLogMask(_) if self.state == State::Restoring => self.is_left = true,
            Step::LogRanges => {
                self.masks.handle_no_ranges(&self.wanted.codes);
                self.ask_for_masks();
            }
            Step::ReadLogMask(equipment) => self.set_mask(equipment),
            _ => {}
        }
    }

    /// Takes the answer to a step; whether it was one.
    pub(super) fn take(&mut self, step: Step, answer: &Answer<'_>) -> bool {
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
                self.masks.handle_ranges(ranges);
                self.ask_for_masks();
            }
            (Step::ReadLogMask(equipment), Answer::LogMaskOf(mask))
                if mask.equipment == equipment =>
            {
                if self.masks.handle_read(mask) && !core::mem::replace(&mut self.has_recalled, true)
                {
                    self.events.push_back(Event::Recalled);
                }
                self.set_mask(equipment);
            }
            (Step::SetLogMask(equipment), Answer::LogMask(mask)) if mask.equipment == equipment => {
                self.masks.handle_set(equipment);
            }
            (Step::ReadEventMask, Answer::EventMask(bits)) => {
                self.events_on = bits.iter().map(|byte| byte.count_ones()).sum();
            }
            (Step::MessageRanges, Answer::MessageRanges(ranges)) => {
                let ranges = message_ranges(ranges).take(MAX_RANGES);
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
        // A refusal is an answer too.
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
        self.steps.extend(self.masks.equipments().map(Step::ReadLogMask));
        self.steps.extend([Step::ReadEventMask, Step::MessageRanges]);
    }

    /// Sets the mask of an equipment if the modem's differs from the requested one; at the end,
    /// only if the modem has this session's.
    pub(super) fn set_mask(&mut self, equipment: u8) {
        if self.state == State::Restoring {
            if self.masks.put_back(equipment) {
                self.steps.push_back(Step::SetLogMask(equipment));
            }
            return;
        }
        let set = Step::SetLogMask(equipment);
        // A request that waits will have the newest mask. Readers may come and go faster than a
        // modem answers.
        if self.masks.decide(equipment, &self.on, self.sets_untold) && !self.steps.contains(&set) {
            // Before the remaining requests: records are more important than information.
            let at = self.steps.iter().position(|step| !matches!(step, Step::SetLogMask(_)));
            self.steps.insert(at.unwrap_or(self.steps.len()), set);
        }
    }
}

/// Modems answer for the range that they have, which may end elsewhere.
fn range_begins(asked: MessageRange, answered: MessageRange) -> bool {
    asked.first == answered.first
}

fn is_log_config(step: Step) -> bool {
    matches!(step, Step::LogRanges | Step::ReadLogMask(_) | Step::SetLogMask(_))
}
