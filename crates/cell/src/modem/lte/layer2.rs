//! MAC and RLC: 0xB063, 0xB064, 0xB066, 0xB082, 0xB083, 0xB092.

use alloc::vec::Vec;

use sounding_diag::mac::{self, Element, MacPdu};
use sounding_diag::radio::{Rnti, Tti};
use sounding_diag::record::{
    BsrEvent, BsrTrigger, BufferSampleRepr, ChannelBacklog, DownlinkBlock, Form, MacDownlink,
    MacUplink, UplinkBlock, UplinkBuffer,
};
use sounding_units::{Bytes, HostInstant};

use super::super::Common;
use super::super::batch::Batch;
use super::super::cells::tti;
use super::super::rlc::{Waiting, lte_header, lte_status};
use super::{collect, written};
use crate::bearer::Status;
use crate::event::{Direction, ReportCause, Transmission};

/// The logical channel of the first data radio bearer, its group, and its priority (TS 36.331
/// §9.2.1.2; networks put data into the last group).
const CHANNEL: u8 = 3;
const GROUP: u8 = 3;
const PRIORITY: u8 = 13;

/// Maximum number of uplink blocks in a record.
const UP_MOST: usize = 25;

/// Maximum number of items in another kind of record.
const MOST: usize = 255;

/// Samples of the backlog in a record, one for each millisecond.
const SAMPLES: u32 = 40;

/// A transport block.
#[derive(Debug)]
struct Taken {
    tti: Tti,
    cell: u8,
    harq: u8,
    size: u64,
    padding: u64,
    rlc_pdus: u8,
    event: BsrEvent,
    trigger: BsrTrigger,
    header: Vec<u8>,
}

/// Items that layer 2 collects for its next records.
#[derive(Debug)]
pub(super) struct Layer2 {
    down: Batch<Taken>,
    up: Batch<Taken>,
    down_pdus: Batch<Form>,
    up_pdus: Batch<Form>,
    statuses: Batch<Form>,
    waiting: Waiting,
    /// Activation bits of secondary cells that the next block of the downlink carries.
    command: Option<u8>,
    /// Schedule of the backlog's record, which is written also without a backlog.
    buffer: Batch<()>,
}

impl Layer2 {
    pub(super) fn new(origin: HostInstant) -> Self {
        Self {
            down: Batch::new(MOST, 50, origin),
            up: Batch::new(UP_MOST, 100, origin),
            down_pdus: Batch::new(MOST, 40, origin),
            up_pdus: Batch::new(MOST, 45, origin),
            statuses: Batch::new(MOST, 100, origin),
            waiting: Waiting::default(),
            command: None,
            buffer: Batch::new(MOST, u64::from(SAMPLES), origin),
        }
    }

    pub(super) fn handle_beat(&mut self, now: HostInstant, common: &mut Common) {
        written(self.down.due(now), |blocks| write_down(blocks, common));
        written(self.up.due(now), |blocks| write_up(blocks, common));
        written(self.down_pdus.due(now), |pdus| write_pdus(Direction::Downlink, pdus, common));
        written(self.up_pdus.due(now), |pdus| write_pdus(Direction::Uplink, pdus, common));
        written(self.statuses.due(now), |pdus| write_statuses(pdus, common));
        if self.buffer.is_due(now) {
            self.write_waiting(now, common);
        }
    }

    /// The network activates these secondary cells, and deactivates the others (TS 36.321
    /// §6.1.3.8).
    pub(super) fn handle_command(&mut self, cells: u8) {
        self.command = Some(cells);
    }

