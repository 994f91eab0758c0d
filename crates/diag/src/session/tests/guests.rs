//! Codes of readers beside the session.

use super::*;

const GUEST: LogCode = LogCode::new(0xB0C0);

fn guest_session() -> (Session, Modem) {
    let mut session = Session::new(wanted(&[PUSCH]));
    let mut modem = Modem::new();
    talk(&mut session, &mut modem, 0, 100);
    assert!(session.is_logging() && modem.sends(PUSCH) && !modem.sends(GUEST));
    (session, modem)
}

#[test]
fn a_guests_codes_are_on_while_it_stays_and_no_longer() {
    let (mut session, mut modem) = guest_session();
    let before = modem.masks.clone();
    session.handle_guests(&[GUEST, WCDMA, PUSCH]);
    talk(&mut session, &mut modem, 100, 100);
    assert!([PUSCH, GUEST, WCDMA].into_iter().all(|code| modem.sends(code)));
    assert_eq!(session.lack(GUEST), Some(None));
    session.handle_guests(&[]);
    talk(&mut session, &mut modem, 200, 100);
    assert_eq!(modem.masks, before);
}

#[test]
fn a_guest_that_comes_before_the_modem_answers_is_served_with_it() {
    let mut session = Session::new(wanted(&[PUSCH]));
    let mut modem = Modem::new();
    session.handle_guests(&[MAC]);
    assert_eq!(session.lack(MAC), None, "it is not known yet");
    talk(&mut session, &mut modem, 0, 100);
    assert!(modem.sends(PUSCH) && modem.sends(MAC));
    // So it is after a modem that restarted.
    modem.masks = Modem::new().masks;
    session.handle_reconnect();
    talk(&mut session, &mut modem, 200, 100);
    assert!(modem.sends(PUSCH) && modem.sends(MAC));
}

#[test]
fn what_a_guest_cannot_have_has_its_reason() {
    let (mut session, mut modem) = guest_session();
    const NOWHERE: LogCode = LogCode::new(0xBFFF);
    session.handle_guests(&[NOWHERE]);
    talk(&mut session, &mut modem, 100, 100);
    assert_eq!(session.lack(NOWHERE), Some(Some(Lack::Unknown)));
    let mut mute = Session::new(wanted(&[PUSCH]));
    talk(&mut mute, &mut Modem { mute: true, ..Modem::new() }, 0, 1_000);
    assert_eq!(mute.lack(PUSCH), Some(Some(Lack::Kept)));
}

fn budgeted(codes: &[LogCode]) -> (Session, Modem) {
    let wanted = Wanted { codes: codes.to_vec(), budget_bytes_per_sec: Some(10_000) };
    let (mut session, mut modem) = (Session::new(wanted), Modem::new());
    talk(&mut session, &mut modem, 0, 100);
    (session, modem)
}

#[test]
fn over_budget_guests_go_first_and_the_sessions_own_stay() {
    let (mut session, mut modem) = budgeted(&[PUSCH, MAC]);
    session.handle_guests(&[GUEST, WCDMA]);
    talk(&mut session, &mut modem, 100, 100);
    flood(&mut session, 1_200, &[(PUSCH, 30), (MAC, 30), (GUEST, 30), (WCDMA, 90)]);
    talk(&mut session, &mut modem, 2_200, 100);
    assert!(modem.sends(PUSCH) && modem.sends(MAC) && modem.sends(GUEST) && !modem.sends(WCDMA));
    assert_eq!(session.lack(WCDMA), Some(Some(Lack::Budget)));
    // One that comes later does not bring the code back, and the last that leaves takes it along.
    session.handle_guests(&[WCDMA, GUEST]);
    talk(&mut session, &mut modem, 2_400, 100);
    assert!(!modem.sends(WCDMA));
    session.handle_guests(&[]);
    assert_eq!(session.switched_off(), []);
}

#[test]
fn a_guest_that_floods_and_leaves_costs_the_session_nothing() {
    let (mut session, mut modem) = budgeted(&[PUSCH, MAC]);
    session.handle_guests(&[GUEST]);
    talk(&mut session, &mut modem, 100, 100);
    flood(&mut session, 1_200, &[(PUSCH, 30), (MAC, 30), (GUEST, 500)]);
    session.handle_guests(&[]);
    let said = talk(&mut session, &mut modem, 2_200, 100);
    assert!(modem.sends(PUSCH) && modem.sends(MAC) && !modem.sends(GUEST));
    assert_eq!(said, [], "it is within its budget");
}

#[test]
fn a_guest_of_a_session_without_codes_is_within_the_budget_too() {
    let (mut session, mut modem) = budgeted(&[]);
    session.handle_guests(&[GUEST]);
    talk(&mut session, &mut modem, 100, 100);
    flood(&mut session, 1_200, &[(GUEST, 500)]);
    talk(&mut session, &mut modem, 2_200, 100);
    assert!(!modem.sends(GUEST));
}

#[test]
fn a_code_that_the_session_wants_later_is_its_own() {
    let (mut session, mut modem) = guest_session();
    session.handle_guests(&[MAC]);
    session.handle_wanted(wanted(&[PUSCH, MAC]));
    session.handle_guests(&[]);
    talk(&mut session, &mut modem, 100, 100);
    assert!(modem.sends(PUSCH) && modem.sends(MAC));
    session.handle_end(at(300));
    talk(&mut session, &mut modem, 300, 100);
    assert!(!modem.sends(PUSCH) && !modem.sends(MAC));
}

#[test]
fn guests_that_come_and_go_before_an_answer_leave_no_requests_behind() {
    let (mut session, mut modem) = guest_session();
    let before = modem.masks.clone();
    modem.mute = true;
    for turn in 0..1_000 {
        session.handle_guests(if turn % 2 == 0 { &[GUEST, WCDMA] } else { &[] });
        talk(&mut session, &mut modem, 100 + turn, 1);
    }
    assert!(session.steps.len() <= 2, "{:?}", session.steps);
    modem.mute = false;
    talk(&mut session, &mut modem, 1_100, 2_000);
    assert_eq!(modem.masks, before);
    session.handle_end(at(3_200));
    talk(&mut session, &mut modem, 3_200, 100);
    assert!(session.is_over() && !modem.sends(PUSCH));
}
