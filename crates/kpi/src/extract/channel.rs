//! Channel reports of devices.

use sounding_diag::record::{AperiodicCsf, LteCsi, LteRank, NrCsf, PeriodicCsf, PeriodicReport};
use sounding_phy::lte;
use sounding_units::ModemInstant;

use super::nr::{Dates, Frames};
use crate::{Channel, CqiTable, Kpi};

/// The last rank that was reported for each carrier, and in which transmission mode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ranks([Option<(Option<u8>, u8)>; 16]);

impl Ranks {
    fn handle(&mut self, report: &LteRank) {
        if let Some(last) = self.0.get_mut(usize::from(report.carrier.unwrap_or(0))) {
            *last = Some((report.mode, report.rank));
        }
    }

    /// The rank that a report of quality is for, which another mode may have set aside (TS 36.213
    /// §7.2.2).
    fn of(&self, report: &LteCsi) -> Option<u8> {
        let (mode, rank) = (*self.0.get(usize::from(report.carrier.unwrap_or(0)))?)?;
        (mode == report.mode).then_some(rank)
    }
}

pub(super) fn periodic(
    at: ModemInstant,
    csf: &PeriodicCsf<'_>,
    ranks: &mut Ranks,
    sink: &mut impl FnMut(Kpi),
) {
    match csf.report() {
        Some(PeriodicReport::Rank(report)) => ranks.handle(&report),
        Some(PeriodicReport::Quality(report)) => {
            let rank = report.rank.or_else(|| ranks.of(&report));
            sink(Kpi::Channel(of_lte(at, &LteCsi { rank, ..report })));
        }
        None => {}
    }
}

pub(super) fn aperiodic(at: ModemInstant, csf: &AperiodicCsf<'_>, sink: &mut impl FnMut(Kpi)) {
    sink(Kpi::Channel(of_lte(at, &csf.report())));
}

/// A record is one report, written when it was sent.
fn of_lte(at: ModemInstant, report: &LteCsi) -> Channel {
    let table = match report.alternative_table {
        Some(true) => lte::CqiTable::Qam256,
        Some(false) | None => lte::CqiTable::Qam64,
    };
    Channel {
        at,
        carrier: report.carrier.unwrap_or(0),
        cqi: report.cqi,
        second: report.second.filter(|_| report.rank.is_some_and(|rank| rank > 1)),
        rank: report.rank,
        table: CqiTable::Lte(table),
    }
}

pub(super) fn nr(
    stamped: ModemInstant,
    csf: &NrCsf<'_>,
    frames: &mut Frames,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, csf.reports().filter_map(|r| r.slot).last(), frames);
    for report in csf.reports() {
        sink(Kpi::Channel(Channel {
            at: dates.of(report.slot),
            carrier: 0,
            cqi: report.cqi,
            // Up to four layers are one codeword (TS 38.211 §7.3.1.3).
            second: None,
            rank: Some(report.rank),
            table: CqiTable::Nr,
        }));
    }
}
