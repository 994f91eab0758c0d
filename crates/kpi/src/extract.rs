//! From checked records to KPIs.

mod air;
mod channel;
mod moments;
mod nr;
mod rlc;
mod rrc;

use core::time::Duration;

use sounding_diag::mac::Element;
use sounding_diag::radio::{Modulation, Rnti, Tti};
use sounding_diag::record::{
    AperiodicCsf, LteRrc, MacDownlink, MacUplink, NrCsf, NrDownlinkData, NrPdschStatus, NrRrc,
    NrSearcher, NrUplink, NrUplinkBsr, NrUplinkSchedule, PdschDemapper, PdschStat, PeriodicCsf,
    PuschTxReport, RecordError, ServingCells, UplinkBuffer,
};
use sounding_diag::{LogCode, LogRecord};
use sounding_phy::lte::{self, McsTable, TbsIndex};
use sounding_units::{Bytes, ModemInstant, Prb};

use air::Air;
pub use moments::{Moment, Moments};

use crate::{
    Allocation, Backlog, BufferStatus, Carriers, Coding, Direction, Grant, Kpi, Layer, RlcPdu,
    Signal,
};

/// Reads the KPIs of one log record and hands each to `sink`, oldest first; whether its code is one
/// that holds KPIs.
///
/// For a stream of records an [`Extractor`] dates each block better.
///
/// # Errors
///
/// [`RecordError`] if the record's version is not described, or its bytes do not fit the
/// description.
pub fn extract(log: &LogRecord<'_>, sink: impl FnMut(Kpi)) -> Result<bool, RecordError> {
    Extractor::default().extract(log, sink)
}

/// Reads the KPIs of a modem's log records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extractor {
    lte: Air,
    nr: nr::Frames,
    /// The same from records of RLC, while no others have come.
    rlc_lte: Air,
    rlc_nr: nr::Frames,
    ranks: channel::Ranks,
}

