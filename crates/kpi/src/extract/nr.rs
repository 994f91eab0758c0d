//! NR's records: the same KPIs, in slots instead of subframes.

use core::time::Duration;

use sounding_diag::mac::nr::Element;
use sounding_diag::radio::Slot;
use sounding_diag::record::{
    NrDownlinkData, NrPdschStatus, NrSearcher, NrUplink, NrUplinkBsr, NrUplinkSchedule,
};
use sounding_phy::nr;
use sounding_units::{Bytes, ModemInstant};

use super::air::Air;
use crate::{Allocation, Backlog, BufferStatus, Coding, Direction, Grant, Kpi, Layer, Signal};

/// Common state of NR's records: the offset between slot numbers and the modem's clock, and the
/// length of a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    air: Air,
    numerology: Option<u8>,
}

impl Frames {
    /// Whether a record has shown when frames begin.
    pub(super) fn is_known(&self) -> bool {
        self.air.is_known()
    }

    /// As [`Air::place`].
    pub(super) fn place(&self, stamped: ModemInstant, within: Duration) -> Option<ModemInstant> {
        self.air.place(stamped, within)
    }

    /// The length of slots of a record that does not have it, and whose last slot is this one: that
    /// of other records, or the longest possible.
    pub(super) fn numerology_for(&self, last: u16) -> Option<u8> {
        let fits = |numerology: &u8| last < 10 << numerology;
        self.numerology.filter(fits).or_else(|| (0..=6).find(fits))
    }
}

/// Half of the time after which frame numbers begin anew.
pub(super) const HALF_A_CYCLE: Duration = Duration::from_millis(5_120);

/// Slots are dated back from the newest in their record.
pub(super) struct Dates {
    /// When the newest was.
    at: ModemInstant,
    newest: Option<Slot>,
}

impl Dates {
    pub(super) fn new(stamped: ModemInstant, newest: Option<Slot>, frames: &mut Frames) -> Self {
        let numerology = newest.and_then(Slot::numerology);
        frames.numerology = numerology.or(frames.numerology);
        let begin = Slot::new(0, 0, numerology);
        // A slot of unknown length has no exact time in its frame, so it is not used.
        let within = newest.zip(begin).filter(|_| numerology.is_some());
        let within = within.map(|(newest, begin)| newest.since(begin));
        Self { at: within.map_or(stamped, |within| frames.air.date(stamped, within)), newest }
    }

    pub(super) fn of(&self, slot: Option<Slot>) -> ModemInstant {
        // Records hold a second of slots at most; more is a number out of order, which is as good
        // as the newest.
        const LONGEST: Duration = Duration::from_secs(2);
        match (self.newest, slot) {
            (Some(newest), Some(slot)) if newest.since(slot) <= LONGEST => {
                self.at.saturating_before(newest.since(slot))
            }
            _ => self.at,
        }
    }
}

/// The number of this device's identity in records.
const C_RNTI: u8 = 0;
/// An I_MCS above this means a retransmission in every table (TS 38.214 §5.1.3.1).
const LAST_NEW_MCS: u8 = 28;

pub(super) fn downlink(
    stamped: ModemInstant,
    status: &NrPdschStatus<'_>,
    frames: &mut Frames,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, status.blocks().filter_map(|b| b.slot).last(), frames);
    let ours = |rnti: Option<u8>| rnti.is_none_or(|rnti| rnti == C_RNTI);
    for block in status.blocks().filter(|block| ours(block.rnti)) {
        let repeat = block.retx.is_some_and(|count| count > 0) || block.mcs > LAST_NEW_MCS;
        sink(Kpi::Grant(Grant {
            at: dates.of(block.slot),
            direction: Direction::Downlink,
            carrier: 0,
            harq: Some(block.harq),
            ndi: block.ndi,
            layer: Layer::Phy,
            code: NrPdschStatus::CODE,
            size: block.size,
            padding: None,
            retransmission: block.new == Some(false) || repeat,
            decoded: Some(block.received),
            allocation: Some(Allocation {
                prb: block.rbs,
                coding: Coding::Nr(block.mcs),
                layers: Some(block.layers),
            }),
            report: None,
        }));
    }
}

