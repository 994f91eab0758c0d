use super::*;
use sounding_diag::LogCode;
use sounding_kpi::{
    Allocation, Backlog, BufferStatus, Change, Channel, Coding, Connection, CqiTable, Signal,
};
use sounding_phy::lte::TbsIndex;
use sounding_units::Prb;

mod changes;

const MBIT: u64 = 1_000_000;

/// A modem that reports its uplink blocks every `report_ms`, one block per millisecond.
struct Modem {
    estimator: Estimator,
    ms: u64,
}

impl Modem {
    fn new(config: Config) -> Self {
        Self { estimator: Estimator::new(config), ms: 1_000_000 }
    }

    fn host(&self) -> HostInstant {
        HostInstant::from_nanos(self.ms * 1_000_000)
    }

    fn modem(&self) -> ModemInstant {
        ModemInstant::from_nanos(self.ms * 1_000_000 + 77)
    }

    fn records_without_grants(&mut self, ms: u64) {
        for _ in 0..ms / 10 {
            self.ms += 10;
            self.estimator.handle_record(self.host(), self.modem());
        }
    }

    fn grants(&mut self, ms: u64, report_ms: u64, grant: impl Fn(ModemInstant) -> Grant) {
        for _ in 0..ms / report_ms {
            self.ms += report_ms;
            let (host, end) = (self.host(), self.modem());
            self.estimator.handle_record(host, end);
            for back in (0..report_ms).rev() {
                let at = end.saturating_before(Duration::from_millis(back));
                self.estimator.handle_kpi(host, &Kpi::Grant(grant(at)));
            }
        }
    }

    fn estimate(&self) -> LinkEstimate {
        self.estimator.estimate(self.host())
    }
}

fn block(at: ModemInstant) -> Grant {
    Grant {
        at,
        direction: Direction::Uplink,
        carrier: 0,
        harq: None,
        ndi: None,
        layer: Layer::Mac,
        code: LogCode::new(0xB064),
        size: Bytes::new(1000),
        padding: Some(Bytes::ZERO),
        retransmission: false,
        decoded: None,
        allocation: None,
        report: None,
    }
}

fn uplink() -> Config {
    Config { ip_share_permille: 1000, ..Config::new(Direction::Uplink) }
}

#[test]
fn a_thousand_bytes_a_millisecond_are_eight_megabits() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 100, block);
    let estimate = modem.estimate();
    assert_eq!(estimate.rate, Rate::from_bits_per_sec(8 * MBIT));
    assert_eq!((estimate.state, estimate.bound), (State::Active, Bound::Capacity));
    assert_eq!(estimate.age, Duration::ZERO);
}

#[test]
fn the_radio_is_nr_once_lte_has_granted_nothing_for_a_second() {
    let nr = |at| Grant { code: LogCode::new(0xB888), ..block(at) };
    let mut modem = Modem::new(uplink());
    assert_eq!(modem.estimate().radio, None);
    modem.grants(100, 10, block);
    assert_eq!(modem.estimate().radio, Some(Radio::Lte));
    modem.grants(1_000, 10, nr);
    assert_eq!(modem.estimate().radio, Some(Radio::Lte));
    modem.grants(10, 10, nr);
    assert_eq!(modem.estimate().radio, Some(Radio::Nr));
}

#[test]
fn the_rate_holds_between_two_reports() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 100, block);
    modem.records_without_grants(90);
    assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(8 * MBIT));
}

#[test]
fn the_rate_falls_to_nothing_when_the_grants_stop() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    // The last of them took all there was.
    modem.grants(10, 10, |at| Grant { padding: Some(Bytes::new(400)), ..block(at) });
    modem.records_without_grants(60);
    assert!(modem.estimate().rate < Rate::from_bits_per_sec(5 * MBIT));
    modem.records_without_grants(200);
    let estimate = modem.estimate();
    assert_eq!((estimate.rate, estimate.state), (Rate::ZERO, State::Idle));
    assert!(!estimate.is_usable());
}