    pub(super) fn handle_downlink(
        &mut self,
        sent: &Transmission,
        acknowledged: bool,
        common: &mut Common,
    ) {
        let cell = common.cells.index(sent.slot.carrier);
        let count = if sent.layers > 1 { 2 } else { 1 };
        let size = u64::from(sent.size / count);
        let mut data = u64::from(sent.size) - u64::from(sent.padding).min(sent.size.into());
        for codeword in 0..count {
            // The first codeword is filled first.
            let used = data.min(size);
            data -= used;
            let padding = size - used;
            let mut header = Vec::new();
            let element = self.command.take().map(Element::Activation);
            // It has a subheader and an octet.
            let control = if element.is_some() { 2 } else { 0 };
            let units: &[(u8, u16)] = &[(CHANNEL, used.saturating_sub(4 + control) as u16)];
            let elements = element.as_slice();
            let written = mac::emit(false, elements, units, padding > 0, &mut header).is_ok();
            debug_assert!(written, "the channel carries data");
            let taken = Taken {
                tti: tti(sent.slot.slot),
                cell,
                harq: sent.harq & 15,
                size,
                padding,
                rlc_pdus: if codeword == 0 { sent.pdus.len() as u8 } else { 0 },
                event: BsrEvent::None,
                trigger: BsrTrigger::None,
                header,
            };
            collect(&mut self.down, taken, |blocks| write_down(blocks, common));
        }
        if acknowledged {
            self.take_pdus(sent, common);
        }
    }

    pub(super) fn handle_uplink(
        &mut self,
        at: HostInstant,
        sent: &Transmission,
        acknowledged: bool,
        common: &mut Common,
    ) {
        let new = sent.pdus.iter().map(|pdu| pdu.span.len()).sum();
        match sent.report {
            Some(report) => self.waiting.handle_report(at, report.waiting),
            None => self.waiting.handle_sent(at, new),
        }
        let (event, trigger) = match sent.report.map(|report| report.cause) {
            None => (BsrEvent::None, BsrTrigger::None),
            Some(ReportCause::Periodic) => (BsrEvent::Periodic, BsrTrigger::Short),
            Some(ReportCause::Regular) => (BsrEvent::HighData, BsrTrigger::Short),
            Some(ReportCause::Padding) => (BsrEvent::None, BsrTrigger::PaddingShort),
        };
        let element = sent.report.map(|report| Element::ShortBsr {
            group: GROUP,
            index: report.index,
            truncated: false,
        });
        let units = sent.pdus.iter().map(|pdu| (CHANNEL, pdu.span.len() as u16 + 2));
        let units: Vec<(u8, u16)> = units.collect();
        let (elements, mut header) = (element.as_slice(), Vec::new());
        let written = mac::emit(true, elements, &units, sent.padding > 0, &mut header).is_ok();
        debug_assert!(written, "the channel carries data, the element goes up");
        let taken = Taken {
            tti: tti(sent.slot.slot),
            cell: common.cells.index(sent.slot.carrier),
            harq: sent.harq & 15,
            size: sent.size.into(),
            padding: sent.padding.into(),
            rlc_pdus: sent.pdus.len() as u8,
            event,
            trigger,
            header,
        };
        collect(&mut self.up, taken, |blocks| write_up(blocks, common));
        if acknowledged {
            self.take_pdus(sent, common);
        }
    }

    fn take_pdus(&mut self, sent: &Transmission, common: &mut Common) {
        if !common.log.wants(pdu_code(sent.direction)) {
            return;
        }
        let time = tti(sent.slot.slot);
        for pdu in &sent.pdus {
            let header = lte_header(pdu);
            let form =
                timed(time).number("pdu_bytes", (pdu.span.len() as usize + header.len()) as u16);
            self.take_pdu(sent.direction, form.bytes("rlc", header), common);
        }
    }

    fn take_pdu(&mut self, direction: Direction, pdu: Form, common: &mut Common) {
        let batch = match direction {
            Direction::Downlink => &mut self.down_pdus,
            Direction::Uplink => &mut self.up_pdus,
        };
        collect(batch, pdu, |pdus| write_pdus(direction, pdus, common));
    }