impl Extractor {
    /// As [`extract`](fn@extract); blocks of a record that was written late are dated by records
    /// that were not.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the record's version is not described, or its bytes do not fit the
    /// description.
    pub fn extract(
        &mut self,
        log: &LogRecord<'_>,
        mut sink: impl FnMut(Kpi),
    ) -> Result<bool, RecordError> {
        let (at, body, sink) = (log.at, log.body, &mut sink);
        let (lte, frames) = (&mut self.lte, &mut self.nr);
        match log.code {
            PuschTxReport::CODE => pusch(at, &PuschTxReport::parse(body)?, lte, sink),
            PdschStat::CODE => pdsch(at, &PdschStat::parse(body)?, lte, sink),
            PdschDemapper::CODE => demapped(at, &PdschDemapper::parse(body)?, lte, sink),
            MacUplink::CODE => mac_uplink(at, &MacUplink::parse(body)?, lte, sink),
            MacDownlink::CODE => mac_downlink(at, &MacDownlink::parse(body)?, lte, sink),
            UplinkBuffer::CODE => uplink_buffer(at, &UplinkBuffer::parse(body)?, lte, sink),
            ServingCells::CODE => serving_cells(at, &ServingCells::parse(body)?, sink),
            NrPdschStatus::CODE => nr::downlink(at, &NrPdschStatus::parse(body)?, frames, sink),
            NrUplinkSchedule::CODE => nr::uplink(at, &NrUplinkSchedule::parse(body)?, frames, sink),
            NrUplink::CODE => nr::uplink_blocks(at, &NrUplink::parse(body)?, frames, sink),
            NrUplinkBsr::CODE => nr::reports(at, &NrUplinkBsr::parse(body)?, frames, sink),
            NrDownlinkData::CODE => {
                nr::downlink_blocks(at, &NrDownlinkData::parse(body)?, frames, sink);
            }
            PeriodicCsf::CODE => {
                channel::periodic(at, &PeriodicCsf::parse(body)?, &mut self.ranks, sink);
            }
            AperiodicCsf::CODE => channel::aperiodic(at, &AperiodicCsf::parse(body)?, sink),
            NrCsf::CODE => channel::nr(at, &NrCsf::parse(body)?, frames, sink),
            NrSearcher::CODE => nr::cells(at, &NrSearcher::parse(body)?, sink),
            LteRrc::CODE => rrc::lte(at, &LteRrc::parse(body)?, sink),
            NrRrc::CODE => rrc::nr(at, &NrRrc::parse(body)?, sink),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extractor {
    /// Whether [`pdus`](Self::pdus) reads records of this code.
    pub fn holds_pdus(code: LogCode) -> bool {
        rlc::is_read(code)
    }

    /// Reads the PDUs of RLC in a record, and the status reports about them; whether its code is
    /// one that has any.
    ///
    /// They are dated by the records that [`extract`](Self::extract) read before, and change no
    /// date of theirs.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the record's version is not described, or its bytes do not fit the
    /// description.
    pub fn pdus(
        &mut self,
        log: &LogRecord<'_>,
        mut sink: impl FnMut(RlcPdu),
    ) -> Result<bool, RecordError> {
        let (mut lte, mut frames) = (self.lte, self.nr);
        let lte = if lte.is_known() { &mut lte } else { &mut self.rlc_lte };
        let frames = if frames.is_known() { &mut frames } else { &mut self.rlc_nr };
        rlc::pdus(log, lte, frames, &mut sink)
    }
}

/// Subframe numbers are dated back from the newest in their record.
#[derive(Clone, Copy)]
struct Dates {
    /// When the newest was.
    at: ModemInstant,
    newest: Option<Tti>,
}

impl Dates {
    fn new(stamped: ModemInstant, newest: Option<Tti>, air: &mut Air) -> Self {
        let within = |tti: Tti| Duration::from_millis(tti.count().into());
        Self { at: newest.map_or(stamped, |tti| air.date(stamped, within(tti))), newest }
    }

    fn of(&self, tti: Option<Tti>) -> ModemInstant {
        // Records hold a second of subframes at most; more is a number out of order, which is as
        // good as the newest.
        const LONGEST: u16 = 2_000;
        match (self.newest, tti) {
            (Some(newest), Some(tti)) if newest.since(tti) <= LONGEST => {
                self.at.saturating_before(Duration::from_millis(newest.since(tti).into()))
            }
            _ => self.at,
        }
    }
}

/// Processes of LTE's uplink in FDD, which is synchronous: the subframe's number determines the
/// process (TS 36.321 §5.4.2.1, TS 36.213 §8). In TDD there are others, and the repeats of a block
/// then seem to be of another process.
const FDD_PROCESSES: u16 = 8;

fn pusch(
    stamped: ModemInstant,
    report: &PuschTxReport<'_>,
    air: &mut Air,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, report.dispatched(), air);
    for tx in report.transmissions().filter(|tx| tx.dropped != Some(true)) {
        let index = tx.modulation.and_then(|modulation| {
            lte::uplink_tbs_index(tx.rbs, phy_modulation(modulation), tx.code_rate_1024)
        });
        sink(Kpi::Grant(Grant {
            at: dates.of(tx.tti),
            direction: Direction::Uplink,
            carrier: tx.carrier,
            harq: tx.tti.map(|tti| (tti.count() % FDD_PROCESSES) as u8),
            ndi: None,
            layer: Layer::Phy,
            code: PuschTxReport::CODE,
            size: tx.size,
            padding: None,
            retransmission: tx.retx != 0,
            decoded: None,
            // LTE uplinks of these versions have one layer (TS 36.213 §8.6).
            allocation: index.map(|index| Allocation {
                prb: tx.rbs,
                coding: Coding::Lte(index),
                layers: Some(1),
            }),
            report: None,
        }));
    }
}

fn pdsch(stamped: ModemInstant, stat: &PdschStat<'_>, air: &mut Air, sink: &mut impl FnMut(Kpi)) {
    let dates = Dates::new(stamped, stat.subframes().filter_map(|s| s.tti).last(), air);
    for subframe in stat.subframes() {
        let at = dates.of(subframe.tti);
        let blocks = subframe.blocks().filter(|block| is_ours(block.rnti)).count();
        for block in subframe.blocks().filter(|block| is_ours(block.rnti)) {
            // A single block is sent over several antennas as one (TS 36.211 §6.3.3.3). Two blocks
            // share the layers: one each of two, one and two of three, two each of four
            // (Table 6.3.3.2-1).
            let layers = match (blocks, subframe.layers, block.index) {
                (2, 3, 0) => 1,
                (2, 3, _) => 2,
                (2, layers, _) => layers / 2,
                _ => 1,
            };
            sink(Kpi::Grant(Grant {
                at,
                direction: Direction::Downlink,
                carrier: subframe.cell,
                harq: Some(block.harq),
                ndi: Some(block.ndi),
                layer: Layer::Phy,
                code: PdschStat::CODE,
                size: if stat.counts_crc() { block.size - CRC } else { block.size },
                padding: None,
                retransmission: block.rv != 0,
                decoded: Some(block.received),
                allocation: downlink_allocation(block.mcs, block.modulation, block.rbs, layers),
                report: None,
            }));
        }
    }
}

/// CRC of a transport block (TS 36.212 §5.1.1). Some PDSCH statistics count it with the block; the
/// tables do not.
const CRC: Bytes = Bytes::new(3);

/// The record does not name the MCS table that the network uses. But if the tables differ for an
/// I_MCS, so do its modulations.
fn downlink_allocation(
    mcs: u8,
    modulation: Option<Modulation>,
    prb: Prb,
    layers: u8,
) -> Option<Allocation> {
    let row = |table| -> Option<TbsIndex> {
        let (order, index) = lte::mcs(table, mcs)?;
        modulation.is_none_or(|seen| phy_modulation(seen) == order).then_some(index)
    };
    let index = row(McsTable::Downlink).or_else(|| row(McsTable::Downlink256Qam))?;
    Some(Allocation { prb, coding: Coding::Lte(index), layers: Some(layers.max(1)) })
}

fn demapped(
    stamped: ModemInstant,
    demapper: &PdschDemapper<'_>,
    air: &mut Air,
    sink: &mut impl FnMut(Kpi),
) {
    let newest = demapper.assignments().filter_map(|a| a.tti).last();
    let dates = Dates::new(stamped, newest, air);
    for assignment in demapper.assignments().filter(|a| is_ours(a.rnti)) {
        // With one layer there is one block, and the second one's fields have old values.
        let blocks = assignment.sizes.into_iter().take(assignment.rank.into());
        for size in blocks.filter(|size| *size > Bytes::ZERO) {
            sink(Kpi::Grant(Grant {
                at: dates.of(assignment.tti),
                direction: Direction::Downlink,
                carrier: assignment.carrier,
                harq: None,
                ndi: None,
                layer: Layer::Phy,
                code: PdschDemapper::CODE,
                size,
                padding: None,
                // A demapper record is written before the block is decoded.
                retransmission: false,
                decoded: None,
                allocation: None,
                report: None,
            }));
        }
    }
}

fn mac_uplink(
    stamped: ModemInstant,
    blocks: &MacUplink<'_>,
    air: &mut Air,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, blocks.blocks().filter_map(|b| b.tti).last(), air);
    for block in blocks.blocks() {
        let at = dates.of(block.tti);
        let report = block.pdu.elements().find_map(|(_, element)| buffer_status(&element));
        if let Some(BufferStatus { most, .. }) = report {
            sink(Kpi::Backlog(Backlog { at, waiting: most }));
        }
        sink(Kpi::Grant(Grant {
            at,
            direction: Direction::Uplink,
            carrier: block.cell,
            harq: Some(block.harq),
            ndi: None,
            layer: Layer::Mac,
            code: MacUplink::CODE,
            size: block.grant,
            padding: Some(block.padding),
            retransmission: false,
            decoded: None,
            allocation: None,
            report,
        }));
    }
}

fn mac_downlink(
    stamped: ModemInstant,
    blocks: &MacDownlink<'_>,
    air: &mut Air,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, blocks.blocks().filter_map(|b| b.tti).last(), air);
    for block in blocks.blocks().filter(|block| is_ours(block.rnti)) {
        let at = dates.of(block.tti);
        for (_, element) in block.pdu.elements() {
            if let Element::Activation(active) = element {
                sink(Kpi::Carriers(Carriers { at, active }));
            }
        }
        sink(Kpi::Grant(Grant {
            at,
            direction: Direction::Downlink,
            carrier: block.cell,
            harq: Some(block.harq),
            ndi: None,
            layer: Layer::Mac,
            code: MacDownlink::CODE,
            size: block.size,
            padding: Some(block.padding),
            retransmission: false,
            // MAC sees only blocks that arrived.
            decoded: Some(true),
            allocation: None,
            report: None,
        }));
    }
}

