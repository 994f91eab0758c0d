use std::string::{String, ToString};

use sounding_kpi::{Change, Connection};
use sounding_phy::hspa;

use super::*;
use crate::CellRates;

/// Bits of a resource block at CQI 15 and CQI 7: 5.5547 and 1.4766 bits a resource element (TS
/// 36.213 Table 7.2.3-1).
const AT_15: f64 = 120.0 * 5.5547;
const AT_7: f64 = 120.0 * 1.4766;

/// The block as MAC reports it, so full or with room left.
fn filled(at: ModemInstant, bytes: u64, padding: u64) -> Kpi {
    let Kpi::Grant(grant) = block(at, 1, bytes) else { unreachable!("a block is a grant") };
    Kpi::Grant(Grant {
        layer: Layer::Mac,
        code: LogCode::new(0xB063),
        padding: Some(Bytes::new(padding)),
        decoded: None,
        allocation: None,
        ..grant
    })
}

fn changed(at: ModemInstant, change: Change) -> Kpi {
    Kpi::Connection(Connection { at, change })
}

fn serving(at: ModemInstant, cell: u16) -> Kpi {
    let Kpi::Signal(signal) = level(at, -90.0) else { unreachable!("a level is a signal") };
    Kpi::Signal(Signal { cell, ..signal })
}

impl Modem {
    fn is_about(&self, mbit: f64) {
        assert!((self.mbit() / mbit - 1.0).abs() < 0.02, "{} and not {mbit}", self.mbit());
    }
}

#[test]
fn a_cqi_stands_for_the_standards_rate_until_blocks_tell_otherwise() {
    let mut modem = Modem::new(Method::Cqi);
    modem.run(110, |_, at| [report(at, 15), block(at, 50, 2_500)].into());
    modem.is_about(AT_15 * 50e-3);
    modem.run(5_000, |_, at| [report(at, 15), block(at, 50, 2_500)].into());
    modem.is_about(20.0);
    assert_eq!(modem.estimator.estimate(modem.now()).source, Source::Cqi);
    // An update of one CQI does not change another.
    modem.run(200, |_, at| [report(at, 7), block(at, 50, 2_500)].into());
    modem.is_about(AT_7 * 50e-3);
}

#[test]
fn a_cqi_counts_for_the_share_of_the_carrier_that_is_served() {
    let mut modem = Modem::new(Method::Cqi);
    let half = |ms: u64, at| match ms % 2 {
        0 => [report(at, 15), block(at, 50, 4_166)].into(),
        _ => [report(at, 15)].into(),
    };
    modem.run(300, half);
    modem.is_about(AT_15 * 25e-3);
}

#[test]
fn two_blocks_of_one_subframe_share_their_resource_blocks() {
    let mut modem = Modem::new(Method::Cqi);
    modem.run(5_000, |_, at| [report(at, 15), block(at, 50, 1_250), block(at, 50, 1_250)].into());
    modem.is_about(20.0);
}

#[test]
fn without_a_report_a_cqi_has_no_rate_and_an_uplink_never_has_one() {
    let mut modem = Modem::new(Method::Cqi);
    modem.run(200, |_, at| [block(at, 50, 2_000)].into());
    let estimate = modem.estimator.estimate(modem.now());
    assert_eq!((estimate.source, estimate.state), (Source::None, State::Active));
    assert!(!estimate.is_usable());
    let mut modem = Modem::of(Config { method: Method::Cqi, ..Config::new(Direction::Uplink) });
    modem.run(200, |_, at| [report(at, 15)].into());
    assert_eq!(modem.estimator.estimate(modem.now()).source, Source::None);
}

#[test]
fn a_channel_that_is_reported_has_a_rate_before_anything_was_granted() {
    let mut modem = Modem::new(Method::Cqi);
    modem.run(20, |_, at| [report(at, 15)].into());
    let estimate = modem.estimator.estimate(modem.now());
    assert_eq!((estimate.source, estimate.state), (Source::Cqi, State::Idle));
    assert!(estimate.is_usable());
    modem.is_about(AT_15 * 50e-3);
    // Reports that ended a second ago say nothing of now.
    modem.run(1_010, |_, at| [level(at, -90.0)].into());
    assert!(!modem.estimator.estimate(modem.now()).is_usable());
}

#[test]
fn a_step_of_the_cqi_with_the_same_resource_blocks_is_followed_within_one_window() {
    let mut modem = Modem::new(Method::Cqi);
    let blocks = |cqi| move |_: u64, at| [report(at, cqi), block(at, 40, 2_000)].into();
    modem.run(110, blocks(15));
    modem.is_about(AT_15 * 40e-3);
    // The blocks stay the same: the channel alone moves it.
    modem.run(100, blocks(7));
    modem.is_about(AT_7 * 40e-3);
}

#[test]
fn the_share_is_that_of_the_time_in_which_data_waits() {
    let mut modem = Modem::new(Method::Cqi);
    // A queue, and every fourth subframe is this device's.
    let quarter = |ms: u64, at| match ms % 4 {
        0 => [report(at, 15), block(at, 50, 4_000), filled(at, 4_000, 0)].into(),
        _ => [report(at, 15)].into(),
    };
    modem.run(400, quarter);
    modem.is_about(AT_15 * 12.5e-3);
    // A little now and then, which nothing waits for: that says nothing of the share.
    let little = |ms: u64, at| match ms % 50 {
        0 => [report(at, 15), block(at, 3, 250), filled(at, 250, 50)].into(),
        _ => [report(at, 15)].into(),
    };
    modem.run(3_000, little);
    modem.is_about(AT_15 * 12.5e-3);
    modem.run(2_000, |_, at| [report(at, 15)].into());
    modem.is_about(AT_15 * 12.5e-3);
    assert_eq!(modem.estimator.estimate(modem.now()).state, State::Idle);
}