#[test]
fn waiting_data_without_grants_is_silence_not_idleness() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    modem.records_without_grants(300);
    let kpi = Kpi::Backlog(Backlog { at: modem.modem(), waiting: Bytes::new(5000) });
    let host = modem.host();
    modem.estimator.handle_kpi(host, &kpi);
    let estimate = modem.estimate();
    assert_eq!((estimate.state, estimate.bound), (State::Silent, Bound::Capacity));
    assert!(estimate.is_usable());
}

#[test]
fn a_silent_modem_is_stale_after_its_validity() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    modem.ms += 200;
    assert_eq!(modem.estimate().state, State::Active);
    modem.ms += 1;
    assert_eq!(modem.estimate().state, State::Stale);
    assert!(!modem.estimate().is_usable());
}

#[test]
fn padded_blocks_are_a_floor() {
    let mut modem = Modem::new(uplink());
    let padded = |at| Grant { padding: Some(Bytes::new(400)), ..block(at) };
    modem.grants(500, 100, padded);
    assert_eq!(modem.estimate().bound, Bound::Floor);
}

#[test]
fn a_report_of_data_outranks_the_padding_beside_it() {
    let reported = |bytes| {
        let report = Some(BufferStatus { least: Bytes::new(bytes), most: Bytes::new(bytes) });
        let mut modem = Modem::new(uplink());
        modem.grants(500, 10, |at| Grant { padding: Some(Bytes::new(40)), report, ..block(at) });
        modem.estimate().bound
    };
    assert_eq!(reported(60_000), Bound::Capacity);
    assert_eq!(reported(0), Bound::Floor);
}

#[test]
fn retransmissions_carry_nothing_new() {
    let mut modem = Modem::new(uplink());
    let every_other = |at: ModemInstant| Grant {
        retransmission: (at.as_nanos() / 1_000_000).is_multiple_of(2),
        ..block(at)
    };
    modem.grants(500, 100, every_other);
    assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(4 * MBIT));
}

#[test]
fn one_block_seen_on_two_layers_counts_once() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 100, block);
    modem.ms -= 500;
    modem.grants(500, 100, |at| Grant { layer: Layer::Phy, padding: None, ..block(at) });
    assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(8 * MBIT));
}

#[test]
fn the_formula_reads_blocks_and_index_not_the_stated_size() {
    let mut modem = Modem::new(Config { method: Method::Formula, ..uplink() });
    let coding = Coding::Lte(TbsIndex::new(9).expect("row"));
    let allocation = Allocation { prb: Prb::new(50), coding, layers: Some(1) };
    let phy = |at| Grant {
        layer: Layer::Phy,
        padding: None,
        size: Bytes::new(1),
        allocation: Some(allocation),
        ..block(at)
    };
    modem.grants(500, 20, phy);
    // 7992 bits each millisecond: TS 36.213 Table 7.1.7.2.1-1, I_TBS 9, 50 PRB.
    assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(7_992_000));
    assert_eq!(modem.estimate().source, Source::Formula);
}

#[test]
fn a_modem_that_reboots_starts_afresh() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 100, block);
    let host = modem.host();
    modem.estimator.handle_record(host, ModemInstant::from_nanos(5));
    assert_eq!(modem.estimate().source, Source::None);
}

#[test]
fn a_clock_that_is_set_back_goes_on_from_there() {
    let mut modem = Modem::new(uplink());
    modem.grants(5_000, 100, block);
    for _ in 0..5 {
        modem.ms += 100;
        let end = modem.modem().saturating_before(Duration::from_secs(3));
        modem.estimator.handle_record(modem.host(), end);
        for back in (0..100).rev() {
            let at = end.saturating_before(Duration::from_millis(back));
            let half = Grant { size: Bytes::new(500), ..block(at) };
            modem.estimator.handle_kpi(modem.host(), &Kpi::Grant(half));
        }
    }
    assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(4 * MBIT));
}

