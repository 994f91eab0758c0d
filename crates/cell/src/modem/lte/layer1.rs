//! The physical layer: 0xB139, 0xB14D, 0xB16B, 0xB16C, 0xB173, 0xB193.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use sounding_diag::radio::{Decibels, Rnti, Tti};
use sounding_diag::record::{
    Form, PdschBlock, PdschStat, PdschSubframeRepr, PuschTx, PuschTxReport,
};
use sounding_phy::lte::TddConfig;
use sounding_units::{Bytes, HostInstant, Prb};

use super::super::Common;
use super::super::batch::Batch;
use super::super::cells::{Cell, Cells, tti};
use super::{collect, written};
use crate::event::{ChannelReport, Dci, Direction, Signal, SlotId, Transmission};

/// Most uplink transmissions in a report: its field has five bits.
const PUSCH_MOST: usize = 31;

/// Subframes of a record of downlink statistics. Chosen: as many as its siblings hold.
const PDSCH_MOST: usize = 25;

/// Subframes of a record of PDCCH and PHICH.
const INDICATIONS: u64 = 25;

/// Records of control information hold 17 to 20 subframes where they have room for all of them.
const DCI_MOST: usize = 20;

/// A subframe of 0xB173.
#[derive(Debug)]
pub(super) struct PdschItem {
    tti: Tti,
    rbs: Prb,
    layers: u8,
    cell: u8,
    blocks: ArrayVec<PdschBlock, 2>,
}

impl PdschItem {
    pub(super) fn of(cell: &Cell, sent: &Transmission, cells: &Cells) -> Option<Self> {
        let modulation = cell.modulation(Direction::Downlink, sent.mcs)?;
        // Two layers are two codewords (TS 36.211 §6.3.3.2).
        let count = if sent.layers > 1 { 2 } else { 1 };
        let block = |index: u8| PdschBlock {
            harq: sent.harq & 15,
            rv: sent.rv,
            ndi: sent.ndi,
            received: sent.arrived,
            rnti: Rnti::Cell,
            index,
            size: Bytes::new(u64::from(sent.size / u32::from(count)) + CRC),
            mcs: sent.mcs,
            rbs: Prb::new(sent.prb),
            modulation: Some(modulation),
        };
        Some(Self {
            tti: tti(sent.slot.slot),
            rbs: Prb::new(sent.prb),
            layers: sent.layers,
            cell: cells.index(sent.slot.carrier),
            blocks: (0..count).map(block).collect(),
        })
    }
}

/// The record counts a block with its CRC (TS 36.212 §5.1.1).
const CRC: u64 = 3;

/// Messages received on control channels in a subframe.
#[derive(Clone, Debug, Default)]
struct Heard {
    messages: ArrayVec<Form, 16>,
    answers: ArrayVec<Form, 5>,
}

/// A message of 0xB16C.
#[derive(Debug)]
struct Message {
    slot: u64,
    carrier: u8,
    dci: Dci,
    tbs_index: u8,
    modulation: u8,
}

/// Items that layer 1 collects for its next records.
#[derive(Debug)]
pub(super) struct Layer1 {
    pdsch: Batch<PdschItem>,
    pusch: Batch<PuschTx>,
    messages: Batch<Message>,
    /// By subframe.
    heard: BTreeMap<u64, Heard>,
    /// The first subframe of the next record of them.
    next: u64,
}

impl Layer1 {
    pub(super) fn new(origin: HostInstant) -> Self {
        Self {
            pdsch: Batch::new(PDSCH_MOST, 300, origin),
            pusch: Batch::new(PUSCH_MOST, 10, origin),
            messages: Batch::new(DCI_MOST, 100, origin),
            heard: BTreeMap::new(),
            next: 0,
        }
    }

    pub(super) fn handle_beat(&mut self, now: HostInstant, common: &mut Common) {
        written(self.pdsch.due(now), |items| write_pdsch(items, common));
        written(self.pusch.due(now), |items| write_pusch(items, now, common));
        written(self.messages.due(now), |items| write_messages(items, common));
        let past = (now - common.cells.origin()).as_millis() as u64;
        while self.next + INDICATIONS <= past {
            let end = self.next + INDICATIONS;
            let rest = self.heard.split_off(&end);
            let heard = core::mem::replace(&mut self.heard, rest);
            common.log.compose(0xB16B, 34, || indications(self.next, &heard));
            self.next = end;
        }
    }

