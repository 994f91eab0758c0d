use super::*;
use sounding_kpi::{Allocation, Backlog, Coding};
use sounding_phy::lte::TbsIndex;
use sounding_units::Prb;

const MBIT: u64 = 1_000_000;

/// A modem that reports its uplink blocks every `report_ms`, one block a millisecond.
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
        layer: Layer::Mac,
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
    assert_eq!(modem.estimate().bound, Bound::Served);
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
    assert_eq!(modem.estimate().cause, Cause::Formula);
}

#[test]
fn a_modem_that_reboots_starts_afresh() {
    let mut modem = Modem::new(uplink());
    modem.grants(500, 100, block);
    let host = modem.host();
    modem.estimator.handle_record(host, ModemInstant::from_nanos(5));
    assert_eq!(modem.estimate().cause, Cause::None);
}

#[test]
fn the_other_direction_is_not_counted() {
    let mut modem = Modem::new(Config::new(Direction::Downlink));
    modem.grants(500, 100, block);
    assert_eq!(modem.estimate().cause, Cause::None);
}
