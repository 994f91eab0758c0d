use sounding_diag::LogCode;
use sounding_diag::command::{
    Answer, EQUIPMENTS, LogMask, MessageRange, Refusal, Request, message_ranges,
};

/// A modem's answers, and its current masks.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    build: Vec<u8>,
    items: [u32; EQUIPMENTS],
    masks: Vec<Vec<u8>>,
    /// It does not tell its log masks.
    hides_masks: bool,
    /// Whether events and messages are on: all of them, or none. Nothing here switches them.
    others_on: bool,
}

/// Equipments that every modem has: CDMA, WCDMA, GSM, UMTS, LTE with NR, and others' records.
const EQUIPMENT: [usize; 6] = [1, 4, 5, 7, 0xB, 0xD];

/// Twelve bits number the codes of an equipment.
const ITEMS: u32 = 1 << 12;

/// Subsystems that have messages, first and last.
const MESSAGES: [u8; 8] = [0, 0, 130, 0, 0xF4, 1, 0x00, 2];

/// Bytes of the mask of all events.
const EVENTS: usize = 512;

impl Answers {
    /// A modem that has just started: all masks are empty.
    pub(crate) fn new(build: &str) -> Self {
        let mut items = [0; EQUIPMENTS];
        EQUIPMENT.iter().for_each(|&equipment| items[equipment] = ITEMS);
        let masks = items.iter().map(|&items| vec![0; items as usize / 8]).collect();
        Self {
            build: build.as_bytes().to_vec(),
            items,
            masks,
            hides_masks: false,
            others_on: false,
        }
    }

    /// Has room for a code of any equipment.
    pub(crate) fn make_room(&mut self, code: LogCode) {
        let equipment = usize::from(code.equipment());
        self.items[equipment] = ITEMS;
        self.masks[equipment].resize(ITEMS as usize / 8, 0);
    }

    /// Switches all log records, events and messages on.
    pub(crate) fn switch_all_on(&mut self) {
        self.masks.iter_mut().for_each(|mask| mask.fill(0xFF));
        self.others_on = true;
    }

    /// From now on it does not tell its log masks.
    pub(crate) fn hide_masks(&mut self) {
        self.hides_masks = true;
    }

    /// Whether a log code is on.
    pub(crate) fn is_on(&self, code: LogCode) -> bool {
        self.mask(code.equipment()).contains(code)
    }

    fn mask(&self, equipment: u8) -> LogMask<'_> {
        let at = usize::from(equipment) % EQUIPMENTS;
        LogMask { equipment, items: self.items[at], bits: &self.masks[at] }
    }

    /// Applies a request, and appends the payload of the answer. Returns whether it knows the
    /// request.
    pub(crate) fn answer(&mut self, request: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(parsed) = Request::parse(request) else {
            // As modems do: the error, then the request.
            Answer::Refused { refusal: Refusal::Command, command: None }.emit(out);
            out.extend_from_slice(request);
            return false;
        };
        let others = if self.others_on { 0xFF } else { 0 };
        let knows =
            |equipment: u8| self.items.get(usize::from(equipment)).is_some_and(|items| *items > 0);
        // Status 1 of a log request: there is no such equipment.
        let unknown = |operation| Answer::LogRefused { operation, status: 1 };
        match parsed {
            Request::Version => {
                Answer::Version { compiled_on: b"Jan 01 2026", compiled_at: b"00:00:00" }
            }
            Request::BuildId => Answer::BuildId(&self.build),
            Request::Protocol => Answer::Protocol(2),
            Request::LogDisable => {
                self.masks.iter_mut().for_each(|mask| mask.fill(0));
                Answer::LogDisabled
            }
            Request::LogRanges => Answer::LogRanges(self.items),
            Request::LogMaskOf(_) if self.hides_masks => {
                // Some phones answer with this byte alone.
                Answer::Refused { refusal: Refusal::Mode, command: None }.emit(out);
                return false;
            }
            Request::LogMaskOf(equipment) if knows(equipment) => {
                Answer::LogMaskOf(self.mask(equipment))
            }
            Request::LogMaskOf(_) => unknown(4),
            Request::LogMask(mask) if knows(mask.equipment) => {
                let ours = &mut self.masks[usize::from(mask.equipment)];
                ours.fill(0);
                // Codes beyond the last one cannot be switched on.
                let len = ours.len().min(mask.bits.len());
                ours[..len].copy_from_slice(&mask.bits[..len]);
                Answer::LogMask(mask)
            }
            Request::LogMask(_) => unknown(3),
            Request::MessageRanges => Answer::MessageRanges(&MESSAGES),
            Request::MessageMaskOf(asked) => {
                let known = message_ranges(&MESSAGES).find(|range| range.first == asked.first);
                let range = known.unwrap_or(MessageRange { first: 0, last: 0 });
                let masks = vec![others; 4 * range.count()];
                Answer::MessageMaskOf(range, &masks).emit(out);
                return true;
            }
            Request::EventMask => {
                Answer::EventMask(&[others; EVENTS]).emit(out);
                return true;
            }
        }
        .emit(out);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(answers: &mut Answers, request: Request<'_>) -> Vec<u8> {
        let (mut payload, mut out) = (Vec::new(), Vec::new());
        request.emit(&mut payload);
        answers.answer(&payload, &mut out);
        out
    }

    #[test]
    fn a_mask_that_was_set_is_the_mask_that_is_read() {
        let code = LogCode::new(0xB139);
        let mut answers = Answers::new("test");
        assert!(!answers.is_on(code));
        let bits = LogMask::bits_of(0xB, 4096, &[code]);
        let mask = LogMask { equipment: 0xB, items: 4096, bits: &bits };
        ask(&mut answers, Request::LogMask(mask));
        assert!(answers.is_on(code) && !answers.is_on(LogCode::new(0xB13A)));
        let read = ask(&mut answers, Request::LogMaskOf(0xB));
        assert_eq!(Answer::parse(read[0], &read[1..]), Some(Answer::LogMaskOf(mask)));
        ask(&mut answers, Request::LogDisable);
        assert!(!answers.is_on(code));
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let mut answers = Answers::new("test");
        let refused = ask(&mut answers, Request::LogMaskOf(2));
        let expected = Answer::LogRefused { operation: 4, status: 1 };
        assert_eq!(Answer::parse(refused[0], &refused[1..]), Some(expected));
        let mut out = Vec::new();
        answers.answer(&[0x29, 1, 0], &mut out);
        assert_eq!(out, [0x13, 0x29, 1, 0]);
    }

    #[test]
    fn a_longer_mask_than_there_are_codes_does_no_harm() {
        let mut answers = Answers::new("test");
        let bits = vec![0xFF; 1250];
        let mask = LogMask { equipment: 0xB, items: 10_000, bits: &bits };
        ask(&mut answers, Request::LogMask(mask));
        assert!(answers.is_on(LogCode::new(0xBFFF)));
    }
}
