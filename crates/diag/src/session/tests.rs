mod guests;
mod put_back;
mod untold;

use super::*;
use alloc::collections::BTreeMap;
use alloc::vec;
use std::string::ToString;

use crate::command::{EQUIPMENTS, LogMask, Refusal, Request};

const PUSCH: LogCode = LogCode::new(0xB139);
const MAC: LogCode = LogCode::new(0xB064);
const WCDMA: LogCode = LogCode::new(0x4005);

/// A modem with two equipments that remembers its masks, and answers no, some or all requests.
struct Modem {
    masks: BTreeMap<u8, Vec<u8>>,
    mute: bool,
    refuses: Vec<u8>,
    /// The payload of the answer to a request for a log mask, if it is not the mask; an empty one
    /// is no answer.
    hides: Option<&'static [u8]>,
    /// Sends requests back.
    echoes: bool,
    asked: Vec<Vec<u8>>,
}

const ITEMS: u32 = 0x400;

impl Modem {
    fn new() -> Self {
        let empty = vec![0; ITEMS as usize / 8];
        let masks = [(4, empty.clone()), (0xB, empty)].into();
        Self {
            masks,
            mute: false,
            refuses: Vec::new(),
            hides: None,
            echoes: false,
            asked: Vec::new(),
        }
    }

    fn answer(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        self.asked.push(payload.to_vec());
        if self.mute {
            return None;
        }
        if self.echoes {
            return Some(payload.to_vec());
        }
        let mut out = Vec::new();
        let request = Request::parse(payload).expect("the session sends what can be read");
        if self.refuses.contains(&payload[0]) {
            let refusal = Refusal::Command;
            Answer::Refused { refusal, command: Some(payload[0]) }.emit(&mut out);
            return Some(out);
        }
        if let (Request::LogMaskOf(_), Some(instead)) = (request, self.hides) {
            return (!instead.is_empty()).then(|| instead.to_vec());
        }
        match request {
            Request::Version => {
                Answer::Version { compiled_on: b"Apr  2 2015", compiled_at: b"21:45:40" }
            }
            Request::BuildId => Answer::BuildId(b"MPSS.DI.2.0.1"),
            Request::Protocol => Answer::Protocol(1),
            Request::LogRanges => {
                let mut ranges = [0; EQUIPMENTS];
                ranges[4] = ITEMS;
                ranges[0xB] = ITEMS;
                Answer::LogRanges(ranges)
            }
            Request::LogMaskOf(equipment) => Answer::LogMaskOf(LogMask {
                equipment,
                items: ITEMS,
                bits: &self.masks[&equipment],
            }),
            Request::LogMask(mask) => {
                self.masks.insert(mask.equipment, mask.bits.to_vec());
                Answer::LogMask(mask)
            }
            Request::MessageRanges => Answer::MessageRanges(&[0, 0, 1, 0]),
            Request::MessageMaskOf(range) => {
                Answer::MessageMaskOf(range, &[0, 0, 0, 0, 1, 0, 0, 0])
            }
            Request::EventMask => Answer::EventMask(&[0b11]),
            Request::LogDisable => Answer::LogDisabled,
        }
        .emit(&mut out);
        Some(out)
    }

    fn sends(&self, code: LogCode) -> bool {
        let (equipment, items) = (code.equipment(), ITEMS);
        LogMask { equipment, items, bits: &self.masks[&equipment] }.contains(code)
    }
}

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

fn wanted(codes: &[LogCode]) -> Wanted {
    Wanted { codes: codes.to_vec(), budget_bytes_per_sec: Some(1000) }
}

/// Lets both talk for a while, a request each millisecond at most; what happened.
fn talk(session: &mut Session, modem: &mut Modem, from: u64, ms: u64) -> Vec<Event> {
    let mut events = Vec::new();
    for now in (from..from + ms).map(at) {
        let mut payload = Vec::new();
        if session.poll_request(now, &mut payload)
            && let Some(answer) = modem.answer(&payload)
        {
            session.handle_other(now, answer[0], &answer[1..]);
        }
        events.extend(core::iter::from_fn(|| session.poll_event()));
    }
    events
}

