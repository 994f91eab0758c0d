//! NR's records: the same KPIs, in slots instead of subframes.

use core::time::Duration;

use sounding_diag::mac::nr::Element;
use sounding_diag::radio::Slot;
use sounding_diag::record::{NrPdschStatus, NrSearcher, NrUplink, NrUplinkBsr, NrUplinkSchedule};
use sounding_phy::nr;
use sounding_units::{Bytes, ModemInstant};

use crate::{Allocation, Backlog, Coding, Direction, Grant, Kpi, Layer, Signal};

/// Slots are dated back from the newest in their record, which the modem stamped when it was complete.
pub(super) struct Dates {
    pub(super) stamped: ModemInstant,
    pub(super) newest: Option<Slot>,
}

impl Dates {
    pub(super) fn of(&self, slot: Option<Slot>) -> ModemInstant {
        // Records hold a second of slots at most; more is a number out of order, which is as good as the newest.
        const LONGEST: Duration = Duration::from_secs(2);
        match (self.newest, slot) {
            (Some(newest), Some(slot)) if newest.since(slot) <= LONGEST => {
                self.stamped.saturating_before(newest.since(slot))
            }
            _ => self.stamped,
        }
    }
}

/// How records number this device's own identity.
const C_RNTI: u8 = 0;
/// I_MCS above this stands for a repeat in every table (TS 38.214 §5.1.3.1).
const LAST_NEW_MCS: u8 = 28;

pub(super) fn downlink(
    stamped: ModemInstant,
    status: &NrPdschStatus<'_>,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates { stamped, newest: status.blocks().filter_map(|b| b.slot).last() };
    let ours = |rnti: Option<u8>| rnti.is_none_or(|rnti| rnti == C_RNTI);
    for block in status.blocks().filter(|block| ours(block.rnti)) {
        let repeat = block.retx.is_some_and(|count| count > 0) || block.mcs > LAST_NEW_MCS;
        sink(Kpi::Grant(Grant {
            at: dates.of(block.slot),
            direction: Direction::Downlink,
            carrier: 0,
            harq: Some(block.harq),
            layer: Layer::Phy,
            size: block.size,
            padding: None,
            retransmission: block.new == Some(false) || repeat,
            decoded: Some(block.received),
            allocation: Some(Allocation {
                prb: block.rbs,
                coding: Coding::Nr(block.mcs),
                layers: Some(block.layers),
            }),
        }));
    }
}

pub(super) fn uplink(
    stamped: ModemInstant,
    schedule: &NrUplinkSchedule<'_>,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates { stamped, newest: schedule.transmissions().filter_map(|t| t.slot).last() };
    for tx in schedule.transmissions() {
        sink(Kpi::Grant(Grant {
            at: dates.of(tx.slot),
            direction: Direction::Uplink,
            carrier: tx.carrier.unwrap_or(0),
            harq: Some(tx.harq),
            layer: Layer::Phy,
            size: tx.size,
            padding: None,
            retransmission: tx.new == Some(false) || tx.rv != 0 || tx.mcs > LAST_NEW_MCS,
            decoded: None,
            allocation: Some(Allocation {
                prb: tx.rbs,
                coding: Coding::Nr(tx.mcs),
                // Single-carrier transmissions have one (TS 38.211 §6.3.1.3); that of others follows from a precoding
                // whose table is configured.
                layers: tx.transform_precoding.then_some(1),
            }),
        }));
    }
}

pub(super) fn uplink_blocks(
    stamped: ModemInstant,
    uplink: &NrUplink<'_>,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates { stamped, newest: uplink.blocks().filter_map(|b| b.slot).last() };
    for block in uplink.blocks() {
        let at = dates.of(block.slot);
        for (_, element) in block.controls {
            if let Some(waiting) = reported_backlog(&element) {
                sink(Kpi::Backlog(Backlog { at, waiting }));
            }
        }
        sink(Kpi::Grant(Grant {
            at,
            direction: Direction::Uplink,
            carrier: block.carrier.unwrap_or(0),
            harq: Some(block.harq),
            layer: Layer::Mac,
            size: block.grant,
            padding: Some(block.padding()),
            // MAC builds a block once.
            retransmission: false,
            decoded: None,
            allocation: None,
        }));
    }
}

pub(super) fn reports(
    stamped: ModemInstant,
    reports: &NrUplinkBsr<'_>,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates { stamped, newest: reports.reports().filter_map(|r| r.slot).last() };
    for report in reports.reports() {
        if let Some(waiting) = report.element.as_ref().and_then(reported_backlog) {
            sink(Kpi::Backlog(Backlog { at: dates.of(report.slot), waiting }));
        }
    }
}

pub(super) fn cells(stamped: ModemInstant, searcher: &NrSearcher<'_>, sink: &mut impl FnMut(Kpi)) {
    for cell in searcher.cells().filter(|cell| cell.serving) {
        if let (Some(rsrp), Some(rsrq)) = (cell.rsrp, cell.rsrq) {
            sink(Kpi::Signal(Signal {
                at: stamped,
                cell: cell.pci,
                rsrp_dbm: rsrp.as_f64() as f32,
                rsrq_db: rsrq.as_f64() as f32,
                sinr_db: None,
            }));
        }
    }
}

/// What a buffer status report tells the network: the upper end of the reported range, as a scheduler reads it. The
/// open-ended last range counts with its lower end.
fn reported_backlog(element: &Element) -> Option<Bytes> {
    const SHORT_OPEN_ENDED: Bytes = Bytes::new(150_000);
    const LONG_OPEN_ENDED: Bytes = Bytes::new(81_338_368);
    match *element {
        Element::ShortBsr { index, .. } => {
            Some(nr::bsr_upper_short(index).unwrap_or(SHORT_OPEN_ENDED))
        }
        Element::LongBsr(report) => {
            let upper = |index| nr::bsr_upper_long(index).unwrap_or(LONG_OPEN_ENDED);
            Some(report.groups().map(|(_, index)| upper(index)).sum())
        }
        Element::PowerHeadroom { .. } | Element::Other { .. } => None,
    }
}
