//! RRC as a modem logs it: 0xB0C0 and 0xB821, with messages that describe the network's actions.

mod lte;
mod nr;
mod tree;

use alloc::vec::Vec;
use core::time::Duration;

use sounding_diag::record::{Form, RrcPdu};
use sounding_rrc::{Value, encode};

use super::Common;
use super::cells::Cell;
use crate::config::{Rat, UplinkConfig};
use crate::event::{CarrierId, Rrc};

/// The network's RRC messages to a device.
#[derive(Debug)]
pub(super) struct Signalling {
    scheduling: UplinkConfig,
    /// Counts 0..=3 (TS 36.331 §6.3.6, TS 38.331 §6.3.2).
    transaction: u8,
    /// Secondary cells, by the number that RRC gave each.
    secondary: Vec<(u8, CarrierId)>,
}

/// A message and how it is logged.
#[derive(Debug)]
struct Message<'a> {
    /// The cell that it comes through.
    through: CarrierId,
    pdu: RrcPdu,
    value: Value<'a>,
}

impl Signalling {
    pub(super) const fn new(scheduling: UplinkConfig) -> Self {
        Self { scheduling, transaction: 0, secondary: Vec::new() }
    }

    pub(super) fn handle_change(&mut self, change: Rrc, common: &mut Common) {
        let Some(through) = common.cells.primary().cloned() else { return };
        let nr = through.config.rat == Rat::Nr;
        let id = self.begin_transaction();
        let lte_downlink = |value| (RrcPdu::LteDlDcch, value);
        let nr_downlink = |value| (RrcPdu::NrDlDcch, value);
        let told = match change {
            Rrc::Setup if nr => Some((RrcPdu::NrDlCcch, nr::setup(id, &self.scheduling))),
            Rrc::Setup => Some((RrcPdu::LteDlCcch, lte::setup(id, &self.scheduling))),
            Rrc::SecondaryAdded { carrier, .. } => common
                .cells
                .get(carrier)
                .map(|cell| lte_downlink(lte::secondary(id, nr::secondary(id, cell)))),
            Rrc::SecondaryFailed { .. } => Some((RrcPdu::LteUlDcch, lte::secondary_failed())),
            Rrc::SecondaryReleased { .. } => Some(lte_downlink(lte::no_secondary(id))),
            Rrc::Activated { carrier, .. } => common.cells.get(carrier).and_then(|cell| {
                // Messages that add secondary cells of a secondary group are not modelled.
                let index = self.add(carrier);
                match (nr, cell.config.rat) {
                    (true, Rat::Nr) => Some(nr_downlink(nr::addition(id, index, cell))),
                    (false, Rat::Lte) => Some(lte_downlink(lte::addition(id, index, cell))),
                    _ => None,
                }
            }),
            Rrc::Deactivated { carrier } => self.remove(carrier).map(|index| match nr {
                true => nr_downlink(nr::removal(id, index)),
                false => lte_downlink(lte::removal(id, index)),
            }),
            Rrc::Handover { to, .. } => {
                self.secondary.clear();
                if let Some(cell) = common.cells.get(to).cloned()
                    && cell.config.rat != through.config.rat
                {
                    return write_to_other(id, &through, &cell, common);
                }
                common.cells.get(to).and_then(|cell| match (nr, cell.config.rat) {
                    (true, Rat::Nr) => Some(nr_downlink(nr::handover(id, cell))),
                    (false, Rat::Lte) => Some(lte_downlink(lte::handover(id, cell))),
                    _ => None,
                })
            }
            Rrc::Released if nr => Some(nr_downlink(nr::release(id))),
            Rrc::Released => Some(lte_downlink(lte::release(id))),
        };
        if let Some((pdu, value)) = told {
            write(&Message { through: through.carrier, pdu, value }, common);
        }
    }

    /// The device confirms through its new cell.
    pub(super) fn handle_followed(&mut self, common: &mut Common) {
        let Some(through) = common.cells.primary().cloned() else { return };
        let (pdu, value) = match through.config.rat {
            Rat::Nr => (RrcPdu::NrUlDcch, nr::complete(self.transaction)),
            Rat::Lte => (RrcPdu::LteUlDcch, lte::complete(self.transaction)),
        };
        write(&Message { through: through.carrier, pdu, value }, common);
    }