/// The beginning of a request that sets a log mask.
const SET: [u8; 5] = [0x73, 0, 0, 0, 3];

fn ready(codes: usize, missing: &[LogCode], kept: &[u8]) -> Event {
    let (missing, kept) = (missing.to_vec(), kept.to_vec());
    Event::Ready { codes, missing, kept, events: 2, messages: 1 }
}

fn identity() -> Identity {
    Identity {
        compiled: Some("Apr  2 2015 21:45:40".into()),
        build: Some("MPSS.DI.2.0.1".into()),
        protocol: Some(1),
    }
}

#[test]
fn a_modem_is_identified_and_gets_the_requested_mask_and_no_more() {
    let mut modem = Modem::new();
    modem.masks.insert(4, vec![0xFF; ITEMS as usize / 8]);
    let mut session = Session::new(wanted(&[PUSCH, MAC, PUSCH]));
    let events = talk(&mut session, &mut modem, 0, 100);
    let ready = ready(2, &[], &[]);
    assert_eq!(events, [Event::Answers(identity()), ready]);
    assert!(session.is_logging());
    assert!(modem.sends(PUSCH) && modem.sends(MAC));
    assert!(!modem.sends(WCDMA), "what another program had on is off meanwhile");
}

#[test]
fn a_mask_that_is_right_already_is_not_set() {
    let mut modem = Modem::new();
    modem.masks.insert(0xB, LogMask::bits_of(0xB, ITEMS, &[PUSCH]));
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, &mut modem, 0, 100);
    assert!(!modem.asked.iter().any(|asked| asked.starts_with(&SET)));
}

#[test]
fn a_port_without_answers_is_read_unchanged_within_a_second() {
    let mut modem = Modem { mute: true, ..Modem::new() };
    let mut session = Session::new(wanted(&[PUSCH]));
    assert_eq!(talk(&mut session, &mut modem, 0, 1000), [Event::Mute]);
    assert_eq!(
        modem.asked,
        vec![vec![0]; TRIES as usize],
        "it is asked three times, then left alone"
    );
    session.handle_end(at(1000));
    assert!(session.is_over(), "there is nothing to put back");
}

#[test]
fn a_modem_that_comes_up_late_is_greeted_after_all() {
    let mut modem = Modem { mute: true, ..Modem::new() };
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, &mut modem, 0, 1000);
    modem.mute = false;
    let late = modem.answer(&[0]).expect("it answers now");
    session.handle_other(at(1000), late[0], &late[1..]);
    talk(&mut session, &mut modem, 1000, 100);
    assert!(session.is_logging() && modem.sends(PUSCH));
}

#[test]
fn refusals_are_reported_and_the_rest_goes_on() {
    let mut modem = Modem::new();
    modem.refuses = vec![0x1C, 0x7D, 0x81];
    let mut session = Session::new(wanted(&[PUSCH]));
    let events = talk(&mut session, &mut modem, 0, 100);
    let refused = |step| Event::Refused { step, why: Reason::Error(Refusal::Command) };
    assert_eq!(events[0], refused(Step::Protocol));
    assert_eq!(events[1], Event::Answers(Identity { protocol: None, ..identity() }));
    assert_eq!(events[2..4], [refused(Step::ReadEventMask), refused(Step::MessageRanges)]);
    assert!(matches!(events[4], Event::Ready { codes: 1, .. }));
    assert_eq!(Reason::Error(Refusal::Command).to_string(), "the modem does not know the command");
    assert!(modem.sends(PUSCH));
}

#[test]
fn a_modem_without_log_configuration_is_left_alone_and_reported() {
    let mut modem = Modem::new();
    modem.refuses = vec![0x73];
    let mut session = Session::new(wanted(&[PUSCH]));
    let events = talk(&mut session, &mut modem, 0, 100);
    let why = Reason::Error(Refusal::Command);
    for step in [Step::LogRanges, Step::ReadLogMask(0xB)] {
        assert!(events.contains(&Event::Refused { step, why }), "{step}");
    }
    assert_eq!(events.last(), Some(&ready(0, &[], &[0xB])));
    assert!(!modem.asked.iter().any(|asked| asked.starts_with(&SET)), "no mask is set");
}