    /// A status goes the other way than the data that it is about.
    pub(super) fn handle_status(
        &mut self,
        at: HostInstant,
        about: Direction,
        status: &Status,
        common: &mut Common,
    ) {
        let time = common.cells.tti(at);
        match about {
            Direction::Downlink => {
                let bytes = lte_status(&common.down, status);
                let form = timed(time).number("pdu_bytes", bytes.len() as u16).bytes("rlc", bytes);
                self.take_pdu(Direction::Uplink, form, common);
            }
            Direction::Uplink => {
                let bytes = lte_status(&common.up, status);
                let form = timed(time).number("pdu_bytes", bytes.len() as u16);
                let form = form.number("status", 1).bytes("rlc", bytes.clone());
                self.take_pdu(Direction::Downlink, form, common);
                let form = timed(time).number("sn_bits", 10).bytes("rlc", bytes);
                collect(&mut self.statuses, form, |pdus| write_statuses(pdus, common));
            }
        }
    }

    fn write_waiting(&mut self, now: HostInstant, common: &mut Common) {
        let samples = self.waiting.samples(now, SAMPLES);
        let samples: Vec<(Tti, [ChannelBacklog; 1])> = samples
            .into_iter()
            .map(|(at, waiting)| {
                let backlog = ChannelBacklog {
                    channel: CHANNEL,
                    priority: PRIORITY,
                    new: Bytes::new(waiting.min(u32::MAX.into())),
                    retx: Bytes::ZERO,
                    control: Bytes::ZERO,
                };
                (common.cells.tti(at), [backlog])
            })
            .collect();
        let samples: Vec<BufferSampleRepr<'_>> = samples
            .iter()
            .map(|(tti, channels)| BufferSampleRepr { tti: Some(*tti), channels })
            .collect();
        common.log.write(UplinkBuffer::CODE, |out| UplinkBuffer::emit(&samples, out));
    }
}

fn timed(time: Tti) -> Form {
    Form::new().number("frame", time.sfn()).number("subframe", time.subframe())
}

fn write_down(blocks: &[Taken], common: &mut Common) {
    let blocks: Vec<DownlinkBlock<'_>> = blocks
        .iter()
        .map(|block| DownlinkBlock {
            tti: Some(block.tti),
            cell: block.cell,
            harq: block.harq,
            rnti: Rnti::Cell,
            size: Bytes::new(block.size),
            padding: Bytes::new(block.padding),
            rlc_pdus: Some(block.rlc_pdus),
            pdu: MacPdu::new(&block.header, Rnti::Cell, false),
        })
        .collect();
    common.log.write(MacDownlink::CODE, |out| MacDownlink::emit(&blocks, out));
}

fn write_up(blocks: &[Taken], common: &mut Common) {
    let blocks: Vec<UplinkBlock<'_>> = blocks
        .iter()
        .map(|block| UplinkBlock {
            tti: Some(block.tti),
            cell: block.cell,
            harq: block.harq,
            rnti: Rnti::Cell,
            grant: Bytes::new(block.size),
            padding: Bytes::new(block.padding),
            rlc_pdus: block.rlc_pdus,
            event: block.event,
            trigger: block.trigger,
            pdu: MacPdu::new(&block.header, Rnti::Cell, true),
        })
        .collect();
    common.log.write(MacUplink::CODE, |out| MacUplink::emit(&blocks, out));
}

/// All PDUs of a direction.
const fn pdu_code(direction: Direction) -> u16 {
    match direction {
        Direction::Downlink => 0xB082,
        Direction::Uplink => 0xB092,
    }
}

fn write_pdus(direction: Direction, pdus: &[Form], common: &mut Common) {
    let (sub, window) = match direction {
        Direction::Downlink => (65, common.down),
        Direction::Uplink => (70, common.up),
    };
    common.log.compose(pdu_code(direction), 1, || {
        let bearer = Form::sub_packet(sub, 3).number("mode", 1).number("sn_bits", 10);
        let next = (window.next % 1024) as u16;
        let bearer = match direction {
            Direction::Downlink => bearer.number("vr_h", next),
            Direction::Uplink => bearer.number("vt_s", next),
        };
        Form::new().list("sub_packets", Vec::from([bearer.list("pdus", pdus.to_vec())]))
    });
}

fn write_statuses(pdus: &[Form], common: &mut Common) {
    common.log.compose(0xB083, 48, || Form::new().list("pdus", pdus.to_vec()));
}