#[test]
fn the_other_direction_is_not_counted() {
    let mut modem = Modem::new(Config::new(Direction::Downlink));
    modem.grants(500, 100, block);
    assert_eq!(modem.estimate().source, Source::None);
}

fn downlink() -> Config {
    Config { ip_share_permille: 1000, ..Config::new(Direction::Downlink) }
}

fn arrived(at: ModemInstant) -> Grant {
    Grant { direction: Direction::Downlink, decoded: Some(true), ..block(at) }
}

fn padded(at: ModemInstant) -> Grant {
    Grant { padding: Some(Bytes::new(400)), ..block(at) }
}

fn reports(waiting: u64, every_ms: u64) -> impl Fn(ModemInstant) -> Grant {
    // A range, as the standard's tables have them.
    let report = BufferStatus { least: Bytes::new(waiting), most: Bytes::new(waiting * 9 / 8) };
    move |at| {
        let due = (at.as_nanos() / 1_000_000).is_multiple_of(every_ms);
        Grant { report: due.then_some(report), ..block(at) }
    }
}

fn told(modem: &mut Modem, change: Change) {
    let (host, at) = (modem.host(), modem.modem());
    let kpi = Kpi::Connection(Connection { at, change });
    modem.estimator.handle_record(host, at);
    modem.estimator.handle_kpi(host, &kpi);
}

#[test]
fn a_downlink_whose_blocks_are_all_full_is_the_radios_limit() {
    let mut modem = Modem::new(downlink());
    modem.grants(20, 10, arrived);
    assert_eq!(modem.estimate().bound, Bound::Floor, "not known yet");
    modem.grants(10, 10, arrived);
    assert_eq!(modem.estimate().bound, Bound::Capacity);
}

#[test]
fn one_block_that_took_all_there_was_makes_a_floor() {
    let mut modem = Modem::new(downlink());
    modem.grants(200, 10, |at| Grant { carrier: 0, ..arrived(at) });
    modem.grants(10, 10, |at| Grant { padding: Some(Bytes::new(1)), ..arrived(at) });
    assert_eq!(modem.estimate().bound, Bound::Floor);
    modem.grants(10, 10, arrived);
    assert_eq!(modem.estimate().bound, Bound::Floor);
}

#[test]
fn a_late_repeat_after_the_queue_was_emptied_changes_nothing() {
    let mut modem = Modem::new(downlink());
    for _ in 0..10 {
        modem.grants(10, 10, |at| Grant { padding: Some(Bytes::new(1)), ..arrived(at) });
        modem.ms += 25;
        let (host, at) = (modem.host(), modem.modem());
        modem.estimator.handle_record(host, at);
        modem.estimator.handle_kpi(host, &Kpi::Grant(arrived(at)));
        assert_eq!(modem.estimate().bound, Bound::Floor);
        modem.ms += 25;
    }
}

#[test]
fn a_report_that_is_served_within_a_cycle_makes_a_floor() {
    // Each report has 8000 bytes, and the next eight milliseconds send them.
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, reports(8_000, 5));
    assert_eq!(modem.estimate().bound, Bound::Floor);
}

#[test]
fn a_report_that_outlives_the_cycle_makes_a_capacity() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, reports(20_000, 5));
    assert_eq!(modem.estimate().bound, Bound::Capacity);
}

#[test]
fn the_rate_of_a_link_that_has_just_been_filled_is_that_of_the_time_since() {
    let mut modem = Modem::new(downlink());
    // A tenth of the subframes, and then all.
    let rarely = |at: ModemInstant| {
        let used = (at.as_nanos() / 1_000_000).is_multiple_of(10);
        let size = Bytes::new(if used { 1000 } else { 0 });
        Grant { size, padding: Some(Bytes::new(1)), ..arrived(at) }
    };
    modem.grants(500, 10, rarely);
    assert_eq!(modem.estimate().rate, Rate::from_bits_per_sec(8 * MBIT / 10));
    modem.grants(30, 10, arrived);
    let estimate = modem.estimate();
    let expected = 8 * MBIT;
    assert_eq!(estimate.bound, Bound::Capacity);
    let off = estimate.rate.bits_per_sec().abs_diff(expected);
    assert!(off * 20 < expected, "{estimate:?}");
}

