//! The RLC PDUs in each block: 0xB857 and 0xB870.

use alloc::vec::Vec;

use sounding_diag::record::Form;
use sounding_units::HostInstant;

use super::super::Common;
use super::super::batch::Batch;
use super::super::cells::Cell;
use super::{CHANNEL, MOST, written};
use crate::bearer::Pdu;
use crate::event::{Direction, Transmission};

/// Blocks of an uplink record: its count has four bits.
const UP_MOST: usize = 15;

/// The records' codes for acknowledged mode, data bearers, and sequence numbers of 18 bits.
const ACKNOWLEDGED: u8 = 1;
const DATA: u8 = 2;
const WIDE: u8 = 1;

/// Collected blocks with data.
#[derive(Debug)]
pub(super) struct Data {
    down: Batch<Form>,
    up: Batch<Form>,
}

impl Data {
    pub(super) fn new(origin: HostInstant) -> Self {
        Self { down: Batch::new(MOST, 40, origin), up: Batch::new(UP_MOST, 45, origin) }
    }

    pub(super) fn handle_beat(&mut self, now: HostInstant, common: &mut Common) {
        written(self.down.due(now), |blocks| write_down(blocks, common));
        written(self.up.due(now), |blocks| write_up(blocks, common));
    }

    /// A block that arrived, or was built.
    pub(super) fn handle_block(&mut self, cell: &Cell, sent: &Transmission, common: &mut Common) {
        let (Some(slot), false) = (cell.slot(sent.slot.slot), sent.pdus.is_empty()) else { return };
        let form = Form::new().number("slot", slot.slot()).number("frame", slot.frame());
        match sent.direction {
            Direction::Downlink => {
                let subheaders = subheaders(sent);
                let form = form
                    .number("tb_bytes", sent.size)
                    .number("carrier", common.cells.index(sent.slot.carrier))
                    .number("subheaders_in_block", subheaders.len() as u16)
                    .list("subheaders", subheaders);
                written(self.down.push(form), |blocks| write_down(blocks, common));
            }
            Direction::Uplink => {
                let channels = Vec::from([channel(&sent.pdus)]);
                let block = Form::new().number("channels_built", 1).list("channels", channels);
                let form = form.number("entry_count", 1).list("blocks", Vec::from([block]));
                written(self.up.push(form), |blocks| write_up(blocks, common));
            }
        }
    }
}

/// Numbers of RLC and PDCP count alike, as both begin with the bearer.
fn sn(pdu: &Pdu) -> u32 {
    pdu.sn % (1 << 18)
}

/// The MAC subheaders of a block, with the RLC headers after them (TS 38.321 §6.1.2, TS 38.322
/// §6.2.2.4). They account for the whole block except its padding. The segmentation of packets is
/// not modelled: a PDU of the model becomes as many complete RLC PDUs as its length needs.
fn subheaders(sent: &Transmission) -> Vec<Form> {
    /// A long subheader's own bytes.
    const OWN: u64 = 3;
    const LONGEST: u64 = u16::MAX as u64;
    let mut left = u64::from(sent.size.saturating_sub(sent.padding));
    let mut forms = Vec::new();
    for (at, pdu) in sent.pdus.iter().enumerate() {
        let last = at + 1 == sent.pdus.len();
        // The bytes of status PDUs count for the last one.
        let mut part = if last { left } else { left.min(pdu.span.len() + 2 * OWN) };
        left -= part;
        while part > OWN {
            let len = (part - OWN).min(LONGEST);
            forms.push(subheader(pdu, len as u16));
            part -= len + OWN;
        }
    }
    forms
}

fn subheader(pdu: &Pdu, len: u16) -> Form {
    let long = Form::new()
        .number("len_bytes", len)
        .number("rlc_flags", 1 << 5 | i64::from(pdu.poll) << 4)
        .number("rlc_sn", sn(pdu))
        .number("pdcp_sn", sn(pdu));
    Form::new().number("channel", CHANNEL).number("long", 1).list("long", Vec::from([long]))
}

fn channel(pdus: &[Pdu]) -> Form {
    let first = pdus.first().map_or(0, sn);
    let last = pdus.last().map_or(0, sn);
    Form::new()
        .number("channel", CHANNEL)
        .number("rlc_start_sn", first)
        .number("rlc_sn_len_bits", WIDE)
        .number("first_rlc_sn", first)
        .number("first_pdcp_sn", first)
        .number("last_rlc_sn", last)
        .number("last_pdcp_sn", last)
        .list("pdus", pdus.iter().map(packets).collect())
}

fn packets(pdu: &Pdu) -> Form {
    Form::new().number("packets", pdu.ends.min(255))
}

fn write_down(blocks: &[Form], common: &mut Common) {
    let next = common.down.next;
    common.log.compose(0xB857, 6, || {
        let channel = Form::new()
            .number("channel", CHANNEL)
            .number("rlc_mode", ACKNOWLEDGED)
            .number("type", DATA)
            .number("rlc_rx_next_highest", next % (1 << 18));
        Form::new().list("channels", Vec::from([channel])).list("blocks", blocks.to_vec())
    });
}

fn write_up(blocks: &[Form], common: &mut Common) {
    let next = common.up.next;
    common.log.compose(0xB870, 0x3_0003, || {
        let channel = Form::new()
            .number("channel", CHANNEL)
            .number("rlc_sn_len_bits", WIDE)
            .number("tx_next", next % (1 << 18));
        Form::new().list("channels", Vec::from([channel])).list("ttis", blocks.to_vec())
    });
}
