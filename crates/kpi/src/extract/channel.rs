//! Channel reports of devices.

use sounding_diag::record::{AperiodicCsf, LteCsi, NrCsf, PeriodicCsf};
use sounding_phy::lte;
use sounding_units::ModemInstant;

use super::nr::{Dates, Frames};
use crate::{Channel, CqiTable, Kpi};

pub(super) fn periodic(at: ModemInstant, csf: &PeriodicCsf<'_>, sink: &mut impl FnMut(Kpi)) {
    if let Some(report) = csf.report() {
        sink(Kpi::Channel(of_lte(at, &report)));
    }
}

pub(super) fn aperiodic(at: ModemInstant, csf: &AperiodicCsf<'_>, sink: &mut impl FnMut(Kpi)) {
    sink(Kpi::Channel(of_lte(at, &csf.report())));
}

/// A record is one report, written when it was sent.
fn of_lte(at: ModemInstant, report: &LteCsi) -> Channel {
    let [cqi, second] = report.cqi;
    let table = match report.alternative_table {
        Some(true) => lte::CqiTable::Qam256,
        Some(false) | None => lte::CqiTable::Qam64,
    };
    Channel {
        at,
        carrier: report.carrier.unwrap_or(0),
        cqi,
        second: report.rank.is_some_and(|rank| rank > 1).then_some(second),
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
