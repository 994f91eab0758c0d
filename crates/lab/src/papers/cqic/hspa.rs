//! A generator for HSPA: the KPIs of a downlink whose vendor has a table of its own. It is no
//! modem: no record of HSPA's channel reports is public, so nothing is encoded or decoded. As the
//! oracle, it tells the estimator what only a simulation knows.

use core::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_diag::LogCode;
use sounding_kpi::{Allocation, Channel, Coding, CqiTable, Direction, Grant, Kpi, Layer, Signal};
use sounding_link::{CellRates, Config, Estimator, Method};
use sounding_phy::hspa;
use sounding_units::{Bytes, HostInstant, ModemInstant, Prb};

/// §5's phone has HSPA+ with 64QAM: category 14 goes by Table G. The paper's example, 5,896 bits at
/// CQI 20, is in it too.
pub(super) const TABLE: hspa::CqiTable = hspa::CqiTable::G;
/// HS-DPCCH-INFO comes every 8 ms (§4.2).
const REPORTS_EVERY: u64 = 4;
/// CQIs that base stations handle conservatively (§3.2).
const CONSERVATIVE: core::ops::RangeInclusive<usize> = 28..=30;

/// A run of the generator, and what the estimator learnt.
pub(super) struct Generated {
    /// Mean bits of a block by CQI as sent, with the number of blocks.
    pub(super) sent: [(f64, u32); 31],
    pub(super) learnt: Option<CellRates>,
}

/// Runs for `span`: the queue is never empty, and intervals go to others with a probability of the
/// run's.
pub(super) fn generate(seed: u64, moves: bool, span: Duration) -> Generated {
    let mut lots = ChaCha8Rng::seed_from_u64(seed);
    let vendor: Vec<f64> = (0..31)
        .map(|cqi| {
            let low = if CONSERVATIVE.contains(&cqi) { 0.55 } else { 0.85 };
            lots.random_range(low..1.0)
        })
        .collect();
    let served: f64 = lots.random_range(0.4..1.0);
    let centre: f64 = lots.random_range(8.0..27.0);
    let config = Config {
        method: Method::Cqi,
        ip_share_permille: 1_000,
        window: Duration::from_millis(200),
        ..Config::new(Direction::Downlink)
    };
    let mut estimator = Estimator::new(config);
    let (mut sums, mut quality) = ([(0.0, 0_u32); 31], centre);
    for interval in 0..span.as_nanos() as u64 / hspa::TTI.as_nanos() as u64 {
        let nanos = 1_000_000_000 + interval * hspa::TTI.as_nanos() as u64;
        let (now, at) = (HostInstant::from_nanos(nanos), ModemInstant::from_nanos(nanos));
        let step = if moves { 0.5 } else { 0.1 };
        // It wanders, and is drawn back to its centre.
        quality += lots.random_range(-step..step) * 2.0 + (centre - quality) * 0.002;
        quality = quality.clamp(1.0, 30.0);
        let cqi = quality.round() as u8;
        estimator.handle_record(now, at);
        if interval == 0 {
            estimator.handle_kpi(now, &cell(at));
        }
        if interval % REPORTS_EVERY == 0 {
            let table = CqiTable::Hspa(TABLE);
            let channel = Channel { at, carrier: 0, cqi, second: None, rank: None, table };
            estimator.handle_kpi(now, &Kpi::Channel(channel));
        }
        if lots.random_bool(served) {
            let standard = hspa::cqi(TABLE, cqi).map_or(0.0, |block| f64::from(block.tbs_bits));
            let bytes = (standard * vendor[usize::from(cqi)] / 8.0) as u64;
            let (sum, count) = &mut sums[usize::from(cqi)];
            (*sum, *count) = (*sum + bytes as f64 * 8.0, *count + 1);
            estimator.handle_kpi(now, &block(at, bytes));
        }
    }
    let sent = sums.map(|(sum, count)| (sum / f64::from(count), count));
    let learnt = estimator.rates().next();
    Generated { sent, learnt }
}

fn block(at: ModemInstant, bytes: u64) -> Kpi {
    let allocation = Allocation { prb: Prb::new(1), coding: Coding::Hspa, layers: None };
    Kpi::Grant(Grant {
        ndi: None,
        at,
        direction: Direction::Downlink,
        carrier: 0,
        harq: None,
        layer: Layer::Phy,
        // HS-DECODE-STATUS has no known layout: the generator's blocks are of no record.
        code: LogCode::new(0),
        size: Bytes::new(bytes),
        padding: None,
        retransmission: false,
        decoded: Some(true),
        allocation: Some(allocation),
        report: None,
    })
}

fn cell(at: ModemInstant) -> Kpi {
    Kpi::Signal(Signal {
        at,
        cell: 1,
        serves_as: Some(0),
        nr: false,
        rsrp_dbm: -90.0,
        rsrq_db: -10.0,
        sinr_db: None,
    })
}
