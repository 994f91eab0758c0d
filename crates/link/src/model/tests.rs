use core::time::Duration;
use std::vec::Vec;

use sounding_diag::LogCode;
use sounding_kpi::{Allocation, Channel, Coding, CqiTable, Direction, Grant, Kpi, Layer, Signal};
use sounding_phy::lte;
use sounding_trace::dci::{Block, Dci, Heard, Moment};
use sounding_units::{Bytes, HostInstant, ModemInstant, Prb};

use crate::{Bound, Config, Estimator, Method, Source, State};

mod cqi;

/// A device with one carrier, which writes a record each millisecond.
struct Modem {
    estimator: Estimator,
    ms: u64,
}

impl Modem {
    fn new(method: Method) -> Self {
        Self::of(Config { method, ip_share_permille: 1000, ..Config::new(Direction::Downlink) })
    }

    fn of(config: Config) -> Self {
        Self { estimator: Estimator::new(config), ms: 1_000_000 }
    }

    fn now(&self) -> HostInstant {
        HostInstant::from_nanos(self.ms * 1_000_000)
    }

    /// Runs for `ms` milliseconds, with these KPIs in each.
    fn run(&mut self, ms: u64, kpis: impl Fn(u64, ModemInstant) -> Vec<Kpi>) {
        for _ in 0..ms {
            self.ms += 1;
            let (now, at) = (self.now(), ModemInstant::from_nanos(self.ms * 1_000_000));
            self.estimator.handle_record(now, at);
            for kpi in kpis(self.ms, at) {
                self.estimator.handle_kpi(now, &kpi);
            }
        }
    }

    fn hear(&mut self, rnti: u16, prb: u16) {
        self.hear_of(0, rnti, prb);
    }

    fn hear_of(&mut self, cell: u8, rnti: u16, prb: u16) {
        let moment = Moment {
            time: Duration::from_millis(self.ms),
            cell,
            frame: (self.ms / 10 % 1024) as u16,
            slot: (self.ms % 10) as u8,
        };
        let block = Block { bits: u32::from(prb) * 100, ..Block::default() };
        let dci = Dci {
            moment,
            rnti,
            direction: Direction::Downlink,
            prb,
            cell_prb: Some(50),
            blocks: [Some(block), None],
            harq: None,
        };
        self.estimator.handle_heard(self.now(), &Heard::Dci(dci));
    }

    fn mbit(&self) -> f64 {
        self.estimator.estimate(self.now()).rate.mbit_per_sec()
    }
}

/// A block on so many resource blocks.
fn block(at: ModemInstant, prb: u16, bytes: u64) -> Kpi {
    let coding = Coding::Lte(lte::TbsIndex::new(9).expect("a row"));
    Kpi::Grant(Grant {
        at,
        direction: Direction::Downlink,
        carrier: 0,
        harq: None,
        ndi: None,
        layer: Layer::Phy,
        code: LogCode::new(0xB173),
        size: Bytes::new(bytes),
        padding: None,
        retransmission: false,
        decoded: Some(true),
        allocation: Some(Allocation { prb: Prb::new(prb), coding, layers: Some(1) }),
        report: None,
    })
}

fn repeat(at: ModemInstant, prb: u16, bytes: u64) -> Kpi {
    let Kpi::Grant(grant) = block(at, prb, bytes) else { unreachable!("a block is a grant") };
    Kpi::Grant(Grant { retransmission: true, ..grant })
}

fn report(at: ModemInstant, cqi: u8) -> Kpi {
    let table = CqiTable::Lte(lte::CqiTable::Qam64);
    Kpi::Channel(Channel { at, carrier: 0, cqi, second: None, rank: Some(1), table })
}

fn level(at: ModemInstant, rsrp_dbm: f32) -> Kpi {
    Kpi::Signal(Signal {
        at,
        cell: 1,
        serves_as: Some(0),
        nr: false,
        rsrp_dbm,
        rsrq_db: -10.0,
        sinr_db: None,
    })
}

#[test]
fn a_modem_alone_knows_its_own_resource_blocks_and_the_most_it_ever_had() {
    let mut modem = Modem::new(Method::Cell);
    modem.run(1_000, |_, at| [block(at, 40, 4_000)].into());
    modem.run(1_000, |_, at| [block(at, 10, 1_000)].into());
    assert!((modem.mbit() - 8.0).abs() < 0.1, "{}", modem.mbit());
    let estimate = modem.estimator.estimate(modem.now());
    assert_eq!((estimate.source, estimate.bound), (Source::Cell, Bound::Floor));
    let view = modem.estimator.cell(modem.now()).expect("grants");
    assert_eq!((view.users, view.idle, view.fair_share), (None, None, None));
    assert!((view.ceiling.mbit_per_sec() - 32.0).abs() < 0.1, "{view:?}");
}