    pub(super) fn handle_pdsch(&mut self, item: PdschItem, common: &mut Common) {
        collect(&mut self.pdsch, item, |items| write_pdsch(items, common));
    }

    pub(super) fn handle_pusch(&mut self, cell: &Cell, sent: &Transmission, common: &mut Common) {
        let Some(modulation) = cell.modulation(Direction::Uplink, sent.mcs) else { return };
        // Twelve symbols of twelve subcarriers carry data; the block and its CRC are in them (TS
        // 36.211 §5.3.4).
        let channel = u32::from(sent.prb) * 144 * u32::from(modulation.bits());
        let power = libm::roundf(sent.power_dbm).clamp(-64.0, 63.0) as i16;
        let tx = PuschTx {
            tti: Some(tti(sent.slot.slot)),
            carrier: common.cells.index(sent.slot.carrier) & 3,
            retx: sent.number,
            rv: sent.rv,
            start_rb: sent.first_prb as u8,
            rbs: Prb::new(sent.prb),
            size: Bytes::new(sent.size.into()),
            code_rate_1024: ((sent.size * 8 + 24) * 1024 / channel.max(1)) as u16,
            modulation: Some(modulation),
            power: Decibels::whole(power),
            dropped: Some(false),
        };
        let now = sent.slot.at + cell.frame.slot();
        collect(&mut self.pusch, tx, |items| write_pusch(items, now, common));
    }

    pub(super) fn handle_dci(&mut self, cell: &Cell, dci: &Dci, common: &mut Common) {
        let carrier = common.cells.index(dci.sent_in.carrier);
        let slot = dci.sent_in.slot;
        if slot >= self.next && common.log.wants(0xB16B) {
            let heard = self.heard.entry(slot).or_default();
            let downlink = dci.direction == Direction::Downlink;
            let form = Form::new()
                .number("cell", carrier)
                .number("payload_bits", 31 + 16 * i64::from(dci.layers > 1))
                .number("aggregation", 1)
                .number("search_space", 1)
                .number("new_downlink", downlink && !dci.again)
                .number("downlink_blocks", if downlink { dci.layers.min(2) } else { 0 });
            let _ = heard.messages.try_push(form);
        }
        if !common.log.wants(0xB16C) {
            return;
        }
        let modulation = cell.modulation(dci.direction, dci.mcs).map_or(0, |m| m.order() + 1);
        let tbs_index = cell.tbs_index(dci.direction, dci.mcs);
        let message = Message { slot, carrier, dci: *dci, tbs_index, modulation };
        collect(&mut self.messages, message, |items| write_messages(items, common));
    }

    pub(super) fn handle_answer(&mut self, slot: SlotId, arrived: bool, common: &Common) {
        if slot.slot >= self.next && common.log.wants(0xB16B) {
            let answer = Form::new()
                .number("cell", common.cells.index(slot.carrier))
                .number("present", 1)
                .number("answer", arrived);
            let _ = self.heard.entry(slot.slot).or_default().answers.try_push(answer);
        }
    }
}

fn write_pdsch(items: &[PdschItem], common: &mut Common) {
    let subframes: Vec<PdschSubframeRepr<'_>> = items
        .iter()
        .map(|item| {
            let PdschItem { tti, rbs, layers, cell, ref blocks } = *item;
            PdschSubframeRepr { tti, rbs, layers, cell, blocks }
        })
        .collect();
    common.log.write(PdschStat::CODE, |out| PdschStat::emit(&subframes, out));
}

fn write_pusch(items: &[PuschTx], now: HostInstant, common: &mut Common) {
    let pci = common.cells.primary().map_or(0, |cell| cell.config.pci);
    let dispatched = common.cells.tti(now);
    common.log.write(PuschTxReport::CODE, |out| PuschTxReport::emit(pci, dispatched, items, out));
}

fn indications(first: u64, heard: &BTreeMap<u64, Heard>) -> Form {
    let subframe = |slot: u64| {
        let tti = tti(slot);
        let form = Form::new().number("frame", tti.sfn()).number("subframe", tti.subframe());
        match heard.get(&slot) {
            None => form,
            Some(heard) => {
                form.list("pdcch", heard.messages.to_vec()).list("phich", heard.answers.to_vec())
            }
        }
    };
    let subframes = (first..first + INDICATIONS).map(subframe).collect();
    Form::new().list("subframes", subframes)
}