#[test]
fn a_handover_lasts_until_the_new_cell_has_granted_something() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    told(&mut modem, Change::Handover);
    modem.records_without_grants(60);
    let estimate = modem.estimate();
    assert_eq!((estimate.state, estimate.is_usable()), (State::Handover, false));
    // Half as much as in the old cell.
    modem.grants(40, 10, |at| Grant { size: Bytes::new(500), ..block(at) });
    let estimate = modem.estimate();
    assert_eq!((estimate.state, estimate.bound), (State::Active, Bound::Capacity));
    let off = estimate.rate.bits_per_sec().abs_diff(4 * MBIT);
    assert!(off * 10 < 4 * MBIT, "{estimate:?}");
}

#[test]
fn a_handover_that_leads_nowhere_ends() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, padded);
    told(&mut modem, Change::Handover);
    modem.records_without_grants(2_000);
    assert_eq!(modem.estimate().state, State::Handover);
    modem.records_without_grants(10);
    assert_eq!(modem.estimate().state, State::Idle);
}

#[test]
fn another_primary_cell_is_a_handover_without_a_message() {
    let signal = |modem: &mut Modem, cell, serves_as| {
        let (host, at) = (modem.host(), modem.modem());
        let signal = Signal {
            at,
            cell,
            serves_as,
            nr: false,
            rsrp_dbm: -90.0,
            rsrq_db: -10.0,
            sinr_db: None,
        };
        modem.estimator.handle_record(host, at);
        modem.estimator.handle_kpi(host, &Kpi::Signal(signal));
    };
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    signal(&mut modem, 7, Some(0));
    signal(&mut modem, 9, Some(1));
    signal(&mut modem, 9, None);
    assert_eq!(modem.estimate().state, State::Active);
    signal(&mut modem, 9, Some(0));
    assert_eq!(modem.estimate().state, State::Handover);
}

#[test]
fn a_released_connection_is_idle_at_once() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    told(&mut modem, Change::Ends);
    assert_eq!(modem.estimate().state, State::Idle);
    told(&mut modem, Change::Begins);
    modem.grants(40, 10, block);
    assert_eq!(modem.estimate().state, State::Active);
}

#[test]
fn an_uplink_that_was_left_waiting_is_silent_until_its_connection_is_lost() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    modem.records_without_grants(210);
    assert_eq!(modem.estimate().state, State::Silent);
    modem.records_without_grants(2_000);
    assert_eq!(modem.estimate().state, State::Idle);
}

#[test]
fn where_every_grant_is_a_capacity_the_whole_window_counts() {
    let begun = |config| {
        let mut modem = Modem::new(config);
        // Half of the granted bytes are padding, then none are.
        modem.grants(500, 10, |at| Grant { padding: Some(Bytes::new(500)), ..block(at) });
        modem.grants(50, 10, |at| Grant { size: Bytes::new(2000), ..block(at) });
        modem.estimate()
    };
    let judged = begun(uplink());
    assert_eq!((judged.bound, judged.rate), (Bound::Capacity, Rate::from_bits_per_sec(16 * MBIT)));
    let assumed = begun(Config { assume: Some(Bound::Capacity), ..uplink() });
    assert_eq!(assumed.rate, Rate::from_bits_per_sec(12 * MBIT));
}

fn reported(modem: &mut Modem, carrier: u8, cqi: u8) {
    modem.ms += 10;
    let (host, at) = (modem.host(), modem.modem());
    let table = CqiTable::Lte(sounding_phy::lte::CqiTable::Qam64);
    let channel = Channel { at, carrier, cqi, second: None, rank: Some(1), table };
    modem.estimator.handle_record(host, at);
    modem.estimator.handle_kpi(host, &Kpi::Channel(channel));
}