fn uplink_buffer(
    stamped: ModemInstant,
    buffer: &UplinkBuffer<'_>,
    air: &mut Air,
    sink: &mut impl FnMut(Kpi),
) {
    let dates = Dates::new(stamped, buffer.samples().filter_map(|s| s.tti).last(), air);
    for sample in buffer.samples() {
        sink(Kpi::Backlog(Backlog { at: dates.of(sample.tti), waiting: sample.total() }));
    }
}

fn serving_cells(stamped: ModemInstant, cells: &ServingCells<'_>, sink: &mut impl FnMut(Kpi)) {
    for cell in cells.cells().filter(|cell| cell.serving != Some(false)) {
        let (Some(rsrp), Some(rsrq)) = (cell.rsrp, cell.rsrq) else { continue };
        sink(Kpi::Signal(Signal {
            at: stamped,
            cell: cell.pci,
            serves_as: (cell.serving == Some(true)).then_some(cell.cell),
            nr: false,
            rsrp_dbm: rsrp.as_f64() as f32,
            rsrq_db: rsrq.as_f64() as f32,
            sinr_db: cell.snr.into_iter().flatten().map(|db| db.as_f64() as f32).reduce(f32::max),
        }));
    }
}

/// The contents of a buffer status report.
fn buffer_status(element: &Element) -> Option<BufferStatus> {
    const OPEN_ENDED: Bytes = Bytes::new(150_000);
    let range = |index: u8| BufferStatus {
        least: lte::BsrTable::Normal.lower(index).unwrap_or_default(),
        most: lte::bsr_upper(index).unwrap_or(OPEN_ENDED),
    };
    match *element {
        Element::ShortBsr { index, .. } => Some(range(index)),
        Element::LongBsr(indexes) => Some(indexes.into_iter().map(range).sum()),
        _ => None,
    }
}

fn is_ours(rnti: Rnti) -> bool {
    matches!(rnti, Rnti::Cell | Rnti::SemiPersistent)
}

fn phy_modulation(modulation: Modulation) -> lte::Modulation {
    match modulation {
        Modulation::Qpsk => lte::Modulation::Qpsk,
        Modulation::Qam16 => lte::Modulation::Qam16,
        Modulation::Qam64 => lte::Modulation::Qam64,
        Modulation::Qam256 => lte::Modulation::Qam256,
    }
}