    fn begin_transaction(&mut self) -> u8 {
        self.transaction = (self.transaction + 1) % 4;
        self.transaction
    }

    /// The number that a secondary cell has or gets.
    fn add(&mut self, carrier: CarrierId) -> u8 {
        if let Some((index, _)) = self.secondary.iter().find(|(_, known)| *known == carrier) {
            return *index;
        }
        let free = (1..=7).find(|index| self.secondary.iter().all(|(taken, _)| taken != index));
        let index = free.unwrap_or(7);
        self.secondary.push((index, carrier));
        index
    }

    /// Activation bits of all secondary cells, by the number that RRC gave each.
    pub(super) fn activated(&self) -> u8 {
        self.secondary.iter().fold(0, |bits, (index, _)| bits | 1 << index)
    }

    fn remove(&mut self, carrier: CarrierId) -> Option<u8> {
        let at = self.secondary.iter().position(|(_, known)| *known == carrier)?;
        Some(self.secondary.swap_remove(at).0)
    }
}

/// The name of the timer that is nearest to a duration and not shorter, or the longest.
fn timer(span: Duration, names: &'static [(u16, &'static str)]) -> Value<'static> {
    let ms = span.as_millis();
    let fits = names.iter().find(|(length, _)| u128::from(*length) >= ms);
    Value::Name(fits.or(names.last()).map_or("", |(_, name)| name))
}

fn write(message: &Message<'_>, common: &mut Common) {
    let Some(cell) = common.cells.get(message.through).cloned() else { return };
    let Ok(bytes) = encode(message.pdu, &message.value) else {
        return common.log.leave_out();
    };
    match cell.config.rat {
        Rat::Lte => write_lte(&cell, message.pdu, bytes, common),
        Rat::Nr => write_nr(&cell, message.pdu, bytes, common),
    }
}

/// A handover to the other RAT: a message of it within one of this.
fn write_to_other(id: u8, from: &Cell, to: &Cell, common: &mut Common) {
    let (pdu, told) = match to.config.rat {
        Rat::Nr => (RrcPdu::NrDlDcch, nr::handover(id, to)),
        Rat::Lte => (RrcPdu::LteDlDcch, lte::handover(id, to)),
    };
    let Ok(told) = encode(pdu, &told) else { return common.log.leave_out() };
    let (pdu, value) = match from.config.rat {
        Rat::Nr => (RrcPdu::NrDlDcch, nr::to_lte(id, &told)),
        Rat::Lte => (RrcPdu::LteDlDcch, lte::to_nr(id, &told)),
    };
    write(&Message { through: from.carrier, pdu, value }, common);
}

fn write_lte(cell: &Cell, pdu: RrcPdu, message: Vec<u8>, common: &mut Common) {
    // As version 20 numbers the channels.
    let number = match pdu {
        RrcPdu::LteDlCcch => 6,
        RrcPdu::LteDlDcch => 7,
        RrcPdu::LteUlCcch => 8,
        _ => 9,
    };
    let tti = common.cells.tti(common.log.now());
    common.log.compose(0xB0C0, 20, || {
        header(pdu, message)
            .number("pci", cell.config.pci)
            .number("earfcn", cell.config.arfcn)
            .number("frame", tti.sfn())
            .number("subframe", tti.subframe())
            .number("pdu", number)
    });
}

fn write_nr(cell: &Cell, pdu: RrcPdu, message: Vec<u8>, common: &mut Common) {
    let number = match pdu {
        RrcPdu::NrDlCcch => 3,
        RrcPdu::NrDlDcch => 4,
        RrcPdu::NrUlCcch => 6,
        _ => 8,
    };
    common.log.compose(0xB821, 8, || {
        header(pdu, message)
            .number("pci", cell.config.pci)
            .number("nr_arfcn", cell.config.arfcn)
            .number("pdu", number)
    });
}

/// Release 15, and the bearer: signalling has 1 once there is a connection.
fn header(pdu: RrcPdu, message: Vec<u8>) -> Form {
    let bearer = !matches!(pdu, RrcPdu::LteDlCcch | RrcPdu::NrDlCcch);
    Form::new().number("release", 15).number("radio_bearer", bearer).bytes("message", message)
}