/// This device has 20 of 50 resource blocks and another one 10.
fn shared(method: Method) -> Modem {
    let mut modem = Modem::new(method);
    for _ in 0..300 {
        modem.run(1, |_, at| [block(at, 20, 1_000)].into());
        modem.hear(7, 20);
        modem.hear(8, 10);
    }
    modem
}

#[test]
fn a_sniffer_adds_a_part_of_the_idle_blocks() {
    let modem = shared(Method::Cell);
    // 20 of its own and half of the 20 idle ones, 400 bits each; its fair share is 25.
    assert!((modem.mbit() - 12.0).abs() < 0.1, "{}", modem.mbit());
    let estimate = modem.estimator.estimate(modem.now());
    assert_eq!(estimate.bound, Bound::Capacity);
    let view = modem.estimator.cell(modem.now()).expect("grants");
    assert_eq!(view.users, Some(2));
    assert!((view.idle.expect("sniffed") - 0.4).abs() < 1e-9);
    assert!((view.fair_share.expect("sniffed").mbit_per_sec() - 10.0).abs() < 0.1);
    assert_eq!(shared(Method::Grants).estimator.cell(modem.now()), None);
}

#[test]
fn a_silent_sniffer_is_ignored() {
    let mut modem = shared(Method::Cell);
    modem.run(250, |_, at| [block(at, 20, 1_000)].into());
    assert!((modem.mbit() - 8.0).abs() < 0.1, "{}", modem.mbit());
    assert_eq!(modem.estimator.cell(modem.now()).expect("grants").users, None);
}

#[test]
fn each_cell_may_have_a_sniffer_of_its_own_and_one_that_is_silent_adds_nothing() {
    let both = |at| {
        let mut second = block(at, 25, 1_250);
        if let Kpi::Grant(grant) = &mut second {
            grant.carrier = 1;
        }
        [block(at, 20, 1_000), second].into()
    };
    let mut modem = Modem::new(Method::Cell);
    for _ in 0..300 {
        modem.run(1, |_, at| both(at));
        for (cell, own) in [(0, 20), (1, 25)] {
            modem.hear_of(cell, 7, own);
            modem.hear_of(cell, 8, 10);
        }
    }
    // 20 and half of 20, 25 and half of 15, 400 bits each.
    assert!((modem.mbit() - 25.0).abs() < 0.2, "{}", modem.mbit());
    for _ in 0..101 {
        modem.run(1, |_, at| both(at));
        modem.hear_of(0, 7, 20);
        modem.hear_of(0, 8, 10);
    }
    // Of the second carrier only what the modem reports is known: its 25 blocks.
    assert!((modem.mbit() - 22.0).abs() < 0.2, "{}", modem.mbit());
    let view = modem.estimator.cell(modem.now()).expect("grants");
    assert!((view.fair_share.expect("sniffed").mbit_per_sec() - 20.0).abs() < 0.2, "{view:?}");
    assert_eq!((view.users, view.carriers, view.heard), (Some(2), 2, Some(Duration::ZERO)));
}

#[test]
fn what_is_sent_again_carries_nothing_to_a_transport() {
    let mut modem = Modem::new(Method::Cell);
    modem.run(2_000, |ms, at| match ms % 10 {
        0 => [repeat(at, 20, 1_000)].into(),
        _ => [block(at, 20, 1_000)].into(),
    });
    assert!((modem.mbit() - 7.2).abs() < 0.05, "{}", modem.mbit());
}

#[test]
fn a_raw_kpi_is_fitted_in_the_first_twenty_seconds() {
    // The more resource blocks and the better the level, the more: two megabits for each five of
    // either.
    let at_step = |ms: u64| 10 + 5 * (ms / 1_000 % 4);
    let learn = |ms: u64, at| {
        let prb = at_step(ms);
        [block(at, prb as u16, 50 * prb), level(at, prb as f32 - 120.0)].into()
    };
    for (method, wanted) in [(Method::Prb, 4.8), (Method::Rsrp, 9.2)] {
        let mut modem = Modem::new(method);
        modem.run(500, learn);
        assert_eq!(modem.estimator.estimate(modem.now()).source, Source::None);
        modem.run(22_000, learn);
        // Later records of the block are not looked at.
        modem.run(1_000, |_, at| [block(at, 12, 3_000), level(at, -97.0)].into());
        assert!((modem.mbit() - wanted).abs() < 0.2, "{method:?}: {}", modem.mbit());
        assert_eq!(modem.estimator.estimate(modem.now()).source, Source::from(method));
    }
}