#[test]
fn a_share_whose_resource_blocks_are_not_known_yet_stays_what_it_was() {
    let mut modem = Modem::new(Method::Cqi);
    // MAC shows that data waits; PHY's records of the same blocks come much later.
    modem.run(100, |_, at| [report(at, 15), filled(at, 4_000, 0)].into());
    modem.is_about(AT_15 * 50e-3);
    // After a pause too, when there are some of before.
    modem.run(300, |_, at| [report(at, 15), block(at, 25, 2_083), filled(at, 2_083, 0)].into());
    modem.is_about(AT_15 * 25e-3);
    modem.run(1_200, |_, at| [report(at, 15)].into());
    modem.run(100, |_, at| [report(at, 15), filled(at, 4_000, 0)].into());
    modem.is_about(AT_15 * 25e-3);
}

#[test]
fn a_share_that_is_used_up_without_a_queue_grows_until_there_is_one() {
    let mut modem = Modem::new(Method::Cqi);
    let queue = |ms: u64, at| match ms % 20 {
        0 => [report(at, 15), block(at, 50, 4_000), filled(at, 4_000, 0)].into(),
        _ => [report(at, 15)].into(),
    };
    modem.run(400, queue);
    modem.is_about(AT_15 * 2.5e-3);
    // All that is sent at the estimate is served at once.
    let mut at_last = modem.mbit();
    for _ in 0..50 {
        let prb = (modem.mbit() / AT_15 * 1e3 * 10.0).round().min(500.0) as u16;
        modem.run(10, |ms, at| match ms % 10 {
            0 => [report(at, 15), block(at, prb, 1_000), filled(at, 1_000, 9)].into(),
            _ => [report(at, 15)].into(),
        });
        at_last = modem.mbit();
    }
    assert!(at_last > AT_15 * 47e-3, "{at_last}");
}

/// Blocks carry less than the standard's rate for five seconds.
fn learnt(modem: &mut Modem) {
    modem.run(5_000, |_, at| [report(at, 15), block(at, 50, 2_500)].into());
    modem.is_about(20.0);
}

/// Only the channel is reported.
fn reported(modem: &mut Modem) {
    modem.run(150, |_, at| [report(at, 15), block(at, 50, 2_500)].into());
}

#[test]
fn what_was_learnt_survives_a_handover_and_dies_with_the_connection() {
    let mut modem = Modem::new(Method::Cqi);
    learnt(&mut modem);
    modem.run(1, |_, at| [changed(at, Change::Handover)].into());
    reported(&mut modem);
    modem.is_about(20.0);
    modem.run(1, |_, at| [changed(at, Change::Ends)].into());
    assert_eq!(modem.estimator.estimate(modem.now()).source, Source::None);
    reported(&mut modem);
    modem.is_about(AT_15 * 50e-3);
}

#[test]
fn what_was_learnt_of_a_cell_is_kept_for_when_the_device_is_back() {
    let mut modem = Modem::new(Method::Cqi);
    modem.estimator.keep_rates([]);
    modem.run(1, |_, at| [serving(at, 7)].into());
    learnt(&mut modem);
    modem.run(1, |_, at| [changed(at, Change::Ends)].into());
    let lines: Vec<String> = modem.estimator.rates().map(|rates| rates.to_string()).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("lte 7 64qam 1/15="), "{lines:?}");
    // In memory, and from disk.
    let rates: CellRates = lines[0].parse().expect("a line of its own");
    let mut other = Modem::new(Method::Cqi);
    other.estimator.keep_rates([rates]);
    for mut modem in [modem, other] {
        modem.run(1, |_, at| [serving(at, 8)].into());
        reported(&mut modem);
        modem.is_about(AT_15 * 50e-3);
        modem.run(1, |_, at| [serving(at, 7)].into());
        reported(&mut modem);
        modem.is_about(20.0);
    }
}

#[test]
fn hspa_has_qualities_up_to_thirty() {
    let mut modem = Modem::new(Method::Cqi);
    let table = hspa::CqiTable::D;
    let interval = |cqi: u8| {
        move |ms: u64, at| {
            let channel = Channel {
                at,
                carrier: 0,
                cqi,
                second: None,
                rank: None,
                table: CqiTable::Hspa(table),
            };
            let bits = hspa::cqi(table, cqi).expect("a CQI").tbs_bits;
            let Kpi::Grant(grant) = block(at, 1, u64::from(bits / 8)) else { unreachable!() };
            let allocation = Allocation { prb: Prb::new(1), coding: Coding::Hspa, layers: None };
            let grant = Kpi::Grant(Grant { allocation: Some(allocation), ..grant });
            if ms.is_multiple_of(2) { [Kpi::Channel(channel), grant].into() } else { Vec::new() }
        }
    };
    for cqi in [20, 30, 16] {
        modem.run(400, interval(cqi));
        let bits = hspa::cqi(table, cqi).expect("a CQI").tbs_bits;
        modem.is_about(f64::from(bits) * 500e-6);
    }
}