/// Received blocks at the MAC layer: bytes that no subheader accounts for are padding.
///
/// The record does not have the length of its slots. Other records have it; without them the
/// longest possible slots are assumed.
pub(super) fn downlink_blocks(
    stamped: ModemInstant,
    data: &NrDownlinkData<'_>,
    frames: &mut Frames,
    sink: &mut impl FnMut(Kpi),
) {
    let last = data.blocks().map(|block| block.slot).max().unwrap_or(0);
    let numerology = frames.numerology_for(last);
    let slot = |frame, slot| Slot::new(frame, u8::try_from(slot).ok()?, numerology);
    let newest = data.blocks().filter_map(|block| slot(block.frame, block.slot)).last();
    let dates = Dates::new(stamped, newest, frames);
    for block in data.blocks() {
        sink(Kpi::Grant(Grant {
            at: dates.of(slot(block.frame, block.slot)),
            direction: Direction::Downlink,
            carrier: u8::try_from(block.carrier).unwrap_or(0),
            harq: None,
            ndi: None,
            layer: Layer::Mac,
            code: NrDownlinkData::CODE,
            size: block.size,
            padding: block.used.map(|used| block.size.saturating_sub(used)),
            retransmission: false,
            // MAC sees only blocks that arrived.
            decoded: Some(true),
            allocation: None,
            report: None,
        }));
    }
}

pub(super) fn uplink(
    stamped: ModemInstant,
    schedule: &NrUplinkSchedule<'_>,
    frames: &mut Frames,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, schedule.transmissions().filter_map(|t| t.slot).last(), frames);
    for tx in schedule.transmissions() {
        sink(Kpi::Grant(Grant {
            at: dates.of(tx.slot),
            direction: Direction::Uplink,
            carrier: tx.carrier.unwrap_or(0),
            harq: Some(tx.harq),
            ndi: None,
            layer: Layer::Phy,
            code: NrUplinkSchedule::CODE,
            size: tx.size,
            padding: None,
            retransmission: tx.new == Some(false) || tx.rv != 0 || tx.mcs > LAST_NEW_MCS,
            decoded: None,
            allocation: Some(Allocation {
                prb: tx.rbs,
                coding: Coding::Nr(tx.mcs),
                // Single-carrier transmissions have one (TS 38.211 §6.3.1.3); that of others
                // follows from a precoding whose table is configured.
                layers: tx.transform_precoding.then_some(1),
            }),
            report: None,
        }));
    }
}

pub(super) fn uplink_blocks(
    stamped: ModemInstant,
    uplink: &NrUplink<'_>,
    frames: &mut Frames,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, uplink.blocks().filter_map(|b| b.slot).last(), frames);
    for block in uplink.blocks() {
        let at = dates.of(block.slot);
        let report = block.controls.into_iter().find_map(|(_, element)| buffer_status(&element));
        if let Some(BufferStatus { most, .. }) = report {
            sink(Kpi::Backlog(Backlog { at, waiting: most }));
        }
        sink(Kpi::Grant(Grant {
            at,
            direction: Direction::Uplink,
            carrier: block.carrier.unwrap_or(0),
            harq: Some(block.harq),
            ndi: None,
            layer: Layer::Mac,
            code: NrUplink::CODE,
            size: block.grant,
            padding: Some(block.padding()),
            // MAC builds a block once.
            retransmission: false,
            decoded: None,
            allocation: None,
            report,
        }));
    }
}

pub(super) fn reports(
    stamped: ModemInstant,
    reports: &NrUplinkBsr<'_>,
    frames: &mut Frames,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, reports.reports().filter_map(|r| r.slot).last(), frames);
    for report in reports.reports() {
        if let Some(BufferStatus { most, .. }) = report.element.as_ref().and_then(buffer_status) {
            sink(Kpi::Backlog(Backlog { at: dates.of(report.slot), waiting: most }));
        }
    }
}

pub(super) fn cells(stamped: ModemInstant, searcher: &NrSearcher<'_>, sink: &mut impl FnMut(Kpi)) {
    for cell in searcher.cells().filter(|cell| cell.serving) {
        if let (Some(rsrp), Some(rsrq)) = (cell.rsrp, cell.rsrq) {
            sink(Kpi::Signal(Signal {
                at: stamped,
                cell: cell.pci,
                serves_as: Some(cell.carrier.unwrap_or(0)),
                nr: true,
                rsrp_dbm: rsrp.as_f64() as f32,
                rsrq_db: rsrq.as_f64() as f32,
                sinr_db: None,
            }));
        }
    }
}

/// The contents of a buffer status report.
fn buffer_status(element: &Element) -> Option<BufferStatus> {
    const SHORT_OPEN_ENDED: Bytes = Bytes::new(150_000);
    const LONG_OPEN_ENDED: Bytes = Bytes::new(81_338_368);
    let range = |format: nr::BsrFormat, open_ended| {
        move |index| BufferStatus {
            least: format.lower(index).unwrap_or_default(),
            most: format.upper(index).unwrap_or(open_ended),
        }
    };
    match *element {
        Element::ShortBsr { index, .. } => {
            Some(range(nr::BsrFormat::Short, SHORT_OPEN_ENDED)(index))
        }
        Element::LongBsr(report) => {
            let range = range(nr::BsrFormat::Long, LONG_OPEN_ENDED);
            Some(report.groups().map(|(_, index)| range(index)).sum())
        }
        Element::PowerHeadroom { .. } | Element::Other { .. } => None,
    }
}
