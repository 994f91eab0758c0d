//! CQIC: what a CQI stands for, times how much of the time the device is served (CQIC §3.2, §3.3).
//!
//! For each cell a table from CQI to rate. It starts as the standard's and is updated with the real blocks at each CQI.
//! A rate here is of one resource block. Times the granted resource blocks, it is the rate of the whole carrier times
//! the device's share of it, whatever the carrier's width.

use core::time::Duration;

use sounding_kpi::{Channel, CqiTable, Direction, Kpi};
use sounding_phy::{lte, nr};
use sounding_units::{ModemInstant, Rate};

use super::slots::{Slot, Slots};
use crate::Config;
use crate::recent::Recent;

/// Carriers that are tracked separately; records of LTE and NR have no more.
const CARRIERS: usize = 8;
const RANKS: usize = 4;

/// Records of grants and of reports come in their own time, LTE's downlink statistics up to 300 ms late: what a block
/// was sent at is settled after this.
const SETTLED: Duration = Duration::from_millis(400);

/// The table is updated from the blocks of this much time.
const LESSON: Duration = Duration::from_millis(20);

/// Weight of a new block in the table. CQIC averages over minutes. This one is chosen so that a table follows a cell
/// whose outer loop of link adaptation moves within seconds; pinned by the estimators' tests.
const WEIGHT: f64 = 1.0 / 64.0;

/// Resource elements of an LTE resource block in the reference of CQI (TS 36.213 §7.2.3): 11 symbols less the reference
/// signals of two ports. NR has about as many for data, with 12 symbols and two of them with reference signals.
const ELEMENTS: f64 = 120.0;

/// Bits of a resource block by rank and CQI.
#[derive(Clone, Copy, Debug)]
struct Table {
    bits: [[f64; 16]; RANKS],
}

#[derive(Clone, Copy, Debug)]
struct Report {
    carrier: usize,
    rank: usize,
    cqi: usize,
}

/// Tables of the cells in use, and what was reported.
#[derive(Clone, Debug)]
pub(super) struct CqiTables {
    direction: Direction,
    ip_share: f64,
    tables: [Option<Table>; CARRIERS],
    reports: Recent<Report>,
    /// The table includes blocks up to this time.
    learnt: ModemInstant,
}

impl CqiTables {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            direction: config.direction,
            ip_share: f64::from(config.ip_share_permille) / 1000.0,
            tables: [None; CARRIERS],
            reports: Recent::new(Duration::from_secs(2).max(config.window.saturating_mul(2))),
            learnt: ModemInstant::default(),
        }
    }

    pub(super) fn handle_kpi(&mut self, modem_now: ModemInstant, slots: &Slots, kpi: &Kpi) {
        if let Kpi::Channel(channel) = kpi {
            self.handle_channel(channel);
        }
        let settled = modem_now.saturating_before(SETTLED);
        if settled - self.learnt >= LESSON {
            // Nothing from before the first update, or before a pause, is kept.
            let since = self.learnt.max(settled.saturating_before(SETTLED));
            for (at, slot) in slots.until(settled).take_while(|(at, _)| *at > since) {
                self.learn(*at, slot);
            }
            self.learnt = settled;
        }
    }

    fn handle_channel(&mut self, channel: &Channel) {
        let carrier = usize::from(channel.carrier);
        let rank = usize::from(channel.rank.unwrap_or(1)).clamp(1, RANKS) - 1;
        let cqi = usize::from(channel.cqi).min(15);
        let Some(table) = self.tables.get_mut(carrier) else { return };
        table.get_or_insert_with(|| Table::standard(channel.table));
        self.reports.push(channel.at, Report { carrier, rank, cqi });
    }

    /// The report in force at a time.
    fn report(&self, carrier: usize, at: ModemInstant) -> Option<&Report> {
        self.reports.until(at).map(|(_, report)| report).find(|report| report.carrier == carrier)
    }

    fn learn(&mut self, at: ModemInstant, slot: &Slot) {
        let carrier = usize::from(slot.carrier);
        if !matches!(self.tables.get(carrier), Some(Some(_))) {
            return;
        }
        let Some(&Report { rank, cqi, .. }) = self.report(carrier, at) else { return };
        let (Some(seen), Some(Some(table))) = (slot.bits_per_prb(), self.tables.get_mut(carrier))
        else {
            return;
        };
        let bits = &mut table.bits[rank][cqi];
        *bits += (seen - *bits) * WEIGHT;
    }

    pub(super) fn rate(&self, slots: &Slots, end: ModemInstant) -> Option<Rate> {
        // A device reports no CQI of what it sends.
        if self.direction == Direction::Uplink || self.reports.newest().is_none() {
            return None;
        }
        let mut bits = 0.0;
        for (carrier, table) in (0..).zip(&self.tables) {
            let Some(table) = table else { continue };
            let served: u32 = slots
                .window(end)
                .filter(|slot| usize::from(slot.carrier) == carrier && slot.new_bits > 0)
                .map(|slot| slot.prb)
                .sum();
            bits += f64::from(served) * self.mean(table, carrier, slots.span, end)?;
        }
        Some(Rate::from_bits_per_sec((bits * self.ip_share / slots.span.as_secs_f64()) as u64))
    }

    /// The mean over the reports of a window; over the last one, where there is none in it.
    fn mean(
        &self,
        table: &Table,
        carrier: usize,
        span: Duration,
        end: ModemInstant,
    ) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        let bits = |report: &Report| table.bits[report.rank][report.cqi];
        for report in self.reports.within(end, span).filter(|report| report.carrier == carrier) {
            sum += bits(report);
            count += 1.0;
        }
        if count > 0.0 { Some(sum / count) } else { self.report(carrier, end).map(bits) }
    }
}

/// What the standard says of a report: bits of a resource block, all layers together.
pub(super) fn standard_bits(report: &Channel) -> f64 {
    let rank = usize::from(report.rank.unwrap_or(1)).clamp(1, RANKS) - 1;
    Table::standard(report.table).bits[rank][usize::from(report.cqi).min(15)]
}

impl Table {
    fn standard(table: CqiTable) -> Self {
        let efficiency = |index: usize| {
            let index = index as u8;
            let scheme = match table {
                CqiTable::Lte(table) => lte::cqi(table, index),
                // The default of TS 38.331 CSI-ReportConfig's cqi-Table; the table adapts to another.
                CqiTable::Nr => nr::cqi(nr::CqiTable::Table1, index),
            };
            scheme.map_or(0.0, |scheme| f64::from(scheme.efficiency()))
        };
        let row = |rank: usize| {
            core::array::from_fn(|cqi| ELEMENTS * efficiency(cqi) * (rank + 1) as f64)
        };
        Self { bits: core::array::from_fn(row) }
    }
}
