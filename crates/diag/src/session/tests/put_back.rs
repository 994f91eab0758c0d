//! Masks go back, however a session or the modem ends.

use std::string::ToString;

use super::*;

#[test]
fn the_end_puts_back_what_was_found() {
    let mut modem = Modem::new();
    modem.masks.insert(4, vec![0xA5; ITEMS as usize / 8]);
    let before = modem.masks.clone();
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, &mut modem, 0, 100);
    assert_ne!(modem.masks, before);
    session.handle_end(at(100));
    assert_eq!(talk(&mut session, &mut modem, 100, 100), [Event::Restored]);
    assert!(session.is_over());
    assert_eq!(modem.masks, before);
}

#[test]
fn a_port_that_returns_is_asked_anew_and_what_was_found_first_is_put_back() {
    let mut modem = Modem::new();
    modem.masks.insert(0xB, vec![0x11; ITEMS as usize / 8]);
    let before = modem.masks.clone();
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, &mut modem, 0, 100);
    // The cable was unplugged; the modem did not restart.
    session.handle_reconnect();
    assert!(!session.is_logging());
    talk(&mut session, &mut modem, 200, 100);
    assert!(session.is_logging());
    session.handle_end(at(300));
    talk(&mut session, &mut modem, 300, 100);
    assert_eq!(modem.masks, before);
}

#[test]
fn a_modem_that_restarted_is_put_back_to_what_it_restarted_with() {
    let mut modem = Modem::new();
    modem.masks.insert(0xB, vec![0x11; ITEMS as usize / 8]);
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, &mut modem, 0, 100);
    modem = Modem::new();
    let before = modem.masks.clone();
    session.handle_reconnect();
    talk(&mut session, &mut modem, 200, 100);
    assert!(modem.sends(PUSCH));
    session.handle_end(at(300));
    talk(&mut session, &mut modem, 300, 100);
    assert_eq!(modem.masks, before);
}

#[test]
fn an_end_without_answers_ends_all_the_same() {
    let mut modem = Modem::new();
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, &mut modem, 0, 100);
    modem.mute = true;
    session.handle_end(at(100));
    let events = talk(&mut session, &mut modem, 100, 1000);
    assert_eq!(
        events,
        [Event::Unanswered(Step::SetLogMask(0xB))],
        "and nothing says that it is back"
    );
    assert!(session.is_over());
}

/// A session that is killed once it logs: its note, as the text that outlives it.
fn killed(modem: &mut Modem, from: u64) -> Note {
    let mut session = Session::new(wanted(&[PUSCH]));
    talk(&mut session, modem, from, 100);
    assert!(session.is_logging());
    session.note().to_string().parse().expect("a note is read again")
}

#[test]
fn after_a_session_that_was_killed_the_next_puts_back_what_that_one_had_found() {
    let mut modem = Modem::new();
    modem.masks.insert(4, vec![0xA5; ITEMS as usize / 8]);
    let before = modem.masks.clone();
    let mut note = Note::default();
    // However often.
    for from in [0, 200] {
        note = killed(&mut modem, from);
        assert_ne!(modem.masks, before);
        let mut session = Session::new(wanted(&[MAC]));
        session.recall(note.clone());
        assert_eq!(session.note(), note, "until the modem has said what it sends");
        let events = talk(&mut session, &mut modem, from + 100, 100);
        assert_eq!(events.iter().filter(|event| **event == Event::Recalled).count(), 1);
        assert!(modem.sends(MAC) && !modem.sends(PUSCH) && !modem.sends(WCDMA));
        session.handle_end(at(from + 200));
        assert_eq!(talk(&mut session, &mut modem, from + 200, 100), [Event::Restored]);
        assert_eq!(modem.masks, before);
    }
    // Nothing of it is left: a mask that is set from now on is the one found.
    modem.masks.insert(0xB, vec![0x3C; ITEMS as usize / 8]);
    let before = modem.masks.clone();
    let mut session = Session::new(wanted(&[MAC]));
    session.recall(note);
    let events = talk(&mut session, &mut modem, 500, 100);
    assert!(!events.contains(&Event::Recalled), "these are not the masks of that session");
    session.handle_end(at(600));
    talk(&mut session, &mut modem, 600, 100);
    assert_eq!(modem.masks, before);
}

#[test]
fn a_second_kill_loses_nothing_of_what_the_first_had_found() {
    let mut modem = Modem::new();
    modem.masks.insert(0xB, vec![0x11; ITEMS as usize / 8]);
    let before = modem.masks.clone();
    let note = killed(&mut modem, 0);
    let mut second = Session::new(wanted(&[MAC]));
    second.recall(note);
    talk(&mut second, &mut modem, 100, 100);
    let mut third = Session::new(wanted(&[PUSCH]));
    third.recall(second.note());
    talk(&mut third, &mut modem, 200, 100);
    third.handle_end(at(300));
    talk(&mut third, &mut modem, 300, 100);
    assert_eq!(modem.masks, before);
}

#[test]
fn a_session_that_ends_early_asks_for_the_old_mask_and_puts_it_back() {
    let mut modem = Modem::new();
    modem.masks.insert(0xB, vec![0x11; ITEMS as usize / 8]);
    let before = modem.masks.clone();
    let mut note = killed(&mut modem, 0);
    for asked in 1..20 {
        let mut session = Session::new(wanted(&[MAC]));
        session.recall(note);
        talk(&mut session, &mut modem, 100, asked);
        session.handle_end(at(200));
        let events = talk(&mut session, &mut modem, 200, 100);
        assert!(session.is_over());
        let is_back = modem.masks == before;
        assert_eq!(events.contains(&Event::Restored), is_back, "after {asked} requests");
        // Only a session that has not received even the first answer leaves it to the next.
        assert!(is_back || asked < 2, "after {asked} requests: {events:?}");
        assert_eq!(session.note().is_empty(), is_back);
        note = if is_back { killed(&mut modem, 300) } else { session.note() };
    }
}

#[test]
fn nothing_is_restored_on_a_port_without_answers() {
    let note = killed(&mut Modem::new(), 0);
    let mut modem = Modem { mute: true, ..Modem::new() };
    let mut session = Session::new(wanted(&[PUSCH]));
    session.recall(note);
    talk(&mut session, &mut modem, 0, 1000);
    session.handle_end(at(1000));
    assert!(session.is_over());
    assert_eq!(modem.asked.len(), TRIES as usize);
}