#[test]
fn a_downlink_that_stopped_with_a_queue_and_out_of_range_is_silent() {
    let mut modem = Modem::new(downlink());
    modem.grants(500, 10, arrived);
    modem.records_without_grants(200);
    reported(&mut modem, 0, 0);
    let estimate = modem.estimate();
    assert_eq!((estimate.state, estimate.bound), (State::Silent, Bound::Capacity));
    assert_eq!((estimate.rate, estimate.is_usable()), (Rate::ZERO, true));
    reported(&mut modem, 0, 4);
    assert_eq!(modem.estimate().state, State::Idle, "it receives again, and nothing comes");
}

#[test]
fn a_downlink_that_stopped_in_range_or_empty_is_idle() {
    let mut modem = Modem::new(downlink());
    modem.grants(500, 10, arrived);
    modem.records_without_grants(210);
    assert_eq!(modem.estimate().state, State::Idle, "nothing was reported");
    reported(&mut modem, 1, 7);
    reported(&mut modem, 0, 0);
    assert_eq!(modem.estimate().state, State::Idle, "one of two carriers is received");
    let mut modem = Modem::new(downlink());
    modem.grants(500, 10, |at| Grant { padding: Some(Bytes::new(1)), ..arrived(at) });
    modem.records_without_grants(200);
    reported(&mut modem, 0, 0);
    assert_eq!(modem.estimate().state, State::Idle, "nothing was left");
}

#[test]
fn a_downlink_that_stays_out_of_range_has_lost_its_connection() {
    let mut modem = Modem::new(downlink());
    modem.grants(500, 10, arrived);
    modem.records_without_grants(2_000);
    reported(&mut modem, 0, 0);
    assert_eq!(modem.estimate().state, State::Idle);
}

#[test]
fn a_hole_in_the_records_is_neither_an_outage_nor_idleness() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 10, block);
    modem.ms += 3_000;
    let stale = modem.estimate();
    assert_eq!((stale.state, stale.age), (State::Stale, Duration::from_secs(3)));
    assert_eq!((stale.known_rate(), stale.known_bound()), (None, None));
    // The modem writes again, but no record about the grants in between.
    modem.estimator.handle_record(modem.host(), modem.modem());
    let back = modem.estimate();
    assert_eq!((back.known_rate(), back.known_state()), (None, None));
    assert!(!back.is_usable());
    modem.grants(100, 10, block);
    assert_eq!(modem.estimate().known_rate(), Some(Rate::from_bits_per_sec(8 * MBIT)));
}

#[test]
fn an_idle_device_is_known_to_be_granted_nothing() {
    let mut modem = Modem::new(uplink());
    assert_eq!(modem.estimate().known_rate(), None);
    modem.grants(500, 10, padded);
    modem.records_without_grants(400);
    let idle = modem.estimate();
    assert_eq!((idle.known_rate(), idle.known_state()), (Some(Rate::ZERO), Some(State::Idle)));
    told(&mut modem, Change::Handover);
    assert_eq!(modem.estimate().known_rate(), None);
    assert_eq!(modem.estimate().known_state(), Some(State::Handover));
}

#[test]
fn records_that_come_once_a_second_are_looked_back_over() {
    let mut modem = Modem::new(uplink());
    for _ in 0..5 {
        modem.grants(1_000, 1_000, block);
        assert_eq!(modem.estimate().rate.mbit_per_sec().round(), 8.0);
    }
    assert_eq!(modem.estimator.period(), Duration::from_secs(1));
    // The next is not due yet, and no other record comes.
    modem.ms += 990;
    let estimate = modem.estimate();
    assert_eq!((estimate.state, estimate.rate.mbit_per_sec().round()), (State::Active, 8.0));
    assert_eq!(estimate.age, Duration::from_millis(990));
    modem.ms += 600;
    assert_eq!(modem.estimate().state, State::Stale);
}
