//! A mask that the modem does not tell.

use std::string::ToString;

use super::*;

/// Ways not to tell a mask: the error alone, the error with its request, a status, an answer cut
/// short, and silence.
const WAYS: [&[u8]; 5] = [
    &[0x18],
    &[0x18, 0x73, 0, 0, 0, 4],
    &[0x73, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0],
    &[0x73, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0xB, 0, 0, 0, 0, 4, 0, 0, 1],
    &[],
];

fn hiding(way: &'static [u8]) -> Modem {
    let mut modem = Modem { hides: Some(way), ..Modem::new() };
    modem.masks.values_mut().for_each(|mask| mask.fill(0xFF));
    modem
}

#[test]
fn it_is_never_written_however_the_modem_hides_it() {
    for way in WAYS {
        let mut modem = hiding(way);
        let before = modem.masks.clone();
        let mut session = Session::new(wanted(&[PUSCH, WCDMA]));
        let events = talk(&mut session, &mut modem, 0, 3000);
        assert_eq!(events.last(), Some(&ready(0, &[], &[4, 0xB])), "{way:?}");
        assert!(session.is_logging(), "what comes is read");
        // Nor by the budget.
        flood(&mut session, 4500, &[(PUSCH, 5), (WCDMA, 90)]);
        let events = talk(&mut session, &mut modem, 5500, 100);
        assert!(matches!(&events[..], [Event::OverBudget { off, .. }] if off.is_empty()));
        session.handle_end(at(6000));
        assert_eq!(
            talk(&mut session, &mut modem, 6000, 3000),
            [],
            "nothing is back that was not set"
        );
        assert!(session.is_over());
        assert_eq!(modem.masks, before);
        assert!(!modem.asked.iter().any(|asked| asked.starts_with(&SET)), "{way:?}");
    }
}

#[test]
fn it_is_set_on_demand_and_the_end_says_what_stays() {
    for way in WAYS {
        let mut modem = hiding(way);
        let mut session = Session::new(wanted(&[PUSCH, MAC]));
        session.set_untold();
        let events = talk(&mut session, &mut modem, 0, 3000);
        assert_eq!(events.last(), Some(&ready(2, &[], &[])), "{way:?}");
        assert!(modem.sends(PUSCH) && modem.sends(MAC) && modem.sends(WCDMA));
        assert!(session.note().is_empty(), "another session cannot restore it either");
        let set = modem.masks.clone();
        session.handle_end(at(3000));
        let events = talk(&mut session, &mut modem, 3000, 3000);
        assert_eq!(events, [Event::Stays { codes: vec![PUSCH, MAC] }]);
        assert_eq!(modem.masks, set);
    }
}

#[test]
fn other_masks_are_set_and_restored_beside_it() {
    let mut modem = Modem::new();
    modem.masks.insert(4, vec![0xA5; ITEMS as usize / 8]);
    let before = modem.masks.clone();
    let mut session = Session::new(wanted(&[PUSCH, WCDMA]));
    // The modem tells the first mask only.
    let mut events = Vec::new();
    for now in 0..3000 {
        let told = modem.asked.iter().any(|asked| asked.starts_with(&[0x73, 0, 0, 0, 4]));
        modem.hides = told.then_some(&[0x18][..]);
        events.extend(talk(&mut session, &mut modem, now, 1));
    }
    assert_eq!(events.last(), Some(&ready(1, &[], &[0xB])));
    assert!(modem.sends(WCDMA) && !modem.sends(PUSCH));
    session.handle_end(at(3000));
    assert_eq!(talk(&mut session, &mut modem, 3000, 100), [Event::Restored]);
    assert_eq!(modem.masks, before);
}

#[test]
fn it_stays_as_a_killed_session_left_it() {
    let mut modem = hiding(&[0x18]);
    let mut killed = Session::new(wanted(&[PUSCH]));
    killed.set_untold();
    talk(&mut killed, &mut modem, 0, 100);
    let (set, note) = (modem.masks.clone(), killed.note());
    assert_eq!(note.to_string(), "end\n");
    modem.hides = None;
    let mut next = Session::new(wanted(&[MAC]));
    next.recall(note);
    talk(&mut next, &mut modem, 100, 100);
    assert!(modem.sends(MAC) && !modem.sends(PUSCH));
    next.handle_end(at(200));
    talk(&mut next, &mut modem, 200, 100);
    assert_eq!(modem.masks, set);
}
