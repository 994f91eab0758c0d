//! Downlink blocks and control messages: 0xB885 and 0xB887.

use alloc::vec::Vec;

use sounding_diag::record::{Form, NrPdschBlock};
use sounding_units::{Bytes, Prb};

use super::super::Common;
use super::super::cells::Cell;
use super::timed;
use crate::event::{Dci, Direction, Transmission};

pub(super) fn block(cell: &Cell, sent: &Transmission) -> NrPdschBlock {
    let k1 = cell.frame.feedback(sent.slot.slot) - sent.slot.slot;
    NrPdschBlock {
        slot: cell.slot(sent.slot.slot),
        pci: cell.config.pci,
        arfcn: Some(cell.config.arfcn),
        size: Bytes::new(sent.size.into()),
        mcs: sent.mcs,
        rbs: Prb::new(sent.prb),
        layers: sent.layers,
        rv: Some(sent.rv),
        harq: sent.harq & 15,
        rnti: Some(0),
        k1: Some(k1 as u8),
        ndi: Some(sent.ndi),
        new: Some(sent.number == 0),
        retx: Some(sent.number),
        modulation: cell.modulation(Direction::Downlink, sent.mcs),
        received: sent.arrived,
    }
}

/// A block as version 3.13 of 0xB887 has it.
pub(super) fn large_block(block: &NrPdschBlock) -> Option<Form> {
    let slot = block.slot?;
    let form = Form::new()
        .number("frame", slot.frame())
        .number("slot", slot.slot())
        .number("pci", block.pci)
        .number("tb_bytes", block.size.count() as u32)
        .number("mcs", block.mcs)
        // Eight bits: on the widest carriers the number is capped.
        .number("rbs", block.rbs.count().min(255))
        .number("harq", block.harq)
        .number("layers_less_one", block.layers.saturating_sub(1))
        .number("crc", block.received);
    Some(form)
}

pub(super) fn message(cell: &Cell, dci: &Dci) -> Option<Form> {
    /// Formats 0_1 and 1_1.
    const UPLINK: u8 = 1;
    const DOWNLINK: u8 = 3;
    let form = timed(cell.slot(dci.sent_in.slot)?)
        .number("record_count", 1)
        .number("mcs", dci.mcs)
        .number("rv", dci.rv)
        .number("harq", dci.harq & 15)
        .number("rb_assignment", indication(cell.config.prb, dci.first_prb, dci.prb));
    Some(match dci.direction {
        Direction::Uplink => form.number("format", UPLINK).number("aggregation", 4),
        Direction::Downlink => {
            form.number("format", DOWNLINK).number("layers", dci.layers).number("ndi", dci.ndi)
        }
    })
}

/// The resource indication value (TS 38.214 §5.1.2.2.2).
fn indication(carrier: u16, first: u16, count: u16) -> u32 {
    let (carrier, first, count) = (u32::from(carrier), u32::from(first), u32::from(count));
    let count = count.clamp(1, carrier.max(1));
    if count - 1 <= carrier / 2 {
        carrier * (count - 1) + first
    } else {
        carrier * (carrier - count + 1) + (carrier - 1).saturating_sub(first)
    }
}

pub(super) fn write_messages(messages: &[(Direction, Form)], common: &mut Common) {
    common.log.compose(0xB885, 0x3_0009, || {
        let of = |wanted| {
            let of = messages.iter().filter(move |(direction, _)| *direction == wanted);
            of.map(|(_, form)| form.clone()).collect::<Vec<_>>()
        };
        let form = Form::new().number("record_count", messages.len() as u8);
        form.list("uplink", of(Direction::Uplink)).list("downlink", of(Direction::Downlink))
    });
}
