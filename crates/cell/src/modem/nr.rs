//! NR's records of transmissions and receptions: 0xB84E, 0xB857, 0xB869, 0xB870, 0xB872, 0xB873,
//! 0xB881, 0xB883, 0xB885, 0xB887, 0xB8A7, 0xB97F.
//!
//! No public capture shows their intervals. Here uplink and downlink records are written every 20
//! ms or when full, the others at the same intervals as LTE's records with the same contents.

mod data;
mod down;
mod up;

use alloc::vec::Vec;

use sounding_diag::radio::{Decibels, Slot};
use sounding_diag::record::{Form, NrCell, NrLayerRepr, NrPdschBlock, NrPdschStatus, NrSearcher};
use sounding_units::HostInstant;

use self::data::Data;
use self::up::Uplink;
use super::Common;
use super::batch::Batch;
use super::cells::Cell;
use super::rlc::nr_status;
use crate::bearer::Status;
use crate::event::{ChannelReport, Dci, Direction, Signal, Transmission};

/// Maximum number of blocks or messages in a record.
const MOST: usize = 32;

/// Items that an NR modem collects for its next records.
#[derive(Debug)]
pub(super) struct Nr {
    down: Batch<NrPdschBlock>,
    messages: Batch<(Direction, Form)>,
    reports: Batch<Form>,
    /// Status PDUs of the network, and of the device.
    heard: Batch<Form>,
    told: Batch<Form>,
    data: Data,
    up: Uplink,
}

impl Nr {
    pub(super) fn new(origin: HostInstant) -> Self {
        Self {
            down: Batch::new(MOST, 20, origin),
            messages: Batch::new(MOST, 20, origin),
            reports: Batch::new(MOST, 80, origin),
            heard: Batch::new(MOST, 40, origin),
            told: Batch::new(MOST, 45, origin),
            data: Data::new(origin),
            up: Uplink::new(origin),
        }
    }

    pub(super) fn handle_beat(&mut self, now: HostInstant, common: &mut Common) {
        written(self.down.due(now), |blocks| write_down(blocks, common));
        written(self.messages.due(now), |messages| down::write_messages(messages, common));
        written(self.reports.due(now), |reports| write_reports(reports, common));
        written(self.heard.due(now), |pdus| write_heard(pdus, common));
        written(self.told.due(now), |pdus| write_told(pdus, common));
        self.data.handle_beat(now, common);
        self.up.handle_beat(now, common);
    }

    pub(super) fn handle_dci(&mut self, cell: &Cell, dci: &Dci, common: &mut Common) {
        if dci.direction == Direction::Uplink {
            self.up.handle_grant(dci);
        }
        if common.log.wants(0xB885)
            && let Some(message) = down::message(cell, dci)
        {
            let full = self.messages.push((dci.direction, message));
            written(full, |messages| down::write_messages(messages, common));
        }
    }

    pub(super) fn handle_sent(
        &mut self,
        cell: &Cell,
        sent: &Transmission,
        acknowledged: bool,
        common: &mut Common,
    ) {
        let holds_data = match sent.direction {
            Direction::Downlink => {
                let full = self.down.push(down::block(cell, sent));
                written(full, |blocks| write_down(blocks, common));
                sent.arrived
            }
            Direction::Uplink => {
                self.up.handle_sent(cell, sent, common);
                // MAC builds a block once.
                sent.number == 0
            }
        };
        let code = match sent.direction {
            Direction::Downlink => 0xB857,
            Direction::Uplink => 0xB870,
        };
        if acknowledged && holds_data && common.log.wants(code) {
            self.data.handle_block(cell, sent, common);
        }
    }

    pub(super) fn handle_channel(
        &mut self,
        cell: &Cell,
        report: &ChannelReport,
        common: &mut Common,
    ) {
        let Some(slot) = cell.slot(report.slot.slot) else { return };
        let csi = Form::new().number("ri", report.rank.clamp(1, 4) - 1).number("cqi", report.cqi);
        let item = Form::new().list("csi", Vec::from([csi]));
        let full = self.reports.push(timed(slot).list("reports", Vec::from([item])));
        written(full, |reports| write_reports(reports, common));
    }

    /// A status goes the other way than the data that it is about.
    pub(super) fn handle_status(
        &mut self,
        cell: &Cell,
        at: HostInstant,
        about: Direction,
        status: &Status,
        common: &mut Common,
    ) {
        let Some(slot) = common.cells.slot(cell, at) else { return };
        let form = Form::new().number("slot", slot.slot()).number("frame", slot.frame());
        match about {
            Direction::Uplink => {
                let form = form.number("sn_len_bits", 18);
                let full = self.heard.push(form.bytes("status", nr_status(&common.up, status)));
                written(full, |pdus| write_heard(pdus, common));
            }
            Direction::Downlink => {
                let form = form
                    .number("channel", CHANNEL)
                    .number("sn_len_bits", 1)
                    .number("action", 1)
                    .number("pdu_type", !status.nack_sns.is_empty());
                let full = self.told.push(form.bytes("status", nr_status(&common.down, status)));
                written(full, |pdus| write_told(pdus, common));
            }
        }
    }
}

/// The logical channel of the first data radio bearer; signalling has 1 to 3 (TS 38.331 §9.2.1).
const CHANNEL: u8 = 4;

fn written<T>(full: Option<Vec<T>>, write: impl FnOnce(&[T])) {
    if let Some(items) = full {
        write(&items);
    }
}

fn timed(slot: Slot) -> Form {
    let numerology = slot.numerology().unwrap_or(0);
    let form = Form::new().number("slot", slot.slot()).number("frame", slot.frame());
    form.number("numerology", numerology)
}

/// Version 3.3 has most fields of a block but only seventeen bits of size; larger blocks need
/// version 3.13.
fn write_down(blocks: &[NrPdschBlock], common: &mut Common) {
    const MOST: u64 = (1 << 17) - 1;
    if blocks.iter().all(|block| block.size.count() <= MOST) {
        common.log.write(NrPdschStatus::CODE, |out| NrPdschStatus::emit(blocks, out));
    } else {
        common.log.compose(0xB887, 0x3_000D, || {
            Form::new().list("slots", blocks.iter().filter_map(down::large_block).collect())
        });
    }
}

fn write_reports(reports: &[Form], common: &mut Common) {
    common.log.compose(0xB8A7, 0x3_0005, || Form::new().list("slots", reports.to_vec()));
}

fn write_heard(pdus: &[Form], common: &mut Common) {
    common.log.compose(0xB84E, 1, || Form::new().list("pdus", pdus.to_vec()));
}

fn write_told(pdus: &[Form], common: &mut Common) {
    common.log.compose(0xB869, 0x3_0001, || Form::new().list("pdus", pdus.to_vec()));
}

/// 0xB97F.
pub(super) fn write_signal(cell: &Cell, signal: &Signal, common: &mut Common) {
    let carrier = common.cells.index(signal.carrier);
    let (arfcn, pci) = (cell.config.arfcn, cell.config.pci);
    let level = |level: f32| Some(Decibels::from_f64(level.into()));
    let measured = NrCell {
        arfcn,
        carrier: Some(carrier),
        pci,
        serving: true,
        rsrp: level(signal.rsrp_dbm),
        rsrq: level(signal.rsrq_db),
    };
    let cells = [measured];
    let layer = NrLayerRepr { arfcn, carrier, serving_pci: Some(pci), cells: &cells };
    common.log.write(NrSearcher::CODE, |out| NrSearcher::emit(&[layer], out));
}