#[test]
fn a_code_that_the_modem_has_no_room_for_is_named() {
    let mut modem = Modem::new();
    let nr = LogCode::new(0xB883);
    let mut session = Session::new(wanted(&[PUSCH, nr]));
    let events = talk(&mut session, &mut modem, 0, 100);
    let ready = ready(1, &[nr], &[]);
    assert_eq!(events.last(), Some(&ready));
}

#[test]
fn a_lost_answer_is_asked_for_again() {
    let mut modem = Modem::new();
    let mut session = Session::new(wanted(&[PUSCH]));
    let mut lost = Vec::new();
    assert!(session.poll_request(at(0), &mut lost));
    let events = talk(&mut session, &mut modem, 1, 400);
    assert!(matches!(events.last(), Some(Event::Ready { .. })), "{events:?}");
}

/// A second of records, most of them of the code that matters least.
fn flood(session: &mut Session, from: u64, codes: &[(LogCode, usize)]) {
    for ms in (from..from + 1000).step_by(10) {
        for &(code, len) in codes {
            session.handle_log(at(ms), code, len);
        }
    }
}

#[test]
fn over_budget_the_least_important_code_is_switched_off_and_the_mask_says_so() {
    let mut modem = Modem::new();
    let mut session = Session::new(wanted(&[PUSCH, MAC, WCDMA]));
    talk(&mut session, &mut modem, 0, 100);
    // Buffered records arrive first and do not count.
    flood(&mut session, 0, &[(PUSCH, 1000)]);
    flood(&mut session, 1200, &[(PUSCH, 5), (MAC, 4), (WCDMA, 20)]);
    let events = talk(&mut session, &mut modem, 2200, 100);
    let [Event::OverBudget { off, budget_bytes_per_sec: 1000, .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(off, &[WCDMA]);
    assert_eq!(session.switched_off(), [WCDMA]);
    assert!(modem.sends(PUSCH) && modem.sends(MAC) && !modem.sends(WCDMA));
}

#[test]
fn messages_that_somebody_else_switched_on_are_blamed_for_themselves() {
    let mut modem = Modem::new();
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, &mut modem, 0, 100);
    for ms in (1200..2300).step_by(10) {
        session.handle_other(at(ms), 0x79, &[0; 99]);
    }
    let events = talk(&mut session, &mut modem, 2300, 10);
    let [Event::OverBudget { off, others_per_sec, .. }] = &events[..] else { panic!("{events:?}") };
    assert!(off.is_empty() && *others_per_sec > 1000);
}

#[test]
fn what_others_ask_and_are_answered_is_none_of_our_business() {
    let mut session = Session::new(wanted(&[PUSCH]));
    let mut payload = Vec::new();
    session.poll_request(at(0), &mut payload);
    session.handle_other(at(1), 0x1C, &[1, 0]);
    session.handle_other(at(1), 0x13, &[0x7D, 5]);
    session.handle_other(at(1), 0x7D, &[1]);
    assert_eq!(session.poll_event(), None);
    assert!(!session.poll_request(at(2), &mut payload), "the first request still waits");
}

#[test]
fn a_port_that_sends_requests_back_is_named_and_set_nothing() {
    let mut modem = Modem { echoes: true, ..Modem::new() };
    let mut session = Session::new(wanted(&[PUSCH]));
    assert_eq!(talk(&mut session, &mut modem, 0, 1000), [Event::Echoes]);
    assert_eq!(modem.asked, vec![vec![0]; TRIES as usize]);
    // A port that was taken for a modem's at first is no better: nothing that comes back is an
    // answer.
    modem.echoes = false;
    session.handle_reconnect();
    talk(&mut session, &mut modem, 1000, 3);
    modem.echoes = true;
    let events = talk(&mut session, &mut modem, 1003, 5000);
    assert!(events.contains(&Event::Unanswered(Step::ReadLogMask(0xB))), "{events:?}");
    assert_eq!(
        events.last(),
        Some(&Event::Ready { codes: 0, missing: vec![], kept: vec![0xB], events: 0, messages: 0 })
    );
}
