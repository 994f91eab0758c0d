//! Uplink blocks: 0xB872, 0xB873, 0xB881, 0xB883.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use sounding_diag::mac::nr::Element;
use sounding_diag::record::{Form, NrBsr, NrUplinkBsr};
use sounding_units::HostInstant;

use super::super::Common;
use super::super::batch::Batch;
use super::super::cells::Cell;
use super::{MOST, timed, written};
use crate::config::Rat;
use crate::event::{BufferReport, CarrierId, Dci, Direction, ReportCause, Transmission};

/// Maximum number of blocks or reports in a record: their counts have four bits.
const FEW: usize = 15;

/// The group of the first data radio bearer. Chosen.
const GROUP: u8 = 3;

/// Interval at which sums are written.
const SUMS_EVERY: Duration = Duration::from_millis(100);

/// Sums of a carrier (0xB881).
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    new_bytes: u64,
    retx_bytes: u64,
    mcs: u64,
    rbs: u64,
    new_blocks: u32,
    retx_blocks: u32,
    slots: u32,
    /// The slot that was counted last.
    last: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Uplink {
    schedule: Batch<Form>,
    blocks: Batch<Form>,
    reports: Batch<NrBsr>,
    /// Slots from grant to transmission, by carrier and slot of the transmission.
    offsets: BTreeMap<(CarrierId, u64), u8>,
    sums: BTreeMap<CarrierId, Sums>,
    sums_due: HostInstant,
}

impl Uplink {
    pub(super) fn new(origin: HostInstant) -> Self {
        Self {
            schedule: Batch::new(MOST, 20, origin),
            blocks: Batch::new(FEW, 100, origin),
            reports: Batch::new(FEW, 100, origin),
            offsets: BTreeMap::new(),
            sums: BTreeMap::new(),
            sums_due: origin + SUMS_EVERY,
        }
    }

    pub(super) fn handle_beat(&mut self, now: HostInstant, common: &mut Common) {
        written(self.schedule.due(now), |items| write_schedule(items, common));
        written(self.blocks.due(now), |items| write_blocks(items, common));
        written(self.reports.due(now), |items| write_reports(items, common));
        if self.sums_due <= now {
            self.sums_due = self.sums_due + SUMS_EVERY;
            self.write_sums(now, common);
        }
    }

    pub(super) fn handle_grant(&mut self, dci: &Dci) {
        let carrier = dci.sent_in.carrier;
        let offset = (dci.data_slot - dci.sent_in.slot) as u8;
        self.offsets.insert((carrier, dci.data_slot), offset);
        // A grant whose block never came is forgotten once the next frame has begun.
        let old = dci.sent_in.slot.saturating_sub(160);
        self.offsets.retain(|&(of, slot), _| of != carrier || slot > old);
    }