/// One subframe may have several messages; the record has its time once.
fn write_messages(items: &[Message], common: &mut Common) {
    let tdd = common.cells.primary().and_then(|cell| cell.config.lte_tdd());
    common.log.compose(0xB16C, 50, || {
        let subframe = |items: &[Message]| {
            let tti = tti(items.first().map_or(0, |message| message.slot));
            let (up, down): (Vec<&Message>, Vec<&Message>) =
                items.iter().partition(|message| message.dci.direction == Direction::Uplink);
            Form::new()
                .number("frame", tti.sfn())
                .number("subframe", tti.subframe())
                .list("grants", up.into_iter().map(grant).collect())
                .list("assignments", down.into_iter().map(assignment).collect())
        };
        let same = items.chunk_by(|a, b| a.slot == b.slot).map(subframe).collect();
        Form::new()
            .number("duplex_mode", tdd.is_some())
            .number("subframe_assignment", tdd.map_or(0, TddConfig::number))
            .list("subframes", same)
    });
}

fn grant(message: &Message) -> Form {
    let dci = &message.dci;
    Form::new()
        .number("ndi", dci.ndi)
        .number("harq", dci.harq & 7)
        .number("carrier", message.carrier & 3)
        .number("k", (dci.data_slot - dci.sent_in.slot) as u8 & 7)
        .number("rv", dci.rv)
        .number("mcs", dci.mcs)
        .number("tbs_index", message.tbs_index)
        .number("modulation", message.modulation)
        .number("start_rb", dci.first_prb)
        .number("rbs", dci.prb)
}

fn assignment(message: &Message) -> Form {
    Form::new()
        .number("cell", message.carrier & 7)
        .number("format", message.dci.layers > 1)
        .number("ack_bits", message.dci.layers.min(2))
}

/// 0xB14D, one for each report.
pub(in super::super) fn write_channel(cell: &Cell, report: &ChannelReport, common: &mut Common) {
    /// Wideband CQI with a precoder; closed-loop spatial multiplexing.
    const WIDEBAND: u8 = 2;
    const CLOSED_LOOP: u8 = 4;
    let tti = tti(report.slot.slot);
    let carrier = common.cells.index(report.slot.carrier);
    common.log.compose(0xB14D, 102, || {
        Form::new()
            .number("frame", tti.sfn())
            .number("subframe", tti.subframe())
            .number("mode", WIDEBAND)
            .number("report_type", WIDEBAND)
            .number("subbands", crate::config::SUB_BANDS as u8)
            .number("cqi_0", report.cqi)
            .number("cqi_1", if report.rank > 1 { report.cqi } else { 0 })
            .number("carrier", carrier)
            .number("transmission_mode", CLOSED_LOOP)
            .number("alternative_cqi_table", cell.config.qam256)
            .number("rank", report.rank.clamp(1, 4) - 1)
    });
}

/// 0xB193.
pub(in super::super) fn write_signal(cell: &Cell, signal: &Signal, common: &mut Common) {
    let tti = common.cells.tti(signal.at);
    let index = common.cells.index(signal.carrier);
    let rsrp = signal.rsrp_dbm.clamp(-140.0, 0.0);
    let rsrq = signal.rsrq_db.clamp(-30.0, 30.0);
    let snr = signal.sinr_db.clamp(-20.0, 30.0);
    // TS 36.214 §5.1.3: RSRQ is N × RSRP / RSSI.
    let rssi = rsrp + 10.0 * libm::log10f(f32::from(cell.config.prb.max(1))) - rsrq;
    let rssi = rssi.clamp(-110.0, 10.0);
    common.log.compose(0xB193, 1, || {
        let levels = Form::new()
            .number("pci", cell.config.pci)
            .number("cell", index)
            .number("serving", 1)
            .number("frame", tti.sfn())
            .number("subframe", tti.subframe())
            .level("rsrp_rx0_dbm", rsrp)
            .level("rsrp_dbm", rsrp)
            .level("rsrp_filtered_dbm", rsrp)
            .level("rsrq_rx0_db", rsrq)
            .level("rsrq_db", rsrq)
            .level("rsrq_filtered_db", rsrq)
            .level("rssi_rx0_dbm", rssi)
            .level("rssi_dbm", rssi)
            .level("snr_rx0_db", snr);
        let sub = Form::sub_packet(25, 36)
            .number("earfcn", cell.config.arfcn)
            // A map of receivers. The model has one level for all antennas, which is written for
            // the first.
            .number("valid_receivers", 1)
            .list("cells", Vec::from([levels]));
        Form::new().list("sub_packets", Vec::from([sub]))
    });
}
