use super::*;
use std::vec;

fn at(ms: u64) -> ModemInstant {
    ModemInstant::from_nanos(1_000_000_000_000 + ms * 1_000_000)
}

fn data(direction: Direction, ms: u64, sn: u32) -> RlcPdu {
    RlcPdu {
        at: at(ms),
        direction,
        nr: false,
        bearer: Some(3),
        sn,
        sn_bits: 10,
        part: RlcPart::Whole,
        is_asked: false,
    }
}

fn up(ms: u64, sn: u32) -> RlcPdu {
    data(Direction::Uplink, ms, sn)
}

fn down(ms: u64, sn: u32) -> RlcPdu {
    data(Direction::Downlink, ms, sn)
}

fn asked(pdu: RlcPdu) -> RlcPdu {
    RlcPdu { is_asked: true, ..pdu }
}

fn part(pdu: RlcPdu, from: u32, to: Option<u32>) -> RlcPdu {
    RlcPdu { part: RlcPart::Bytes { from, to }, ..pdu }
}

/// Begins and ends of the events, in milliseconds; those of the downlink without delivery.
fn events(pdus: &[RlcPdu]) -> Vec<(u64, u64)> {
    let mut rlc = Rlc::default();
    pdus.iter().for_each(|pdu| rlc.handle_pdu(pdu));
    let events = core::iter::from_fn(|| rlc.poll());
    events
        .map(|(direction, event)| {
            let is_down = direction == Direction::Downlink;
            let later = if is_down { delivery(false) } else { Duration::ZERO };
            let ms = |of: ModemInstant| (of.saturating_before(later) - at(0)).as_millis() as u64;
            assert_eq!(event.amount, event.to - event.from);
            (ms(event.from), ms(event.to))
        })
        .collect()
}

#[test]
fn a_requested_number_that_comes_again_is_an_event_and_a_late_one_is_not() {
    let sent = [up(0, 1022), up(1, 1023), up(2, 0), asked(up(60, 1023)), up(70, 1023)];
    assert_eq!(events(&sent), [(1, 70)]);
    // 1024 numbers later it is another PDU.
    let mut sent: Vec<RlcPdu> = (0..1_100).map(|ms| up(ms, ms as u32 % 1_024)).collect();
    sent.push(asked(up(1_101, 1_023)));
    assert_eq!(events(&sent), []);
}

#[test]
fn a_copy_that_crossed_a_status_is_none() {
    let sent = [up(0, 4), asked(up(50, 4)), up(60, 4), up(90, 4), asked(up(95, 4)), up(110, 4)];
    // The one at 90 was not asked for after that at 60.
    assert_eq!(events(&sent), [(0, 60), (0, 110)]);
    assert_eq!(events(&[up(0, 4), up(60, 4)]), []);
}

#[test]
fn a_gap_that_a_status_asks_for_is_an_event_and_one_that_harq_fills_is_not() {
    let received =
        [down(0, 4), down(2, 7), down(10, 5), asked(down(40, 6)), down(80, 6), down(81, 8)];
    assert_eq!(events(&received), [(2, 80)]);
}

#[test]
fn a_status_may_be_read_before_or_after_the_repeat() {
    let received = [down(0, 4), down(2, 6), down(80, 5), asked(down(40, 5))];
    assert_eq!(events(&received), [(2, 80)]);
    let other = asked(RlcPdu { bearer: Some(4), ..down(40, 5) });
    assert_eq!(events(&[down(0, 4), down(2, 6), down(80, 5), other]), []);
    let unnamed = asked(RlcPdu { bearer: None, ..down(40, 5) });
    assert_eq!(events(&[down(0, 4), down(2, 6), down(80, 5), unnamed]), [(2, 80)]);
}

#[test]
fn a_pdu_in_parts_ends_its_event_with_the_last_of_them() {
    let received = [
        down(0, 4),
        down(2, 6),
        asked(down(40, 5)),
        part(down(80, 5), 500, None),
        part(down(82, 5), 0, Some(300)),
        part(down(85, 5), 300, Some(500)),
    ];
    assert_eq!(events(&received), [(2, 85)]);
    let sent =
        [up(0, 4), asked(up(40, 4)), part(up(50, 4), 0, Some(300)), part(up(53, 4), 300, None)];
    assert_eq!(events(&sent), [(0, 50), (0, 53)]);
    let [first, asked, parts @ ..] = sent;
    let late: Vec<RlcPdu> = [first].into_iter().chain(parts).chain([asked]).collect();
    assert_eq!(events(&late), [(0, 50), (0, 53)]);
}

#[test]
fn numbers_that_begin_anew_are_those_of_another_rlc() {
    let before = (0..400).map(|ms| down(ms, 100 + ms as u32));
    // For two seconds they may be late ones.
    let after = (0..2_100).map(|number| down(500 + number, number as u32 % 90));
    let gap = [down(2_700, 90), down(2_702, 92), asked(down(2_740, 91)), down(2_790, 91)];
    let received: Vec<RlcPdu> = before.chain(after).chain(gap).collect();
    assert_eq!(events(&received), [(2_702, 2_790)]);
}

#[test]
fn what_is_kept_is_bounded() {
    let mut rlc = Rlc::default();
    for number in 0..10_000_u64 {
        let pdu = RlcPdu {
            nr: true,
            sn_bits: 18,
            bearer: Some((number % 100) as u8),
            ..down(number / 100, (number * 3 % (1 << 18)) as u32)
        };
        rlc.handle_pdu(&pdu);
        rlc.handle_pdu(&asked(RlcPdu { sn: pdu.sn + 1, ..pdu }));
        rlc.handle_pdu(&part(pdu, number as u32 % 5_000 * 10, Some(7)));
    }
    let places: usize = rlc.bearers.iter().map(|bearer| bearer.places.len()).sum();
    assert!(rlc.bearers.len() <= BEARERS && places <= BEARERS * NUMBERS);
    assert!(rlc.asked.len() <= KEPT && rlc.again.len() <= KEPT && rlc.ready.len() <= KEPT);
}

#[test]
fn ranges_that_meet_are_one() {
    let mut parts = Parts::default();
    for (from, to) in [(10, Some(20)), (30, None), (20, Some(25)), (0, Some(10))] {
        parts.handle(RlcPart::Bytes { from, to });
        assert!(!parts.are_all());
    }
    parts.handle(RlcPart::Bytes { from: 25, to: Some(30) });
    assert!(parts.are_all());
    assert_eq!(parts.ranges, vec![(0, 31)]);
}