    pub(super) fn handle_sent(&mut self, cell: &Cell, sent: &Transmission, common: &mut Common) {
        let Some(slot) = cell.slot(sent.slot.slot) else { return };
        let carrier = common.cells.index(sent.slot.carrier) & 3;
        let again = sent.number > 0;
        let sums = self.sums.entry(sent.slot.carrier).or_default();
        sums.slots += u32::from(sums.last.replace(sent.slot.slot) != Some(sent.slot.slot));
        sums.mcs += u64::from(sent.mcs);
        sums.rbs += u64::from(sent.prb);
        let (bytes, blocks) = match again {
            false => (&mut sums.new_bytes, &mut sums.new_blocks),
            true => (&mut sums.retx_bytes, &mut sums.retx_blocks),
        };
        *bytes += u64::from(sent.size);
        *blocks += 1;

        let k2 = self.offsets.get(&(sent.slot.carrier, sent.slot.slot)).copied().unwrap_or(0);
        let modulation = cell.modulation(Direction::Uplink, sent.mcs);
        let pusch = Form::new()
            .number("symbols", 14)
            .number("harq", sent.harq & 15)
            .number("mcs", sent.mcs)
            .number("start_rb", sent.first_prb)
            .number("rbs", sent.prb)
            .number("tb_bytes", sent.size)
            .number("rv", sent.rv)
            .number("tx_type", again)
            .number("k2", k2)
            .number("modulation", modulation.map_or(0, |modulation| modulation.order() + 1));
        let item = Form::new().number("carrier", carrier).list("pusch", Vec::from([pusch]));
        let item = timed(slot).list("carriers", Vec::from([item]));
        written(self.schedule.push(item), |items| write_schedule(items, common));
        if again {
            return;
        }

        let mut element = Vec::new();
        let report = sent.report.as_ref().map(|report| {
            let bsr = Element::ShortBsr { group: GROUP, index: report.index };
            bsr.emit(&mut element);
            (reason(report), bsr)
        });
        if let Some((reason, bsr)) = report {
            let item = NrBsr {
                slot: Some(slot),
                carrier,
                harq: sent.harq & 15,
                reason,
                kind: SHORT,
                groups: 1 << GROUP,
                element: Some(bsr),
            };
            written(self.reports.push(item), |items| write_reports(items, common));
        }
        let built = sent.size.saturating_sub(sent.padding);
        let block = Form::new()
            .number("numerology", cell.config.numerology)
            .number("harq", sent.harq & 15)
            .number("carrier", carrier)
            .number("grant_bytes", sent.size)
            .number("built_bytes", built)
            .number("complete_pdus", sent.pdus.len() as u8)
            .number("bsr_reason", report.map_or(0, |(reason, _)| reason))
            .number("bsr_type", if report.is_some() { SHORT } else { 0 })
            .bytes("mac", element);
        let item = Form::new().number("slot", slot.slot()).number("frame", slot.frame());
        let item = item.list("blocks", Vec::from([block]));
        written(self.blocks.push(item), |items| write_blocks(items, common));
    }

    fn write_sums(&mut self, now: HostInstant, common: &mut Common) {
        let sums = core::mem::take(&mut self.sums);
        let carriers: Vec<Form> = common
            .cells
            .all()
            .filter(|cell| cell.config.rat == Rat::Nr && cell.config.uplink)
            .map(|cell| {
                let sums = sums.get(&cell.carrier).copied().unwrap_or_default();
                let end = common.cells.count(cell, now);
                let count = (SUMS_EVERY.as_nanos() / cell.frame.slot().as_nanos().max(1)) as u64;
                let slots =
                    (end.saturating_sub(count)..end).filter(|&s| cell.frame.kind(s).has_uplink());
                let unscheduled = (slots.count() as u32).saturating_sub(sums.slots);
                Form::new()
                    .number("new_bytes", sums.new_bytes.cast_signed())
                    .number("retx_bytes", sums.retx_bytes.cast_signed())
                    .number("mcs_sum", sums.mcs.cast_signed())
                    .number("rbs", sums.rbs.cast_signed())
                    .number("new_blocks", sums.new_blocks)
                    .number("retx_blocks", sums.retx_blocks)
                    .number("scheduled_slots", sums.slots)
                    .number("unscheduled_slots", unscheduled)
            })
            .collect();
        if !carriers.is_empty() {
            common.log.compose(0xB881, 0x3_0001, || Form::new().list("carriers", carriers));
        }
    }
}

/// The number of a short report in records.
const SHORT: u8 = 1;

/// Why a report was sent, as records number it; of padding no number is known.
const fn reason(report: &BufferReport) -> u8 {
    match report.cause {
        ReportCause::Periodic => 1,
        ReportCause::Regular => 4,
        ReportCause::Padding => 0,
    }
}

fn write_schedule(items: &[Form], common: &mut Common) {
    common.log.compose(0xB883, 0x2_0011, || Form::new().list("slots", items.to_vec()));
}

fn write_blocks(items: &[Form], common: &mut Common) {
    common.log.compose(0xB872, 4, || Form::new().list("ttis", items.to_vec()));
}

fn write_reports(items: &[NrBsr], common: &mut Common) {
    common.log.write(NrUplinkBsr::CODE, |out| NrUplinkBsr::emit(items, out));
}
